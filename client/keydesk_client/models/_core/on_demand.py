"""Numbers and times that are converted when they are first read: most members of a long list never are.

While such a record is read, the text of the member is validated against the pattern of its kind, so that the conversion
cannot fail later. The text stays in the record until the member is read, which replaces it by the value.
"""

from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any, Final

from pydantic import BaseModel

from keydesk_client.models._core.scalars import DateTime

CONVERTERS: Final[tuple[Callable[[str], object], ...]] = (Decimal, DateTime)
"""What may be called later: any text that its pattern accepts can be converted."""


class MemberOnDemand:
    """A member that holds text until it is read for the first time.

    With `__set__` this is a data descriptor: Python looks it up before the members of the record.
    """

    __slots__ = ("_convert", "_name")

    def __init__(self, name: str, convert: Callable[[str], object]) -> None:
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
            if type(value) is str:
                value = members[self._name] = self._convert(value)
            return value
        raise AttributeError(self._name)  # the record's `__getattr__` says more

    def __set__(self, record: BaseModel, value: object) -> None:
        vars(record)[self._name] = value


def convert_on_demand(kind: type[BaseModel], schema: Any) -> tuple[str, ...]:  # noqa: ANN401 - schemas are dictionaries of many shapes
    """Change the schema of a record to keep numbers and times as text; return the names of the record's such members.

    This holds for JSON only: what a caller passes is converted at once.
    """
    for name, member in _members(schema):
        convert = _leave_text(member["schema"])
        if convert is not None:
            setattr(kind, name, MemberOnDemand(name, convert))
    return tuple(name for name in kind.model_fields if name in _descriptors(kind))


def _descriptors(kind: type[BaseModel]) -> set[str]:
    held = (vars(base) for base in kind.__mro__)
    return {
        name for each in held for name, value in each.items() if isinstance(value, MemberOnDemand)
    }


def _members(schema: Any) -> Iterator[tuple[str, dict[str, Any]]]:  # noqa: ANN401 - same
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
