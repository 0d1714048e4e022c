"""The base of every record of the interface: frozen, exact, and open for members that this library does not know.

- Unknown members are kept and written back: a new member of the service breaks nothing.
- A member that the service left out, or sent in a form that cannot be read, does not make the record fail (see
  `decoder`). Reading that member raises MissingMember: a default of 0 would be a wrong amount of money.
- Numbers and times of records that come by the hundred are converted when they are first read: most members of a long
  list never are. While such a record is read, the text of the member is validated against the pattern of its kind, so
  that the conversion cannot fail later.

Records that a caller builds to be sent derive from `RequestRecord`: what cannot be right is refused at once, by the member's
name.
"""

from collections.abc import Collection, Generator, Iterable, Mapping
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Final,
    Self,
    TypeAlias,
    TypeVar,
    cast,
)

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    ValidationError,
)
from pydantic_core import CoreSchema

from keydesk_client.errors import InvalidRequest, MissingMember
from keydesk_client.models._core.json import JsonObject, JsonValue
from keydesk_client.models._core.member_docs import document_members
from keydesk_client.models._core.scalars import InstrumentTerms
from keydesk_client.models._core.schema import convert_on_demand, fail_fast
from keydesk_client.models._core.tabular import Tabular
from keydesk_client.models._core.wire_names import accepted_names, wire_name

MESSAGES: Final = {"missing": "required", "extra_forbidden": "there is no such member"}
"""Wordings of ours for pydantic's error types."""
HIDDEN: Final = frozenset(
    {
        *("construct", "copy", "dict", "from_orm", "json", "parse_file", "parse_obj", "parse_raw"),
        *("schema", "schema_json", "update_forward_refs", "validate", "__fields__"),
        *("__fields_set__", "fails_at_missing_members", "is_request", "converts_on_demand"),
    }
)
"""Deprecated members of pydantic's, and the switches of this package: no member of a record has such a name."""
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
        protected_namespaces=(),  # no member begins with "model_": looking for one takes 4 % of making the records
    )

    fails_at_missing_members: ClassVar[bool] = True
    """False for records that a caller builds, and for the first member of an undiscriminated union."""

    is_request: ClassVar[bool] = False
    """Whether a caller builds it, so that its numbers and times may have other types."""

    converts_on_demand: ClassVar[bool] = False
    """Whether numbers and times stay text until they are read: for records that come by the hundred."""

    _on_demand: ClassVar[tuple[str, ...]] = ()
    """The members that may be unread."""

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

    def __dir__(self) -> Iterable[str]:
        """Return the members and methods that are meant to be used: an editor lists these."""
        return sorted(set(super().__dir__()) - HIDDEN)

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


# --- records that are sent ---


class RequestRecord(Record):
    """A record that is sent; raises InvalidRequest, which names the member, for an invalid value."""

    model_config: ClassVar[ConfigDict] = ConfigDict(strict=False)
    fails_at_missing_members: ClassVar[bool] = False
    is_request: ClassVar[bool] = True

    def __init__(self, *positional: object, **members: object) -> None:
        if positional:
            raise TypeError(_keyword_usage(type(self)))
        instrument = members.get("instrument", "")
        if not isinstance(instrument, str) and isinstance(instrument, InstrumentTerms):
            members["instrument"] = instrument.name
        try:
            super().__init__(**members)
        except ValidationError as error:
            failure = to_invalid_request(error)
        else:
            reject_unknown_members(self)
            validate_levels(self, "", needs_one=False)
            return
        raise failure

    if not TYPE_CHECKING:  # each kind of request declares the members that type checkers accept

        def with_(self, **changes: object) -> Self:
            """Return a request with some members replaced, validated as a new one; None removes a member.

            Raises:
                InvalidRequest: a member is invalid or misspelt.
            """
            return type(self)(**given_members(self) | changes)

    # Without this mark pydantic would call __init__ also for each such record that is read from an answer.
    __init__.__dict__["__pydantic_base_init__"] = True


