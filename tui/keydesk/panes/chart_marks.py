"""What a chart draws over its candles: own entries, stops, targets and orders, prices of the trading day, indicators."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from functools import lru_cache

from msgspec import Struct, field

from keydesk.calc.market.indicator_specs import IndicatorSpec
from keydesk.calc.market.indicators import Indicators, IndicatorSeries, PreviousDay, warm_up
from keydesk.calc.orders.fields import ProtectionField
from keydesk.chart.canvas import Run
from keydesk.chart.price_axis import PriceLine, PriceMark, Rank
from keydesk.chart.scene import Overlay, SubPane
from keydesk.store.state import Candle
from keydesk.store.store import Store
from keydesk.tables.watch_figures import day_change
from keydesk.text import format as show
from keydesk.values import DependentOrder, TradeRow, id_order
from keydesk.widgets.price_cells import price_format_of
from keydesk.widgets.theme import role_of_sign
from keydesk_client.arithmetic.constants import ZERO

ENTRY_WORDS: Mapping[str, str] = {
    "LIMIT": "limit",
    "STOP": "stop",
    "MARKET_IF_TOUCHED": "if touched",
}
COLOURS = ("overlay-1", "overlay-2", "overlay-3")  # of averages, in turn
BAND = "band"


def own_lines(store: Store, instrument: str) -> tuple[PriceLine, ...]:
    """Return the lines of open trades and resting orders of an instrument."""
    lines: list[PriceLine] = []
    for trade in store.trades.values():
        if trade.instrument == instrument:
            lines += _lines_of_trade(trade)
    for order in store.orders.values():
        text = ENTRY_WORDS.get(order.type)
        if order.instrument == instrument and text is not None and order.price is not None:
            side = "sell" if (order.units or ZERO) < 0 else "buy"
            fills = "bid" if side == "sell" else "ask"
            lines.append(
                PriceLine(float(order.price), f"{side} {text}", side, Rank.WORKING, side=fills)
            )
    levels = store.alert_levels.get(instrument, ())
    lines += (PriceLine(float(level), "alert", "alert", side=side) for level, side in levels)
    return tuple(lines)


def sides_now(store: Store, instrument: str) -> Mapping[str, float]:
    """Return bid and ask by name, which distances of lines are counted from; empty before there is a quote."""
    quote = store.quotes.get(instrument)
    return {} if quote is None else {"bid": float(quote.bid), "ask": float(quote.ask)}


def level_lines(store: Store, instrument: str, until_ns: int) -> tuple[PriceLine, ...]:
    """Return the lines of the trader's price levels of an instrument, and its rays that begin before a time."""
    return tuple(
        PriceLine(float(each.price), each.name, "plain", Rank.LEVEL, since_ns=each.since_ns)
        for each in store.levels.get(instrument, ())
        if each.since_ns is None or each.since_ns < until_ns
    )


def _lines_of_trade(trade: TradeRow) -> Iterable[PriceLine]:
    side, closes = ("short", "ask") if trade.units < 0 else ("long", "bid")
    size = abs(trade.units)
    yield PriceLine(float(trade.price), side, "entry", in_scale=True, side=closes, units=size)
    dependents: tuple[tuple[DependentOrder | None, str, str], ...] = (
        (trade.stop_loss, "stop", "stop"),
        (trade.guaranteed_stop, "guaranteed", "stop"),
        (trade.trailing_stop, "trail", "stop"),
        (trade.take_profit, "target", "target"),
    )
    for order, text, role in dependents:
        if order is not None and order.price is not None:
            price = float(order.price)
            yield PriceLine(price, text, role, Rank.WORKING, in_scale=True, side=closes)


class OwnLine(Struct, frozen=True):
    """An own price that a form moves: of an entry order, or a level of a trade."""

    price: Decimal
    name: ProtectionField | None  # of a level
    order_id: str
    trade_id: str | None  # None: an entry order


def nearest_line(store: Store, instrument: str, price: Decimal) -> OwnLine | None:
    """Return the own line nearest to a price that can be moved; of several at one price the oldest."""
    return min(
        _movable(store, instrument),
        key=lambda line: (abs(line.price - price), id_order(line.order_id)),
        default=None,
    )


