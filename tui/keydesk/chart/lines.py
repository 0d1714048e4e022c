"""Lines of values over a plot: three heights a row, or braille dots."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence

from keydesk.chart.canvas import Canvas
from keydesk.chart.scale import EIGHTHS, Scale

HEIGHTS = "▁─▔"
SOLID = "─"
STROKES = {"overlay-2": "─── ", "overlay-3": "── ", "band": "─  "}
"""Strokes and blanks of lines by role, where no colour tells them apart; every other line is solid."""
SAMPLE = 4  # columns of a stroke in the legend
DOTS = ((0x40, 0x04, 0x02, 0x01), (0x80, 0x20, 0x10, 0x08))  # left and right dots, from below
BRAILLE = 0x2800
DOT = EIGHTHS // 4  # eighths of a row
Point = tuple[int, float]
Span = tuple[int, int, int]  # half column, lowest and highest level


def paint_line(
    canvas: Canvas,
    columns: Sequence[int],
    values: Sequence[float],
    scale: Scale,
    role: str,
    *,
    braille: bool,
    stroke: str = SOLID,
) -> None:
    """Paint a line through the columns, behind what is there; values that are NaN interrupt it.

    `stroke` has a blank for each column that the line leaves out, from the left edge on, over and over.
    """
    points = {
        x: value  # the newest one of a column
        for x, value in zip(columns, values, strict=True)
        if value == value  # noqa: PLR0124 - NaN differs from itself
    }
    paint = _paint_braille if braille else _paint_heights
    paint(canvas, [*points.items()], scale, role, stroke)


def stroke_of(role: str, *, colours: bool) -> str:
    """Return the stroke of a line of this role."""
    return SOLID if colours else STROKES.get(role, SOLID)


def sample_of(role: str) -> str:
    """Return the stroke of a role as the legend shows it."""
    stroke = STROKES.get(role, SOLID)
    return (stroke * SAMPLE)[:SAMPLE].rstrip()


def first_touching(columns: Sequence[int], left: int) -> int:
    """Return the first point of the first segment that reaches a column."""
    return max(0, bisect_left(columns, left) - 2)


def paint_spans(
    canvas: Canvas, spans: Iterable[Span], rows: int, roles: Mapping[int, str], *, braille: bool
) -> None:
    """Paint spans of levels, each half a column wide, in the role of its column."""
    cells: dict[tuple[int, int], int] = {}
    for half, low, high in spans:
        if canvas.left <= half // 2 < canvas.right:
            for dot in range(low // DOT, high // DOT + 1):
                cell = half // 2, rows - 1 - dot // 4
                cells[cell] = cells.get(cell, 0) | DOTS[half % 2][dot % 4]
    for (x, y), dots in cells.items():
        canvas.put(x, y, chr(BRAILLE + dots) if braille else "│", roles[x])


def _paint_heights(
    canvas: Canvas, points: Sequence[Point], scale: Scale, role: str, stroke: str
) -> None:
    low, high, bottom = scale.low, scale.high, scale.rows - 1
    for i, (x0, v0) in enumerate(points):
        x1, v1 = points[i + 1] if i + 1 < len(points) else (x0 + 1, v0)
        slope = (v1 - v0) / (x1 - x0)
        for x in range(max(x0, canvas.left), min(x1, canvas.right)):
            value = v0 + slope * (x - x0)
            if low <= value <= high and stroke[x % len(stroke)] != " ":
                level, part = divmod(scale.at(value), EIGHTHS)
                canvas.cell_behind(bottom - level, x, HEIGHTS[part * 3 // EIGHTHS], role)


def _paint_braille(
    canvas: Canvas, points: Sequence[Point], scale: Scale, role: str, stroke: str
) -> None:
    cells: dict[tuple[int, int], int] = {}
    for i, (x0, v0) in enumerate(points):
        x1, v1 = points[i + 1] if i + 1 < len(points) else (x0, v0)
        if not (scale.holds(v0) and scale.holds(v1)):
            continue
        halves = 2 * (x1 - x0)
        before = scale.at(v0) // DOT
        for half in range(halves + 1):
            value = v0 + (v1 - v0) * half / halves if halves else v0
            now = scale.at(value) // DOT
            for dot in range(min(before, now), max(before, now) + 1):
                cell = (2 * x0 + half) // 2, scale.rows - 1 - dot // 4
                cells[cell] = cells.get(cell, 0) | DOTS[half % 2][dot % 4]
            before = now
    for (x, y), dots in cells.items():
        if stroke[x % len(stroke)] == " ":
            continue
        canvas.behind(y, x, chr(BRAILLE + dots), role)
