"""The base of every record of the interface: frozen, exact, and open for members that this library does not know.

- Unknown members are kept and written back: a new member of the service breaks nothing.
- A member that the service left out, or sent in a form that cannot be read, does not make the record fail (see
  `decoder`). Reading that member raises MissingMember: a default of 0 would be a wrong amount of money.
- Numbers and times of records that come by the hundred are converted when they are first read: most members of a long
  list never are. While such a record is read, the text of the member is validated against the pattern of its kind, so
  that the conversion cannot fail later.
"""

from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping
from decimal import Decimal
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Final,
    NoReturn,
    Self,
    TypeAlias,
    cast,
)

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler
from pydantic_core import CoreSchema

from keydesk_client.errors import MissingMember
from keydesk_client.models._core.json import JsonObject, JsonValue
from keydesk_client.models._core.member_docs import document_members
from keydesk_client.models._core.scalars import DateTime
from keydesk_client.models._core.tabular import Tabular
from keydesk_client.models._core.wire_names import accepted_names, wire_name

MAX_SHOWN: Final = 20
"""Items of a tuple that its record's repr shows; of a longer one the first and the last."""

Wire: TypeAlias = JsonObject
"""A JSON object of the interface."""
VALUES_SELDOM_RECUR: Final = ConfigDict(cache_strings="keys")
"""Configuration of answers and stream lines that are mostly prices and times.

By default pydantic-core keeps each short text of JSON in a cache of 16,384 places, so that the same text is one object
wherever it stands. That serves lists of trades, whose instruments and tags recur. A stream of prices fills the cache
with 1.5 MB of texts that do not come again, and takes longer for it.
"""
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


