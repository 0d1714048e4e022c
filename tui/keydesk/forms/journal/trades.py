"""The journal's list: every trade or position, the newest first, with what was written about it."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from time import time_ns
from typing import ClassVar, Protocol

from msgspec.structs import replace
from rich.cells import cell_len
from textual.app import ComposeResult
from textual.worker import Worker

from keydesk.forms.info_form import InfoForm
from keydesk.forms.journal.columns import ASCENDING, BY_KEY, ListContext, name_of
from keydesk.forms.journal.table import (
    NOTE_LINES,
    JournalRows,
    SortedRows,
    excursion_of,
    fit_columns,
    note_lines,
    table_header,
    table_row,
)
from keydesk.forms.modal_form import BLANK, TextLine, two_ends, wrap_text
from keydesk.keys.keymap import JOURNAL, KEYMAP, KeyMap
from keydesk.keys.textual_bindings import bindings_of
from keydesk.records.trades import JournalLine
from keydesk.store.frame import Frame
from keydesk.store.store import Store
from keydesk.tables.column import Column
from keydesk.tables.row_order import TableOrder
from keydesk.text.format import shorten
from keydesk.text.sanitize import Printable, SafeText, safe
from keydesk.trade_journal.live import LiveJournal
from keydesk.widgets.theme import ColourRole

SORTED_AT_ONCE = 500  # rows: more are sorted in a thread
CHECK_INTERVAL = 2.0  # seconds between looks at the file of notes
BELOW_FROM = 12  # rows of the window that have room for them
MAX_SHOWN_WIDTH = 20  # columns of the filter in the title
NEWEST = "newest first"
MARKS: TextLine = (("! mistake  n note  s screen  * several trades", "faint"),)
SWAP = 2  # the part of the sums that goes first where they have no room
GROWING = "  ~ may still grow"


class JournalHost(Protocol):
    """What the list requests; the answers change the journal, which the list draws."""

    def read(self) -> None: ...
    def read_whole(self) -> None: ...
    def reread_notes(self) -> None: ...
    def read_excursions(self, ids: Sequence[str]) -> None: ...
    def ask_filter_text(self, form: "JournalForm") -> None: ...
    def show_trade(self, trade_id: str) -> None: ...
    def write_note(self, trade_id: str) -> None: ...
    def with_screens(self) -> frozenset[str]: ...


class JournalForm(InfoForm[None]):
    """Lists the trades of the account.

    Args:
        store: Has the trader's zone and the currency.
        journal: Is drawn whenever it changes.
        host: Reads, and opens what keys ask for.
        keymap: The keys, as the foot names them.
    """

    KEY_CONTEXT: ClassVar[str] = JOURNAL
    BINDINGS = bindings_of(JOURNAL)
    WIDTH: ClassVar[int] = 250

    def __init__(
        self, store: Store, journal: LiveJournal, host: JournalHost, keymap: KeyMap = KEYMAP
    ) -> None:
        super().__init__()
        self.store, self.journal, self.keymap = store, journal, keymap
        self._host = host
        self.table = JournalRows(journal, self._list_context())
        self._sorting: JournalRows | None = None  # as it was asked for last, until it is sorted
        self.cursor, self.first = 0, 0
        self._version, self._excursions_read = -1, 0
        self._checked_at = self._sorted = float("-inf")
        self._requested_rows: tuple[str, ...] = ()  # the rows whose excursions were asked for

    def compose(self) -> ComposeResult:
        """Yield the panel, with what is read already."""
        self.sort_rows()
        yield from super().compose()

    def on_mount(self) -> None:
        super().on_mount()
        self._host.read()

    def on_frame(self, frame: Frame) -> None:
        """Follow the journal; what is missing is asked for."""
        if self.journal.is_behind and not self.journal.is_reading:
            self._host.read()
        if frame.now - self._checked_at >= CHECK_INTERVAL:
            self._checked_at = frame.now
            self._host.reread_notes()
            self._follow_the_clock()
            if self.journal.excursions.due.intersection(self._requested_rows):
                self._requested_rows = ()  # their candles are complete by now
        if self._version != self.journal.version and self._sorting is None:
            self.sort_rows()
        elif self._excursions_read != self.journal.excursions_read:
            self._show_excursions(frame.now)
        self._ask_excursions()

    def _follow_the_clock(self) -> None:
        """Show how long open trades are held; rows are sorted again only where they are sorted by it."""
        if not any(each.is_open for each in self.table.lines(self._in_sight)):
            return
        if self.table.order.column == "held":
            self._version = -1
        else:
            self.table.context = self._list_context()
            self.redraw()

    def _show_excursions(self, now: float) -> None:
        """Show excursions that were read; rows sorted by them are sorted again, but not with each."""
        if not self.table.is_by_candles:
            self._excursions_read = self.journal.excursions_read
            self.redraw()
        elif now - self._sorted >= CHECK_INTERVAL:
            self._sorted, self._excursions_read = now, self.journal.excursions_read
            self.sort_rows()

    def _ask_excursions(self) -> None:
        """Ask for MAE and MFE of the rows in sight, of all while they are sorted by it."""
        every = self.table.is_by_candles
        rows = tuple(self.keys if every else self._in_sight)
        is_new = rows != self._requested_rows or self.journal.excursions_due
        if is_new and not self.table.by_position and self.journal.is_read:
            self._requested_rows = rows
            self._host.read_excursions(rows)

    # Rows.

    @property
    def keys(self) -> list[str]:
        """The rows, as sorted and filtered."""
        return self.table.keys

    @property
    def filter_text(self) -> str:
        """The words that trades must have."""
        return self.table.filter_text

    @property
    def chosen(self) -> JournalLine | None:
        """The line under the cursor."""
        return self.table.line(self.keys[self.cursor]) if self.cursor < len(self.keys) else None

    @property
    def rows(self) -> int:
        """How many trades are in sight."""
        return max(1, self.room - 2 - (NOTE_LINES if self.room >= BELOW_FROM else 0))

    @property
    def _in_sight(self) -> list[str]:
        return self.table.keys[self.first : self.first + self.rows]

    def _list_context(self) -> ListContext:
        return ListContext(
            self.journal.notes.by_trade,
            partial(excursion_of, self.journal),
            self.store.zone,
            self.store.clock_ns or time_ns(),
            self._host.with_screens(),
        )

    def sort_rows(self, then: Callable[[], None] | None = None, **changes: object) -> None:
        """Sort and filter the rows as they are now, many of them in a thread; the cursor stays on its trade.

        Args:
            then: Called once they are sorted.
            changes: Of the order, the filter, or whether positions are listed.
        """
        self._version = self.journal.version
        table = replace(self._wanted, context=self._list_context(), **changes)
        currency = self.store.home_currency
        if self.journal.count() <= SORTED_AT_ONCE:
            self._sorting = None
            self._take(table, table.sorted(currency), then)
        else:
            self._sorting = table
            work = partial(self._sort_in_thread, table, currency, then)
            _: Worker[None] = self.run_worker(
                work, group="sorting", description="sorting", exclusive=True, exit_on_error=False
            )

    @property
    def _wanted(self) -> JournalRows:
        """The table as it was asked for last."""
        return self._sorting or self.table

    async def _sort_in_thread(
        self, table: JournalRows, currency: str, then: Callable[[], None] | None
    ) -> None:
        rows = await asyncio.to_thread(table.sorted, currency)
        if self._sorting is table:  # no other order was asked for meanwhile
            self._sorting = None
            self._take(table, rows, then)

    def _take(self, table: JournalRows, rows: SortedRows, then: Callable[[], None] | None) -> None:
        held = self.keys[self.cursor] if self.cursor < len(self.keys) else ""
        self.table = table
        table.take(rows)
        if held in self.keys and self.cursor:  # at the top, the newest is followed
            self.cursor = self.keys.index(held)
        self.move_to(self.cursor)
        if then is not None:
            then()

    def move_to(self, row: int) -> None:
        """Put the cursor on a row."""
        self.cursor = max(0, min(row, len(self.keys) - 1))
        self._scroll()
        self.redraw()

    def _scroll(self) -> None:
        first = min(self.first, self.cursor, max(0, len(self.keys) - self.rows))
        self.first = max(first, self.cursor - self.rows + 1, 0)

    # What is shown.

    def title_text(self) -> Printable:
        """Return how many trades there are, and how they are sorted and filtered."""
        total = self.table.count
        count = f"{len(self.keys):,} of {total:,}" if self.filter_text else f"{total:,}"
        what = "position" if self.table.by_position else "trade"
        if total != 1:
            what += "s"
        if self._is_partial:
            count = f"newest {count}"
        filter_text = shorten(safe(self.filter_text), MAX_SHOWN_WIDTH)
        column = BY_KEY.get(self.table.order.column)
        parts = [f"Journal  {count} {what}"]
        if self.table.order.column or not (self._is_partial and self.journal.progress):
            parts.append(
                self.table.order.text(column.title if column else "").removesuffix(" held")
                or NEWEST
            )
        if filter_text:
            parts.append(f"only {filter_text}")
        if self.journal.is_reading or self.journal.progress:
            parts.append(f"reading {self.journal.progress or '…'}")
        elif self._is_partial:
            parts.append(f"{self.keymap.name('journal-bottom')} reads all")
        if self.table.without_candles:
            parts.append(f"{self.table.without_candles:,} without candles yet")
        return safe(", ".join(parts))

    def foot_text(self) -> Printable:
        """Return the keys that fit."""
        named = [
            *(("journal-details", "details"), ("journal-note", "note"), ("journal-view", "sort")),
            *(("journal-filter", "filter"), ("journal-group", "positions")),
        ]
        if self.filter_text:
            named.insert(0, ("journal-whole", "all"))
        if self.table.by_position:
            named[-1] = ("journal-group", "trades")
        if not self.keys:  # no row to act on
            named = [("journal-whole", "all")] if self.filter_text else []
        words = [f"{self.keymap.name(id_)} {what}" for id_, what in named]
        return self.keys_that_fit(*words)

    def lines(self) -> Sequence[TextLine]:
        """Return header, rows, totals, and what was written about the chosen trade."""
        if self.is_empty:
            return self._empty()
        if not self.keys:
            return [*self._empty(), *[BLANK] * (self.room - len(self._empty()))]
        self._scroll()
        shown = self.table.lines(self._in_sight)
        cells = self.table.cells(self._in_sight)
        columns, gap = fit_columns(cells, self.inside - 2)
        listed = [
            table_row(each, columns, gap, chosen=self.first + at == self.cursor)
            for at, each in enumerate(cells)
        ]
        listed += [BLANK] * (self.rows - len(listed))
        below = self._below() if self.room >= BELOW_FROM else []
        marks: TextLine = (*MARKS, (GROWING, "faint")) if self._grows(shown) else MARKS
        totals = two_ends(self.table.totals, marks, self.inside)
        if cell_len("".join(text for text, _ in totals)) > self.inside:
            totals = self.table.totals
        while len(totals) > SWAP and cell_len("".join(text for text, _ in totals)) > self.inside:
            totals = [each for at, each in enumerate(totals) if at != SWAP]  # its column has it
        lines: list[TextLine] = [
            table_header(columns, gap, self.table.order.column),
            *listed,
            totals,
            *below,
        ]
        return lines[: self.room]

    def _grows(self, lines: Iterable[JournalLine]) -> bool:
        """Return whether one of the lines has an excursion that is not final."""
        return any(
            each is not None and each.is_provisional
            for each in map(self.table.context.excursion, lines)
        )

    @property
    def is_empty(self) -> bool:
        """Whether the journal was read, and has no trade."""
        return self.journal.is_read and not (self.journal.is_reading or self.table.count)

    def _empty(self) -> list[TextLine]:
        journal = self.journal
        role: ColourRole = "warn" if journal.trouble else "muted"
        if journal.trouble:
            text = self._with_remedy(journal.trouble)
        elif self.filter_text and self.table.count:
            text = safe(
                f"No trade matches {self.filter_text}. {self.keymap.name('journal-whole')} shows all"
            )
        elif journal.is_read and not journal.is_reading and self._sorting is None:
            text = safe("No trade was opened on this account yet")
        else:
            done = f": {journal.progress}" if journal.progress else " …"
            text = safe(f"Reading the journal{done}")
        return wrap_text(text, role, self.inside)[: self.room]

    def _below(self) -> list[TextLine]:
        """Return what was written about the chosen trade, or what cannot be read."""
        journal, line = self.journal, self.chosen
        if line is None:
            return []
        trouble = (
            self._with_remedy(journal.trouble)
            or journal.notes.trouble
            or self._with_remedy(journal.excursions_trouble)
            or journal.notice
        )
        return note_lines(
            name_of(line), self.table.context.note(line), safe(trouble), journal.part, self.inside
        )

    def _with_remedy(self, trouble: SafeText) -> SafeText:
        """Return why something was not read, and the key that reads it again."""
        return (
            safe(f"{trouble}. {self.keymap.name('journal-read')} reads again")
            if trouble
            else trouble
        )

    # Keys.

    @property
    def _is_partial(self) -> bool:
        """Whether only the newest trades of a large account are read."""
        return self.journal.is_read and not self.journal.is_whole

    def _want_whole(self) -> None:
        """Read every trade where the newest ones do not answer what was asked."""
        if self._is_partial:
            self._host.read_whole()

    def action_row(self, step: int) -> None:
        self.move_to(self.cursor + step)
        self._want_what_follows()

    def _want_what_follows(self) -> None:
        if self.cursor == len(self.keys) - 1:
            self._want_whole()

    def action_page(self, step: int) -> None:
        self.move_to(self.cursor + step * self.rows)
        self._want_what_follows()

    def action_end(self, end: str) -> None:
        self.move_to(0 if end == "top" else len(self.keys) - 1)
        self._want_what_follows()

    def action_view(self) -> None:
        """Sort by the net result, largest first; then the other way; then the newest first."""
        self._sort(self._wanted.order.with_next_direction("result", ASCENDING))

    def action_sort_by(self, step: int) -> None:
        """Sort by the column beside the present one."""
        keys = [each.key for each in self._shown_columns()]
        self._sort(self._wanted.order.with_adjacent_column(keys, step, ASCENDING))

    def _shown_columns(self) -> Iterable[Column]:
        return fit_columns(self.table.cells(self._in_sight), self.inside - 2)[0]

    def _sort(self, order: TableOrder) -> None:
        if order.column:
            self._want_whole()
        self.sort_rows(order=order)

    def action_letters(self) -> None:
        self._host.ask_filter_text(self)

    def show_only(self, filter_text: str) -> None:
        """Show the trades whose text has these words."""
        words = " ".join(filter_text.split())
        if words:
            self._want_whole()
        self.sort_rows(filter_text=words)

    def action_every_row(self) -> None:
        self.show_only("")

    def action_group(self) -> None:
        """Roll trades up by position, or show each."""
        line = self.chosen
        self._want_whole()
        self.sort_rows(partial(self._go_to_group, line), by_position=not self._wanted.by_position)

    def _go_to_group(self, line: JournalLine | None) -> None:
        """Put the cursor on the position of a trade, or on the first trade of a position."""
        key = ""
        if line is not None:
            key = line.trade.position_id if self.table.by_position else line.trade.id
        self.move_to(self.keys.index(key) if key in self.keys else 0)

    def action_read(self) -> None:
        self._host.read()

    def action_details(self) -> None:
        if (line := self.chosen) is not None:
            self._host.show_trade(line.trade.id)

    def action_note(self) -> None:
        if (line := self.chosen) is not None:
            self._host.write_note(line.trade.id)
