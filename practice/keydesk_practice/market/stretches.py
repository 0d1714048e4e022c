"""Log prices of any stretches of the grid, put together from blocks, whole days at a time.

Complete candles are made of blocks that fit between their edges. The forming candle is made of blocks as far as they have
passed, then of cells, then of the part of a cell that has passed.
"""

from collections.abc import Callable
from typing import Protocol

import numpy as np

from keydesk_practice.market.blocks import (
    CELL_BLOCK,
    MINUTE_BLOCK,
    QUARTER_BLOCK,
    Blocks,
    Component,
    KeptBlocks,
    PairBlocks,
    Volumes,
)
from keydesk_practice.market.grid import CELL, first_cell, market_day_of
from keydesk_practice.market.reference import Floats, Integers


class Grain(Protocol):
    """What of a `Cut` decides the prices of a stretch."""

    @property
    def granularity(self) -> str:
        """The period."""

    @property
    def units(self) -> float:
        """The size for which bid and ask are shown."""


class Stretches:
    """Bars (open, high, low, close) and volumes over given edges."""

    def __init__(self) -> None:
        self._kept = KeptBlocks()

    def bars(
        self, pair: PairBlocks, component: Component, grain: Grain, edges: Integers, now: int
    ) -> Floats:
        """Return log open, high, low and close of each stretch as far as it has passed, [stretch, 4]."""

        def blocks(day: int, size: int) -> Blocks:
            return self._kept.prices(pair, day, component, grain.units, size)

        whole, forming = _split(edges, now)
        bars = _bars(blocks, pair.first_day, whole, block_size(grain.granularity))
        if not len(forming):
            return bars
        start = int(forming[0, 0])
        parts = [
            _bars(blocks, pair.first_day, np.array([span]), size)
            for span, size in _passed(start, now // CELL, block_size(grain.granularity))
        ]
        parts.append(self._unfinished_cell(pair, component, grain, now))
        return np.concatenate([bars, _joined(np.concatenate(parts))])

    def volumes(self, pair: PairBlocks, grain: Grain, edges: Integers, now: int) -> Integers:
        """Return the number of prices in each stretch as far as it has passed."""

        def blocks(day: int, size: int) -> Volumes:
            return self._kept.volumes(pair, day, size)

        size = block_size(grain.granularity)
        whole, forming = _split(edges, now)
        volumes = _volumes(blocks, pair.first_day, whole, size)
        if not len(forming):
            return volumes
        parts = [
            int(_volumes(blocks, pair.first_day, np.array([span]), part_size).sum())
            for span, part_size in _passed(int(forming[0, 0]), now // CELL, size)
        ]
        parts.append(pair.prices_so_far(now))
        return np.append(volumes, sum(parts))

    @staticmethod
    def _unfinished_cell(pair: PairBlocks, component: Component, grain: Grain, now: int) -> Floats:
        cell = now // CELL
        day = market_day_of(cell)
        if not pair.is_open(cell):
            return np.empty((0, 4))
        curve = pair.curve(day, component, grain.units)
        point = cell - first_cell(day)
        start = float(curve.points[point])
        end = start + (curve.just_before(point + 1) - start) * (now % CELL / CELL)
        return np.array([[start, max(start, end), min(start, end), end]])


def block_size(granularity: str) -> int:
    """Return the size of the largest blocks of which the candles of a granularity consist."""
    if granularity.startswith("S"):
        return CELL_BLOCK
    return MINUTE_BLOCK if granularity in {"M1", "M2", "M4", "M5", "M10"} else QUARTER_BLOCK


def _split(edges: Integers, now: int) -> tuple[Integers, Integers]:
    whole = edges[:, 1] * CELL <= now
    return edges[whole], edges[~whole]


def _passed(start: int, cell: int, size: int) -> list[tuple[tuple[int, int], int]]:
    """Spans from `start` to `cell`: in blocks as far as they go, then in cells."""
    middle = start + max(cell - start, 0) // size * size
    spans = [((start, middle), size), ((middle, cell), CELL_BLOCK)]
    return [(span, one) for span, one in spans if span[1] > span[0]]


def _bars(
    blocks_of: Callable[[int, int], Blocks], first_day: int, edges: Integers, size: int
) -> Floats:
    if not len(edges):
        return np.empty((0, 4))
    found = [blocks_of(day, size) for day in _days(edges, first_day)]
    cells = np.concatenate([one.cells for one in found])
    first, last = np.searchsorted(cells, edges).T
    kept = last > first
    bars = np.full((len(edges), 4), np.nan)
    if not kept.any():
        return bars
    bars[kept, 0] = np.concatenate([one.open for one in found])[first[kept]]
    bars[kept, 1] = _over(np.maximum, [one.high for one in found], first[kept], last[kept])
    bars[kept, 2] = _over(np.minimum, [one.low for one in found], first[kept], last[kept])
    bars[kept, 3] = np.concatenate([one.close for one in found])[last[kept] - 1]
    return bars


def _volumes(
    blocks_of: Callable[[int, int], Volumes], first_day: int, edges: Integers, size: int
) -> Integers:
    if not len(edges):
        return np.empty(0, dtype=np.int64)
    found = [blocks_of(day, size) for day in _days(edges, first_day)]
    cells = np.concatenate([one.cells for one in found])
    sums = np.concatenate([[0], np.cumsum(np.concatenate([one.prices for one in found]))])
    first, last = np.searchsorted(cells, edges).T
    return np.asarray(sums[last] - sums[first])


def _over(extreme: np.ufunc, parts: list[Floats], first: Integers, last: Integers) -> Floats:
    """Extreme of each of the ascending, non-empty slices; what lies between two slices is passed over."""
    values = np.concatenate(parts)
    both = np.stack([first, last], axis=1).ravel()
    if both[-1] == len(values):
        both = both[:-1]
    return np.asarray(extreme.reduceat(values, both)[::2])


def _days(edges: Integers, first_day: int) -> range:
    start = max(market_day_of(int(edges[0, 0])), first_day)
    return range(start, market_day_of(int(edges[-1, 1]) - 1) + 1)


def _joined(bars: Floats) -> Floats:
    known = bars[np.isfinite(bars[:, 0])]
    if not len(known):
        return np.full((1, 4), np.nan)
    return np.array([[known[0, 0], known[:, 1].max(), known[:, 2].min(), known[-1, 3]]])
