"""Prices: now, and as they move.

Books: how the service's clients are positioned, by price.
"""

from __future__ import annotations  # help() shows the names of types, not all that they are made of

from collections.abc import Iterable
from typing import Final

from keydesk_client.http.endpoint import listed, path, yes_or_no
from keydesk_client.http.messages import Request
from keydesk_client.http.pacing import REAL_TIMING, Timing
from keydesk_client.models._core.decoder import Reader
from keydesk_client.models._core.json import INSTRUMENTS as INSTRUMENTS_BODY
from keydesk_client.models._core.scalars import TimeInput
from keydesk_client.models.responses import OrderBookResponse, PositionBookResponse, PricingResponse
from keydesk_client.resources._base import Area
from keydesk_client.streams.buffer import StreamSettings
from keydesk_client.streams.prices import PriceStream

ORDER_BOOK = Reader(OrderBookResponse)
POSITION_BOOK = Reader(PositionBookResponse)


class Books(Area):
    """Snapshots of client orders and positions; they are not executable depth."""

    async def order(self, instrument: str, *, time: TimeInput | None = None) -> OrderBookResponse:
        """The order book at a snapshot time, or the newest: percent of all orders, by price.

        NotFound when there is no snapshot of that time; `links` lead to its neighbours.
        """
        return await self._caller.ask(self._snapshot(instrument, "orderBook", time), ORDER_BOOK)

    async def position(
        self, instrument: str, *, time: TimeInput | None = None
    ) -> PositionBookResponse:
        """The position book at a snapshot time, or the newest: percent of all positions, by the price of their opening.

        NotFound when there is no snapshot of that time; `links` lead to its neighbours.
        """
        return await self._caller.ask(
            self._snapshot(instrument, "positionBook", time), POSITION_BOOK
        )

    def _snapshot(self, instrument: str, book: str, time: TimeInput | None) -> Request:
        query = {} if time is None else {"time": self._moment("time", time)}
        where = path("instruments", ("instrument", instrument), book)
        return Request("GET", where, query, self._headers())


PRICING = Reader(PricingResponse, INSTRUMENTS_BODY)

STANDARD_STREAM: Final = StreamSettings()


class Pricing(Area):
    """Prices of instruments, for one account."""

    async def get(
        self,
        instruments: Iterable[str],
        *,
        since: TimeInput | None = None,
        include_home_conversions: bool = False,
        include_units_available: bool | None = None,
        account_id: str | None = None,
    ) -> PricingResponse:
        """Current prices, and each one's depth; `since` leaves those out that did not change after it.

        A poll hands back the last `time` as `since`. `include_home_conversions` adds what each currency is worth at home.

        `include_units_available` is deprecated by the service, which takes it for true when it is left out.
        """
        query = {"instruments": listed("instruments", instruments)}
        if since is not None:
            query["since"] = self._moment("since", since)
        if include_units_available is not None:
            query["includeUnitsAvailable"] = yes_or_no(value=include_units_available)
        if include_home_conversions:
            query["includeHomeConversions"] = "true"
        request = Request("GET", self._account(account_id, "pricing"), query, self._headers())
        return await self._caller.ask(request, PRICING)

    def stream(
        self,
        instruments: Iterable[str],
        *,
        snapshot: bool = True,
        include_home_conversions: bool = False,
        settings: StreamSettings = STANDARD_STREAM,
        timing: Timing = REAL_TIMING,
        account_id: str | None = None,
    ) -> PriceStream:
        """Prices as they move: `async with client.pricing.stream(["EUR_USD"]) as prices: async for item in prices`.

        It reconnects by itself and marks each interruption with a Gap. With `snapshot`, the current price of every
        instrument comes first, after a reconnect too. An item is a ClientPrice, a PricingHeartbeat or a Gap.
        """
        query = {"instruments": listed("instruments", instruments)}
        if not snapshot:
            query["snapshot"] = "false"
        if include_home_conversions:
            query["includeHomeConversions"] = "true"
        where = self._account(account_id, "pricing", "stream")
        request = Request("GET", where, query, self._headers())
        # To look for an echoed token took 0.8 us of the 14 that a price may take when they pour, each in its own piece.
        return PriceStream(
            lambda: self._caller.transport.open_stream(request, veiled=False),
            self._caller.stream_pace,
            settings,
            timing,
        )
