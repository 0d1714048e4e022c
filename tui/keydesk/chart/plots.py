"""Plots with axes: step curves, areas, bars, densities of points and lines across, as rows of text and roles.

Values go in, rows come out. What is painted first keeps its cells; lines across and down cross filled cells. A curve is of
braille dots, a cell two wide and four high; of stars where the terminal shows ASCII characters only.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from keydesk.chart.canvas import ACROSS, FILLED, FREE, POST, POST_EVERY, Canvas, Run

Point = tuple[float, float]
Rows = list[list[Run]]
DOTS = ((0x40, 0x04, 0x02, 0x01), (0x80, 0x20, 0x10, 0x08))  # left and right dots, from below
BRAILLE = 0x2800
MIDDLE = 1  # the dot from below that is nearest to a line in the middle of a cell
BELOW_ZERO = "⡀⢀⣀"  # dots of its row that are lower
SHADE, EDGE = ":", "#"  # of an area, where there is ASCII alone
DOTS_HIGH, DOTS_WIDE = 4, 2  # of a cell
EIGHTHS = " ▁▂▃▄▅▆▇"
DENSITY, ASCII_DENSITY = ("•", "░", "▒"), ("x", "o", "@")  # one point, several, many
SEVERAL, MANY = 2, 5  # points in a cell
STAR = "*"  # of a curve where there is ASCII alone
GAP = 2  # columns between labels
LEAST_TICKS = 2
STEPS = (1, 2, 5)
ROUNDING = 1e-9


class Span(NamedTuple):
    """The values from one edge of a plot to the other."""

    low: float
    high: float

    def share(self, value: float) -> float:
        """Return where a value is between the edges: 0 to 1."""
        size = self.high - self.low
        return 0.5 if size <= 0 else min(1.0, max(0.0, (value - self.low) / size))


class Label(NamedTuple):
    """Words at a place of an axis."""

    place: int  # a row, or a column
    text: str
    role: str = "muted"


class Signed(NamedTuple):
    """The roles of a curve from its base upwards and below it."""

    above: str
    below: str
    base: float = 0.0


class Plot:
    """The cells of a plot of some columns and rows, with the span of values that it shows either way.

    Args:
        size: Columns and rows.
        x: The values from the first column to the last.
        y: The values from the lowest row to the highest.
        across: Values with a dotted line of the grid.
        ascii_only: Whether the terminal shows ASCII characters only.
    """

    def __init__(
        self,
        size: tuple[int, int],
        x: Span,
        y: Span,
        *,
        across: Iterable[float] = (),
        ascii_only: bool = False,
    ) -> None:
        self.columns, self.rows = max(1, size[0]), max(1, size[1])
        self.x, self.y, self.ascii_only = x, y, ascii_only
        grid = {self.row(value) for value in across}
        self.canvas = Canvas(0, self.columns, self.rows, across=grid)

    # Places.

    def column(self, value: float) -> int:
        """Return the column of a value."""
        return self._half(value) // DOTS_WIDE

    def row(self, value: float) -> int:
        """Return the row of a value, counted from the top."""
        return self.rows - 1 - self._level(value) // DOTS_HIGH

    def _half(self, value: float) -> int:
        return round(self.x.share(value) * (self.columns * DOTS_WIDE - 1))

    def _level(self, value: float) -> int:
        return math.floor(self.y.share(value) * (self.rows * DOTS_HIGH - 1) + ROUNDING)

    # What is painted.

    def steps(self, points: Sequence[Point], roles: Signed) -> None:
        """Paint a curve that keeps each value until the next one, in the roles of its sign."""
        base = self.row(roles.base)
        if self.ascii_only:
            lowest = self.rows - 1
            walk = [
                (self.column(x), lowest - max(self.row(y), base + 1 if y < roles.base else 0))
                for x, y in points
            ]
            cells = _starred(_spans(walk), self.rows)
        else:
            walk = [(self._half(x), self._level(y)) for x, y in points]
            cells = _dotted(_spans(walk), self.rows)
        for (x, y), glyph in cells.items():
            is_below = y > base or (y == base and glyph in BELOW_ZERO)
            self.canvas.put(x, y, glyph, roles.below if is_below else roles.above)

    def area(self, points: Sequence[Point], role: str) -> None:
        """Fill what is between a curve of steps and the upper edge, an eighth of a row precise: the deepest of each column, the last value in the last one."""
        unit = 1 if self.ascii_only else len(EIGHTHS)
        top = self.rows * unit
        walk = [(self.column(x), round(self.y.share(y) * top)) for x, y in points]
        spans = _spans(walk) | {place: (level, level) for place, level in walk[-1:]}
        for x, (low, _) in spans.items():
            full, part = divmod(top - low, unit)
            for y in range(full):
                glyph = EDGE if y == full - 1 else SHADE
                self.canvas.put(x, y, *((glyph, role) if self.ascii_only else (" ", FILLED + role)))
            if part:  # the glyph has the colour of the background
                self.canvas.put(x, full, EIGHTHS[-part], FILLED + role)

    def bar(self, first: int, width: int, parts: Sequence[tuple[float, str]]) -> int:
        """Paint a bar from the lower edge: its parts upon one another; return its highest row.

        Args:
            first: Its first column.
            width: Its columns.
            parts: The heights, each with its role.
        """
        tops, height = list[tuple[int, str]](), 0.0
        for part, role in parts:
            height += part
            eighths = round(self.y.share(height) * self.rows * len(EIGHTHS))
            tops.append((max(eighths, tops[-1][0] if tops else 0, int(part > 0)), role))
        top = tops[-1][0] if tops else 0
        for level in range(-(-top // len(EIGHTHS))):
            glyph, role = self._bar_cell(level, tops)
            for x in range(first, first + width):
                self.canvas.put(x, self.rows - 1 - level, glyph, role)
        return self.rows - max(1, -(-top // len(EIGHTHS)))

    def _bar_cell(self, level: int, tops: Sequence[tuple[int, str]]) -> tuple[str, str]:
        """Return glyph and role of a cell: full, or the lower eighths in one role and the rest in the next one's."""
        bottom = level * len(EIGHTHS)
        at = next(place for place, (top, _) in enumerate(tops) if top > bottom)
        top, role = tops[at]
        if self.ascii_only:
            return "#", role
        if top - bottom >= len(EIGHTHS):
            return " ", FILLED + role
        above = next((other for upper, other in tops[at + 1 :] if upper > top), "")
        return EIGHTHS[top - bottom], f"{role}{ACROSS}{above}" if above else role

    def density(self, points: Iterable[Point], role: str) -> None:
        """Paint points; the glyph of a cell says how many there are in it."""
        glyphs = ASCII_DENSITY if self.ascii_only else DENSITY
        counts = Counter((self.column(x), self.row(y)) for x, y in points)
        for (x, y), n in counts.items():
            self.canvas.put(x, y, glyphs[(n >= SEVERAL) + (n >= MANY)], role)

    def line_across(self, value: float, role: str, glyph: str) -> None:
        """Paint a line at a value, behind what is there."""
        self.canvas.behind(self.row(value), 0, glyph * self.columns, role)

    def line_down(
        self, value: float, role: str, glyph: str = POST, *, first: int = 0, every: int = POST_EVERY
    ) -> None:
        """Paint a line at a value from a row downwards, behind what is there; dotted, as each further colour costs bytes.

        Args:
            value: Its place.
            role: Its role.
            glyph: Of its cells.
            first: Its first row.
            every: The rows from one of its cells to the next.
        """
        x = self.column(value)
        for y in range(first, self.rows, every):
            self.canvas.cell_behind(y, x, glyph, role)

    def write(self, y: int, first: int, text: str, role: str) -> bool:
        """Write words where all their cells and those beside them are free; return whether they were."""
        left, right = max(0, first - 1), min(self.columns, first + len(text) + 1)
        if first < 0 or first + len(text) > self.columns or not 0 <= y < self.rows:
            return False
        if any(there not in FREE for there in self.canvas.roles[y][left:right]):
            return False
        return self.canvas.whole(y, first, text, role)

    # Rows.

    def drawn(self) -> Rows:
        """Return the rows of the plot alone."""
        return [self.canvas.runs(y) for y in range(self.rows)]

    def with_values(self, labels: Sequence[Label], width: int, *, at_left: bool = False) -> Rows:
        """Return the rows with labels of values beside them; the first label of a row is the one that stands."""
        texts: dict[int, Run] = {}
        for place, text, role in labels:
            texts.setdefault(place, (text, role))
        rows = []
        for y, row in enumerate(self.drawn()):
            text, role = texts.get(y, ("", ""))
            shown = f"{text:>{width - 1}} " if at_left else f" {text:>{width - 1}}"
            rows.append([(shown, role), *row] if at_left else [*row, (shown, role)])
        return rows


