"""What a client may ask for: the eight kinds of order, and the details of a trade's dependent orders.

Values are well-formed when they get here; whether they are right by the rules of trading is decided later.
Absent members are None, except where the interface has a default.
"""

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from keydesk_practice.engine.wire_form import Id, Moment

TimeInForce = Literal["GTC", "GTD", "GFD", "FOK", "IOC"]
PositionFill = Literal["DEFAULT", "OPEN_ONLY", "REDUCE_FIRST", "REDUCE_ONLY"]
TriggerCondition = Literal["DEFAULT", "INVERSE", "BID", "ASK", "MID"]


@dataclass(frozen=True, slots=True)
class ClientExtensions:
    """The client's own labels on an order or a trade."""

    id: str | None = None
    tag: str | None = None
    comment: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TakeProfitDetails:
    """A take-profit for a trade: price or distance. A time in force of None is GTC, or the live order's on a change."""

    price: Decimal | None = None
    distance: Decimal | None = None
    time_in_force: TimeInForce | None = None
    gtd_time: Moment | None = None
    client_extensions: ClientExtensions | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StopLossDetails(TakeProfitDetails):
    """A stop-loss for a trade; `guaranteed` is the interface's older way to ask for a guaranteed stop."""

    guaranteed: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GuaranteedStopLossDetails(TakeProfitDetails):
    """A guaranteed stop for a trade."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrailingStopLossDetails:
    """A trailing stop for a trade."""

    distance: Decimal | None = None
    time_in_force: TimeInForce | None = None
    gtd_time: Moment | None = None
    client_extensions: ClientExtensions | None = None


DependentDetails = (
    TakeProfitDetails | StopLossDetails | GuaranteedStopLossDetails | TrailingStopLossDetails
)


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryRequest:
    """What every order that may open a trade says."""

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
    """What every entry order that may rest says."""

    price: Decimal | None = None
    time_in_force: TimeInForce = "GTC"
    gtd_time: Moment | None = None
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
    """What every stand-alone order for an open trade says; the trade is named by its id, its client id, or both."""

    trade_id: Id | None = None
    client_trade_id: str | None = None
    price: Decimal | None = None
    distance: Decimal | None = None
    time_in_force: TimeInForce = "GTC"
    gtd_time: Moment | None = None
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
