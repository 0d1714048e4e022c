"""Blocks of bars (open, high, low, close) and volumes: the cells of one market day, reduced to spans of equal length.

The extremes of a straight line lie at its ends, so those of a cell are the larger and the smaller of its two values, and those
of a span are the extremes of its cells. All candles are made of the same cells, so a D candle and its M1 candles agree.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import partial

import numpy as np
from msgspec import Struct

from keydesk_practice.market.hours import CELL, Mask, cell_at, cells_in, first_cell, market_day_of
from keydesk_practice.market.pairs import Pairs
from keydesk_practice.market.paths import Curve
from keydesk_practice.market.reference import Floats, Integers
from keydesk_practice.market.rng import Lru
from keydesk_practice.market.spread import Depth, half_spread_for_units

# Cells; the fixing starts a quarter of an hour.
CELL_BLOCK, MINUTE_BLOCK, QUARTER_BLOCK = 1, 12, 180
_CACHED_BLOCKS = 6_000  # some 20 MB: 500 days of six series
_CACHED_DAYS = 6_000  # some 10 MB: those of one pair since 2010
_MAX_CELL_VOLUME = 20  # four prices a second


class Component(StrEnum):
    """The price of a candle: mid, bid or ask."""

    MID = "M"
    BID = "B"
    ASK = "A"


class BarBlocks(Struct, frozen=True):
    """Log prices of blocks of cells that had any; `cells` are the starts of the blocks."""

    cells: Integers
    open: Floats
    high: Floats
    low: Floats
    close: Floats


class Volumes(Struct, frozen=True):
    """The number of prices in each block."""

    cells: Integers
    prices: Integers


class DayParts(Struct, frozen=True):
    """The parts of a market day that had any prices: log prices, [open high low close, part], and numbers of prices."""

    cells: Integers  # the starts of the parts
    prices: Mapping[Component, Floats]
    volumes: Integers


class PairBarBlocks:
    """The blocks of one pair."""

    def __init__(self, pairs: Pairs, pair: int, depth: Depth, precision: int) -> None:
        self._pairs, self._pair, self._depth = pairs, pair, depth
        self.precision = precision
        self.first_day = pairs.first_day(pair)

    def any_known(self, starts: Integers, ends: Integers) -> Mask:
        """Return which spans [start, end) of cells have prices of the pair."""
        return self._pairs.any_known(self._pair, starts, ends)

    def is_open(self, cell: int) -> bool:
        """Return whether the pair has prices in a cell."""
        day = market_day_of(cell)
        open_cells = self._pairs.open_cells(self._pair, day)
        return open_cells is None or bool(open_cells[cell - first_cell(day)])

    def curve(self, day: int, component: Component, units: float) -> Curve:
        """Return the log price of a component for a size of `units` over a market day."""
        mid = self._pairs.mid(self._pair, day)
        if component is Component.MID:
            return mid
        return _of_side(component, mid, self._half(day, self._pairs.half(self._pair, day), units))

    def _half(self, day: int, half: Curve, units: float) -> Curve:
        if units <= self._depth.units[0] * self._pairs.least_depth(self._pair, day):
            return half  # the first level has them all
        return half_spread_for_units(half, self._depth, self._pairs.depth(self._pair, day), units)

    def prices(self, day: int, component: Component, units: float, size: int) -> BarBlocks:
        """Return a component's blocks of `size` cells over a market day."""
        curve = self.curve(day, component, units)
        open_cells = self._pairs.open_cells(self._pair, day)
        cells = first_cell(day) + np.arange(0, len(curve.points) - 1, size, dtype=np.int64)
        if open_cells is None:
            return _all_open(cells, curve, size)
        return _partly_open(cells, curve, size, open_cells)

    def volumes(self, day: int, size: int) -> Volumes:
        """Return the number of prices: one for each change of the mid's last digit, four a second at most."""
        counts = self._counts(self._pairs.mid(self._pair, day))
        open_cells = self._pairs.open_cells(self._pair, day)
        cells = first_cell(day) + np.arange(0, len(counts), size, dtype=np.int64)
        if open_cells is None:
            return Volumes(cells, _sums(counts, size))
        counts[~open_cells] = 0
        is_open = open_cells.reshape(-1, size).any(axis=1)
        return Volumes(cells[is_open], _sums(counts, size)[is_open])

    def parts(
        self, day: int, components: Sequence[Component], units: float, starts: tuple[int, ...]
    ) -> DayParts:
        """Return the parts of a market day that begin at its cells `starts`, of which the first is 0."""
        mid, draw_half = self._pairs.mid_and_half(self._pair, day)
        counts, edges = self._counts(mid), np.array((*starts, cells_in(day)))
        cells, open_cells = first_cell(day) + edges[:-1], self._pairs.open_cells(self._pair, day)
        bars, known = _bars_of_open_parts, np.ones(len(cells), dtype=np.bool_)
        if open_cells is not None:
            counts[~open_cells] = 0
            places = np.searchsorted(np.flatnonzero(open_cells), edges)
            bars, known = partial(_bars_of_parts, open_cells, places), np.diff(places) > 0
        volumes = np.add.reduceat(counts, edges[:-1]).astype(np.int64)
        bars_of = {Component.MID: bars(mid, edges)} if Component.MID in components else {}
        sides = [one for one in components if one is not Component.MID]
        if sides:
            half = self._half(day, draw_half(), units)
            bars_of |= {one: bars(_of_side(one, mid, half), edges) for one in sides}
        return DayParts(cells[known], bars_of, volumes[known])

    def prices_so_far(self, now: int) -> int:
        """Return the number of prices so far in the unfinished cell."""
        cell = cell_at(now)
        if not self.is_open(cell):
            return 0
        day = market_day_of(cell)
        mid, point = self._pairs.mid(self._pair, day), cell - first_cell(day)
        passed = (mid.just_before(point + 1) - mid.points[point]) * (now % CELL / CELL)
        return int(self._prices_in(mid, np.array([passed]))[0])

    def _counts(self, mid: Curve) -> Floats:
        """Return the number of prices in each cell of a day, opening hours aside."""
        return self._prices_in(mid, mid.ends - mid.starts)

    def _prices_in(self, mid: Curve, moved: Floats) -> Floats:
        moved *= float(np.exp(mid.points[0])) * 10.0**self.precision
        np.rint(np.abs(moved, out=moved), out=moved)
        return np.clip(moved, 1, _MAX_CELL_VOLUME, out=moved)


