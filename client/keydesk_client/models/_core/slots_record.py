"""What the records that come in thousands have in common: slots instead of a dictionary each."""

from collections.abc import Mapping
from dataclasses import MISSING, Field, fields
from decimal import Decimal
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, TypeVar

from pydantic import ConfigDict, GetCoreSchemaHandler, model_serializer
from pydantic_core import CoreSchema

from keydesk_client.models._core.json import JsonValue, fail_fast
from keydesk_client.models._core.record import Tabular, Wire, missing_member
from keydesk_client.models._core.scalars import DateTime, decimal_text
from keydesk_client.models._core.wire_names import wire_name

STRICT_CONFIG = ConfigDict(extra="forbid", alias_generator=wire_name, defer_build=True, strict=True)
"""A record with members we do not know takes the slow way through salvage.py, which keeps them in `unknown`."""

T = TypeVar("T", bound="SlottedRecord")

Member: TypeAlias = "SlottedRecord | Decimal | DateTime | JsonValue"


class SlottedRecord(Tabular):
    """Base of frozen dataclasses with slots that keep unknown members and are honest about missing ones."""

    __slots__ = ("_unknown",)

    _unknown: Mapping[str, JsonValue]
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: type[Any], handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """The validator of this record; see fail_fast.py."""
        return fail_fast(handler(source))

    @property
    def unknown(self) -> Mapping[str, JsonValue]:
        """Members that this version of the library has no name for, as they came."""
        try:
            return self._unknown
        except AttributeError:
            return {}

    @model_serializer(
        mode="plain", return_type=dict[str, Any]
    )  # pydantic shall not look through it
    def to_wire(self) -> Wire:
        """The JSON object that this record was read from."""
        known = {
            wire_name(name): _wire_value(value) for name, value in present_members(self).items()
        }
        return {name: value for name, value in known.items() if value is not None} | dict(
            self.unknown
        )

    def __repr__(self) -> str:
        told = (f"{name}={value!r}" for name, value in self._sent().items() if value is not None)
        return f"{type(self).__name__}({', '.join(told)})"

    def _sent(self) -> Mapping[str, object]:
        known = present_members(self)
        beside = {wire_name(name) for name in known}
        return known | {
            name: value
            for name, value in self.unknown.items()
            if name not in known and name not in beside
        }

    def __reduce__(self) -> tuple[Any, ...]:
        return restore, (type(self), present_members(self), dict(self.unknown))

    if not TYPE_CHECKING:  # seen by a type checker, it would make every misspelt member look right

        def __getattr__(self, name: str) -> object:
            if name in type(self).__dataclass_fields__:
                raise missing_member(type(self), name)
            raise AttributeError(name)


def present_members(record: SlottedRecord) -> dict[str, Member]:
    """The members that are there, by their Python names."""
    names = (each.name for each in fields(record))
    return {name: getattr(record, name) for name in names if hasattr(record, name)}


def restore(kind: type[T], members: Mapping[str, Member], unknown: Mapping[str, JsonValue]) -> T:
    """A record with just these members, whatever else its kind requires."""
    made = object.__new__(kind)
    for name, value in members.items():
        object.__setattr__(made, name, value)
    for name, standard in _standards(kind).items():
        if name not in members:
            object.__setattr__(made, name, standard)
    if unknown:
        object.__setattr__(made, "_unknown", unknown)
    return made


def _standards(kind: type[SlottedRecord]) -> dict[str, Member]:
    return {each.name: each.default for each in fields(kind) if each.default is not MISSING}


def _wire_value(value: Member) -> JsonValue:
    match value:
        case SlottedRecord():
            return value.to_wire()
        case Decimal():
            return decimal_text(value)
        case DateTime():
            return value.text
        case _:
            return value
