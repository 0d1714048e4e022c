"""What every record of the interface is: frozen, open for members we do not know, honest about missing ones.

- Unknown members are kept and written back: the service grows without asking us.
- A member that the service left out, or sent in a form that can not be read, does not make the record fail (see
  salvage.py). Reading that member raises MissingMember: a made-up zero would be a lie about money.
"""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self, TypeAlias, cast

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler
from pydantic_core import CoreSchema

from keydesk_client.errors import MissingMember
from keydesk_client.models._core.described import Described
from keydesk_client.models._core.fail_fast import failing_fast
from keydesk_client.models._core.json_values import JsonObject, JsonValue
from keydesk_client.models._core.names import spellings, wire_name
from keydesk_client.models._core.row import Rowed

Wire: TypeAlias = JsonObject
"""A JSON object."""


class Record(Rowed, BaseModel):
    """One JSON object of the wire."""

    model_config: ClassVar[ConfigDict] = ConfigDict(
        frozen=True,
        extra="allow",
        alias_generator=wire_name,
        validate_by_name=True,
        validate_by_alias=True,
        strict=True,  # "3" for a 3 goes the slow way, which keeps what came
        defer_build=True,  # a validator is built when the first such record comes, not at import
    )

    fails_at_missing_members: ClassVar[bool] = True
    """False for what a caller makes, and for the first of several records that a value may be."""

    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: type[Any], handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """The validator of this record; one of the service's gives up at the first missing member or broken element."""
        return failing_fast(handler(source), members=cls.fails_at_missing_members)

    @classmethod
    def __pydantic_init_subclass__(cls, **options: object) -> None:
        cls.__doc__ = Described.of(cls)

    def to_wire(self) -> Wire:
        """The JSON object that this record was read from, or would be sent as: member for member, digit for digit.

        Two things come back otherwise, though never as another value. A number without quotes that a float can not
        hold (12.30, or more digits than it has) is text then, so that no digit is lost. And what a caller could send
        himself, the details of a dependent order and client extensions, is written as he would send it: 1.5 for "+1.5".
        """
        return self.model_dump(mode="json", by_alias=True, exclude_unset=True, warnings=False)

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """A copy, with these members in the place of what came."""
        copied = super().model_copy(update=update, deep=deep)
        kept = copied.__pydantic_extra__
        if kept:
            fields = type(self).model_fields
            for name in fields.keys() & (update or {}).keys():
                for word in spellings(fields[name]):
                    kept.pop(word, None)
        return copied

    @property
    def unknown(self) -> Mapping[str, JsonValue]:
        """Members that this version of the library has no name for, as they came.

        A member that was written as the library would not write it ("+1.5", a `nav` for NAV) stands here too, beside
        the value that was read from it; so does one that could not be read.
        """
        return self.__pydantic_extra__ or {}

    def __str__(self) -> str:
        return repr(self)

    def __repr_args__(self) -> Iterable[tuple[str | None, Any]]:
        """What was sent; an order fill has forty members, and the absent ones would hide those that count."""
        return [(name, shortened(value)) for name, value in self._sent().items()]

    def _sent(self) -> Mapping[str, object]:
        members, sent = vars(self), self.model_fields_set | {"type"}
        known = {name: value for name, value in members.items() if name in sent}
        if not self.unknown:
            return known
        beside = dict(self._kept_beside())
        known |= {name: members[name] for name in beside.values()}
        return known | {
            name: value
            for name, value in self.unknown.items()
            if name not in beside and name not in known  # the member that we know is what counts
        }

    def _kept_beside(self) -> Iterable[tuple[str, str]]:
        """Wire name and own name of each member that was read, and whose text is kept in `unknown` because it differs."""
        for name, field in type(self).model_fields.items():
            if name in vars(self):
                yield from ((word, name) for word in spellings(field) if word in self.unknown)

    if not TYPE_CHECKING:  # seen by a type checker, it would make every misspelt member look right

        def __getattr__(self, name: str) -> object:
            kind = type(self)
            if name in kind.model_fields:
                raise missing(kind, name)
            derived = getattr(kind, name, None)
            if isinstance(derived, property):  # it missed a member: which one is said again
                return derived.__get__(self)
            return super().__getattr__(name)


MOST_SHOWN: Final = 20


def shortened(value: object) -> object:
    """A tuple of hundreds shows its first and last; all else shows itself."""
    if isinstance(value, tuple):
        items = cast("tuple[object, ...]", value)
        return Shortened(items) if len(items) > MOST_SHOWN else items
    return value


class Shortened:
    """A long tuple in a repr."""

    def __init__(self, items: tuple[object, ...]) -> None:
        self._items = items

    def __repr__(self) -> str:
        first, *_, last = self._items
        return f"({first!r}, ... {len(self._items) - 2:,} more ..., {last!r})"


def missing(kind: type, name: str) -> MissingMember:
    """The error of reading a member that is not there."""
    return MissingMember(
        f"{kind.__name__}.{name} was not sent, or not in a form that can be read",
        record=kind.__name__,
        member=name,
    )