def _movable(store: Store, instrument: str) -> Iterable[OwnLine]:
    for order in store.orders.values():
        if order.instrument == instrument and order.type in ENTRY_WORDS and order.price is not None:
            yield OwnLine(order.price, None, order.id, None)
    for trade in store.trades.values():
        if trade.instrument != instrument:
            continue
        levels: tuple[tuple[DependentOrder | None, ProtectionField], ...] = (
            (trade.stop_loss, "stop"),
            (trade.trailing_stop, "trail"),
            (trade.take_profit, "target"),
        )
        for order_of, name in levels:
            if order_of is not None and order_of.price is not None:
                yield OwnLine(order_of.price, name, order_of.order_id, trade.id)


def day_marks(store: Store, instrument: str) -> tuple[PriceMark, ...]:
    """Return the marks of the trading day: its high and low, and the previous close."""
    day = store.days.get(instrument)
    if day is None:
        return ()
    return (
        PriceMark(float(day.high), "day high"),
        PriceMark(float(day.low), "day low"),
        PriceMark(float(day.previous_close), "prev close"),
    )


def day_legend(store: Store, instrument: str) -> tuple[tuple[Run, ...], ...]:
    """Return the groups of the legend about the trading day."""
    day, shape = store.days.get(instrument), price_format_of(store, instrument)
    if day is None:
        return ()
    change = day_change(store, instrument)
    return _day_groups(change, shape.write(day.high), shape.write(day.low))


@lru_cache(maxsize=16)
def _day_groups(share: Decimal | None, high: str, low: str) -> tuple[tuple[Run, ...], ...]:
    """Return the groups; further charts of the instrument show the same."""
    change = show.percent(share, signed=True) + ("" if share is None else "%")
    return (
        (("day ", "faint"), (change, role_of_sign(change))),
        (("high ", "faint"), (high, "muted"), ("  low ", "faint"), (low, "muted")),
    )


class ChartIndicators(Struct):
    """The indicators of one chart."""

    specs: tuple[IndicatorSpec, ...] = ()
    warm_up: int = 0  # candles before the first one in sight
    overlays: tuple[Overlay, ...] = ()
    sub_panes: tuple[SubPane, ...] = ()
    marks: tuple[PriceMark, ...] = ()
    legend: tuple[tuple[Run, ...], ...] = ()
    _day: PreviousDay | None = None
    _indicators: Indicators = field(default_factory=lambda: Indicators(()))

    def choose(self, specs: tuple[IndicatorSpec, ...]) -> None:
        """Compute other indicators from now on."""
        if specs == self.specs:
            return
        self.specs, self.warm_up = specs, warm_up(specs)
        self._indicators = Indicators(specs)
        computed = self._indicators.refresh([], None)  # their lists of values stay the same ones
        over = [each for each in computed if not each.spec.in_sub_pane]
        lines = [line for number, each in enumerate(over) for line in _lines(each, number)]
        self.overlays = tuple(lines)
        self.sub_panes = tuple(_sub_pane(each) for each in computed if each.spec.in_sub_pane)
        self.legend = tuple(((each.name, each.role),) for each in lines if each.name)
        self.marks, self._day = (), None

    def refresh(self, candles: Sequence[Candle], day: PreviousDay | None) -> None:
        """Compute the values of the candles; of a series as before, only those that changed."""
        if not self.specs:
            return
        computed = self._indicators.refresh(candles, day)
        if day != self._day:
            self._day = day
            self.marks = tuple(
                PriceMark(level.price, level.name) for each in computed for level in each.levels
            )


def _lines(series: IndicatorSeries, number: int) -> list[Overlay]:
    """Return the lines of an indicator over the candles; the first one carries its name."""
    colour = COLOURS[number % len(COLOURS)] if series.spec.kind in ("ema", "sma") else BAND
    return [
        Overlay(series.spec.name if i == 0 else "", colour, line.values)
        for i, line in enumerate(series.lines)
    ]


def _sub_pane(series: IndicatorSeries) -> SubPane:
    lines = [
        ("band" if line.role == "signal" else COLOURS[0], line.values)
        for line in series.lines
        if line.role != "histogram"
    ]
    bars = next((line.values for line in series.lines if line.role == "histogram"), ())
    return SubPane(series.spec.name, lines, bars, series.guides, series.bounds)
