"""Candles of every granularity: which ones a request means, and their prices.

A candle covers its period from the start up to, and just not including, the end; its close is the price just before the end.
Prices are rounded last, the bid down and the ask up, so that rounding can neither cross them nor change which is highest.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from keydesk_practice.market.alignment import Alignment, boundaries, usual_cells
from keydesk_practice.market.blocks import Component, PairBlocks
from keydesk_practice.market.grid import CELL, first_cell
from keydesk_practice.market.hours import TradingHours
from keydesk_practice.market.reference import Integers
from keydesk_practice.market.rounding import price_texts
from keydesk_practice.market.stretches import Stretches

MOST_CANDLES = 5_000
_CLOSED_ALLOWANCE = 2 * 17_280  # cells: a weekend, when looking for a number of candles with prices


class TooManyCandles(ValueError):
    """A range holds more candles than one answer may."""


class Prices(NamedTuple):
    """Open, high, low and close as text, with all decimals of the instrument."""

    o: str
    h: str
    l: str  # noqa: E741  the wire's own letter
    c: str


@dataclass(frozen=True, slots=True)
class Candle:
    """One candle; only the asked components are there."""

    time: int  # nanoseconds since 1970 UTC, start of the period
    volume: int
    complete: bool
    prices: Mapping[Component, Prices]


@dataclass(frozen=True, slots=True)
class Cut:
    """How candles are cut and priced."""

    granularity: str
    components: frozenset[Component] = frozenset({Component.MID})
    alignment: Alignment = field(default_factory=Alignment)
    units: float = 1.0
    smooth: bool = False


@dataclass(frozen=True, slots=True)
class Range:
    """Which candles: `count` of them from a time on, up to a time, or the last ones; or all between two times."""

    begin: int | None = None
    end: int | None = None
    count: int = 500
    include_first: bool = True


class CandleMaker:
    """Candles of one instrument."""

    def __init__(self, blocks: PairBlocks, stretches: Stretches, hours: TradingHours) -> None:
        self._blocks, self._stretches, self._hours = blocks, stretches, hours
        self._first_cell = first_cell(blocks.first_day)

    def candles(self, cut: Cut, asked: Range, now: int) -> list[Candle]:
        """Return the asked candles that had prices by `now`, oldest first.

        Raises:
            TooManyCandles: more than 5,000 lie between the two times.
        """
        edges = self._chosen(cut, asked, now)
        if not len(edges):
            return []
        if not cut.smooth:
            return self._made(cut, edges, now)
        return self._smoothed(cut, edges, now)

    def _smoothed(self, cut: Cut, edges: Integers, now: int) -> list[Candle]:
        """Open each candle at the close of the one before it, which is made too and left out."""
        earlier = self._before(cut, int(edges[0, 0]), 1)
        made = self._made(cut, np.concatenate([earlier, edges]), now)
        smooth = [_opened_at_close(one, other) for one, other in pairwise(made)]
        return smooth if len(earlier) else [*made[:1], *smooth]

    # --- which candles ---

    def _chosen(self, cut: Cut, asked: Range, now: int) -> Integers:
        """Return start and end, in cells, of each candle."""
        if asked.begin is None:
            end = now + 1 if asked.end is None else min(asked.end, now + 1)
            return self._before(cut, -(-end // CELL), asked.count)
        begin = asked.begin // CELL
        limit = now // CELL + 1
        if asked.end is None:
            return self._after(cut, begin, limit, asked)
        limit = min(limit, -(-asked.end // CELL))
        if (limit - begin) // usual_cells(cut.granularity) > 4 * MOST_CANDLES:
            raise TooManyCandles
        found = self._without_first(self._between(cut, begin, limit), asked)
        if len(found) > MOST_CANDLES:
            raise TooManyCandles
        return found

    def _before(self, cut: Cut, end: int, count: int) -> Integers:
        """Return the last `count` candles that start before a cell."""
        span = count * usual_cells(cut.granularity) + _CLOSED_ALLOWANCE
        while True:
            found = self._between(cut, end - span, end)
            if len(found) >= count or end - span <= self._first_cell:
                return found[-count:]
            span *= 2

    def _after(self, cut: Cut, begin: int, limit: int, asked: Range) -> Integers:
        """Return the first `count` candles from the one that covers a cell."""
        begin = max(begin, self._first_cell)
        wanted = asked.count + 1
        span = wanted * usual_cells(cut.granularity) + _CLOSED_ALLOWANCE
        while True:
            found = self._between(cut, begin, min(begin + span, limit))
            if len(found) >= wanted or begin + span >= limit:
                return self._without_first(found, asked)[: asked.count]
            span *= 2

    def _between(self, cut: Cut, begin: int, end: int) -> Integers:
        begin = max(begin, self._first_cell)
        if end <= begin:
            return np.empty((0, 2), dtype=np.int64)
        starts = boundaries(cut.granularity, cut.alignment, begin, end)
        return self._with_prices(np.stack([starts[:-1], starts[1:]], axis=1))

    def _with_prices(self, edges: Integers) -> Integers:
        known = self._hours.any_open(edges[:, 0], edges[:, 1])
        return edges[known & self._blocks.any_known(edges[:, 0], edges[:, 1])]

    @staticmethod
    def _without_first(edges: Integers, asked: Range) -> Integers:
        if asked.include_first or not len(edges) or asked.begin is None:
            return edges
        covers = edges[0, 0] <= asked.begin // CELL
        return edges[1:] if covers else edges

    # --- their prices ---

    def _made(self, cut: Cut, edges: Integers, now: int) -> list[Candle]:
        complete = edges[:, 1] * CELL <= now
        measured = self._stretches.measure(self._blocks, sorted(cut.components), cut, edges, now)
        texts = {
            component: price_texts(found, component, self._blocks.precision)
            for component, found in measured.bars.items()
        }
        rows = zip(
            (edges[:, 0] * CELL).tolist(), measured.volumes.tolist(), complete.tolist(), strict=True
        )
        return [
            Candle(
                time, volume, done, {one: Prices(*texts[one][4 * i : 4 * i + 4]) for one in texts}
            )
            for i, (time, volume, done) in enumerate(rows)
            if volume
        ]


def _opened_at_close(before: Candle, candle: Candle) -> Candle:
    prices = {
        component: _opened_at(before.prices[component].c, one)
        for component, one in candle.prices.items()
    }
    return Candle(candle.time, candle.volume, candle.complete, prices)


def _opened_at(price: str, one: Prices) -> Prices:
    return Prices(price, max(one.h, price, key=float), min(one.l, price, key=float), one.c)
