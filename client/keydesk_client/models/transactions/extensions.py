"""Client extensions: changed or refused."""

from typing import Literal

from keydesk_client.models._core.scalars import ClientID, OrderID, TradeID
from keydesk_client.models.extensions import ClientExtensions
from keydesk_client.models.reject_reasons import TransactionRejectReason
from keydesk_client.models.transactions.base import TransactionIdentity


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
