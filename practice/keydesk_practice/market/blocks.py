"""Open, high, low and close of equal stretches of a market day, from which candles of every size are put together.

Extremes of a straight line lie at its ends, so those of a cell are the larger and smaller of its two values and those of a
stretch are the extremes of its cells. All candles are made of the same cells; so a D candle and its M1 candles cannot disagree.
"""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from keydesk_practice.market.curve import Curve
from keydesk_practice.market.depth import Depth, for_units
from keydesk_practice.market.grid import CELL, cell_at, first_cell, market_day_of
from keydesk_practice.market.hours import Mask
from keydesk_practice.market.pairs import Pairs
from keydesk_practice.market.recent import Recent
from keydesk_practice.market.reference import Floats, Integers

CELL_BLOCK, MINUTE_BLOCK, QUARTER_BLOCK = (
    1,
    12,
    180,
)  # cells; the fixing starts a quarter of an hour
_KEPT = 6_000  # some 20 MB: 500 days of six series
_MOST_PRICES = 20  # in a cell: four a second


class Component(StrEnum):
    """Which price a candle shows."""

    MID = "M"
    BID = "B"
    ASK = "A"


@dataclass(frozen=True, slots=True)
class Blocks:
    """Log prices of the stretches that had any; `cells` says where each starts."""

    cells: Integers
    open: Floats
    high: Floats
    low: Floats
    close: Floats


@dataclass(frozen=True, slots=True)
class Volumes:
    """How many prices each stretch had."""

    cells: Integers
    prices: Integers


class PairBlocks:
    """The stretches of one pair."""

    def __init__(self, pairs: Pairs, pair: int, depth: Depth, precision: int) -> None:
        self._pairs, self._pair, self._depth = pairs, pair, depth
        self.precision = precision
        self.first_day = pairs.first_day(pair)

    def any_known(self, starts: Integers, ends: Integers) -> Mask:
        """Return which stretches of cells the pair's history touches."""
        return self._pairs.any_known(self._pair, starts, ends)

    def is_open(self, cell: int) -> bool:
        """Return whether the pair has prices in a cell."""
        day = market_day_of(cell)
        open_cells = self._pairs.open_cells(self._pair, day)
        return open_cells is None or bool(open_cells[cell - first_cell(day)])

    def curve(self, day: int, component: Component, units: float) -> Curve:
        """Return the log price that a component shows for a size over a market day."""
        mid = self._pairs.mid(self._pair, day)
        if component is Component.MID:
            return mid
        share = self._pairs.sessions.on(day).depth
        half = for_units(self._pairs.half(self._pair, day), self._depth, share, units)
        return mid.minus(half) if component is Component.BID else mid.plus(half)

    def prices(self, day: int, component: Component, units: float, size: int) -> Blocks:
        """Return a component's stretches of `size` cells over a market day."""
        curve = self.curve(day, component, units)
        open_cells = self._pairs.open_cells(self._pair, day)
        cells = first_cell(day) + np.arange(0, len(curve.points) - 1, size, dtype=np.int64)
        if open_cells is None:
            return _all_open(cells, curve, size)
        return _partly_open(cells, curve, size, open_cells)

    def volumes(self, day: int, size: int) -> Volumes:
        """Return how many prices there were: one for each change of the mid's last digit, four a second at most."""
        mid = self._pairs.mid(self._pair, day)
        counts = self._prices_in(mid, mid.ends - mid.starts)
        open_cells = self._pairs.open_cells(self._pair, day)
        cells = first_cell(day) + np.arange(0, len(counts), size, dtype=np.int64)
        if open_cells is None:
            return Volumes(cells, counts.reshape(-1, size).sum(axis=1))
        counts[~open_cells] = 0
        kept = open_cells.reshape(-1, size).any(axis=1)
        return Volumes(cells[kept], counts.reshape(-1, size).sum(axis=1)[kept])

    def prices_so_far(self, now: int) -> int:
        """Return how many prices there were in the cell that is not over yet."""
        cell = cell_at(now)
        if not self.is_open(cell):
            return 0
        day = market_day_of(cell)
        mid, point = self._pairs.mid(self._pair, day), cell - first_cell(day)
        passed = (mid.just_before(point + 1) - mid.points[point]) * (now % CELL / CELL)
        return int(self._prices_in(mid, np.array([passed]))[0])

    def _prices_in(self, mid: Curve, moved: Floats) -> Integers:
        scale = float(np.exp(mid.points[0])) * 10.0**self.precision
        return np.clip(np.rint(np.abs(moved) * scale), 1, _MOST_PRICES).astype(np.int64)


def _all_open(cells: Integers, curve: Curve, size: int) -> Blocks:
    starts, ends = curve.starts, curve.ends
    high, low = np.maximum(starts, ends), np.minimum(starts, ends)
    return Blocks(
        cells,
        starts[::size].copy(),
        _reduced(np.maximum, high, size),
        _reduced(np.minimum, low, size),
        ends[size - 1 :: size].copy(),
    )


def _partly_open(cells: Integers, curve: Curve, size: int, open_cells: Mask) -> Blocks:
    starts, ends = curve.starts, curve.ends
    high = np.where(open_cells, np.maximum(starts, ends), -np.inf)
    low = np.where(open_cells, np.minimum(starts, ends), np.inf)
    by_block = open_cells.reshape(-1, size)
    kept = by_block.any(axis=1)
    offsets = np.arange(len(by_block)) * size
    first = (offsets + by_block.argmax(axis=1))[kept]
    last = (offsets + size - 1 - by_block[:, ::-1].argmax(axis=1))[kept]
    return Blocks(
        cells[kept],
        starts[first],
        _reduced(np.maximum, high, size)[kept],
        _reduced(np.minimum, low, size)[kept],
        ends[last],
    )


def _reduced(extreme: np.ufunc, values: Floats, size: int) -> Floats:
    if size == CELL_BLOCK:
        return values
    if size == MINUTE_BLOCK:  # numpy reduces short rows slowly
        return np.asarray(extreme.reduceat(values, np.arange(0, len(values), size)))
    return np.asarray(extreme.reduce(values.reshape(-1, size), axis=1))


class KeptBlocks:
    """Quarter-hour stretches of all pairs, remembered: candles of a quarter of an hour and more are made of them."""

    def __init__(self) -> None:
        self._prices = Recent(_KEPT, self._prices_of)
        self._volumes = Recent(_KEPT, self._volumes_of)

    def prices(
        self, blocks: PairBlocks, day: int, component: Component, units: float, size: int
    ) -> Blocks:
        """Return a component's stretches over a market day."""
        if size != QUARTER_BLOCK:
            return blocks.prices(day, component, units, size)
        return self._prices((blocks, day, component, units))

    def volumes(self, blocks: PairBlocks, day: int, size: int) -> Volumes:
        """Return the numbers of prices over a market day."""
        return blocks.volumes(day, size) if size != QUARTER_BLOCK else self._volumes((blocks, day))

    @staticmethod
    def _prices_of(key: tuple[PairBlocks, int, Component, float]) -> Blocks:
        blocks, day, component, units = key
        return blocks.prices(day, component, units, QUARTER_BLOCK)

    @staticmethod
    def _volumes_of(key: tuple[PairBlocks, int]) -> Volumes:
        blocks, day = key
        return blocks.volumes(day, QUARTER_BLOCK)
