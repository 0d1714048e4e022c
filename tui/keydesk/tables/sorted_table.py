"""Tables that the trader sorts by a column and filters by words; the heading says how.

The cursor stays on its row whatever the order becomes, and keys act on the row that is shown under it. Sorting by prices
is held unless asked for: rows do not move while they are read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from msgspec.structs import replace
from textual.binding import BindingType
from textual.message import Message

from keydesk.keys.keymap import TABLE
from keydesk.keys.textual_bindings import bindings_of
from keydesk.store.frame import Frame
from keydesk.store.store import Store
from keydesk.tables.column import Column, Measured
from keydesk.tables.row_order import LIVE_EVERY, TableOrder, held_order
from keydesk.tables.table_pane import TablePane
from keydesk.text import format as show
from keydesk.text.sanitize import Printable, SafeText, safe
from keydesk.text.search import has_text
from keydesk.widgets.lines import Heading, Run, Tab

MAX_SHOWN_WIDTH = 20  # columns of the filter in a heading


class OrderedTable(TablePane):
    """Rows in an order that keys choose: by which column, in which direction, once or again and again."""

    FIRST: ClassVar[str] = "pl"  # the column that is sorted by first

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own word
        super().__init__(id=id)
        self.order = TableOrder()
        self._sorted_at = float("-inf")
        self._has_moved = False  # a key moved the cursor: live sorting waits

    # To be implemented by subclasses.

    def sort(self, order: TableOrder) -> None:
        """Sort the rows anew, in this order."""
        raise NotImplementedError  # `query` finds panes by this class, and takes no abstract one

    @property
    def sortable(self) -> Sequence[str]:
        """The columns that keys go through."""
        return [column.key for column in self.columns()]

    @property
    def ascending(self) -> frozenset[str]:
        """The columns of words, which are sorted from A to Z first."""
        return frozenset(column.key for column in self.columns() if column.ascending)

    # Keys.

    def action_view(self) -> None:
        """Sort in the usual direction of the column, then in the other, then in the pane's own order."""
        self.sort(self.order.with_next_direction(self.FIRST, self.ascending))

    def action_sort_by(self, step: int) -> None:
        """Sort by the column beside the present one."""
        self.sort(self.order.with_adjacent_column(self.sortable, step, self.ascending))

    def action_sort_again(self) -> None:
        self.sort(self.order)

    def action_sort_live(self) -> None:
        """Sort again and again, or hold the rows."""
        order = self.order if self.order.column else self.order.by(self.FIRST, self.ascending)
        self.sort(replace(order, live=not order.live))

    def move_to(self, index: int) -> None:
        """Put the cursor on a row; live sorting lets it stand for a while."""
        self._has_moved = True
        super().move_to(index)

    # Words.

    def order_text(self) -> Printable:
        """Return how rows are sorted, "" for the pane's own order."""
        column = self.order.column
        if not column:
            return ""
        title = next((each.title for each in self.COLUMNS if each.key == column), "")
        return self.order.text(title or column)

    def header(self) -> list[Run]:
        """Return the header, with the sorted column highlighted."""
        muted, bright = self.palette["muted"], self.palette["bright"]

        def style(column: Column) -> Run:
            return (column.title, bright if column.key == self.order.column else muted)

        return self._joined([(each, [style(each)]) for each in self.fitted])


