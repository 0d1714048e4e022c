"""The transaction log, newest first, and the notice lines at the bottom of the screen.

A hint disappears after some seconds. A notice that requires attention stays until Esc. Notices are never cut: they take
a second line, and the instrument line if they need it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC
from decimal import Decimal
from itertools import accumulate, islice
from typing import ClassVar

from rich.style import Style
from textual.message import Message

from keydesk.keys.keymap import KEYMAP, LOG
from keydesk.panes.price_cells import signed_role
from keydesk.store.frame import Frame
from keydesk.store.state import LogKind, LogLine, Notice, Topic
from keydesk.store.store import Store
from keydesk.text import format as show
from keydesk.text.format import lines_of, shorten
from keydesk.text.sanitize import Printable, SafeText, clean_name, safe
from keydesk.widgets.lines import Heading, LinePane, Run, Tab
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


NOTICE_ROLES = {"info": "plain", "good": "good", "warn": "warn", "bad": "danger"}
SIGN_OF = {"info": "·", "good": "✓", "warn": "!", "bad": "✗"}
# Seconds that a notice is new, and that it is shown at all: a good outcome lingers dim where there is room.
NEW_FOR: Mapping[str, float] = {"info": 10, "warn": 15, "good": 20, "bad": 20}
SHOWN_FOR: Mapping[str, float] = {**NEW_FOR, "good": 300}
REVERSED = Style(reverse=True)
FRESH_FOR = 4.0  # seconds that an outcome is before everything else: each can be read, also of several at once
INDENT = 11  # columns of time and sign
NEWEST = 20  # of the notices; older ones are history, unless nobody has seen them
Words = tuple[
    list[SafeText], Style, Printable, Notice | None
]  # wrapped text, style, time and sign, of which notice


class Notices(LinePane, can_focus=False):
    """The newest messages, newest first; a command in flight is above them until it is settled.

    An outcome that has just come is above both: neither another one nor what is still looked up may hide it.
    """

    DEFAULT_CSS = "Notices { height: 1; width: 1fr; }"

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._told: list[object] = []
        self._rows: list[list[Run]] | None = None
        self._standing: tuple[Notice, ...] = ()

    @property
    def standing(self) -> tuple[Notice, ...]:
        """Return the notices that the drawn lines show whole; one longer than the room, with its beginning.

        Empty while the lines are to be drawn anew.
        """
        return self._standing if self._rows is not None and self.display else ()

    @property
    def rows_wanted(self) -> int:
        """Return the number of lines that commands in flight and new or unseen messages need."""
        return 0 if self.frame is None else len(self._lines_of(self._pressing(self.frame)))

    def changed(self, frame: Frame) -> None:
        """Redraw when a message came, was seen or has expired, and when a command was settled."""
        told: list[object] = [
            (notice, _is_new(notice, frame), _is_fresh(notice, frame)) for notice in _living(frame)
        ]
        told.append(frame.now < frame.store.flash_until)
        if told != self._told or frame.touched(Topic.NOTICES, Topic.ORDERS):
            self._told = told
            self.redraw()

    def redraw(self) -> None:
        """Everything anew, at a new width too."""
        self._rows = None
        super().redraw()

    def runs(self, y: int, frame: Frame) -> Iterable[Run]:
        """Return a line of the messages; the last one counts those without room."""
        if self._rows is None:
            self._rows = self._fitting_lines(frame)
        return self._rows[y] if y < len(self._rows) else ()

    def _fitting_lines(self, frame: Frame) -> list[list[Run]]:
        told = list(self._pressing(frame))
        pressing = self._lines_of(told)
        room = self.outer_size.height
        self._standing = _standing_in(told, room)
        if len(pressing) > room:
            *kept, last = pressing[:room]
            return [*kept, self._with_more(last)]
        dim = (
            self._words(each, "muted")
            for each in _living(frame)
            if not (_presses(each, frame) or _is_fresh(each, frame))
        )
        rows = [self._lines_of([words]) for words in dim]
        whole = rows[0] if rows and len(pressing) + len(rows[0]) <= room else []
        return [*pressing, *whole]

    def _pressing(self, frame: Frame) -> Iterator[Words]:
        warn = self.palette["warn"]
        living = _living(frame)
        fresh = [notice for notice in living if _is_fresh(notice, frame)]
        for notice in fresh:
            yield self._flashing(notice, frame)
        for record in frame.store.in_flight.values():
            yield lines_of(safe(record.line), self.inside - 2), warn, "… ", None
        for notice in living:
            if _presses(notice, frame) and notice not in fresh:
                yield self._flashing(notice, frame)

    def _flashing(self, notice: Notice, frame: Frame) -> Words:
        """Return a notice; the newest one is reversed while an event flashes."""
        lines, style, head, told = self._words(notice, NOTICE_ROLES[notice.level])
        flashes = frame.now < frame.store.flash_until and notice is frame.store.notices[-1]
        return lines, style + REVERSED if flashes else style, head, told

    def _words(self, notice: Notice, role: str) -> Words:
        zone = UTC if self.frame is None else self.frame.store.zone
        head = safe(f"{show.clock(notice.time_ns, zone)} {SIGN_OF[notice.level]} ")
        lines = lines_of(notice.text, self.inside - INDENT)
        return lines, self.palette[role], head, notice

    def _lines_of(self, told: Iterable[Words]) -> list[list[Run]]:
        faint = self.palette["faint"]
        found: list[list[Run]] = []
        for lines, style, head, notice in told:
            for number, line in enumerate(lines):
                start = (head, faint if len(head) == INDENT else style)
                found.append([start if not number else (" " * len(head), style), (line, style)])
            seen = safe(f"  {self.keymap.name('back')}: seen")
            waits = notice is not None and notice.waits
            if waits and len(head) + len(lines[-1]) + len(seen) <= self.inside:
                found[-1].append((seen, self.palette["muted"]))
        return found

    def _with_more(self, line: list[Run]) -> list[Run]:
        """Return the last line there is room for, ending in where the rest is."""
        more = safe(f"…  {self.keymap.name('command')}messages has the rest")
        (head, first), (text, second), *_ = line
        kept = safe(text[: max(0, self.inside - len(head) - len(more))].rstrip())
        return [(head, first), (kept, second), (more, self.palette["muted"])]


def _standing_in(told: Sequence[Words], room: int) -> tuple[Notice, ...]:
    """Return the notices that stand whole in so many lines; of too many lines, the last one says where the rest is."""
    lengths = [len(lines) for lines, *_ in told]
    usable = room if sum(lengths) <= room else room - 1
    found = []
    for (*_, notice), end in zip(told, accumulate(lengths), strict=True):
        if notice is not None and (end <= usable or (notice is told[0][3] and room > 0)):
            found.append(notice)
    return tuple(found)


def _living(frame: Frame) -> list[Notice]:
    """Return the notices that still have something to say, newest first; older ones if they wait or were not painted yet."""
    newest_first = enumerate(reversed(frame.store.notices))
    living = (
        each
        for place, each in newest_first
        if each.waits or ((place < NEWEST or each.outcome) and _age(each, frame) < _time_of(each))
    )
    return list(islice(living, NEWEST))


def _time_of(notice: Notice) -> float:
    return SHOWN_FOR[notice.level] if not notice.seen or notice.level == "good" else 0


def _presses(notice: Notice, frame: Frame) -> bool:
    newest = notice is frame.store.notices[-1]
    return notice.waits or (newest and _is_new(notice, frame))


def _is_fresh(notice: Notice, frame: Frame) -> bool:
    """Return whether it is an outcome of this moment, which may not have been read yet."""
    return not notice.seen and notice.level != "info" and _age(notice, frame) < FRESH_FOR


def _is_new(notice: Notice, frame: Frame) -> bool:
    return not notice.seen and _age(notice, frame) < NEW_FOR[notice.level]


def _age(notice: Notice, frame: Frame) -> float:
    """Return its age in seconds; that of an outcome begins when it is painted."""
    since = notice.time_ns
    if notice.outcome:
        since = frame.wall_ns if notice.painted_ns is None else notice.painted_ns
    return (frame.wall_ns - since) / show.SECOND
