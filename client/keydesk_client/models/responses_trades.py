"""Answers about trades."""

from keydesk_client.models._core.base import Response
from keydesk_client.models._core.scalars import TransactionID
from keydesk_client.models.trades import Trade
from keydesk_client.models.transactions.cancels import OrderCancelTransaction
from keydesk_client.models.transactions.dependent_orders import (
    GuaranteedStopLossOrderTransaction,
    StopLossOrderTransaction,
    TakeProfitOrderTransaction,
    TrailingStopLossOrderTransaction,
)
from keydesk_client.models.transactions.entry_orders import MarketOrderTransaction
from keydesk_client.models.transactions.extensions import TradeClientExtensionsModifyTransaction
from keydesk_client.models.transactions.fills import OrderFillTransaction


class TradesResponse(Response):
    """A list of trades, newest first."""

    trades: tuple[Trade, ...]
    last_transaction_id: TransactionID


class TradeResponse(Response):
    """One trade."""

    trade: Trade
    last_transaction_id: TransactionID


class TradeCloseResponse(Response):
    """A trade was closed in full or in part, or its closing order was cancelled at once."""

    order_create_transaction: MarketOrderTransaction | None = None
    order_fill_transaction: OrderFillTransaction | None = None
    order_cancel_transaction: OrderCancelTransaction | None = None
    related_transaction_ids: tuple[TransactionID, ...]
    last_transaction_id: TransactionID


class TradeClientExtensionsResponse(Response):
    """A trade's client extensions were changed."""

    trade_client_extensions_modify_transaction: TradeClientExtensionsModifyTransaction
    related_transaction_ids: tuple[TransactionID, ...]
    last_transaction_id: TransactionID


class TradeDependentOrdersResponse(Response):
    """A trade's dependent orders were created, changed or cancelled."""

    take_profit_order_cancel_transaction: OrderCancelTransaction | None = None
    take_profit_order_transaction: TakeProfitOrderTransaction | None = None
    take_profit_order_fill_transaction: OrderFillTransaction | None = None
    take_profit_order_created_cancel_transaction: OrderCancelTransaction | None = None
    stop_loss_order_cancel_transaction: OrderCancelTransaction | None = None
    stop_loss_order_transaction: StopLossOrderTransaction | None = None
    stop_loss_order_fill_transaction: OrderFillTransaction | None = None
    stop_loss_order_created_cancel_transaction: OrderCancelTransaction | None = None
    trailing_stop_loss_order_cancel_transaction: OrderCancelTransaction | None = None
    trailing_stop_loss_order_transaction: TrailingStopLossOrderTransaction | None = None
    guaranteed_stop_loss_order_cancel_transaction: OrderCancelTransaction | None = None
    guaranteed_stop_loss_order_transaction: GuaranteedStopLossOrderTransaction | None = None
    related_transaction_ids: tuple[TransactionID, ...]
    last_transaction_id: TransactionID
