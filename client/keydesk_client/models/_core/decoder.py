"""From bytes to records: one pass of the validator over the body, and salvage.py when that refuses.

Records from bodies that are not as they should be: what can be read is read, nothing fails as a whole.

An order that was placed must not look like a failure because one member of the answer was left out or renamed. The
quick way (reading.py) refuses such a body; this slow way builds it member by member. What is not there stays missing,
what can not be read stays missing too and is kept raw among the unknown members, so that it is written back as it was.
In a list of records only those that the quick way refuses are built so, and only `MAX_SALVAGED` of an answer.
"""

import json
from dataclasses import dataclass, fields
from decimal import Decimal
from functools import cache, cached_property
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Final,
    Generic,
    Literal,
    TypeAlias,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

from pydantic import TypeAdapter, ValidationError
from typing_extensions import TypeForm

from keydesk_client.errors import AnswerTooLarge, UnreadableAnswer
from keydesk_client.models._core.json import (
    SMALL,
    BodyLimits,
    IncompleteRecord,
    JsonObject,
    JsonValue,
    WrittenFloat,
    loads,
)
from keydesk_client.models._core.record import Record
from keydesk_client.models._core.scalars import DateTime, decimal_text
from keydesk_client.models._core.slots_record import SlottedRecord, restore
from keydesk_client.models._core.validation import RequestRecord
from keydesk_client.models._core.wire_names import accepted_names, wire_name

# ruff: noqa: ANN401 - this is where JSON becomes a record: values and annotations are of any type


R = TypeVar("R", bound=Record)
S = TypeVar("S", bound=SlottedRecord)

Annotation: TypeAlias = Any
"""An annotation, as typing gives it."""
UNIONS: tuple[object, ...] = (Union, UnionType)
MAX_SALVAGED: Final = 5_000
"""Records of one answer that are built member by member: each takes 50 µs, and 3 kB."""


@dataclass(slots=True)
class SalvageBudget:
    """How much more of an answer may be built member by member."""

    records: int = MAX_SALVAGED

    def spend(self) -> None:
        """Count one record; AnswerTooLarge when there were too many."""
        self.records -= 1
        if self.records < 0:
            raise AnswerTooLarge(f"more than {MAX_SALVAGED:,} records of the answer cannot be read")


def read_value(kind: Annotation, value: JsonValue, effort: SalvageBudget | None = None) -> Any:
    """The value as its annotation wants it; ValueError when there is no way to read it so."""
    effort = effort or SalvageBudget()
    choices = _choices(kind)
    if value is None and NoneType in choices:
        return None
    records = [choice for choice in choices if _is_record(choice)]
    if records:
        return _read_record(records, value, effort)
    if len(choices) == 1 and _origin(choices[0]) is tuple:
        return _read_list(get_args(choices[0])[0], value, effort)
    try:
        return _leaf(kind).validate_python(_as_text(choices, value))
    except IncompleteRecord:
        failure = ValueError("a record inside lacks a member")
    raise failure


def read_object(kind: type[R], members: JsonObject, effort: SalvageBudget) -> R:
    """The record that a JSON object holds."""
    effort.spend()
    hints = _hints(kind)
    left = dict(members)
    values: dict[str, Any] = {}
    told: set[str] = set()
    for name, field in kind.model_fields.items():
        names = accepted_names(field)
        sent_as = next((key for key in names if key in left), None)
        if sent_as is None:
            continue
        try:
            values[name] = read_value(hints[name], left[sent_as], effort)
        except ValueError:
            continue
        if sent_as != names[0]:
            continue  # it is written back as it came, from among the unknown members
        told.add(name)
        if issubclass(kind, RequestRecord) or _comes_back(values[name], left[sent_as]):
            del left[sent_as]  # else what came stays there, and writes over the value
    return _built(kind, values, told, left)


def read_slotted(kind: type[S], members: JsonObject, effort: SalvageBudget) -> S:
    """The slotted record that a JSON object holds."""
    effort.spend()
    hints = _hints(cast("Any", kind))
    left = dict(members)
    values: dict[str, Any] = {}
    for name, hint in hints.items():
        sent_as = wire_name(name)
        try:
            values[name] = read_value(hint, left[sent_as], effort)
        except (KeyError, ValueError):
            continue
        if values[name] is not None and _comes_back(values[name], left[sent_as]):
            del left[sent_as]
    return restore(kind, values, left)


def _built(kind: type[R], values: dict[str, Any], told: set[str], left: JsonObject) -> R:
    made, fields_ = kind.__new__(kind), kind.model_fields
    standards = {
        name: field.get_default(call_default_factory=True)
        for name, field in fields_.items()
        if not field.is_required() and not any(key in left for key in accepted_names(field))
    }
    object.__setattr__(made, "__dict__", standards | values)
    object.__setattr__(made, "__pydantic_fields_set__", told)
    object.__setattr__(made, "__pydantic_extra__", left)
    object.__setattr__(made, "__pydantic_private__", None)
    return made


def _read_record(kinds: list[Any], value: JsonValue, effort: SalvageBudget) -> Any:
    if not isinstance(value, dict):
        raise ValueError("not a JSON object")  # noqa: TRY004 - callers catch what pydantic raises
    kind = kinds[0] if len(kinds) == 1 else _by_type(kinds, value.get("type"))
    read: Any = read_object if issubclass(kind, Record) else read_slotted
    return read(kind, value, effort)


