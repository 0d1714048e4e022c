"""The log rate of a currency on the 5-second grid, one market day at a time.

Between the fixing instants of a day the motion is a Brownian bridge (Karatzas and Shreve, "Brownian Motion and Stochastic
Calculus", 5.6.B) whose noise is common to all currencies (see `covariance`): each currency adds up the same streams of steps
with weights of its own, scaled by the variance profile of the day. Then come, where there are any,

- the jump, as steps. After a jump a currency is more volatile for an hour or so: a walk with exponential decay and a standard
  deviation of a fifth of the jump. The step, not the bridge, makes up for that walk, so that it does not reveal its end.
- the levels of known events: between two of them the distance from the drawn path is spread by variance, as in a bridge.

All terms are whole multiples of 2^-50 below 8, which double precision adds without error (see `fixings.GRID`). So crosses agree
to the last bit, and a cross without jumps is drawn at once, not as the difference of two curves.
"""

from collections.abc import Mapping
from functools import cache
from math import log

import numpy as np
from msgspec import Struct, field

from keydesk_practice.market.fixings import GRID, ROOT_SCALE, Fixings, on_grid
from keydesk_practice.market.hours import (
    cells_in,
    first_alike,
    first_cell,
    seconds_of,
    variance_profile,
    weekday,
)
from keydesk_practice.market.jumps import steps_on
from keydesk_practice.market.known_events import KnownEvent, events_on
from keydesk_practice.market.reference import Floats, SmallFloats
from keydesk_practice.market.rng import Lru, Purpose, Rng, Streams

_CACHED_CURVES = 96
_CACHED_STREAMS = 4  # days
PROGRESS_STEP = 2.0**-12
_AFTERSHOCK = 0.2  # standard deviation of the motion after a jump, as a share of the jump
_AFTERSHOCK_CELLS = 720  # time constant: an hour


class Curve(Struct, frozen=True):
    """One quantity, usually a log price, over a market day: linear within each cell, with steps at jumps.

    A value is given at each grid point, that of the next fixing included. At a step the given value is the one after it; the
    one before it is kept in `before`. So within a cell a curve runs from the point at its start to the value just before its
    end.
    """

    points: Floats
    before: Mapping[int, float] = field(default_factory=dict)  # value before a step, by grid point

    @property
    def starts(self) -> Floats:
        """Return the value at the start of each cell."""
        return self.points[:-1]

    @property
    def ends(self) -> Floats:
        """Return the value just before the end of each cell."""
        if not self.before:
            return self.points[1:]
        ends = self.points[1:].copy()
        for point, value in self.before.items():
            ends[point - 1] = value
        return ends

    def just_before(self, point: int) -> float:
        """Return the value at a grid point at the end of the cell before it."""
        value = self.before.get(point)
        return float(self.points[point]) if value is None else value

    def plus(self, other: "Curve") -> "Curve":
        """Return the sum of two curves of the same day."""
        return self._combined(other, self.points + other.points, 1.0)

    def minus(self, other: "Curve") -> "Curve":
        """Return the difference of two curves of the same day."""
        return self._combined(other, self.points - other.points, -1.0)

    def negated(self) -> "Curve":
        """Return the curve of the inverse price."""
        return Curve(-self.points, {point: -value for point, value in self.before.items()})

    def _combined(self, other: "Curve", points: Floats, sign: float) -> "Curve":
        if not self.before and not other.before:
            return Curve(points)
        steps = {*self.before, *other.before}
        return Curve(
            points,
            {at: self.just_before(at) + sign * other.just_before(at) for at in steps},
        )


class ScaledProfile(Struct, frozen=True):
    """A variance profile in whole numbers."""

    root: Floats  # volatility of each cell, times the grid
    progress: Floats  # steps of progress at each grid point


def scaled_profile(weekday: int, cells: int) -> ScaledProfile:
    """Return the variance profile of a market day in whole numbers."""
    return _scaled_profile(first_alike(weekday), cells)


@cache
def _scaled_profile(weekday: int, cells: int) -> ScaledProfile:
    profile = variance_profile(weekday, cells)
    return ScaledProfile(
        np.rint(profile.root * ROOT_SCALE) * GRID, np.rint(profile.progress / PROGRESS_STEP)
    )


