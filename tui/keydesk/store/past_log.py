"""Lines of the transaction log that are older than those the desk follows: a window that moves back to the first one.

The window grows by pages of ids at the end where lines are wanted, and loses as many at the other end once it is full, so
that memory is bounded however far one goes. While it reaches up to the followed log, both are one list. With a filter it
keeps the lines that pass alone, and so reaches over any number of others.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable

from keydesk.store.log_filter import filled_orders, passes
from keydesk.store.state import PastDirection
from keydesk.words.log_line import LogLine
from keydesk.words.log_names import LogNames
from keydesk_client import models as m

PAGE = 500  # ids of a request
WINDOW = 6000  # lines that are kept


class PastLog:
    """The lines of a range of ids, oldest first.

    Args:
        newest: The highest id that it may have; what is above belongs to the log that the desk follows.
        filter_text: The words that lines must pass.
    """

    def __init__(self, newest: int, filter_text: str = "") -> None:
        self.lines: list[LogLine] = []
        self.filter_text = filter_text
        self.oldest = newest + 1  # the lowest id that was looked at
        self.newest = newest  # the highest
        self.wants: PastDirection = ""
        self.loading = False
        self.trouble = ""  # why the last page could not be read; cleared when it is wanted again
        self.names = LogNames()
        self.unnamed: dict[str, list[m.OrderCancelTransaction]] = {}  # by order
        self._filled: dict[str, set[str]] = {}  # the orders of newer fills, by id of the filter

    @property
    def reaches_start(self) -> bool:
        """Whether nothing older exists."""
        return self.oldest <= 1

    def page(self, below: int) -> tuple[int, int] | None:
        """Return the ids of the page that is wanted, both included and lower than `below`; None if no page is wanted."""
        match self.wants:
            case "older" if not self.reaches_start:
                return max(1, self.oldest - PAGE), self.oldest - 1
            case "newer" if self.newest + 1 < below:
                return self.newest + 1, min(self.newest + PAGE, below - 1)
            case _:
                return None

    def extend(self, page: tuple[int, int]) -> bool:
        """Widen the range by a page of ids that adjoins it; return False for another page."""
        first, last = page
        if last + 1 == self.oldest:
            self.oldest = first
        elif first == self.newest + 1:
            self.newest = last
        else:
            return False
        return True

    def add(self, lines: Iterable[LogLine], *, older: bool) -> None:
        """Add the lines of a page that pass the filter at one end.

        An order is read after its fill, on the same page or on an older one: `note_fills` comes first.
        """
        passing = [line for line in lines if self._passes(line)]
        self.lines = [*passing, *self.lines] if older else [*self.lines, *passing]

    def put(self, line: LogLine) -> None:
        """Replace the line of the same id, or add it in its place if it passes the filter."""
        number = int(line.id)
        if not self.oldest <= number <= self.newest:
            return
        at = bisect_left(self.lines, number, key=_number)
        held = at < len(self.lines) and self.lines[at].id == line.id
        self.lines[at : at + held] = [line] if self._passes(line) else []

    def note_fills(self, lines: Iterable[LogLine]) -> None:
        """Remember which orders the filter asks for because of these fills; the orders are older, and may be in no window yet."""
        for id_, orders in filled_orders(lines, self.filter_text).items():
            self._filled.setdefault(id_, set()).update(orders)

    def _passes(self, line: LogLine) -> bool:
        return passes(line, self.filter_text, self._filled)

    def want(self, direction: PastDirection) -> None:
        """Request a page at one end; a full window drops lines at the other."""
        self.wants, self.trouble = direction, ""
        self._make_room()

    def _make_room(self) -> None:
        """Remove lines at the end that is not wanted, so that a page fits."""
        over = len(self.lines) + PAGE - WINDOW
        if over <= 0:
            return
        if self.wants == "older":
            self.newest = int(self.lines[-over].id) - 1
            del self.lines[-over:]
        elif self.wants == "newer":
            del self.lines[:over]
            self.oldest = int(self.lines[0].id)

    def append(self, lines: Iterable[LogLine], newest: int) -> None:
        """Take over lines that the followed log drops, while there is room: without them the window would have a gap to it."""
        if len(self.lines) < WINDOW:
            self.lines += [line for line in lines if line.id and self._passes(line)]
            self.newest = newest


def _number(line: LogLine) -> int:
    return int(line.id)
