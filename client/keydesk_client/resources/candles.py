"""Candles: history of an instrument, however long, and the newest ones of several.

What may be asked of candles, and the query that says it.
"""

from __future__ import annotations  # help() shows the names of types, not all that they are made of

from collections.abc import AsyncIterator, Iterable
from typing import Final, Literal, TypedDict, Unpack

from keydesk_client.errors import InvalidRequest
from keydesk_client.http.endpoint import (
    TimeForm,
    listed,
    moment,
    number,
    path,
    plain_text,
    whole,
    yes_or_no,
)
from keydesk_client.http.messages import Request
from keydesk_client.models._core.decoder import Reader
from keydesk_client.models._core.json import CANDLES as CANDLES_BODY
from keydesk_client.models._core.scalars import DateTime, Number, TimeInput
from keydesk_client.models._core.wire_names import enum_values, validate_choice
from keydesk_client.models.enumerations import CandlestickGranularity, WeeklyAlignment
from keydesk_client.models.pricing import Candlestick, CandlestickResponse
from keydesk_client.models.responses import LatestCandlesResponse
from keydesk_client.resources._base import Area, refuse_unknown

MOST_CANDLES = 5000
LAST_HOUR = 23
COMPONENTS = frozenset("MBA")
GRANULARITIES: Final = enum_values(CandlestickGranularity)
DAYS: Final = enum_values(WeeklyAlignment)
SPECIFIED: Final = 2
"""Granularity and prices stand behind the instrument."""
ENDS: Final[tuple[Literal["from_"], Literal["to"]]] = ("from_", "to")


class CandleShape(TypedDict, total=False):
    """How candles are cut; what is left out is left to the service."""

    smooth: bool
    """Open at the previous candle's close."""
    daily_alignment: int
    """Hour, 0 to 23, at which days begin in `alignment_timezone`; 17 unless said."""
    alignment_timezone: str
    """America/New_York unless said; times in answers stay UTC."""
    weekly_alignment: WeeklyAlignment
    """Day that begins a week; Friday unless said."""


class CandleSeries(CandleShape, total=False):
    """Which candles of an instrument."""

    granularity: CandlestickGranularity
    """S5 unless said."""
    price: str
    """Any of M (mid), B (bid) and A (ask), together as in BA; M unless said."""


class CandleRange(CandleSeries, total=False):
    """Which candles, from when to when: a count, a range, or a count from one end."""

    count: int
    """At most 5,000; not together with both `from_` and `to`."""
    from_: TimeInput
    """Start of the first candle; a datetime needs a zone."""
    to: TimeInput
    """The last candle starts before it."""
    include_first: bool
    """Whether the candle that covers `from_` comes along; it does unless said."""


def range_query(options: CandleRange, form: TimeForm) -> dict[str, str]:
    """The query that asks for a range of candles."""
    refuse_unknown(options, CandleRange.__optional_keys__)
    if {"count", "from_", "to"} <= options.keys():
        raise InvalidRequest("count: not together with both from_ and to", field="count")
    if "include_first" in options and "from_" not in options:
        raise InvalidRequest(
            "include_first: means something only with from_", field="include_first"
        )
    query = series_query(options)
    if "count" in options:
        query["count"] = whole("count", options["count"], 1, MOST_CANDLES)
    if "from_" in options:
        query["from"] = moment("from_", options["from_"], form)
    if "to" in options:
        query["to"] = moment("to", options["to"], form)
    _refuse_backwards(options)
    if "include_first" in options:
        query["includeFirst"] = yes_or_no(value=options["include_first"])
    return query


def series_query(options: CandleSeries) -> dict[str, str]:
    """The part of it that names the series."""
    query = shape_query(options)
    if "granularity" in options:
        query["granularity"] = validate_choice("granularity", options["granularity"], GRANULARITIES)
    if "price" in options:
        query["price"] = components(options["price"])
    return query


def shape_query(options: CandleShape) -> dict[str, str]:
    """The part of it that cuts the candles."""
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
    """Price components, checked."""
    if not _is_mix(price):
        raise InvalidRequest(f"price: {str(price)[:20]!r} is no mix of M, B and A", field="price")
    return price


def specification_list(asked: Iterable[str]) -> str:
    """Specifications of newest candles, checked."""
    together = listed("specifications", asked)
    for each in together.split(","):
        _refuse_other_specification(each)
    return together


def _refuse_other_specification(told: str) -> None:
    instrument, *rest = told.split(":")
    if not instrument or len(rest) != SPECIFIED or not _is_mix(rest[1]):
        raise InvalidRequest(
            f"specifications: {told[:60]!r} is no instrument, granularity and prices, as in"
            " 'EUR_USD:M1:BM'",
            field="specifications",
        )
    validate_choice("specifications", rest[0], GRANULARITIES)


def _is_mix(price: object) -> bool:
    if not isinstance(price, str):
        return False
    return bool(price) and len(set(price)) == len(price) and set(price) <= COMPONENTS


def _refuse_backwards(options: CandleRange) -> None:
    if "from_" in options and "to" in options:
        first, last = (DateTime.of(moment(end, options[end])) for end in ENDS)
        if first.ns > last.ns:
            raise InvalidRequest(
                f"from_: {first.text} is after to, {last.text}: swap them", field="from_"
            )


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
        from_: TimeInput,
        to: TimeInput | None = None,
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