def _of_side(side: Component, mid: Curve, half: Curve) -> Curve:
    return mid.minus(half) if side is Component.BID else mid.plus(half)


def _sums(counts: Floats, size: int) -> Integers:
    return np.asarray(counts.reshape(-1, size).sum(axis=1), dtype=np.int64)


def _all_open(cells: Integers, curve: Curve, size: int) -> BarBlocks:
    starts, ends = curve.starts, curve.ends
    if not curve.before and size == QUARTER_BLOCK:  # a block's extremes are at its points
        last = ends[size - 1 :: size].copy()
        return BarBlocks(
            cells,
            starts[::size].copy(),
            np.maximum(_reduced(np.maximum, starts, size), last),
            np.minimum(_reduced(np.minimum, starts, size), last),
            last,
        )
    high, low = np.maximum(starts, ends), np.minimum(starts, ends)
    return BarBlocks(
        cells,
        starts[::size].copy(),
        _reduced(np.maximum, high, size),
        _reduced(np.minimum, low, size),
        ends[size - 1 :: size].copy(),
    )


def _partly_open(cells: Integers, curve: Curve, size: int, open_cells: Mask) -> BarBlocks:
    starts, ends = curve.starts, curve.ends
    high = np.where(open_cells, np.maximum(starts, ends), -np.inf)
    low = np.where(open_cells, np.minimum(starts, ends), np.inf)
    by_block = open_cells.reshape(-1, size)
    is_open = by_block.any(axis=1)
    offsets = np.arange(len(by_block)) * size
    first = (offsets + by_block.argmax(axis=1))[is_open]
    last = (offsets + size - 1 - by_block[:, ::-1].argmax(axis=1))[is_open]
    return BarBlocks(
        cells[is_open],
        starts[first],
        _reduced(np.maximum, high, size)[is_open],
        _reduced(np.minimum, low, size)[is_open],
        ends[last],
    )


