"""Changes to pydantic's schema of a record: stop at the first error, and convert members when they are first read."""

from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any, Final, NoReturn

from pydantic import BaseModel
from pydantic_core import CoreSchema

from keydesk_client.models._core.scalars import DateTime

CONVERTERS: Final[tuple[Callable[[str], object], ...]] = (Decimal, DateTime)
"""The conversions that may be deferred: they accept every text that matches the pattern of the member."""
NESTING: Final = frozenset({"model-field", "dataclass-field", "default", "nullable"})
"""Schemas that hold the schema of the same member."""


class MemberOnDemand:
    """A member that holds the text of a number or time until it is read for the first time.

    With `__set__` this is a data descriptor: Python looks it up before the members of the record. Without a conversion the
    member is left as it is: a subclass declares it otherwise.
    """

    __slots__ = ("_convert", "_name")

    def __init__(self, name: str, convert: Callable[[str], object] | None) -> None:
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
            if type(value) is str and self._convert is not None:
                value = members[self._name] = self._convert(value)
            return value
        raise AttributeError(self._name)  # the record's `__getattr__` says more

    def __set__(self, record: BaseModel, value: object) -> None:
        vars(record)[self._name] = value


class IncompleteRecord(Exception):
    """A record lacks a required member; ends its strict validation."""


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
) -> tuple[str, ...]:
    """Change the schema of a record to keep numbers and times as text, and return the names of these members.

    This holds for JSON only: what a caller passes is converted at once. A member that a subclass declares otherwise is
    left as it is.
    """
    inherited = _descriptors(kind)
    for name, member in _member_schemas(schema):
        convert = _leave_text(member["schema"])
        if convert is not None or (name in inherited and name not in vars(kind)):
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
