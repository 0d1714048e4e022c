"""Changes to pydantic's schema of a record: stop at the first error, and convert members when they are first read."""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final, NoReturn, TypeAlias

from pydantic import BaseModel
from pydantic_core import CoreSchema, core_schema

from keydesk_client.models._core.scalars import DateTime

JsonMembers: TypeAlias = dict[str, object]
"""A JSON object whose values are as `_UNREAD_OBJECT` accepts them."""


@dataclass(frozen=True, slots=True)
class ObjectReader:
    """Decodes JSON objects into records of a kind."""

    kind: type[BaseModel]
    read: Callable[[JsonMembers], BaseModel]
    """Fails for no object."""


CONVERTERS: Final[tuple[Callable[[str], object], ...]] = (Decimal, DateTime)
"""The conversions that may be deferred: they accept every text that matches the pattern of the member."""
NESTING: Final = frozenset({"model-field", "dataclass-field", "default", "nullable"})
"""Schemas that hold the schema of the same member."""
UNREAD_TYPES: Final[frozenset[type]] = frozenset({str, dict})
"""Types of the values of members on demand that were not read yet: text of a number or time, object of a record."""


class MemberOnDemand:
    """A member that holds text, or a JSON object, until it is read for the first time.

    With `__set__` this is a data descriptor: Python looks it up before the members of the record.

    Args:
        name: The member.
        convert: Returns its value.
        unread: The type of what is not converted yet.
    """

    __slots__ = ("_convert", "_name", "_unread")

    def __init__(
        self, name: str, convert: Callable[[Any], object], unread: type | None = str
    ) -> None:
        self._name, self._convert, self._unread = name, convert, unread

    def __get__(self, record: BaseModel | None, kind: type) -> object:
        if record is None:  # pydantic asks the class for a default value
            raise AttributeError(self._name)
        members = vars(record)
        try:
            value = members[self._name]
        except KeyError:
            pass
        else:
            if type(value) is self._unread:
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
    caller passes is converted at once. A member that a subclass declares otherwise is left as it is.
    """
    inherited = _descriptors(kind)
    for name, member in _member_schemas(schema):
        convert, reader = _leave_text(member["schema"]), readers.get(name)
        if convert is not None:
            setattr(kind, name, MemberOnDemand(name, convert))
        elif reader is not None and _leave_object(kind, name, member["schema"], reader):
            setattr(kind, name, MemberOnDemand(name, reader.read, dict))
        elif name in inherited and name not in vars(kind):
            setattr(kind, name, MemberOnDemand(name, _unchanged, None))
    on_demand = _descriptors(kind)  # once: it goes through every attribute of all bases
    return tuple(name for name in kind.model_fields if name in on_demand)


def _unchanged(value: object) -> object:
    return value


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


# What an order may hold and stay unread. It is decoded in the thread that reads the member: the limits keep that short,
# a larger one is decoded at once. Fractions are left out: a Python float would lose digits of an unquoted one.
_MAX_MEMBERS: Final = 60  # the largest order known has 25
_MAX_LENGTH: Final = 1000  # characters; a comment has 128
_MAX_WHOLE: Final = 10**18
_TEXT: Final = core_schema.str_schema(
    strict=True, max_length=_MAX_LENGTH, strip_whitespace=False, to_lower=False, to_upper=False
)
_TEXT_ONLY: Final = _or_incomplete(_TEXT)
_UNREAD_OBJECT: Final = core_schema.dict_schema(
    _TEXT,
    _or_incomplete(
        _TEXT,
        core_schema.bool_schema(strict=True),
        core_schema.none_schema(),
        core_schema.int_schema(strict=True, ge=-_MAX_WHOLE, le=_MAX_WHOLE),
        core_schema.list_schema(_TEXT_ONLY, max_length=_MAX_MEMBERS, strict=True),
        core_schema.dict_schema(_TEXT, _TEXT_ONLY, max_length=_MAX_MEMBERS, strict=True),
    ),
    max_length=_MAX_MEMBERS,
)


def _leave_object(kind: type[BaseModel], name: str, schema: Any, reader: ObjectReader) -> bool:  # noqa: ANN401 - same
    """Let the schema of an optional record accept any object that may stay unread.

    Return False, and change nothing, if the member is another one, or if there are validators or serializers for it.
    """
    optional = schema.get("schema", {})
    is_plain = (schema["type"], optional.get("type")) == ("default", "nullable")
    is_of_kind = kind.__pydantic_fields__[name].annotation == reader.kind | None
    if not (is_plain and is_of_kind) or "serialization" in {*schema, *optional}:
        return False
    record = optional["schema"]
    if record["type"] == "json-or-python":  # changed before: pydantic keeps the schema of a record
        return True

    def write(value: BaseModel | JsonMembers, serialize: Callable[[BaseModel], object]) -> object:
        return serialize(reader.read(value) if isinstance(value, dict) else value)

    optional["schema"] = core_schema.json_or_python_schema(
        json_schema=_UNREAD_OBJECT,
        python_schema=record,
        serialization=core_schema.wrap_serializer_function_ser_schema(write, schema=record),
    )
    return True


def describe_objects(schema: Any, names: Collection[str]) -> Any:  # noqa: ANN401 - same
    """Return the schema of a record in which these members are records, unread or not, as their JSON schema says."""
    if schema["type"] == "model-fields":
        fields = schema["fields"]
        described = {name: _without_unread(fields[name]) for name in names if name in fields}
        return {**schema, "fields": {**fields, **described}}
    if schema["type"] in {"model", "definitions"}:
        return {**schema, "schema": describe_objects(schema["schema"], names)}
    return schema


def _without_unread(schema: Any) -> Any:  # noqa: ANN401 - same
    if schema["type"] == "json-or-python":
        return schema["python_schema"]
    if schema["type"] in NESTING:
        return {**schema, "schema": _without_unread(schema["schema"])}
    return schema
