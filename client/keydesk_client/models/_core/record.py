"""What every answer carries besides its body.

What a record's members mean, for help() and the question mark of a notebook.

The words stand in the source, beside each member, where editors find them. They are read from there when somebody asks:
doing so at import would cost more than all else that an import does.
A record as one row of a table: for a frame, a CSV file or a database.
What every record of the interface is: frozen, open for members we do not know, honest about missing ones.

- Unknown members are kept and written back: the service grows without asking us.
- A member that the service left out, or sent in a form that can not be read, does not make the record fail (see
  salvage.py). Reading that member raises MissingMember: a made-up zero would be a lie about money.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self, SupportsIndex, TypeAlias, cast

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler
from pydantic_core import CoreSchema

from keydesk_client.errors import MissingMember
from keydesk_client.models._core.json import JsonObject, JsonValue, failing_fast
from keydesk_client.models._core.scalars import DateTime
from keydesk_client.models._core.wire_names import spellings, wire_name

if TYPE_CHECKING:
    import ast


class Described(str):
    """A docstring that is followed by the record's members, each with its type and meaning."""

    __slots__ = ("_kind",)

    _kind: type

    @classmethod
    def of(cls, kind: type) -> Self:
        """The docstring of this record."""
        made = cls(kind.__doc__ or "")
        made._kind = kind
        return made

    def __get__(self, record: object, kind: type) -> str:
        told = {name: words for base in reversed(kind.__mro__) for name, words in members(base)}
        if not told:
            return str(self)
        return "\n".join((str(self), "", "Members:", *told.values()))

    def expandtabs(self, tabsize: SupportsIndex = 8) -> str:
        """What pydoc reads: it passes __get__ by, and asks the text itself."""
        return self.__get__(None, self._kind).expandtabs(tabsize)


def members(kind: type) -> list[tuple[str, str]]:
    """Name and description of each member that this class itself brings; nothing where its source is not at hand."""
    import ast  # noqa: PLC0415 - who never asks never pays
    import inspect  # noqa: PLC0415
    import textwrap  # noqa: PLC0415

    if kind.__module__.partition(".")[0] != __name__.partition(".")[0]:
        return []
    try:
        (made,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    except (OSError, SyntaxError, ValueError):
        return []
    return _documented(made) if isinstance(made, ast.ClassDef) else []


def _documented(made: "ast.ClassDef") -> list[tuple[str, str]]:
    import ast  # noqa: PLC0415

    found: list[tuple[str, str]] = []
    for node, after in pairwise(made.body):
        match node, after:
            case (
                ast.AnnAssign(target=ast.Name(id=name), annotation=of, value=standard),
                ast.Expr(value=ast.Constant(value=str(meaning))),
            ):
                given = "" if standard is None else f" = {ast.unparse(standard)}"
                head = f"    {name}: {ast.unparse(of)}{given}"
                found.append((name, f"{head}\n        {meaning.strip()}"))
            case _:
                pass
    return found


Numbers: TypeAlias = Callable[[Decimal], object]
"""What becomes of a number, as in `float` or `str`."""
Times: TypeAlias = Callable[[str], object]
"""What becomes of a moment's RFC 3339 text in UTC, as in `pandas.Timestamp` or `str`."""


class Rowed:
    """A record that can be laid flat."""

    __slots__ = ()

    def row(
        self, *, numbers: Numbers | None = None, times: Times | None = None
    ) -> dict[str, object]:
        """The members that were sent, flat: a nested record's by dotted names, as in `trade_opened.price`.

        Numbers stay Decimal and times DateTime unless said: `row(numbers=float, times=pandas.Timestamp)`. Several
        records in one member stay a list, of rows.
        """
        return dict(self._flat("", numbers or _kept, times))

    def _sent(self) -> Mapping[str, object]:
        raise NotImplementedError

    def _flat(
        self, prefix: str, numbers: Numbers, times: Times | None
    ) -> Iterator[tuple[str, object]]:
        for name, value in self._sent().items():
            if isinstance(value, Rowed):
                yield from value._flat(f"{prefix}{name}.", numbers, times)  # noqa: SLF001 - the same class
            elif value is not None:
                yield prefix + name, _cell(value, numbers, times)


def _cell(value: object, numbers: Numbers, times: Times | None) -> object:
    match value:
        case Decimal():
            return numbers(value)
        case DateTime():
            return value if times is None else times(utc_text(value))
        case tuple():
            items = cast("tuple[object, ...]", value)
            return [_cell(each, numbers, times) for each in items]
        case Rowed():
            return value.row(numbers=numbers, times=times)
        case _:
            return value


def utc_text(moment: DateTime) -> str:
    """RFC 3339 in UTC, whichever form the wire has."""
    return moment.text if moment.text.endswith("Z") else DateTime.from_ns(moment.ns).text


def _kept(number: Decimal) -> object:
    return number


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


class Response(Record):
    """A whole answer: the members of its body, and what its headers say."""

    request_id: str = Field(default="", validation_alias="RequestID (header)", exclude=True)
    """The id that the service gave the request; quote it to the broker's support."""
    location: str | None = Field(default=None, validation_alias="Location (header)", exclude=True)
    """Address of what was created."""
    links: Mapping[str, str] = Field(
        default_factory=dict, validation_alias="Link (header)", exclude=True
    )
    """Addresses of neighbours by relation: `next` of a list, `next` and `prev` of a book."""
