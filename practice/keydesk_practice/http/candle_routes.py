"""Candles: of one instrument, of one as an account would trade it, and the latest of several."""

from collections.abc import Iterable, Sequence
from typing import Any

from keydesk_practice.engine.datetimes import rfc3339
from keydesk_practice.http.answers import Answer
from keydesk_practice.http.candle_queries import (
    Shape,
    read_components,
    read_granularity,
    read_shape,
    read_span,
    read_specification,
)
from keydesk_practice.http.endpoints import Call
from keydesk_practice.http.refusals import Refused, invalid, missing, not_listed
from keydesk_practice.market.blocks import Component
from keydesk_practice.market.candles import Candle, Cut, Prices, Range, TooManyCandles

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


def _cut(granularity: str, components: str, shape: Shape) -> Cut:
    return Cut(
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
