"""Market data: prices and the price stream, candles, order books and position books."""

from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from typing import Any
from urllib.parse import quote
from zoneinfo import ZoneInfo

from msgspec import Struct
from starlette.types import ASGIApp

from keydesk_practice.broker.background import BookKind
from keydesk_practice.broker.feeds import home_conversions
from keydesk_practice.engine import views
from keydesk_practice.engine.wire_form import plain, rfc3339, unix
from keydesk_practice.http.endpoints import Call
from keydesk_practice.http.error_responses import (
    HttpError,
    invalid_value,
    missing_value,
    unknown_instrument,
)
from keydesk_practice.http.requests import Query, decimal_of
from keydesk_practice.http.responses import EncodedList, Response, json_bytes
from keydesk_practice.http.streaming import StreamResponse
from keydesk_practice.market.bar_blocks import Component
from keydesk_practice.market.bar_builder import Alignment, CandleSpec, Range
from keydesk_practice.market.books import SNAPSHOT_EVERY, Book, latest_snapshot
from keydesk_practice.market.candles import GRANULARITIES, WEEKDAYS, Candle, Prices, TooManyCandles

MAX_CANDLES = 5000
DEFAULT_COUNT = 500
CANDLES_PER_UNIT = 6  # of work, as text
COMPONENTS = {
    "M": (Component.MID, "mid"),
    "B": (Component.BID, "bid"),
    "A": (Component.ASK, "ask"),
}
COMPONENT_NAMES = dict(COMPONENTS.values())
LATEST = Range(count=2)  # the forming one and the last complete one


async def get_order_book(call: Call) -> Response:
    """Return a snapshot of the order book."""
    return await _book(call, "orderBook")


async def get_position_book(call: Call) -> Response:
    """Return a snapshot of the position book."""
    return await _book(call, "positionBook")


async def _book(call: Call, kind: BookKind) -> Response:
    instrument, now = call.path("instrument"), call.broker.now()
    specification = call.broker.board.specification(instrument)
    if specification is None:
        raise unknown_instrument(instrument)
    requested = call.query.time("time")
    time = latest_snapshot(now) if requested is None else requested
    book = None if time > now else await call.broker.candles.book(kind, instrument, time)
    if book is None:
        raise HttpError(404, "The snapshot specified does not exist")
    links = {"Link": _links(call, kind, book, now)}
    return Response(
        {kind: _book_view(book, specification.display_precision)}, headers=links, always_gzip=True
    )


def _book_view(book: Book, decimals: int) -> dict[str, Any]:
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
    """Return the `Link` header to the snapshots before and after; the newest has none after it."""
    neighbours = {"prev": book.time - SNAPSHOT_EVERY, "next": book.time + SNAPSHOT_EVERY}
    path = f"{call.base_url}/v3/instruments/{book.instrument}/{kind}"
    return ", ".join(
        f'<{path}?time={quote(rfc3339(time))}>; rel="{name}"'
        for name, time in neighbours.items()
        if time <= now
    )


class Shape(Struct, frozen=True):
    """How candles are aligned and priced."""

    alignment: Alignment
    smooth: bool
    units: Decimal


def read_shape(query: Query, with_units: bool) -> Shape:
    """Return the requested shape; raise a 400 `HttpError` for an invalid one."""
    weekday = query.choice("weeklyAlignment", "Friday", frozenset(WEEKDAYS))
    units = query.text("units") if with_units else None
    size = Decimal(1) if units is None else decimal_of(units, "units")
    if size <= 0:
        raise invalid_value("units")
    alignment = Alignment(
        hour=query.integer("dailyAlignment", 17, 0, 23),
        zone=read_zone(query.text("alignmentTimezone")),
        weekday=WEEKDAYS.index(weekday),
    )
    return Shape(alignment, query.flag("smooth", default=False), size)


