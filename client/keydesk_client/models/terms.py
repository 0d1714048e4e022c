"""What an order, the request for it and the transaction that creates it have in common."""

from keydesk_client.models._core.record import Record
from keydesk_client.models._core.scalars import (
    ClientID,
    DecimalNumber,
    InstrumentName,
    PriceValue,
    TradeID,
    TransactionID,
)
from keydesk_client.models._core.times import DateTime
from keydesk_client.models.details import (
    GuaranteedStopLossDetails,
    StopLossDetails,
    TakeProfitDetails,
    TrailingStopLossDetails,
)
from keydesk_client.models.enumerations import OrderPositionFill, OrderTriggerCondition, TimeInForce
from keydesk_client.models.extensions import ClientExtensions
from keydesk_client.models.reject_reasons import MarketOrderMarginCloseoutReason


class EntryTerms(Record):
    """What an entry order trades."""

    instrument: InstrumentName
    """Instrument to trade."""
    units: DecimalNumber
    """Signed size, plus buys, minus sells."""
    position_fill: OrderPositionFill = "DEFAULT"
    """Open/reduce policy when it fills."""


class PendingTerms(Record):
    """Extra fields of a resting entry order."""

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
    """Extensions stamped on the opened trade."""


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
    """Market order made by a trade close."""

    trade_id: TradeID
    """Trade to close."""
    client_trade_id: ClientID | None = None
    """Its client id."""
    units: str
    """ALL or a positive decimal."""


class MarketOrderPositionCloseout(Record):
    """Market order made by a position close."""

    instrument: InstrumentName
    """As in EUR_USD."""
    units: str
    """ALL or a positive decimal."""


class MarketOrderMarginCloseout(Record):
    """Market order made by a margin closeout."""

    reason: MarketOrderMarginCloseoutReason
    """Which check failed."""


class MarketOrderDelayedTradeClose(Record):
    """Market order made once a delayed close became possible."""

    trade_id: TradeID
    """Trade to close."""
    client_trade_id: ClientID | None = None
    """Its client id."""
    source_transaction_id: TransactionID
    """The DELAYED_TRADE_CLOSURE."""


class MarketPurpose(Record):
    """At most one is present; says which system or client action made the market order."""

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
