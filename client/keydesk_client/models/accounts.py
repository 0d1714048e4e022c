"""What a poll brings: what changed since a transaction, and what moves with every price.

An account: who it is, what it holds, what it is worth.
"""

from pydantic import Field

from keydesk_client.models._core.record import Record
from keydesk_client.models._core.scalars import (
    AccountID,
    AccountUnits,
    Currency,
    DateTime,
    DecimalNumber,
    InstrumentName,
    OrderID,
    PriceValue,
    TradeID,
    TransactionID,
)
from keydesk_client.models.enumerations import (
    GuaranteedStopLossOrderMode,
    GuaranteedStopLossOrderMutability,
)
from keydesk_client.models.orders import Order
from keydesk_client.models.trades import Position, TradeSummary
from keydesk_client.models.transactions.unions import Transaction


class AccountProperties(Record):
    """Element of the account list."""

    id: AccountID
    """Account id."""
    mt4_account_id: int | None = None
    """Present when bridged to the third-party platform."""
    tags: tuple[str, ...]
    """Labels, may be empty."""


class GuaranteedStopLossOrderParameters(Record):
    """What may be done to a guaranteed stop."""

    mutability_market_open: GuaranteedStopLossOrderMutability
    """While tradeable."""
    mutability_market_halted: GuaranteedStopLossOrderMutability
    """While halted."""


class AccountIdentity(Record):
    """Static account data."""

    id: AccountID
    """Account id."""
    alias: str | None = None
    """Only when the client set one."""
    currency: Currency
    """In home currency."""
    created_by_user_id: int
    """Number of the user who opened the account."""
    created_time: DateTime
    """Creation time."""
    guaranteed_stop_loss_order_parameters: GuaranteedStopLossOrderParameters | None = None
    """Only when the mode is not DISABLED."""
    guaranteed_stop_loss_order_mode: GuaranteedStopLossOrderMode
    """Account-level policy."""
    guaranteed_stop_loss_order_mutability: GuaranteedStopLossOrderMutability | None = None
    """Deprecated, superseded by the parameters object."""
    margin_rate: DecimalNumber | None = None
    """The client's own rate, absent when none was set; an instrument's higher rate still holds."""
    resettable_pl_time: DateTime | None = None
    """When resettablePL was last zeroed."""
    open_trade_count: int
    """How many trades are open."""
    open_position_count: int
    """How many positions are open."""
    pending_order_count: int
    """How many orders are pending."""
    hedging_enabled: bool
    """True lets long and short trades coexist."""
    last_order_fill_timestamp: DateTime | None = None
    """Only after a first fill; deprecated by the service."""
    last_transaction_id: TransactionID
    """Newest transaction of the account."""


class AccumulatedAccountState(Record):
    """Transaction-driven account totals."""

    balance: AccountUnits
    """Cash balance."""
    pl: AccountUnits
    """Realised P/L over account life."""
    resettable_pl: AccountUnits
    """Realised P/L since last client reset."""
    financing: AccountUnits
    """Financing paid or collected over account life."""
    commission: AccountUnits
    """Commission paid over account life."""
    dividend_adjustment: AccountUnits
    """Dividend adjustments over account life."""
    guaranteed_execution_fees: AccountUnits
    """Guaranteed-stop fees over account life."""
    margin_call_enter_time: DateTime | None = None
    """Only while in a margin call."""
    margin_call_extension_count: int | None = None
    """Extensions of the current margin call."""
    last_margin_call_extension_time: DateTime | None = None
    """Last extension of the current margin call."""


class CalculatedAccountState(Record):
    """Price-dependent account numbers."""

    unrealized_pl: AccountUnits
    """Sum over open trades, sided closing prices."""
    nav: AccountUnits = Field(validation_alias="NAV", serialization_alias="NAV")
    """Balance plus unrealizedPL; wire name is upper case, `nav` is read too."""
    margin_used: AccountUnits
    """Margin tied up."""
    margin_available: AccountUnits
    """Max(0, NAV minus marginUsed)."""
    position_value: AccountUnits
    """Home value of open positions."""
    margin_closeout_unrealized_pl: AccountUnits
    """Unrealised P/L at mid prices."""
    margin_closeout_nav: AccountUnits
    """Balance plus marginCloseoutUnrealizedPL."""
    margin_closeout_margin_used: AccountUnits
    """Margin used as seen by closeout logic."""
    margin_closeout_percent: DecimalNumber
    """Closeout happens at 1.0 or above."""
    margin_closeout_position_value: DecimalNumber
    """Position value as seen by closeout logic."""
    withdrawal_limit: AccountUnits
    """Never negative."""
    margin_call_margin_used: AccountUnits
    """Margin used as seen by margin-call logic."""
    margin_call_percent: DecimalNumber
    """Margin call at 1.0 or above."""


class AccountSummary(AccountIdentity, AccumulatedAccountState, CalculatedAccountState):
    """Account without the three arrays."""


class Account(AccountIdentity, AccumulatedAccountState, CalculatedAccountState):
    """Full account snapshot."""

    trades: tuple[TradeSummary, ...]
    """Open trades only."""
    positions: tuple[Position, ...]
    """Every instrument ever held, flat ones too."""
    orders: tuple[Order, ...]
    """Pending orders only."""


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
