"""A pane of rows and columns: columns fitted to the width, a cursor that stays on its row."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

from textual.binding import BindingType
from textual.events import Click

from keydesk.keys.keymap import ROWS
from keydesk.keys.textual_bindings import bindings_of
from keydesk.store.frame import Frame
from keydesk.tables.column import Column, apart, fit, needed, widen
from keydesk.text.format import lines_of
from keydesk.text.sanitize import Printable
from keydesk.widgets.lines import LinePane, Run, cut, width_of

WIDEST_GAP = 2
WIDEST_NAME = 12  # cells; longer text in a column of names is cut, so that it hides no numbers
WHEEL = 3  # rows that a notch of the wheel goes


class TablePane(LinePane):
    """Rows under a header; subclasses provide the row keys and draw a cell."""

    KEY_CONTEXT: ClassVar[str] = ROWS
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of(ROWS)]
    COLUMNS: ClassVar[tuple[Column, ...]] = ()
    HEAD = 1  # lines above the rows
    FOOT = 0  # lines below them
    exits_only = False  # the terminal has no room for a ticket: no empty list names its keys

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own word
        super().__init__(id=id)
        self.keys: list[str] = []
        self.first = 0  # index of the row under the header
        self.cursor = 0
        self.fitted: tuple[Column, ...] = ()
        self.gap = 1
        self._outgrown = False  # a cell became wider than its column: the columns are fitted anew

    # To be implemented by subclasses.

    def columns(self) -> Sequence[Column]:
        """Return all columns, before they are fitted to the width."""
        return self.COLUMNS

    def cell(self, key: str, column: str, frame: Frame) -> Sequence[Run]:
        """Return the text of a cell."""
        raise NotImplementedError  # `query` finds panes by this class, and takes no abstract one

    def empty(self, frame: Frame) -> Printable:  # noqa: ARG002 - the words may depend on it
        """Return the text shown without rows."""
        return ""

    def foot(self, line: int, frame: Frame) -> Iterable[Run]:  # noqa: ARG002
        """Return the text of the lines below the rows."""
        return ()

    # Rows.

    @property
    def selected(self) -> str | None:
        """Return the key of the row under the cursor."""
        return self.keys[self.cursor] if self.cursor < len(self.keys) else None

    @property
    def room(self) -> int:
        """Return how many rows are visible."""
        return max(1, self.outer_size.height - self.HEAD - self.FOOT)

    def set_keys(self, keys: Sequence[str]) -> None:
        """Show these rows; the cursor stays on its row while that exists."""
        if list(keys) == self.keys:
            return
        held = self.selected
        self.keys = list(keys)
        if held in self.keys:
            self.cursor = self.keys.index(held)
        self.cursor = max(0, min(self.cursor, len(self.keys) - 1))
        self._scroll()
        self.redraw()

    def add_first_keys(self, keys: Sequence[str]) -> None:
        """Show further rows above all others; the cursor stays on its row."""
        if self.keys:
            self.cursor += len(keys)
        self.keys[:0] = keys
        self._scroll()
        self.redraw()

    def redraw_row(self, key: str) -> None:
        """Draw a row again, if it is visible."""
        if key in self._shown():
            self.redraw_line(self.HEAD + self.keys.index(key, self.first) - self.first)

    def _shown(self) -> list[str]:
        return self.keys[self.first : self.first + self.room]

    def refit(self) -> None:
        """Choose the columns for the width; each is as wide as its widest visible cell."""
        self._outgrown = False
        self.fitted = fit(self.measured(self.columns()), self.inside)
        fitting = [gap for gap in (1, WIDEST_GAP) if needed(self.fitted, gap) <= self.inside]
        self.gap = max(fitting, default=1)
        if self.gap == 1:
            self.fitted = apart(self.fitted, self.inside)

    def measured(self, columns: Sequence[Column]) -> Sequence[Column]:
        """Return the columns, widened to the widest cell of the rows in sight; names only up to a bound."""
        frame, rows = self.frame, self._shown()
        if frame is None or not rows:
            return columns
        widths = {}
        for column in columns:
            if not column.flexible:
                cells = (width_of(self.cell(key, column.key, frame)) for key in rows)
                widest = max(len(column.title), *cells)
                bound = widest if column.right else max(column.width, WIDEST_NAME)
                widths[column.key] = min(widest, bound)
        return widen(columns, widths)

    def redraw(self) -> None:
        """Draw everything again, the columns fitted anew."""
        self._scroll()
        self.refit()
        super().redraw()

    # Lines.

    def runs(self, y: int, frame: Frame) -> Iterable[Run]:
        """Return the text of a line: header, row or foot."""
        if y < self.HEAD:
            return self.header() if self.keys and y == self.HEAD - 1 else ()
        if y >= self.outer_size.height - self.FOOT:
            return self.foot(y - (self.outer_size.height - self.FOOT), frame)
        index = self.first + y - self.HEAD
        if index < len(self.keys):
            return self.row(self.keys[index], frame)
        words = () if self.keys else lines_of(self.empty(frame), max(1, self.inside))
        at = y - self.HEAD
        return [(words[at], self.palette["muted"])] if at < len(words) else ()

    def header(self) -> list[Run]:
        """Return the header."""
        style = self.palette["muted"]
        return self._joined([(column, [(column.title, style)]) for column in self.fitted])

    def row(self, key: str, frame: Frame) -> list[Run]:
        """Return the cells of a row, joined."""
        return self._joined([(c, self.cell(key, c.key, frame)) for c in self.fitted])

    def text_row(self, key: str) -> list[str]:
        """Return the cells of a row as text, of every column, also of those without room."""
        if self.frame is None:
            return []
        cells = (self.cell(key, column.key, self.frame) for column in self.columns())
        return ["".join(text for text, _ in cell).strip() for cell in cells]

    def text_rows(self) -> list[list[str]]:
        """Return titles and rows as cells of text, also those out of sight."""
        titles = [str(column.title) for column in self.columns()]
        return [titles, *(self.text_row(key) for key in self.keys)] if self.keys else []

    def _joined(self, cells: Sequence[tuple[Column, Sequence[Run]]]) -> list[Run]:
        plain = self.palette["plain"]
        runs: list[Run] = []
        for column, cell in cells:
            if runs:
                runs.append((" " * self.gap, plain))
            space = column.width - width_of(cell)
            padding = (" " * max(0, space), plain)
            if space < 0:
                runs += self._cut(column, cell)
            elif column.right:
                runs += [padding, *cell]
            else:
                runs += [*cell, padding]
        return runs

    def _cut(self, column: Column, cell: Sequence[Run]) -> Sequence[Run]:
        """Return the cell no wider than its column; a column that is too narrow is widened right after."""
        if column.right and not column.flexible and not self._outgrown:
            self._outgrown = True
            self.call_later(self.redraw)
        return cut(cell, column.width)

    def is_selected(self, y: int) -> bool:
        """Return whether the line is the row under the cursor, in the focused pane."""
        return self.has_focus and bool(self.keys) and y == self.HEAD + self.cursor - self.first

    # The mouse, where it was asked for.

    def on_click(self, event: Click) -> None:
        """Choose the row that was clicked; that opens nothing and sends nothing."""
        index = self.first + event.y - self.HEAD
        if self.HEAD <= event.y < self.HEAD + self.room and index < len(self.keys):
            self.move_to(index)

    def on_mouse_scroll_down(self) -> None:
        """Go some rows down, in the pane under the pointer."""
        self.focus()
        self.move_to(self.cursor + WHEEL)

    def on_mouse_scroll_up(self) -> None:
        """Go some rows up, in the pane under the pointer."""
        self.focus()
        self.move_to(self.cursor - WHEEL)

    # The cursor.

    def move_to(self, index: int) -> None:
        """Put the cursor on a row."""
        if not self.keys:
            return
        old, self.cursor = self.cursor, max(0, min(index, len(self.keys) - 1))
        if old == self.cursor:
            return
        if self._scroll():
            super().redraw()  # the columns stay, unless a row that comes into view is wider
        else:
            self.redraw_line(self.HEAD + old - self.first)
            self.redraw_line(self.HEAD + self.cursor - self.first)
        self.moved()

    def moved(self) -> None:
        """Hook: the user moved the cursor."""

    def entered(self) -> None:
        """Hook: the user moved the focus to the pane."""

    def _scroll(self) -> bool:
        """Scroll the cursor into view; return whether rows moved."""
        before = self.first
        self.first = min(self.first, self.cursor, max(0, len(self.keys) - self.room))
        self.first = max(self.first, self.cursor - self.room + 1, 0)
        return before != self.first

    def action_row_down(self) -> None:
        self.move_to(self.cursor + 1)

    def action_row_up(self) -> None:
        self.move_to(self.cursor - 1)

    def action_page_down(self) -> None:
        """Go a pane full of rows down."""
        self.move_to(self.cursor + self.room)

    def action_page_up(self) -> None:
        """Go a pane full of rows up."""
        self.move_to(self.cursor - self.room)

    def action_top(self) -> None:
        self.move_to(0)

    def action_bottom(self) -> None:
        self.move_to(len(self.keys) - 1)
