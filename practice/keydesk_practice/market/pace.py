"""How a day's motion spreads over its hours: quiet in Asia, busiest while London and New York are both at work.

The profile is relative volatility by the hour of Frankfurt's clock, which London and, but for a few weeks a year, New York
keep step with; its shape is that of intraday currency volatility as described by Andersen and Bollerslev, "Intraday
periodicity and volatility persistence in financial markets" (1997): a rise at the European open, a dip at noon, the
peak in the overlap, a fall after it. From 17:00 New York on Friday to 17:00 on Sunday motion goes on at a third of its size,
which makes a move from Friday's to Monday's fixing about as large as measured: 1.1 times that of a day.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np

from keydesk_practice.market.grid import CELLS_PER_DAY
from keydesk_practice.market.reference import Floats

_BY_HOUR = (
    *(0.55, 0.75, 0.80, 0.70, 0.60, 0.55, 0.60, 0.85, 1.20, 1.50, 1.35, 1.15),
    *(1.05, 1.20, 1.70, 1.75, 1.70, 1.35, 1.00, 0.90, 0.80, 0.70, 0.50, 0.40),
)
_WEEKEND = 0.35
_FIXING_SECOND = 14 * 3600 + 15 * 60
_DAY = 86_400
_FRIDAY_EVENING = 4 * _DAY + 23 * 3600  # 17:00 New York on Frankfurt's clock, since Monday midnight
_SUNDAY_EVENING = 6 * _DAY + 23 * 3600
_CLOCKS_FORWARD = 11 * 3600 + 45 * 60  # from 14:15 on Saturday to 02:00, when it becomes 03:00
_CLOCKS_BACK = 12 * 3600 + 45 * 60  # from 14:15 on Saturday to 03:00, when it becomes 02:00


@dataclass(frozen=True, slots=True)
class Pace:
    """How the variance of a market day is spent."""

    variance: Floats  # of each cell; a day from Monday to Tuesday sums to 1
    root: Floats  # its square root
    progress: Floats  # share spent at each grid point, 0 to 1
    total: float  # variance of the whole day


@cache
def pace_of(weekday: int, cells: int) -> Pace:
    """Return the pace of a market day that starts on `weekday` (Monday is 0) and has `cells` cells."""
    variance = _relative(weekday, cells) ** 2 / _plain_day()
    return with_variance(variance)


def with_variance(variance: Floats) -> Pace:
    """Return the pace that spends the given variance in each cell."""
    spent = np.concatenate([[0.0], np.cumsum(variance)])
    total = float(spent[-1])
    progress = spent / total
    return Pace(variance, np.sqrt(variance), progress, total)


@cache
def _plain_day() -> float:
    return float((_relative(0, CELLS_PER_DAY) ** 2).sum())


def _relative(weekday: int, cells: int) -> Floats:
    """Relative volatility of each cell, from the hour and from whether it is weekend."""
    wall = weekday * _DAY + _wall_seconds(cells)
    hours = np.arange(-1, 25) + 0.5
    by_hour = np.array([_BY_HOUR[-1], *_BY_HOUR, _BY_HOUR[0]])
    profile = np.interp(wall % _DAY / 3600, hours, by_hour)
    in_week = wall % (7 * _DAY)
    weekend = (in_week >= _FRIDAY_EVENING) & (in_week < _SUNDAY_EVENING)
    return np.asarray(np.where(weekend, _WEEKEND * profile, profile), dtype=np.float64)


def _wall_seconds(cells: int) -> Floats:
    """Seconds since midnight of the starting day on Frankfurt's clock, which may change on the way."""
    elapsed = np.arange(cells, dtype=np.float64) * 5
    if cells < CELLS_PER_DAY:
        elapsed += np.where(elapsed >= _CLOCKS_FORWARD, 3600.0, 0.0)
    elif cells > CELLS_PER_DAY:
        elapsed -= np.where(elapsed >= _CLOCKS_BACK, 3600.0, 0.0)
    return _FIXING_SECOND + elapsed