def read_zone(name: str | None) -> ZoneInfo:
    """Return a time zone; raise a 400 `HttpError` for an unknown name."""
    try:
        return ZoneInfo("America/New_York" if name is None else name)
    except (ValueError, OSError, KeyError):
        raise invalid_value("alignmentTimezone") from None


def read_span(query: Query, now: int) -> Range:
    """Return the requested range; raise a 400 `HttpError` for an invalid one."""
    begin, end = query.time("from"), query.time("to")
    counted = query.text("count") is not None
    if begin is not None and end is not None and counted:
        raise HttpError(400, "'count' cannot be specified when 'to' and 'from' parameters are set")
    count = query.integer("count", DEFAULT_COUNT, 1, MAX_CANDLES)
    for name, time in (("from", begin), ("to", end)):
        if time is not None and time > now:
            raise invalid_value(name, ". Time is in the future")
    if begin is not None and end is not None and begin > end:
        raise invalid_value("to")
    return Range(begin, end, count, query.flag("includeFirst", default=True))


def read_granularity(text: str, name: str) -> str:
    """Return a valid granularity; raise a 400 `HttpError` for any other."""
    if text not in GRANULARITIES:
        raise invalid_value(name)
    return text


def read_components(text: str, name: str) -> str:
    """Return the price components: M, B and A, each at most once, in any order."""
    if not text or not set(text) <= set("MBA") or len(set(text)) < len(text):
        raise invalid_value(name)
    return text


def read_specification(text: str) -> tuple[str, str, str]:
    """Return the instrument, granularity and components of one candle specification."""
    parts = text.split(":")
    if len(parts) != 3:  # noqa: PLR2004 - as the interface shapes it
        raise invalid_value("candleSpecifications")
    instrument, granularity, components = parts
    read_granularity(granularity, "candleSpecifications")
    return instrument, granularity, read_components(components, "candleSpecifications")


async def instrument_candles(call: Call) -> Response:
    """Return candles at the prices of the market, for any account."""
    return await _candles(call, read_shape(call.query, with_units=False))


async def account_instrument_candles(call: Call) -> Response:
    """Return the candles of an instrument, bid and ask priced for a number of units."""
    _ = call.session  # raises for an account that the token may not read
    return await _candles(call, read_shape(call.query, with_units=True))


async def latest_candles(call: Call) -> Response:
    """Return the forming and the last complete candle of each specification."""
    _ = call.session  # raises for an account that the token may not read
    shape = read_shape(call.query, with_units=True)
    words = call.query.words("candleSpecifications")
    if not words:
        raise missing_value("candleSpecifications")
    specifications = [read_specification(word) for word in words]
    for instrument, _, _ in specifications:
        if call.broker.board.specification(instrument) is None:
            raise invalid_value("candleSpecifications")
    now = call.broker.now()
    latest = []
    for instrument, granularity, components in specifications:
        cut = _candle_spec(granularity, components, shape)
        candles = await call.broker.candles.candles(instrument, cut, LATEST, now)
        latest.append(_candles_view(instrument, granularity, candles))
    return Response({"latestCandles": latest})


async def _candles(call: Call, shape: Shape) -> Response:
    instrument = _instrument(call, call.path("instrument"))
    query, now = call.query, call.broker.now()
    granularity = read_granularity(query.text("granularity") or "S5", "granularity")
    components = read_components(query.text("price") or "M", "price")
    cut = _candle_spec(granularity, components, shape)
    try:
        candles = await call.broker.candles.candles(instrument, cut, read_span(query, now), now)
    except TooManyCandles:
        raise HttpError(400, "Maximum value for 'count' exceeded") from None
    shown = EncodedList()
    format_time = unix if call.response_format.unix_times else rfc3339
    portions = (
        candles[first : first + CANDLES_PER_UNIT]
        for first in range(0, len(candles), CANDLES_PER_UNIT)
    )
    async for portion in call.budget.iterate(portions):
        shown.extend(candle_text(candle, format_time) for candle in portion)
    return Response({"instrument": instrument, "granularity": granularity, "candles": shown})


