"""The cache of an account's events: what was fetched once is not fetched again. It may be deleted at any time.

The first line names the account, when it was opened, and the last transaction read; each further line is one event, as a JSON
array of its kind and members. A cache that cannot be read, or is of another account or version, is as good as none.
"""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from decimal import Decimal
from pathlib import Path
from typing import Any

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

VERSION = 1
LARGEST = 500_000_000  # bytes
PATIENCE = 2.0  # seconds
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
    created_ns: int  # tells a practice account that was reset
    last_id: int = 0
    events: tuple[Event, ...] = ()


def read_cache(path: Path, account_id: str, created_ns: int) -> CachedEvents:
    """Return what is cached for an account; nothing if there is no cache that can be used."""
    with suppress(OSError, UnsafeFile, *UNREADABLE):
        head, *lines = read_private(path, LARGEST).decode().splitlines()
        version, account, created, last_id, count = json.loads(head)
        is_whole = count == len(lines) and type(last_id) is int and last_id >= 0
        if (version, account, created) == (VERSION, account_id, created_ns) and is_whole:
            events = tuple(event_of(json.loads(line)) for line in lines)
            return CachedEvents(account_id, created_ns, last_id, events)
    return CachedEvents(account_id, created_ns)


def write_cache(path: Path, cached: CachedEvents) -> None:
    """Write the cache; where that fails, the next start fetches again."""
    head = [VERSION, cached.account_id, cached.created_ns, cached.last_id, len(cached.events)]
    lines = [head, *(line_of(each) for each in cached.events)]
    text = "".join(f"{json.dumps(each, separators=(',', ':'))}\n" for each in lines)
    with suppress(OSError, UnsafeFile):
        private_folder(path.parent)
        with locked(path, patience_s=PATIENCE):
            replace_file(path, text.encode())


def line_of(event: Event) -> list[object]:
    """Return an event as JSON values."""
    return [NAMES[type(event)], *_values(event)]


def _values(record: Any) -> list[object]:  # noqa: ANN401 - one of the records of `events`
    return [_value(getattr(record, each.name)) for each in fields(record)]


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
    """Return the event of a line; raise one of UNREADABLE if it is none."""
    name, *values = line
    kind = KINDS[name]
    return kind(**_members(kind, values))


def _members(
    kind: type[Event] | type[Opening] | type[ClosedPart], values: Sequence[Any]
) -> dict[str, Any]:
    names = [each.name for each in fields(kind)]
    found = dict(zip(names, values, strict=True))
    if type(found.get("time_ns", 0)) is not int:
        raise TypeError(found["time_ns"])
    for name, value in found.items():
        if value is not None and name in NUMBERS:
            found[name] = _number(value)
        elif value is not None and name in TEXTS and not isinstance(value, str):
            raise TypeError(value)
    if kind is Fill:
        opening = found["opening"]
        found["opening"] = None if opening is None else Opening(**_members(Opening, opening))
        found["parts"] = tuple(ClosedPart(**_members(ClosedPart, each)) for each in found["parts"])
    if kind is Booking:
        found["shares"] = tuple((str(id_), _number(amount)) for id_, amount in found["shares"])
    return found


def _number(value: object) -> Decimal:
    """Return a number that was written as text; raise if it is none, or not finite."""
    if not isinstance(value, str) or not (number := Decimal(value)).is_finite():
        raise ValueError(value)
    return number
