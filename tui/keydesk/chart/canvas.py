"""Cells of a plot and their runs of one role.

A role names a colour of the theme: `rise` is a foreground, `~rise` a cell filled with it, `entry@rise` a foreground on
a filled cell. Bodies of candles are filled cells rather than block glyphs: a background has no seam between rows in any
font, and another line can cross a body with both visible.

Painting goes from front to back: what is painted first keeps the cell, what comes later takes empty cells or crosses
filled ones. The grid is there from the start and yields to everything.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import groupby

Run = tuple[str, str]  # text and role
GRID = "grid"
FREE = ("", GRID)
POST = "┊"
POST_EVERY = 2  # rows between the dots of a time's grid line; a date's is drawn in each row
GRID_EVERY = 4  # columns between the dots of a price's grid line
TURN = 4  # cells after which lines that share a row change places
FILLED = "~"
ACROSS = "@"


class Canvas:
    """The columns from `left` up to `right` of a plot; columns are counted from the plot's left edge."""

    __slots__ = ("glyphs", "left", "right", "roles", "rows")

    def __init__(
        self,
        left: int,
        right: int,
        rows: int,
        *,
        across: Collection[int] = (),
        down: Iterable[tuple[int, str]] = (),
        only: Collection[int] | None = None,
    ) -> None:
        self.left, self.right, self.rows = left, max(left, right), rows
        width = self.right - left
        blank, free = [" "] * width, [""] * width
        dotted, dots = blank.copy(), free.copy()
        for x in range(-left % GRID_EVERY, width, GRID_EVERY):
            dotted[x], dots[x] = "·", GRID
        # a row that is not painted has no cells
        painted = [only is None or y in only for y in range(rows)]
        self.glyphs = [
            (dotted if y in across else blank).copy() if there else []
            for y, there in enumerate(painted)
        ]
        self.roles = [
            (dots if y in across else free).copy() if there else []
            for y, there in enumerate(painted)
        ]
        for x, glyph in down:
            if left <= x < right:
                for y in range(0, rows, 1 if glyph == POST else POST_EVERY):
                    self.put(x, y, glyph, GRID)

    def put(self, x: int, y: int, glyph: str, role: str) -> None:
        """Take a cell, whatever stands there."""
        if self.left <= x < self.right and 0 <= y < self.rows and self.glyphs[y]:
            self.glyphs[y][x - self.left], self.roles[y][x - self.left] = glyph, role

    def behind(self, y: int, first: int, text: str, *roles: str) -> None:
        """Write text into empty cells and across filled ones; several roles take turns along the row."""
        if not 0 <= y < self.rows or not self.glyphs[y]:
            return
        glyphs, taken, left = self.glyphs[y], self.roles[y], self.left
        for x in range(max(left, first), min(first + len(text), self.right)):
            at = x - left
            there = taken[at]
            if there in FREE:
                glyphs[at], taken[at] = text[x - first], roles[x // TURN % len(roles)]
            elif there[0] == FILLED and glyphs[at] == " ":
                role = roles[x // TURN % len(roles)]
                glyphs[at], taken[at] = text[x - first], f"{role}{ACROSS}{there[1:]}"

    def cell_behind(self, y: int, x: int, glyph: str, role: str) -> None:
        """Write a glyph into a cell of this canvas if it is empty, or across a filled one."""
        glyphs, at = self.glyphs[y], x - self.left
        if not glyphs:
            return
        there = self.roles[y][at]
        if there in FREE:
            glyphs[at], self.roles[y][at] = glyph, role
        elif there[0] == FILLED and glyphs[at] == " ":
            glyphs[at], self.roles[y][at] = glyph, f"{role}{ACROSS}{there[1:]}"

    def whole(self, y: int, first: int, text: str, role: str) -> bool:
        """Write text if all its cells are inside and free; return whether they were."""
        at = first - self.left
        if not 0 <= y < self.rows or not self.glyphs[y] or at < 0 or first + len(text) > self.right:
            return False
        if any(there not in FREE for there in self.roles[y][at : at + len(text)]):
            return False
        self.glyphs[y][at : at + len(text)] = text
        self.roles[y][at : at + len(text)] = [role] * len(text)
        return True

    def free(self, y: int, first: int, size: int, most: int) -> int | None:
        """Return the first column from `first` on where so many cells of a row are free, all before column `most`."""
        if not 0 <= y < self.rows or not self.glyphs[y]:
            return None
        for x in range(first, min(most, self.right)):
            if self.roles[y][x - self.left] not in FREE:
                first = x + 1
            elif x - first + 1 == size:
                return first
        return None

    def runs(self, y: int) -> list[Run]:
        """Return the runs of a row; blanks, which have no role, join the run before them unless that one is filled."""
        glyphs, roles = self.glyphs[y], self.roles[y]
        if not roles:
            return []
        made: list[Run] = []
        start, now, role_is_filled, x = 0, roles[0], _is_filled(roles[0]), 0
        for role, same in groupby(roles):
            first = x
            x += len(list(same))
            if role == now or (not role_is_filled and not role):
                continue
            made.append(("".join(glyphs[start:first]), now))
            start, now, role_is_filled = first, role, _is_filled(role)
        made.append(("".join(glyphs[start:]), now))
        return made


def _is_filled(role: str) -> bool:
    return role[:1] == FILLED or ACROSS in role


def width_of(runs: Sequence[Run]) -> int:
    """Return the cells of runs drawn here, whose glyphs are one cell wide each."""
    return sum(len(text) for text, _ in runs)
