"""The commands of the engine, and the requests for orders in them.

Every command may be rejected; `decide` returns what happened as transactions. Values are well-formed here; the engine checks
them by the rules of trading. Members that are absent on the wire are None, or the default of v20.

`request_id` is the RequestID of the client's request, stamped on every transaction that it makes; None for what the service
does on its own. A specifier is an id, or `@` and a client id, as in the paths of the REST API.
"""

from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from typing import Literal

from keydesk_practice.engine.wire_form import Id, Timestamp

TimeInForce = Literal["GTC", "GTD", "GFD", "FOK", "IOC"]
PositionFill = Literal["DEFAULT", "OPEN_ONLY", "REDUCE_FIRST", "REDUCE_ONLY"]
TriggerCondition = Literal["DEFAULT", "INVERSE", "BID", "ASK", "MID"]


@dataclass(frozen=True, slots=True)
class ClientExtensions:
    """The client's own id, tag and comment of an order or a trade."""

    id: str | None = None
    tag: str | None = None
    comment: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TakeProfitDetails:
    """A take-profit of a trade, with a price or a distance.

    A time in force of None means GTC, or on a change that of the live order.
    """

    price: Decimal | None = None
    distance: Decimal | None = None
    time_in_force: TimeInForce | None = None
    gtd_time: Timestamp | None = None
    client_extensions: ClientExtensions | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StopLossDetails(TakeProfitDetails):
    """A stop-loss of a trade; `guaranteed` is the older way to request a guaranteed stop."""

    guaranteed: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GuaranteedStopLossDetails(TakeProfitDetails):
    """A guaranteed stop-loss of a trade."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrailingStopLossDetails:
    """A trailing stop-loss of a trade."""

    distance: Decimal | None = None
    time_in_force: TimeInForce | None = None
    gtd_time: Timestamp | None = None
    client_extensions: ClientExtensions | None = None


DependentDetails = (
    TakeProfitDetails | StopLossDetails | GuaranteedStopLossDetails | TrailingStopLossDetails
)


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryRequest:
    """The members of every order that may open a trade."""

    instrument: str
    units: Decimal
    position_fill: PositionFill = "DEFAULT"
    client_extensions: ClientExtensions | None = None
    take_profit_on_fill: TakeProfitDetails | None = None
    stop_loss_on_fill: StopLossDetails | None = None
    guaranteed_stop_loss_on_fill: GuaranteedStopLossDetails | None = None
    trailing_stop_loss_on_fill: TrailingStopLossDetails | None = None
    trade_client_extensions: ClientExtensions | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MarketRequest(EntryRequest):
    """A market order."""

    time_in_force: TimeInForce = "FOK"
    price_bound: Decimal | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingRequest(EntryRequest):
    """The members of every entry order that can be pending."""

    price: Decimal | None = None
    time_in_force: TimeInForce = "GTC"
    gtd_time: Timestamp | None = None
    trigger_condition: TriggerCondition = "DEFAULT"


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitRequest(PendingRequest):
    """A limit order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StopRequest(PendingRequest):
    """A stop order."""

    price_bound: Decimal | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MarketIfTouchedRequest(PendingRequest):
    """A market-if-touched order."""

    price_bound: Decimal | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DependentRequest:
    """The members of every stand-alone dependent order; the trade is named by id, client id or both."""

    trade_id: Id | None = None
    client_trade_id: str | None = None
    price: Decimal | None = None
    distance: Decimal | None = None
    time_in_force: TimeInForce = "GTC"
    gtd_time: Timestamp | None = None
    trigger_condition: TriggerCondition = "DEFAULT"
    client_extensions: ClientExtensions | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TakeProfitRequest(DependentRequest):
    """A take-profit order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StopLossRequest(DependentRequest):
    """A stop-loss order."""

    guaranteed: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GuaranteedStopLossRequest(DependentRequest):
    """A guaranteed stop-loss order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrailingStopLossRequest(DependentRequest):
    """A trailing stop-loss order; it has a distance and no price."""


OrderRequest = (
    MarketRequest
    | LimitRequest
    | StopRequest
    | MarketIfTouchedRequest
    | TakeProfitRequest
    | StopLossRequest
    | GuaranteedStopLossRequest
    | TrailingStopLossRequest
)


class Omitted(Enum):
    """The type of a member that was left out, where null has another meaning."""

    OMITTED = "OMITTED"


OMITTED = Omitted.OMITTED


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """The members of every command."""

    request_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAccount(Command):
    """Create the account, name it and fund it."""

    alias: str | None = None
    margin_rate: Decimal | None = None
    deposit: Decimal = Decimal(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class TransferFunds(Command):
    """Deposit (positive) or withdraw (negative) money."""

    amount: Decimal
    funding_reason: str = "CLIENT_FUNDING"
    comment: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Configure(Command):
    """Change the client's settings; None leaves a setting as it is."""

    alias: str | None = None
    margin_rate: Decimal | None = None
    unreadable: str | None = None  # the reject reason of a setting that could not be parsed


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceOrder(Command):
    """Create an order of any kind."""

    order: OrderRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplaceOrder(Command):
    """Cancel a pending order and create another of its kind in one step."""

    specifier: str
    order: OrderRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class CancelOrder(Command):
    """Cancel a pending order."""

    specifier: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CloseTrade(Command):
    """Close a trade, whole or in part."""

    specifier: str
    units: Literal["ALL"] | Decimal = "ALL"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosePosition(Command):
    """Close one or both sides of a position; None leaves a side out of the request."""

    instrument: str
    long_units: Literal["ALL", "NONE"] | Decimal | None = None
    short_units: Literal["ALL", "NONE"] | Decimal | None = None
    long_client_extensions: ClientExtensions | None = None
    short_client_extensions: ClientExtensions | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SetDependents(Command):
    """Create, change or cancel (None) a trade's dependent orders; details left None are inherited from the live order."""

    specifier: str
    take_profit: TakeProfitDetails | Omitted | None = OMITTED
    stop_loss: StopLossDetails | Omitted | None = OMITTED
    trailing_stop_loss: TrailingStopLossDetails | Omitted | None = OMITTED
    guaranteed_stop_loss: GuaranteedStopLossDetails | Omitted | None = OMITTED


@dataclass(frozen=True, slots=True, kw_only=True)
class SetOrderExtensions(Command):
    """Change the client extensions of a pending order, and of the trade it may open."""

    specifier: str
    client_extensions: ClientExtensions | None = None
    trade_client_extensions: ClientExtensions | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SetTradeExtensions(Command):
    """Change the client extensions of an open trade."""

    specifier: str
    client_extensions: ClientExtensions | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick(Command):
    """Prices moved: expire and trigger orders, check the margin. None: prices of any instrument may have moved."""

    instruments: frozenset[str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Finance(Command):
    """Book the daily financing; the market must stand at exactly 17:00 New York."""
