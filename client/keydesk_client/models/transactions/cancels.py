"""Orders that ended without a fill, and cancels that were refused."""

from typing import Literal

from keydesk_client.models._core.scalars import ClientID, OrderID
from keydesk_client.models.reject_reasons import OrderCancelReason, TransactionRejectReason
from keydesk_client.models.transactions.base import TransactionIdentity


class OrderCancelTransaction(TransactionIdentity):
    """A pending or unfilled order ended."""

    type: Literal["ORDER_CANCEL"] = "ORDER_CANCEL"
    order_id: OrderID
    """The order."""
    client_order_id: ClientID | None = None
    """Its client id."""
    reason: OrderCancelReason
    """Why it ended."""
    replaced_by_order_id: OrderID | None = None
    """Only for CLIENT_REQUEST_REPLACED."""


class OrderCancelRejectTransaction(TransactionIdentity):
    """Cancel refused."""

    type: Literal["ORDER_CANCEL_REJECT"] = "ORDER_CANCEL_REJECT"
    order_id: OrderID | None = None
    """Order asked for."""
    client_order_id: ClientID | None = None
    """Client id asked for."""
    reject_reason: TransactionRejectReason
    """Why it was refused."""
