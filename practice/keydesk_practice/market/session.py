"""What New York's clock does to bid and ask: the profile of spread and depth over a market day.

Spreads are tight while London and New York work, wider in Asia, and widest around 17:00 New York, when banks roll their
books; depth goes the other way. Profiles are given at every grid point, so the lines between them are straight.
"""

from dataclasses import dataclass

import numpy as np

from keydesk_practice.market.grid import (
    DAY_SECONDS,
    NEW_YORK,
    cells_in,
    first_cell,
    utc_offset,
)
from keydesk_practice.market.recent import Recent
from keydesk_practice.market.reference import Floats, Integers

_SPREAD_BY_HOUR = (
    *(1.30, 1.20, 1.10, 1.00, 1.00, 1.00, 1.00, 1.00, 1.00, 1.00, 1.00, 1.05),
    *(1.10, 1.15, 1.20, 1.30, 1.60, 2.20, 1.80, 1.45, 1.35, 1.35, 1.35, 1.35),
)
_DEPTH_BY_HOUR = (
    *(0.6, 0.7, 0.8, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.9),
    *(0.8, 0.8, 0.7, 0.6, 0.4, 0.25, 0.4, 0.5, 0.6, 0.6, 0.6, 0.6),
)
_ROLL = 17 * 3600
_ROLL_WIDENING = 5.0
_BEFORE_ROLL, _AFTER_ROLL = (
    240.0,
    720.0,
)  # seconds in which the widening comes and goes, by a factor of e
_WEEKEND_SPREAD, _WEEKEND_DEPTH = 1.3, 0.7
_FRIDAY_CLOSE = 4 * DAY_SECONDS + _ROLL
_SUNDAY_OPEN = 6 * DAY_SECONDS + _ROLL
_WEEK = 7 * DAY_SECONDS
_MONDAY = 4 * DAY_SECONDS  # 1970 began on a Thursday; its first Monday


@dataclass(frozen=True, slots=True)
class Session:
    """Spread relative to a quiet London morning, and depth relative to the same, of one market day."""

    spread: Floats  # at each grid point
    depth: Floats  # of each cell


class Sessions:
    """The sessions of market days; days that begin alike share one."""

    def __init__(self) -> None:
        self._session = Recent(24, _session_of)

    def on(self, day: int) -> Session:
        """Return the session of a market day."""
        start, count = first_cell(day) * 5, cells_in(day)
        offsets = (utc_offset(NEW_YORK, start), utc_offset(NEW_YORK, start + count * 5))
        return self._session(((start - _MONDAY) % _WEEK, count, *offsets))


def _session_of(kind: tuple[int, int, int, int]) -> Session:
    start, count, offset, last_offset = kind
    seconds = start + np.arange(count + 1, dtype=np.int64) * 5
    changed = (seconds >= _clock_change(last_offset - offset)) & (seconds > start)
    wall = seconds + np.where(changed, last_offset, offset)
    weekend = (wall % _WEEK >= _FRIDAY_CLOSE) & (wall % _WEEK < _SUNDAY_OPEN)
    spread = _by_hour(wall, _SPREAD_BY_HOUR) + _ROLL_WIDENING * _nearness_of_roll(wall)
    depth = np.round(_by_hour(wall, _DEPTH_BY_HOUR), 1)
    return Session(
        np.where(weekend, spread * _WEEKEND_SPREAD, spread),
        np.where(weekend, depth * _WEEKEND_DEPTH, depth)[:-1],
    )


def _clock_change(difference: int) -> int:
    """Seconds of the week at which New York's clocks change: Sunday 02:00, standard or summer time."""
    return 6 * DAY_SECONDS + (7 if difference > 0 else 6) * 3600


def _by_hour(wall: Integers, profile: tuple[float, ...]) -> Floats:
    hours = np.arange(-1, 25) + 0.5
    return np.interp(wall % DAY_SECONDS / 3600, hours, [profile[-1], *profile, profile[0]])


def _nearness_of_roll(wall: Integers) -> Floats:
    away = (wall % DAY_SECONDS - _ROLL).astype(np.float64)
    return np.asarray(
        np.exp(np.where(away < 0, away / _BEFORE_ROLL, -away / _AFTER_ROLL)), dtype=np.float64
    )
