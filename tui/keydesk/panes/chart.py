"""The candle chart of the focused instrument, with entries, stops, targets and pending orders as lines."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, tzinfo
from decimal import Decimal
from typing import ClassVar

from textual.binding import BindingType
from textual.message import Message

from keydesk.keys.keymap import CHART, KEYMAP
from keydesk.panes.price_cells import Shape, prices_are_old, role_of_sign, shape_of
from keydesk.panes.watch_order import day_change
from keydesk.records import DependentOrder
from keydesk.store.frame import Frame
from keydesk.store.state import CandleSeries, Topic
from keydesk.store.store import Store
from keydesk.text import format as show
from keydesk.text.sanitize import safe
from keydesk.widgets import candles
from keydesk.widgets.candles import PriceLine, Scale, View
from keydesk.widgets.lines import Heading, LinePane, Run, Tab

STEPS = (1, 2, 3)  # columns a candle
WIDE = 70  # a plot this wide gives every candle its own gap
LEGEND_FROM = 14  # rows from which on one shows the day's figures
TAGS = (4, 7)  # columns for words such as SL behind a price: narrow, wide
ROOMY = 48
JUMP = 10
PACE = 0.2  # seconds between two redraws of a moving candle
LONGER = {"S5": "M1", "M1": "M15", "M5": "H1", "M15": "H4", "H1": "D", "H4": "D", "D": "W"}
ENTRY_TYPES = {"LIMIT": "LMT", "STOP": "STP", "MARKET_IF_TOUCHED": "MIT"}


class Chart(LinePane):
    """Candles, the last price, own entries, stops, targets and pending orders."""

    KEY_CONTEXT: ClassVar[str] = CHART
    BINDINGS: ClassVar[list[BindingType]] = [*KEYMAP.bindings(CHART)]

    @dataclass
    class SeriesWanted(Message):
        """Request for candles that the store may not have."""

        instrument: str
        granularity: str
        linked: bool

    @dataclass
    class HistoryWanted(Message):
        """Request for candles older than the oldest in the store."""

        instrument: str
        granularity: str

    class IndicatorsWanted(Message):
        """Request to choose the indicators."""

    def __init__(
        self,
        *,
        zone: tzinfo = UTC,
        linked: bool = False,
        id: str | None = "chart",  # noqa: A002 - Textual's own word
    ) -> None:
        super().__init__(id=id)
        self.zone = zone
        self.linked = linked  # shows a longer candle length than the desk's own
        self.back = 0  # candles scrolled into the past
        self.step = 0  # 0: chosen by the width
        self._scale: Scale | None = None
        self._picture: list[list[candles.Run]] = []
        self._shown: tuple[str, str] = ("", "")
        self._behind = False
        self._drawn_at = 0.0

    # Drawing.

    def heading(self) -> Heading:
        """Instrument and granularity."""
        if self.frame is None:
            return Heading((Tab("Chart"),))
        store = self.frame.store
        past = f"{self.back} back" if self.back else ""
        name = f"{show.pair(store.focus)} {self._granularity(store)}"
        return Heading((Tab(safe(name.strip() or "Chart")),), safe(past))

    def waiting(self) -> Iterable[Run]:
        """Return the text before the first frame."""
        return [("Loading candles …", self.palette["muted"])]

    def changed(self, frame: Frame) -> None:
        """Redraw what changed; another instrument starts at its newest candle."""
        store = frame.store
        if (shown := (store.focus, self._granularity(store))) != self._shown:
            self._shown, self._scale, self.back = shown, None, 0
            if all(shown):
                self.post_message(self.SeriesWanted(*shown, linked=self.linked))
            self._draw_rows(frame)
            return
        if frame.whole(Topic.CANDLES) or frame.touched(Topic.ORDERS, Topic.HEALTH):
            self._draw_rows(frame)
        elif shown in frame.keys(Topic.CANDLES) or frame.touched(Topic.TRADES):
            self._behind = True
        if self._behind and frame.now - self._drawn_at >= PACE:
            self._draw_rows(frame)

    def runs(self, y: int, frame: Frame) -> Iterable[Run]:
        """Return a row of the picture, its roles turned into styles."""
        if not self._picture:
            self._picture = self._paint(frame)
        if y >= len(self._picture):
            return []
        return [(safe(text), self.palette[role]) for text, role in self._picture[y]]

    def redraw(self) -> None:
        """Draw everything again."""
        self._picture = []
        super().redraw()

    def _draw_rows(self, frame: Frame) -> None:
        """Draw the chart and refresh only the rows that differ."""
        self._behind, self._drawn_at = False, frame.now
        before, self._picture = self._picture, self._paint(frame)
        if len(before) != len(self._picture):
            super().redraw()
            return
        for y, (old, new) in enumerate(zip(before, self._picture, strict=True)):
            if old != new:
                self.redraw_line(y)

    def _paint(self, frame: Frame) -> list[list[candles.Run]]:
        series = frame.store.series.get((frame.store.focus, self._granularity(frame.store)))
        if series is None or not series.candles:
            return self._words(frame, series)
        legend = [self._legend_row(frame)] if self._legend else []
        view = self._view(frame.store, series, self.outer_size.height - len(legend))
        self._scale = candles.scale_of(view, self._scale)
        rows = [*legend, *candles.draw(view, self._scale)]
        if series.error:
            rows[0] = [(f"Old candles: {series.error}", "warn")]
        if prices_are_old(frame.store):
            rows = [[(text, "faint") for text, _ in row] for row in rows]
        return rows

    def _words(self, frame: Frame, series: CandleSeries | None) -> list[list[candles.Run]]:
        if not frame.store.focus:
            known = frame.store.instruments
            finds = f"No instrument. {self.keymap.name('find')} finds one."
            words = finds if known else "Loading instruments …"
            role = "muted"
        elif series is not None and series.error:
            words, role = f"No candles: {series.error}", "warn"
        elif series is None or series.loading:
            words, role = "Loading candles …", "muted"
        else:
            words, role = "No candles for this time.", "muted"
        return [[(words, role)], *[[] for _ in range(self.outer_size.height - 1)]]

    @property
    def _legend(self) -> bool:
        return self.outer_size.height >= LEGEND_FROM

    def _legend_row(self, frame: Frame) -> list[candles.Run]:
        store = frame.store
        day, shape = store.days.get(store.focus), shape_of(store, store.focus)
        if day is None:
            return []
        change = show.percent(day_change(store, store.focus), signed=True)
        row = [("day ", "faint"), (f"{change}%", role_of_sign(change))]
        for label, price in (("high", day.high), ("low", day.low)):
            more = [(f"   {label} ", "faint"), (shape.write(price), "muted")]
            if sum(len(text) for text, _ in [*row, *more]) <= self.inside:
                row += more
        return row

    def _view(self, store: Store, series: CandleSeries, height: int) -> View:
        shape = shape_of(store, store.focus)
        last = series.candles[-1].close
        axis = len(f"{last:.{shape.precision}f}") + TAGS[self.inside >= ROOMY] + 1
        step = self._step(axis)
        count = candles.room(self.inside, axis, step)
        self.back = max(0, min(self.back, len(series.candles) - count))
        end = len(series.candles) - self.back
        return View(
            candles=series.candles[max(0, end - count) : end],
            lines=list(self._lines_of(store, last, shape)),
            width=self.inside,
            height=height,
            step=step,
            axis=axis,
            pip_location=shape.pip_location,
            precision=shape.precision,
            granularity=series.granularity,
            zone=self.zone,
            hollow=self.palette["rise"].color == self.palette["fall"].color,
        )

    def _step(self, axis: int) -> int:
        return self.step or (2 if self.inside - axis >= WIDE else 1)

    def _granularity(self, store: Store) -> str:
        own = store.granularity
        return LONGER.get(own, "D") if self.linked else own

    # The trader's own prices.

    def _lines_of(self, store: Store, last: float, shape: Shape) -> Iterable[PriceLine]:
        yield PriceLine(last, f"{last:.{shape.precision}f}", "◂", "bright", 0)

        def line(price: Decimal | None, tag: str, role: str, rank: int) -> Iterable[PriceLine]:
            if price is not None:
                yield PriceLine(float(price), shape.write(price), tag, role, rank)

        def dependent(
            order: DependentOrder | None, tag: str, role: str, rank: int
        ) -> Iterable[PriceLine]:
            return line(order.price, tag, role, rank) if order is not None else ()

        for trade in store.trades.values():
            if trade.instrument == store.focus:
                yield from line(trade.price, "▲" if trade.units > 0 else "▼", "entry", 1)
                yield from dependent(trade.stop_loss, "SL", "stop", 2)
                yield from dependent(trade.guaranteed_stop, "GS", "stop", 2)
                yield from dependent(trade.trailing_stop, "TS", "stop", 3)
                yield from dependent(trade.take_profit, "TP", "target", 4)
        for order in store.orders.values():
            if order.instrument == store.focus and order.type in ENTRY_TYPES:
                yield from line(order.price, ENTRY_TYPES[order.type], "pending", 5)

    def on_hide(self) -> None:
        """Stop the second chart's candles while it is hidden."""
        if self.linked:
            self._shown = ("", "")
            self.post_message(self.SeriesWanted("", "", linked=True))

    # Moving through it.

    def scroll_candles(self, count: int) -> None:
        """Go into the past, or back towards now."""
        before, self.back = self.back, max(0, self.back + count)
        if self.frame is None:
            return
        self._scale = None
        self._draw_rows(self.frame)
        if count > 0 and self.back == before:
            self.post_message(self.HistoryWanted(*self._shown))

    def action_older(self) -> None:
        """Go some candles into the past."""
        self.scroll_candles(JUMP)

    def action_newer(self) -> None:
        """Come some candles nearer to now."""
        self.scroll_candles(-JUMP)

    def action_newest(self) -> None:
        """Come back to the newest candle."""
        self.scroll_candles(-self.back)

    def action_indicators(self) -> None:
        """Choose the indicators."""
        self.post_message(self.IndicatorsWanted())

    def action_view(self) -> None:
        """Draw candles wider, or narrow again."""
        now = self.step or 1
        self.step = STEPS[(STEPS.index(now) + 1) % len(STEPS)]
        self._scale = None
        if self.frame is not None:
            self._draw_rows(self.frame)
