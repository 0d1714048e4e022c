"""Members that transactions share, conversion factors, and changes of client extensions."""

from typing import ClassVar, Literal

from keydesk_client.models._core.record import Record
from keydesk_client.models._core.scalars import (
    AccountID,
    ClientID,
    DateTime,
    DecimalNumber,
    OrderID,
    RequestID,
    TradeID,
    TransactionID,
)
from keydesk_client.models.order_terms import ClientExtensions
from keydesk_client.models.reject_reasons import TransactionRejectReason


class TransactionIdentity(Record):
    """Members of every transaction; `type` is the discriminator."""

    converts_on_demand: ClassVar[bool] = True

    id: TransactionID
    """Number of the transaction, counting from 1."""
    account_id: AccountID
    """The account."""
    user_id: int
    """The user behind the request."""
    batch_id: TransactionID
    """Id of the first transaction of the batch."""
    request_id: RequestID | None = None
    """Shared by all transactions of one request; absent if the service created them itself."""
    time: DateTime
    """Time of the transaction, equal within a batch."""


class ReplacementLinks(Record):
    """Links on the creating transaction of a replacement."""

    replaces_order_id: OrderID | None = None
    """Only when reason is REPLACEMENT."""
    cancelling_transaction_id: TransactionID | None = None
    """ORDER_CANCEL of the replaced order, only when reason is REPLACEMENT."""


class OrderRejection(Record):
    """Members of a rejected order."""

    intended_replaces_order_id: OrderID | None = None
    """The order that the rejected one was meant to replace."""
    reject_reason: TransactionRejectReason
    """Reason of the rejection."""


class OnFillLink(Record):
    """Link from a dependent order to the fill that created it."""

    order_fill_transaction_id: TransactionID | None = None
    """The ORDER_FILL; only if the reason is ON_FILL."""


class ConversionFactor(Record):
    """One conversion factor."""

    factor: DecimalNumber
    """Multiply an amount by it."""


class HomeConversionFactors(Record):
    """Factors in force at a fill, financing or dividend."""

    gain_quote_home: ConversionFactor | None = None
    """May be null."""
    loss_quote_home: ConversionFactor | None = None
    """May be null."""
    gain_base_home: ConversionFactor | None = None
    """May be null."""
    loss_base_home: ConversionFactor | None = None
    """May be null."""


class OrderClientExtensionsModifyTransaction(TransactionIdentity):
    """Client extensions of an order changed."""

    type: Literal["ORDER_CLIENT_EXTENSIONS_MODIFY"] = "ORDER_CLIENT_EXTENSIONS_MODIFY"
    order_id: OrderID
    """The order."""
    client_order_id: ClientID | None = None
    """Id before the change."""
    client_extensions_modify: ClientExtensions | None = None
    """New extensions of the order."""
    trade_client_extensions_modify: ClientExtensions | None = None
    """New extensions of the trade that the order will open."""


class OrderClientExtensionsModifyRejectTransaction(TransactionIdentity):
    """Change of an order's client extensions rejected."""

    type: Literal["ORDER_CLIENT_EXTENSIONS_MODIFY_REJECT"] = "ORDER_CLIENT_EXTENSIONS_MODIFY_REJECT"
    order_id: OrderID | None = None
    """Requested order."""
    client_order_id: ClientID | None = None
    """Requested client id."""
    client_extensions_modify: ClientExtensions | None = None
    """As requested."""
    trade_client_extensions_modify: ClientExtensions | None = None
    """As requested."""
    reject_reason: TransactionRejectReason
    """Reason of the rejection."""


class TradeClientExtensionsModifyTransaction(TransactionIdentity):
    """Client extensions of a trade changed."""

    type: Literal["TRADE_CLIENT_EXTENSIONS_MODIFY"] = "TRADE_CLIENT_EXTENSIONS_MODIFY"
    trade_id: TradeID
    """The trade."""
    client_trade_id: ClientID | None = None
    """Id before the change."""
    trade_client_extensions_modify: ClientExtensions
    """New extensions."""


class TradeClientExtensionsModifyRejectTransaction(TransactionIdentity):
    """Change of a trade's client extensions rejected."""

    type: Literal["TRADE_CLIENT_EXTENSIONS_MODIFY_REJECT"] = "TRADE_CLIENT_EXTENSIONS_MODIFY_REJECT"
    trade_id: TradeID | None = None
    """Requested trade."""
    client_trade_id: ClientID | None = None
    """Requested client id."""
    trade_client_extensions_modify: ClientExtensions | None = None
    """As requested."""
    reject_reason: TransactionRejectReason
    """Reason of the rejection."""
