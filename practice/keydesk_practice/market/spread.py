"""The spread model: the log half-spread of a pair on the grid, and the depth behind the best price.

    half-spread = typical x session x noise x volatility x aftershock

- `typical`: half the pair's usual spread as a fraction of its price (`instruments`)
- session: the profile of the hour in New York; tight while London and New York trade, widest around 17:00 New York, when
  banks roll their books; depth goes the other way. A market that is always open rolls nothing on Saturday and Sunday
- noise: a slow noise of about ten percent
- volatility: the pair's volatility against its past year
- aftershock: the minutes after a jump

It is defined at the grid points and linear between them. So log bid and log ask are linear too, and candles of bid and ask
have their extremes at grid points, as those of the mid have.

Depth: four levels a side at fixed multiples of the half-spread; their size follows the hour. Profiles and sizes are
plausible choices, not measurements.
"""

from collections.abc import Sequence
from functools import cache, partial

import numpy as np
from msgspec import Struct

from keydesk_practice.engine.quotes import NEW_YORK
from keydesk_practice.market.covariance import BLOCK
from keydesk_practice.market.fixings import Fixings
from keydesk_practice.market.hours import DAY_SECONDS, Hours, cells_in, first_cell, utc_offset
from keydesk_practice.market.instruments import Group
from keydesk_practice.market.paths import Curve
from keydesk_practice.market.reference import Floats, Integers
from keydesk_practice.market.rng import Lru, Purpose, Rng

DISTANCES = np.array([1.0, 1.3, 1.8, 2.8])  # of the levels from the mid, in half-spreads

_UNITS: dict[Group, tuple[int, ...]] = {
    "major": (1_000_000, 2_000_000, 5_000_000, 10_000_000),
    "cross": (500_000, 1_000_000, 2_000_000, 5_000_000),
    "exotic": (250_000, 500_000, 1_000_000, 2_000_000),
}

_SPREAD_BY_HOUR = (
    *(1.30, 1.20, 1.10, 1.00, 1.00, 1.00, 1.00, 1.00, 1.00, 1.00, 1.00, 1.05),
    *(1.10, 1.15, 1.20, 1.30, 1.60, 2.20, 1.80, 1.45, 1.35, 1.35, 1.35, 1.35),
)

_DEPTH_BY_HOUR = (
    *(0.6, 0.7, 0.8, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.9),
    *(0.8, 0.8, 0.7, 0.6, 0.4, 0.25, 0.4, 0.5, 0.6, 0.6, 0.6, 0.6),
)

_ROLL = 17 * 3600  # New York, seconds of the day
_ROLL_WIDENING = 5.0
_BEFORE_ROLL, _AFTER_ROLL = 240.0, 720.0  # time constants of the widening, seconds
_WEEKEND_SPREAD, _WEEKEND_DEPTH = 1.3, 0.7
_FRIDAY_CLOSE = 4 * DAY_SECONDS + _ROLL
_SUNDAY_OPEN = 6 * DAY_SECONDS + _ROLL
_SATURDAY = 5 * DAY_SECONDS
_THURSDAY_NIGHT = (
    4 * DAY_SECONDS
)  # UTC; the market days that start before it end before Friday's close
_NIGHT_SPREAD, _NIGHT_DEPTH = 1.35, 0.6
_WEEK = 7 * DAY_SECONDS
_MONDAY = 4 * DAY_SECONDS  # 1970 began on a Thursday; its first Monday
_NOISE_PERIOD = 65_536  # cells after which the noise repeats: nearly four days
_MAX_DAY = 18_001
_SMOOTH = 24  # cells of the moving average
_NOISE_SIZE = 0.12
_STRIDE = 7919  # cells between the noise of one pair and of the next
_FULL_SHOCK = 0.002  # log size of a jump that doubles the spread
_MAX_SHOCK = 12.0
_SHOCK_CELLS = 180.0  # time constant: a quarter of an hour
_YEAR_BLOCKS = 4  # of the usual volatility: 256 published days
_CACHED_BLOCKS = 16
_CACHED_DAYS = 16
_MIN_VOLATILITY_FACTOR, _MAX_VOLATILITY_FACTOR = 0.8, 3.0
_VOLATILITY_EXPONENT = 0.7
Steps = Sequence[tuple[int, float]]


def base_half_spread(
    session: Floats | float,
    spread_noise: Floats,
    over_day: tuple[Floats | float, Floats | float],
    part: Floats | float,
) -> Floats:
    """Return the half-spread without aftershocks, for the grid points of a day or for all pairs at an instant.

    `over_day` is typical spread times volatility factor at the start and the end of the day, `part` the part of it that is over.
    """
    start, end = over_day
    factor = np.asarray((end - start) * part)
    factor += start
    factor *= session * spread_noise
    return factor


