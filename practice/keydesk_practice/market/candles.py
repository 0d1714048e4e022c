"""Candles of every granularity: the boundaries of their periods, the choice of a request, and their rounded prices.

A candle covers its period from the start up to, and not including, the end; its close is the price just before the end.

Periods: seconds to H1 divide UTC evenly. H2 to D divide the local day that begins at `hour` in `zone`; W begins on `weekday`
and M on the first of the month, at that hour. Local wall time decides, so days of a clock change have 23 or 25 hours.

Prices are rounded last: the bid down, the ask up, the mid to the nearest. So rounding cannot cross bid and ask, and the highest
log price stays the highest price.
"""

from bisect import bisect_right
from collections.abc import Mapping
from datetime import timedelta
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from msgspec import Struct

from keydesk_practice.market.bar_blocks import Component, PairBarBlocks
from keydesk_practice.market.bar_builder import Alignment, BarBuilder, CandleSpec, Range
from keydesk_practice.market.hours import (
    CELL,
    DAY_SECONDS,
    EPOCH,
    TradingHours,
    first_cell,
    wall_seconds,
    weekday,
)
from keydesk_practice.market.reference import Floats, Integers

MAX_CANDLES = 5_000  # of one response
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

_FIXED = {  # cells
    "S5": 1, "S10": 2, "S15": 3, "S30": 6,
    "M1": 12, "M2": 24, "M4": 48, "M5": 60, "M10": 120, "M15": 180, "M30": 360, "H1": 720,
}  # fmt: skip

_HOURS = {"H2": 2, "H3": 3, "H4": 4, "H6": 6, "H8": 8, "H12": 12, "D": 24}
_LONG_CELLS = {"W": 7 * 17_280, "M": 31 * 17_280}
GRANULARITIES = (*_FIXED, *_HOURS, *_LONG_CELLS)
_CLOSED_ALLOWANCE = 2 * 17_280  # cells: a weekend, when looking for a number of candles with prices


class Prices(NamedTuple):
    """Open, high, low and close as text, with all decimals of the instrument."""

    o: str
    h: str
    l: str  # noqa: E741 - the letter of the wire
    c: str


class Candle(Struct, frozen=True):
    """One candle, with the requested components."""

    time: int  # nanoseconds since 1970 UTC, start of the period
    volume: int
    complete: bool
    prices: Mapping[Component, Prices]


class TooManyCandles(ValueError):
    """A range holds more candles than one response may have."""


