"""Transactions that create, fill, cancel and modify orders."""

from decimal import Decimal
from typing import ClassVar

from msgspec import Struct

from keydesk_practice.engine.commands import (
    ClientExtensions,
    GuaranteedStopLossDetails,
    StopLossDetails,
    TakeProfitDetails,
    TrailingStopLossDetails,
)
from keydesk_practice.engine.quotes import HomeConversionFactors
from keydesk_practice.engine.transactions.account_transactions import Transaction
from keydesk_practice.engine.wire_form import Id, Timestamp


class OrderCreated(Transaction, frozen=True, kw_only=True):
    """An order was created."""

    order_type: ClassVar[str]
    fill_reason: ClassVar[str]

    time_in_force: str
    reason: str
    client_extensions: ClientExtensions | None = None


class EntryOrderCreated(OrderCreated, frozen=True, kw_only=True):
    """An order that may open a trade was created."""

    instrument: str
    units: Decimal
    position_fill: str = "DEFAULT"
    price_bound: Decimal | None = None
    take_profit_on_fill: TakeProfitDetails | None = None
    stop_loss_on_fill: StopLossDetails | None = None
    guaranteed_stop_loss_on_fill: GuaranteedStopLossDetails | None = None
    trailing_stop_loss_on_fill: TrailingStopLossDetails | None = None
    trade_client_extensions: ClientExtensions | None = None

    @property
    def is_protected(self) -> bool:
        """Whether the trade that it opens gets dependent orders."""
        return (
            self.take_profit_on_fill is not None
            or self.stop_loss_on_fill is not None
            or self.trailing_stop_loss_on_fill is not None
            or self.guaranteed_stop_loss_on_fill is not None
        )

    @property
    def is_guaranteed(self) -> bool:
        """Whether one of them is a guaranteed stop."""
        stop = self.stop_loss_on_fill
        return self.guaranteed_stop_loss_on_fill is not None or bool(stop and stop.guaranteed)


class TradeCloseOf(Struct, frozen=True, kw_only=True):
    """The trade that a market order closes."""

    trade_id: Id
    client_trade_id: str | None = None
    units: str


class PositionCloseoutOf(Struct, frozen=True, kw_only=True):
    """The side of a position that a market order closes."""

    instrument: str
    units: str


class MarginCloseoutOf(Struct, frozen=True, kw_only=True):
    """Why the margin rules closed a position."""

    reason: str


class DelayedTradeCloseOf(Struct, frozen=True, kw_only=True):
    """The trade whose delayed close a market order executes."""

    trade_id: Id
    client_trade_id: str | None = None
    source_transaction_id: Id


class MarketOrderCreated(EntryOrderCreated, frozen=True, kw_only=True):
    """A market order was created; it ends in the same batch."""

    type: ClassVar[str] = "MARKET_ORDER"
    order_type: ClassVar[str] = "MARKET"
    fill_reason: ClassVar[str] = "MARKET_ORDER"

    trade_close: TradeCloseOf | None = None
    long_position_closeout: PositionCloseoutOf | None = None
    short_position_closeout: PositionCloseoutOf | None = None
    margin_closeout: MarginCloseoutOf | None = None
    delayed_trade_close: DelayedTradeCloseOf | None = None


class PendingOrderCreated(EntryOrderCreated, frozen=True, kw_only=True):
    """An entry order that can be pending was created."""

    price: Decimal
    gtd_time: Timestamp | None = None
    trigger_condition: str = "DEFAULT"
    replaces_order_id: Id | None = None
    cancelling_transaction_id: Id | None = None


class LimitOrderCreated(PendingOrderCreated, frozen=True, kw_only=True):
    """A limit order was created."""

    type: ClassVar[str] = "LIMIT_ORDER"
    order_type: ClassVar[str] = "LIMIT"
    fill_reason: ClassVar[str] = "LIMIT_ORDER"


class StopOrderCreated(PendingOrderCreated, frozen=True, kw_only=True):
    """A stop order was created."""

    type: ClassVar[str] = "STOP_ORDER"
    order_type: ClassVar[str] = "STOP"
    fill_reason: ClassVar[str] = "STOP_ORDER"


class MarketIfTouchedOrderCreated(PendingOrderCreated, frozen=True, kw_only=True):
    """A market-if-touched order was created."""

    type: ClassVar[str] = "MARKET_IF_TOUCHED_ORDER"
    order_type: ClassVar[str] = "MARKET_IF_TOUCHED"
    fill_reason: ClassVar[str] = "MARKET_IF_TOUCHED_ORDER"


class DependentOrderCreated(OrderCreated, frozen=True, kw_only=True):
    """An order that closes one trade was created."""

    trade_id: Id
    client_trade_id: str | None = None
    gtd_time: Timestamp | None = None
    trigger_condition: str = "DEFAULT"
    distance: Decimal | None = None
    order_fill_transaction_id: Id | None = None
    replaces_order_id: Id | None = None
    cancelling_transaction_id: Id | None = None


class PricedDependentCreated(DependentOrderCreated, frozen=True, kw_only=True):
    """A dependent order with a fixed price was created."""

    price: Decimal


class TakeProfitCreated(PricedDependentCreated, frozen=True, kw_only=True):
    """A take-profit was created."""

    type: ClassVar[str] = "TAKE_PROFIT_ORDER"
    order_type: ClassVar[str] = "TAKE_PROFIT"
    fill_reason: ClassVar[str] = "TAKE_PROFIT_ORDER"