class Record(Tabular, BaseModel):
    """One JSON object of the interface."""

    model_config: ClassVar[ConfigDict] = ConfigDict(
        frozen=True,
        extra="allow",
        alias_generator=wire_name,
        validate_by_name=True,
        validate_by_alias=True,
        strict=True,  # "3" where 3 belongs is read leniently, which keeps the text
        defer_build=True,  # a validator is built for the first record of its kind, not at import
    )

    fails_at_missing_members: ClassVar[bool] = True
    """False for records that a caller builds, and for the first member of an undiscriminated union."""

    is_request: ClassVar[bool] = False
    """Whether a caller builds it, so that its numbers and times may have other types."""

    converts_on_demand: ClassVar[bool] = False
    """Whether numbers and times stay text until they are read: for records that come by the hundred."""

    _on_demand: ClassVar[tuple[str, ...]] = ()
    """The members that may still be text."""

    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: type[Any], handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """Return the validator's schema, changed to stop at the first missing member and broken element."""
        schema = fail_fast(handler(source), members=cls.fails_at_missing_members)
        if cls.converts_on_demand:
            cls._on_demand = convert_on_demand(cls, schema)
        return schema

    @classmethod
    def __pydantic_init_subclass__(cls, **options: object) -> None:
        document_members(cls, accepts_more=cls.is_request)

    @classmethod
    def __pydantic_on_complete__(cls) -> None:
        """Show Python names again: building the validator set a signature with wire names."""
        document_members(cls, accepts_more=cls.is_request)

    def to_wire(self) -> Wire:
        """Return the JSON object that this record was read from, or is sent as: member for member, digit for digit.

        Two forms differ, though never in value. An unquoted number that a float cannot hold (12.30, or more digits
        than a float has) becomes text, so that no digit is lost. Records that a caller can send, such as the
        details of a dependent order and client extensions, are written in the form in which they are sent: 1.5 for
        "+1.5".
        """
        return self.model_dump(mode="json", by_alias=True, exclude_unset=True, warnings=False)

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a copy with some members replaced; the wire text kept for a replaced member is dropped."""
        copied = super().model_copy(update=update, deep=deep)
        extra = copied.__pydantic_extra__
        if extra:
            fields = type(self).model_fields
            for name in fields.keys() & (update or {}).keys():
                for alias in accepted_names(fields[name]):
                    extra.pop(alias, None)
        return copied

    @property
    def unknown(self) -> Mapping[str, JsonValue]:
        """The members that this version of the library does not know, as they came.

        They also hold the original form of a member that the library would write otherwise ("+1.5", a `nav` for NAV),
        and of one that could not be read.
        """
        return self.__pydantic_extra__ or {}

    def __str__(self) -> str:
        return repr(self)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Record):
            self._members()
            other._members()
        return super().__eq__(other)

    def __hash__(self) -> int:
        members = self._members()
        return hash(tuple(members.get(name) for name in type(self).model_fields))

    def __iter__(self) -> Generator[tuple[str, Any], None, None]:
        self._members()
        return super().__iter__()

    def __getstate__(self) -> dict[Any, Any]:
        self._members()
        return super().__getstate__()

    def _members(self) -> dict[str, Any]:
        """Return the members that were read, all converted."""
        members = vars(self)
        for name in self._on_demand:
            if type(members.get(name)) is str:
                getattr(self, name)  # replaces the text
        return members

    def __repr_args__(self) -> Iterable[tuple[str | None, Any]]:
        """Return the members that were sent: an order fill has forty, most of them absent."""
        return [(name, _shorten(value)) for name, value in self._sent().items()]

    def _sent(self) -> Mapping[str, object]:
        members, sent = self._members(), self.model_fields_set | {"type"}
        known = {name: value for name, value in members.items() if name in sent}
        if not self.unknown:
            return known
        originals = dict(self._kept_originals())
        known |= {name: members[name] for name in originals.values()}
        return known | {
            name: value
            for name, value in self.unknown.items()
            if name not in originals and name not in known  # a known member takes precedence
        }

    def _unreadable(self) -> Collection[str]:
        if not self.unknown:
            return ()
        fields, held = type(self).model_fields.items(), vars(self)
        return {
            alias
            for name, field in fields
            for alias in accepted_names(field)
            if name not in held and alias in self.unknown
        }

    def _kept_originals(self) -> Iterable[tuple[str, str]]:
        """Return wire name and Python name of each member that was read and whose original form is in `unknown`."""
        for name, field in type(self).model_fields.items():
            if name in vars(self):
                yield from (
                    (alias, name) for alias in accepted_names(field) if alias in self.unknown
                )

    if not TYPE_CHECKING:  # a type checker that saw it would accept every misspelt member

        def __getattr__(self, name: str) -> object:
            kind = type(self)
            if name in kind.model_fields:
                raise missing_member(kind, name)
            derived = getattr(kind, name, None)
            if isinstance(derived, property):  # its getter raised MissingMember: raise it again
                return derived.__get__(self)
            return super().__getattr__(name)


class Response(Record):
    """A whole answer: the members of its body and the values of its headers."""

    request_id: str = Field(default="", validation_alias="RequestID (header)", exclude=True)
    """The id that the service gave the request; quote it to the broker's support."""
    location: str | None = Field(default=None, validation_alias="Location (header)", exclude=True)
    """Address of the resource that was created."""
    links: Mapping[str, str] = Field(
        default_factory=dict, validation_alias="Link (header)", exclude=True
    )
    """Addresses of neighbours by relation: `next` of a list, `next` and `prev` of a book."""


def missing_member(kind: type, name: str) -> MissingMember:
    """Return the error of reading a member that is not there."""
    return MissingMember(
        f"{kind.__name__}.{name} was not sent, or not in a form that can be read",
        record=kind.__name__,
        member=name,
    )


class ShortenedTuple:
    """The repr of a long tuple: its first and last items, and the count of the others."""

    def __init__(self, items: tuple[object, ...]) -> None:
        self._items = items

    def __repr__(self) -> str:
        first, *_, last = self._items
        return f"({first!r}, ... {len(self._items) - 2:,} more ..., {last!r})"


def _shorten(value: object) -> object:
    if isinstance(value, tuple):
        items = cast("tuple[object, ...]", value)
        return ShortenedTuple(items) if len(items) > MAX_SHOWN else items
    return value


class IncompleteRecord(Exception):
    """A record lacks a required member; ends its strict validation."""


NESTING: Final = frozenset({"model-field", "dataclass-field", "default", "nullable"})
"""Schemas that hold the schema of the same member."""


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


def _raise_incomplete() -> NoReturn:
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


def convert_on_demand(kind: type[BaseModel], schema: Any) -> tuple[str, ...]:  # noqa: ANN401 - schemas are dictionaries of many shapes
    """Change the schema of a record to keep numbers and times as text; return the names of the record's such members.

    This holds for JSON only: what a caller passes is converted at once.
    """
    for name, member in _member_schemas(schema):
        convert = _leave_text(member["schema"])
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
