"""The transaction log: everything that happened to the account, and to the link, newest first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, tzinfo
from typing import ClassVar

from keydesk.keys.keymap import LOG
from keydesk.panes.prices import signed_role
from keydesk.store.frame import Frame
from keydesk.store.state import LogKind, LogLine, Topic
from keydesk.text import format as show
from keydesk.text.sanitize import SafeText, clean_name, safe
from keydesk.text.wrapping import shortened
from keydesk.widgets.lines import Heading, Run, Tab
from keydesk.widgets.table import Column, TablePane

TEXT_FROM = 40  # the words come before the transaction's number
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


class Log(TablePane):
    """One line a transaction; rows are numbered from the oldest, so that new ones push nothing away."""

    KEY_CONTEXT: ClassVar[str] = LOG

    def __init__(self, *, zone: tzinfo = UTC, id: str | None = "log") -> None:  # noqa: A002
        super().__init__(id=id)
        self.zone = zone

    def columns(self) -> Sequence[Column]:
        """The words take what the other columns leave."""
        time, kind, pair, number, profit = self.measured((TIME, KIND, PAIR, NUMBER, PROFIT))
        fixed = sum(each.width for each in (time, kind, pair, profit)) + GAPS
        numbered = self.inside - fixed - number.width - 1 >= TEXT_FROM
        left = self.inside - fixed - (number.width + 1 if numbered else 0)
        words = Column("text", "", max(1, left), right=False, flexible=True)
        return (time, kind, pair, *((number,) if numbered else ()), words, profit)

    def heading(self) -> Heading:
        """Where the reader is, when not at the newest line."""
        place = f"{self.cursor} back" if self.cursor else ""
        return Heading((Tab("Log"),), safe(place))

    def empty(self, frame: Frame) -> str:  # noqa: ARG002 - always the same words
        """What fills the log."""
        return "Nothing happened yet. Orders, fills and transfers are written here."

    def changed(self, frame: Frame) -> None:
        """New lines came."""
        if frame.touched(Topic.LOG) or len(self.keys) != len(frame.store.log):
            follows = self.cursor == 0  # who reads the newest line goes on to read the newest
            self.set_keys([str(i) for i in range(len(frame.store.log) - 1, -1, -1)])
            if follows and self.cursor:
                self.cursor = 0
                self.redraw()

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
        """One cell of a line, empty when the log has the line no more."""
        lines = frame.store.log
        line = lines[int(key)] if int(key) < len(lines) else NO_LINE
        match column:
            case "time":
                return [(self._time(line, frame.wall_ns), self.palette["faint"])]
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
        return [(shortened(line.text, width), self.palette["plain"])]

    def _time(self, line: LogLine, now_ns: int) -> SafeText:
        if now_ns - line.time_ns > DAY * show.SECOND:
            return safe(f"{show.at(line.time_ns, self.zone):%d %b}")
        return show.clock(line.time_ns, self.zone)
