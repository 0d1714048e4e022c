"""The prices that a chart marks: own entries, stops, targets and orders, and those of the trading day."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from keydesk.chart.canvas import Run
from keydesk.chart.price_axis import PriceLine, PriceMark
from keydesk.panes.price_cells import role_of_sign, shape_of
from keydesk.panes.watch_order import day_change
from keydesk.records import DependentOrder, TradeRow
from keydesk.store.store import Store
from keydesk.text import format as show

ENTRY_WORDS: Mapping[str, str] = {
    "LIMIT": "limit",
    "STOP": "stop entry",
    "MARKET_IF_TOUCHED": "if touched",
}


def own_lines(store: Store, instrument: str) -> tuple[PriceLine, ...]:
    """Return the lines of open trades and resting orders of an instrument."""
    found: list[PriceLine] = []
    for trade in store.trades.values():
        if trade.instrument == instrument:
            found += _lines_of_trade(trade)
    for order in store.orders.values():
        words = ENTRY_WORDS.get(order.type)
        if order.instrument == instrument and words is not None and order.price is not None:
            found.append(PriceLine(float(order.price), words, "pending"))
    return tuple(found)


def _lines_of_trade(trade: TradeRow) -> Iterable[PriceLine]:
    yield PriceLine(float(trade.price), "entry", "entry")
    dependents: tuple[tuple[DependentOrder | None, str, str], ...] = (
        (trade.stop_loss, "stop", "stop"),
        (trade.guaranteed_stop, "guaranteed", "stop"),
        (trade.trailing_stop, "trail", "stop"),
        (trade.take_profit, "target", "target"),
    )
    for order, words, role in dependents:
        if order is not None and order.price is not None:
            yield PriceLine(float(order.price), words, role)


def day_marks(store: Store, instrument: str) -> tuple[PriceMark, ...]:
    """Return the marks of the trading day: its high and low, and the previous close."""
    day = store.days.get(instrument)
    if day is None:
        return ()
    return (
        PriceMark(float(day.high), "high"),
        PriceMark(float(day.low), "low"),
        PriceMark(float(day.previous_close), "close"),
    )


def day_legend(store: Store, instrument: str) -> tuple[tuple[Run, ...], ...]:
    """Return the groups of the legend about the trading day."""
    day, shape = store.days.get(instrument), shape_of(store, instrument)
    if day is None:
        return ()
    change = show.percent(day_change(store, instrument), signed=True)
    return (
        (("day ", "faint"), (f"{change}%", role_of_sign(change))),
        (("high ", "faint"), (shape.write(day.high), "muted")),
        (("low ", "faint"), (shape.write(day.low), "muted")),
    )
