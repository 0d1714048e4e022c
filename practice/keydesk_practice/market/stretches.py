"""Log prices of any stretches of the grid, put together from blocks, whole days at a time.

Complete candles are made of blocks that fit between their edges. The forming candle is made of blocks as far as they have
passed, then of cells, then of the part of a cell that has passed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class Measured:
    """What was measured over some stretches."""

    bars: Mapping[Component, Floats]  # log open, high, low and close, [stretch, 4]
    volumes: Integers


class Stretches:
    """Bars and volumes over given edges, as far as they have passed."""

    def __init__(self) -> None:
        self._kept = KeptBlocks()

    def measure(
        self,
        pair: PairBlocks,
        components: Sequence[Component],
        grain: Grain,
        edges: Integers,
        now: int,
    ) -> Measured:
        """Measure ascending stretches of cells; only the last may still be forming at `now`."""
        over = edges[:, 1] * CELL <= now
        size = block_size(grain.granularity)
        whole = self._whole(pair, components, grain.units, edges[over], size)
        if over.all():
            return whole
        start = int(edges[~over][0, 0])
        parts = [
            self._whole(pair, components, grain.units, np.array([span]), part_size)
            for span, part_size in _passed(start, now // CELL, size)
        ]
        return Measured(
            {
                one: np.concatenate(
                    [
                        whole.bars[one],
                        _joined(
                            [
                                *(part.bars[one] for part in parts),
                                self._unfinished_cell(pair, one, grain, now),
                            ]
                        ),
                    ]
                )
                for one in components
            },
            np.append(
                whole.volumes,
                sum(int(part.volumes.sum()) for part in parts) + pair.prices_so_far(now),
            ),
        )

    def _whole(
        self,
        pair: PairBlocks,
        components: Sequence[Component],
        units: float,
        edges: Integers,
        size: int,
    ) -> Measured:
        """Measure stretches that are over: day by day, since a day's paths are remembered for a short while only."""
        prices: dict[Component, list[Blocks]] = {one: [] for one in components}
        volumes: list[Volumes] = []
        for day in _days(edges, pair.first_day):
            volumes.append(self._kept.volumes(pair, day, size))
            for one, found in prices.items():
                found.append(self._kept.prices(pair, day, one, units, size))
        return Measured(
            {one: _bars(found, edges) for one, found in prices.items()}, _volumes(volumes, edges)
        )

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


def _passed(start: int, cell: int, size: int) -> list[tuple[tuple[int, int], int]]:
    """Spans from `start` to `cell`: in blocks as far as they go, then in cells."""
    middle = start + max(cell - start, 0) // size * size
    spans = [((start, middle), size), ((middle, cell), CELL_BLOCK)]
    return [(span, one) for span, one in spans if span[1] > span[0]]


def _bars(found: list[Blocks], edges: Integers) -> Floats:
    bars = np.full((len(edges), 4), np.nan)
    if not found:
        return bars
    first, last = np.searchsorted(np.concatenate([one.cells for one in found]), edges).T
    kept = last > first
    if not kept.any():
        return bars
    bars[kept, 0] = np.concatenate([one.open for one in found])[first[kept]]
    bars[kept, 1] = _over(np.maximum, [one.high for one in found], first[kept], last[kept])
    bars[kept, 2] = _over(np.minimum, [one.low for one in found], first[kept], last[kept])
    bars[kept, 3] = np.concatenate([one.close for one in found])[last[kept] - 1]
    return bars


def _volumes(found: list[Volumes], edges: Integers) -> Integers:
    if not found:
        return np.zeros(len(edges), dtype=np.int64)
    first, last = np.searchsorted(np.concatenate([one.cells for one in found]), edges).T
    sums = np.concatenate([[0], np.cumsum(np.concatenate([one.prices for one in found]))])
    return np.asarray(sums[last] - sums[first])


def _over(extreme: np.ufunc, parts: list[Floats], first: Integers, last: Integers) -> Floats:
    """Extreme of each of the ascending, non-empty slices; what lies between two slices is passed over."""
    values = np.concatenate(parts)
    both = np.stack([first, last], axis=1).ravel()
    if both[-1] == len(values):
        both = both[:-1]
    return np.asarray(extreme.reduceat(values, both)[::2])


def _days(edges: Integers, first_day: int) -> range:
    if not len(edges):
        return range(0)
    start = max(market_day_of(int(edges[0, 0])), first_day)
    return range(start, market_day_of(int(edges[-1, 1]) - 1) + 1)


def _joined(parts: Sequence[Floats]) -> Floats:
    bars = np.concatenate(parts)
    known = bars[np.isfinite(bars[:, 0])]
    if not len(known):
        return np.full((1, 4), np.nan)
    return np.array([[known[0, 0], known[:, 1].max(), known[:, 2].min(), known[-1, 3]]])
