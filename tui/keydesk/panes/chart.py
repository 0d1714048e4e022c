"""The chart pane: its keys, which move through time, move the crosshair and change how it is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import ClassVar, Literal

from textual.binding import BindingType
from textual.message import Message

from keydesk.chart.glyphs import STYLES, ZOOMS, Style
from keydesk.chart.price_axis import Rank
from keydesk.keys.keymap import CHART, CROSSHAIR
from keydesk.keys.textual_bindings import bindings_of
from keydesk.panes.book_figures import BookSnapshotWanted
from keydesk.panes.chart_view import ChartView
from keydesk.panes.crosshair import crosshair_at
from keydesk.store.state import Candle, CandlePrices, CandleSeries, Zoom
from keydesk.widgets.price_cells import price_format_of
from keydesk_client.account.values import FIRST_NS
from keydesk_client.arithmetic.constants import SECOND

JUMP = 10  # candles
OF_CROSSHAIR = frozenset(("cross", "lift", "to_last", "price_level"))
LevelChange = Literal["line", "ray", "move", "remove", "rename"]
PRICES: Sequence[CandlePrices] = ("M", "B", "A", "SB", "SA")


class Chart(ChartView):
    """Candles, the last price, own entries, stops, targets and pending orders."""

    KEY_CONTEXT: ClassVar[str] = CHART
    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings_of(CROSSHAIR),
        *bindings_of(CHART),
    ]

    @dataclass
    class DateWanted(Message):
        """Request for the candles around a date."""

        instrument: str
        granularity: str
        date_ns: int

    @dataclass
    class PricesWanted(Message):
        """Request for candles of mid, bid or ask prices, or of those of the ticket's size."""

        prices: CandlePrices

    @dataclass
    class ZoomWanted(Message):
        """Request to draw the candles of every chart wider or narrower."""

        zoom: Zoom

    class DotsTurned(Message):
        """Request to draw indicators as dots on every chart, or as strokes."""

    class IndicatorsWanted(Message):
        """Request to choose the indicators."""

    @dataclass
    class LevelWanted(Message):
        """Request to set a price level at the crosshair, or to change the one nearest to it."""

        change: LevelChange
        instrument: str
        price: Decimal
        time_ns: int

    # What a further chart shows.

    def choose(self, granularity: str, pinned: str) -> None:
        """Select candle length and instrument of a further chart; "" follows the desk's."""
        self.granularity, self.pinned = granularity, pinned
        if self.display and self.frame is not None:
            self.changed(self.frame)

    def action_pin(self) -> None:
        """Pin a further chart to the instrument that it shows, or let it follow the desk's again."""
        if self.place > 1 and self.frame is not None:
            self.choose(self.granularity, "" if self.pinned else self.frame.store.focus)

    def on_hide(self) -> None:
        """Stop a further chart's candles while it is hidden."""
        if self.place > 1 and self._shown != ("", ""):
            self._shown = ("", "")
            self.post(self.SeriesWanted("", "", self.place))

    # Moving through it.

    def scroll_candles(self, count: int) -> None:
        """Go into the past, or back towards now; candles that are not there yet are asked for."""
        series = self._series()
        if series is None or not series.candles:
            return
        candles = self.position.candles(series, self.in_sight + self.indicators.warm_up)
        self.position.move(series, candles, count, self.in_sight)
        self._picture.forget_scale()
        self._draw_now()

    def go_to_date(self, date: datetime) -> None:
        """Show the candles around a date in the trader's zone; until they are there, the picture stays, dimmed."""
        series = self._series()
        if self.frame is not None and series is not None:
            frame = self.frame
            goal = int(date.replace(tzinfo=frame.store.zone).timestamp()) * SECOND
            newest = max(frame.time_ns, frame.store.clock_ns)
            goal = max(FIRST_NS, min(goal, newest))  # beyond the dates that a broker takes
            self.position.go_to(goal, series)
            self.post(self.DateWanted(*self._shown, goal))
            self._draw_now()

    def _series(self) -> CandleSeries | None:
        return self.frame.store.series.get(self._shown) if self.frame is not None else None

    def on_mouse_scroll_up(self) -> None:
        self.action_older()

    def on_mouse_scroll_down(self) -> None:
        self.action_newer()

    def action_older(self) -> None:
        self.scroll_candles(JUMP)

    def action_newer(self) -> None:
        self.scroll_candles(-JUMP)

    def action_page_older(self) -> None:
        self.scroll_candles(max(1, self.in_sight - 1))

    def action_page_newer(self) -> None:
        self.scroll_candles(-max(1, self.in_sight - 1))

    def action_newest(self) -> None:
        self.position.reset()
        self._picture.forget_scale()
        self._draw_now()

    # The crosshair.

    @property
    def key_context(self) -> str:
        """Return the keys in force: those of the crosshair while it is on."""
        return self.KEY_CONTEXT if self._crosshair is None else CROSSHAIR

    @property
    def crosshair_price(self) -> Decimal | None:
        """Return the price under the crosshair at the instrument's precision; None while it is off."""
        if self._crosshair is None or self.frame is None:
            return None
        digits = price_format_of(self.frame.store, self._shown[0]).precision
        return Decimal(f"{self._crosshair.price:.{digits}f}")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        """Allow the keys of the crosshair only while it is on; they come before those of the chart."""
        return action not in OF_CROSSHAIR or self._crosshair is not None

    def action_crosshair(self) -> None:
        """Turn the crosshair on at the newest candle in sight, or off."""
        if self._crosshair is not None:
            self.turn_crosshair_off()
        elif self._scene is not None and self._series() is not None:
            self._point_at(self._scene.candles[self._scene.end - 1])

    def action_to_last(self) -> None:
        """Bring the crosshair to the newest candle and the last price."""
        self.action_newest()
        if self._scene is not None:
            self._point_at(self._scene.candles[-1])

    def _point_at(self, candle: Candle) -> None:
        scene, scale = self._scene, self._picture.scale
        if scene is not None and scale is not None:
            self._crosshair = crosshair_at(candle, scene.last, scale, scene.pip)
            self.post(self.CrosshairTurned())
            self._draw_now()

    def action_cross(self, count: int) -> None:
        """Move the crosshair by candles; at the edge the chart moves."""
        scene, layout = self._scene, self._picture.layout
        if scene is None or layout is None or self._crosshair is None:
            return
        self._crosshair = self._crosshair.by_candles(scene.candles, count)
        at = self._crosshair.index(scene.candles)
        if at < layout.first:
            self.scroll_candles(layout.first - at)
        elif at >= scene.end:
            self.scroll_candles(scene.end - 1 - at)
        else:
            self._draw_now()

    def action_lift(self, steps: int) -> None:
        """Move the crosshair by price steps."""
        scene, layout, scale = self._scene, self._picture.layout, self._picture.scale
        if scene is None or layout is None or scale is None or self._crosshair is None:
            return
        shown = scene.candles[layout.first : scene.end]
        levels = [line.price for line in scene.lines if line.rank == Rank.LEVEL]
        self._crosshair = self._crosshair.by_steps(shown, scale, scene.pip, steps, levels)
        self._draw_now()

    def action_price_level(self, change: LevelChange) -> None:
        """Ask for a price level at the crosshair, or for a change of the one nearest to it."""
        price = self.crosshair_price
        if self._crosshair is not None and price is not None:
            time_ns = self._crosshair.time_ns
            self.post(self.LevelWanted(change, self._shown[0], price, time_ns))

    def on_blur(self) -> None:
        """Turn the crosshair off when another pane gets the keys; a form over the desk leaves it."""
        if self.screen.is_active:
            self.turn_crosshair_off()

    # The look.

    def action_indicators(self) -> None:
        self.post(self.IndicatorsWanted())

    def draw_as(self, style: Style) -> None:
        """Draw prices in this way."""
        self.style = style
        if self.is_mounted:
            self._draw_now()

    def action_view(self) -> None:
        """Draw candles, bars, a line, or Heikin-Ashi candles."""
        self.draw_as(STYLES[(STYLES.index(self.style) + 1) % len(STYLES)])

    def action_every_price(self) -> None:
        """Include every own price up to 4 times the candles' range, or only those that leave the candles their height."""
        self._shows_everything = not self._shows_everything
        self._picture.forget_scale()
        self._draw_now()

    def action_zoom_in(self) -> None:
        """Draw fewer, wider candles."""
        self._zoom_by(1)

    def action_zoom_out(self) -> None:
        """Draw more, narrower candles."""
        self._zoom_by(-1)

    def _zoom_by(self, steps: int) -> None:
        if self.frame is not None:
            zooms: list[Zoom] = list(ZOOMS)
            at = zooms.index(self.frame.store.chart_zoom) + steps
            self.post(self.ZoomWanted(zooms[max(0, min(len(zooms) - 1, at))]))

    def action_book(self) -> None:
        """Show beside the prices: client orders, positions, both, or none."""
        self.book.next_choice()
        self._picture.forget_scale()
        self._draw_now()

    def action_book_step(self, steps: int) -> None:
        """Ask for the books before those in sight, after them, or the newest."""
        self.post(BookSnapshotWanted(steps))

    def action_prices(self) -> None:
        """Ask for mid, bid or ask candles, then for those of the ticket's size, in turn."""
        if self.frame is not None:
            now = self.frame.store.candle_prices
            self.post(self.PricesWanted(PRICES[(PRICES.index(now) + 1) % len(PRICES)]))

    def action_overlay_dots(self) -> None:
        """Ask for indicators as braille dots, or as strokes."""
        self.post(self.DotsTurned())
