"""How far bid and ask stand from the mid: the log half-spread of a pair on the grid.

    half = typical x session x flicker x turbulence x aftershock

`typical` is half the pair's usual spread as a share of its price, `session` the hour's profile, `flicker` a slow noise of
some ten percent, `turbulence` the pair's restlessness, and `aftershock` the minutes after a jump. It is given at the grid
points and straight between them; so log bid and log ask are straight too, and candles of bid and ask find their extremes
at grid points like those of the mid.

What stands behind the best price: four levels a side, and what a size of units costs through them.

The levels stand at fixed multiples of the half-spread, so they widen together; their size follows the hour.
What New York's clock does to bid and ask: the profile of spread and depth over a market day.

Spreads are tight while London and New York work, wider in Asia, and widest around 17:00 New York, when banks roll their
books; depth goes the other way. Profiles are given at every grid point, so the lines between them are straight.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from keydesk_practice.market.hours import DAY_SECONDS, NEW_YORK, cells_in, first_cell, utc_offset
from keydesk_practice.market.instruments import Group
from keydesk_practice.market.paths import Curve
from keydesk_practice.market.reference import Floats, Integers
from keydesk_practice.market.rng import Chance, Purpose, Recent

DISTANCES = np.array([1.0, 1.3, 1.8, 2.8])
_UNITS: dict[Group, tuple[int, ...]] = {
    "major": (1_000_000, 2_000_000, 5_000_000, 10_000_000),
    "cross": (500_000, 1_000_000, 2_000_000, 5_000_000),
    "exotic": (250_000, 500_000, 1_000_000, 2_000_000),
}


@dataclass(frozen=True, slots=True)
class Depth:
    """The units at each level of an instrument in the best hours."""

    units: tuple[int, ...]

    def at(self, share: float) -> tuple[int, ...]:
        """Return the units at each level when the hour leaves `share` of the depth."""
        return tuple(round(units * share) for units in self.units)


def depth_of(group: Group) -> Depth:
    """Return the depth of the instruments of a group."""
    return Depth(_UNITS[group])


def for_units(half: Curve, depth: Depth, share: Floats, units: float) -> Curve:
    """Return the half-spread that a size of `units` pays on average, walking through the levels.

    What exceeds all levels pays the last one.
    """
    if units <= depth.units[0] * float(share.min()):
        return half
    paid = _average_distance(depth, share, units)
    paid_at = np.append(paid, paid[-1])
    changes = (np.flatnonzero(np.diff(paid)) + 1).tolist()
    steps = {*half.before, *changes}
    before = {point: half.just_before(point) * float(paid[point - 1]) for point in steps}
    return Curve(half.points * paid_at, before)


def _average_distance(depth: Depth, share: Floats, units: float) -> Floats:
    left = np.full(len(share), units)
    paid = np.zeros(len(share))
    for distance, level in zip(DISTANCES[:-1], depth.units[:-1], strict=True):
        taken = np.minimum(left, level * share)
        paid += taken * distance
        left = left - taken
    return np.asarray((paid + left * DISTANCES[-1]) / units)


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


_PERIOD = 65_536  # cells after which the flicker repeats: nearly four days
_LONGEST_DAY = 18_001
_SMOOTH = 24  # cells over which the flicker is averaged
_SIZE = 0.12
_STRIDE = 7919  # by which the flicker of one pair is shifted against that of the next
_FULL_SHOCK = 0.002  # a jump of this log size widens the spread by as much as the spread
_MOST_SHOCK = 12.0
_SHOCK_CELLS = 180.0  # a quarter of an hour

Steps = Sequence[tuple[int, float]]


class Flicker:
    """A slow noise around one, different for each pair at a time, the same at the same cell."""

    def __init__(self, chance: Chance) -> None:
        noise = chance.normals(Purpose.SPREAD, "", 0, _PERIOD)
        sums = np.concatenate([[0.0], np.cumsum(np.concatenate([noise, noise[:_SMOOTH]]))])
        smooth = (sums[_SMOOTH:-1] - sums[: -_SMOOTH - 1]) / np.sqrt(_SMOOTH)
        around_one = 1.0 + _SIZE * np.clip(smooth, -2.0, 2.0)
        self._values = np.concatenate([around_one, around_one[:_LONGEST_DAY]])

    def of_day(self, pair: int, cell: int, count: int) -> Floats:
        """Return the noise of a pair at `count` grid points from `cell` on."""
        start = (cell + _STRIDE * pair) % _PERIOD
        return self._values[start : start + count]

    def of_cell(self, pairs: int, cell: int) -> Floats:
        """Return the noise of the first `pairs` pairs at one grid point."""
        return self._values[(cell + _STRIDE * np.arange(pairs)) % _PERIOD]


def aftershock(size: Floats | float, cells_since: Floats | float) -> Floats:
    """Return what a jump adds to the spread factor, some cells later; nothing before it."""
    widening = np.minimum(np.abs(size) / _FULL_SHOCK, _MOST_SHOCK)
    fading = np.exp(-np.maximum(cells_since, 0.0) / _SHOCK_CELLS)
    return np.asarray(np.where(np.asarray(cells_since) >= 0, widening * fading, 0.0))


def shock_factor(steps: Steps, points: Floats) -> Floats:
    """Return the factor of a pair's own jumps at each grid point of a day."""
    factor = np.ones(len(points))
    for point, size in steps:
        factor += aftershock(size, points - point)
    return factor


def half_spread(half: Floats, steps: Steps) -> Curve:
    """Return the half-spread curve of a day from its grid points before any aftershock."""
    if not steps:
        return Curve(half)
    factor = shock_factor(steps, np.arange(len(half), dtype=np.float64))
    points = half * factor
    before = {}
    for point, size in steps:
        earlier = factor[point] - float(aftershock(size, 0.0))
        before[point] = float(half[point] * earlier)
    return Curve(points, before)
