"""Transactions that record rejected orders: what was requested, and why it was rejected."""

from dataclasses import dataclass
from decimal import Decimal
from typing import ClassVar

from keydesk_practice.engine.commands import (
    ClientExtensions,
    GuaranteedStopLossDetails,
    StopLossDetails,
    TakeProfitDetails,
    TrailingStopLossDetails,
)
from keydesk_practice.engine.transactions.account import Transaction
from keydesk_practice.engine.transactions.orders import PositionCloseoutOf, TradeCloseOf
from keydesk_practice.engine.wire_form import Id, Timestamp


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderRejected(Transaction):
    """An order was rejected."""

    time_in_force: str
    reason: str
    client_extensions: ClientExtensions | None = None
    intended_replaces_order_id: Id | None = None
    reject_reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryOrderRejected(OrderRejected):
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


@dataclass(frozen=True, slots=True, kw_only=True)
class MarketOrderRejected(EntryOrderRejected):
    """A market order was rejected."""

    type: ClassVar[str] = "MARKET_ORDER_REJECT"

    trade_close: TradeCloseOf | None = None
    long_position_closeout: PositionCloseoutOf | None = None
    short_position_closeout: PositionCloseoutOf | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingOrderRejected(EntryOrderRejected):
    """An entry order that could have been pending was rejected."""

    price: Decimal | None = None
    gtd_time: Timestamp | None = None
    trigger_condition: str = "DEFAULT"


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitOrderRejected(PendingOrderRejected):
    """A limit order was rejected."""

    type: ClassVar[str] = "LIMIT_ORDER_REJECT"


@dataclass(frozen=True, slots=True, kw_only=True)
class StopOrderRejected(PendingOrderRejected):
    """A stop order was rejected."""

    type: ClassVar[str] = "STOP_ORDER_REJECT"


@dataclass(frozen=True, slots=True, kw_only=True)
class MarketIfTouchedOrderRejected(PendingOrderRejected):
    """A market-if-touched order was rejected."""

    type: ClassVar[str] = "MARKET_IF_TOUCHED_ORDER_REJECT"


@dataclass(frozen=True, slots=True, kw_only=True)
class DependentOrderRejected(OrderRejected):
    """A dependent order was rejected."""

    trade_id: Id | None = None
    client_trade_id: str | None = None
    gtd_time: Timestamp | None = None
    trigger_condition: str = "DEFAULT"
    price: Decimal | None = None
    distance: Decimal | None = None
    order_fill_transaction_id: Id | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TakeProfitRejected(DependentOrderRejected):
    """A take-profit was rejected."""

    type: ClassVar[str] = "TAKE_PROFIT_ORDER_REJECT"


@dataclass(frozen=True, slots=True, kw_only=True)
class StopLossRejected(DependentOrderRejected):
    """A stop-loss was rejected."""

    type: ClassVar[str] = "STOP_LOSS_ORDER_REJECT"

    guaranteed: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GuaranteedStopLossRejected(DependentOrderRejected):
    """A guaranteed stop was rejected."""

    type: ClassVar[str] = "GUARANTEED_STOP_LOSS_ORDER_REJECT"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrailingStopLossRejected(DependentOrderRejected):
    """A trailing stop was rejected."""

    type: ClassVar[str] = "TRAILING_STOP_LOSS_ORDER_REJECT"
