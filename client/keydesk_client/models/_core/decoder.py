"""Decode JSON bodies into records: strictly, in one pass of pydantic's validator, or leniently, member by member.

An accepted order must not look like a failure because one member of the answer was left out or renamed. So a body that
the strict way refuses is decoded leniently: an absent member stays missing, and one that cannot be read stays missing
and is kept raw among the unknown members, so that it is written back as it came. In a list, only the records that the
strict way refuses are decoded leniently, and at most `MAX_SALVAGED` of an answer.
"""

# ruff: noqa: ANN401 - this is where JSON becomes a record: values and annotations are of any type

import json
from collections.abc import Callable
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

from pydantic import ConfigDict, TypeAdapter, ValidationError
from typing_extensions import TypeForm

from keydesk_client.errors import AnswerTooLarge, UnreadableAnswer
from keydesk_client.models._core.json import (
    SMALL,
    BodyLimits,
    JsonObject,
    JsonValue,
    WrittenFloat,
    loads,
    too_large,
)
from keydesk_client.models._core.record import Record, RequestRecord
from keydesk_client.models._core.scalars import DateTime, decimal_text
from keydesk_client.models._core.schema import IncompleteRecord
from keydesk_client.models._core.slots_record import SlottedRecord, restore
from keydesk_client.models._core.wire_names import accepted_names, wire_name
from keydesk_client.transaction_id import TransactionID

T = TypeVar("T")
R = TypeVar("R", bound=Record)
S = TypeVar("S", bound=SlottedRecord)

Annotation: TypeAlias = Any
"""An annotation, as typing gives it."""
UNIONS: tuple[object, ...] = (Union, UnionType)
MAX_SALVAGED: Final = 5_000
"""Records of one answer that are decoded leniently: each takes 50 µs and 3 kB."""


class Reader(Generic[T]):
    """Decodes one kind of record, or a union of kinds."""

    def __init__(
        self,
        kind: TypeForm[T],
        limits: BodyLimits = SMALL,
        *,
        config: ConfigDict | None = None,
    ) -> None:
        """Read records of this kind; a union of kinds has no configuration of its own: give it as `config`."""
        self._kind, self._config = kind, config
        self.limits: BodyLimits = limits

    def read(self, text: bytes | str) -> T:
        """Return the record; raise UnreadableAnswer if the text is not JSON of this shape or exceeds the limits."""
        record = self.read_strict(text)
        return self.read_lenient(text) if record is None else record

    def read_strict(self, text: bytes | str) -> T | None:
        """Return the record, or None if anything in it is not as it should be."""
        check_limits(text, self.limits)
        try:
            return self._validate(text)
        except (ValidationError, IncompleteRecord):
            return None

    def read_lenient(self, text: bytes | str) -> T:
        """Return the record as far as it can be read.

        A large body takes a second of pure Python: run this in a thread.
        """
        check_limits(text, self.limits, counted=True)
        try:
            record: T = read_value(self._kind, loads(text))
        except RecursionError:
            failure = UnreadableAnswer("the answer is nested too deeply to be read")
        except ValueError:
            name = getattr(self._kind, "__name__", "known record")
            failure = UnreadableAnswer(f"the answer is not the JSON of a {name}")
        else:
            return record
        raise failure

    @cached_property
    def _validate(self) -> Callable[[bytes | str], T]:
        build_records(self._kind)
        adapter = TypeAdapter[T](self._kind, config=self._config)

        def validate(text: bytes | str) -> T:
            record: T = adapter.validator.validate_json(text, by_alias=True, by_name=False)
            return record

        return validate


def check_limits(text: bytes | str, limits: BodyLimits, *, counted: bool = False) -> None:
    """Raise AnswerTooLarge if a body exceeds a limit; `counted` counts the values of a small body as well."""
    if len(text) > limits.size:
        raise too_large(limits.size)
    if len(text) > limits.uncounted or counted:
        _check_counts(text.encode("utf-8", "replace") if isinstance(text, str) else text, limits)


