"""How far bid and ask stand from the mid: the log half-spread of a pair on the grid.

    half = typical x session x flicker x turbulence x aftershock

`typical` is half the pair's usual spread as a share of its price, `session` the hour's profile, `flicker` a slow noise of
some ten percent, `turbulence` the pair's restlessness, and `aftershock` the minutes after a jump. It is given at the grid
points and straight between them; so log bid and log ask are straight too, and candles of bid and ask find their extremes
at grid points like those of the mid.
"""

from collections.abc import Sequence

import numpy as np

from keydesk_practice.market.chance import Chance, Purpose
from keydesk_practice.market.curve import Curve
from keydesk_practice.market.reference import Floats

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
