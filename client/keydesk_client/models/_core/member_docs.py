"""Signature and docstring of a record: every member with its type, default and meaning, read from the source when asked for.

At import that would cost more than all else. Without this, `inspect.signature`, `help()` and notebooks show `**data`, or
the names of the wire once pydantic has built the validator.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Final, Self, SupportsIndex, TypeVar

if TYPE_CHECKING:
    import ast
    from inspect import Signature

T = TypeVar("T", bound=type)

PLAIN_TYPES: Final = {
    "DecimalNumber": "Decimal",
    "AccountUnits": "Decimal",
    "PriceValue": "Decimal",
    "RecurringPrice": "Decimal",
    "Liquidity": "int | Decimal",
    "AccountID": "str",
    "OrderID": "str",
    "TradeID": "str",
    "ClientID": "str",
    "ClientTag": "str",
    "ClientComment": "str",
    "RequestID": "str",
    "InstrumentName": "str",
    "Currency": "str",
}
"""Names of annotations that a user of the package does not know, and the types behind them."""
ACCEPTED_TYPES: Final = {"Decimal": "Decimal | int | str", "DateTime": "DateTime | datetime | str"}
"""What a request accepts where its record holds such a value."""


class MemberDocs(str):
    """A docstring that is followed by the record's members, each with its type and meaning."""

    __slots__ = ("_kind",)

    _kind: type

    @classmethod
    def of(cls, kind: type) -> Self:
        """Return the docstring of this record."""
        own: object = vars(kind).get("__doc__")
        made = cls(own if isinstance(own, str) else "")
        made._kind = kind
        return made

    def __get__(self, record: object, kind: type) -> str:
        members = members_of(kind).values()
        if not members:
            return str(self)
        return "\n".join((str(self), "", "Members:", *(each.description for each in members)))

    def expandtabs(self, tabsize: SupportsIndex = 8) -> str:
        """Return the whole text: pydoc does not call `__get__` but this method."""
        return self.__get__(None, self._kind).expandtabs(tabsize)


class MemberSignature:
    """A signature that lists the members of the record by their Python names."""

    def __init__(self, accepted: dict[str, str]) -> None:
        self._accepted = accepted

    def __get__(self, record: object, kind: type) -> Signature:
        import inspect  # noqa: PLC0415 - loaded by help() only

        parameters = [
            inspect.Parameter(
                each.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=inspect.Parameter.empty if each.default is None else _Shown(each.default),
                annotation=_Shown(self._accepted_type(each.type)),
            )
            for each in members_of(kind).values()
        ]
        return inspect.Signature(parameters)

    def _accepted_type(self, type_: str) -> str:
        return " | ".join(self._accepted.get(part, part) for part in type_.split(" | "))


@dataclass(frozen=True, slots=True)
class Member:
    """A member as it stands in the source."""

    name: str
    type: str
    default: str | None
    """None for a required member."""
    meaning: str

    @property
    def description(self) -> str:
        """Lines of a docstring."""
        assigned = "" if self.default is None else f" = {self.default}"
        meaning = f"\n        {self.meaning}" if self.meaning else ""
        return f"    {self.name}: {self.type}{assigned}{meaning}"


@dataclass(frozen=True, slots=True)
class _Shown:
    """A text that a signature shows as it is, without quotes."""

    text: str

    def __repr__(self) -> str:
        return self.text


def document_members(kind: T, *, accepts_more: bool = False) -> T:
    """Give a record its signature and docstring, and return it; `accepts_more` shows what a request converts.

    A dataclass gets them from this as the outer decorator: while a dataclass is made its docstring is looked at, which
    would read the source at import.
    """
    accepted = ACCEPTED_TYPES if accepts_more else {}
    # setattr: pydantic declares a plain Signature, and dataclasses a plain string.
    setattr(kind, "__doc__", MemberDocs.of(kind))  # noqa: B010
    setattr(kind, "__signature__", MemberSignature(accepted))  # noqa: B010
    return kind


@cache
def members_of(kind: type) -> dict[str, Member]:
    """Return the members of a record and its bases by name, in order."""
    bases = reversed(kind.__mro__)
    return {member.name: member for base in bases for member in _own_members(base)}


def _own_members(kind: type) -> list[Member]:
    """Return the members that this class itself declares; none without its source."""
    import ast  # noqa: PLC0415 - loaded by help() only
    import inspect  # noqa: PLC0415
    import textwrap  # noqa: PLC0415

    if not kind.__module__.startswith("keydesk_client.models."):
        return []
    try:
        (node,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    except (OSError, SyntaxError, ValueError):
        return []
    return _declared(node) if isinstance(node, ast.ClassDef) else []


def _declared(node: ast.ClassDef) -> list[Member]:
    import ast  # noqa: PLC0415

    members: list[Member] = []
    for statement, following in pairwise([*node.body, ast.Pass()]):
        match statement:
            case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation, value=default):
                type_ = ast.unparse(annotation)
                if not type_.startswith("ClassVar") and not name.startswith("_"):
                    shown = " | ".join(PLAIN_TYPES.get(each, each) for each in type_.split(" | "))
                    members.append(Member(name, shown, _default_text(default), _text(following)))
            case _:
                pass
    return members


def _default_text(value: ast.expr | None) -> str | None:
    """Return the default as it is written; of a pydantic Field its default."""
    import ast  # noqa: PLC0415

    if isinstance(value, ast.Call):
        named = {each.arg: ast.unparse(each.value) for each in value.keywords}
        factory = named.get("default_factory")
        return named.get("default") if factory is None else f"{factory}()"
    return None if value is None else ast.unparse(value)


def _text(statement: ast.stmt) -> str:
    import ast  # noqa: PLC0415

    match statement:
        case ast.Expr(value=ast.Constant(value=str(text))):
            return text.strip()
        case _:
            return ""
