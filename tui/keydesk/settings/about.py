"""What is declared of a setting beside its type and default: its meaning, what it must be, its row on the page of settings.

A setting is one member of a record in `values.py`. `config check`, the schema, the documentation, `:settings` and the options of the
desk's command line read the declaration. This module and `values.py` load no pydantic: the desk paints first.
"""

from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from re import Pattern
from typing import Any, get_args, get_type_hints

from msgspec import Struct, structs

from keydesk.text.sanitize import Printable, safe

AUTO, ON, OFF = "auto", "on", "off"


class Wrong(ValueError):
    """Raised for a value that is not as its `Must` says."""


class Must(Struct, frozen=True):
    """What the value of a key must be, in words behind "must be", and a line that is right; `{key}` is the key's name."""

    words: str
    example: str = ""

    def sentence(self, key: str) -> str:
        """Return the words of a refusal."""
        example = f", such as {self.example}" if self.example else ""
        return f"must be {self.words}{example}".replace("{key}", key)


class Row(Struct, frozen=True):
    """A setting that is changed while the desk runs; what is left out follows from the member (`Member.row`).

    Args:
        option: Its name on the desk's command line.
        label: Its name on the page of settings.
        hint: What is said of it there.
        example: A command that changes it.
        words: What that command does, as the list of commands says.
    """

    option: str = ""
    label: Printable = ""
    hint: Printable = ""
    example: Printable = ""
    words: Printable = ""


class About(Struct, frozen=True):
    """The declaration of a setting.

    Args:
        text: Its meaning, for schema, documentation and `keydesk config show`.
        must: What a value must be; None of a table.
        key: Its name in the file, where it is not the member's.
        within: The whole numbers that it may be.
        row: Where it is changed while the desk runs.
        read: Returns the value of what the file has, where the type does not say it; raises `Wrong`, or ValueError with a
            sentence of its own.
        schema: What it must be in a schema, with `read`.
    """

    text: str = ""
    must: Must | None = None
    key: str = ""
    within: range | None = None
    row: Row | None = None
    read: Callable[[Any], Any] | None = None
    schema: Mapping[str, Any] = {}


class Member(Struct, frozen=True):
    """A member of a record of settings."""

    name: str
    type: Any
    about: About
    usual: Any = None
    """Its default."""

    @property
    def key(self) -> str:
        """Its name in the file."""
        return self.about.key or self.name

    @property
    def choices(self) -> Sequence[str]:
        """What it may be, as its type says it; "auto" only where it may be None."""
        if self.type is bool:
            return (ON, OFF)
        if self.about.within is not None:
            numbers = tuple(map(str, self.about.within))
            return numbers if self.type is int else (AUTO, *numbers)
        return get_args(self.type)

    @property
    def row(self) -> Row | None:
        """Its row, whole; None of a setting that counts from the next start."""
        row = self.about.row
        if row is None:
            return None
        option, text = row.option or self.key, safe(self.about.text.removesuffix("."))
        others = [each for each in self.choices if each != text_of(self.usual)]
        return Row(
            option,
            row.label or safe(self.name.replace("_", " ")),
            row.hint or text,
            row.example or safe(" ".join([option, *others[:1]])),
            row.words or text,
        )


def text_of(value: object) -> str:
    """Return a value as it is typed on the command line."""
    if isinstance(value, bool):
        return ON if value else OFF
    return AUTO if value is None else str(value)


@cache
def members_of(record: type[Struct]) -> tuple[Member, ...]:
    """Return the members that are declared in a record of settings, in its order."""
    hints = get_type_hints(record, include_extras=True)
    usual = {each.name: each.default for each in structs.fields(record)}
    return tuple(
        Member(name, hint.__origin__, about, usual[name])
        for name, hint in hints.items()
        for about in getattr(hint, "__metadata__", ())
        if isinstance(about, About)
    )


@cache
def options_of(record: type[Struct]) -> Mapping[str, Member]:
    """Return the settings that are changed while the desk runs, by the names of their options."""
    return {each.row.option: each for each in members_of(record) if each.row}


def matching(pattern: Pattern[str]) -> Callable[[object], str]:
    """Return what reads a text that a pattern describes."""

    def read(value: object) -> str:
        if not isinstance(value, str) or not pattern.fullmatch(value):
            raise Wrong
        return value

    return read


def unknown(key: str, known: Sequence[str]) -> str:
    """Return what is said of an unknown key, behind its name."""
    close = get_close_matches(key, known, 1)
    meant = f"; did you mean {close[0]}?" if close else ""
    return f"is not known{meant or ';'} there are: {', '.join(known)}"
