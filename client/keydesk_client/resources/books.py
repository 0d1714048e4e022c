"""Books: how the service's clients are positioned, by price."""

from __future__ import annotations  # help() shows the names of types, not all that they are made of

from keydesk_client.http.exchange import Request
from keydesk_client.http.paths import path
from keydesk_client.models._core.reading import Reader
from keydesk_client.models._core.times import Moment
from keydesk_client.models.responses_books import OrderBookResponse, PositionBookResponse
from keydesk_client.resources.area import Area

ORDER_BOOK = Reader(OrderBookResponse)
POSITION_BOOK = Reader(PositionBookResponse)


class Books(Area):
    """Snapshots of client orders and positions; they are not executable depth."""

    async def order(self, instrument: str, *, time: Moment | None = None) -> OrderBookResponse:
        """The order book at a snapshot time, or the newest: percent of all orders, by price.

        NotFound when there is no snapshot of that time; `links` lead to its neighbours.
        """
        return await self._caller.ask(self._snapshot(instrument, "orderBook", time), ORDER_BOOK)

    async def position(
        self, instrument: str, *, time: Moment | None = None
    ) -> PositionBookResponse:
        """The position book at a snapshot time, or the newest: percent of all positions, by the price of their opening.

        NotFound when there is no snapshot of that time; `links` lead to its neighbours.
        """
        return await self._caller.ask(
            self._snapshot(instrument, "positionBook", time), POSITION_BOOK
        )

    def _snapshot(self, instrument: str, book: str, time: Moment | None) -> Request:
        query = {} if time is None else {"time": self._moment("time", time)}
        where = path("instruments", ("instrument", instrument), book)
        return Request("GET", where, query, self._headers())
