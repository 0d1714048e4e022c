"""The base of records that come by the thousand: frozen dataclasses with slots instead of a dictionary each."""

from collections.abc import Collection, Mapping
from dataclasses import MISSING, Field, fields
from decimal import Decimal
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, TypeVar

from pydantic import ConfigDict, GetCoreSchemaHandler, model_serializer
from pydantic_core import CoreSchema

from keydesk_client.models._core.json import JsonValue
from keydesk_client.models._core.record import Wire, missing_member
from keydesk_client.models._core.scalars import DateTime, decimal_text
from keydesk_client.models._core.schema import fail_fast
from keydesk_client.models._core.tabular import Tabular
from keydesk_client.models._core.wire_names import wire_name

STRICT_CONFIG = ConfigDict(extra="forbid", alias_generator=wire_name, defer_build=True, strict=True)
"""A record with unknown members is read leniently, by `decoder`, which keeps them in `unknown`."""

T = TypeVar("T", bound="SlottedRecord")

Member: TypeAlias = "SlottedRecord | Decimal | DateTime | JsonValue"


class SlottedRecord(Tabular):
    """Base of frozen, slotted dataclasses that keep unknown members and raise MissingMember for absent ones.

    `document_members` decorates each of them.
    """

    __slots__ = ("_unknown",)

    _unknown: Mapping[str, JsonValue]
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: type[Any], handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """Return the validator's schema, changed to stop at the first missing member."""
        return fail_fast(handler(source))

    @property
    def unknown(self) -> Mapping[str, JsonValue]:
        """The members that this version of the library does not know, as they came."""
        try:
            return self._unknown
        except AttributeError:
            return {}

    @model_serializer(mode="plain", return_type=dict[str, Any])  # pydantic looks no further
    def to_wire(self) -> Wire:
        """Return the JSON object that this record was read from."""
        known = {
            wire_name(name): _wire_value(value) for name, value in present_members(self).items()
        }
        return {name: value for name, value in known.items() if value is not None} | dict(
            self.unknown
        )

    def __repr__(self) -> str:
        shown = (f"{name}={value!r}" for name, value in self._sent().items() if value is not None)
        return f"{type(self).__name__}({', '.join(shown)})"

    def _sent(self) -> Mapping[str, object]:
        known = present_members(self)
        wire_names = {wire_name(name) for name in known}
        return known | {
            name: value
            for name, value in self.unknown.items()
            if name not in known and name not in wire_names
        }

    def _unreadable(self) -> Collection[str]:
        if not self.unknown:
            return ()
        known = present_members(self)
        return {wire_name(each.name) for each in fields(self) if each.name not in known}

    def __reduce__(self) -> tuple[Any, ...]:
        return restore, (type(self), present_members(self), dict(self.unknown))

    if not TYPE_CHECKING:  # a type checker that saw it would accept every misspelt member

        def __getattr__(self, name: str) -> object:
            if name in type(self).__dataclass_fields__:
                raise missing_member(type(self), name)
            text = f"{type(self).__name__!r} object has no attribute {name!r}"
            raise AttributeError(text, name=name, obj=self)


def present_members(record: SlottedRecord) -> dict[str, Member]:
    """Return the members that are set, by Python name."""
    names = (field.name for field in fields(record))
    return {name: getattr(record, name) for name in names if hasattr(record, name)}


def restore(kind: type[T], members: Mapping[str, Member], unknown: Mapping[str, JsonValue]) -> T:
    """Return a record with these members and the defaults of its kind; required members may be absent."""
    record = object.__new__(kind)
    for name, value in (_defaults(kind) | dict(members)).items():
        object.__setattr__(record, name, value)
    if unknown:
        object.__setattr__(record, "_unknown", unknown)
    return record


def _defaults(kind: type[SlottedRecord]) -> dict[str, Member]:
    return {field.name: field.default for field in fields(kind) if field.default is not MISSING}


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
