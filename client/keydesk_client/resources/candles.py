"""Candles: the history of an instrument over any period, and the latest candles of several."""

from __future__ import annotations  # help() shows the names of types instead of their members

from collections.abc import AsyncGenerator, Iterable, Sequence
from dataclasses import replace
from typing import Final, Literal, TypedDict, Unpack, cast

from keydesk_client.errors import InvalidRequest
from keydesk_client.http.messages import Request
from keydesk_client.http.timing import REAL_TIMING, Timing
from keydesk_client.models._core.decoder import Reader
from keydesk_client.models._core.json import CANDLES as CANDLES_BODY
from keydesk_client.models._core.record import validate_choice
from keydesk_client.models._core.scalars import DateTime, Number, TimeOrDate
from keydesk_client.models._core.tabular import Columns, NumberConverter, TimeConverter
from keydesk_client.models._core.wire_names import enum_values
from keydesk_client.models.enumerations import Granularity, WeeklyAlignment
from keydesk_client.models.instruments import Instrument
from keydesk_client.models.pricing import Candlestick, CandlestickResponse, candle_columns
from keydesk_client.models.responses import LatestCandlesResponse
from keydesk_client.resources._base import (
    Resource,
    join_names,
    number,
    path,
    plain_text,
    refuse_unknown,
    require_instrument_name,
    time_text,
    whole,
    yes_or_no,
)
from keydesk_client.resources._defaults import TimeFormat
from keydesk_client.resources._paging import Paged
from keydesk_client.resources.pricing import STANDARD_STREAM, Pricing
from keydesk_client.streams.candles import CandleStream, period_of
from keydesk_client.streams.settings import OverflowPolicy, StreamSettings

CANDLES = Reader(CandlestickResponse, CANDLES_BODY)
LATEST = Reader(LatestCandlesResponse, CANDLES_BODY)

MAX_CANDLES = 5000
MAX_HELD = 10_000_000
"""Candles that `last` returns at most: 5 GB; `iterate` holds a page."""
LAST_HOUR = 23
COMPONENTS = frozenset("MBA")
GRANULARITIES: Final = enum_values(Granularity)
DAYS: Final = enum_values(WeeklyAlignment)
ENDS: Final[tuple[Literal["from_"], Literal["to"]]] = ("from_", "to")


class CandleShape(TypedDict, total=False):
    """Where candles begin; the service decides on options left out."""

    smooth: bool
    """Open at the previous candle's close."""
    daily_alignment: int
    """Hour, 0 to 23, at which days begin in `alignment_timezone`; 17 by default."""
    alignment_timezone: str
    """America/New_York by default; times in responses stay UTC."""
    weekly_alignment: WeeklyAlignment
    """Day that begins a week; Friday by default."""


class CandleSeries(CandleShape, total=False):
    """Granularity and prices of a series of candles."""

    granularity: Granularity
    """S5 by default."""
    price: str
    """Any of M (mid), B (bid) and A (ask), combined as in BA; M by default."""


class CandleRange(CandleSeries, total=False):
    """The period: a count, a range, or a count from one end."""

    count: int
    """At most 5,000; not together with both `from_` and `to`."""
    from_: TimeOrDate
    """Start of the first candle; a datetime needs a zone."""
    to: TimeOrDate
    """End of the period, exclusive."""
    include_first: bool
    """Whether to include the candle that covers `from_`; true by default."""


def range_query(options: CandleRange, form: TimeFormat) -> dict[str, str]:
    """Return the query of a period of candles."""
    refuse_unknown(options, CandleRange.__optional_keys__)
    if {"count", "from_", "to"} <= options.keys():
        raise InvalidRequest(
            "count: cannot be combined with both from_ and to: leave one of the three out",
            field="count",
        )
    if "include_first" in options and "from_" not in options:
        raise InvalidRequest("include_first: needs from_, which is missing", field="include_first")
    query = series_query(options)
    if "count" in options:
        query["count"] = whole("count", options["count"], 1, MAX_CANDLES)
    if "from_" in options:
        query["from"] = time_text("from_", options["from_"], form)
    if "to" in options:
        query["to"] = time_text("to", options["to"], form)
    _check_order(options)
    if "include_first" in options:
        query["includeFirst"] = yes_or_no(value=options["include_first"])
    return query


def series_query(options: CandleSeries) -> dict[str, str]:
    """Return the query of a series of candles."""
    query = shape_query(options)
    if "granularity" in options:
        query["granularity"] = validate_choice("granularity", options["granularity"], GRANULARITIES)
    if "price" in options:
        query["price"] = components(options["price"])
    return query


