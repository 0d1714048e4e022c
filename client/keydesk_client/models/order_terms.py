"""Members that an order, the request for it and the transaction that creates it share.

Records hold Decimal and DateTime. The TypedDicts beside them type the keyword arguments of requests, which may also be
an int, decimal text or a datetime, never a float.
"""

from typing import TYPE_CHECKING, Required, Self, TypedDict, Unpack

from keydesk_client.models._core.record import Record, RequestRecord
from keydesk_client.models._core.scalars import (
    ClientComment,
    ClientID,
    ClientTag,
    DateTime,
    DecimalNumber,
    InstrumentName,
    InstrumentTerms,
    Number,
    PriceValue,
    TimeInput,
    TradeID,
    TransactionID,
)
from keydesk_client.models.enumerations import OrderPositionFill, OrderTriggerCondition, TimeInForce
from keydesk_client.models.reject_reasons import MarketOrderMarginCloseoutReason


class ClientExtensions(RequestRecord):
    """Client tags; not for bridged accounts."""

    if TYPE_CHECKING:

        def __init__(self, **members: "Unpack[ExtensionsMembers]") -> None: ...
        def with_(self, **changes: "Unpack[ExtensionsMembers]") -> Self: ...

    id: ClientID | None = None
    """Unique among live orders, or among open trades."""
    tag: ClientTag | None = None
    """Free label."""
    comment: ClientComment | None = None
    """Free text."""


class LevelDetails(RequestRecord):
    """Price or distance, and lifetime, of a take-profit or stop-loss on a trade."""

    price: PriceValue | None = None
    """Trigger, in quote currency; exactly one of price and distance."""
    distance: DecimalNumber | None = None
    """In price units, not pips, from the price at which the trade opened."""
    time_in_force: TimeInForce = "GTC"
    """GTC, GTD or GFD."""
    gtd_time: DateTime | None = None
    """When the order expires; only together with GTD."""
    client_extensions: ClientExtensions | None = None
    """Id, tag and comment of the order."""


class TakeProfitDetails(LevelDetails):
    """Request for a take-profit on a trade; not every service accepts a distance instead of a price."""

    if TYPE_CHECKING:

        def __init__(self, **members: "Unpack[LevelMembers]") -> None: ...
        def with_(self, **changes: "Unpack[LevelMembers]") -> Self: ...


class StopLossDetails(LevelDetails):
    """Request for a stop-loss on a trade."""

    if TYPE_CHECKING:

        def __init__(self, **members: "Unpack[StopLossMembers]") -> None: ...
        def with_(self, **changes: "Unpack[StopLossMembers]") -> Self: ...

    guaranteed: bool | None = None
    """Deprecated: use GuaranteedStopLossDetails. Defaults to true only if the account requires it."""


class GuaranteedStopLossDetails(LevelDetails):
    """Request for a guaranteed stop on a trade."""

    if TYPE_CHECKING:

        def __init__(self, **members: "Unpack[LevelMembers]") -> None: ...
        def with_(self, **changes: "Unpack[LevelMembers]") -> Self: ...


class TrailingStopLossDetails(RequestRecord):
    """Request for a trailing stop on a trade."""

    if TYPE_CHECKING:

        def __init__(self, **members: "Unpack[TrailingMembers]") -> None: ...
        def with_(self, **changes: "Unpack[TrailingChanges]") -> Self: ...

    distance: DecimalNumber
    """In price units, not pips: 0.0015 is 15 pips of EUR_USD."""
    time_in_force: TimeInForce = "GTC"
    """GTC, GTD or GFD."""
    gtd_time: DateTime | None = None
    """When the order expires; only together with GTD."""
    client_extensions: ClientExtensions | None = None
    """Id, tag and comment of the order."""


class ExtensionsMembers(TypedDict, total=False):
    """Members of client extensions."""

    id: str | None
    """Unique among live orders, or among open trades."""
    tag: str | None
    """Free label."""
    comment: str | None
    """Free text."""


