"""Answers about orders."""

from keydesk_client.models._core.base import Response
from keydesk_client.models._core.scalars import TransactionID
from keydesk_client.models.orders import Order
from keydesk_client.models.transactions.cancels import OrderCancelTransaction
from keydesk_client.models.transactions.extensions import OrderClientExtensionsModifyTransaction
from keydesk_client.models.transactions.fills import OrderFillTransaction
from keydesk_client.models.transactions.unions import OrderCreateTransaction, OrderRejectTransaction


class OrderCreateResponse(Response):
    """An order was accepted: it rests, was filled, or was cancelled at once."""

    order_create_transaction: OrderCreateTransaction
    order_fill_transaction: OrderFillTransaction | None = None
    order_cancel_transaction: OrderCancelTransaction | None = None
    order_reissue_transaction: OrderCreateTransaction | None = None
    order_reissue_reject_transaction: OrderRejectTransaction | None = None
    related_transaction_ids: tuple[TransactionID, ...]
    last_transaction_id: TransactionID


class OrdersResponse(Response):
    """A list of orders, newest first."""

    orders: tuple[Order, ...]
    last_transaction_id: TransactionID


class OrderResponse(Response):
    """One order."""

    order: Order
    last_transaction_id: TransactionID


class OrderReplaceResponse(Response):
    """An order was cancelled and another put in its place."""

    order_cancel_transaction: OrderCancelTransaction | None = None
    order_create_transaction: OrderCreateTransaction
    order_fill_transaction: OrderFillTransaction | None = None
    order_reissue_transaction: OrderCreateTransaction | None = None
    order_reissue_reject_transaction: OrderRejectTransaction | None = None
    replacing_order_cancel_transaction: OrderCancelTransaction | None = None
    related_transaction_ids: tuple[TransactionID, ...]
    last_transaction_id: TransactionID


class OrderCancelResponse(Response):
    """An order was cancelled."""

    order_cancel_transaction: OrderCancelTransaction
    related_transaction_ids: tuple[TransactionID, ...]
    last_transaction_id: TransactionID


class OrderClientExtensionsResponse(Response):
    """An order's client extensions were changed."""

    order_client_extensions_modify_transaction: OrderClientExtensionsModifyTransaction
    last_transaction_id: TransactionID
    related_transaction_ids: tuple[TransactionID, ...]
