"""The cache of an account's events: what was fetched once is not fetched again. It may be deleted at any time.

Each line of the file is one event, as a JSON array of its kind and members; newer events are appended. Beside it, a file of one
line says whose events they are, when the account was opened, the last transaction read, and how many lines and bytes of the first
file are valid: a crash may leave more behind them. A cache that cannot be read, or is of another account or version, counts as
none.
"""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from keydesk.calc.trade_journal.events import (
    Booking,
    ClosedPart,
    Event,
    Fill,
    Opening,
    OrderPrice,
    Retag,
    StopSet,
    Transfer,
)
from keydesk_client.auth.private_files import locked, private_folder, read_private, replace_file
from keydesk_client.errors import UnsafeFile

VERSION = 3
MAX_BYTES = 2_000_000_000  # bytes
PROGRESS_EVERY = 20_000  # lines
LOCK_TIMEOUT = 2.0  # seconds
Progress: TypeAlias = Callable[[int, int], None]
KINDS: Mapping[str, type[Event]] = {
    "fill": Fill,
    "order": OrderPrice,
    "stop": StopSet,
    "booking": Booking,
    "transfer": Transfer,
    "tag": Retag,
}
NAMES = {kind: name for name, kind in KINDS.items()}
UNREADABLE = (ValueError, TypeError, KeyError, IndexError, ArithmeticError, RecursionError)
RECORDS = (Fill, OrderPrice, StopSet, Booking, Transfer, Opening, ClosedPart, Retag)
MEMBERS: Mapping[type, Sequence[str]] = {
    kind: tuple(each.name for each in fields(kind)) for kind in RECORDS
}
NUMBERS, TEXTS = (
    frozenset(
        name
        for kind in RECORDS
        for name, type_ in ((each.name, each.type) for each in fields(kind))
        if type_ in types
    )
    for types in ((Decimal, Decimal | None), (str, str | None))
)


@dataclass(frozen=True, slots=True)
class CachedEvents:
    """The events of an account up to a transaction."""

    account_id: str
    created_ns: int  # distinguishes a practice account that was reset
    last_id: int = 0
    events: tuple[Event, ...] = ()
    skipped: int = 0  # lines of the file before them
    start: int = 0  # bytes of those lines


class CacheMark(NamedTuple):
    """What the file beside the events says."""

    version: int
    account_id: str
    created_ns: int
    last_id: int
    lines: int
    size: int  # bytes

    def is_of(self, account_id: str, created_ns: int) -> bool:
        """Return whether it is that of an account."""
        return (self.version, self.account_id, self.created_ns) == (VERSION, account_id, created_ns)


def mark_of(path: Path) -> Path:
    """Return the file beside the events."""
    return path.with_name(f"{path.name}.mark")


def read_cache(
    path: Path, account_id: str, created_ns: int, progress: Progress | None = None
) -> CachedEvents:
    """Return what is cached for an account; nothing without a usable cache.

    Args:
        path: The file of events.
        account_id: The account.
        created_ns: When it was opened.
        progress: Called with the lines read, and all of them.
    """
    with suppress(OSError, UnsafeFile, *UNREADABLE):
        private_folder(path.parent)
        with locked(path, patience_s=LOCK_TIMEOUT):
            mark, content = read_mark(path), read_private(path, MAX_BYTES)
        lines = content[: mark.size].decode().splitlines()
        is_whole = (len(lines), len(content) >= mark.size) == (mark.lines, True)
        if mark.is_of(account_id, created_ns) and is_whole:
            events = tuple(_events(lines, progress))
            return CachedEvents(account_id, created_ns, mark.last_id, events)
    return CachedEvents(account_id, created_ns)


def _events(lines: Sequence[str], progress: Progress | None) -> Iterator[Event]:
    for number, line in enumerate(lines, 1):
        yield event_of(json.loads(line))
        if progress is not None and not number % PROGRESS_EVERY:
            progress(number, len(lines))


def read_mark(path: Path) -> CacheMark:
    """Return what the file beside the events says; raise one of UNREADABLE if that makes no sense."""
    mark = CacheMark(*json.loads(read_private(mark_of(path), MAX_BYTES)))
    numbers = (mark.created_ns, mark.last_id, mark.lines, mark.size)
    if not all(type(each) is int and each >= 0 for each in numbers):
        raise ValueError(mark)
    return mark


