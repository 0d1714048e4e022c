"""Transactions that record rejected orders: what was requested, and why it was rejected."""

from decimal import Decimal
from typing import ClassVar

from keydesk_practice.engine.commands import (
    ClientExtensions,
    GuaranteedStopLossDetails,
    StopLossDetails,
    TakeProfitDetails,
    TrailingStopLossDetails,
)
from keydesk_practice.engine.transactions.account_transactions import Transaction
from keydesk_practice.engine.transactions.order_transactions import PositionCloseoutOf, TradeCloseOf
from keydesk_practice.engine.wire_form import Id, Timestamp


class OrderRejected(Transaction, frozen=True, kw_only=True):
    """An order was rejected."""

    time_in_force: str
    reason: str
    client_extensions: ClientExtensions | None = None
    intended_replaces_order_id: Id | None = None
    reject_reason: str


class EntryOrderRejected(OrderRejected, frozen=True, kw_only=True):
    """An order that could have opened a trade was rejected."""

    instrument: str | None = None
    units: Decimal | None = None
    position_fill: str = "DEFAULT"
    price_bound: Decimal | None = None
    take_profit_on_fill: TakeProfitDetails | None = None
    stop_loss_on_fill: StopLossDetails | None = None
    guaranteed_stop_loss_on_fill: GuaranteedStopLossDetails | None = None
    trailing_stop_loss_on_fill: TrailingStopLossDetails | None = None
    trade_client_extensions: ClientExtensions | None = None


class MarketOrderRejected(EntryOrderRejected, frozen=True, kw_only=True):
    """A market order was rejected."""

    type: ClassVar[str] = "MARKET_ORDER_REJECT"

    trade_close: TradeCloseOf | None = None
    long_position_closeout: PositionCloseoutOf | None = None
    short_position_closeout: PositionCloseoutOf | None = None


class PendingOrderRejected(EntryOrderRejected, frozen=True, kw_only=True):
    """An entry order that could have been pending was rejected."""

    price: Decimal | None = None
    gtd_time: Timestamp | None = None
    trigger_condition: str = "DEFAULT"


class LimitOrderRejected(PendingOrderRejected, frozen=True, kw_only=True):
    """A limit order was rejected."""

    type: ClassVar[str] = "LIMIT_ORDER_REJECT"


class StopOrderRejected(PendingOrderRejected, frozen=True, kw_only=True):
    """A stop order was rejected."""

    type: ClassVar[str] = "STOP_ORDER_REJECT"


class MarketIfTouchedOrderRejected(PendingOrderRejected, frozen=True, kw_only=True):
    """A market-if-touched order was rejected."""

    type: ClassVar[str] = "MARKET_IF_TOUCHED_ORDER_REJECT"


class DependentOrderRejected(OrderRejected, frozen=True, kw_only=True):
    """A dependent order was rejected."""

    trade_id: Id | None = None
    client_trade_id: str | None = None
    gtd_time: Timestamp | None = None
    trigger_condition: str = "DEFAULT"
    price: Decimal | None = None
    distance: Decimal | None = None
    order_fill_transaction_id: Id | None = None


class TakeProfitRejected(DependentOrderRejected, frozen=True, kw_only=True):
    """A take-profit was rejected."""

    type: ClassVar[str] = "TAKE_PROFIT_ORDER_REJECT"


class StopLossRejected(DependentOrderRejected, frozen=True, kw_only=True):
    """A stop-loss was rejected."""

    type: ClassVar[str] = "STOP_LOSS_ORDER_REJECT"

    guaranteed: bool | None = None


class GuaranteedStopLossRejected(DependentOrderRejected, frozen=True, kw_only=True):
    """A guaranteed stop was rejected."""

    type: ClassVar[str] = "GUARANTEED_STOP_LOSS_ORDER_REJECT"


class TrailingStopLossRejected(DependentOrderRejected, frozen=True, kw_only=True):
    """A trailing stop was rejected."""

    type: ClassVar[str] = "TRAILING_STOP_LOSS_ORDER_REJECT"
