"""The notice lines at the bottom of the screen.

A hint disappears after some seconds. A notice that requires attention stays until Esc, once it was painted. Notices are never
cut: they take a second line, and the instrument line if they need it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC
from itertools import accumulate, islice

from rich.style import Style

from keydesk.store.frame import Frame
from keydesk.store.state import CONNECTION, SIGN_OF, Notice, NoticeLevel, Topic
from keydesk.text import format as show
from keydesk.text.format import lines_of
from keydesk.text.sanitize import Printable, SafeText, safe
from keydesk.widgets.lines import LinePane, Run
from keydesk.widgets.theme import ColourRole

NOTICE_ROLES: Mapping[NoticeLevel, ColourRole] = {
    "info": "plain",
    "good": "good",
    "warn": "warn",
    "bad": "danger",
}
# Seconds for which a notice is new, and for which it is shown: a good outcome stays longer, dimmed, if there is room.
NEW_FOR: Mapping[str, float] = {"info": 10, "warn": 15, "good": 20, "bad": 20}
SHOWN_FOR: Mapping[str, float] = {**NEW_FOR, "good": 300}
REVERSED = Style(reverse=True)
FRESH_FOR = 4.0  # seconds for which an outcome is shown above everything else, so that each of several can be read
INDENT = 11  # columns of time and sign
NEWEST = 20  # of the notices; older ones are history, unless nobody has seen them
Words = tuple[
    list[SafeText], Style, Printable, Notice | None
]  # wrapped text, style, time and sign, of which notice


class Notices(LinePane, can_focus=False):
    """The newest messages, newest first; commands in flight are above them until settled, those not found at the broker last.

    An outcome that has just come is above both: neither another one nor what is still looked up may hide it. The reason of
    a lost connection is above commands under way only until it was read: they are what was asked for last.
    """

    DEFAULT_CSS = "Notices { height: 1; width: 1fr; }"

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._drawn_from: list[object] = []
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
        return 0 if self.frame is None else len(self._lines_of(self._urgent(self.frame)))

    def changed(self, frame: Frame) -> None:
        """Redraw when a message came, was seen or has expired, and when a command was settled."""
        drawn_from: list[object] = [
            (
                notice,
                _is_new(notice, frame),
                _is_fresh(notice, frame),
                _is_urgent(notice, frame),
                _is_read_reason(notice, frame),
            )
            for notice in _unexpired(frame)
        ]
        drawn_from += [frame.now < frame.store.flash_until, frame.store.tour]
        if drawn_from != self._drawn_from or frame.touched(Topic.NOTICES, Topic.ORDERS):
            self._drawn_from = drawn_from
            self.redraw()

    def redraw(self) -> None:
        """Draw every line again, also for a new width."""
        self._rows = None
        super().redraw()

    def runs(self, y: int, frame: Frame) -> Iterable[Run]:
        """Return a line of the messages; the last one counts those without room."""
        if self._rows is None:
            self._rows = self._fitting_lines(frame)
        return self._rows[y] if y < len(self._rows) else ()

    def _fitting_lines(self, frame: Frame) -> list[list[Run]]:
        notices = list(self._urgent(frame))
        pressing = self._lines_of(notices)
        room = self.outer_size.height
        self._standing = _standing_in(notices, room)
        if len(pressing) > room:
            *kept, last = pressing[:room]
            return [*kept, self._with_more(last)]
        if frame.store.tour and len(pressing) < room:
            step = lines_of(frame.store.tour, self.inside)
            if len(pressing) + len(step) > room:
                step = [_whole_text(frame.store.tour, self.inside)]
            pressing.extend([(line, self.palette["focus"])] for line in step)
        dim = (
            self._words(each, "muted")
            for each in _unexpired(frame)
            if not (_is_urgent(each, frame) or _is_fresh(each, frame))
        )
        rows = [self._lines_of([words]) for words in dim]
        whole = rows[0] if rows and len(pressing) + len(rows[0]) <= room else []
        return [*pressing, *whole]

    def _urgent(self, frame: Frame) -> Iterator[Words]:
        living = _unexpired(frame)
        fresh = [notice for notice in living if _is_fresh(notice, frame)]
        below = [notice for notice in fresh if _is_read_reason(notice, frame)]
        for notice in fresh:
            if notice not in below:
                yield self._flashing(notice, frame)
        yield from self._in_flight(frame, under_way=True)
        for notice in below:
            yield self._flashing(notice, frame)
        urgent = [each for each in living if _is_urgent(each, frame) and each not in fresh]
        found = [each for each in urgent if each.level == "good" and each.waits]
        for notice in found:  # what a look-up found is newer than what no look-up finds
            yield self._flashing(notice, frame)
        yield from self._in_flight(frame, under_way=False)
        for notice in sorted(urgent, key=lambda each: not each.waits):
            if notice not in found:
                yield self._flashing(notice, frame)

    def _in_flight(self, frame: Frame, *, under_way: bool) -> Iterator[Words]:
        """Return the commands under way, newest first; or those that were not found at the broker."""
        for record in reversed(frame.store.in_flight.values()):
            if (record.state != "unconfirmed") == under_way:
                lines = lines_of(safe(record.line), self.inside - 2)
                yield lines, self.palette["warn"], "… ", None

    def _flashing(self, notice: Notice, frame: Frame) -> Words:
        """Return a notice; the newest one is reversed while an event flashes."""
        lines, style, head, _ = self._words(notice, NOTICE_ROLES[notice.level])
        flashes = frame.now < frame.store.flash_until and notice is frame.store.notices[-1]
        return lines, style + REVERSED if flashes else style, head, notice

    def _words(self, notice: Notice, role: ColourRole) -> Words:
        zone = UTC if self.frame is None else self.frame.store.zone
        head = safe(f"{show.clock(notice.time_ns, zone)} {SIGN_OF[notice.level]} ")
        lines = lines_of(notice.text, self.inside - INDENT)
        return lines, self.palette[role], head, notice

    def _lines_of(self, notices: Iterable[Words]) -> list[list[Run]]:
        faint = self.palette["faint"]
        found: list[list[Run]] = []
        for lines, style, head, notice in notices:
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
        kept = _whole_text(text, self.inside - len(head) - len(more))
        return [(head, first), (kept, second), (more, self.palette["muted"])]


def _whole_text(text: Printable, width: int) -> SafeText:
    """Return the words that fit; a first word that is too long is cut."""
    cut = text[: max(0, width)]
    if len(cut) < len(text) and text[len(cut)] != " ":
        cut = cut.rpartition(" ")[0] or cut
    return safe(cut.rstrip())


def _standing_in(notices: Sequence[Words], room: int) -> tuple[Notice, ...]:
    """Return the notices that stand whole in so many lines; of too many lines, the last one says where the rest is."""
    lengths = [len(lines) for lines, *_ in notices]
    usable = room if sum(lengths) <= room else room - 1
    found = []
    for (*_, notice), end in zip(notices, accumulate(lengths), strict=True):
        if notice is not None and (end <= usable or (notice is notices[0][3] and room > 0)):
            found.append(notice)
    return tuple(found)


def _unexpired(frame: Frame) -> list[Notice]:
    """Return the notices that have not expired, newest first; older ones if they wait or were not painted yet."""
    store = frame.store
    newest_first = enumerate(filter(store.is_of_this_ledger, reversed(store.notices)))
    living = (
        each
        for place, each in newest_first
        if each.waits or ((place < NEWEST or each.outcome) and _age(each, frame) < _time_of(each))
    )
    return list(islice(living, NEWEST))


def _time_of(notice: Notice) -> float:
    return SHOWN_FOR[notice.level] if not notice.seen or notice.level == "good" else 0


def _is_urgent(notice: Notice, frame: Frame) -> bool:
    """Return whether it stands above everything but outcomes of this moment; beside a tour a hint does so shortly."""
    newest = notice is frame.store.notices[-1]
    is_read = _age(notice, frame) >= FRESH_FOR and notice.level in {"info", "good"}
    return notice.waits or (
        newest and _is_new(notice, frame) and not (frame.store.tour and is_read)
    )


def _is_fresh(notice: Notice, frame: Frame) -> bool:
    """Return whether it is an outcome of this moment, which may not have been read yet.

    What sums up several outcomes is one for as long as it is new or waits: each of them takes its seconds meanwhile.
    """
    is_good_line = notice.sums_up == CONNECTION and notice.level == "good"
    if notice.sums_up and not is_good_line and (notice.waits or _is_new(notice, frame)):
        return True
    return not notice.seen and notice.level != "info" and _age(notice, frame) < FRESH_FOR


def _is_read_reason(notice: Notice, frame: Frame) -> bool:
    """Return whether it says why the connection is lost, and has been read: commands under way may stand above it."""
    return notice.sums_up == CONNECTION and _age(notice, frame) >= FRESH_FOR


def _is_new(notice: Notice, frame: Frame) -> bool:
    return not notice.seen and _age(notice, frame) < NEW_FOR[notice.level]


def _age(notice: Notice, frame: Frame) -> float:
    """Return its age in seconds; that of an outcome begins when it is painted."""
    since = notice.painted if notice.outcome else notice.came
    return 0.0 if since is None else frame.now - since
