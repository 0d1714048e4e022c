"""The transaction log, newest first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import ClassVar

from textual.message import Message

from keydesk.keys.keymap import KEYMAP, LOG
from keydesk.panes.price_cells import signed_role
from keydesk.store.frame import Frame
from keydesk.store.state import LogKind, LogLine, Topic
from keydesk.store.store import Store
from keydesk.text import format as show
from keydesk.text.format import shorten
from keydesk.text.sanitize import Printable, SafeText, clean_name, safe
from keydesk.widgets.lines import Heading, Run, Tab
from keydesk.widgets.row_order import Measured
from keydesk.widgets.sorted_table import SortedTable
from keydesk.widgets.table import Column

TEXT_FROM = 40  # columns of text; with less, the transaction's number is left out
DAY = 86_400
TIME = Column("time", "time", 8, right=False)
KIND = Column("kind", "what", 7, right=False)
PAIR = Column("pair", "pair", 7, right=False)
NUMBER = Column("id", "id", 7, right=False)
PROFIT = Column("pl", "P/L", 9)
NO_LINE = LogLine("", 0, "NOTE", "", safe(""))
GAPS = 4  # between the columns that are always there
LOG_ROLES: dict[LogKind, str] = {
    "FILL": "bright",
    "CLOSE": "bright",
    "REJECT": "danger",
    "MARGIN": "danger",
    "LINK": "warn",
}


class Log(SortedTable):
    """One row per transaction; row keys count from the oldest, so that new rows do not move the cursor."""

    KEY_CONTEXT: ClassVar[str] = LOG
    BINDINGS = KEYMAP.bindings(LOG)
    NAME: ClassVar[str] = "Log"
    FIRST: ClassVar[str] = "kind"

    def __init__(self, *, id: str | None = "log") -> None:  # noqa: A002
        super().__init__(id=id)
        self._first: LogLine | None = None  # the oldest line when rows were numbered
        self._line: LogLine | None = None  # under the cursor

    class AuditWanted(Message):
        """The user wants to read the audit log."""

    def action_audit(self) -> None:
        """Ask for the audit log."""
        self.post_message(self.AuditWanted())

    def columns(self) -> Sequence[Column]:
        """Return the words take what the other columns leave."""
        time, kind, pair, number, profit = self.measured((TIME, KIND, PAIR, NUMBER, PROFIT))
        fixed = sum(each.width for each in (time, kind, pair, profit)) + GAPS
        numbered = self.inside - fixed - number.width - 1 >= TEXT_FROM
        left = self.inside - fixed - (number.width + 1 if numbered else 0)
        words = Column("text", "", max(1, left), right=False, flexible=True)
        return (time, kind, pair, *((number,) if numbered else ()), words, profit)

    def heading(self) -> Heading:
        """Where the reader is, when not at the newest line, and how lines are sorted and filtered."""
        place = f"{self.cursor} back" if self.cursor and not self.order.column else ""
        tab = self.tab(len(self._arranged)) if self.letters else Tab("Log")
        return Heading((tab,), self.right_words(place))

    def empty(self, frame: Frame) -> Printable:  # noqa: ARG002 - the words are of the rows
        """What fills the log, or why no line of it is shown."""
        usual = "Nothing happened yet. Orders, fills and transfers are written here."
        return self.no_rows() or usual

    def changed(self, frame: Frame) -> None:
        """New lines came."""
        log = frame.store.log
        if frame.touched(Topic.LOG) or self._turned or len(self._arranged) != len(log):
            follows = self.cursor == 0  # at the newest line the cursor stays at the newest
            first = log[0] if log else None
            if first is not self._first:  # older lines came or went: every number is another line's
                self._first, self._turned = first, True
            self.show_rows([str(i) for i in range(len(log) - 1, -1, -1)], frame)
            if follows and not self.order.column:
                self._put_cursor(0)
            else:
                self._follow_line(log)
        self._line = self._line_at_cursor()

    def _line_at_cursor(self) -> LogLine | None:
        log = self.frame.store.log if self.frame is not None else ()
        number = int(self.selected) if self.selected is not None else len(log)
        return log[number] if number < len(log) else None

    def moved(self) -> None:
        """Note the line that the cursor stands on."""
        self._line = self._line_at_cursor()

    def _follow_line(self, log: Sequence[LogLine]) -> None:
        """Put the cursor on its line, whatever number that has now."""
        if self._line is None or self._line_at_cursor() is self._line:
            return
        rows = (row for row, key in enumerate(self.keys) if log[int(key)] is self._line)
        self._put_cursor(next(rows, self.cursor))

    def _put_cursor(self, row: int) -> None:
        if self.cursor != row:
            self.cursor = row
            self.redraw()

    def measure(self, key: str, column: str, store: Store) -> Measured:
        """Return what a column measures of a line."""
        line = store.log[int(key)] if int(key) < len(store.log) else NO_LINE
        match column:
            case "pl":
                return line.pl
            case "kind":
                return line.kind
            case "pair":
                return line.instrument or None
            case "text":
                return line.text
            case _:
                return Decimal(int(key))

    def text_of(self, key: str, store: Store) -> str:
        """Return kind, instrument, number and words of a line."""
        line = store.log[int(key)] if int(key) < len(store.log) else NO_LINE
        return f"{line.kind} {line.instrument} {line.id} {line.text}"

    def row(self, key: str, frame: Frame) -> list[Run]:
        """One line, if the log still has it; without a profit its words have that room too."""
        if int(key) >= len(frame.store.log):
            return []
        ends_in_words = [column.key for column in self.fitted[-2:]] == ["text", PROFIT.key]
        if frame.store.log[int(key)].pl is not None or not ends_in_words:
            return super().row(key, frame)
        *before, words, profit = self.fitted
        wide = replace(words, width=words.width + self.gap + profit.width)
        cells = [(column, self.cell(key, column.key, frame)) for column in before]
        text = self._words(frame.store.log[int(key)], wide.width)
        return self._joined([*cells, (wide, text)])

    def cell(self, key: str, column: str, frame: Frame) -> Sequence[Run]:
        """Return one cell of a line, empty when the log has the line no more."""
        lines = frame.store.log
        line = lines[int(key)] if int(key) < len(lines) else NO_LINE
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
        return [(shorten(line.text, width), self.palette["plain"])]

    def _time(self, line: LogLine, frame: Frame) -> SafeText:
        zone = frame.store.zone
        if frame.wall_ns - line.time_ns > DAY * show.SECOND:
            return safe(f"{show.at(line.time_ns, zone):%d %b}")
        return show.clock(line.time_ns, zone)