class CurrencyPaths:
    """The paths of all currencies against the euro, drawn on demand and cached."""

    def __init__(self, fixings: Fixings, rng: Rng) -> None:
        self._fixings = fixings
        self._rng = rng
        self._curve = Lru(_CACHED_CURVES, self._draw_curve)
        self.streams: Lru[int, Streams] = Lru(
            _CACHED_STREAMS, lambda day: rng.streams(Purpose.PATH, day, cells_in(day))
        )

    def curve(self, day: int, column: int) -> Curve:
        """Return the log rate of a currency over a market day."""
        return self._curve((day, column))

    def jump_size(self, day: int, column: int) -> float:
        """Return the log size of a currency's jump within a market day, usually zero."""
        return float(self._fixings.jumps[day - self._fixings.first_day, column])

    def excursions(self, day: int, column: int) -> list[tuple[int, float]]:
        """Return grid point and log size of the known events of a currency that the fixings do not show."""
        start = first_cell(day)
        return [
            (seconds_of(one.steps[0][0]) // 5 - start, one.excursion)
            for one in self._events_with_levels(day, column)
        ]

    def cross(self, day: int, base: int, quote: int) -> Curve:
        """Return the log rate of one currency against another over a market day."""
        if (day, base) in self._curve and (day, quote) in self._curve:
            return self.curve(day, quote).minus(self.curve(day, base))
        if events_on(day) or self.jump_size(day, base) or self.jump_size(day, quote):
            return self.curve(day, quote).minus(self.curve(day, base))
        interval = self._fixings.interval(day)
        place = day - interval.first_day
        start, end = (
            interval.logs[place : place + 2, quote] - interval.logs[place : place + 2, base]
        )
        weights = interval.weights[quote] - interval.weights[base]
        return Curve(self._bridge(day, weights, float(start), float(end)))

    def _events_with_levels(self, day: int, column: int) -> list[KnownEvent]:
        currency = self._fixings.currencies[column]
        events = events_on(day) if self._fixings.published else ()
        return [one for one in events if one.levels and one.currency == currency]

    def _draw_curve(self, key: tuple[int, int]) -> Curve:
        day, column = key
        interval = self._fixings.interval(day)
        place = day - interval.first_day
        start, end = interval.logs[place : place + 2, column]
        jump = self.jump_size(day, column)
        points = self._bridge(day, interval.weights[column], float(start), float(end) - jump)
        steps = self._add_jump(points, day, column) if jump else {}
        for event in self._events_with_levels(day, column):
            self._lead_through_levels(points, day, event)
        points[-1] = end
        return Curve(points, {at: float(points[at]) - size for at, size in steps.items()})

    def _bridge(self, day: int, weights: SmallFloats, start: float, end: float) -> Floats:
        """Return a walk from `start` to `end` that adds up the streams of a day with whole weights."""
        scaled = scaled_profile(weekday(day), cells_in(day))
        total = self.streams(day).weighted_sum(weights)
        walk = np.empty(len(total) + 1)
        walk[0] = start
        np.multiply(total, scaled.root, out=walk[1:])
        np.add.accumulate(walk, out=walk)
        rest = (end - float(walk[-1])) * PROGRESS_STEP
        walk += scaled.progress * rest
        return walk

    def _add_jump(self, points: Floats, day: int, column: int) -> dict[int, float]:
        """Add a currency's jump to its path; return the steps by grid point."""
        unrest, sizes = self._jump(day, column, len(points))
        steps = {at: float(on_grid(np.array(size))) for at, size in sizes.items()}
        points += on_grid(unrest)
        for at, size in steps.items():
            points[at:] += size
        return steps

    def _jump(self, day: int, column: int, count: int) -> tuple[Floats, dict[int, float]]:
        """Return the walk after a currency's jump and the steps: its own, and beta times those of its parent."""
        parent = self._fixings.model.parents[column]
        unrest, steps = np.zeros(count), dict[int, float]()
        own = self.jump_size(day, column)
        if parent >= 0 and (of_parent := self.jump_size(day, parent)):
            beta = self._fixings.beta(day, column)
            inherited, sizes = self._jump(day, parent, count)
            unrest, steps = beta * inherited, {at: beta * size for at, size in sizes.items()}
            own -= beta * of_parent
        if own:
            walk = self._aftershock_walk(day, column, count) * own
            unrest += walk
            for at, share in steps_on(day, self._rng):
                steps[at] = steps.get(at, 0.0) + share * (own - float(walk[-1]))
        return unrest, steps

    def _aftershock_walk(self, day: int, column: int, count: int) -> Floats:
        """Return the walk after a jump of size one."""
        first = steps_on(day, self._rng)[0][0]
        fading = np.exp(-np.arange(count - first - 1) / _AFTERSHOCK_CELLS)
        fading *= _AFTERSHOCK / np.sqrt(np.cumsum(fading**2)[-1])
        name = self._fixings.currencies[column]
        fading *= self._rng.normals(Purpose.AFTERSHOCK, name, day, len(fading))
        return np.concatenate([np.zeros(first + 1), np.cumsum(fading)])

    def _lead_through_levels(self, points: Floats, day: int, event: KnownEvent) -> None:
        currencies = (*self._fixings.currencies, "EUR")
        base, _, quote = event.pair.partition("_")
        sign = 1.0 if quote == event.currency else -1.0
        other = currencies.index(base if quote == event.currency else quote)
        others = self.curve(day, other).points if other < len(currencies) - 1 else np.zeros(1)
        progress = variance_profile(weekday(day), cells_in(day)).progress
        at = [seconds_of(moment) // 5 - first_cell(day) for moment, _ in event.levels]
        distances = [
            sign * log(price) + float(others[point % len(others)]) - float(points[point])
            for point, (_, price) in zip(at, event.levels, strict=True)
        ]
        known = [0, *at, len(points) - 1]
        points += on_grid(np.interp(progress, progress[known], [0.0, *distances, 0.0]))
