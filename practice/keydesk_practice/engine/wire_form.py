"""From typed records to the wire's JSON and back, exactly: a record's fields say how each is written.

A Decimal is written with the digits it carries (whoever made it rounded it), so nothing is lost either way. `Id` is a
number inside and text on the wire, a `Moment` is nanoseconds inside and RFC 3339 on the wire. None is left out.
"""

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from decimal import Decimal
from functools import lru_cache, partial
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from keydesk_practice.engine.datetimes import parse_time, rfc3339

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


def to_wire(record: Any) -> dict[str, Any]:  # noqa: ANN401 - any of the engine's records
    """Return the JSON object of a record."""
    written = {}
    for name, wire, write in _writers_of(type(record)):
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