class StopLossCreated(PricedDependentCreated, frozen=True, kw_only=True):
    """A stop-loss was created."""

    type: ClassVar[str] = "STOP_LOSS_ORDER"
    order_type: ClassVar[str] = "STOP_LOSS"
    fill_reason: ClassVar[str] = "STOP_LOSS_ORDER"


class GuaranteedStopLossCreated(PricedDependentCreated, frozen=True, kw_only=True):
    """A guaranteed stop was created."""

    type: ClassVar[str] = "GUARANTEED_STOP_LOSS_ORDER"
    order_type: ClassVar[str] = "GUARANTEED_STOP_LOSS"
    fill_reason: ClassVar[str] = "GUARANTEED_STOP_LOSS_ORDER"

    guaranteed_execution_premium: Decimal


class TrailingStopLossCreated(DependentOrderCreated, frozen=True, kw_only=True):
    """A trailing stop was created; it has a distance and no price."""

    type: ClassVar[str] = "TRAILING_STOP_LOSS_ORDER"
    order_type: ClassVar[str] = "TRAILING_STOP_LOSS"
    fill_reason: ClassVar[str] = "TRAILING_STOP_LOSS_ORDER"


class FullPriceBucket(Struct, frozen=True, kw_only=True):
    """Liquidity at one price; a decimal text in fills, a number in pricing."""

    price: Decimal
    liquidity: Decimal


class FullPrice(Struct, frozen=True, kw_only=True):
    """The price in force at a fill."""

    bids: tuple[FullPriceBucket, ...]
    asks: tuple[FullPriceBucket, ...]
    closeout_bid: Decimal
    closeout_ask: Decimal
    timestamp: Timestamp


class TradeOpened(Struct, frozen=True, kw_only=True):
    """The trade that a fill opened."""

    trade_id: Id
    units: Decimal
    price: Decimal
    guaranteed_execution_fee: Decimal | None = None
    client_extensions: ClientExtensions | None = None
    half_spread_cost: Decimal
    initial_margin_required: Decimal


class TradeReduced(Struct, frozen=True, kw_only=True):
    """A trade that a fill reduced or closed; the units have the sign of the fill."""

    trade_id: Id
    client_trade_id: str | None = None
    units: Decimal
    price: Decimal
    realized_pl: Decimal
    financing: Decimal
    guaranteed_execution_fee: Decimal
    quote_guaranteed_execution_fee: Decimal
    half_spread_cost: Decimal


class OrderFilled(Transaction, frozen=True, kw_only=True):
    """An order was filled."""

    type: ClassVar[str] = "ORDER_FILL"

    order_id: Id
    client_order_id: str | None = None
    instrument: str
    units: Decimal
    requested_units: Decimal
    gain_quote_home_conversion_factor: Decimal
    loss_quote_home_conversion_factor: Decimal
    home_conversion_factors: HomeConversionFactors
    price: Decimal
    full_vwap: Decimal
    full_price: FullPrice
    reason: str
    pl: Decimal
    quote_pl: Decimal
    financing: Decimal
    commission: Decimal
    guaranteed_execution_fee: Decimal
    quote_guaranteed_execution_fee: Decimal
    account_balance: Decimal
    trade_opened: TradeOpened | None = None
    trades_closed: tuple[TradeReduced, ...] | None = None
    trade_reduced: TradeReduced | None = None
    half_spread_cost: Decimal


class OrderCancelled(Transaction, frozen=True, kw_only=True):
    """An order was cancelled."""

    type: ClassVar[str] = "ORDER_CANCEL"

    order_id: Id
    client_order_id: str | None = None
    reason: str
    replaced_by_order_id: Id | None = None


class OrderCancelRejected(Transaction, frozen=True, kw_only=True):
    """A cancel request was rejected."""

    type: ClassVar[str] = "ORDER_CANCEL_REJECT"

    order_id: Id | None = None
    client_order_id: str | None = None
    reject_reason: str


class OrderExtensionsModified(Transaction, frozen=True, kw_only=True):
    """The client extensions of an order changed."""

    type: ClassVar[str] = "ORDER_CLIENT_EXTENSIONS_MODIFY"

    order_id: Id
    client_order_id: str | None = None
    client_extensions_modify: ClientExtensions | None = None
    trade_client_extensions_modify: ClientExtensions | None = None


class OrderExtensionsModifyRejected(Transaction, frozen=True, kw_only=True):
    """A change of an order's client extensions was rejected."""

    type: ClassVar[str] = "ORDER_CLIENT_EXTENSIONS_MODIFY_REJECT"

    order_id: Id | None = None
    client_order_id: str | None = None
    client_extensions_modify: ClientExtensions | None = None
    trade_client_extensions_modify: ClientExtensions | None = None
    reject_reason: str


class TradeExtensionsModified(Transaction, frozen=True, kw_only=True):
    """The client extensions of a trade changed."""

    type: ClassVar[str] = "TRADE_CLIENT_EXTENSIONS_MODIFY"

    trade_id: Id
    client_trade_id: str | None = None
    trade_client_extensions_modify: ClientExtensions


class TradeExtensionsModifyRejected(Transaction, frozen=True, kw_only=True):
    """A change of a trade's client extensions was rejected."""

    type: ClassVar[str] = "TRADE_CLIENT_EXTENSIONS_MODIFY_REJECT"

    trade_id: Id | None = None
    client_trade_id: str | None = None
    trade_client_extensions_modify: ClientExtensions | None = None
    reject_reason: str
