"""Bars (open, high, low, close) and volumes over spans of the grid, put together from blocks of one market day each.

Complete candles are made of blocks that fit between their edges, those of a day or more of whole market days, parted where a
candle ends. The forming candle is made of the blocks that have passed,
then of cells, then of the part of a cell that has passed.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from zoneinfo import ZoneInfo

import numpy as np
from msgspec import Struct, field

from keydesk_practice.engine.quotes import NEW_YORK
from keydesk_practice.market.bar_blocks import (
    CELL_BLOCK,
    MINUTE_BLOCK,
    QUARTER_BLOCK,
    BarBlocks,
    CachedBarBlocks,
    Component,
    PairBarBlocks,
    Volumes,
)
from keydesk_practice.market.hours import CELL, first_cell, market_day_of
from keydesk_practice.market.reference import Floats, Integers

_OF_DAYS = {"D", "W", "M"}


class Alignment(Struct, frozen=True):
    """The start of days, weeks and months."""

    hour: int = 17
    zone: ZoneInfo = NEW_YORK
    weekday: int = 4  # Friday


class CandleSpec(Struct, frozen=True):
    """The kind of candles: granularity, alignment and prices."""

    granularity: str
    components: frozenset[Component] = frozenset({Component.MID})
    alignment: Alignment = field(default_factory=Alignment)
    units: float = 1.0
    smooth: bool = False


class Range(Struct, frozen=True):
    """The requested candles: `count` of them from a time on, up to a time, or the last ones; or all between two times."""

    begin: int | None = None
    end: int | None = None
    count: int = 500
    include_first: bool = True


class Bars(Struct, frozen=True):
    """The bars and volumes of some spans of cells."""

    bars: Mapping[Component, Floats]  # log open, high, low and close, [span, 4]
    volumes: Integers


class BarBuilder:
    """Builds bars and volumes over given spans, as far as they have passed."""

    def __init__(self) -> None:
        self._cached_blocks = CachedBarBlocks()

    def build(
        self,
        pair: PairBarBlocks,
        components: Sequence[Component],
        spec: CandleSpec,
        edges: Integers,
        now: int,
    ) -> Bars:
        """Return bars and volumes of ascending spans of cells; only the last may be unfinished at `now`."""
        over = edges[:, 1] * CELL <= now
        size = block_size(spec.granularity)
        if spec.granularity in _OF_DAYS:
            whole = self._of_days(pair, tuple(components), spec.units, edges[over])
        else:
            whole = self._whole(pair, components, spec.units, edges[over], size)
        if over.all():
            return whole
        start = int(edges[~over][0, 0])
        parts = [
            self._whole(pair, components, spec.units, np.array([span]), part_size)
            for span, part_size in _passed(start, now // CELL, size)
        ]
        return Bars(
            {
                one: np.concatenate(
                    [
                        whole.bars[one],
                        _merged_bar(
                            [
                                *(part.bars[one] for part in parts),
                                self._unfinished_cell(pair, one, spec, now),
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
        pair: PairBarBlocks,
        components: Sequence[Component],
        units: float,
        edges: Integers,
        size: int,
    ) -> Bars:
        """Return bars of finished spans, computed day by day, since only the paths of a few days are cached."""
        prices: dict[Component, list[BarBlocks]] = {one: [] for one in components}
        volumes: list[Volumes] = []
        for day in _days(edges, pair.first_day):
            volumes.append(self._cached_blocks.volumes(pair, day, size))
            for one, found in prices.items():
                found.append(self._cached_blocks.prices(pair, day, one, units, size))
        return Bars(
            {one: _bars(found, edges) for one, found in prices.items()}, _volumes(volumes, edges)
        )

    def _of_days(
        self,
        pair: PairBarBlocks,
        components: tuple[Component, ...],
        units: float,
        edges: Integers,
    ) -> Bars:
        """Return bars of finished spans that are made of whole market days and of parts of them."""
        days = _days(edges, pair.first_day)
        blocks = [
            self._cached_blocks.parts(pair, day, components, units, starts)
            for day, starts in zip(days, _starts_of_parts(days, edges), strict=True)
        ]
        if not blocks:
            return Bars({one: _bars([], edges) for one in components}, _volumes([], edges))
        cells = np.concatenate([day.cells for day in blocks])
        prices = {
            one: np.concatenate([day.prices[one] for day in blocks], axis=1) for one in components
        }
        volumes = np.concatenate([day.volumes for day in blocks])
        return Bars(
            {one: _bars([BarBlocks(cells, *rows)], edges) for one, rows in prices.items()},
            _volumes([Volumes(cells, volumes)], edges),
        )

    @staticmethod
    def _unfinished_cell(
        pair: PairBarBlocks, component: Component, spec: CandleSpec, now: int
    ) -> Floats:
        cell = now // CELL
        day = market_day_of(cell)
        if not pair.is_open(cell):
            return np.empty((0, 4))
        curve = pair.curve(day, component, spec.units)
        point = cell - first_cell(day)
        start = float(curve.points[point])
        end = start + (curve.just_before(point + 1) - start) * (now % CELL / CELL)
        return np.array([[start, max(start, end), min(start, end), end]])


def block_size(granularity: str) -> int:
    """Return the size of the largest blocks of which the candles of a granularity consist."""
    if granularity.startswith("S"):
        return CELL_BLOCK
    return MINUTE_BLOCK if granularity in {"M1", "M2", "M4", "M5", "M10"} else QUARTER_BLOCK


def _starts_of_parts(days: range, edges: Integers) -> Iterator[tuple[int, ...]]:
    """Return for each market day its cells, counted from its start, at which a part between two edges begins."""
    cuts = sorted({*edges[:, 0].tolist(), *edges[:, 1].tolist()})  # `np.unique` imports a lot
    firsts = [first_cell(day) for day in (*days, days.stop)]
    places = np.searchsorted(cuts, firsts).tolist()
    for start, (first, last) in zip(firsts, pairwise(places), strict=False):
        inside = [cut - start for cut in cuts[first:last]]
        yield tuple(inside) if inside[:1] == [0] else (0, *inside)


def _passed(start: int, cell: int, size: int) -> list[tuple[tuple[int, int], int]]:
    """Return the spans from `start` to `cell` with their block size: whole blocks first, then cells."""
    middle = start + max(cell - start, 0) // size * size
    spans = [((start, middle), size), ((middle, cell), CELL_BLOCK)]
    return [(span, one) for span, one in spans if span[1] > span[0]]


def _bars(blocks: list[BarBlocks], edges: Integers) -> Floats:
    bars = np.full((len(edges), 4), np.nan)
    if not blocks:
        return bars
    first, last = np.searchsorted(np.concatenate([one.cells for one in blocks]), edges).T
    has_cells = last > first
    if not has_cells.any():
        return bars
    bars[has_cells, 0] = np.concatenate([one.open for one in blocks])[first[has_cells]]
    bars[has_cells, 1] = _extreme_between(
        np.maximum, [one.high for one in blocks], first[has_cells], last[has_cells]
    )
    bars[has_cells, 2] = _extreme_between(
        np.minimum, [one.low for one in blocks], first[has_cells], last[has_cells]
    )
    bars[has_cells, 3] = np.concatenate([one.close for one in blocks])[last[has_cells] - 1]
    return bars


def _volumes(volumes: list[Volumes], edges: Integers) -> Integers:
    if not volumes:
        return np.zeros(len(edges), dtype=np.int64)
    first, last = np.searchsorted(np.concatenate([one.cells for one in volumes]), edges).T
    sums = np.concatenate([[0], np.cumsum(np.concatenate([one.prices for one in volumes]))])
    return np.asarray(sums[last] - sums[first])


def _extreme_between(
    extreme: np.ufunc, parts: list[Floats], first: Integers, last: Integers
) -> Floats:
    """Return the extreme of each of the ascending, non-empty slices, without what lies between two slices."""
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


def _merged_bar(parts: Sequence[Floats]) -> Floats:
    bars = np.concatenate(parts)
    known = bars[np.isfinite(bars[:, 0])]
    if not len(known):
        return np.full((1, 4), np.nan)
    return np.array([[known[0, 0], known[:, 1].max(), known[:, 2].min(), known[-1, 3]]])