def _check_counts(body: bytes, limits: BodyLimits) -> None:
    """Count brackets and commas; those inside of text count as well, which errs on the safe side."""
    values = len(body) - len(body.translate(None, b"[{,"))
    if values <= min(limits.containers, limits.values):
        return
    if body.count(b"[") + body.count(b"{") > limits.containers:
        raise AnswerTooLarge(f"the answer has more than {limits.containers:,} arrays and objects")
    if values > limits.values:
        raise AnswerTooLarge(f"the answer has more than {limits.values:,} values")


def build_records(kind: object) -> None:
    """Build the validators of the records inside a type, the innermost first.

    A validator shares those that are complete and copies the others: three answers with transactions would hold three
    validators of each kind of transaction, 2 MB and 20 ms each time.
    """
    if isinstance(kind, type) and issubclass(kind, Record) and not kind.__pydantic_complete__:
        for field in kind.__pydantic_fields__.values():
            build_records(field.annotation)
        kind.model_rebuild()
    for part in get_args(kind):
        build_records(part)


@dataclass(slots=True)
class SalvageBudget:
    """How many more records of an answer may be decoded leniently."""

    records: int = MAX_SALVAGED

    def spend(self) -> None:
        """Count one record; raise AnswerTooLarge if there were too many."""
        self.records -= 1
        if self.records < 0:
            raise AnswerTooLarge(f"more than {MAX_SALVAGED:,} records of the answer cannot be read")


def read_value(kind: Annotation, value: JsonValue, budget: SalvageBudget | None = None) -> Any:
    """Return the value as its annotation says, decoded leniently; raise ValueError if that is impossible."""
    budget = budget or SalvageBudget()
    choices = _choices(kind)
    if value is None and NoneType in choices:
        return None
    records = [choice for choice in choices if _is_record(choice)]
    if records:
        return _read_record(records, value, budget)
    if len(choices) == 1 and _origin(choices[0]) is tuple:
        return _read_list(get_args(choices[0])[0], value, budget)
    try:
        return _adapter(kind).validate_python(_as_text(choices, value))
    except IncompleteRecord:
        failure = ValueError("a nested record lacks a member")
    raise failure


def _read_record(kinds: list[Any], value: JsonValue, budget: SalvageBudget) -> Any:
    if not isinstance(value, dict):
        raise ValueError("not a JSON object")  # noqa: TRY004 - callers catch what pydantic raises
    kind = kinds[0] if len(kinds) == 1 else _by_type(kinds, value.get("type"))
    read: Any = _read_object if issubclass(kind, Record) else _read_slotted
    return read(kind, value, budget)


def _read_object(kind: type[R], members: JsonObject, budget: SalvageBudget) -> R:
    budget.spend()
    hints = _hints(kind)
    extra = dict(members)
    values: dict[str, Any] = {}
    sent: set[str] = set()
    for name, field in kind.model_fields.items():
        names = accepted_names(field)
        key = next((each for each in names if each in extra), None)
        if key is None:
            continue
        try:
            values[name] = read_value(hints[name], extra[key], budget)
        except ValueError:
            continue
        if key != names[0]:
            continue  # an alternative spelling is written back from the unknown members
        sent.add(name)
        if issubclass(kind, RequestRecord) or _is_reproduced(values[name], extra[key]):
            del extra[key]  # otherwise the original stays there and is written instead of the value
    return _construct(kind, values, sent, extra)


def _read_slotted(kind: type[S], members: JsonObject, budget: SalvageBudget) -> S:
    budget.spend()
    extra = dict(members)
    values: dict[str, Any] = {}
    for name, hint in _hints(cast("Any", kind)).items():
        key = wire_name(name)
        try:
            values[name] = read_value(hint, extra[key], budget)
        except (KeyError, ValueError):
            continue
        if values[name] is not None and _is_reproduced(values[name], extra[key]):
            del extra[key]
    return restore(kind, values, extra)


