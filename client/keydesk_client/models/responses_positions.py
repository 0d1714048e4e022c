"""Answers about positions."""

from keydesk_client.models._core.base import Response
from keydesk_client.models._core.scalars import TransactionID
from keydesk_client.models.positions import Position
from keydesk_client.models.transactions.cancels import OrderCancelTransaction
from keydesk_client.models.transactions.entry_orders import MarketOrderTransaction
from keydesk_client.models.transactions.fills import OrderFillTransaction


class PositionsResponse(Response):
    """A list of positions."""

    positions: tuple[Position, ...]
    last_transaction_id: TransactionID


class PositionResponse(Response):
    """One position."""

    position: Position
    last_transaction_id: TransactionID


class PositionCloseResponse(Response):
    """One or both sides of a position were closed."""

    long_order_create_transaction: MarketOrderTransaction | None = None
    long_order_fill_transaction: OrderFillTransaction | None = None
    long_order_cancel_transaction: OrderCancelTransaction | None = None
    short_order_create_transaction: MarketOrderTransaction | None = None
    short_order_fill_transaction: OrderFillTransaction | None = None
    short_order_cancel_transaction: OrderCancelTransaction | None = None
    related_transaction_ids: tuple[TransactionID, ...]
    last_transaction_id: TransactionID
