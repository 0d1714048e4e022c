"""When the market is open: around the clock, or as the real week goes.

The real week of currencies runs from Sunday 17:05 to Friday 16:59 New York, with a break from 16:59 to 17:05 on the other
days. While it is closed nothing trades, no candle has prices and the last prices stand; the path goes on unseen, so that a
Monday opens with a gap.
"""

from enum import StrEnum
from functools import lru_cache

import numpy as np

from keydesk_practice.market.grid import (
    CELL,
    DAY_SECONDS,
    NEW_YORK,
    cells_in,
    first_cell,
    wall_seconds,
    weekday,
)
from keydesk_practice.market.recent import Recent
from keydesk_practice.market.reference import Integers

Mask = np.ndarray[tuple[int], np.dtype[np.bool_]]

_FRIDAY = 4
_WEEKEND_DAYS = 2


class Hours(StrEnum):
    """The two kinds of week."""

    ALWAYS = "always"
    FX = "fx"


class TradingHours:
    """Tell open from closed, for instants and for whole stretches of the grid."""

    def __init__(self, hours: Hours) -> None:
        self.hours = hours
        self._open_cells = Recent(16, self._mask_of)

    def open_cells(self, day: int) -> Mask | None:
        """Return which cells of a market day are open; None when all of them are."""
        if self.hours is Hours.ALWAYS:
            return None
        mask = self._open_cells(day)
        return None if mask.all() else mask

    def last_open(self, now: int) -> int:
        """Return an instant itself while the market is open, else the last one before it closed."""
        cell = now // CELL
        for closing, opening in self._closed(cell, cell + 1):
            if closing <= cell < opening:
                return closing * CELL - 1
        return now

    def any_open(self, starts: Integers, ends: Integers) -> Mask:
        """Return which of the stretches [start, end) of cells have an open cell."""
        spans = self._closed(int(starts.min()), int(ends.max())) if starts.size else []
        if not spans:
            return np.ones(len(starts), dtype=np.bool_)
        closing, opening = np.array(spans, dtype=np.int64).T
        last = np.searchsorted(closing, starts, side="right") - 1
        inside = (last >= 0) & (ends <= opening[last])
        return np.asarray(~inside)

    def _mask_of(self, day: int) -> Mask:
        start, count = first_cell(day), cells_in(day)
        mask = np.ones(count, dtype=np.bool_)
        for closing, opening in self._closed(start, start + count):
            mask[max(closing - start, 0) : max(opening - start, 0)] = False
        return mask

    def _closed(self, start: int, end: int) -> list[tuple[int, int]]:
        """Return the closed stretches of cells that touch [start, end), in order."""
        if self.hours is Hours.ALWAYS:
            return []
        first, last = start * 5 // DAY_SECONDS - 3, end * 5 // DAY_SECONDS + 1
        spans = (_closed_from(day) for day in range(first, last + 1))
        return [span for span in spans if span and span[0] < end and span[1] > start]


@lru_cache(maxsize=16_384)
def _closed_from(day: int) -> tuple[int, int] | None:
    """Return the closed cells that begin on a New York calendar day."""
    if weekday(day) > _FRIDAY:
        return None
    reopening = day + _WEEKEND_DAYS if weekday(day) == _FRIDAY else day
    return (
        wall_seconds(NEW_YORK, day, 16, 59) // 5,
        wall_seconds(NEW_YORK, reopening, 17, 5) // 5,
    )
