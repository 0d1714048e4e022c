"""The log rate of a currency on the 5-second grid, one market day at a time.

Between the fixing instants of a day the motion is a Brownian bridge: a random walk W of normal steps, scaled by the currency's
residual volatility and the variance profile of the day, pinned to the move of the day,

    own(t) = move * u(t) + size * (W(t) - u(t) * W(1)),      u(t) the share of the day's variance up to t

(Karatzas and Shreve, "Brownian Motion and Stochastic Calculus", 5.6.B). Added to it are beta times the motion of the parent
(see `jumps.FactorModel`) and the jump as steps. After a jump of its own a currency is more volatile for an hour or so: extra
variance with exponential decay and a standard deviation of a fifth of the jump.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from keydesk_practice.market.fixings import Fixings
from keydesk_practice.market.hours import (
    VarianceProfile,
    cells_in,
    variance_profile,
    weekday,
    with_variance,
)
from keydesk_practice.market.jumps import steps_on
from keydesk_practice.market.reference import Floats
from keydesk_practice.market.rng import Lru, Purpose, Rng

_CACHED_CURVES = 96
_CACHED_MOTIONS = 24
_AFTERSHOCK = 0.2  # standard deviation of the motion after a jump, as a share of the jump
_AFTERSHOCK_CELLS = 720  # time constant: an hour


@dataclass(frozen=True, slots=True)
class Curve:
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


class CurrencyPaths:
    """The paths of all currencies against the euro, drawn on demand and cached."""

    def __init__(self, fixings: Fixings, rng: Rng) -> None:
        self._fixings = fixings
        self._rng = rng
        self._curve = Lru(_CACHED_CURVES, self._draw_curve)
        self._motion = Lru(_CACHED_MOTIONS, self._draw_motion)

    def curve(self, day: int, column: int) -> Curve:
        """Return the log rate of a currency over a market day."""
        return self._curve((day, column))

    def jump_size(self, day: int, column: int) -> float:
        """Return the log size of a currency's jump within a market day, usually zero."""
        return float(self._fixings.jumps[day - self._fixings.first_day, column])

    def _draw_curve(self, key: tuple[int, int]) -> Curve:
        day, column = key
        row = day - self._fixings.first_day
        has_children = column in self._fixings.model.parents
        motion = self._motion(key) if has_children else self._draw_motion(key)
        points = motion + self._fixings.logs[row, column]
        jump = self.jump_size(day, column)
        before = self._apply_steps(points, day, jump) if jump else {}
        points[-1] = self._fixings.logs[row + 1, column]
        return Curve(points, before)

    def _apply_steps(self, points: Floats, day: int, jump: float) -> dict[int, float]:
        before = {}
        for point, share in steps_on(day, self._rng):
            before[point] = float(points[point])
            points[point:] += share * jump
        return before

    def _draw_motion(self, key: tuple[int, int]) -> Floats:
        """Return the motion without the jump: the bridge of the currency's own motion and beta times that of its parent."""
        day, column = key
        parent = self._fixings.model.parents[column]
        if parent < 0:
            return self._own_motion(
                day, column, self._move(day, column), self.jump_size(day, column)
            )
        beta = self._fixings.beta(day, column)
        move = self._move(day, column) - beta * self._move(day, parent)
        jump = self.jump_size(day, column) - beta * self.jump_size(day, parent)
        own = self._own_motion(day, column, move, jump)
        own += beta * self._motion((day, parent))
        return own

    def _move(self, day: int, column: int) -> float:
        row = day - self._fixings.first_day
        logs = self._fixings.logs
        return float(logs[row + 1, column] - logs[row, column]) - self.jump_size(day, column)

    def _own_motion(self, day: int, column: int, move: float, jump: float) -> Floats:
        size = self._fixings.residual(day, column)
        profile = self._variance_profile(day, jump / size)
        name = self._fixings.currencies[column]
        steps = self._rng.normals(Purpose.PATH, name, day, len(profile.root))
        steps *= profile.root
        walk = np.zeros(len(steps) + 1)
        np.cumsum(steps, out=walk[1:])
        walk *= size
        walk += profile.progress * (move - walk[-1])
        return walk

    def _variance_profile(self, day: int, jump: float) -> VarianceProfile:
        profile = variance_profile(weekday(day), cells_in(day))
        if abs(jump) < 1:
            return profile
        point = steps_on(day, self._rng)[0][0]
        shock = np.zeros(len(profile.variance))
        shock[point:] = profile.variance[point:] * np.exp(
            -np.arange(len(shock) - point) / _AFTERSHOCK_CELLS
        )
        return with_variance(profile.variance + shock * ((_AFTERSHOCK * jump) ** 2 / shock.sum()))
