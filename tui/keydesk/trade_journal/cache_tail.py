"""Read the newest part of the cache of events, so that the journal of a large account opens as fast as that of a small one.

The events of the file are in the order of their transactions, so a transaction is found by bisection. What is read holds every event
of each trade in it: it goes back to the opening of all trades that its events touch, and of those that are open.
"""

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from keydesk.calc.trade_journal.events import Event, Fill, OrderPrice, Retag
from keydesk.calc.trade_journal.rebuild import trades_of
from keydesk.trade_journal.cache import (
    LOCK_TIMEOUT,
    UNREADABLE,
    CachedEvents,
    CacheMark,
    Progress,
    event_of,
    read_cache,
    read_mark,
)
from keydesk_client.auth.private_files import locked, private_folder, refuse_unsafe
from keydesk_client.errors import UnsafeFile

BLOCK = 65_536  # bytes
LINE = 2048  # bytes: usually more than one line
READ_ONLY = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
WITHOUT_ID = "tag"  # the kind of line that names a trade in place of its own transaction


class EventFile:
    """The lines of a file of events, read where they are wanted; `bytes_read` counts."""

    def __init__(self, path: Path, size: int) -> None:
        self._handle = os.open(path, READ_ONLY)
        self._size = size
        self.bytes_read = 0
        try:
            refuse_unsafe(path, os.fstat(self._handle))
        except UnsafeFile:
            self.close()
            raise

    def close(self) -> None:
        """Close the file."""
        os.close(self._handle)

    def __enter__(self) -> Self:
        """Return the file."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the file."""
        self.close()

    def lines(self, start: int, end: int, block_size: int = BLOCK) -> Iterator[bytes]:
        """Yield the lines between two places at which lines begin."""
        rest, at = b"", start
        while at < end:
            block = self._read(at, min(block_size, end - at))
            at += len(block)
            *whole, rest = (rest + block).split(b"\n")
            yield from whole
        if rest:
            raise ValueError(rest)

    def _read(self, at: int, size: int) -> bytes:
        block = os.pread(self._handle, size, at)
        if not block:
            raise ValueError(at)  # shorter than its mark says
        self.bytes_read += len(block)
        return block

    def line_start(self, place: int) -> int:
        """Return where the first line at or after a place begins."""
        at = place - 1
        while 0 <= at < self._size:
            block = self._read(at, min(LINE, self._size - at))
            found = block.find(b"\n")
            if found >= 0:
                return at + found + 1
            at += len(block)
        return 0 if place <= 0 else self._size

    def _number_at(self, start: int) -> tuple[int, Sequence[Any]] | None:
        """Return the transaction of the first line from a start on that names one, and the line."""
        for line in self.lines(start, self._size, LINE):
            fields = json.loads(line)
            if fields[0] != WITHOUT_ID:
                return int(fields[1]), fields
        return None

    def place_of(self, number: int) -> int:
        """Return where the first line begins whose transaction is this one or a later one."""
        low, high = 0, self._size
        while low < high:
            middle = (low + high) // 2
            start = self.line_start(middle)
            found = self._number_at(start) if start < high else None
            if found is None or found[0] >= number:
                high = middle
            else:
                low = middle + 1
        return self.line_start(low)

    def line_of(self, number: int) -> Sequence[Any] | None:
        """Return the first line of a transaction, None if it has none."""
        place = self.place_of(number)
        found = self._number_at(place) if place < self._size else None
        return found[1] if found is not None and found[0] == number else None


def read_tail(
    path: Path,
    account_id: str,
    created_ns: int,
    wanted: int,
    progress: Progress | None = None,
) -> CachedEvents:
    """Return at least so many of the newest events of the cache; all of one that is not twice as long.

    Args:
        path: The file of events.
        account_id: The account.
        created_ns: When it was opened.
        wanted: How many lines are read at least.
        progress: Called where all of it is read.
    """
    with suppress(OSError, UnsafeFile, *UNREADABLE):
        private_folder(path.parent)
        with locked(path, patience_s=LOCK_TIMEOUT):
            mark = read_mark(path)
            is_long = mark.is_of(account_id, created_ns) and mark.lines > 2 * wanted
            file = EventFile(path, mark.size) if is_long else None
        if file is not None:
            with closing(file):
                start, events = _newest(file, mark, wanted)
            skipped = mark.lines - len(events)
            return CachedEvents(account_id, created_ns, mark.last_id, events, skipped, start)
    return read_cache(path, account_id, created_ns, progress)


def _newest(file: EventFile, mark: CacheMark, wanted: int) -> tuple[int, tuple[Event, ...]]:
    """Return where the newest lines begin, and their events."""
    start, size = mark.size, LINE
    events: tuple[Event, ...] = ()
    while len(events) < wanted and start:
        end = start
        size = max(2 * size, mark.size * (wanted - len(events)) // mark.lines)
        start = file.line_start(max(0, end - size))  # the end itself within a line longer than that
        events = (*_events(file, start, end), *events)
    return start, events


def with_openings(path: Path, cached: CachedEvents, open_trades: Iterable[str]) -> CachedEvents:
    """Return a tail with the events before it that its trades, and the open ones, had.

    Raises:
        OSError: the file cannot be read.
        ValueError: it is damaged.
    """
    open_ids = frozenset(open_trades)
    with EventFile(path, cached.start) as file:
        events, start = cached.events, cached.start
        while start and (oldest := _oldest_missing(events, open_ids)) is not None:
            place = file.place_of(oldest)
            if place >= start:  # the cache does not have it
                break
            older = tuple(_events(file, place, start))
            events, start = (*older, *events), place
            open_ids = frozenset()
        orders = tuple(_orders_before(file, events)) if start else ()
    events = (*orders, *events)
    grown = len(events) - len(cached.events)
    return replace(cached, events=events, skipped=cached.skipped - grown, start=start)


def _events(file: EventFile, start: int, end: int) -> Iterator[Event]:
    for line in file.lines(start, end):
        yield event_of(json.loads(line))


def _oldest_missing(events: Sequence[Event], open_trades: frozenset[str]) -> int | None:
    """Return the lowest id of a trade that the events do not open although they touch it, or it is open."""
    opened = {e.opening.trade_id for e in events if isinstance(e, Fill) and e.opening is not None}
    touched = {id_ for each in events for id_ in trades_of(each)} | open_trades
    return min((int(id_) for id_ in touched - opened if id_.isdecimal()), default=None)


def _orders_before(file: EventFile, events: Sequence[Event]) -> Iterator[Event]:
    """Yield the orders that rested when the events begin and are filled in them: slippage is measured from their prices."""
    first = next((int(e.id) for e in events if not isinstance(e, Retag)), 0)
    ids = (e.order_id for e in events if isinstance(e, Fill) and e.order_id.isdecimal())
    for number in sorted({int(each) for each in ids if int(each) < first}):
        fields = file.line_of(number)
        event = None if fields is None else event_of(fields)
        if isinstance(event, OrderPrice):
            yield event
