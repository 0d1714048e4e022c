"""The transaction log, newest first, back to the first transaction of the account."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
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
from keydesk.tables.column import Column, Measured
from keydesk.tables.sorted_table import SortedTable
from keydesk.text import format as show
from keydesk.text.format import shorten_text
from keydesk.text.sanitize import Printable, SafeText, clean_name, safe
from keydesk.widgets.lines import Heading, Run, Tab
from keydesk.widgets.theme import ColourRole, signed_role
from keydesk.words.log_line import LogKind, LogLine
from keydesk_client.arithmetic.constants import DAY

TEXT_FROM = 40  # columns of text; with less, the transaction's number is left out
TIME = Column("time", "time", 8, right=False)
KIND = Column("kind", "what", 7, right=False, ascending=True)
PAIR = Column("pair", "pair", 7, right=False, ascending=True)
NUMBER = Column("id", "id", 7, right=False)
PROFIT = Column("pl", "P/L", 9)
NO_LINE = LogLine("", 0, "NOTE", "", safe(""))
GAPS = 4  # between the columns that are always there
LOG_ROLES: dict[LogKind, ColourRole] = {
    "FILL": "bright",
    "CLOSE": "bright",
    "REJECT": "danger",
    "MARGIN": "danger",
    "LINK": "warn",
}


class ShownLog(Struct, frozen=True):
    """The part of the log that the rows show, from its oldest line to its newest."""

    oldest: LogLine
    newest: LogLine
    count: int

    def added(self, log: Sequence[LogLine]) -> list[LogLine] | None:
        """Return the lines that came since, newest first; None if others came or went too."""
        new = list(takewhile(lambda line: line is not self.newest, reversed(log)))
        return new if len(log) == self.count + len(new) and log[0] is self.oldest else None


class Log(SortedTable):
    """One row per transaction, newest first; older ones are requested as the cursor comes near the last row."""

    RETURNS_TO_TOP: ClassVar[bool] = False  # it follows the newest line until the cursor leaves it
    KEY_CONTEXT: ClassVar[str] = LOG
    BINDINGS = bindings_of(LOG)
    NAME: ClassVar[str] = "Log"
    FIRST: ClassVar[str] = "kind"
    FILTER_HINT: ClassVar[Printable] = (
        "kind, pair, words: fill eurusd; #6417: of that order or trade"
    )

    def __init__(self, *, id: str | None = "log") -> None:  # noqa: A002
        super().__init__(id=id)
        self._by_key: dict[str, LogLine] = {}  # of the rows
        self._passed_before: dict[str, bool] = {}  # which lines the letters leave
        self._filled: Mapping[str, AbstractSet[str]] = (
            NO_ORDERS  # by the ids that the letters ask for
        )
        self._stands_apart = False  # the rows are of a window that does not reach the newest lines
        self._goes_to_first = False  # the first transactions are being read
        self._shown_log: ShownLog | None = None  # None: rows are made anew at the next change

    class AuditWanted(Message):
        """The user wants to read the audit log."""

    @dataclass
    class PastWanted(Message):
        """The user scrolls beyond the lines that are held, or leaves a window for the newest ones ("")."""

        direction: PastDirection
        letters: str
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
        words = Column("text", "", max(1, left), right=False, flexible=True, ascending=True)
        return (time, kind, pair, *((number,) if numbered else ()), words, profit)

    def heading(self) -> Heading:
        """Where the reader is, when not at the newest line, and how lines are sorted and filtered."""
        tab = self.tab(len(self._arranged)) if self.letters else Tab("Log")
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
        if past is None or self.order.column or past.letters != self.letters:
            return ""
        if past.trouble:
            return safe(f"Older lines cannot be read: {past.trouble}")
        searched = safe(f"searched back to #{past.oldest}")
        if past.loading:
            return safe(f"Loading older lines … {searched if self.letters else ''}")
        if past.reaches_start and not self.letters:
            return "The first transaction of the account"
        if past.reaches_start:
            return "No older line matches: searched back to the first transaction"
        return (
            safe(f"{searched}; {self.keymap.name('row-down')} searches on") if self.letters else ""
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
        older = past.lines if past is not None and past.letters == self.letters else []
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
        is_plain = not (self.letters or self.order.column or self._stands_apart)
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
        """Return the rows that the letters leave; each line is looked at once."""
        if not self.letters:
            return self._arranged
        filled = filled_orders(self._by_key.values(), self.letters)
        if filled != self._filled:  # an order stands above its fill, and may have been left out
            self._filled, self._passed_before = filled, {}
        known, lines = self._passed_before, self._by_key
        self._passed_before = now = {
            key: known[key] if key in known else passes(lines[key], self.letters, filled)
            for key in self._arranged
            if key in lines
        }
        return [key for key in self._arranged if now.get(key)]

    def show_only(self, letters: str) -> None:
        """Show the rows whose text has these words, and look for older ones."""
        self._passed_before = {}
        super().show_only(letters)
        if self.letters:
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
        """Go to the first transaction; with letters or sorted, to the last row."""
        last = len(self.keys) - 1
        if self.letters or self.order.column:
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
        return past is not None and past.reaches_start and past.letters == self.letters

    def _ask(self, direction: PastDirection) -> None:
        """Ask for lines beyond those that are held, unless they are being read or there are none."""
        past = self.frame.store.past_log if self.frame is not None else None
        is_reading = past is not None and past.loading and past.letters == self.letters
        if self.order.column or (direction == "older" and (is_reading or self._has_first)):
            return
        self.post(self.PastWanted(direction, self.letters, not self._stands_apart))

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

    def measure(self, key: str, column: str, store: Store) -> Measured:  # noqa: ARG002
        """Return what a column measures of a line."""
        line = self._by_key.get(key, NO_LINE)
        match column:
            case "pl":
                return line.pl
            case "kind":
                return line.kind
            case "pair":
                return line.instrument or None
            case "text":
                return line.text
            case "id":
                return Decimal(line.id) if line.id else None
            case _:
                return Decimal(line.time_ns)

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
        text = self._words(line, wide.width)
        return self._joined([*cells, (wide, text)])

    def cell(self, key: str, column: str, frame: Frame) -> Sequence[Run]:
        """Return one cell of a line, empty when the log has the line no more."""
        line = self._by_key.get(key, NO_LINE)
        match column:
            case "time":
                return [(self._time(line, frame), self.palette["faint"])]
            case "kind":
                return [(line.kind, self.palette[LOG_ROLES.get(line.kind, "muted")])]
            case "pair":
                return [(show.pair(line.instrument), self.palette["plain"])]
            case "id":
                return [(clean_name(line.id), self.palette["faint"])]
            case "pl":
                text = "" if line.pl is None else show.money(line.pl, signed=True)
                return [(text, self.palette[signed_role(line.pl)])]
            case _:
                width = next((each.width for each in self.fitted if each.key == "text"), 1)
                return self._words(line, width)

    def _words(self, line: LogLine, width: int) -> list[Run]:
        return [(shorten_text(line.text, width), self.palette["plain"])]

    def _time(self, line: LogLine, frame: Frame) -> SafeText:
        zone = frame.store.zone
        if frame.time_ns - line.time_ns > DAY:
            return safe(f"{show.at(line.time_ns, zone):%d %b}")
        return show.clock(line.time_ns, zone)
