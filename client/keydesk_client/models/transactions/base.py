"""Client extensions: changed or refused.

What every transaction carries, and the links between them.
Conversion factors in force at a transaction.
"""

from typing import Literal

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


class ConversionFactor(Record):
    """One factor."""

    factor: DecimalNumber
    """Multiply by it."""


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
    """Order tags changed."""

    type: Literal["ORDER_CLIENT_EXTENSIONS_MODIFY"] = "ORDER_CLIENT_EXTENSIONS_MODIFY"
    order_id: OrderID
    """The order."""
    client_order_id: ClientID | None = None
    """Id before the change."""
    client_extensions_modify: ClientExtensions | None = None
    """New order tags."""
    trade_client_extensions_modify: ClientExtensions | None = None
    """New tags for the trade to come."""


class OrderClientExtensionsModifyRejectTransaction(TransactionIdentity):
    """Order tag change refused."""

    type: Literal["ORDER_CLIENT_EXTENSIONS_MODIFY_REJECT"] = "ORDER_CLIENT_EXTENSIONS_MODIFY_REJECT"
    order_id: OrderID | None = None
    """Order asked for."""
    client_order_id: ClientID | None = None
    """Client id asked for."""
    client_extensions_modify: ClientExtensions | None = None
    """As it was asked for."""
    trade_client_extensions_modify: ClientExtensions | None = None
    """As it was asked for."""
    reject_reason: TransactionRejectReason
    """Why it was refused."""


class TradeClientExtensionsModifyTransaction(TransactionIdentity):
    """Trade tags changed."""

    type: Literal["TRADE_CLIENT_EXTENSIONS_MODIFY"] = "TRADE_CLIENT_EXTENSIONS_MODIFY"
    trade_id: TradeID
    """The trade."""
    client_trade_id: ClientID | None = None
    """Id before the change."""
    trade_client_extensions_modify: ClientExtensions
    """New tags."""


class TradeClientExtensionsModifyRejectTransaction(TransactionIdentity):
    """Trade tag change refused."""

    type: Literal["TRADE_CLIENT_EXTENSIONS_MODIFY_REJECT"] = "TRADE_CLIENT_EXTENSIONS_MODIFY_REJECT"
    trade_id: TradeID | None = None
    """Trade asked for."""
    client_trade_id: ClientID | None = None
    """Client id asked for."""
    trade_client_extensions_modify: ClientExtensions | None = None
    """As it was asked for."""
    reject_reason: TransactionRejectReason
    """Why it was refused."""
