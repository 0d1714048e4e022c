"""Answers with books."""

from keydesk_client.models._core.base import Response
from keydesk_client.models.books import OrderBook, PositionBook


class OrderBookResponse(Response):
    """A snapshot of the order book."""

    order_book: OrderBook


class PositionBookResponse(Response):
    """A snapshot of the position book."""

    position_book: PositionBook