class CandleBuilder:
    """Builds the candles of one instrument."""

    def __init__(self, blocks: PairBarBlocks, bars: BarBuilder, hours: TradingHours) -> None:
        self._bar_blocks, self._bars, self._hours = blocks, bars, hours
        self._first_cell = first_cell(blocks.first_day)

    def candles(self, spec: CandleSpec, range_: Range, now: int) -> list[Candle]:
        """Return the requested candles that had prices by `now`, oldest first.

        Raises:
            TooManyCandles: more than 5,000 lie between the two times.
        """
        edges = self._requested_edges(spec, range_, now)
        if not len(edges):
            return []
        if not spec.smooth:
            return self._built(spec, edges, now)
        return self._smoothed(spec, edges, now)

    def _smoothed(self, spec: CandleSpec, edges: Integers, now: int) -> list[Candle]:
        """Open each candle at the close of the one before it; the one before the first is built and left out."""
        earlier = self._before(spec, int(edges[0, 0]), 1)
        made = self._built(spec, np.concatenate([earlier, edges]), now)
        smooth = [_with_open_at_close(one, other) for one, other in pairwise(made)]
        return smooth if len(earlier) else [*made[:1], *smooth]

    def _requested_edges(self, spec: CandleSpec, range_: Range, now: int) -> Integers:
        """Return start and end, in cells, of each candle."""
        if range_.begin is None:
            end = now + 1 if range_.end is None else min(range_.end, now + 1)
            return self._before(spec, -(-end // CELL), range_.count)
        begin = range_.begin // CELL
        limit = now // CELL + 1
        if range_.end is None:
            return self._after(spec, begin, limit, range_)
        limit = min(limit, -(-range_.end // CELL))
        if (limit - begin) // usual_cells(spec.granularity) > 4 * MAX_CANDLES:
            raise TooManyCandles
        edges = self._without_first(self._between(spec, begin, limit), range_)
        if len(edges) > MAX_CANDLES:
            raise TooManyCandles
        return edges

    def _before(self, spec: CandleSpec, end: int, count: int) -> Integers:
        """Return the last `count` candles that start before a cell."""
        span = count * usual_cells(spec.granularity) + _CLOSED_ALLOWANCE
        while True:
            edges = self._between(spec, end - span, end)
            if len(edges) >= count or end - span <= self._first_cell:
                return edges[-count:]
            span *= 2

    def _after(self, spec: CandleSpec, begin: int, limit: int, range_: Range) -> Integers:
        """Return the first `count` candles from the one that covers a cell."""
        begin = max(begin, self._first_cell)
        count = range_.count + 1
        span = count * usual_cells(spec.granularity) + _CLOSED_ALLOWANCE
        while True:
            edges = self._between(spec, begin, min(begin + span, limit))
            if len(edges) >= count or begin + span >= limit:
                return self._without_first(edges, range_)[: range_.count]
            span *= 2

    def _between(self, spec: CandleSpec, begin: int, end: int) -> Integers:
        begin = max(begin, self._first_cell)
        if end <= begin:
            return np.empty((0, 2), dtype=np.int64)
        starts = boundaries(spec.granularity, spec.alignment, begin, end)
        return self._with_prices(np.stack([starts[:-1], starts[1:]], axis=1))

    def _with_prices(self, edges: Integers) -> Integers:
        known = self._hours.any_open(edges[:, 0], edges[:, 1])
        return edges[known & self._bar_blocks.any_known(edges[:, 0], edges[:, 1])]

    @staticmethod
    def _without_first(edges: Integers, range_: Range) -> Integers:
        if range_.include_first or not len(edges) or range_.begin is None:
            return edges
        covers = edges[0, 0] <= range_.begin // CELL
        return edges[1:] if covers else edges

    def _built(self, spec: CandleSpec, edges: Integers, now: int) -> list[Candle]:
        complete = edges[:, 1] * CELL <= now
        bars = self._bars.build(self._bar_blocks, sorted(spec.components), spec, edges, now)
        texts = {
            component: price_texts(found, component, self._bar_blocks.precision)
            for component, found in bars.bars.items()
        }
        rows = zip(
            (edges[:, 0] * CELL).tolist(), bars.volumes.tolist(), complete.tolist(), strict=True
        )
        return [
            Candle(
                time, volume, done, {one: Prices(*texts[one][4 * i : 4 * i + 4]) for one in texts}
            )
            for i, (time, volume, done) in enumerate(rows)
            if volume
        ]


def usual_cells(granularity: str) -> int:
    """Return the cells of a period, apart from clock changes and short months."""
    if granularity in _FIXED:
        return _FIXED[granularity]
    return _HOURS[granularity] * 720 if granularity in _HOURS else _LONG_CELLS[granularity]


def boundaries(granularity: str, alignment: Alignment, start: int, end: int) -> Integers:
    """Return the starts of all periods that touch cells [start, end), and the end of the last."""
    if granularity in _FIXED:
        size = _FIXED[granularity]
        return np.arange(start // size, -(-end // size) + 1, dtype=np.int64) * size
    starts = _local_starts(granularity, alignment, start, end)
    first = bisect_right(starts, start) - 1
    last = bisect_right(starts, end - 1)
    return np.array(starts[first : last + 1], dtype=np.int64)


def points(logs: Floats, component: Component, precision: int) -> Integers:
    """Return prices as whole numbers of the last decimal."""
    exact = np.exp(logs) * 10.0**precision
    if component is Component.MID:
        return np.rint(exact).astype(np.int64)
    rounded = np.floor(exact) if component is Component.BID else np.ceil(exact)
    return rounded.astype(np.int64)


def price_texts(logs: Floats, component: Component, precision: int) -> list[str]:
    """Return prices as text with all their decimals, row by row."""
    prices = points(logs, component, precision) / 10.0**precision
    return [f"{price:.{precision}f}" for price in prices.ravel().tolist()]


def _local_starts(granularity: str, alignment: Alignment, start: int, end: int) -> list[int]:
    """Return period starts in cells, from one at or before `start` to one at or after `end`."""
    margin = _LONG_CELLS.get(granularity, _LONG_CELLS["W"] // 7)
    first = (start - margin) * 5 // DAY_SECONDS - 2
    last = (end + margin) * 5 // DAY_SECONDS + 2
    hours = _hours_of(granularity, alignment.hour)
    return [
        wall_seconds(alignment.zone, day, hour) // 5
        for day in _days_of(granularity, alignment, first, last)
        for hour in hours
    ]


def _hours_of(granularity: str, hour: int) -> list[int]:
    step = _HOURS.get(granularity, 24)
    return sorted((hour + step * i) % 24 for i in range(24 // step))


def _days_of(granularity: str, alignment: Alignment, first: int, last: int) -> range | list[int]:
    if granularity == "W":
        return range(first + (alignment.weekday - weekday(first)) % 7, last + 1, 7)
    if granularity == "M":
        months = (EPOCH + timedelta(days=first)).replace(day=1)
        days = []
        while (day := (months - EPOCH).days) <= last:
            days.append(day)
            months = (months + timedelta(days=32)).replace(day=1)
        return days
    return range(first, last + 1)


def _with_open_at_close(before: Candle, candle: Candle) -> Candle:
    prices = {
        component: _with_open(before.prices[component].c, one)
        for component, one in candle.prices.items()
    }
    return Candle(candle.time, candle.volume, candle.complete, prices)


def _with_open(price: str, one: Prices) -> Prices:
    return Prices(price, max(one.h, price, key=float), min(one.l, price, key=float), one.c)