def _spans(walk: Sequence[tuple[int, int]]) -> dict[int, tuple[int, int]]:
    """Return the lowest and the highest level at each place of a curve of steps."""
    spans: dict[int, tuple[int, int]] = {}
    before: tuple[int, int] | None = None
    for place, level in walk:
        if before is not None:
            for between in range(before[0] + 1, place):
                spans[between] = before[1], before[1]
        ends = (level,) if before is None else (level, before[1])
        low, high = spans.get(place, (level, level))
        spans[place] = min(low, *ends), max(high, *ends)
        before = place, level
    return spans


def _dotted(spans: Mapping[int, tuple[int, int]], rows: int) -> dict[tuple[int, int], str]:
    """Return the braille cells of spans of levels."""
    cells: dict[tuple[int, int], int] = {}
    for half, (low, high) in spans.items():
        for level in range(low, high + 1):
            cell = half // DOTS_WIDE, rows - 1 - level // DOTS_HIGH
            cells[cell] = cells.get(cell, 0) | DOTS[half % DOTS_WIDE][level % DOTS_HIGH]
    return {cell: chr(BRAILLE + dots) for cell, dots in cells.items()}


def _starred(spans: Mapping[int, tuple[int, int]], rows: int) -> dict[tuple[int, int], str]:
    """Return the ASCII cells of spans of rows."""
    return {
        (x, rows - 1 - level): STAR
        for x, (low, high) in spans.items()
        for level in range(low, high + 1)
    }