class LifetimeMembers(TypedDict, total=False):
    """Time in force and client extensions of an order."""

    time_in_force: TimeInForce
    """FOK (default) or IOC for market orders; GTC (default), GTD or GFD for resting orders."""
    gtd_time: TimeInput | None
    """When it expires; only together with GTD."""
    client_extensions: ClientExtensions | None
    """Id, tag and comment of the order."""


class LevelMembers(LifetimeMembers, total=False):
    """Price or distance of a dependent order."""

    price: Number | None
    """In quote currency; exactly one of price and distance."""
    distance: Number | None
    """In price units, not pips; exactly one of price and distance."""


class StopLossMembers(LevelMembers, total=False):
    """Members of a stop-loss on a trade."""

    guaranteed: bool | None
    """Deprecated: use GuaranteedStopLossDetails."""


class TrailingMembers(LifetimeMembers, total=False):
    """Members of a trailing stop on a trade."""

    distance: Required[Number]
    """In price units, not pips: 0.0015 is 15 pips of EUR_USD."""


class TrailingChanges(LifetimeMembers, total=False):
    """Members of a trailing stop that `with_` may replace."""

    distance: Number
    """In price units, not pips: 0.0015 is 15 pips of EUR_USD."""


class DependentMembers(TypedDict, total=False):
    """Members of an order that closes one trade."""

    trade_id: Required[str]
    """The trade that it closes."""
    client_trade_id: str | None
    """Client id of that trade, if it has one."""
    trigger_condition: OrderTriggerCondition
    """Price side that triggers it."""


class DependentLevelMembers(DependentMembers, LevelMembers, total=False):
    """Members of a stand-alone take-profit or guaranteed stop-loss."""


class DependentStopLossMembers(DependentMembers, StopLossMembers, total=False):
    """Members of a stand-alone stop-loss."""


class DependentTrailingMembers(DependentMembers, TrailingMembers, total=False):
    """Members of a stand-alone trailing stop."""


class EntryOptions(TypedDict, total=False):
    """Members of every entry order beside instrument and size."""

    position_fill: OrderPositionFill
    """Whether the order may open, reduce, or both."""
    time_in_force: TimeInForce
    """FOK (default) or IOC for market orders; GTC (default), GTD or GFD for resting orders."""
    client_extensions: ClientExtensions | None
    """Id, tag and comment of the order."""
    take_profit_on_fill: TakeProfitDetails | None
    """Take-profit of the trade that the order opens."""
    stop_loss_on_fill: StopLossDetails | None
    """Stop-loss of the trade that the order opens."""
    guaranteed_stop_loss_on_fill: GuaranteedStopLossDetails | None
    """Guaranteed stop-loss of the trade that the order opens."""
    trailing_stop_loss_on_fill: TrailingStopLossDetails | None
    """Trailing stop of the trade that the order opens."""
    trade_client_extensions: ClientExtensions | None
    """Id, tag and comment of the trade that the order opens."""


class MarketOptions(EntryOptions, total=False):
    """Options of a market order."""

    price_bound: Number | None
    """Worst price accepted, in quote currency."""


class LimitOptions(EntryOptions, total=False):
    """Options of a limit order."""

    gtd_time: TimeInput | None
    """When it expires; only together with GTD."""
    trigger_condition: OrderTriggerCondition
    """Price side that triggers it."""


class StopOptions(LimitOptions, total=False):
    """Options of a stop or market-if-touched order."""

    price_bound: Number | None
    """Worst price accepted, in quote currency."""


class EntryMembers(EntryOptions, total=False):
    """Members of every entry order."""

    instrument: Required[str | InstrumentTerms]
    """As in EUR_USD."""
    units: Required[Number]
    """Signed size: positive buys, negative sells."""


class MarketMembers(EntryMembers, MarketOptions, total=False):
    """Members of a market order."""


class LimitMembers(EntryMembers, LimitOptions, total=False):
    """Members of a limit order."""

    price: Required[Number]
    """Trigger, in quote currency."""


class StopMembers(LimitMembers, StopOptions, total=False):
    """Members of a stop or market-if-touched order."""


