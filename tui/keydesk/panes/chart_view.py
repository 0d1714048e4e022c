"""The picture of a chart: candles, own prices, those of an open form, indicators, books and legend.

`plan` draws the prices of an open form.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from decimal import Decimal
from typing import Literal

from msgspec.structs import replace
from rich.segment import Segment
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip

from keydesk.calc.market.granularity import ALIGNMENT, SECONDS, at_place
from keydesk.chart.canvas import Run as RoleRun
from keydesk.chart.glyphs import STYLE_NAMES, ZOOMS, CandleStyle, Style
from keydesk.chart.layout import sub_panes_with_room
from keydesk.chart.lines import sample_of
from keydesk.chart.picture import Picture, dimmed
from keydesk.chart.position import Position
from keydesk.chart.price_axis import PriceLine
from keydesk.chart.scene import Scene
from keydesk.panes.chart_book import ChartBook
from keydesk.panes.chart_legend import ChartLegend, crosshair_legend
from keydesk.panes.chart_marks import ChartIndicators, day_marks, level_lines, own_lines, sides_now
from keydesk.panes.crosshair import Crosshair
from keydesk.store.frame import Frame
from keydesk.store.state import Candle, CandleSeries, Topic
from keydesk.store.store import Store
from keydesk.text import format as show
from keydesk.text.sanitize import safe
from keydesk.widgets.lines import MARGIN, DrawnLine, Heading, LinePane, Run, Tab
from keydesk.widgets.price_cells import price_format_of, prices_are_old
from keydesk.widgets.theme import Palette
from keydesk_client.arithmetic.constants import SECOND

BOOK_TOPICS = (Topic.BOOKS, Topic.DAY_LINES)
REDRAWN_AT_ONCE = (
    *(Topic.ORDERS, Topic.ALERTS, Topic.LEVELS),
    *(Topic.HEALTH, Topic.FOCUS, Topic.INDICATORS),
)
MAX_SEGMENTS = 4000
WIDE_FROM = 56  # columns from which on the legend names the time that is left
PACE = 0.2  # seconds between two redraws of a moving candle
SIDES = {"M": "", "B": "bid", "A": "ask", "SB": "bid", "SA": "ask"}


class ChartView(LinePane):
    """What a chart shows of the store; only the rows that changed are drawn again."""

    @dataclass
    class SeriesWanted(Message, namespace="chart"):
        """Request for candles that the store may not have."""

        instrument: str  # "" for the desk's
        granularity: str  # "" where the chart goes from the screen
        place: int

    @dataclass
    class HistoryWanted(Message, namespace="chart"):
        """Request for candles beyond one end of those in the store."""

        instrument: str
        granularity: str
        direction: Literal["older", "newer"]
        of_series: bool  # as in `want_history`

    class CrosshairTurned(Message, namespace="chart"):
        """The crosshair was turned on or off: other keys are in force."""

    def __init__(
        self,
        *,
        place: int = 1,
        id: str | None = "chart",  # noqa: A002 - Textual's own word
    ) -> None:
        super().__init__(id=id)
        self.place = place  # 1: the desk's own; the others have candle lengths of their own
        self.pinned = ""  # instrument of a further chart that does not follow the desk's
        self.granularity = ""  # that the trader chose for a further chart; "": by the desk's own
        self.style: Style = "candles"
        self.position = Position()
        self.indicators = ChartIndicators()
        self.book = ChartBook()
        self._head = ChartLegend()
        self._picture = Picture()
        self._scene: Scene | None = None
        self._rows: Sequence[Sequence[RoleRun]] = ()  # as they are on the screen
        self._planned: tuple[PriceLine, ...] = ()
        self._shows_everything = False  # every own price, on a wider scale
        self._crosshair: Crosshair | None = None
        self.preset_units: Decimal | None = None  # what distances are counted for in money
        self._shown: tuple[str, str] = ("", "")
        self._segments: dict[RoleRun, Segment] = {}
        self._dressed: Palette | None = None  # the theme that the segments have
        self._without_room = ""  # the sub-panes that have too few rows, in words
        self._below = 0  # rows at the bottom that an open form stands on
        self._behind = False
        self._drawn_at = 0.0

    # What other parts of the desk add and ask.

    def plan(self, lines: Iterable[PriceLine]) -> None:
        """Draw the prices of an open form: planned entry, stop, target, bound."""
        planned = tuple(lines)
        if planned != self._planned:
            if bool(planned) != bool(self._planned):
                self._picture.forget_scale()
            self._planned = planned
            self._draw_now()

    def avoid_overlap(self, form: Region) -> None:
        """End above a form that stands on all of the lower rows."""
        at = self.region
        stands_on = form.x <= at.x and form.right >= at.right and form.overlaps(at)
        below = at.bottom - form.y if stands_on and form.y > at.y else 0
        if below != self._below:
            self._below = below
            self._draw_now()

    @property
    def _height(self) -> int:
        """The rows that no open form stands on."""
        return max(1, self.outer_size.height - self._below)

    @property
    def shown(self) -> tuple[str, str]:
        """Return instrument and candle length."""
        return self._shown

    @property
    def scene(self) -> Scene | None:
        """Return what is drawn; None before there are candles."""
        return self._scene

    @property
    def picture(self) -> Picture:
        """Return the picture, whose layout and scale say where candles and prices stand."""
        return self._picture

    # Drawing.

    def heading(self) -> Heading:
        """Instrument, granularity, what is drawn of it, and the date of a part of the past."""
        if self.frame is None:
            return Heading((Tab("Chart"),))
        store = self.frame.store
        granularity = self._granularity(store)
        words = (
            show.pair(self._instrument(store)),
            granularity,
            SIDES[store.candle_prices],
            _size_text(store),
            STYLE_NAMES[self.style],
            ALIGNMENT.get(granularity, ""),
            "pinned" if self.pinned else "",
            "wide scale" if self._shows_everything else "",
        )
        name = " ".join(word for word in words if word)
        text = self.book.text(store, self.keymap.name("zoom")) or self._past_text(store.zone)
        return Heading((Tab(safe(name or "Chart")),), safe(text or self._without_room))

    def _past_text(self, zone: tzinfo) -> str:
        until = self.position.until
        if until is None:
            return ""
        at = show.at(until, zone)
        return f"until {at.day} {at:%b %Y %H:%M}"

    def waiting(self) -> Iterable[Run]:
        """Return the text before the first frame."""
        return [("Loading candles …", self.palette["muted"])]

    def changed(self, frame: Frame) -> None:
        """Redraw what changed; another instrument starts at its newest candle."""
        store = frame.store
        if (shown := (self._instrument(store), self._granularity(store))) != self._shown:
            self._turn_to(*shown)
            self._draw_rows(frame)
            return
        at_once = (*REDRAWN_AT_ONCE, *BOOK_TOPICS) if self.book.kinds else REDRAWN_AT_ONCE
        if frame.whole(Topic.CANDLES) or frame.touched(*at_once):
            self._draw_rows(frame)
        elif (
            shown in frame.keys(Topic.CANDLES)
            or frame.touched(Topic.TRADES)
            or int(frame.now) > int(self._drawn_at)  # the time left to the candle
        ):
            self._behind = True
        if self._behind and frame.now - self._drawn_at >= PACE:
            self._draw_rows(frame)

    def _turn_to(self, instrument: str, granularity: str) -> None:
        if instrument != self._shown[0]:
            self.turn_crosshair_off()
        self._shown = (instrument, granularity)
        self.position.reset()
        self._picture.forget_scale()
        if instrument and granularity:
            self.post(self.SeriesWanted(self.pinned, granularity, self.place))

    def runs(self, y: int, frame: Frame) -> Iterable[Run]:
        """Return a row of the picture, its roles turned into styles."""
        if not self._rows:
            self._rows = self._paint(frame)[0]
        if y >= len(self._rows):
            return []
        chart_style = self.palette.chart_style
        return [(safe(text), chart_style(role)) for text, role in self._rows[y]]

    def _draw(self, y: int) -> Strip:
        """Return a line of the picture, which is as wide as the pane already; its segments are kept."""
        if self.frame is None or not self._rows or y >= len(self._rows):
            return super()._draw(y)
        row = self._rows[y]
        width = self.outer_size.width
        if sum([len(text) for text, _ in row]) != self.inside:
            return super()._draw(y)  # words, or a picture of another size
        blank, behind = self._segment((" ", "")), self._segment((" " * (MARGIN + self.covered), ""))
        return DrawnLine([blank, *[self._segment(run) for run in row], behind], width)

    def _segment(self, run: RoleRun) -> Segment:
        """Return the segment of a run; most of a picture's are the same from price to price."""
        segment = self._segments.get(run)
        if segment is None:
            if len(self._segments) > MAX_SEGMENTS:
                self._segments.clear()
            text, role = run
            segment = Segment(safe(text), self.palette.chart_style(role))
            self._segments[run] = segment
        return segment

    def redraw(self) -> None:
        """Draw everything again."""
        self._rows = ()
        if self.palette is not self._dressed:
            self._dressed = self.palette
            self._segments.clear()
        super().redraw()

    def _draw_now(self) -> None:
        if self.frame is not None:
            self._draw_rows(self.frame)

    def _draw_rows(self, frame: Frame) -> None:
        """Draw the chart and refresh only the rows that differ."""
        self._behind, self._drawn_at = False, frame.now
        before = self._rows
        self._rows, changed = self._paint(frame)
        if len(before) != len(self._rows):
            super().redraw()
            return
        if changed is None:
            changed = [y for y, row in enumerate(self._rows) if row != before[y]]
        for y in changed:
            self.redraw_line(y)

    def _paint(self, frame: Frame) -> tuple[Sequence[Sequence[RoleRun]], Iterable[int] | None]:
        """Return all rows, and which of them differ from the last picture; None: to be compared."""
        store = frame.store
        series = store.series.get((self._instrument(store), self._granularity(store)))
        if series is None or not series.candles:
            return self._without_candles(frame, series), None
        if self.position.arrive(series, self.in_sight):
            self._picture.forget_scale()
        scene = self._scene = self._scene_of(frame, series)
        changed = self._picture.show(scene)
        rows: Sequence[Sequence[RoleRun]] = self.book.joined(self._picture, frame, frame.store.zone)
        if series.error:
            return [[(f"Old candles: {series.error}"[: self.inside], "warn")], *rows[1:]], None
        if self.position.goal is not None:
            at = show.at(self.position.goal, store.zone)
            return [self._loading(f"{at.day} {at:%b %Y}"), *dimmed(rows[1:])], None
        if series.history_error and self.position.until is not None:
            text = f"No further candles: {series.history_error}"[: self.inside]
            return [[(text, "warn")], *rows[1:]], None
        if prices_are_old(store) or series.prices != store.candle_prices:
            return dimmed(rows), None
        was_plain = self._rows is rows
        return rows, changed if was_plain else None

    def _without_candles(
        self, frame: Frame, series: CandleSeries | None
    ) -> Sequence[Sequence[RoleRun]]:
        """Return the last picture, dimmed, while new candles are loaded; else words alone."""
        text, role = self._words(frame, series)
        height = self._height
        is_loading = bool(self._instrument(frame.store)) and (series is None or series.loading)
        scene = self._scene
        # Prices of an earlier time, as of a replay, take candles away from the last scene.
        if scene is None or not is_loading or len(scene.candles) < scene.end:
            return [[(text, role)], *[[] for _ in range(height - 1)]]
        self._scene = replace(
            scene,
            width=self._picture_width(frame.store),
            height=height,
            lines=(),
            marks=(),
            cursor=None,
            legend=(((" ", ""),),),
        )
        self._picture.show(self._scene)
        name = f"{show.pair(self._instrument(frame.store))} {self._granularity(frame.store)}"
        return [
            self._loading(name),
            *dimmed(self.book.joined(self._picture, frame, frame.store.zone)[1:]),
        ]

    def _loading(self, what: str) -> list[RoleRun]:
        return [(f"Loading {what} …"[: self.inside], "muted")]

    def _words(self, frame: Frame, series: CandleSeries | None) -> RoleRun:
        if not self._instrument(frame.store):
            known = frame.store.instruments
            finds = f"No instrument. {self.keymap.name('find')} finds one."
            return (finds if known else "Loading instruments …"), "muted"
        if series is not None and series.error:
            return f"No candles: {series.error}", "warn"
        if series is None or series.loading:
            return "Loading candles …", "muted"
        return "No candles for this time.", "muted"

    def _scene_of(self, frame: Frame, series: CandleSeries) -> Scene:
        store = frame.store
        price_format = price_format_of(store, self._instrument(store))
        indicators = self.indicators
        indicators.choose(store.indicators_of(self._instrument(store)))
        candles = self.position.candles(series, self.in_sight + indicators.warm_up)
        indicators.refresh(candles, store.previous_day(self._instrument(store)))
        is_live = self.position.until is None
        height = self._height
        shown = sub_panes_with_room(height, len(indicators.sub_panes))
        without_room = ", ".join(each.title for each in indicators.sub_panes[shown:])
        zoom = self.keymap.name("zoom")
        self._without_room = f"{without_room}: no room, {zoom} zooms" if without_room else ""
        self._ask_for_history(series, candles)
        last = series.candles[-1].close
        instrument, end = self._instrument(store), self.position.end(candles)
        seconds = SECONDS.get(series.granularity, SECONDS["D"])
        seen_until = candles[end - 1].time_ns + seconds * SECOND
        levels = level_lines(store, instrument, seen_until)
        return Scene(
            candles=candles,
            end=end,
            width=self._picture_width(store),
            height=height,
            seconds=seconds,
            last=last,
            decimals=price_format.precision,
            pip=float(price_format.pip),
            look=self._look(store),
            zone=store.zone,
            this_year=show.at(series.candles[-1].time_ns, store.zone).year,
            is_live=is_live,
            lines=(*own_lines(store, instrument), *levels, *self._planned),
            marks=(*day_marks(store, self._instrument(store)), *indicators.marks)
            if is_live
            else (),
            overlays=indicators.overlays,
            sub_panes=indicators.sub_panes[:shown],
            cursor=self._crosshair.cursor(candles) if self._crosshair is not None else None,
            legend=self._legend(frame, series, candles),
            shows_everything=self._shows_everything,
            braille=store.has_dots,
            sides=sides_now(store, instrument),
        )

    def _legend(
        self, frame: Frame, series: CandleSeries, candles: Sequence[Candle]
    ) -> tuple[tuple[RoleRun, ...], ...]:
        """Return what the first rows say: of the candle and the price under the crosshair, else of the last candle."""
        shown = self._instrument(frame.store), self._granularity(frame.store)
        if self._crosshair is not None:
            last, units = series.candles[-1].close, self.preset_units
            return crosshair_legend(
                frame.store, shown, self._crosshair, candles, last=last, units=units
            )
        return self._head.groups(
            frame,
            shown,
            candles,
            self.position.end(candles),
            names=self._named_indicators(),
            is_narrow=self.inside < WIDE_FROM,
            is_live=self.position.until is None,
        )

    def _named_indicators(self) -> tuple[tuple[RoleRun, ...], ...]:
        """Return the names of the indicators, each behind its stroke where there are no colours."""
        if not self._is_mono:
            return self.indicators.legend
        return tuple(
            ((f"{sample_of(runs[0][1])} ", runs[0][1]), *runs) for runs in self.indicators.legend
        )

    def _picture_width(self, store: Store) -> int:
        """Return the columns of the picture: those of the pane without the strip of client books."""
        is_of_focus = self._instrument(store) == store.focus  # whose books the store has
        height = self._height if is_of_focus else 0
        return self.inside - self.book.columns(store, self.inside, height)

    def _look(self, store: Store) -> CandleStyle:
        body, gap, per_column = ZOOMS[store.chart_zoom]
        style = "line" if store.chart_zoom == "line" else self.style
        return CandleStyle(
            style,
            body,
            gap,
            hollow=self._is_mono,
            ascii_only=self._ascii_only,
            per_column=per_column,
        )

    @property
    def _is_mono(self) -> bool:
        return self.palette["rise"].color == self.palette["fall"].color

    @property
    def _ascii_only(self) -> bool:
        return self.app.has_class("-ascii")

    def _ask_for_history(self, series: CandleSeries, candles: Sequence[Candle]) -> None:
        """Ask for candles ahead of the need, once."""
        if series.loading_history or series.wants_older or self.position.goal is not None:
            return
        lacking = self.position.missing_side(
            series, candles, self.in_sight, self.indicators.warm_up
        )
        if lacking and not (series.past is not None and series.past.wants):
            of_series = candles is series.candles
            self.post(self.HistoryWanted(*self._shown, lacking, of_series=of_series))

    def _instrument(self, store: Store) -> str:
        return self.pinned or store.focus

    def _granularity(self, store: Store) -> str:
        own = store.granularity
        if self.place == 1:
            return own
        return self.granularity or at_place(self.place, own)

    @property
    def in_sight(self) -> int:
        """Return the number of candles in sight."""
        layout = self._picture.layout
        return len(layout.columns) if layout is not None else 1

    def turn_crosshair_off(self) -> None:
        """Remove the crosshair."""
        if self._crosshair is not None:
            self._crosshair = None
            self.post(self.CrosshairTurned())
            self._draw_now()


def _size_text(store: Store) -> str:
    """Return the size whose prices the candles are of, "" for those of the smallest one."""
    sized = store.candle_prices in {"SB", "SA"} and store.candle_units is not None
    return f"for {show.units(store.candle_units)}" if sized else ""