def _bars_of_open_parts(curve: Curve, edges: Integers) -> Floats:
    if curve.before:
        return _bars_of_parts(np.ones(len(curve.points) - 1, dtype=np.bool_), edges, curve, edges)
    points, at_edges = curve.points, curve.points[edges]
    bars = np.empty((4, len(edges) - 1))
    bars[0], last = at_edges[:-1], at_edges[1:]
    np.maximum(np.maximum.reduceat(points, edges[:-1]), last, out=bars[1])
    np.minimum(np.minimum.reduceat(points, edges[:-1]), last, out=bars[2])
    bars[3] = last
    return bars


def _bars_of_parts(open_cells: Mask, places: Integers, curve: Curve, edges: Integers) -> Floats:
    """Return the bars of those parts that have open cells; `places` are the edges, counted in open cells."""
    starts, ends, offsets = curve.starts, curve.ends, edges[:-1]
    high = np.where(open_cells, np.maximum(starts, ends), -np.inf)
    low = np.where(open_cells, np.minimum(starts, ends), np.inf)
    known, kept = np.flatnonzero(open_cells), np.diff(places) > 0
    return np.stack(
        [
            starts[known[places[:-1][kept]]],
            np.maximum.reduceat(high, offsets)[kept],
            np.minimum.reduceat(low, offsets)[kept],
            ends[known[places[1:][kept] - 1]],
        ]
    )


def _reduced(extreme: np.ufunc, values: Floats, size: int) -> Floats:
    if size == CELL_BLOCK:
        return values
    if size == MINUTE_BLOCK:  # numpy reduces short rows slowly
        return np.asarray(extreme.reduceat(values, np.arange(0, len(values), size)))
    return np.asarray(extreme.reduce(values.reshape(-1, size), axis=1))


class CachedBarBlocks:
    """The blocks of all pairs; those of a quarter of an hour, of which candles from M15 on are made, and of days are cached."""

    def __init__(self) -> None:
        self._parts = Lru(_CACHED_DAYS, self._parts_of)
        self._prices = Lru(_CACHED_BLOCKS, self._prices_of)
        self._volumes = Lru(_CACHED_BLOCKS, self._volumes_of)

    def prices(
        self, blocks: PairBarBlocks, day: int, component: Component, units: float, size: int
    ) -> BarBlocks:
        """Return a component's blocks over a market day."""
        if size != QUARTER_BLOCK:
            return blocks.prices(day, component, units, size)
        return self._prices((blocks, day, component, units))

    def volumes(self, blocks: PairBarBlocks, day: int, size: int) -> Volumes:
        """Return the numbers of prices over a market day."""
        return blocks.volumes(day, size) if size != QUARTER_BLOCK else self._volumes((blocks, day))

    def parts(
        self,
        blocks: PairBarBlocks,
        day: int,
        components: tuple[Component, ...],
        units: float,
        starts: tuple[int, ...],
    ) -> DayParts:
        """Return the parts of a market day that begin at its cells `starts`."""
        return self._parts((blocks, day, components, units, starts))

    @staticmethod
    def _parts_of(
        key: tuple[PairBarBlocks, int, tuple[Component, ...], float, tuple[int, ...]],
    ) -> DayParts:
        blocks, day, components, units, starts = key
        return blocks.parts(day, components, units, starts)

    @staticmethod
    def _prices_of(key: tuple[PairBarBlocks, int, Component, float]) -> BarBlocks:
        blocks, day, component, units = key
        return blocks.prices(day, component, units, QUARTER_BLOCK)

    @staticmethod
    def _volumes_of(key: tuple[PairBarBlocks, int]) -> Volumes:
        blocks, day = key
        return blocks.volumes(day, QUARTER_BLOCK)
