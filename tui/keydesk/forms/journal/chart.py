"""The small chart of a trade: candles around it, its way from entry to exit, its stop."""

import math
from collections.abc import Sequence
from datetime import tzinfo
from decimal import Decimal
from typing import NamedTuple

from msgspec import Struct

from keydesk.calc.market.granularity import SECONDS
from keydesk.calc.trade_journal.trades import Execution, JournalTrade
from keydesk.chart.glyphs import CandleStyle
from keydesk.chart.picture import Picture
from keydesk.chart.price_axis import PriceLine
from keydesk.chart.scene import Overlay, Scene
from keydesk.forms.modal_form import TextLine, as_lines
from keydesk.store.state import Candle
from keydesk.text.format import at
from keydesk.widgets.theme import signed_role
from keydesk_client.arithmetic.constants import SECOND

WANTED = 64  # candles at most
PADDING = 4  # a part of the time held, before and after it
LEAST_PADDING = 8  # candles
SHORTEST_NS = 60 * SECOND
FULL_PITCH = 2  # columns of a candle with a gap


class ChartRange(NamedTuple):
    """The candles that a chart of a trade needs."""

    granularity: str
    from_ns: int
    to_ns: int


def range_of(trade: JournalTrade, now_ns: int) -> ChartRange:
    """Return the shortest candles of which not too many cover the trade and some time around it."""
    closed = trade.closed_ns if trade.is_closed and trade.closed_ns is not None else now_ns
    held = max(closed - trade.opened_ns, SHORTEST_NS)
    fitting = [name for name in SECONDS if _around(held, name) * 2 + held <= WANTED * _step(name)]
    name = fitting[0] if fitting else list(SECONDS)[-1]
    step, around = _step(name), _around(held, name)
    end = min(closed + around, now_ns)  # none is of the future
    return ChartRange(name, (trade.opened_ns - around) // step * step, end)


def _step(name: str) -> int:
    return SECONDS[name] * SECOND


def _around(held: int, name: str) -> int:
    """Return the time shown before and after the trade."""
    return max(held // PADDING, LEAST_PADDING * _step(name))


class TradeChart(Struct, frozen=True):
    """What the chart is drawn from."""

    trade: JournalTrade
    candles: Sequence[Candle]
    seconds: int  # length of a candle
    decimals: int
    pip: float
    zone: tzinfo
    ascii_only: bool = False
    is_mono: bool = False

    def lines(self, width: int, height: int) -> list[TextLine]:
        """Return the rows of the chart."""
        candles = self.candles
        roomy = len(candles) * FULL_PITCH + 12 < width
        scene = Scene(
            candles=candles,
            end=len(candles),
            width=width,
            height=height,
            seconds=self.seconds,
            last=candles[-1].close,
            decimals=self.decimals,
            pip=self.pip,
            look=CandleStyle(
                gap=1 if roomy else 0, hollow=self.is_mono, ascii_only=self.ascii_only
            ),
            zone=self.zone,
            this_year=at(candles[-1].time_ns, self.zone).year,
            is_live=False,
            lines=self._prices(),
            overlays=(Overlay("", "focus", self._way()),),
            legend=((("entry to exit", "focus"),),),
            braille=not self.ascii_only,
        )
        picture = Picture()
        picture.show(scene)
        return as_lines(picture.rows)

    def _prices(self) -> tuple[PriceLine, ...]:
        trade = self.trade
        lines = [PriceLine(float(trade.entry_price), "entry", "entry")]
        if trade.initial_stop is not None:
            lines.append(PriceLine(float(trade.initial_stop), "stop", "stop"))
        if trade.exit_price is not None:
            role = signed_role(trade.result, zero="loss")
            lines.append(PriceLine(float(trade.exit_price), "exit", role))
        return tuple(lines)

    def _way(self) -> list[float]:
        """Return the price between the fills at each candle, NaN before the entry and after the last exit."""
        trade = self.trade
        points = _by_time([*trade.entries, *trade.exits])
        if not trade.is_closed:
            newest = self.candles[-1]
            points.append((newest.time_ns + self.seconds * SECOND, newest.close))
        step = self.seconds * SECOND
        places = [((time - self.candles[0].time_ns) // step, price) for time, price in points]
        times = [(each.time_ns - self.candles[0].time_ns) // step for each in self.candles]
        return [_between(places, time) for time in times]


def _by_time(executions: Sequence[Execution]) -> list[tuple[int, float]]:
    return [(each.time_ns, float(each.price)) for each in sorted(executions, key=_time)]


def _time(execution: Execution) -> int:
    return execution.time_ns


def _between(places: Sequence[tuple[int, float]], time: int) -> float:
    """Return the price at a time on the way from point to point."""
    if time < places[0][0] or time > places[-1][0]:
        return math.nan
    before = max((each for each in places if each[0] <= time), key=_place)
    after = min((each for each in places if each[0] >= time), key=_place)
    if after[0] == before[0]:
        return after[1]
    share = (time - before[0]) / (after[0] - before[0])
    return before[1] + share * (after[1] - before[1])


def _place(point: tuple[int, float]) -> int:
    return point[0]


def decimals_of(trade: JournalTrade) -> int:
    """Return the decimals of the trade's prices."""
    prices: list[Decimal] = [each.price for each in (*trade.entries, *trade.exits)]
    return max(0, *(-int(each.as_tuple().exponent) for each in prices))
