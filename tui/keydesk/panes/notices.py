"""Feedback to the hand: what happened last, what waits to be seen, and what is still under way.

A hint is gone after some seconds. An outcome that asks for something stays until Esc says that it was seen. Whatever is
shown is shown whole: over a second line, and over the instrument line's when that is needed (the screen lends it).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, tzinfo
from typing import TYPE_CHECKING

from keydesk.store.frame import Frame
from keydesk.store.state import Notice, Topic
from keydesk.text import format as show
from keydesk.text.sanitize import Printable, SafeText, safe
from keydesk.text.wrapping import lines_of
from keydesk.widgets.lines import LinePane, Run

if TYPE_CHECKING:
    from rich.style import Style

NOTICE_ROLES = {"info": "plain", "good": "good", "warn": "warn", "bad": "danger"}
SIGN_OF = {"info": "·", "good": "✓", "warn": "!", "bad": "✗"}
# Seconds that a notice is new, and that it is shown at all: a good outcome lingers dim where there is room.
NEW_FOR: Mapping[str, float] = {"info": 10, "warn": 15, "good": 20, "bad": 20}
SHOWN_FOR: Mapping[str, float] = {**NEW_FOR, "good": 300}
INDENT = 11  # columns of time and sign
NEWEST = 20  # of the notices; older ones are history
Words = tuple[
    list[SafeText], "Style", Printable, bool
]  # wrapped text, style, time and sign, waits for Esc


class Notices(LinePane, can_focus=False):
    """The newest messages, newest first; a command under way stands above them until it is settled."""

    DEFAULT_CSS = "Notices { height: 1; width: 1fr; }"

    def __init__(self, *, zone: tzinfo = UTC, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self.zone = zone
        self._told: list[object] = []
        self._rows: list[list[Run]] | None = None

    @property
    def rows_wanted(self) -> int:
        """How many lines it takes to say whole what is under way, new, or waits to be seen."""
        return 0 if self.frame is None else len(self._lines_of(self._pressing(self.frame)))

    def changed(self, frame: Frame) -> None:
        """Redraw when something was said, settled or seen, and when a notice has had its time."""
        told: list[object] = [(notice, _is_new(notice, frame)) for notice in _living(frame)]
        if told != self._told or frame.touched(Topic.NOTICES, Topic.ORDERS):
            self._told = told
            self.redraw()

    def redraw(self) -> None:
        """Everything anew, at a new width too."""
        self._rows = None
        super().redraw()

    def runs(self, y: int, frame: Frame) -> Iterable[Run]:
        """A line of what is there to say; what has no room is named."""
        if self._rows is None:
            self._rows = self._fitted(frame)
        return self._rows[y] if y < len(self._rows) else ()

    def _fitted(self, frame: Frame) -> list[list[Run]]:
        pressing = self._lines_of(self._pressing(frame))
        room = self.outer_size.height
        if len(pressing) > room:
            *kept, last = pressing[:room]
            return [*kept, self._with_more(last)]
        dim = (self._words(each, "muted") for each in _living(frame) if not _presses(each, frame))
        rows = [self._lines_of([words]) for words in dim]
        whole = rows[0] if rows and len(pressing) + len(rows[0]) <= room else []
        return [*pressing, *whole]

    def _pressing(self, frame: Frame) -> Iterator[Words]:
        warn = self.palette["warn"]
        for record in frame.store.in_flight.values():
            yield lines_of(safe(record.line), self.inside - 2), warn, "… ", False
        for notice in _living(frame):
            if _presses(notice, frame):
                yield self._words(notice, NOTICE_ROLES[notice.level])

    def _words(self, notice: Notice, role: str) -> Words:
        head = safe(f"{show.clock(notice.time_ns, self.zone)} {SIGN_OF[notice.level]} ")
        lines = lines_of(notice.text, self.inside - INDENT)
        return lines, self.palette[role], head, notice.waits

    def _lines_of(self, told: Iterable[Words]) -> list[list[Run]]:
        faint = self.palette["faint"]
        found: list[list[Run]] = []
        for lines, style, head, waits in told:
            for number, line in enumerate(lines):
                start = (head, faint if len(head) == INDENT else style)
                found.append([start if not number else (" " * len(head), style), (line, style)])
            seen = safe(f"  {self.keymap.name('back')}: seen")
            if waits and len(head) + len(lines[-1]) + len(seen) <= self.inside:
                found[-1].append((seen, self.palette["muted"]))
        return found

    def _with_more(self, line: list[Run]) -> list[Run]:
        """The last line there is room for, ending in where the rest is."""
        more = safe(f"…  {self.keymap.name('command')}messages has the rest")
        (head, first), (text, second), *_ = line
        kept = safe(text[: max(0, self.inside - len(head) - len(more))].rstrip())
        return [(head, first), (kept, second), (more, self.palette["muted"])]


def _living(frame: Frame) -> list[Notice]:
    """The notices that still have something to say, newest first."""
    newest = frame.store.notices[: -NEWEST - 1 : -1]
    return [each for each in newest if each.waits or _age(each, frame) < _time_of(each)]


def _time_of(notice: Notice) -> float:
    return SHOWN_FOR[notice.level] if not notice.seen or notice.level == "good" else 0


def _presses(notice: Notice, frame: Frame) -> bool:
    newest = notice is frame.store.notices[-1]
    return notice.waits or (newest and _is_new(notice, frame))


def _is_new(notice: Notice, frame: Frame) -> bool:
    return not notice.seen and _age(notice, frame) < NEW_FOR[notice.level]


def _age(notice: Notice, frame: Frame) -> float:
    return (frame.wall_ns - notice.time_ns) / show.SECOND
