"""The crosshair of a chart: a candle and a price, how keys move them, and what the legend says of them.

The candle is kept by its time: candles that are loaded in front of it, or dropped, do not move it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo
from decimal import Decimal

from keydesk.chart.canvas import Run
from keydesk.chart.scale import EIGHTHS, REACH, Scale, range_of, round_step
from keydesk.chart.scene import Cursor
from keydesk.panes.strips.instrument import LOT, pip_value
from keydesk.store.state import Candle
from keydesk.store.store import Store
from keydesk.text import format as show
from keydesk.text.sanitize import clean_name, safe
from keydesk.widgets.theme import role_of_sign

STEPS_IN_A_ROW = 2.5  # at most: a step of the price is seen, or nearly


@dataclass(frozen=True, slots=True)
class Crosshair:
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

    def by_steps(self, shown: Sequence[Candle], scale: Scale, pip: float, count: int) -> Crosshair:
        """Return it some price steps higher, on a round price, within reach of the candles shown."""
        step = price_step(scale, pip)
        low, high = range_of(shown, pip)
        reach = (high - low) * REACH
        lowest, highest = max(step, low - reach), high + reach
        price = (round(self.price / step) + count) * step
        if price > highest:
            price = highest // step * step
        elif price < lowest:
            price = -(-lowest // step) * step
        return replace(self, price=price)


def price_step(scale: Scale, pip: float) -> float:
    """Return the step of the price: round, no smaller than a pip, and no more than a row of the chart where it can."""
    row = EIGHTHS / scale.factor if scale.factor else pip
    return max(pip, round_step(row / STEPS_IN_A_ROW, pip))


def crosshair_at(candle: Candle, price: float, scale: Scale, pip: float) -> Crosshair:
    """Return the crosshair as it appears: on a candle, at the round price next to a price."""
    step = price_step(scale, pip)
    return Crosshair(candle.time_ns, round(price / step) * step)


@dataclass(frozen=True, slots=True)
class Measure:
    """What the legend counts in."""

    decimals: int
    pip: float
    zone: tzinfo
    this_year: int
    seconds: int  # length of a candle


def legend(
    candle: Candle, price: float, last: float, measure: Measure, money: str
) -> tuple[tuple[Run, ...], ...]:
    """Return the groups of the legend: time, distance to the last price, the candle's prices, its change and range."""
    digits, pip = measure.decimals, measure.pip
    distance, change = _pips(price - last, pip), _pips(candle.close - candle.open, pip)
    prices = (("O", candle.open), ("H", candle.high), ("L", candle.low), ("C", candle.close))
    named: list[Run] = []
    for name, each in prices:
        named += [(name, "faint"), (f"{each:.{digits}f}{'' if name == 'C' else ' '}", "plain")]
    behind = (f" {money}", "muted") if money else ("", "")
    return (
        ((_time(candle.time_ns, measure), "bright"),),
        ((f"{distance}p", "cursor"), behind, (" from last", "faint")),
        tuple(named),
        (("change ", "faint"), (f"{change}p", role_of_sign(change))),
        (("range ", "faint"), (f"{_pips(candle.high - candle.low, pip).lstrip('+')}p", "muted")),
    )


def money_of(store: Store, instrument: str, pips: float, units: Decimal | None) -> str:
    """Return what so many pips are worth for a size, with the account's currency; empty while it is not known."""
    value = pip_value(store, instrument)
    if value is None or units is None or store.account is None:
        return ""
    worth = value * units / LOT * Decimal(f"{abs(pips):.1f}")
    return safe(f"{show.money(worth)} {clean_name(store.account.currency)}")


def _time(time_ns: int, measure: Measure) -> str:
    at = show.at(time_ns, measure.zone)
    year = "" if at.year == measure.this_year else f" {at.year}"
    clock = f"{at:%H:%M:%S}" if measure.seconds % 60 else f"{at:%H:%M}"
    return f"{at.day} {at:%b}{year} {clock} {at.tzname() or ''}".rstrip()


def _pips(distance: float, pip: float) -> str:
    pips = round(distance / pip, 1)
    return f"{pips:+,.1f}".replace("-", show.MINUS) if pips else "0.0"
