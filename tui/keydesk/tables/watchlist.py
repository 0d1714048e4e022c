"""The watchlist: a named list of instruments, in columns that the trader chose, sorted and filtered on demand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from msgspec import Struct
from textual.binding import BindingType
from textual.message import Message

from keydesk.calc.market.price_age import QUIET_INSTRUMENT
from keydesk.keys.keymap import WATCHLIST
from keydesk.keys.textual_bindings import bindings_of
from keydesk.parse.instruments import matching
from keydesk.store.frame import Frame
from keydesk.store.state import Topic
from keydesk.store.store import Store
from keydesk.store.watchlists import active_list
from keydesk.tables.column import Column, widen
from keydesk.tables.instrument_rows import InstrumentRows
from keydesk.tables.row_order import LIVE_EVERY, TableOrder
from keydesk.tables.sorted_table import OrderedTable
from keydesk.tables.watch_columns import BY_KEY, WATCH_COLUMNS, WatchColumn, WatchRow, has_line
from keydesk.text import format as show
from keydesk.text.sanitize import Printable, safe
from keydesk.widgets.lines import Heading, Run, Tab, width_of
from keydesk.widgets.price_cells import (
    PriceFormat,
    flash_of,
    price_format_of,
    prices_are_old,
)
from keydesk_client.arithmetic.constants import MINUTE

MAX_NAME_LENGTH = 12  # cells; the service's own have ten and less


class RowFilter(Struct, frozen=True):
    """Which rows are shown: all conditions hold for them."""

    filter_text: str = ""
    held: bool = False  # with an own position
    tradeable: bool = False

    @classmethod
    def read(cls, text: str) -> RowFilter:
        """Return the filter that `saved` wrote."""
        parts = text.split()
        filter_text = next((part[1:] for part in parts if part.startswith("/")), "")
        return cls(filter_text, "own" in parts, "trading" in parts)

    @property
    def saved(self) -> str:
        """Return the text form for a file."""
        filter_text = "".join(each for each in self.filter_text if each.isalnum())
        return " ".join([*self._conditions(), *([f"/{filter_text}"] if filter_text else [])])

    @property
    def text(self) -> Printable:
        """Return it for a heading: "only own, gj"."""
        parts = [*self._conditions(), *([f"/{self.filter_text}"] if self.filter_text else [])]
        return safe(f"only {' '.join(parts)}") if parts else ""

    def _conditions(self) -> Sequence[str]:
        return [word for word, on in (("own", self.held), ("trading", self.tradeable)) if on]

    def rows(self, store: Store, names: Sequence[str]) -> list[str]:
        """Return the names that pass, in their order."""
        passing = set(matching(self.filter_text, names)) if self.filter_text else set(names)
        return [name for name in names if name in passing and self._passes(store, name)]

    def _passes(self, store: Store, name: str) -> bool:
        if self.held and name not in store.positions:
            return False
        quote = store.quotes.get(name)
        return not self.tradeable or (quote is not None and quote.tradeable)


class PriceWidth(Struct, frozen=True):
    """The digits before and after the decimal point of the longest price."""

    whole: int
    decimals: int


class Watchlist(InstrumentRows, OrderedTable):
    """The active list; the row under the cursor is the focused instrument of chart, ticket and books."""

    KEY_CONTEXT: ClassVar[str] = WATCHLIST
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of(WATCHLIST)]
    COLUMNS: ClassVar[tuple[WatchColumn, ...]] = WATCH_COLUMNS
    FIRST: ClassVar[str] = "day"

    @dataclass
    class ChangeWanted(Message):
        """The user asked for a change of the lists: "new", "next", "number 3", "add", "move" ..."""

        change: str
        row: str  # the instrument under the cursor, "" without one
        past: str = ""  # the instrument that the row is to be moved past

    @dataclass
    class DayLinesWanted(Message):
        """The rows whose line of the day, and whose average range, is shown."""

        lines: tuple[str, ...]
        averages: tuple[str, ...]

    def __init__(self, *, id: str | None = "watchlist") -> None:  # noqa: A002 - Textual's own word
        super().__init__(id=id)
        self.filter = RowFilter()
        self._sorted: list[str] = []  # the whole list as it was sorted last
        self._listed: tuple[object, ...] = ()
        self._known: tuple[int, ...] = ()
        self._wanted_rows: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
        self._fits_lines = False  # the column of the lines of the day
        self._had_lines = False  # of the day, in a row in sight
        self._flashing: dict[str, int] = {}
        self._old = False
        self._room = PriceWidth(1, 5)
        self._second = self._minute = 0

    # Heading and columns.

    def heading(self) -> Heading:
        """Return the list's name, then as fits: how it is sorted and filtered, and how many rows there are."""
        name = "" if self.frame is None else active_list(self.frame.store).name
        text = "Watch" if name in ("", "All") else f"Watch {name}"
        tab = Tab(show.shorten(safe(text), max(5, self.inside - 3)))
        room = self.inside - width_of([(tab.text, self.palette["plain"])]) - 5
        right = ""
        for part in (self.order_text(), self.filter.text, self._count_text()):
            longer = f"{right}, {part}" if right and part else right or part
            if len(longer) <= room:
                right = longer
        return Heading((tab,), safe(right))

    def _count_text(self) -> str:
        whole = len(self._sorted)
        if len(self.keys) != whole:
            return f"{len(self.keys)} of {whole}"
        below = len(self.keys) - self.first - self.room
        return f"{whole} in all" if self.first or below > 0 else ""

    def columns(self) -> Sequence[Column]:
        """Return the list's columns, prices as wide as the longest, decimal points aligned."""
        price = self._room.whole + self._room.decimals + 1
        longest = min(max((len(key) for key in self.keys), default=7), MAX_NAME_LENGTH)
        chosen = () if self.frame is None else active_list(self.frame.store).columns
        shown = [each for each in self.COLUMNS if not each.meaning or each.key in chosen]
        return widen(shown, {"bid": price, "ask": price, "pair": longest})

    def refit(self) -> None:
        """Choose the columns; that of the lines of the day is left out until there is one, and its room kept."""
        super().refit()
        self._fits_lines = any(each.key == "spark" for each in self.fitted)
        if not self._has_lines:
            self.fitted = tuple(each for each in self.fitted if each.key != "spark")

    @property
    def _has_lines(self) -> bool:
        """Whether a row in sight has the line of this day."""
        frame = self.frame
        return frame is not None and any(
            has_line(key, frame.store, frame.time_ns) for key in self._shown()
        )

    def empty(self, frame: Frame) -> Printable:
        """Return how to fill the list, or how to see all of it."""
        if not frame.store.instruments:
            return "Loading instruments …"
        if self._sorted:
            return safe(f"No row: {self.filter.text}. {self.keymap.name('list-whole')} shows all.")
        return safe(f"No instrument here. {self.keymap.name('list-add')} adds one.")

    # Sorting and filtering.

    def action_show_only(self, condition: str) -> None:
        """Turn one of the conditions on or off; "" shows every row."""
        now = self.filter
        match condition:
            case "held":
                self.show_only(RowFilter(now.filter_text, not now.held, now.tradeable))
            case "tradeable":
                self.show_only(RowFilter(now.filter_text, now.held, not now.tradeable))
            case _:
                self.show_only(RowFilter())

    def show_only(self, rows: RowFilter) -> None:
        """Show the rows that pass a filter."""
        self.filter = rows
        self._rearrange()

    def sort(self, order: TableOrder) -> None:
        """Sort the whole list anew, in this order."""
        self.order = order
        if self.frame is not None:
            self._sort_list(self.frame)
        self._rearrange()

    def _sort_list(self, frame: Frame) -> None:
        store, self._sorted_at = frame.store, frame.now
        self._sorted = self.order.sort(
            store.watchlist, lambda key, column: BY_KEY[column].value(store, key)
        )

    def _rearrange(self) -> None:
        """Show the rows that pass the filter, in the order of the last sorting."""
        if self.frame is not None:
            store = self.frame.store
            self.set_keys(self.filter.rows(store, self._sorted))
            self._follow(store)
            self.redraw()

    # Changes of the list itself: the desk makes them.

    def action_change(self, change: str) -> None:
        self.post(self.ChangeWanted(change, self._row()))

    def action_move_row(self, step: int) -> None:
        """Ask to move the cursor's row past its neighbour."""
        beside = self.cursor + step
        past = self.keys[beside] if 0 <= beside < len(self.keys) else ""
        self.post(self.ChangeWanted("move", self._row(), past))

    def _row(self) -> str:
        is_shown = self.frame is not None and self.frame.store.focus in self.keys
        return self.selected or "" if is_shown else ""

    def instrument_of(self, key: str, store: Store) -> str:  # noqa: ARG002 - a row is its instrument
        """Return the row's instrument."""
        return key

    def is_selected(self, y: int) -> bool:
        """Return whether the line is the row under the cursor; none is while the focus is not in the list."""
        listed = self.frame is None or self.frame.store.focus in self.keys or self.pending_choice
        return super().is_selected(y) and bool(listed)

    # What a frame changed.

    def changed(self, frame: Frame) -> None:
        """Redraw the rows whose price changed, faded or became stale."""
        store = frame.store
        self._arrange(frame)
        self._follow(store)
        if frame.touched(Topic.FOCUS):
            self.redraw_row(self.selected or "")
        minute = int(frame.time_ns // MINUTE)
        if (old := prices_are_old(store)) != self._old or minute != self._minute:
            self._old, self._minute = old, minute
            self.redraw()
        self._redraw_moved(frame)
        if (has_lines := self._has_lines) != self._had_lines:  # the first brings their column
            self._had_lines = has_lines
            self.redraw()
        self._want_day_lines()

    def _arrange(self, frame: Frame) -> None:
        """Sort again when the list or its figures changed, and when live sorting is due."""
        store = frame.store
        listed = (store.list_name, active_list(store).columns, *store.watchlist)
        known = (
            *(len(store.quotes), len(store.days), len(store.instruments)),
            len(store.daily_ranges),
        )
        if self._has_moved:
            self._has_moved, self._sorted_at = False, frame.now
        if listed != self._listed or known != self._known:
            self._listed, self._known = listed, known
            self._room = _room(store)
            self.sort(self.order)
        elif self.order.live and self.order.column and frame.now - self._sorted_at >= LIVE_EVERY:
            self._sort_around_the_cursor(frame)
        elif self.filter.held or self.filter.tradeable:
            self.set_keys(self.filter.rows(store, self._sorted))

    def _sort_around_the_cursor(self, frame: Frame) -> None:
        """Sort the rows; the one under the cursor keeps its line."""
        self._sort_list(frame)
        rows = self.filter.rows(frame.store, self._sorted)
        if (held := self._row()) in rows:
            rows.remove(held)
            rows.insert(self.cursor, held)
        self.set_keys(rows)

    def _redraw_moved(self, frame: Frame) -> None:
        prices, positions = frame.keys(Topic.PRICES), frame.keys(Topic.POSITIONS)
        dirty = prices | positions | frame.keys(Topic.DAY_LINES)
        whole = None in prices or None in positions
        second, self._second = self._second, int(frame.now)
        for key in self._shown():
            quote = frame.store.quotes.get(key)
            flash = flash_of(quote, frame.now) if quote else 0
            faded = flash != self._flashing.get(key, 0)
            self._flashing[key] = flash
            quiet = (
                second != self._second and quote and frame.now - quote.received > QUIET_INSTRUMENT
            )
            if whole or faded or quiet or key in dirty:
                self.redraw_row(key)

    def _follow(self, store: Store) -> None:
        """Put the cursor on the focused instrument, unless a choice of this pane is still on its way."""
        if self.pending_choice or store.focus == self.selected or store.focus not in self.keys:
            return
        self.cursor = self.keys.index(store.focus)
        self.redraw()

    def _want_day_lines(self) -> None:
        """Ask for the figures of the rows in sight; sorting by one needs those of every row."""
        shown = {column.key for column in self.fitted}
        lines = tuple(self._shown()) if self._fits_lines else ()
        averages = tuple(self._shown()) if "atr" in shown else ()
        if self.order.column == "atr":
            averages = tuple(dict.fromkeys((*averages, *self._sorted)))
        if (lines, averages) != self._wanted_rows:
            self._wanted_rows = (lines, averages)
            self.post(self.DayLinesWanted(lines, averages))

    # Cells.

    def cell(self, key: str, column: str, frame: Frame) -> Sequence[Run]:
        """Return one cell of an instrument's row."""
        row = WatchRow(key, frame.store, frame.now, frame.time_ns, self._room.decimals)
        return BY_KEY[column].cell(row, self.palette)


def _room(store: Store) -> PriceWidth:
    price_formats: list[PriceFormat] = [price_format_of(store, key) for key in store.watchlist]
    wholes = [
        len(str(int(store.quotes[key].ask))) for key in store.watchlist if key in store.quotes
    ]
    decimals = max((price_format.precision for price_format in price_formats), default=5)
    return PriceWidth(max(wholes, default=3), decimals)
