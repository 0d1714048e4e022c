"""A chart as rows of runs, drawn whole or, when only the newest candle moved, in its last columns.

Rows are divided into a head, which a price does not change, and a tail of the two newest candles and the free columns
behind them. A price update paints tails and labels only.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Protocol

from msgspec import Struct, field

from keydesk.chart import sub_pane
from keydesk.chart.canvas import FILLED, Canvas, Run
from keydesk.chart.glyphs import WARM_UP, heikin_ashi
from keydesk.chart.layout import Layout, layout_of, legend_rows
from keydesk.chart.moves import (
    MovedPart,
    held_values,
    moved_parts_of_candles,
    moved_parts_of_sub_pane,
    moved_rows,
)
from keydesk.chart.painting import View, paint_chart
from keydesk.chart.price_labels import AxisLabels, PriceLabels
from keydesk.chart.scale import Scale, scale_for, still_fits
from keydesk.chart.scene import Scene
from keydesk.chart.time_axis import TimeLabels, time_labels
from keydesk.store.state import Candle
from keydesk.text import format as show


class Paint(Protocol):
    """Paints an area into a canvas that covers some of its columns."""

    def __call__(self, canvas: Canvas) -> None: ...


class Area(Struct):
    """Rows of a picture that share a scale: the candles, or a sub-pane."""

    top: int  # row of the picture
    scale: Scale
    paint: Paint
    labels: Mapping[int, Run]
    across: Collection[int] = ()
    posts: Sequence[tuple[int, str]] = ()
    heads: list[list[Run]] = field(default_factory=list)
    tails: list[list[Run]] = field(default_factory=list)
    moved_parts: Sequence[MovedPart] = ()  # what a price moves

    @property
    def rows(self) -> int:
        """The number of its rows."""
        return self.scale.rows

    def painted(
        self, left: int, right: int, only: Collection[int] | None = None
    ) -> list[list[Run]]:
        """Return the runs of some columns, of all rows or only of some."""
        canvas = Canvas(left, right, self.rows, across=self.across, down=self.posts, only=only)
        self.paint(canvas)
        return [canvas.runs(y) for y in range(self.rows)]


class HeldLines(Struct):
    """What stays where it is while prices move little."""

    time_ns: int = -1  # the newest candle's
    lines: list[list[float]] = field(default_factory=list)  # newest values of each area's lines


class Picture:
    """The rows of a chart, kept from scene to scene."""

    def __init__(self) -> None:
        self.rows: list[list[Run]] = []
        self.scale: Scale | None = None
        self.layout: Layout | None = None
        self._scene: Scene | None = None
        self._shown: list[Candle] = []  # as they are drawn: of Heikin-Ashi, those
        self._real: Sequence[Candle] = ()
        self.labels = AxisLabels()
        self.held_lines = HeldLines()
        self._areas: list[Area] = []
        self.words: PriceLabels | None = None  # whose words stand in the plot

    def show(self, scene: Scene) -> Collection[int]:
        """Draw a scene; return the rows that differ from before."""
        if self._updates(scene):
            return self._update(scene)
        before, self.rows = self.rows, self._whole(scene)
        if len(before) != len(self.rows):
            return range(len(self.rows))
        return [y for y, (old, new) in enumerate(zip(before, self.rows, strict=True)) if old != new]

    def forget_scale(self) -> None:
        """Choose the range of prices anew with the next scene."""
        self.scale = self._scene = None
        self.held_lines = HeldLines()
        self.labels.forget()

    @property
    def grid_step(self) -> float:
        """Return the distance of the round prices on the axis."""
        return self.labels.step

    # The whole picture.

    def _whole(self, scene: Scene) -> list[list[Run]]:
        layout = self.layout = layout_of(scene)
        self._real = scene.candles[layout.first : scene.end]
        self._shown = self._candles_as_drawn(scene, layout)
        prices = [line.price for line in scene.lines]
        if scene.cursor is not None:
            prices.append(scene.cursor.price)
        self.scale = self._scale_for(scene, prices)
        self._scene = scene
        labels = self._price_labels(scene, is_update=False)
        self.words = labels
        times = self._time_labels(scene, layout)
        self._areas = [
            Area(
                layout.top,
                self.scale,
                self._paint_candles,
                labels.rows,
                labels.grid,
                times.posts,
            ),
            *self._sub_areas(scene, layout),
        ]
        rows: list[list[Run]] = [[] for _ in range(max(scene.height, layout.top + layout.rows))]
        rows[: layout.legend] = legend_rows(scene.legend, scene.width, layout.legend)
        self._hold_lines(scene)
        for number, area in enumerate(self._areas):
            area.heads = area.painted(0, layout.split)
            area.tails = area.painted(layout.split, layout.plot)
            area.moved_parts = self._moved_parts(scene, number, area)
            for y in range(area.rows):
                rows[area.top + y] = self._joined(area, y)
        if layout.sub_rows:
            for area, pane in zip(self._areas[1:], scene.sub_panes, strict=True):
                rows[area.top - 1] = sub_pane.rule(pane, scene.width)
        if scene.height > layout.top + layout.rows:
            rows[scene.height - 1] = [*times.runs, *self._zone_label(scene, layout)]
        return rows[: scene.height]

    def _sub_areas(self, scene: Scene, layout: Layout) -> list[Area]:
        if not layout.sub_rows:
            return []
        areas = []
        top = layout.top + layout.rows + 1
        for number, pane in enumerate(scene.sub_panes):
            scale = sub_pane.scale_for(pane, layout.first, scene.end, layout.sub_rows)
            paint = partial(self._paint_sub_pane, number, scale)
            guides = {scale.row(guide) for guide in pane.guides if scale.holds(guide)}
            labels = sub_pane.labels(pane, scale, layout.axis)
            areas.append(Area(top, scale, paint, labels, guides))
            top += layout.sub_rows + 1
        return areas

    def _candles_as_drawn(self, scene: Scene, layout: Layout) -> list[Candle]:
        if scene.look.style != "heikin-ashi":
            return list(self._real)
        begin = max(0, layout.first - WARM_UP)
        return heikin_ashi(scene.candles[begin : scene.end])[layout.first - begin :]

    def _scale_for(self, scene: Scene, prices: Sequence[float]) -> Scale:
        layout = self.layout
        rows = layout.rows if layout is not None else 1
        last = scene.last
        by_importance = sorted(scene.lines, key=lambda line: (line.rank, abs(line.price - last)))
        wanted = [line.price for line in by_importance if line.in_scale or scene.shows_everything]
        return scale_for(
            self._shown,
            prices,
            last,
            rows,
            pip=scene.pip,
            wanted=wanted,
            cursor=None if scene.cursor is None else scene.cursor.price,
            everything=scene.shows_everything,
            before=self.scale,
        )

    def _time_labels(self, scene: Scene, layout: Layout) -> TimeLabels:
        cursor = None if scene.cursor is None else scene.cursor.index - layout.first
        return time_labels(
            self._real,
            layout.columns,
            layout.plot,
            seconds=scene.seconds,
            zone=scene.zone,
            this_year=scene.this_year,
            cursor=cursor,
        )

    def _zone_label(self, scene: Scene, layout: Layout) -> list[Run]:
        if not layout.axis.width:
            return []
        zone = show.at(self._real[-1].time_ns, scene.zone).tzname() or ""
        room = layout.axis.width - 1
        return [(layout.axis.padded(zone if len(zone) <= room else ""), "faint")]

    def _price_labels(self, scene: Scene, *, is_update: bool) -> PriceLabels:
        scale, layout = self.scale, self.layout
        assert scale is not None  # noqa: S101 - chosen before
        assert layout is not None  # noqa: S101
        return self.labels.labels(
            layout.axis,
            scale,
            scene.last,
            scene.lines,
            marks=scene.marks,
            cursor=None if scene.cursor is None else scene.cursor.price,
            sides=scene.sides,
            names=max(0, layout.names - 1),  # and a blank
            is_update=is_update,
        )

    def _joined(self, area: Area, y: int) -> list[Run]:
        assert self.layout is not None  # noqa: S101 - drawn before
        axis = self.layout.axis
        row = [*area.heads[y], *area.tails[y]]
        if axis.width:
            text, role = area.labels.get(y) or (" " * axis.width, "")
            if role.startswith(
                FILLED
            ):  # a narrow box: each cell of it is sent when the price changes its row
                box = text.rstrip() + " "
                row.append((box[: axis.width], role))
                text, role = text[len(box) :], ""
            if text:
                row.append((text, role))
        return row

    # A price update.

    def _updates(self, scene: Scene) -> bool:
        """Return whether only the newest candle of the scene differs from the last one drawn."""
        before, layout = self._scene, self.layout
        if before is None or layout is None or self.scale is None or before.end != scene.end:
            return False
        same = (
            before.width == scene.width
            and before.height == scene.height
            and before.look == scene.look
            and before.lines == scene.lines
            and before.cursor == scene.cursor
            and bool(before.legend) == bool(scene.legend)
            and before.braille == scene.braille
            and before.is_live == scene.is_live
            and before.this_year == scene.this_year
            and len(before.overlays) == len(scene.overlays)
            and [each.title for each in before.sub_panes]
            == [each.title for each in scene.sub_panes]
        )
        width_of_price = layout.axis.width_of_price
        if not same or width_of_price(scene.last) != width_of_price(before.last):
            return False
        if self._rows_of_marks(scene) != self._rows_of_marks(before):
            return False
        real = scene.candles[layout.first : scene.end]
        return (
            len(real) == len(self._real)
            and real[-1].time_ns == self._real[-1].time_ns
            and real[:-1] == self._real[:-1]
            and self._still_fits(scene, real)
        )

    def _rows_of_marks(self, scene: Scene) -> list[tuple[str, int]]:
        scale = self.scale
        held = [each for each in scene.marks if scale is not None and scale.holds(each.price)]
        return [(each.text, scale.row(each.price)) for each in held if scale is not None]

    def _still_fits(self, scene: Scene, real: Sequence[Candle]) -> bool:
        """Take the newest candle; return whether the scales hold it."""
        layout = self.layout
        assert layout is not None  # noqa: S101 - asked before
        before = self._shown[-2:-1]
        if scene.look.style == "heikin-ashi":
            if not before:
                return False
            newest = heikin_ashi(real[-1:], before[0])[0]
        else:
            newest = real[-1]
        self._real, self._shown[-1] = real, newest
        prices = [line.price for line in scene.lines]
        if self.scale is None or not still_fits(self.scale, newest, prices, scene.last):
            return False
        panes = scene.sub_panes if layout.sub_rows else ()
        return all(
            sub_pane.still_fits(pane, scene.end, area.scale)
            for area, pane in zip(self._areas[1:], panes, strict=True)
        )

    def _update(self, scene: Scene) -> list[int]:
        layout = self.layout
        assert layout is not None  # noqa: S101 - asked before
        changed: list[int] = []
        if layout.legend and self._scene is not None and self._scene.legend != scene.legend:
            self.rows[: layout.legend] = legend_rows(scene.legend, scene.width, layout.legend)
            changed += range(layout.legend)
        self._scene = scene
        self._hold_lines(scene)
        for number, area in enumerate(self._areas):
            labels = self._price_labels(scene, is_update=True) if number == 0 else None
            renamed = set() if labels is None else self._rename(area, labels)
            before, area.moved_parts = area.moved_parts, self._moved_parts(scene, number, area)
            rows = moved_rows(before, area.moved_parts, area.rows)
            if rows:
                tails = area.painted(layout.split, layout.plot, rows)
                rows = {y for y in rows if tails[y] != area.tails[y]}
                for y in rows:
                    area.tails[y] = tails[y]
            if labels is not None:
                rows |= renamed | changed_labels(area.labels, labels)
                area.labels = labels.rows
            for y in rows:
                if area.top + y < len(self.rows):  # a pane of a few rows does not show them all
                    self.rows[area.top + y] = self._joined(area, y)
                    changed.append(area.top + y)
        return changed

    def _rename(self, area: Area, labels: PriceLabels) -> set[int]:
        """Take the words of the lines; return the rows in which they are others than before."""
        old, self.words = self.words, labels
        if old is None:
            return set()
        changed = [(old.own, labels.own), (old.names, labels.names), (old.marked, labels.marked)]
        rows = {
            y
            for before, now in changed
            for y in before.keys() | now.keys()
            if before.get(y) != now.get(y)
        }
        if rows and self.layout is not None and self.scale is not None:
            both = [held.own[y] for held in (old, labels) for y in rows if y in held.own]
            rows |= {self.scale.row(label.line.price) for label in both}  # where their lines are
            heads = area.painted(0, self.layout.split, rows)
            tails = area.painted(self.layout.split, self.layout.plot, rows)
            for y in rows:
                area.heads[y], area.tails[y] = heads[y], tails[y]
        return rows

    def _hold_lines(self, scene: Scene) -> None:
        """Choose at which values the newest ends of lines are drawn."""
        held_lines, time_ns = self.held_lines, self._real[-1].time_ns
        if held_lines.time_ns != time_ns or len(held_lines.lines) != len(self._areas):
            held_lines.time_ns, held_lines.lines = time_ns, [[] for _ in self._areas]
        held_lines.lines = [
            held_values(lines_of(scene, number), scene.end, area.scale, held_lines.lines[number])
            for number, area in enumerate(self._areas)
        ]

    def _moved_parts(self, scene: Scene, number: int, area: Area) -> list[MovedPart]:
        held = self.held_lines.lines[number]
        if number:
            return moved_parts_of_sub_pane(scene, scene.sub_panes[number - 1], area.scale, held)
        return moved_parts_of_candles(scene, self._shown, area.scale, held)

    # Painting.

    def _paint_candles(self, canvas: Canvas) -> None:
        scene, layout, words = self._scene, self.layout, self.words
        if (
            scene is not None
            and layout is not None
            and self.scale is not None
            and words is not None
        ):
            view = View(scene, layout, self.scale, self._shown, self._real, words)
            paint_chart(canvas, view, self.held_lines.lines[0])

    def _paint_sub_pane(self, number: int, scale: Scale, canvas: Canvas) -> None:
        scene, layout = self._scene, self.layout
        if scene is not None and layout is not None:
            pane = scene.sub_panes[number]
            visible = slice(layout.first, scene.end)
            braille = scene.braille and not scene.look.ascii_only
            held = self.held_lines.lines[1 + number]
            sub_pane.paint(
                canvas,
                pane,
                visible,
                layout.columns,
                scale,
                held=held,
                braille=braille,
                colours=not scene.look.hollow,
            )


def lines_of(scene: Scene, number: int) -> list[Sequence[float]]:
    """Return the values of the lines over the candles, or of a sub-pane."""
    if number:
        return [values for _, values in scene.sub_panes[number - 1].lines]
    return [line.values for line in scene.overlays]


def changed_labels(before: Mapping[int, Run], now: PriceLabels) -> set[int]:
    """Return the rows whose labels differ."""
    rows = now.rows
    if len(before) == len(rows) and before.keys() == rows.keys():
        return {y for y, label in rows.items() if before[y] != label}
    return {y for y in before.keys() | rows.keys() if before.get(y) != rows.get(y)}


def dimmed(rows: Sequence[Sequence[Run]]) -> list[list[Run]]:
    """Return the picture without its colours: old data until the new is there."""
    return [[(text, _dim(role)) for text, role in row] for row in rows]


def _dim(role: str) -> str:
    if role.startswith(FILLED):
        return FILLED + "line"
    return "faint@line" if "@" in role else "faint" if role else ""