def _construct(kind: type[R], values: dict[str, Any], sent: set[str], extra: JsonObject) -> R:
    """Return a record without validation; required members may be absent."""
    record = kind.__new__(kind)
    defaults = {
        name: field.get_default(call_default_factory=True)
        for name, field in kind.model_fields.items()
        if not field.is_required() and not any(key in extra for key in accepted_names(field))
    }
    object.__setattr__(record, "__dict__", defaults | values)
    object.__setattr__(record, "__pydantic_fields_set__", sent)
    object.__setattr__(record, "__pydantic_extra__", extra)
    object.__setattr__(record, "__pydantic_private__", None)
    return record


def _by_type(kinds: list[Any], word: object) -> Any:
    """Return the record whose `type` is this word; else the one that takes any word, else the first."""
    for kind in kinds:
        if word in _literals(_hints(kind)["type"]):
            return kind
    return next((kind for kind in kinds if not _literals(_hints(kind)["type"])), kinds[0])


def _literals(kind: Annotation) -> tuple[Any, ...]:
    return get_args(kind) if _origin(kind) is Literal else ()


def _read_list(kind: Annotation, value: JsonValue, budget: SalvageBudget) -> tuple[Any, ...]:
    if not isinstance(value, list):
        raise ValueError("not a JSON array")  # noqa: TRY004 - callers catch what pydantic raises
    read = _read_item if any(map(_is_record, _choices(kind))) else read_value
    return tuple(read(kind, item, budget) for item in value)


def _read_item(kind: Annotation, item: JsonValue, budget: SalvageBudget) -> Any:
    """Return a record of a list, decoded strictly if possible: as a rule one of thousands is broken."""
    if not _holds_float(item):
        try:
            return _adapter(kind).validate_json(json.dumps(item), by_alias=True, by_name=False)
        except (ValidationError, IncompleteRecord):
            pass  # its message quotes the body: leave the handler, so that it does not become the context of a later error
    return read_value(kind, item, budget)


def _holds_float(value: JsonValue) -> bool:
    """Return whether there is an unquoted number that would lose digits when it is written as JSON again."""
    if isinstance(value, dict):
        return any(map(_holds_float, value.values()))
    if isinstance(value, list):
        return any(map(_holds_float, value))
    return isinstance(value, WrittenFloat)


def _choices(kind: Annotation) -> tuple[Any, ...]:
    """Return the members of a union, however deep it is annotated; any other annotation is its only member."""
    if _origin(kind) is Annotated:
        return _choices(get_args(kind)[0])
    if _origin(kind) in UNIONS:
        return tuple(choice for member in get_args(kind) for choice in _choices(member))
    return (kind,)


def _origin(kind: Annotation) -> object:
    return get_origin(kind)


def _is_record(kind: Annotation) -> bool:
    return isinstance(kind, type) and issubclass(kind, Record | SlottedRecord)


def _as_text(choices: tuple[Any, ...], value: JsonValue) -> JsonValue:
    """Return an unquoted number as text where text belongs: an id or a price without its quotes."""
    if isinstance(value, WrittenFloat):
        return value.text
    wants_text = not {str, TransactionID}.isdisjoint(choices) and not isinstance(value, bool)
    return str(value) if wants_text and isinstance(value, int) else value


def _is_reproduced(value: object, original: JsonValue) -> bool:
    """Return whether the value is written as it came; a nested record takes care of its own members."""
    match value:
        case Record() | SlottedRecord():
            return True
        case tuple():
            items = cast("tuple[object, ...]", value)
            return isinstance(original, list) and all(map(_is_reproduced, items, original))
        case _ if isinstance(original, WrittenFloat):
            # As text every digit is kept; as a float some would be lost.
            return str(float(original)) != original.text
        case Decimal():
            return decimal_text(value) == original
        case DateTime() | TransactionID():
            return str(value) == original
        case _:
            return type(value) is type(original) and value == original


@cache
def _hints(kind: Any) -> dict[str, Any]:
    hints = get_type_hints(kind, include_extras=True)
    if issubclass(kind, Record):
        return {name: hints[name] for name in kind.model_fields}
    return {field.name: hints[field.name] for field in fields(kind)}


@cache
def _adapter(kind: Annotation) -> TypeAdapter[Any]:
    return TypeAdapter(kind)
