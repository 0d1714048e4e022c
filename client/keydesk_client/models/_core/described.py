"""What a record's members mean, for help() and the question mark of a notebook.

The words stand in the source, beside each member, where editors find them. They are read from there when somebody asks:
doing so at import would cost more than all else that an import does.
"""

from itertools import pairwise
from typing import TYPE_CHECKING, Self, SupportsIndex

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

    if not kind.__module__.startswith(f"{__package__}."):
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