def append_cache(path: Path, before: CachedEvents, after: CachedEvents) -> None:
    """Append as `append_events` does; where that fails, the next start fetches again."""
    with suppress(OSError, UnsafeFile):
        append_events(path, before, after)


def append_events(path: Path, before: CachedEvents, after: CachedEvents) -> None:
    """Append the events that came after those of the cache that was read; write it whole where it has changed since.

    Args:
        path: The file of events.
        before: What was read from it.
        after: The same and newer events.

    Raises:
        OSError: the cache cannot be written.
        UnsafeFile: it is accessible to others, or shorter than it was.
    """
    private_folder(path.parent)
    with locked(path, patience_s=LOCK_TIMEOUT):
        mark = None
        with suppress(OSError, UnsafeFile, *UNREADABLE):
            mark = read_mark(path)
        lines = before.skipped + len(before.events)
        is_same = mark is not None and mark.is_of(before.account_id, before.created_ns)
        if mark is not None and is_same and (mark.last_id, mark.lines) == (before.last_id, lines):
            _append(path, mark, after)
        elif before.skipped:  # a tail does not become the whole file
            return
        elif mark is None or not is_same or mark.last_id < after.last_id or not before.last_id:
            _write_whole(path, after)


def _write_whole(path: Path, cached: CachedEvents) -> None:
    mark_of(path).unlink(missing_ok=True)  # it would count bytes of another file
    content = _encoded(cached.events)
    replace_file(path, content)
    _write_mark(path, cached, len(content))


def _append(path: Path, mark: CacheMark, after: CachedEvents) -> None:
    newer = _encoded(after.events[mark.lines - after.skipped :])
    handle = os.open(path, os.O_WRONLY | os.O_NOFOLLOW)
    with os.fdopen(handle, "wb") as file:
        if os.fstat(handle).st_size < mark.size:
            raise UnsafeFile(f"{path} is shorter than it was")
        file.truncate(mark.size)  # takes off what a crash left there
        file.seek(mark.size)
        file.write(newer)
        file.flush()
        os.fsync(handle)
    _write_mark(path, after, mark.size + len(newer))


def _write_mark(path: Path, cached: CachedEvents, size: int) -> None:
    mark = CacheMark(
        VERSION,
        cached.account_id,
        cached.created_ns,
        cached.last_id,
        cached.skipped + len(cached.events),
        size,
    )
    replace_file(mark_of(path), f"{json.dumps(mark)}\n".encode())


def _encoded(events: Iterable[Event]) -> bytes:
    return "".join(
        f"{json.dumps(line_of(each), separators=(',', ':'))}\n" for each in events
    ).encode()


def line_of(event: Event) -> list[object]:
    """Return an event as JSON values."""
    return [NAMES[type(event)], *_values(event)]


def _values(record: Any) -> list[object]:  # noqa: ANN401 - one of the records of `events`
    return [_value(getattr(record, name)) for name in MEMBERS[type(record)]]


def _value(value: object) -> object:
    match value:
        case Decimal():
            return str(value)
        case Opening() | ClosedPart():
            return _values(value)
        case tuple():
            return [_value(each) for each in value]
        case _:
            return value


def event_of(line: Sequence[Any]) -> Event:
    """Return the event of a line; raise one of UNREADABLE if it cannot be read."""
    name, *values = line
    kind = KINDS[name]
    return kind(**_members(kind, values))


def _members(
    kind: type[Event] | type[Opening] | type[ClosedPart], values: Sequence[Any]
) -> dict[str, Any]:
    members = dict(zip(MEMBERS[kind], values, strict=True))
    if type(members.get("time_ns", 0)) is not int:
        raise TypeError(members["time_ns"])
    for name, value in members.items():
        if value is not None and name in NUMBERS:
            members[name] = _number(value)
        elif value is not None and name in TEXTS and not isinstance(value, str):
            raise TypeError(value)
    if kind is Fill:
        opening = members["opening"]
        members["opening"] = None if opening is None else Opening(**_members(Opening, opening))
        members["parts"] = tuple(
            ClosedPart(**_members(ClosedPart, each)) for each in members["parts"]
        )
    if kind is Booking:
        members["shares"] = tuple((str(id_), _number(amount)) for id_, amount in members["shares"])
    return members


def _number(value: object) -> Decimal:
    """Return a number that was written as text; raise if it is not a finite number."""
    if not isinstance(value, str) or not (number := Decimal(value)).is_finite():
        raise ValueError(value)
    return number