RequestT = TypeVar("RequestT", bound=RequestRecord)


def given_members(record: RequestRecord) -> dict[str, object]:
    """Return the members that the caller set, misspelt ones included."""
    held: dict[str, object] = {**vars(record), **record.unknown}
    sent = record.model_fields_set | record.unknown.keys()
    return {name: value for name, value in held.items() if name in sent}


def require_record(field: str, value: object, kind: type[RequestRecord]) -> None:
    """Raise InvalidRequest unless a value is a record of this kind."""
    if not isinstance(value, kind):
        raise InvalidRequest(
            f"{field}: give {kind.__name__}(...), not a value of type {type(value).__name__}",
            field=field,
        )


def revalidated(record: RequestT, prefix: str = "") -> RequestT:
    """Return an equal request that was validated, as `model_copy` and `model_construct` do not.

    Raises:
        InvalidRequest: a member is invalid or misspelt; `prefix` stands before its name.
    """
    members = {
        name: revalidated(value, f"{prefix}{name}.") if isinstance(value, RequestRecord) else value
        for name, value in given_members(record).items()
    }
    try:
        return type(record)(**members)
    except InvalidRequest as error:
        if not prefix:
            raise
        failure = InvalidRequest(f"{prefix}{error}", field=prefix + error.field)
    raise failure


def validate_levels(holder: Record, prefix: str, *, needs_one: bool) -> None:
    """Raise InvalidRequest unless price, distance and price bound are above 0, and price or distance given once."""
    members = vars(holder)  # a kind that lacks one of them has no value for it
    given = [name for name in ("price", "distance") if members.get(name) is not None]
    for name in (*given, "price_bound"):
        level = members.get(name)
        if level is not None and level <= 0:
            raise InvalidRequest(
                f"{prefix}{name}: must be above 0, not {level:f}", field=f"{prefix}{name}"
            )
    if len(given) > 1:
        raise InvalidRequest(
            f"{prefix}distance: give a distance or a price, not both", field=f"{prefix}distance"
        )
    if needs_one and not given:
        field = prefix + ("price" if "price" in type(holder).model_fields else "distance")
        raise InvalidRequest(f"{field}: required", field=field)


def validate_choice(field: str, value: object, choices: tuple[str, ...]) -> str:
    """Return the value; raise InvalidRequest unless it is one of the choices.

    Answers keep values that are new, but a request with an unknown value would be rejected by the service.
    """
    if isinstance(value, str) and value in choices:
        return value
    raise InvalidRequest(
        f"{field}: invalid value {str(value)[:20]!r}: use one of {', '.join(choices)}", field=field
    )


def reject_unknown_members(record: RequestRecord, prefix: str = "") -> None:
    """Raise InvalidRequest if the record has unknown members: a misspelt one would be sent and ignored."""
    for name in record.unknown:
        known = ", ".join(each for each in type(record).model_fields if each != "type")
        field = f"{prefix}{name}"
        raise InvalidRequest(
            f"{field}: {type(record).__name__} has no such member: use one of {known}", field=field
        )


def to_invalid_request(error: ValidationError) -> InvalidRequest:
    """Return the first of pydantic's errors as InvalidRequest."""
    first = error.errors(include_url=False)[0]
    cause = first.get("ctx", {}).get("error")
    if isinstance(cause, InvalidRequest):
        return cause
    field = ".".join(str(part) for part in first["loc"])
    message = MESSAGES.get(first["type"], first["msg"].removeprefix("Value error, "))
    return InvalidRequest(f"{field}: {message}", field=field)


def _keyword_usage(kind: type[Record]) -> str:
    required = [f"{name}=..." for name, field in kind.model_fields.items() if field.is_required()]
    example = f"{kind.__name__}({', '.join(required) or '...'})"
    return f"{kind.__name__} takes keyword arguments only: {example}"
