"""Changes to pydantic's schema of a record: stop at the first error, and convert members when they are first read."""

from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from typing import Any, Final, NoReturn, TypeAlias

from pydantic import BaseModel
from pydantic_core import CoreSchema, core_schema

from keydesk_client.models._core.scalars import DateTime

ObjectReader: TypeAlias = Callable[[dict[str, object]], BaseModel]
"""Decodes a JSON object into a record, and fails for none."""

CONVERTERS: Final[tuple[Callable[[str], object], ...]] = (Decimal, DateTime)
"""The conversions that may be deferred: they accept every text that matches the pattern of the member."""
NESTING: Final = frozenset({"model-field", "dataclass-field", "default", "nullable"})
"""Schemas that hold the schema of the same member."""
UNREAD_TYPES: Final[frozenset[type]] = frozenset({str, dict})
"""Types of the values of members on demand that were not read yet: text of a number or time, object of a record."""


class MemberOnDemand:
    """A member that holds text, or a JSON object, until it is read for the first time.

    With `__set__` this is a data descriptor: Python looks it up before the members of the record.
    """

    __slots__ = ("_convert", "_name")

    def __init__(self, name: str, convert: Callable[[Any], object]) -> None:
        self._name, self._convert = name, convert

    def __get__(self, record: BaseModel | None, kind: type) -> object:
        if record is None:  # pydantic asks the class for a default value
            raise AttributeError(self._name)
        members = vars(record)
        try:
            value = members[self._name]
        except KeyError:
            pass
        else:
            if type(value) in UNREAD_TYPES:
                value = members[self._name] = self._convert(value)
            return value
        raise AttributeError(self._name)  # the record's `__getattr__` says more

    def __set__(self, record: BaseModel, value: object) -> None:
        vars(record)[self._name] = value


class IncompleteRecord(Exception):
    """A record lacks a required member, or has one that cannot stay unread; ends its strict validation."""


def fail_fast(schema: CoreSchema, *, members: bool = True) -> CoreSchema:
    """Change the schema of one record to stop at the first broken element of a list, and return it.

    With `members`, a missing required member ends the whole validation with IncompleteRecord. Without this, pydantic
    keeps every error with a copy of the JSON value around it: 1 MB of empty lists in the place of trades took a
    gigabyte. The errors are not used, since such a body is read again leniently.
    """
    for field in _fields(schema):
        _stop_at_first_element(field)
        inner = field["schema"]
        if members and inner["type"] != "default":
            field["schema"] = {
                "type": "default",
                "schema": inner,
                "default_factory": _raise_incomplete,
                "default_factory_takes_data": False,
            }
    return schema


def _raise_incomplete(*_: object) -> NoReturn:
    raise IncompleteRecord


def _fields(schema: Any) -> Iterator[dict[str, Any]]:  # noqa: ANN401 - schemas are dictionaries of many shapes
    """Return the members of the schema of a pydantic model or dataclass; none for any other schema."""
    while schema.get("type") in {"model", "dataclass", "definitions"}:
        schema = schema["schema"]
    fields = schema.get("fields", ())
    yield from fields.values() if isinstance(fields, dict) else fields


def _stop_at_first_element(schema: Any) -> None:  # noqa: ANN401 - same
    while schema["type"] in NESTING:
        schema = schema["schema"]
    if schema["type"] == "tuple":
        schema["fail_fast"] = True


def convert_on_demand(
    kind: type[BaseModel],
    schema: Any,  # noqa: ANN401 - schemas are dictionaries of many shapes
    readers: Mapping[str, ObjectReader],
) -> tuple[str, ...]:
    """Change the schema of a record to keep numbers and times as text, and the members that have a reader as JSON objects.

    Return the names of the record's members that are converted when they are read. This holds for JSON only: what a
    caller passes is converted at once.
    """
    for name, member in _member_schemas(schema):
        read = readers.get(name)
        convert = _leave_text(member["schema"]) if read is None else read
        if read is not None:
            _leave_object(member["schema"], read)
        if convert is not None:
            setattr(kind, name, MemberOnDemand(name, convert))
    on_demand = _descriptors(kind)  # once: it goes through every attribute of all bases
    return tuple(name for name in kind.model_fields if name in on_demand)


def _descriptors(kind: type[BaseModel]) -> set[str]:
    held = (vars(base) for base in kind.__mro__)
    return {
        name for each in held for name, value in each.items() if isinstance(value, MemberOnDemand)
    }


def _member_schemas(schema: Any) -> Iterator[tuple[str, dict[str, Any]]]:  # noqa: ANN401 - same
    while schema.get("type") in {"model", "definitions"}:
        schema = schema["schema"]
    yield from schema.get("fields", {}).items()


def _leave_text(schema: Any) -> Callable[[str], object] | None:  # noqa: ANN401 - same
    """Remove the conversion from the schema of a member and return it; None if the member is of another kind."""
    while schema["type"] in {"default", "nullable"}:
        schema = schema["schema"]
    read = schema.get("json_schema", {})
    convert: Callable[[str], object] | None = read.get("function", {}).get("function")
    if convert not in CONVERTERS:
        return None
    schema["json_schema"] = read["schema"]
    return convert


def _or_incomplete(*kinds: CoreSchema) -> CoreSchema:
    """Accept a value of these kinds; at the first other one end the validation, as `fail_fast` does."""
    refuse = core_schema.no_info_plain_validator_function(_raise_incomplete)
    return core_schema.union_schema([*kinds, refuse], mode="left_to_right")


_NAME: Final = core_schema.str_schema()
_TEXT: Final = core_schema.str_schema(strict=True)
# Numbers are left out: as a Python float an unquoted one would lose digits before the member is read.
_UNREAD_OBJECT: Final = core_schema.dict_schema(
    _NAME,
    _or_incomplete(
        _TEXT,
        core_schema.bool_schema(strict=True),
        core_schema.dict_schema(_NAME, _or_incomplete(_TEXT)),
    ),
)


def _leave_object(schema: Any, read: ObjectReader) -> None:  # noqa: ANN401 - same
    """Let the schema of an optional record accept any object whose values lose nothing when they are kept."""
    while schema["type"] != "nullable":
        schema = schema["schema"]
    record = schema["schema"]

    def write(
        value: BaseModel | dict[str, object], serialize: Callable[[BaseModel], object]
    ) -> object:
        return serialize(read(value) if isinstance(value, dict) else value)

    schema["schema"] = core_schema.json_or_python_schema(
        json_schema=_UNREAD_OBJECT,
        python_schema=record,
        serialization=core_schema.wrap_serializer_function_ser_schema(write, schema=record),
    )
