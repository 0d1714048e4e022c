"""A line through the grid points of one market day: straight within each cell, with steps between cells where there are jumps.

A value is given at each grid point, that of the next fixing included. At a step the value given is the one after it; the one
before it is kept beside. So within a cell a curve runs from the point at its start to the value just before its end.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from keydesk_practice.market.reference import Floats


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