def shape_query(options: CandleShape) -> dict[str, str]:
    """Return the query of the alignment of candles."""
    query: dict[str, str] = {}
    if "smooth" in options:
        query["smooth"] = yes_or_no(value=options["smooth"])
    if "daily_alignment" in options:
        query["dailyAlignment"] = whole("daily_alignment", options["daily_alignment"], 0, LAST_HOUR)
    if "alignment_timezone" in options:
        query["alignmentTimezone"] = plain_text("alignment_timezone", options["alignment_timezone"])
    if "weekly_alignment" in options:
        query["weeklyAlignment"] = validate_choice(
            "weekly_alignment", options["weekly_alignment"], DAYS
        )
    return query


def components(price: str) -> str:
    """Return `price` after checking its components."""
    if not _are_components(price):
        raise InvalidRequest(
            f"price: {str(price)[:20]!r} is not a combination of M, B and A", field="price"
        )
    return price


def specification_list(specifications: Iterable[str]) -> str:
    """Return the specifications of latest candles as a list, after checking each."""
    joined = join_names("specifications", specifications)
    for each in joined.split(","):
        _check_specification(each)
    return joined


def _check_specification(specification: str) -> None:
    match specification.split(":"):
        case [instrument, granularity, price] if instrument and _are_components(price):
            validate_choice("specifications", granularity, GRANULARITIES)
        case _:
            raise InvalidRequest(
                f"specifications: invalid {specification[:60]!r}: write instrument, granularity and prices,"
                " as in 'EUR_USD:M1:BM'",
                field="specifications",
            )


def _are_components(price: object) -> bool:
    if not isinstance(price, str):
        return False
    return bool(price) and len(set(price)) == len(price) and set(price) <= COMPONENTS


def _check_order(options: CandleRange) -> None:
    if "from_" in options and "to" in options:
        first, last = (DateTime.of(time_text(end, options[end])) for end in ENDS)
        if first.ns > last.ns:
            raise InvalidRequest(
                f"from_: {first.text} is after to, {last.text}: swap them", field="from_"
            )


