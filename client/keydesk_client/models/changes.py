"""What a poll brings: what changed since a transaction, and what moves with every price."""

from keydesk_client.models._core.record import Record
from keydesk_client.models._core.scalars import (
    AccountUnits,
    InstrumentName,
    OrderID,
    PriceValue,
    TradeID,
)
from keydesk_client.models._core.times import DateTime
from keydesk_client.models.accounts import CalculatedAccountState
from keydesk_client.models.orders import Order
from keydesk_client.models.positions import Position
from keydesk_client.models.trades import TradeSummary
from keydesk_client.models.transactions.unions import Transaction


class AccountChanges(Record):
    """What transactions changed since an id; every array always present."""

    orders_created: tuple[Order, ...]
    """May since have ended."""
    orders_cancelled: tuple[Order, ...]
    """Cancelled since."""
    orders_filled: tuple[Order, ...]
    """Filled since."""
    orders_triggered: tuple[Order, ...]
    """Triggered since."""
    trades_opened: tuple[TradeSummary, ...]
    """Opened since."""
    trades_reduced: tuple[TradeSummary, ...]
    """Partly closed since."""
    trades_closed: tuple[TradeSummary, ...]
    """Fully closed since."""
    positions: tuple[Position, ...]
    """Positions touched since."""
    transactions: tuple[Transaction, ...]
    """All transactions after the id, ascending."""


class DynamicOrderState(Record):
    """Moving part of a pending trailing stop."""

    id: OrderID
    """Order id."""
    trailing_stop_value: PriceValue | None = None
    """Current trigger price."""
    trigger_distance: PriceValue | None = None
    """Distance to trigger; missing when unknown."""
    is_trigger_distance_exact: bool | None = None
    """False marks an estimate; missing when unknown."""


class CalculatedTradeState(Record):
    """Moving part of an open trade."""

    id: TradeID
    """Trade id."""
    unrealized_pl: AccountUnits
    """At this moment, in home currency."""
    margin_used: AccountUnits
    """At this moment, in home currency."""


class CalculatedPositionState(Record):
    """Moving part of an open position."""

    instrument: InstrumentName
    """As in EUR_USD."""
    net_unrealized_pl: AccountUnits
    """Both sides."""
    long_unrealized_pl: AccountUnits
    """Long side."""
    short_unrealized_pl: AccountUnits
    """Short side."""
    margin_used: AccountUnits
    """At this moment, in home currency."""


class AccountChangesState(CalculatedAccountState):
    """What depends on prices, at this moment; some services send the accumulated totals as well."""

    orders: tuple[DynamicOrderState, ...]
    """One per pending order with moving state."""
    trades: tuple[CalculatedTradeState, ...]
    """One per open trade."""
    positions: tuple[CalculatedPositionState, ...]
    """One per open position."""
    balance: AccountUnits | None = None
    """Cash balance."""
    pl: AccountUnits | None = None
    """Realised P/L over account life."""
    resettable_pl: AccountUnits | None = None
    """Realised P/L since last client reset."""
    financing: AccountUnits | None = None
    """Financing paid or collected over account life."""
    commission: AccountUnits | None = None
    """Commission paid over account life."""
    dividend_adjustment: AccountUnits | None = None
    """Dividend adjustments over account life."""
    guaranteed_execution_fees: AccountUnits | None = None
    """Guaranteed-stop fees over account life."""
    margin_call_enter_time: DateTime | None = None
    """Only while in a margin call."""
    margin_call_extension_count: int | None = None
    """Extensions of the current margin call."""
    last_margin_call_extension_time: DateTime | None = None
    """Last extension of the current margin call."""