def _instrument(call: Call, instrument: str) -> str:
    if call.broker.board.specification(instrument) is None:
        raise unknown_instrument(instrument)
    return instrument


def _candle_spec(granularity: str, components: str, shape: Shape) -> CandleSpec:
    return CandleSpec(
        granularity,
        frozenset(COMPONENTS[letter][0] for letter in components),
        shape.alignment,
        float(shape.units),
        shape.smooth,
    )


def _candles_view(instrument: str, granularity: str, candles: Sequence[Candle]) -> dict[str, Any]:
    shown = [candle_view(candle) for candle in candles]
    return {"instrument": instrument, "granularity": granularity, "candles": shown}


def candle_view(candle: Candle) -> dict[str, Any]:
    """Return a candle as a JSON object."""
    prices = {COMPONENT_NAMES[component]: _prices(one) for component, one in candle.prices.items()}
    return {
        "complete": candle.complete,
        "volume": candle.volume,
        "time": rfc3339(candle.time),
        **prices,
    }


def candle_text(candle: Candle, format_time: Callable[[int], str]) -> str:
    """Return the JSON text of a candle; prices are numbers as text, so that nothing in them has to be escaped."""
    prices = "".join(
        f',"{COMPONENT_NAMES[component]}":{{"o":"{one.o}","h":"{one.h}","l":"{one.l}","c":"{one.c}"}}'
        for component, one in candle.prices.items()
    )
    complete, time = "true" if candle.complete else "false", format_time(candle.time)
    return f'{{"complete":{complete},"volume":{candle.volume},"time":"{time}"{prices}}}'


def _prices(one: Iterable[str]) -> dict[str, str]:
    return dict(zip(Prices._fields, one, strict=True))


async def get_pricing(call: Call) -> Response:
    """Return the current prices; with `since`, only those that changed after it."""
    session = call.frozen_session()
    names = _instruments(call)
    since = call.query.time("since")
    units_available = call.query.flag("includeUnitsAvailable", default=True)
    conversions = call.query.flag("includeHomeConversions", default=False)
    now = call.broker.now()
    available = None
    if units_available:
        available = views.margin_available(session.state, await call.valuation(session))
    quotes = map(session.board.quote, names)
    changed = (quote for quote in quotes if since is None or quote.time > since)
    home = session.account.currency
    body = {
        "prices": await call.encoded(
            views.client_price(session.state, quote, session.board, units_available, available)
            for quote in changed
        ),
        **(
            {"homeConversions": home_conversions(session.board, names, home)} if conversions else {}
        ),
        "time": rfc3339(now),
    }
    return Response(body)


def stream_pricing(call: Call) -> ASGIApp:
    """Stream the prices as they change, with a heartbeat every five seconds."""
    session, broker, unix_times = call.session, call.broker, call.response_format.unix_times
    names = _instruments(call)
    snapshot = call.query.flag("snapshot", default=True)
    conversions = call.query.flag("includeHomeConversions", default=False)
    format_time = unix if unix_times else rfc3339

    def heartbeat() -> bytes:
        return json_bytes({"type": "HEARTBEAT", "time": format_time(broker.now())}) + b"\n"

    home = session.account.currency if conversions else None
    subscription = broker.prices.join(names, home, unix_times)
    return StreamResponse(
        subscription,
        first=broker.prices.snapshot(subscription) if snapshot else b"",
        heartbeat=heartbeat,
        release=lambda: broker.prices.leave(subscription),
        window=broker.price_window,
    )


def _instruments(call: Call) -> list[str]:
    names = call.query.words("instruments")
    if not names:
        raise missing_value("instruments")
    if any(call.broker.board.specification(name) is None for name in names):
        raise invalid_value("instruments")
    return list(dict.fromkeys(names))
