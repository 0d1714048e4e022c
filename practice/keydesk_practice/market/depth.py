"""What stands behind the best price: four levels a side, and what a size of units costs through them.

The levels stand at fixed multiples of the half-spread, so they widen together; their size follows the hour.
"""

from dataclasses import dataclass

import numpy as np

from keydesk_practice.market.curve import Curve
from keydesk_practice.market.listing import Group
from keydesk_practice.market.reference import Floats

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