class OrderChanges(StopOptions, total=False):
    """Members of orders that `with_` may replace; one that this kind of order does not have is refused."""

    instrument: str | InstrumentTerms
    """As in EUR_USD."""
    units: Number
    """Signed size: positive buys, negative sells."""
    price: Number | None
    """In quote currency."""
    distance: Number | None
    """In price units, not pips."""
    trade_id: str
    """The trade that it closes."""
    client_trade_id: str | None
    """Client id of that trade, if it has one."""
    guaranteed: bool | None
    """Deprecated: use GuaranteedStopLossOrderRequest."""


class OptionalEntryTerms(Record):
    """What a request for an entry order may leave out; a rejected one has it as requested."""

    position_fill: OrderPositionFill = "DEFAULT"
    """Whether the order may open, reduce, or both."""


class EntryTerms(OptionalEntryTerms):
    """Instrument and size of an entry order, and what its request may leave out."""

    instrument: InstrumentName
    """Instrument to trade."""
    units: DecimalNumber
    """Signed size: positive buys, negative sells."""


class PendingTerms(Record):
    """Price, lifetime and trigger of a resting entry order."""

    price: PriceValue
    """Trigger threshold."""
    time_in_force: TimeInForce = "GTC"
    """Lifetime policy."""
    gtd_time: DateTime | None = None
    """Expiry, needed when timeInForce is GTD."""
    trigger_condition: OrderTriggerCondition = "DEFAULT"
    """Price side that triggers."""


class OnFillTerms(Record):
    """Dependent orders and trade tags to attach when the order opens a trade."""

    take_profit_on_fill: TakeProfitDetails | None = None
    """Take-profit to create with the new trade."""
    stop_loss_on_fill: StopLossDetails | None = None
    """Stop-loss to create with the new trade."""
    guaranteed_stop_loss_on_fill: GuaranteedStopLossDetails | None = None
    """Guaranteed stop to create with the new trade."""
    trailing_stop_loss_on_fill: TrailingStopLossDetails | None = None
    """Trailing stop to create with the new trade."""
    trade_client_extensions: ClientExtensions | None = None
    """Client extensions of the opened trade."""


class DependentTerms(Record):
    """Fields of an order tied to one trade."""

    trade_id: TradeID
    """Trade it closes."""
    client_trade_id: ClientID | None = None
    """Client id of that trade, if it has one."""
    time_in_force: TimeInForce = "GTC"
    """GTC, GTD or GFD only."""
    gtd_time: DateTime | None = None
    """Expiry, needed when timeInForce is GTD."""
    trigger_condition: OrderTriggerCondition = "DEFAULT"
    """Price side that triggers."""


class MarketOrderTradeClose(Record):
    """Market order created by a trade close."""

    trade_id: TradeID
    """Trade to close."""
    client_trade_id: ClientID | None = None
    """Its client id."""
    units: str
    """ALL or a positive decimal."""


class MarketOrderPositionCloseout(Record):
    """Market order created by a position close."""

    instrument: InstrumentName
    """As in EUR_USD."""
    units: str
    """ALL or a positive decimal."""


class MarketOrderMarginCloseout(Record):
    """Market order created by a margin closeout."""

    reason: MarketOrderMarginCloseoutReason
    """Which check failed."""


class MarketOrderDelayedTradeClose(Record):
    """Market order created once a delayed close became possible."""

    trade_id: TradeID
    """Trade to close."""
    client_trade_id: ClientID | None = None
    """Its client id."""
    source_transaction_id: TransactionID
    """The DELAYED_TRADE_CLOSURE."""


class MarketPurpose(Record):
    """The origin of a market order; at most one member is present."""

    trade_close: MarketOrderTradeClose | None = None
    """Reason TRADE_CLOSE."""
    long_position_closeout: MarketOrderPositionCloseout | None = None
    """Reason POSITION_CLOSEOUT, long side."""
    short_position_closeout: MarketOrderPositionCloseout | None = None
    """Reason POSITION_CLOSEOUT, short side."""
    margin_closeout: MarketOrderMarginCloseout | None = None
    """Reason MARGIN_CLOSEOUT."""
    delayed_trade_close: MarketOrderDelayedTradeClose | None = None
    """Reason DELAYED_TRADE_CLOSE."""