class Candles(Resource):
    """Candles of an instrument."""

    async def get(
        self, instrument: str | Instrument, **options: Unpack[CandleRange]
    ) -> CandlestickResponse:
        """Return at most 5,000 candles in ascending order; periods without a price have none.

        By default the last 500 of S5 at mid prices. Options: `granularity` (S5 to M), `price` (any of M, B and A, as in
        "BA"), `count`, `from_`, `to`, `include_first`, `smooth`, `daily_alignment` (hour), `alignment_timezone`,
        `weekly_alignment`. Raises InvalidRequest for an invalid one, before anything is sent.
        """
        require_instrument_name("instrument", instrument)
        candles_path = path("instruments", ("instrument", instrument), "candles")
        query = range_query(options, self._defaults.datetime_format)
        return await self._candles(candles_path, query)

    async def get_for_account(
        self,
        instrument: str | Instrument,
        *,
        units: Number | None = None,
        account_id: str | None = None,
        **options: Unpack[CandleRange],
    ) -> CandlestickResponse:
        """Return candles as `get` does, at the prices of an account; bid and ask are those for `units`."""
        require_instrument_name("instrument", instrument)
        instrument_path = ("instruments", ("instrument", instrument), "candles")
        query = range_query(options, self._defaults.datetime_format) | _units_query(units)
        return await self._candles(self._account(account_id, *instrument_path), query)

    async def latest(
        self,
        specifications: Iterable[str],
        *,
        units: Number | None = None,
        account_id: str | None = None,
        **options: Unpack[CandleShape],
    ) -> LatestCandlesResponse:
        """Return the last complete and the forming candle of each specification.

        A specification names instrument, granularity and price components: `["EUR_USD:M1:BM", "USD_JPY:D:M"]`.
        """
        refuse_unknown(options, CandleShape.__optional_keys__)
        query = {"candleSpecifications": specification_list(specifications)}
        query |= shape_query(options) | _units_query(units)
        latest_path = self._account(account_id, "candles", "latest")
        request = Request("GET", latest_path, query, self._headers())
        return await self._caller.call(request, LATEST)

    def iterate(
        self,
        instrument: str | Instrument,
        *,
        from_: TimeOrDate,
        to: TimeOrDate | None = None,
        page: int = MAX_CANDLES,
        include_first: bool = True,
        **options: Unpack[CandleSeries],
    ) -> Paged[Candlestick]:
        """Yield every candle that starts at or after `from_` and before `to`, over as many pages as there are.

        Without `to`, up to the forming candle; `to` may lie in the future. A datetime needs a zone. With
        `include_first=False` the candle at `from_` is left out: to go on behind the last one that was read. Options:
        `granularity` (S5 by default), `price` (M by default), `smooth`, `daily_alignment`, `alignment_timezone`,
        `weekly_alignment`. For a table: `[candle.row() async for candle in ...]`.
        """
        return Paged(self._pages(instrument, (from_, to), page, options, include_first))

    async def _pages(
        self,
        instrument: str | Instrument,
        period: tuple[TimeOrDate, TimeOrDate | None],
        count: int,
        options: CandleSeries,
        include_first: bool,
    ) -> AsyncGenerator[Sequence[Candlestick], None]:
        from_, to = period
        end = None if to is None else DateTime.of(time_text("to", to)).ns
        start, last_time = DateTime.of(time_text("from_", from_)).ns, None
        response = await (
            self.get(instrument, from_=from_, count=count, **options)
            if include_first
            else self.get(instrument, from_=from_, count=count, include_first=False, **options)
        )
        while response.candles and response.candles[-1].time != last_time:
            last = response.candles[-1]
            yield _within(response.candles, start, end)
            if not last.complete or (end is not None and last.time.ns >= end):
                return
            start, last_time = last.time.ns + 1, last.time
            response = await self.get(
                instrument, from_=last.time, count=count, include_first=False, **options
            )

    async def last(
        self,
        instrument: str | Instrument,
        *,
        count: int,
        page: int = MAX_CANDLES,
        **options: Unpack[CandleSeries],
    ) -> tuple[Candlestick, ...]:
        """Return the last `count` candles, oldest first, in as many requests as that takes; fewer if there are no more.

        The last one may be forming: see `complete`. Options: `granularity` (S5 by default), `price` (M by default), `smooth`,
        `daily_alignment`, `alignment_timezone`, `weekly_alignment`.
        """
        whole("count", count, 1, MAX_HELD)
        pages: list[Sequence[Candlestick]] = []
        wanted = cast("CandleRange", {**options})
        while count > 0:
            again = bool(pages)  # a service may count in the candle at the end, which was delivered
            wanted["count"] = min(count + again, page)
            found: Sequence[Candlestick] = (await self.get(instrument, **wanted)).candles
            if pages:
                first = pages[-1][0].time.ns
                found = [each for each in found if each.time.ns < first]
            if not found:
                break
            pages.append(found[-count:])
            count -= len(pages[-1])
            wanted["to"] = pages[-1][0].time
        return tuple(candle for each in reversed(pages) for candle in each)

    def stream(
        self,
        instrument: str | Instrument,
        *,
        from_: TimeOrDate | None = None,
        settings: StreamSettings = STANDARD_STREAM,
        timing: Timing = REAL_TIMING,
        account_id: str | None = None,
        **options: Unpack[CandleSeries],
    ) -> CandleStream:
        """Stream finished candles: `async with client.candles.stream("EUR_USD", granularity="M1") as candles: ...`.

        Each comes once, in order, as soon as its period has ended, with the values that the service has for it. Those that
        ended while the link was down are read as well; with `from_` so are those since then. It goes on until the block is
        left. Options: as of `iterate`.
        """
        series_query(options)  # raises for an invalid one
        period = period_of(options.get("granularity", "S5"))
        after_ns = None if from_ is None else DateTime.of(time_text("from_", from_)).ns - 1

        async def read(start: DateTime | None) -> Sequence[Candlestick]:
            if start is None:
                return (await self.get(instrument, count=2, **options)).candles
            return [each async for each in self.iterate(instrument, from_=start, **options)]

        settings = replace(settings, when_full=OverflowPolicy.KEEP_LAST)
        prices = Pricing(self._caller, self._defaults).stream(
            [instrument], settings=settings, timing=timing, account_id=account_id
        )
        return CandleStream(prices, read, period, after_ns, timing)

    async def columns(
        self,
        instrument: str | Instrument,
        *,
        from_: TimeOrDate,
        to: TimeOrDate | None = None,
        numbers: NumberConverter | None = None,
        times: TimeConverter | None = None,
        page: int = MAX_CANDLES,
        **options: Unpack[CandleSeries],
    ) -> Columns:
        """Return the candles of a period, as `iterate` yields them, as columns for a data frame.

        `pandas.DataFrame(await client.candles.columns("EUR_USD", granularity="H1", from_=..., numbers=float))`; the result
        has `to_pandas()` and `to_polars()` as well. Prices stay Decimal and times DateTime without converters. Options:
        `granularity` (S5 by default), `price` (M by default), `smooth`, `daily_alignment`, `alignment_timezone`,
        `weekly_alignment`.
        """
        series = self.iterate(instrument, from_=from_, to=to, page=page, **options)
        return candle_columns([candle async for candle in series], numbers=numbers, times=times)

    async def _candles(self, candles_path: str, query: dict[str, str]) -> CandlestickResponse:
        request = Request("GET", candles_path, query, self._headers())
        return await self._caller.call(request, CANDLES)


def _within(candles: Sequence[Candlestick], start: int, end: int | None) -> Sequence[Candlestick]:
    """Return the candles from `start` to before `end`; the times between the first and the last are not parsed."""
    if candles[0].time.ns >= start and (end is None or candles[-1].time.ns < end):
        return candles
    return [
        each for each in candles if start <= each.time.ns and (end is None or each.time.ns < end)
    ]


def _units_query(units: Number | None) -> dict[str, str]:
    return {} if units is None else {"units": number("units", units, above_zero=True)}
