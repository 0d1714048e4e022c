"""Candles: history of an instrument, however long, and the newest ones of several."""

from __future__ import annotations  # help() shows the names of types, not all that they are made of

from collections.abc import AsyncIterator, Iterable
from typing import Unpack

from keydesk_client.http.exchange import Request
from keydesk_client.http.paths import moment, number, path
from keydesk_client.models._core.body_limits import CANDLES as CANDLES_BODY
from keydesk_client.models._core.reading import Reader
from keydesk_client.models._core.scalars import Number
from keydesk_client.models._core.times import DateTime, Moment
from keydesk_client.models.candles import Candlestick, CandlestickResponse
from keydesk_client.models.responses_candles import LatestCandlesResponse
from keydesk_client.resources.area import Area
from keydesk_client.resources.candle_options import (
    MOST_CANDLES,
    CandleRange,
    CandleSeries,
    CandleShape,
    range_query,
    shape_query,
    specification_list,
)
from keydesk_client.resources.options import refuse_unknown

CANDLES = Reader(CandlestickResponse, CANDLES_BODY)
LATEST = Reader(LatestCandlesResponse, CANDLES_BODY)


class Candles(Area):
    """Candles of an instrument."""

    async def get(self, instrument: str, **options: Unpack[CandleRange]) -> CandlestickResponse:
        """Candles in ascending order, at most 5,000; periods without a price are left out.

        By default the last 500 of S5 at mid prices. Options: `granularity` (S5 to M), `price` (any of M, B and A, as in
        "BA"), `count`, `from_`, `to`, `include_first`, `smooth`, `daily_alignment` (hour), `alignment_timezone`,
        `weekly_alignment`. InvalidRequest for one that can not be right, before anything is sent.
        """
        where = path("instruments", ("instrument", instrument), "candles")
        return await self._candles(where, range_query(options, self._defaults.datetime_format))

    async def get_for_account(
        self,
        instrument: str,
        *,
        units: Number | None = None,
        account_id: str | None = None,
        **options: Unpack[CandleRange],
    ) -> CandlestickResponse:
        """As `get`, at the prices of an account; `units` is the size that bid and ask are averaged for."""
        where = self._account(account_id, "instruments", ("instrument", instrument), "candles")
        query = range_query(options, self._defaults.datetime_format) | _for_units(units)
        return await self._candles(where, query)

    async def latest(
        self,
        specifications: Iterable[str],
        *,
        units: Number | None = None,
        account_id: str | None = None,
        **options: Unpack[CandleShape],
    ) -> LatestCandlesResponse:
        """The last complete and the forming candle of each specification: instrument, granularity, price components.

        As in `["EUR_USD:M1:BM", "USD_JPY:D:M"]`.
        """
        refuse_unknown(options, CandleShape.__optional_keys__)
        query = {"candleSpecifications": specification_list(specifications)}
        query |= shape_query(options) | _for_units(units)
        where = self._account(account_id, "candles", "latest")
        return await self._caller.ask(Request("GET", where, query, self._headers()), LATEST)

    async def iterate(
        self,
        instrument: str,
        *,
        from_: Moment,
        to: Moment | None = None,
        page: int = MOST_CANDLES,
        **options: Unpack[CandleSeries],
    ) -> AsyncIterator[Candlestick]:
        """Every candle that starts from `from_` on and before `to`, however many: none twice, none missing.

        Without `to`, up to the forming candle; `to` may lie in the future. A datetime needs a zone. Options:
        `granularity` (S5 unless said), `price` (M unless said), `smooth`, `daily_alignment`, `alignment_timezone`,
        `weekly_alignment`. For a table: `[candle.row() async for candle in ...]`.
        """
        end = None if to is None else DateTime.of(moment("to", to)).ns
        wanted, seen = DateTime.of(moment("from_", from_)).ns, None
        answer = await self.get(instrument, from_=from_, count=page, **options)
        while answer.candles and answer.candles[-1].time != seen:
            for candle in answer.candles:
                if end is not None and candle.time.ns >= end:
                    return
                if candle.time.ns >= wanted:
                    yield candle
            last = answer.candles[-1]
            if not last.complete:
                return
            wanted, seen = last.time.ns + 1, last.time
            answer = await self.get(
                instrument, from_=last.time, count=page, include_first=False, **options
            )

    async def _candles(self, where: str, query: dict[str, str]) -> CandlestickResponse:
        return await self._caller.ask(Request("GET", where, query, self._headers()), CANDLES)


def _for_units(units: Number | None) -> dict[str, str]:
    return {} if units is None else {"units": number("units", units, above_zero=True)}
