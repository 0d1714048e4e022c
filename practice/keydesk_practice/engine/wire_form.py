"""From typed records to the wire's JSON and back, exactly: a record's fields say how each is written.

A Decimal is written with the digits it carries (whoever made it rounded it), so nothing is lost either way. `Id` is a
number inside and text on the wire, a `Moment` is nanoseconds inside and RFC 3339 on the wire. None is left out.

The trading day: it ends at 17:00 in New York, whatever the hour in UTC.
Points in time on the wire: read in either form, written in the form the client asked for.

Answers are built with RFC 3339 texts. A client that asked for UNIX gets the same body with the date members rewritten;
members are known by name, so that a comment which looks like a date stays what it is.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import lru_cache, partial
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints
from zoneinfo import ZoneInfo

SECOND = 1_000_000_000
DAY_ENDS_AT = 17
NEW_YORK = ZoneInfo("America/New_York")


def day_end_after(moment: int) -> int:
    """Return the first 17:00 New York after a moment, in nanoseconds since 1970."""
    return _day_end_after_second(moment // SECOND) * SECOND


def weekday(moment: int) -> int:
    """Return the New York weekday of a moment, Monday 0."""
    return datetime.fromtimestamp(moment // SECOND, NEW_YORK).weekday()


@lru_cache(maxsize=1024)
def _day_end_after_second(second: int) -> int:
    local = datetime.fromtimestamp(second, NEW_YORK)
    end = local.replace(hour=DAY_ENDS_AT, minute=0, second=0, microsecond=0)
    if end.astimezone(UTC) <= local.astimezone(UTC):
        end += timedelta(days=1)  # of wall time: the clocks may change in between
    return int(end.astimezone(UTC).timestamp())


NANOSECONDS = 1_000_000_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LATEST = 253_402_300_799 * NANOSECONDS + NANOSECONDS - 1  # the year 9999 ends; no text above it
_RFC3339 = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:\.(\d{1,30}))?(?:([Zz])|([+ -])(\d\d):(\d\d))",
    re.ASCII,
)
_UNIX = re.compile(r"(\d{1,12})(?:\.(\d{1,30}))?", re.ASCII)
_DATE_MEMBERS = frozenset(
    {
        "cancelledTime",
        "closeTime",
        "createTime",
        "createdTime",
        "filledTime",
        "from",
        "gtdTime",
        "lastMarginCallExtensionTime",
        "lastOrderFillTimestamp",
        "marginCallEnterTime",
        "openTime",
        "resettablePLTime",
        "time",
        "timestamp",
        "to",
    }
)


def parse_time(text: str) -> int:
    """Return the nanoseconds since 1970 of a text in either form; `ValueError` for anything else."""
    if found := _UNIX.fullmatch(text):
        return _within(int(found[1]) * NANOSECONDS + _fraction(found[2]))
    found = _RFC3339.fullmatch(text)
    if found is None:
        raise ValueError(text)
    try:
        year, month, day, hour, minute, second = map(int, found.group(1, 2, 3, 4, 5, 6))
        moment = datetime(year, month, day, hour, minute, second, tzinfo=UTC) - _offset(found)
    except OverflowError:
        raise ValueError(text) from None
    since = moment - _EPOCH
    seconds = since.days * 86_400 + since.seconds
    return _within(seconds * NANOSECONDS + _fraction(found[7]))


def _offset(found: re.Match[str]) -> timedelta:
    if found[8]:
        return timedelta()
    size = timedelta(hours=int(found[10]), minutes=int(found[11]))
    return -size if found[9] == "-" else size  # an unescaped plus arrives as a blank


def _fraction(digits: str | None) -> int:
    return int((digits or "").ljust(9, "0")[:9])


def _within(nanoseconds: int) -> int:
    if not 0 <= nanoseconds <= _LATEST:
        raise ValueError(nanoseconds)
    return nanoseconds


def rfc3339(nanoseconds: int) -> str:
    """Return the text of a time: UTC, nine decimals, Z."""
    seconds, rest = divmod(nanoseconds, NANOSECONDS)
    moment = _EPOCH + timedelta(seconds=seconds)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{rest:09d}Z"


def unix(nanoseconds: int) -> str:
    """Return the text of a time as seconds since 1970 with nine decimals."""
    seconds, rest = divmod(nanoseconds, NANOSECONDS)
    return f"{seconds}.{rest:09d}"


def in_unix_form(value: Any) -> Any:  # noqa: ANN401 - any JSON value goes in and out
    """Return the same JSON value with every date member as UNIX seconds."""
    if isinstance(value, dict):
        return {name: _member(name, inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [in_unix_form(inner) for inner in value]
    return value


def _member(name: str, value: Any) -> Any:  # noqa: ANN401
    if name in _DATE_MEMBERS and isinstance(value, str) and _RFC3339.fullmatch(value):
        return unix(parse_time(value))
    return in_unix_form(value)


Id = Annotated[int, "id"]
Moment = Annotated[int, "moment"]

Turn = Callable[[Any], Any]
Form = tuple[tuple[str, str, Turn | None], ...]  # field, wire name, how its value turns
_WRITERS: dict[type, Form] = {}  # worked out once for each kind of record
_READERS: dict[type, Form] = {}
Record = TypeVar("Record")
_SPELLED = {"id": "ID", "ids": "IDs", "pl": "PL", "vwap": "VWAP"}


def wire_name(field: str) -> str:
    """Return a field's name as the wire spells it: `trade_ids` is `tradeIDs`."""
    first, *rest = field.split("_")
    return first + "".join(_SPELLED.get(word, word.capitalize()) for word in rest)