@cache
def parts_of_day(cells: int) -> Floats:
    """Return the part of a market day that is over at each grid point."""
    return np.asarray(np.arange(cells + 1) / cells)


def half_spread(half: Floats, steps: Steps) -> Curve:
    """Return the half-spread curve of a day from its values at the grid points without aftershocks."""
    if not steps:
        return Curve(half)
    factor = aftershock_factor(steps, np.arange(len(half), dtype=np.float64))
    points = half * factor
    before = {}
    for point, size in steps:
        earlier = factor[point] - float(aftershock(size, 0.0))
        before[point] = float(half[point] * earlier)
    return Curve(points, before)


class Session(Struct, frozen=True):
    """Spread and depth of one market day, relative to a quiet London morning."""

    spread: Floats  # at each grid point
    depth: Floats  # of each cell
    least_depth: float


def half_spread_of_day(
    session: Session, spread_noise: Floats, over_day: tuple[float, float]
) -> Floats:
    """Return the half-spread without aftershocks for the grid points of a day, as `base_half_spread` does."""
    start, end = over_day
    if start != end:
        part = parts_of_day(len(session.depth))
        return base_half_spread(session.spread, spread_noise, over_day, part)
    # From a Friday's rates to those of Monday: the same digits in half the time.
    half = session.spread * spread_noise
    half *= start
    return half


class Sessions:
    """The sessions of market days; days of the same kind, length and UTC offsets share one."""

    def __init__(self, hours: Hours) -> None:
        rolls_on_sunday = hours is Hours.FX  # it opens then, and with wide spreads
        self._session = Lru(24, partial(_session_of, rolls_on_sunday))
        self.on = Lru(_CACHED_DAYS, self._on)  # the session of a market day

    def _on(self, day: int) -> Session:
        start, count = first_cell(day) * 5, cells_in(day)
        offsets = (utc_offset(NEW_YORK, start), utc_offset(NEW_YORK, start + count * 5))
        start_in_week = (start - _MONDAY) % _WEEK
        if start_in_week < _THURSDAY_NIGHT:  # days without a part of a weekend are alike
            start_in_week %= DAY_SECONDS
        return self._session((start_in_week, count, *offsets))


class SpreadNoise:
    """The noise factor of the spread: around one, by pair and cell."""

    def __init__(self, rng: Rng) -> None:
        noise = rng.normals(Purpose.SPREAD, "", 0, _NOISE_PERIOD)
        sums = np.concatenate([[0.0], np.cumsum(np.concatenate([noise, noise[:_SMOOTH]]))])
        smooth = (sums[_SMOOTH:-1] - sums[: -_SMOOTH - 1]) / np.sqrt(_SMOOTH)
        around_one = 1.0 + _NOISE_SIZE * np.clip(smooth, -2.0, 2.0)
        self._values = np.concatenate([around_one, around_one[:_MAX_DAY]])

    def of_day(self, pair: int, cell: int, count: int) -> Floats:
        """Return the noise of a pair at `count` grid points from `cell` on."""
        start = (cell + _STRIDE * pair) % _NOISE_PERIOD
        return self._values[start : start + count]

    def of_cell(self, pairs: int, cell: int) -> Floats:
        """Return the noise of the first `pairs` pairs at one grid point."""
        return self._values[(cell + _STRIDE * np.arange(pairs)) % _NOISE_PERIOD]


