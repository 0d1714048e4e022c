"""The log rate of a currency on the 5-second grid, one market day at a time.

Between the fixing instants of a day the motion is a Brownian bridge: a free walk W of normal steps, sized by the currency's
own recent volatility and the pace of the hours, less the part of W that leads away from where the day must end,

    own(t) = move * u(t) + size * (W(t) - u(t) * W(1)),      u(t) the share of the day's variance spent by t,

(Karatzas and Shreve, "Brownian Motion and Stochastic Calculus", 5.6.B). To it comes what the currency follows of its parent
(see `moves`) and the jump as steps. After a jump of its own a currency is restless for an hour or so: extra variance that
dies away, with a standard deviation of a fifth of the jump.

A line through the grid points of one market day: straight within each cell, with steps between cells where there are jumps.

A value is given at each grid point, that of the next fixing included. At a step the value given is the one after it; the one
before it is kept beside. So within a cell a curve runs from the point at its start to the value just before its end.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from keydesk_practice.market.fixings import Anchors
from keydesk_practice.market.hours import Pace, cells_in, pace_of, weekday, with_variance
from keydesk_practice.market.jumps import steps_on
from keydesk_practice.market.reference import Floats
from keydesk_practice.market.rng import Chance, Purpose, Recent


@dataclass(frozen=True, slots=True)
class Curve:
    """One quantity, usually a log price, over a market day."""

    points: Floats
    before: Mapping[int, float] = field(
        default_factory=dict
    )  # value just before a step, by grid point

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
        """Return the value at a grid point as seen from the cell that ends there."""
        value = self.before.get(point)
        return float(self.points[point]) if value is None else value

    def plus(self, other: "Curve") -> "Curve":
        """Return the sum of two curves of the same day."""
        return self._joined(other, self.points + other.points, 1.0)

    def minus(self, other: "Curve") -> "Curve":
        """Return the difference of two curves of the same day."""
        return self._joined(other, self.points - other.points, -1.0)

    def negated(self) -> "Curve":
        """Return the curve of the inverse price."""
        return Curve(-self.points, {point: -value for point, value in self.before.items()})

    def _joined(self, other: "Curve", points: Floats, sign: float) -> "Curve":
        if not self.before and not other.before:
            return Curve(points)
        steps = {*self.before, *other.before}
        return Curve(
            points,
            {at: self.just_before(at) + sign * other.just_before(at) for at in steps},
        )


_KEPT_CURVES = 96
_KEPT_MOTIONS = 24
_AFTERSHOCK = 0.2  # standard deviation of what follows a jump, as a share of the jump
_AFTERSHOCK_CELLS = 720  # it dies away within hours: by a factor of e each hour


class CurrencyPaths:
    """The paths of all currencies against the euro, drawn when asked for and remembered for a while."""

    def __init__(self, anchors: Anchors, chance: Chance) -> None:
        self._anchors = anchors
        self._chance = chance
        self._curve = Recent(_KEPT_CURVES, self._draw_curve)
        self._motion = Recent(_KEPT_MOTIONS, self._draw_motion)

    def curve(self, day: int, column: int) -> Curve:
        """Return the log rate of a currency over a market day."""
        return self._curve((day, column))

    def jumped(self, day: int, column: int) -> float:
        """Return the log size of a currency's jump within a market day, nearly always zero."""
        return float(self._anchors.jumps[day - self._anchors.first_day, column])

    def _draw_curve(self, key: tuple[int, int]) -> Curve:
        day, column = key
        row = day - self._anchors.first_day
        has_children = column in self._anchors.moves.parents
        motion = self._motion(key) if has_children else self._draw_motion(key)
        points = motion + self._anchors.logs[row, column]
        jump = self.jumped(day, column)
        before = self._take_steps(points, day, jump) if jump else {}
        points[-1] = self._anchors.logs[row + 1, column]
        return Curve(points, before)

    def _take_steps(self, points: Floats, day: int, jump: float) -> dict[int, float]:
        before = {}
        for point, share in steps_on(day, self._chance):
            before[point] = float(points[point])
            points[point:] += share * jump
        return before

    def _draw_motion(self, key: tuple[int, int]) -> Floats:
        """Everything but the jump: the bridge of the currency's own motion, and what it follows of its parent."""
        day, column = key
        parent = self._anchors.moves.parents[column]
        if parent < 0:
            return self._own_motion(day, column, self._move(day, column), self.jumped(day, column))
        follow = self._anchors.follow(day, column)
        move = self._move(day, column) - follow * self._move(day, parent)
        jump = self.jumped(day, column) - follow * self.jumped(day, parent)
        own = self._own_motion(day, column, move, jump)
        own += follow * self._motion((day, parent))
        return own

    def _move(self, day: int, column: int) -> float:
        row = day - self._anchors.first_day
        logs = self._anchors.logs
        return float(logs[row + 1, column] - logs[row, column]) - self.jumped(day, column)

    def _own_motion(self, day: int, column: int, move: float, jump: float) -> Floats:
        size = self._anchors.own(day, column)
        pace = self._pace(day, jump / size)
        name = self._anchors.currencies[column]
        steps = self._chance.normals(Purpose.PATH, name, day, len(pace.root))
        steps *= pace.root
        walk = np.zeros(len(steps) + 1)
        np.cumsum(steps, out=walk[1:])
        walk *= size
        walk += pace.progress * (move - walk[-1])
        return walk

    def _pace(self, day: int, jump: float) -> Pace:
        pace = pace_of(weekday(day), cells_in(day))
        if abs(jump) < 1:
            return pace
        point = steps_on(day, self._chance)[0][0]
        shock = np.zeros(len(pace.variance))
        shock[point:] = pace.variance[point:] * np.exp(
            -np.arange(len(shock) - point) / _AFTERSHOCK_CELLS
        )
        return with_variance(pace.variance + shock * ((_AFTERSHOCK * jump) ** 2 / shock.sum()))