def scale_row(labels: Sequence[Label], columns: int, *, centred: bool = True) -> list[Run]:
    """Return the labels of an axis in one row; one that would touch an earlier one is left out."""
    canvas = Canvas(0, columns, 1)
    taken: list[tuple[int, int]] = []
    for place, text, role in labels:
        wanted = place - (len(text) // 2 if centred else 0)
        start = max(0, min(columns - len(text), wanted))
        end = start + len(text)
        if start < 0 or end > columns or any(start < e + GAP and s < end + GAP for s, e in taken):
            continue
        taken.append((start, end))
        canvas.whole(0, start, text, role)
    return canvas.runs(0)


def signed_span(values: Iterable[float], rows: int) -> Span:
    """Return the span of values and zero, with zero in the middle of one of so many rows; losses have at least a row below it.

    Args:
        values: Those of a curve; the row of dots above the highest one is free.
        rows: Of the plot, at least two.
    """
    found = [0.0, *values]
    low, high = min(found), max(found)
    top = rows * DOTS_HIGH - 1
    places = range(MIDDLE + (DOTS_HIGH if low else 0), top - 1, DOTS_HIGH)
    unit, zero = min((max(high / (top - 1 - at), -low / at), at) for at in places)
    return Span(-zero * (unit or 1.0), (top - zero) * (unit or 1.0))


def round_ticks(low: float, high: float, most: int) -> list[float]:
    """Return round values of a range, at most so many: steps of 1, 2 or 5."""
    if high <= low:
        return [low]
    power = 10.0 ** (math.floor(math.log10(high - low)) - 3)
    while True:
        for factor in STEPS:
            step = power * factor
            first, last = math.ceil(low / step - ROUNDING), math.floor(high / step + ROUNDING)
            if last - first + 1 <= max(LEAST_TICKS, most):
                return [number * step + 0.0 for number in range(first, last + 1)] or [low]  # no −0
        power *= 10
