"""Validators that give up at the first missing member and at the first broken element of a list.

pydantic keeps every error, each with a copy of the JSON value around it: 1 MB of empty lists where trades belong cost
a gigabyte. What went wrong is of no interest here: salvage.py reads such a body again, member by member.
"""

from collections.abc import Iterator
from typing import Any, Final, NoReturn

from pydantic_core import CoreSchema

LISTS: Final = frozenset({"model-field", "dataclass-field", "default", "nullable"})


class Incomplete(Exception):
    """A record lacks a member that it must have."""


def failing_fast(schema: CoreSchema, *, members: bool = True) -> CoreSchema:
    """The schema of one record, changed in place; `members`: whether a missing one ends the validation as Incomplete."""
    for field in _fields(schema):
        _fail_at_first_element(field)
        inner = field["schema"]
        if members and inner["type"] != "default":
            field["schema"] = {
                "type": "default",
                "schema": inner,
                "default_factory": _give_up,
                "default_factory_takes_data": False,
            }
    return schema


def _give_up() -> NoReturn:
    raise Incomplete


def _fields(schema: Any) -> Iterator[dict[str, Any]]:  # noqa: ANN401 - schemas are dictionaries of many shapes
    """The members of a pydantic model or dataclass; none of what it is not."""
    while schema.get("type") in {"model", "dataclass", "definitions"}:
        schema = schema["schema"]
    fields = schema.get("fields", ())
    yield from fields.values() if isinstance(fields, dict) else fields


def _fail_at_first_element(schema: Any) -> None:  # noqa: ANN401 - same
    while schema["type"] in LISTS:
        schema = schema["schema"]
    if schema["type"] == "tuple":
        schema["fail_fast"] = True
