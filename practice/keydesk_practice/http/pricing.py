"""Prices: those in force, and the stream.

Order and position books: snapshots of what the crowd of clients holds, by price.
The parameters of the candle endpoints, read into values.
Candles: of one instrument, of one as an account would trade it, and the latest of several.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from urllib.parse import quote
from zoneinfo import ZoneInfo

from starlette.types import ASGIApp

from keydesk_practice.broker.background import BookKind
from keydesk_practice.engine.wire_form import plain, rfc3339, unix
from keydesk_practice.http.endpoints import Call, Query
from keydesk_practice.http.errors import Refused, invalid, missing, not_listed
from keydesk_practice.http.request_bodies import decimal_of
from keydesk_practice.http.responses import Answer, LineStream, encode
from keydesk_practice.market.bars import Component
from keydesk_practice.market.books import SNAPSHOT_EVERY, Book, latest_snapshot
from keydesk_practice.market.candles import (
    GRANULARITIES,
    WEEKDAYS,
    Alignment,
    Candle,
    CandleSpec,
    Prices,
    Range,
    TooManyCandles,
)


async def get_order_book(call: Call) -> Answer:
    """Answer with a snapshot of the order book."""
    return await _book(call, "orderBook")


async def get_position_book(call: Call) -> Answer:
    """Answer with a snapshot of the position book."""
    return await _book(call, "positionBook")


async def _book(call: Call, kind: BookKind) -> Answer:
    instrument, now = call.path("instrument"), call.broker.now()
    specification = call.broker.board.specification(instrument)
    if specification is None:
        raise not_listed(instrument)
    asked = call.query.time("time")
    time = latest_snapshot(now) if asked is None else asked
    book = None if time > now else await call.broker.candles.book(kind, instrument, time)
    if book is None:
        raise Refused(404, "The snapshot specified does not exist")
    links = {"Link": _links(call, kind, book, now)}
    return Answer(
        {kind: _shown(book, specification.display_precision)}, headers=links, always_zipped=True
    )


def _shown(book: Book, decimals: int) -> dict[str, Any]:
    return {
        "instrument": book.instrument,
        "time": rfc3339(book.time),
        "price": f"{book.price:.{decimals}f}",
        "bucketWidth": f"{book.bucket_width:.{decimals}f}",
        "buckets": [
            {
                "price": f"{bucket.price:.{decimals}f}",
                "longCountPercent": plain(bucket.long_percent),
                "shortCountPercent": plain(bucket.short_percent),
            }
            for bucket in book.buckets
        ],
    }


def _links(call: Call, kind: BookKind, book: Book, now: int) -> str:
    """Name the snapshots beside this one; the newest has none after it."""
    beside = {"prev": book.time - SNAPSHOT_EVERY, "next": book.time + SNAPSHOT_EVERY}
    path = f"{call.base_url}/v3/instruments/{book.instrument}/{kind}"
    return ", ".join(
        f'<{path}?time={quote(rfc3339(time))}>; rel="{name}"'
        for name, time in beside.items()
        if time <= now
    )


MOST = 5000
DEFAULT_COUNT = 500


@dataclass(frozen=True, slots=True)
class Shape:
    """How candles are cut and priced, apart from which ones."""

    alignment: Alignment
    smooth: bool
    units: Decimal


def read_shape(query: Query, with_units: bool) -> Shape:
    """Return the shape asked for, or refuse it."""
    weekday = query.choice("weeklyAlignment", "Friday", frozenset(WEEKDAYS))
    units = query.text("units") if with_units else None
    size = Decimal(1) if units is None else decimal_of(units, "units")
    if size <= 0:
        raise invalid("units")
    alignment = Alignment(
        hour=query.integer("dailyAlignment", 17, 0, 23),
        zone=read_zone(query.text("alignmentTimezone")),
        weekday=WEEKDAYS.index(weekday),
    )
    return Shape(alignment, query.flag("smooth", default=False), size)


def read_zone(name: str | None) -> ZoneInfo:
    """Return a time zone by its name."""
    try:
        return ZoneInfo("America/New_York" if name is None else name)
    except (ValueError, OSError, KeyError):
        raise invalid("alignmentTimezone") from None


def read_span(query: Query, now: int) -> Range:
    """Return which candles are asked for, or refuse them."""
    begin, end = query.time("from"), query.time("to")
    counted = query.text("count") is not None
    if begin is not None and end is not None and counted:
        raise Refused(400, "'count' cannot be specified when 'to' and 'from' parameters are set")
    count = query.integer("count", DEFAULT_COUNT, 1, MOST)
    for name, time in (("from", begin), ("to", end)):
        if time is not None and time > now:
            raise invalid(name, ". Time is in the future")
    if begin is not None and end is not None and begin > end:
        raise invalid("to")
    return Range(begin, end, count, query.flag("includeFirst", default=True))


def read_granularity(text: str, name: str) -> str:
    """Return a granularity."""
    if text not in GRANULARITIES:
        raise invalid(name)
    return text


def read_components(text: str, name: str) -> str:
    """Return which prices are asked for: any mix of M, B and A."""
    if not text or not set(text) <= set("MBA") or len(text) > len("MBA"):
        raise invalid(name)
    return text


def read_specification(text: str) -> tuple[str, str, str]:
    """Return instrument, granularity and components of one candle specification."""
    parts = text.split(":")
    if len(parts) != 3:  # noqa: PLR2004 - as the interface shapes it
        raise invalid("candleSpecifications")
    instrument, granularity, components = parts
    read_granularity(granularity, "candleSpecifications")
    return instrument, granularity, read_components(components, "candleSpecifications")


COMPONENTS = {
    "M": (Component.MID, "mid"),
    "B": (Component.BID, "bid"),
    "A": (Component.ASK, "ask"),
}
NAMES = dict(COMPONENTS.values())
LATEST = Range(count=2)  # the forming one and the last complete one


async def instrument_candles(call: Call) -> Answer:
    """Answer with the candles of an instrument."""
    return await _candles(call, read_shape(call.query, with_units=False))


async def account_instrument_candles(call: Call) -> Answer:
    """Answer with the candles of an instrument, bid and ask priced for a size."""
    _ = call.desk
    return await _candles(call, read_shape(call.query, with_units=True))


async def latest_candles(call: Call) -> Answer:
    """Answer with the forming and the last complete candle of each specification."""
    _ = call.desk
    shape = read_shape(call.query, with_units=True)
    words = call.query.words("candleSpecifications")
    if not words:
        raise missing("candleSpecifications")
    asked = [read_specification(word) for word in words]
    for instrument, _, _ in asked:
        if call.broker.board.specification(instrument) is None:
            raise invalid("candleSpecifications")
    now = call.broker.now()
    found = []
    for instrument, granularity, components in asked:
        cut = _cut(granularity, components, shape)
        candles = await call.broker.candles.candles(instrument, cut, LATEST, now)
        found.append(_response(instrument, granularity, candles))
    return Answer({"latestCandles": found})


async def _candles(call: Call, shape: Shape) -> Answer:
    instrument = _known(call, call.path("instrument"))
    query, now = call.query, call.broker.now()
    granularity = read_granularity(query.text("granularity") or "S5", "granularity")
    components = read_components(query.text("price") or "M", "price")
    cut = _cut(granularity, components, shape)
    try:
        candles = await call.broker.candles.candles(instrument, cut, read_span(query, now), now)
    except TooManyCandles:
        raise Refused(400, "Maximum value for 'count' exceeded") from None
    shown = await call.encoded(map(_candle, candles))
    return Answer({"instrument": instrument, "granularity": granularity, "candles": shown})


def _known(call: Call, instrument: str) -> str:
    if call.broker.board.specification(instrument) is None:
        raise not_listed(instrument)
    return instrument


def _cut(granularity: str, components: str, shape: Shape) -> CandleSpec:
    return CandleSpec(
        granularity,
        frozenset(COMPONENTS[letter][0] for letter in components),
        shape.alignment,
        float(shape.units),
        shape.smooth,
    )


def _response(instrument: str, granularity: str, candles: Sequence[Candle]) -> dict[str, Any]:
    shown = [_candle(candle) for candle in candles]
    return {"instrument": instrument, "granularity": granularity, "candles": shown}


def _candle(candle: Candle) -> dict[str, Any]:
    prices = {NAMES[component]: _prices(one) for component, one in candle.prices.items()}
    return {
        "complete": candle.complete,
        "volume": candle.volume,
        "time": rfc3339(candle.time),
        **prices,
    }


def _prices(one: Iterable[str]) -> dict[str, str]:
    return dict(zip(Prices._fields, one, strict=True))


async def get_pricing(call: Call) -> Answer:
    """Answer with the prices in force; with `since`, only those that changed after it."""
    desk = await call.frozen_desk()
    names = _instruments(call)
    since = call.query.time("since")
    units_available = call.query.flag("includeUnitsAvailable", default=True)
    conversions = call.query.flag("includeHomeConversions", default=False)
    now = call.broker.now()
    available = desk.margin_available(await call.worth(desk)) if units_available else None
    quotes = map(desk.board.quote, names)
    changed = (quote for quote in quotes if since is None or quote.time > since)
    body = {
        "prices": await call.encoded(desk.price_view(quote, available) for quote in changed),
        **({"homeConversions": desk.home_conversions(names)} if conversions else {}),
        "time": rfc3339(now),
    }
    return Answer(body)


def stream_pricing(call: Call) -> ASGIApp:
    """Answer with prices as they change, and a heartbeat every five seconds."""
    desk, broker, unix_times = call.desk, call.broker, call.wishes.unix_times
    names = _instruments(call)
    snapshot = call.query.flag("snapshot", default=True)
    conversions = call.query.flag("includeHomeConversions", default=False)
    text_of = unix if unix_times else rfc3339

    def heartbeat() -> bytes:
        return encode({"type": "HEARTBEAT", "time": text_of(broker.now())}) + b"\n"

    home = desk.account.currency if conversions else None
    subscription = broker.prices.join(names, home, unix_times)
    return LineStream(
        subscription,
        first=broker.prices.snapshot(subscription) if snapshot else b"",
        heartbeat=heartbeat,
        release=lambda: broker.prices.leave(subscription),
        window=broker.price_window,
    )


def _instruments(call: Call) -> list[str]:
    names = call.query.words("instruments")
    if not names:
        raise missing("instruments")
    if any(call.broker.board.specification(name) is None for name in names):
        raise invalid("instruments")
    return list(dict.fromkeys(names))
