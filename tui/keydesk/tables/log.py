"""The transaction log, newest first, back to the first transaction of the account."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import tzinfo
from decimal import Decimal
from itertools import takewhile
from typing import ClassVar

from msgspec import Struct
from msgspec.structs import replace
from textual.message import Message

from keydesk.keys.keymap import LOG
from keydesk.keys.textual_bindings import bindings_of
from keydesk.store.frame import Frame
from keydesk.store.log_filter import NO_ORDERS, filled_orders, passes
from keydesk.store.state import PastDirection, Topic
from keydesk.store.store import Store
from keydesk.tables.column import Column, ValueColumn
from keydesk.tables.column_table import ColumnTable
from keydesk.text import format as show
from keydesk.text.format import shorten_text
from keydesk.text.sanitize import Printable, clean_name, safe
from keydesk.widgets.lines import Heading, Run, Tab
from keydesk.widgets.theme import ColourRole, signed_role
from keydesk.words.log_line import LogKind, LogLine
from keydesk_client.arithmetic.constants import DAY

TEXT_FROM = 40  # columns of text; with less, the transaction's number is left out
NO_LINE = LogLine("", 0, "NOTE", "", safe(""))
GAPS = 4  # between the columns that are always there
LOG_ROLES: dict[LogKind, ColourRole] = {
    "FILL": "bright",
    "CLOSE": "bright",
    "REJECT": "danger",
    "MARGIN": "danger",
    "LINK": "warn",
}


class LogEntry(Struct, frozen=True):
    """What the columns read of a line."""

    line: LogLine
    zone: tzinfo
    now_ns: int
    width: int = 1  # of the text

    @property
    def time(self) -> str:
        """The time of day, of an older line the day."""
        if self.now_ns - self.line.time_ns > DAY:
            return f"{show.at(self.line.time_ns, self.zone):%d %b}"
        return show.clock(self.line.time_ns, self.zone)


LogColumn = ValueColumn[LogEntry]
TIME = LogColumn(
    *("time", "time", 8),
    right=False,
    text=lambda entry: entry.time,
    role="faint",
    value=lambda entry: Decimal(entry.line.time_ns),
)
KIND = LogColumn(
    *("kind", "what", 7),
    right=False,
    ascending=True,
    text=lambda entry: entry.line.kind,
    role=lambda entry: LOG_ROLES.get(entry.line.kind, "muted"),
    value=lambda entry: entry.line.kind,
)
PAIR = LogColumn(
    *("pair", "pair", 7),
    right=False,
    ascending=True,
    text=lambda entry: show.pair(entry.line.instrument),
    role="plain",
    value=lambda entry: entry.line.instrument or None,
)
NUMBER = LogColumn(
    *("id", "id", 7),
    right=False,
    text=lambda entry: clean_name(entry.line.id),
    role="faint",
    value=lambda entry: Decimal(entry.line.id) if entry.line.id else None,
)
WORDS = LogColumn(
    *("text", "", 1),
    right=False,
    flexible=True,
    ascending=True,
    text=lambda entry: shorten_text(entry.line.text, entry.width),
    role="plain",
    value=lambda entry: entry.line.text,
)
PROFIT = LogColumn(
    *("pl", "P/L", 9),
    text=lambda entry: "" if entry.line.pl is None else show.money(entry.line.pl, signed=True),
    role=lambda entry: signed_role(entry.line.pl),
    value=lambda entry: entry.line.pl,
)


class ShownLog(Struct, frozen=True):
    """The part of the log that the rows show, from its oldest line to its newest."""

    oldest: LogLine
    newest: LogLine
    count: int

    def added(self, log: Sequence[LogLine]) -> list[LogLine] | None:
        """Return the lines that came since, newest first; None if others came or went too."""
        new = list(takewhile(lambda line: line is not self.newest, reversed(log)))
        return new if len(log) == self.count + len(new) and log[0] is self.oldest else None


class Log(ColumnTable[LogEntry]):
    """One row per transaction, newest first; older ones are requested as the cursor comes near the last row."""

    RETURNS_TO_TOP: ClassVar[bool] = False  # it follows the newest line until the cursor leaves it
    KEY_CONTEXT: ClassVar[str] = LOG
    BINDINGS = bindings_of(LOG)
    NAME: ClassVar[str] = "Log"
    FIRST: ClassVar[str] = "kind"
    COLUMNS: ClassVar[tuple[LogColumn, ...]] = (TIME, KIND, PAIR, NUMBER, WORDS, PROFIT)
    FILTER_HINT: ClassVar[Printable] = (
        "kind, pair, words: fill eurusd; #6417: of that order or trade"
    )

    def __init__(self, *, id: str | None = "log") -> None:  # noqa: A002
        super().__init__(id=id)
        self._by_key: dict[str, LogLine] = {}  # of the rows
        self._passed_before: dict[str, bool] = {}  # which lines pass the filter
        self._filled: Mapping[str, AbstractSet[str]] = NO_ORDERS  # by the ids that the filter names
        self._stands_apart = False  # the rows are of a window that does not reach the newest lines
        self._goes_to_first = False  # the first transactions are being read
        self._shown_log: ShownLog | None = None  # None: rows are made anew at the next change

    class AuditWanted(Message):
        """The user wants to read the audit log."""

    @dataclass
    class PastWanted(Message):
        """The user scrolls beyond the lines that are held, or leaves a window for the newest ones ("")."""

        direction: PastDirection
        filter_text: str
        from_followed: bool

    def action_audit(self) -> None:
        """Ask for the audit log."""
        self.post_message(self.AuditWanted())

    def line(self, key: str | None) -> LogLine | None:
        """Return the line of a row."""
        return self._by_key.get(key or "")

    def columns(self) -> Sequence[Column]:
        """Return the columns; the text column takes the width that the others leave."""
        time, kind, pair, number, profit = self.measured((TIME, KIND, PAIR, NUMBER, PROFIT))
        fixed = sum(each.width for each in (time, kind, pair, profit)) + GAPS
        numbered = self.inside - fixed - number.width - 1 >= TEXT_FROM
        left = self.inside - fixed - (number.width + 1 if numbered else 0)
        words = replace(WORDS, width=max(1, left))
        return (time, kind, pair, *((number,) if numbered else ()), words, profit)

    def heading(self) -> Heading:
        """Where the reader is, when not at the newest line, and how lines are sorted and filtered."""
        tab = self.tab(len(self._arranged)) if self.filter_text else Tab("Log")
        text = self.right_text(self._place_text())
        state = self._state_text()
        return Heading((tab,), safe(", ".join(filter(None, (text, state)))))

    def _place_text(self) -> Printable:
        if self._stands_apart and (line := self.line(self.selected)) is not None and self.frame:
            day = show.at(line.time_ns, self.frame.store.zone)
            return safe(f"{day:%d %b %Y}, {self.keymap.name('top')} newest")
        return safe(f"{self.cursor} back") if self.cursor and not self.order.column else ""

    def _state_text(self) -> Printable:
        """Return the state of loading older lines in short; the line below the last row shows it in full."""
        past = self.frame.store.past_log if self.frame is not None else None
        if past is None:
            return ""
        if past.trouble:
            return "cannot be read"
        return "loading …" if past.loading else ""

    def empty(self, frame: Frame) -> Printable:
        """What fills the log, or why no line of it is shown."""
        usual = "Nothing happened yet. Orders, fills and transfers are written here."
        return self._empty_search(frame) or usual

    def _empty_search(self, frame: Frame) -> Printable:
        """Return how far back was searched for a filter that matches no row."""
        text, end = self.no_rows(), self.end_text(frame)
        return safe("  ".join(filter(None, (text, end))))

    def end_text(self, frame: Frame) -> Printable:
        """Return the text below the last row: what is being loaded, how far back was searched, or that this is the first transaction."""
        past = frame.store.past_log
        if past is None or self.order.column or past.filter_text != self.filter_text:
            return ""
        if past.trouble:
            return safe(f"Older lines cannot be read: {past.trouble}")
        searched = safe(f"searched back to #{past.oldest}")
        if past.loading:
            return safe(f"Loading older lines … {searched if self.filter_text else ''}")
        if past.reaches_start and not self.filter_text:
            return "The first transaction of the account"
        if past.reaches_start:
            return "No older line matches: searched back to the first transaction"
        return (
            safe(f"{searched}; {self.keymap.name('row-down')} searches on")
            if self.filter_text
            else ""
        )

    def changed(self, frame: Frame) -> None:
        """New lines came, or older ones."""
        if not (frame.touched(Topic.LOG, Topic.PAST_LOG) or self._turned):
            return
        follows = self.cursor == 0 and not (self._stands_apart or self._goes_to_first)
        if not self._show_added(frame):
            lines = self._lines_of(frame.store, follows=follows)
            self._by_key = {line.key: line for line in lines}
            self.show_rows(list(self._by_key), frame)
            self._shown_log = self._whole_log(frame.store.log)
        past = frame.store.past_log
        if self._goes_to_first and past is not None and not (past.loading or past.wants):
            self._goes_to_first = False
            self._put_cursor(len(self.keys) - 1)
        elif follows and not self.order.column:
            self._put_cursor(0)
        if frame.touched(Topic.PAST_LOG):
            self.redraw()  # the words below the last row

    def _lines_of(self, store: Store, *, follows: bool) -> list[LogLine]:
        """Return the lines shown, newest first: the followed log with the window, or a window that stands apart."""
        past = store.past_log
        older = past.lines if past is not None and past.filter_text == self.filter_text else []
        is_joined = store.past_is_joined
        held = self.selected
        self._stands_apart = (
            bool(older)
            and not (is_joined or follows)
            and (self._goes_to_first or any(line.key == held for line in older))
        )
        if self._stands_apart:
            return older[::-1]
        return [*reversed(store.log), *(reversed(older) if is_joined else ())]

    def _whole_log(self, log: Sequence[LogLine]) -> ShownLog | None:
        """Return what the rows show; None if new lines do not simply come above them."""
        is_plain = not (self.filter_text or self.order.column or self._stands_apart)
        return ShownLog(log[0], log[-1], len(log)) if log and is_plain else None

    def _show_added(self, frame: Frame) -> bool:
        """Put new lines above the first row; return False if the rows must be made anew.

        With 9,000 lines that takes four times as long and half a megabyte, for each transaction.
        """
        shown = self._shown_log
        if shown is None or self._turned or self._goes_to_first or frame.touched(Topic.PAST_LOG):
            return False
        added = shown.added(frame.store.log)
        if added is None:
            return False
        if added:
            self._by_key |= {line.key: line for line in added}
            self.add_first_rows([line.key for line in added])
            self._shown_log = replace(shown, newest=added[0], count=shown.count + len(added))
        return True

    def _put_cursor(self, row: int) -> None:
        if self.cursor != row:
            self.cursor = max(0, row)
            self.redraw()

    def _passing(self, store: Store) -> list[str]:  # noqa: ARG002 - by its lines
        """Return the rows that pass the filter; each line is looked at once."""
        if not self.filter_text:
            return self._arranged
        filled = filled_orders(self._by_key.values(), self.filter_text)
        if filled != self._filled:  # an order stands above its fill, and may have been left out
            self._filled, self._passed_before = filled, {}
        known, lines = self._passed_before, self._by_key
        self._passed_before = now = {
            key: known[key] if key in known else passes(lines[key], self.filter_text, filled)
            for key in self._arranged
            if key in lines
        }
        return [key for key in self._arranged if now.get(key)]

    def show_only(self, filter_text: str) -> None:
        """Show the rows whose text has these words, and look for older ones."""
        self._passed_before = {}
        super().show_only(filter_text)
        if self.filter_text:
            self._ask("older")

    # Older lines.

    def move_to(self, index: int) -> None:
        """Put the cursor on a row; near either end of what is held, ask for more."""
        self._goes_to_first = False
        super().move_to(index)
        margin = 2 * self.room
        if self.cursor + margin >= len(self.keys):
            self._ask("older")
        elif self._stands_apart and self.cursor < margin:
            self._ask("newer")

    def action_top(self) -> None:
        if self._stands_apart:
            self._ask("")
            self._stands_apart, self.cursor = False, 0
        super().action_top()

    def action_bottom(self) -> None:
        """Go to the first transaction; filtered or sorted, to the last row."""
        last = len(self.keys) - 1
        if self.filter_text or self.order.column:
            self.move_to(last)
            return
        super().move_to(last)
        if not self._has_first:
            self._ask("first")
            self._goes_to_first = True

    @property
    def _has_first(self) -> bool:
        """Whether the rows end with the first transaction."""
        past = self.frame.store.past_log if self.frame is not None else None
        return past is not None and past.reaches_start and past.filter_text == self.filter_text

    def _ask(self, direction: PastDirection) -> None:
        """Ask for lines beyond those that are held, unless they are being read or there are none."""
        past = self.frame.store.past_log if self.frame is not None else None
        is_reading = past is not None and past.loading and past.filter_text == self.filter_text
        if self.order.column or (direction == "older" and (is_reading or self._has_first)):
            return
        self.post(self.PastWanted(direction, self.filter_text, not self._stands_apart))

    # Lines.

    def runs(self, y: int, frame: Frame) -> Iterable[Run]:
        """Return the text of a line; below the last row, what is older."""
        if self.keys and y >= self.HEAD and self.first + y - self.HEAD == len(self.keys):
            return [(self.end_text(frame), self.palette["muted"])]
        return super().runs(y, frame)

    def _scroll(self) -> bool:
        """Scroll the cursor into view; below the last row, the words about older lines."""
        before = self.first
        super()._scroll()
        is_last = self.keys and self.cursor == len(self.keys) - 1
        is_full = len(self.keys) - self.first >= self.room > 1
        if is_last and is_full and self.frame is not None and self.end_text(self.frame):
            self.first += 1
        return before != self.first

    def record(self, key: str, store: Store) -> LogEntry:
        """Return what the columns read of a line, an empty one when the log has it no more."""
        width = next((each.width for each in self.fitted if each.key == WORDS.key), 1)
        return LogEntry(self._by_key.get(key, NO_LINE), store.zone, self.now_ns, width)

    def row(self, key: str, frame: Frame) -> list[Run]:
        """Return the row of a line; without a profit the text also uses that column, and if needed the empty pair column."""
        line = self._by_key.get(key)
        if line is None:
            return []
        ends_in_text = [column.key for column in self.fitted[-2:]] == ["text", PROFIT.key]
        if line.pl is not None or not ends_in_text:
            return super().row(key, frame)
        *before, words, profit = self.fitted
        wide = replace(words, width=words.width + self.gap + profit.width)
        is_long = len(line.text) > wide.width
        if is_long and not line.instrument and before and before[-1].key == PAIR.key:
            wide = replace(wide, width=wide.width + self.gap + before.pop().width)
        cells = [(column, self.cell(key, column.key, frame)) for column in before]
        entry = replace(self.record(key, frame.store), width=wide.width)
        return self._joined([*cells, (wide, WORDS.cell(entry, self.palette, old=False))])
