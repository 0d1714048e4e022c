"""What every record of the interface is: frozen, open for members we do not know, honest about missing ones.

- Unknown members are kept and written back: the service grows without asking us.
- A member that the service left out, or sent in a form that can not be read, does not make the record fail (see
  salvage.py). Reading that member raises MissingMember: a made-up zero would be a lie about money.
"""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeAlias, cast

from pydantic import BaseModel, ConfigDict

from keydesk_client.errors import MissingMember
from keydesk_client.json_values import JsonObject, JsonValue
from keydesk_client.models.described import Described
from keydesk_client.models.names import wire_name
from keydesk_client.models.row import Rowed

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
        defer_build=True,  # a validator is built when the first such record comes, not at import
    )

    @classmethod
    def __pydantic_init_subclass__(cls, **options: object) -> None:
        cls.__doc__ = Described.of(cls)

    def to_wire(self) -> Wire:
        """The JSON object that this record was read from, or would be sent as."""
        return self.model_dump(mode="json", by_alias=True, exclude_unset=True, warnings=False)

    @property
    def unknown(self) -> Mapping[str, JsonValue]:
        """Members that this version of the library has no name for, as they came."""
        return self.__pydantic_extra__ or {}

    def __str__(self) -> str:
        return repr(self)

    def __repr_args__(self) -> Iterable[tuple[str | None, Any]]:
        """What was sent; an order fill has forty members, and the absent ones would hide those that count."""
        return [(name, shortened(value)) for name, value in self._sent().items()]

    def _sent(self) -> Mapping[str, object]:
        told = {**vars(self), **self.unknown}
        sent = self.model_fields_set | self.unknown.keys() | {"type"}
        return {name: value for name, value in told.items() if name in sent}

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