class Volatility:
    """The volatility factor of every pair on every day, computed for 64 published days at once.

    factor = (volatility of the day / its mean over the past year) ^ 0.7, between 0.8 and 3

    The volatility is that of the noise (see `covariance`), known from the fixings up to the day's. Over a market day the factor
    goes from that of the day before to its own: it depends on no rate that is still to come.
    """

    def __init__(self, fixings: Fixings, bases: Sequence[int], quotes: Sequence[int]) -> None:
        self._fixings = fixings
        self._bases, self._quotes = list(bases), list(quotes)
        self._daily = Lru(_CACHED_BLOCKS, self._daily_of_block)
        self._factors = Lru(_CACHED_BLOCKS, self._factors_of_block)

    def over(self, day: int) -> tuple[Floats, Floats]:
        """Return the factor of each pair at the start and at the end of a market day."""
        return self._known_at(day - 1), self._known_at(day)

    def _known_at(self, day: int) -> Floats:
        """Return the factor of each pair from the rates up to the fixing of a day."""
        row = int(self._fixings.rows[max(day - self._fixings.first_day, 0)])
        row = min(row, self._fixings.noise.rows - 1)
        return np.asarray(self._factors(row // BLOCK)[row % BLOCK])

    def _factors_of_block(self, block: int) -> Floats:
        volatility = self._daily(block)
        past = np.concatenate([self._past(block - back) for back in range(_YEAR_BLOCKS, 0, -1)])
        sums = np.cumsum(np.concatenate([past, volatility]), axis=0)
        usual = (sums[len(past) :] - sums[: len(volatility)]) / len(past)
        ratio = (volatility / usual) ** _VOLATILITY_EXPONENT
        return np.asarray(np.clip(ratio, _MIN_VOLATILITY_FACTOR, _MAX_VOLATILITY_FACTOR))

    def _past(self, block: int) -> Floats:
        """Return the volatility of a block; of one before the first rates, what was usual then."""
        return self._daily(block) if block >= 0 else np.repeat(self._daily(0)[:1], BLOCK, axis=0)

    def _daily_of_block(self, block: int) -> Floats:
        variances = self._fixings.noise.pair_variances(block, self._bases, self._quotes)
        return np.asarray(np.sqrt(np.maximum(variances, 0.0)))


def aftershock(size: Floats | float, cells_since: Floats | float) -> Floats:
    """Return what a jump of a log size adds to the spread factor so many cells later: exponential decay, 0 before it."""
    widening = np.minimum(np.abs(size) / _FULL_SHOCK, _MAX_SHOCK)
    decay = np.exp(-np.maximum(cells_since, 0.0) / _SHOCK_CELLS)
    return np.asarray(np.where(np.asarray(cells_since) >= 0, widening * decay, 0.0))


def aftershock_factor(steps: Steps, points: Floats) -> Floats:
    """Return the spread factor of a pair's jumps at each grid point of a day."""
    factor = np.ones(len(points))
    for point, size in steps:
        factor += aftershock(size, points - point)
    return factor


class Depth(Struct, frozen=True):
    """The units at each level of an instrument in the most liquid hours."""

    units: tuple[int, ...]

    def at(self, share: float) -> tuple[int, ...]:
        """Return the units at each level in an hour that has `share` of the full depth."""
        return tuple(round(units * share) for units in self.units)


def depth_of(group: Group) -> Depth:
    """Return the depth of the instruments of a group."""
    return Depth(_UNITS[group])


def half_spread_for_units(half: Curve, depth: Depth, share: Floats, units: float) -> Curve:
    """Return the volume-weighted half-spread of `units` over the levels; units beyond all levels pay the last one."""
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


def _session_of(rolls_on_sunday: bool, key: tuple[int, int, int, int]) -> Session:
    start, count, offset, last_offset = key
    seconds = start + np.arange(count + 1, dtype=np.int64) * 5
    changed = (seconds >= _clock_change(last_offset - offset)) & (seconds > start)
    wall = seconds + np.where(changed, last_offset, offset)
    weekend = (wall % _WEEK >= _FRIDAY_CLOSE) & (wall % _WEEK < _SUNDAY_OPEN)
    spread, roll = _by_hour(wall, _SPREAD_BY_HOUR), _roll_proximity(wall)
    depth = np.round(_by_hour(wall, _DEPTH_BY_HOUR), 1)
    if not rolls_on_sunday:
        quiet = wall % _WEEK >= _FRIDAY_CLOSE
        no_roll = wall % _WEEK >= _SATURDAY
        spread = np.where(quiet, np.minimum(spread, _NIGHT_SPREAD), spread)
        depth = np.where(quiet, np.maximum(depth, _NIGHT_DEPTH), depth)
        roll = np.where(no_roll, 0.0, roll)
    spread = spread + _ROLL_WIDENING * roll
    depth = np.where(weekend, depth * _WEEKEND_DEPTH, depth)[:-1]
    return Session(np.where(weekend, spread * _WEEKEND_SPREAD, spread), depth, float(depth.min()))


def _clock_change(difference: int) -> int:
    """Return the second of the week at which New York's clocks change: Sunday 02:00, standard or summer time."""
    return 6 * DAY_SECONDS + (7 if difference > 0 else 6) * 3600


def _by_hour(wall: Integers, profile: tuple[float, ...]) -> Floats:
    hours = np.arange(-1, 25) + 0.5
    return np.interp(wall % DAY_SECONDS / 3600, hours, [profile[-1], *profile, profile[0]])


def _roll_proximity(wall: Integers) -> Floats:
    distance = (wall % DAY_SECONDS - _ROLL).astype(np.float64)
    return np.asarray(
        np.exp(np.where(distance < 0, distance / _BEFORE_ROLL, -distance / _AFTER_ROLL)),
        dtype=np.float64,
    )
