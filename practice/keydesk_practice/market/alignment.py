"""Where candles begin: the periods of every granularity, in cells of the grid.

Seconds to H1 divide UTC evenly. H2 to D divide the local day that begins at `hour` in `zone`; W begins on `weekday` and M on
the first of the month at that hour. Local wall time decides, so days of a clock change have 23 or 25 hours.
"""

from bisect import bisect_right
from dataclasses import dataclass
from datetime import timedelta
from zoneinfo import ZoneInfo

import numpy as np

from keydesk_practice.market.grid import DAY_SECONDS, EPOCH, NEW_YORK, wall_seconds, weekday
from keydesk_practice.market.reference import Integers

_FIXED = {  # cells
    "S5": 1, "S10": 2, "S15": 3, "S30": 6,
    "M1": 12, "M2": 24, "M4": 48, "M5": 60, "M10": 120, "M15": 180, "M30": 360, "H1": 720,
}  # fmt: skip
_HOURS = {"H2": 2, "H3": 3, "H4": 4, "H6": 6, "H8": 8, "H12": 12, "D": 24}
_LONG_CELLS = {"W": 7 * 17_280, "M": 31 * 17_280}
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
GRANULARITIES = (*_FIXED, *_HOURS, *_LONG_CELLS)


@dataclass(frozen=True, slots=True)
class Alignment:
    """From when days, weeks and months are counted."""

    hour: int = 17
    zone: ZoneInfo = NEW_YORK
    weekday: int = 4  # Friday


def usual_cells(granularity: str) -> int:
    """Return how many cells a period has, clock changes and short months aside."""
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


def _local_starts(granularity: str, alignment: Alignment, start: int, end: int) -> list[int]:
    """Starts in cells, from one at or before `start` to one at or after `end`."""
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