class SortedTable(OrderedTable):
    """Rows in an order of the trader's."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of(TABLE)]
    NAME: ClassVar[str] = ""  # of the pane, in its tab
    RETURNS_TO_TOP: ClassVar[bool] = True  # while another pane has the keys
    FILTER_HINT: ClassVar[Printable] = "pair, side, tag or text: eurusd long; leave empty for all"

    @dataclass
    class FilterWanted(Message):
        """The user wants to type the words that rows must have."""

        pane: SortedTable

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own word
        super().__init__(id=id)
        self.filter_text = ""
        self._arranged: list[str] = []  # every row, as sorted last
        self._passed = 0  # how many rows the filter left
        self._turned = False  # the order or the filter changed

    # To be implemented by subclasses.

    def measure(self, key: str, column: str, store: Store) -> Measured:
        """Return what a column measures of a row, None while that is unknown."""
        raise NotImplementedError  # `query` finds panes by this class, and takes no abstract one

    def text_of(self, key: str, store: Store) -> str:
        """Return the text of a row that the filter searches."""
        raise NotImplementedError

    def grouped(self, rows: list[str], store: Store) -> list[str]:  # noqa: ARG002 - some group
        """Return the rows with those of a group together."""
        return rows

    @property
    def sortable(self) -> Sequence[str]:
        """The columns that are shown."""
        return [column.key for column in self.fitted] or super().sortable

    # Keys.

    def action_letters(self) -> None:
        self.post(self.FilterWanted(self))

    def action_every_row(self) -> None:
        self.show_only("")

    def show_only(self, filter_text: str) -> None:
        """Show the rows whose text has these words."""
        held = self.selected
        self.filter_text = " ".join(filter_text.split())
        self._rearrange()
        if self.selected != held:  # its row was left out: the desk turns to the one shown instead
            self.moved()

    def sort(self, order: TableOrder) -> None:
        """Sort the rows anew, in this order."""
        self.order = order
        if self.frame is not None:
            self._arranged = self._sorted(self._arranged, self.frame)
        self._rearrange()

    def _sorted(self, rows: Sequence[str], frame: Frame) -> list[str]:
        self._sorted_at = frame.now
        order = self.order
        return order.sort(rows, lambda key, column: self.measure(key, column, frame.store))

    def _rearrange(self) -> None:
        self._turned = True
        if self.frame is not None:
            self.changed(self.frame)
            self.redraw()

    # Rows.

    def show_rows(self, rows: Sequence[str], frame: Frame) -> None:
        """Show these rows, given in the pane's own order, as sorted and filtered."""
        if self._has_moved:
            self._has_moved, self._sorted_at = False, frame.now
        if not self.order.column:
            self._arranged = list(rows)
        elif self._turned:
            self._arranged = self._sorted(rows, frame)
        else:
            self._arranged = held_order(self._arranged, rows)
            if self.order.live and frame.now - self._sorted_at >= LIVE_EVERY:
                self._sort_around_the_cursor(frame)
        self._turned = False
        passing = self._passing(frame.store)
        self._passed = len(passing)
        self.set_keys(self.grouped(passing, frame.store))

    def set_keys(self, keys: Sequence[str]) -> None:
        """Show these rows; the cursor of a pane that has not the keys is not visible: rows that come take it to the top."""
        if self.RETURNS_TO_TOP and not self._has_the_keys and not set(keys) <= set(self.keys):
            self.keys, self.cursor = [], 0
        super().set_keys(keys)

    @property
    def _has_the_keys(self) -> bool:
        """Whether it is the focused pane, also while a form is open over it."""
        return self.is_attached and self.screen.focused is self

    def add_first_rows(self, rows: Sequence[str]) -> None:
        """Show new rows above all others, which are not copied; for rows in the pane's own order, none filtered out."""
        self._arranged[:0] = rows
        self._passed = len(self._arranged)
        self.add_first_keys(rows)

    def _sort_around_the_cursor(self, frame: Frame) -> None:
        """Sort the rows; the one under the cursor keeps its place among them."""
        held = self.selected
        place = self._arranged.index(held) if held in self._arranged else None
        self._arranged = self._sorted(self._arranged, frame)
        if held is not None and place is not None:
            self._arranged.remove(held)
            self._arranged.insert(place, held)

    def _passing(self, store: Store) -> list[str]:
        if not self.filter_text:
            return self._arranged
        return [
            key for key in self._arranged if has_text(self.text_of(key, store), self.filter_text)
        ]

    # Words.

    def tab(self, count: int, mark: str = "", unread: str = "") -> Tab:
        """Return the name in the tab with the number of rows; of a filtered pane, how many of them are shown.

        `unread` are those without a row, as they could not be read: without any other, no number stands for them.
        """
        shown = f"{self._passed} of {count}" if self.filter_text else f"{count}"
        if unread:
            shown = f"{shown} + {unread}" if count else unread
        return Tab(safe(f"{self.NAME} {shown}{mark}"))

    def right_text(self, usual: str = "") -> Printable:
        """Return how rows are sorted and filtered, for the right of the heading; `usual` when they are not."""
        filter_text = show.shorten(safe(self.filter_text), MAX_SHOWN_WIDTH)
        parts = [self.order_text(), safe(f"only {filter_text}") if filter_text else ""]
        return safe(", ".join(filter(None, parts)) or usual)

    def titled(self, count: int, mark: str = "", usual: str = "", unread: str = "") -> Heading:
        """Return the heading of so many rows; it says how many are out of sight."""
        hidden = self.hidden_text()
        parts = (hidden, self.right_text(usual))
        return Heading(
            (self.tab(count, mark, unread),), safe(", ".join(filter(None, parts))), hidden
        )

    def hidden_text(self) -> SafeText:
        """Return how many rows are out of sight: "3 above, 2 below"."""
        counts = (self.first, "above"), (len(self.keys) - self.first - self.room, "below")
        return safe(", ".join(f"{count} {where}" for count, where in counts if count > 0))

    def no_rows(self) -> Printable:
        """Return why no row is shown while there are some, else ""."""
        if not self.filter_text or not self._arranged:
            return ""
        filter_text = show.shorten(safe(self.filter_text), MAX_SHOWN_WIDTH)
        return safe(f"No row matches {filter_text}. {self.keymap.name('table-whole')} shows all.")