def plain(number: Decimal) -> str:
    """Return a number without exponent, with the digits it carries."""
    return format(number, "f")


def to_wire(record: Any, without: str | None = None) -> dict[str, Any]:  # noqa: ANN401 - any of the engine's records
    """Return the JSON object of a record, `without` a field that the caller writes itself."""
    written = {}
    for name, wire, write in _writers_of(type(record)):
        if name == without:
            continue
        value = getattr(record, name)
        if value is not None:
            written[wire] = value if write is None else write(value)
    return written


def read_record(kind: type[Record], members: Mapping[str, Any], **given: object) -> Record:
    """Return the record of a JSON object; members that the record does not have are passed over.

    Fields that are `given` are taken as they are.
    """
    found = {
        name: members[wire] if read is None else read(members[wire])
        for name, wire, read in _readers_of(kind)
        if wire in members and name not in given
    }
    return kind(**found, **given)


_moment_text = lru_cache(maxsize=4096)(rfc3339)


def _writers_of(kind: type) -> Form:
    found = _WRITERS.get(kind)
    if found is None:
        found = tuple((name, wire_name(name), _writer(hint)) for name, hint in _hints(kind))
        _WRITERS[kind] = found
    return found


def _readers_of(kind: type) -> Form:
    found = _READERS.get(kind)
    if found is None:
        found = tuple((name, wire_name(name), _reader(hint)) for name, hint in _hints(kind))
        _READERS[kind] = found
    return found


def _hints(kind: Any) -> list[tuple[str, Any]]:  # noqa: ANN401 - a dataclass
    hints = get_type_hints(kind, include_extras=True)
    return [(field.name, _present(hints[field.name])) for field in fields(kind)]


def _present(hint: Any) -> Any:  # noqa: ANN401 - a type hint
    """Return the hint without its `| None`."""
    if get_origin(hint) in {Union, UnionType}:
        return next(part for part in get_args(hint) if part is not NoneType)
    return hint


def _writer(hint: Any) -> Turn | None:  # noqa: ANN401 - a type hint
    if hint == Id:
        return str
    if hint == Moment:
        return _moment_text
    if hint is Decimal:
        return plain
    if get_origin(hint) is tuple:
        return _list_writer(_writer(get_args(hint)[0]))
    return to_wire if is_dataclass(hint) else None


def _list_writer(write: Turn | None) -> Turn:
    return list if write is None else lambda values: [write(value) for value in values]


def _reader(hint: Any) -> Turn | None:  # noqa: ANN401 - a type hint
    if hint == Id:
        return int
    if hint == Moment:
        return parse_time
    if hint is Decimal:
        return Decimal
    if get_origin(hint) is tuple:
        return _tuple_reader(_reader(get_args(hint)[0]))
    if get_origin(hint) is Literal:
        return None
    return partial(_read_inner, hint) if is_dataclass(hint) else None


def _tuple_reader(read: Turn | None) -> Turn:
    return tuple if read is None else lambda values: tuple(read(value) for value in values)


def _read_inner(kind: Any, members: Mapping[str, Any]) -> Any:  # noqa: ANN401 - a dataclass
    return read_record(kind, members)
