"""Paint the candles of a chart, and what stands behind and over them: prices, sessions, cursor, lines of indicators."""

from bisect import bisect_left
from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache

from msgspec import Struct

from keydesk.calc.market.sessions import SESSIONS, Session
from keydesk.chart.canvas import GRID, Canvas, width_of
from keydesk.chart.glyphs import dense_levels, paint_candle
from keydesk.chart.layout import Layout
from keydesk.chart.lines import Span, first_touching, paint_line, paint_spans, stroke_of
from keydesk.chart.own_labels import is_entry
from keydesk.chart.price_axis import PriceLine, Rank
from keydesk.chart.price_labels import PriceLabels
from keydesk.chart.scale import Scale
from keydesk.chart.scene import Scene
from keydesk.store.state import Candle
from keydesk.text import format as show
from keydesk_client.arithmetic.constants import SECOND

DASH, SOLID, THIN = "╌", "─", "┄"
ASCII_DASH, ASCII_SOLID, ASCII_THIN = "_ ", "=", "_"  # told from bodies, which may be "-"
MAX_CANDLE = 3600  # seconds: on longer candles the opening of a session is not marked
MAX_DAYS = 15
MARKED_WITHIN = 0.6  # of the plot, from the left
SATURDAY = 5
# Sydney opens as the day begins.
MARKED = [session for session in SESSIONS if session.name != "Sydney"]


class View(Struct, frozen=True):
    """A scene with the places of its columns and rows."""

    scene: Scene
    layout: Layout
    scale: Scale
    shown: Sequence[Candle]  # as they are drawn: of Heikin-Ashi, those
    real: Sequence[Candle]
    labels: PriceLabels


def paint_chart(canvas: Canvas, view: View, ends: Sequence[float]) -> None:
    """Paint candles or the line of closes, then what lies behind them, then the indicators.

    Args:
        canvas: The columns to paint.
        view: What is shown.
        ends: The value at which the newest end of each overlay is drawn.
    """
    scene, layout = view.scene, view.layout
    _paint_candles(canvas, view)
    _paint_names(canvas, view)
    _paint_marks(canvas, view)
    _paint_cursor(canvas, view)
    _paint_sessions(canvas, view)
    _paint_prices(canvas, view)
    first = first_touching(layout.columns, canvas.left)
    columns, before = layout.columns[first:], slice(layout.first + first, scene.end - 1)
    for overlay, newest in zip(scene.overlays, ends, strict=True):
        paint_line(
            canvas,
            columns,
            [*overlay.values[before], newest],
            view.scale,
            overlay.role,
            braille=scene.braille and not scene.look.ascii_only,
            stroke=stroke_of(overlay.role, colours=not scene.look.hollow),
        )


def _paint_candles(canvas: Canvas, view: View) -> None:
    look, columns = view.scene.look, view.layout.columns
    if look.per_column > 1:
        _paint_dense(canvas, view)
        return
    if look.style == "line":
        closes = [each.close for each in view.shown]
        braille = not look.ascii_only
        paint_line(canvas, columns, closes, view.scale, "plain", braille=braille)
        return
    first = bisect_left(columns, canvas.left - look.body)
    last = bisect_left(columns, canvas.right + look.body)
    for x, candle in zip(columns[first:last], view.shown[first:last], strict=True):
        paint_candle(canvas, x, candle, view.scale, look)


def _paint_dense(canvas: Canvas, view: View) -> None:
    """Paint several candles a column: from low to high, or from close to close.

    A column rises or falls from its first open to its last close.
    """
    look, columns, scale = view.scene.look, view.layout.columns, view.scale
    per_column, shown = look.per_column, view.shown
    spans: list[Span] = []
    opened: dict[int, float] = {}
    roles: dict[int, str] = {}
    first = bisect_left(columns, canvas.left)
    for at, (x, candle) in enumerate(zip(columns[first:], shown[first:], strict=True), first):
        behind = (len(columns) - 1 - at) % per_column  # candles of the column that are newer
        is_left = 2 * behind >= per_column
        spans.append((2 * x + (not is_left), *dense_levels(shown, at, scale, look)))
        rises = candle.close >= opened.setdefault(x, candle.open)
        roles[x] = "plain" if look.style == "line" else "rise" if rises else "fall"
    paint_spans(canvas, spans, scale.rows, roles, braille=not look.ascii_only)


def _paint_names(canvas: Canvas, view: View) -> None:
    """Write the names of own prices beside the axis, right of the candles."""
    for y, runs in view.labels.names.items():
        x = view.layout.plot - width_of(runs) - 1
        for text, role in ((" ", "muted"), *runs):
            for glyph in text:
                canvas.put(x, y, glyph, role)
                x += 1


