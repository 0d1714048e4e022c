"""The commands of the engine, and the requests for orders in them.

Every command may be rejected; `decide` returns what happened as transactions. Values are well-formed here; the engine checks
them by the rules of trading. Members that are absent on the wire are None, or the default of v20.

`request_id` is the RequestID of the client's request, stamped on every transaction that it makes; None for what the service
does on its own. A specifier is an id, or `@` and a client id, as in the paths of the REST API.
"""

from decimal import Decimal
from enum import Enum
from typing import Literal

from msgspec import Struct

from keydesk_practice.engine.wire_form import Id, Timestamp

TimeInForce = Literal["GTC", "GTD", "GFD", "FOK", "IOC"]
PositionFill = Literal["DEFAULT", "OPEN_ONLY", "REDUCE_FIRST", "REDUCE_ONLY"]
TriggerCondition = Literal["DEFAULT", "INVERSE", "BID", "ASK", "MID"]


class ClientExtensions(Struct, frozen=True):
    """The client's own id, tag and comment of an order or a trade."""

    id: str | None = None
    tag: str | None = None
    comment: str | None = None


class TakeProfitDetails(Struct, frozen=True, kw_only=True):
    """A take-profit of a trade, with a price or a distance.

    A time in force of None means GTC, or on a change that of the live order.
    """

    price: Decimal | None = None
    distance: Decimal | None = None
    time_in_force: TimeInForce | None = None
    gtd_time: Timestamp | None = None
    client_extensions: ClientExtensions | None = None


class StopLossDetails(TakeProfitDetails, frozen=True, kw_only=True):
    """A stop-loss of a trade; `guaranteed` is the older way to request a guaranteed stop."""

    guaranteed: bool | None = None


class GuaranteedStopLossDetails(TakeProfitDetails, frozen=True, kw_only=True):
    """A guaranteed stop-loss of a trade."""


class TrailingStopLossDetails(Struct, frozen=True, kw_only=True):
    """A trailing stop-loss of a trade."""

    distance: Decimal | None = None
    time_in_force: TimeInForce | None = None
    gtd_time: Timestamp | None = None
    client_extensions: ClientExtensions | None = None


DependentDetails = (
    TakeProfitDetails | StopLossDetails | GuaranteedStopLossDetails | TrailingStopLossDetails
)


class EntryRequest(Struct, frozen=True, kw_only=True):
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


class MarketRequest(EntryRequest, frozen=True, kw_only=True):
    """A market order."""

    time_in_force: TimeInForce = "FOK"
    price_bound: Decimal | None = None


class PendingRequest(EntryRequest, frozen=True, kw_only=True):
    """The members of every entry order that can be pending."""

    price: Decimal | None = None
    time_in_force: TimeInForce = "GTC"
    gtd_time: Timestamp | None = None
    trigger_condition: TriggerCondition = "DEFAULT"


class LimitRequest(PendingRequest, frozen=True, kw_only=True):
    """A limit order."""


class StopRequest(PendingRequest, frozen=True, kw_only=True):
    """A stop order."""

    price_bound: Decimal | None = None


class MarketIfTouchedRequest(PendingRequest, frozen=True, kw_only=True):
    """A market-if-touched order."""

    price_bound: Decimal | None = None


class DependentRequest(Struct, frozen=True, kw_only=True):
    """The members of every stand-alone dependent order; the trade is named by id, client id or both."""

    trade_id: Id | None = None
    client_trade_id: str | None = None
    price: Decimal | None = None
    distance: Decimal | None = None
    time_in_force: TimeInForce = "GTC"
    gtd_time: Timestamp | None = None
    trigger_condition: TriggerCondition = "DEFAULT"
    client_extensions: ClientExtensions | None = None


class TakeProfitRequest(DependentRequest, frozen=True, kw_only=True):
    """A take-profit order."""


class StopLossRequest(DependentRequest, frozen=True, kw_only=True):
    """A stop-loss order."""

    guaranteed: bool | None = None


class GuaranteedStopLossRequest(DependentRequest, frozen=True, kw_only=True):
    """A guaranteed stop-loss order."""


class TrailingStopLossRequest(DependentRequest, frozen=True, kw_only=True):
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


class Command(Struct, frozen=True, kw_only=True):
    """The members of every command."""

    request_id: str | None = None


class OpenAccount(Command, frozen=True, kw_only=True):
    """Create the account, name it and fund it."""

    alias: str | None = None
    margin_rate: Decimal | None = None
    deposit: Decimal = Decimal(0)


class TransferFunds(Command, frozen=True, kw_only=True):
    """Deposit (positive) or withdraw (negative) money."""

    amount: Decimal
    funding_reason: str = "CLIENT_FUNDING"
    comment: str | None = None


class Configure(Command, frozen=True, kw_only=True):
    """Change the client's settings; None leaves a setting as it is."""

    alias: str | None = None
    margin_rate: Decimal | None = None
    unreadable: str | None = None  # the reject reason of a setting that could not be parsed


class PlaceOrder(Command, frozen=True, kw_only=True):
    """Create an order of any kind."""

    order: OrderRequest


class ReplaceOrder(Command, frozen=True, kw_only=True):
    """Cancel a pending order and create another of its kind in one step."""

    specifier: str
    order: OrderRequest


class CancelOrder(Command, frozen=True, kw_only=True):
    """Cancel a pending order."""

    specifier: str


class CloseTrade(Command, frozen=True, kw_only=True):
    """Close a trade, whole or in part."""

    specifier: str
    units: Literal["ALL"] | Decimal = "ALL"


class ClosePosition(Command, frozen=True, kw_only=True):
    """Close one or both sides of a position; None leaves a side out of the request."""

    instrument: str
    long_units: Literal["ALL", "NONE"] | Decimal | None = None
    short_units: Literal["ALL", "NONE"] | Decimal | None = None
    long_client_extensions: ClientExtensions | None = None
    short_client_extensions: ClientExtensions | None = None


class SetDependents(Command, frozen=True, kw_only=True):
    """Create, change or cancel (None) a trade's dependent orders; details left None are inherited from the live order."""

    specifier: str
    take_profit: TakeProfitDetails | Omitted | None = OMITTED
    stop_loss: StopLossDetails | Omitted | None = OMITTED
    trailing_stop_loss: TrailingStopLossDetails | Omitted | None = OMITTED
    guaranteed_stop_loss: GuaranteedStopLossDetails | Omitted | None = OMITTED


class SetOrderExtensions(Command, frozen=True, kw_only=True):
    """Change the client extensions of a pending order, and of the trade it may open."""

    specifier: str
    client_extensions: ClientExtensions | None = None
    trade_client_extensions: ClientExtensions | None = None


class SetTradeExtensions(Command, frozen=True, kw_only=True):
    """Change the client extensions of an open trade."""

    specifier: str
    client_extensions: ClientExtensions | None = None


class Tick(Command, frozen=True, kw_only=True):
    """Prices moved: expire and trigger orders, check the margin. None: prices of any instrument may have moved."""

    instruments: frozenset[str] | None = None


class Finance(Command, frozen=True, kw_only=True):
    """Book the daily financing; the market must stand at exactly 17:00 New York."""
