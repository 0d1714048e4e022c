"""What every transaction carries, and the links between them."""

from keydesk_client.models._core.record import Record
from keydesk_client.models._core.scalars import AccountID, OrderID, RequestID, TransactionID
from keydesk_client.models._core.times import DateTime
from keydesk_client.models.reject_reasons import TransactionRejectReason


class TransactionIdentity(Record):
    """First fields of every transaction; type is the discriminator."""

    id: TransactionID
    """Number of the transaction, counting from 1."""
    account_id: AccountID
    """The account."""
    user_id: int
    """The user behind the request."""
    batch_id: TransactionID
    """Id of the first transaction of the batch."""
    request_id: RequestID | None = None
    """Same for all transactions of one request; absent on service-made ones."""
    time: DateTime
    """Same for the whole batch."""


class ReplacementLinks(Record):
    """Links on the creating transaction of a replacement."""

    replaces_order_id: OrderID | None = None
    """Only when reason is REPLACEMENT."""
    cancelling_transaction_id: TransactionID | None = None
    """ORDER_CANCEL of the replaced order, only when reason is REPLACEMENT."""


class OrderRejection(Record):
    """Carried by a *_REJECT of an order."""

    intended_replaces_order_id: OrderID | None = None
    """Order the rejected one was to replace."""
    reject_reason: TransactionRejectReason
    """Why nothing was created."""


class OnFillLink(Record):
    """Carried by dependent-order transactions made by a fill."""

    order_fill_transaction_id: TransactionID | None = None
    """The ORDER_FILL that asked for it, reason ON_FILL."""