def _paint_marks(canvas: Canvas, view: View) -> None:
    """Draw the marks that have room for their names and prices in free cells: lines up to the newest candles.

    Of marks that share a row, those that have no room are left out.
    """
    if canvas.left:
        return
    most = min(canvas.right, round(view.layout.plot * MARKED_WITHIN))
    thin = ASCII_THIN if view.scene.look.ascii_only else THIN
    for y, words in view.labels.marked.items():
        for count in range(len(words), 0, -1):
            text = "  ".join(text for text, _ in words[:count]) + " "
            at = canvas.free(y, 0, len(text), most)
            if at is not None:
                canvas.whole(y, at, text, "muted")
                canvas.behind(y, 0, thin * canvas.right, GRID)
                break


def _paint_cursor(canvas: Canvas, view: View) -> None:
    cursor, layout, scale = view.scene.cursor, view.layout, view.scale
    if cursor is None:
        return
    at = cursor.index - layout.first
    if 0 <= at < len(layout.columns):
        for y in range(scale.rows):
            canvas.behind(y, layout.columns[at], "│", "cursor")
    if scale.holds(cursor.price):
        canvas.behind(scale.row(cursor.price), 0, "─" * layout.plot, "cursor")


def _paint_sessions(canvas: Canvas, view: View) -> None:
    """Name the sessions that open, in the lowest row, where no candle stands."""
    if canvas.left:
        return
    for index, name in session_opens(view.real, view.scene.seconds):
        canvas.whole(view.layout.rows - 1, view.layout.columns[index], f"╵{name}", "faint")


def _paint_prices(canvas: Canvas, view: View) -> None:
    """Draw the prices of own labels across the chart.

    A price whose label stands in another row has no line, for it would lead to no label or to that of another price. The
    line of a planned one ends with the candles where no label is in its row.
    """
    plot, scale, labels = view.layout.plot, view.scale, view.labels.own
    beside = min(plot, view.layout.columns[-1] + view.scene.look.body)
    ascii_only = view.scene.look.ascii_only
    dash, solid = (ASCII_DASH, ASCII_SOLID) if ascii_only else (DASH, SOLID)
    lines: dict[tuple[int, int, int], list[PriceLine]] = {}
    for y, label in labels.items():
        line, row = label.line, scale.row(label.line.price)
        planned = line.rank == Rank.PLANNED
        if scale.holds(line.price) and (row == y or (planned and row not in labels)):
            start = 0 if line.since_ns is None else _column_of(line.since_ns, view)
            lines.setdefault((row, start, plot if row == y else beside), []).append(line)
    for (y, start, end), own in lines.items():
        glyphs = solid if any(map(is_entry, own)) else dash
        canvas.behind(
            y, start, (glyphs * plot)[start:end], *dict.fromkeys(line.role for line in own)
        )


def _column_of(time_ns: int, view: View) -> int:
    """Return the column of the candle that holds a time; the left edge for an earlier one."""
    behind = bisect_left(view.real, time_ns + 1, key=lambda each: each.time_ns)
    return view.layout.columns[behind - 1] if behind else 0


def session_opens(candles: Sequence[Candle], seconds: int) -> list[tuple[int, str]]:
    """Return the candles that hold the opening of a session, and its name, in the order of time."""
    if not candles or seconds >= MAX_CANDLE:
        return []
    first, last = candles[0].time_ns, candles[-1].time_ns + seconds * SECOND
    opens: list[tuple[int, str]] = []
    for ordinal in range(_ordinal(first) - 1, min(_ordinal(last) + 2, _ordinal(first) + MAX_DAYS)):
        for session in MARKED:
            opening = _opening(session, ordinal)
            if opening is None or not first <= opening < last:
                continue
            index = bisect_left(candles, opening + 1, key=lambda each: each.time_ns) - 1
            if opening < candles[index].time_ns + seconds * SECOND:
                opens.append((index, session.name))
    return sorted(opens)


def _ordinal(time_ns: int) -> int:
    return show.at(time_ns).toordinal()


@lru_cache(maxsize=128)
def _opening(session: Session, ordinal: int) -> int | None:
    """Return the instant of an opening on a day; none at a weekend."""
    day = datetime.fromordinal(ordinal).date()
    if day.weekday() >= SATURDAY:
        return None
    return int(datetime.combine(day, session.opens, session.zone).timestamp()) * SECOND
