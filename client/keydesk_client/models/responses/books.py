"""Answers with books."""

from keydesk_client.models.books import OrderBook, PositionBook
from keydesk_client.models.responses.base import Response


class OrderBookResponse(Response):
    """A snapshot of the order book."""

    order_book: OrderBook


class PositionBookResponse(Response):
    """A snapshot of the position book."""

    position_book: PositionBook