def _by_type(kinds: list[Any], said: object) -> Any:
    """The record whose `type` is this word; else the one that takes any word, else the first."""
    for kind in kinds:
        if said in _words(_hints(kind)["type"]):
            return kind
    return next((kind for kind in kinds if not _words(_hints(kind)["type"])), kinds[0])


def _words(kind: Annotation) -> tuple[Any, ...]:
    return get_args(kind) if _origin(kind) is Literal else ()


def _read_list(kind: Annotation, value: JsonValue, effort: SalvageBudget) -> tuple[Any, ...]:
    if not isinstance(value, list):
        raise ValueError("not a JSON array")  # noqa: TRY004 - callers catch what pydantic raises
    if any(map(_is_record, _choices(kind))):
        return tuple(_read_item(kind, item, effort) for item in value)
    return tuple(read_value(kind, item, effort) for item in value)


def _read_item(kind: Annotation, item: JsonValue, effort: SalvageBudget) -> Any:
    """A record of a list: in the quick way, of thousands one is broken as a rule."""
    if not _holds_float(item):
        try:
            return _leaf(kind).validate_json(json.dumps(item), by_alias=True, by_name=False)
        except (ValidationError, IncompleteRecord):
            pass  # left before anything else is raised: it shows a piece of the body
    return read_value(kind, item, effort)


def _holds_float(value: JsonValue) -> bool:
    """Whether there is a number without quotes that would lose digits when it is written for the quick way."""
    if isinstance(value, dict):
        return any(map(_holds_float, value.values()))
    if isinstance(value, list):
        return any(map(_holds_float, value))
    return isinstance(value, WrittenFloat)


def _choices(kind: Annotation) -> tuple[Any, ...]:
    """The members of a union, however deep it is annotated; one member when it is none."""
    if _origin(kind) is Annotated:
        inner = get_args(kind)[0]
        return _choices(inner)
    if _origin(kind) in UNIONS:
        return tuple(choice for member in get_args(kind) for choice in _choices(member))
    return (kind,)


def _origin(kind: Annotation) -> object:
    return get_origin(kind)


def _is_record(kind: Annotation) -> bool:
    return isinstance(kind, type) and issubclass(kind, Record | SlottedRecord)


def _as_text(choices: tuple[Any, ...], value: JsonValue) -> JsonValue:
    """A number where text belongs is an id or a price that somebody forgot to quote."""
    if isinstance(value, WrittenFloat):
        return value.text
    wants_text = str in choices and not isinstance(value, bool)
    return str(value) if wants_text and isinstance(value, int) else value


def _comes_back(value: object, came: JsonValue) -> bool:
    """Whether writing the value gives what came; a record inside sees to its own members."""
    match value:
        case Record() | SlottedRecord():
            return True
        case tuple():
            items = cast("tuple[object, ...]", value)
            return isinstance(came, list) and all(map(_comes_back, items, came))
        case _ if isinstance(came, WrittenFloat):
            return str(float(came)) != came.text  # as text every digit comes back, as a float not
        case Decimal():
            return decimal_text(value) == came
        case DateTime():
            return value.text == came
        case _:
            return type(value) is type(came) and value == came


@cache
def _hints(kind: Any) -> dict[str, Any]:
    known = get_type_hints(kind, include_extras=True)
    if issubclass(kind, Record):
        return {name: known[name] for name in kind.model_fields}
    return {each.name: known[each.name] for each in fields(kind)}


@cache
def _leaf(kind: Annotation) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


T = TypeVar("T")

LARGE: Final = 100_000
"""Bytes from which a body is large: 700 candles, 170 trades."""


class Reader(Generic[T]):
    """Reads one kind of record, or one union of them, again and again."""

    def __init__(self, kind: TypeForm[T], limits: BodyLimits = SMALL) -> None:
        self._kind = kind
        self.limits: BodyLimits = limits

    def read(self, text: bytes | str) -> T:
        """The record; UnreadableAnswer only when the text is no JSON of this shape at all, or exceeds the limits."""
        found = self.read_quickly(text)
        return self.salvage(text) if found is None else found

    def read_quickly(self, text: bytes | str) -> T | None:
        """The record, when the text is just what it should be."""
        self.limits.check(text)
        try:
            return self._adapter.validate_json(text, by_alias=True, by_name=False)
        except (ValidationError, IncompleteRecord):
            return None

    @cached_property
    def _adapter(self) -> TypeAdapter[T]:
        build_records(self._kind)
        return TypeAdapter(self._kind)

    def salvage(self, text: bytes | str) -> T:
        """The record, member by member; large bodies take a second of pure Python, so they belong into a thread."""
        self.limits.check(text, counted=True)
        try:
            found: T = read_value(self._kind, loads(text))
        except RecursionError:
            failure = UnreadableAnswer("the answer is nested too deeply to be read")
        except ValueError:
            failure = UnreadableAnswer(f"the answer is no {_name(self._kind)} in JSON")
        else:
            return found
        raise failure


def build_records(kind: object) -> None:
    """Build the validators of the records inside a type, the innermost first.

    A validator takes those that are ready as they are, and makes its own copy of the others: three answers that
    hold transactions would hold three validators of each kind of transaction, 2 MB and 20 ms every time.
    """
    if isinstance(kind, type) and issubclass(kind, Record) and not kind.__pydantic_complete__:
        for field in kind.__pydantic_fields__.values():
            build_records(field.annotation)
        kind.model_rebuild()
    for part in get_args(kind):
        build_records(part)


def _name(kind: object) -> str:
    return getattr(kind, "__name__", "known record")
