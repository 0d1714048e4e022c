"""Accounts: identity, totals and holdings, and what changed since a transaction."""

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
    """How a guaranteed stop may be changed."""

    mutability_market_open: GuaranteedStopLossOrderMutability
    """While the instrument is tradeable."""
    mutability_market_halted: GuaranteedStopLossOrderMutability
    """While the instrument is halted."""


class AccountIdentity(Record):
    """Static account data."""

    id: AccountID
    """Account id."""
    alias: str | None = None
    """Absent unless the client set one."""
    currency: Currency
    """Home currency of the account."""
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
    """Rate set by the client, absent if none is; an instrument's higher rate takes precedence."""
    resettable_pl_time: DateTime | None = None
    """When resettablePL was last zeroed."""
    open_trade_count: int
    """Number of open trades."""
    open_position_count: int
    """Number of open positions."""
    pending_order_count: int
    """Number of pending orders."""
    hedging_enabled: bool
    """Whether long and short trades of an instrument may coexist."""
    last_order_fill_timestamp: DateTime | None = None
    """Absent before the first fill; deprecated by the service."""
    last_transaction_id: TransactionID
    """Newest transaction of the account."""


class AccumulatedAccountState(Record):
    """Account totals that change with transactions only."""

    balance: AccountUnits
    """Cash balance."""
    pl: AccountUnits
    """Realized P/L over account life."""
    resettable_pl: AccountUnits
    """Realized P/L since last client reset."""
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
    """Account totals that depend on prices."""

    unrealized_pl: AccountUnits
    """Sum over open trades, at the prices that would close them."""
    nav: AccountUnits = Field(validation_alias="NAV", serialization_alias="NAV")
    """Balance plus unrealized P/L. The wire name is NAV; `nav` is read as well."""
    margin_used: AccountUnits
    """Margin in use."""
    margin_available: AccountUnits
    """Max(0, NAV minus marginUsed)."""
    position_value: AccountUnits
    """Value of open positions, in home currency."""
    margin_closeout_unrealized_pl: AccountUnits
    """Unrealized P/L at mid prices."""
    margin_closeout_nav: AccountUnits
    """Balance plus marginCloseoutUnrealizedPL."""
    margin_closeout_margin_used: AccountUnits
    """Margin used for the margin closeout."""
    margin_closeout_percent: DecimalNumber
    """A closeout happens at 1.0 or above."""
    margin_closeout_position_value: DecimalNumber
    """Position value for the margin closeout."""
    withdrawal_limit: AccountUnits
    """Never negative."""
    margin_call_margin_used: AccountUnits
    """Margin used for the margin call."""
    margin_call_percent: DecimalNumber
    """A margin call happens at 1.0 or above."""


class AccountSummary(AccountIdentity, AccumulatedAccountState, CalculatedAccountState):
    """An account without its orders, trades and positions."""


class Account(AccountIdentity, AccumulatedAccountState, CalculatedAccountState):
    """An account with its orders, trades and positions."""

    trades: tuple[TradeSummary, ...]
    """Open trades only."""
    positions: tuple[Position, ...]
    """Every instrument ever traded, flat ones included."""
    orders: tuple[Order, ...]
    """Pending orders only."""


class AccountChanges(Record):
    """What transactions after an id changed; every array is always present."""

    orders_created: tuple[Order, ...]
    """Orders created since; they may have ended."""
    orders_cancelled: tuple[Order, ...]
    """Orders cancelled since."""
    orders_filled: tuple[Order, ...]
    """Orders filled since."""
    orders_triggered: tuple[Order, ...]
    """Orders triggered since."""
    trades_opened: tuple[TradeSummary, ...]
    """Trades opened since."""
    trades_reduced: tuple[TradeSummary, ...]
    """Trades partly closed since."""
    trades_closed: tuple[TradeSummary, ...]
    """Trades fully closed since."""
    positions: tuple[Position, ...]
    """Positions changed since."""
    transactions: tuple[Transaction, ...]
    """All transactions after the id, ascending."""


class DynamicOrderState(Record):
    """Price-dependent state of a pending trailing stop."""

    id: OrderID
    """Order id."""
    trailing_stop_value: PriceValue | None = None
    """Current trigger price."""
    trigger_distance: PriceValue | None = None
    """Distance to the trigger; absent if unknown."""
    is_trigger_distance_exact: bool | None = None
    """False for an estimate; absent if unknown."""


class CalculatedTradeState(Record):
    """Price-dependent state of an open trade."""

    id: TradeID
    """Trade id."""
    unrealized_pl: AccountUnits
    """Current unrealized P/L, in home currency."""
    margin_used: AccountUnits
    """Current margin in use, in home currency."""


class CalculatedPositionState(Record):
    """Price-dependent state of an open position."""

    instrument: InstrumentName
    """As in EUR_USD."""
    net_unrealized_pl: AccountUnits
    """Both sides."""
    long_unrealized_pl: AccountUnits
    """Long side."""
    short_unrealized_pl: AccountUnits
    """Short side."""
    margin_used: AccountUnits
    """Current margin in use, in home currency."""


class AccountChangesState(CalculatedAccountState):
    """Current price-dependent state; some services send the accumulated totals as well."""

    orders: tuple[DynamicOrderState, ...]
    """One per pending order with price-dependent state."""
    trades: tuple[CalculatedTradeState, ...]
    """One per open trade."""
    positions: tuple[CalculatedPositionState, ...]
    """One per open position."""
    balance: AccountUnits | None = None
    """Cash balance."""
    pl: AccountUnits | None = None
    """Realized P/L over account life."""
    resettable_pl: AccountUnits | None = None
    """Realized P/L since last client reset."""
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
