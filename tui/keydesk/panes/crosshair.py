"""The crosshair of a chart: a candle and a price, and how keys move them.

The candle is kept by its time: candles that are loaded in front of it, or dropped, do not move it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from math import ceil, floor

from msgspec import Struct
from msgspec.structs import replace

from keydesk.chart.scale import EIGHTHS, REACH, Scale, range_of, round_step
from keydesk.chart.scene import Cursor
from keydesk.store.state import Candle

SAME = 0.01  # pips within which two prices are one
STEPS_IN_A_ROW = 2.5  # at most: a step of the price is seen, or nearly


class Crosshair(Struct, frozen=True):
    """The time of a candle, and a price."""

    time_ns: int
    price: float

    def index(self, candles: Sequence[Candle]) -> int:
        """Return the index of its candle, or of the last one before its time."""
        behind = bisect_right(candles, self.time_ns, key=lambda each: each.time_ns)
        return max(0, behind - 1)

    def cursor(self, candles: Sequence[Candle]) -> Cursor:
        """Return where it stands among the candles of a scene."""
        return Cursor(self.index(candles), self.price)

    def by_candles(self, candles: Sequence[Candle], count: int) -> Crosshair:
        """Return it some candles further, as far as there are any."""
        at = max(0, min(len(candles) - 1, self.index(candles) + count))
        return replace(self, time_ns=candles[at].time_ns)

    def by_steps(
        self,
        shown: Sequence[Candle],
        scale: Scale,
        pip: float,
        count: int,
        levels: Sequence[float] = (),
    ) -> Crosshair:
        """Return it some price steps higher, on a round price, within reach of the candles shown.

        It stops at the first of the levels on its way.
        """
        step = price_step(scale, pip)
        low, high = range_of(shown, pip)
        reach = (high - low) * REACH
        lowest, highest = max(step, min(low - reach, scale.low)), max(high + reach, scale.high)
        steps = self.price / step
        if abs(steps - round(steps)) < SAME * pip / step:
            start = round(steps)
        else:  # on a level: the next round price is a step away
            start = floor(steps) if count > 0 else ceil(steps)
        price = (start + count) * step
        if price > highest:
            price = highest // step * step
        elif price < lowest:
            price = -(-lowest // step) * step
        return replace(self, price=self._first_on_the_way(levels, price, SAME * pip))

    def _first_on_the_way(self, levels: Sequence[float], price: float, same: float) -> float:
        """Return the first level between here and a price, else that price."""
        low, high = min(self.price, price) - same, max(self.price, price) + same
        passed = [each for each in levels if low <= each <= high and abs(each - self.price) > same]
        return min(passed, key=lambda each: abs(each - self.price), default=price)


def price_step(scale: Scale, pip: float) -> float:
    """Return the step of the price: round, no smaller than a pip, and no more than a row of the chart where it can."""
    row = EIGHTHS / scale.factor if scale.factor else pip
    return max(pip, round_step(row / STEPS_IN_A_ROW, pip))


def crosshair_at(candle: Candle, price: float, scale: Scale, pip: float) -> Crosshair:
    """Return the crosshair as it appears: on a candle, at the round price next to a price."""
    step = price_step(scale, pip)
    return Crosshair(candle.time_ns, round(price / step) * step)
