"""Trades, in full and in summary, and positions: all trades of one instrument."""

from typing import ClassVar

from keydesk_client.models._core.record import Record
from keydesk_client.models._core.scalars import (
    AccountUnits,
    DateTime,
    DecimalNumber,
    InstrumentName,
    OrderID,
    PriceValue,
    TradeID,
    TransactionID,
)
from keydesk_client.models.enumerations import TradeState
from keydesk_client.models.order_terms import ClientExtensions
from keydesk_client.models.orders import (
    GuaranteedStopLossOrder,
    StopLossOrder,
    TakeProfitOrder,
    TrailingStopLossOrder,
)


class PositionSide(Record):
    """One direction of a position."""

    converts_on_demand: ClassVar[bool] = True

    units: DecimalNumber
    """Negative on the short side, 0 if flat."""
    average_price: PriceValue | None = None
    """Average open price, only while open."""
    trade_ids: tuple[TradeID, ...] | None = None
    """Open trades, only while open."""
    pl: AccountUnits
    """Realized over account life."""
    unrealized_pl: AccountUnits | None = None
    """Of open trades."""
    resettable_pl: AccountUnits
    """Since last reset."""
    financing: AccountUnits
    """Over account life."""
    dividend_adjustment: AccountUnits
    """Over account life."""
    guaranteed_execution_fees: AccountUnits
    """Over account life."""


class Position(Record):
    """All trades of one instrument."""

    converts_on_demand: ClassVar[bool] = True

    instrument: InstrumentName
    """As in EUR_USD."""
    pl: AccountUnits
    """Realized over account life."""
    unrealized_pl: AccountUnits | None = None
    """Absent if prices are unknown."""
    margin_used: AccountUnits | None = None
    """Only while open."""
    resettable_pl: AccountUnits
    """Since last reset."""
    financing: AccountUnits
    """Over account life."""
    commission: AccountUnits
    """Over account life."""
    dividend_adjustment: AccountUnits
    """Over account life."""
    guaranteed_execution_fees: AccountUnits
    """Over account life."""
    long: PositionSide
    """Long side, also present if flat."""
    short: PositionSide
    """Short side, also present if flat."""


class TradeTerms(Record):
    """Members of a trade in full and in summary."""

    converts_on_demand: ClassVar[bool] = True

    id: TradeID
    """Equals the id of the ORDER_FILL that opened it."""
    instrument: InstrumentName
    """As in EUR_USD."""
    price: PriceValue
    """Open price."""
    open_time: DateTime
    """Open time."""
    state: TradeState
    """Lifecycle state."""
    initial_units: DecimalNumber
    """Signed size at open."""
    initial_margin_required: AccountUnits
    """Margin at open, without regard to a guaranteed stop."""
    current_units: DecimalNumber
    """Signed size still open, 0 if closed."""
    realized_pl: AccountUnits
    """P/L of the closed part."""
    unrealized_pl: AccountUnits | None = None
    """Open trades only."""
    margin_used: AccountUnits | None = None
    """Open trades only."""
    average_close_price: PriceValue | None = None
    """Once reduced or closed."""
    closing_transaction_ids: tuple[TransactionID, ...] | None = None
    """Ids of the ORDER_FILL transactions that reduced it."""
    financing: AccountUnits
    """Financing so far."""
    dividend_adjustment: AccountUnits
    """Dividend adjustments so far."""
    close_time: DateTime | None = None
    """CLOSED only."""
    client_extensions: ClientExtensions | None = None
    """Id, tag and comment of the trade."""


class Trade(TradeTerms):
    """A trade with its dependent orders."""

    take_profit_order: TakeProfitOrder | None = None
    """Pending take-profit."""
    stop_loss_order: StopLossOrder | None = None
    """Pending stop-loss."""
    guaranteed_stop_loss_order: GuaranteedStopLossOrder | None = None
    """Pending guaranteed stop."""
    trailing_stop_loss_order: TrailingStopLossOrder | None = None
    """Pending trailing stop."""


class TradeSummary(TradeTerms):
    """A trade with the ids of its dependent orders."""

    take_profit_order_id: OrderID | None = None
    """Pending take-profit."""
    stop_loss_order_id: OrderID | None = None
    """Pending stop-loss."""
    guaranteed_stop_loss_order_id: OrderID | None = None
    """Pending guaranteed stop."""
    trailing_stop_loss_order_id: OrderID | None = None
    """Pending trailing stop."""
