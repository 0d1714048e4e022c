"""The fields of a form as typed: numbers with their unit, and which one of them is active.

A field is a number, None (left empty) or `UnreadableText`: three types, so that unreadable text cannot count as empty.
"""

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Generic

from msgspec import Struct
from msgspec.structs import replace

from keydesk.calc.orders.fields import NOT_ABOVE_ZERO, Field, Name, Unit

MAX_LENGTH = 20  # characters of a field; Decimal's 28 digits hold it at any precision
NUMBER_CHARACTERS = frozenset("0123456789.-")
TYPED_BEHIND_A_DIGIT = {10: ".", -10: ","}  # the nudges by ten: what their keys type after a digit
NUMBER = re.compile(r"-?(\d+\.?\d*|\.\d+)", re.ASCII)


class UnreadableText(Struct, frozen=True):
    """Text that is not a number for its field, and the reason; it refuses every send."""

    text: str
    reason: str


Reading = Decimal | UnreadableText | None  # None: the field is empty on purpose


def read_number(text: str) -> Reading:
    """Return the number in a field's text, None if it is empty, else why it cannot be read."""
    if not text:
        return None
    if len(text) > MAX_LENGTH:
        return UnreadableText(text, f"is longer than {MAX_LENGTH} characters")
    if NUMBER.fullmatch(text):
        return Decimal(text)
    return UnreadableText(text, _reason(text))


def is_number_key(key: str) -> bool:
    """Return whether a field accepts the character: anything used to write numbers, readable or not.

    A comma or a digit of another script that was left out would change the number: 1,5 would be 15.
    """
    return key in NUMBER_CHARACTERS or key == "," or (len(key) == 1 and key.isdecimal())


def above_zero(reading: Reading) -> Reading:
    """Return a reading that accepts only numbers above 0."""
    if isinstance(reading, Decimal) and reading <= 0:
        return UnreadableText(f"{reading:f}", NOT_ABOVE_ZERO)
    return reading


def shown_number(reading: Reading) -> Decimal | None:
    """Return the number for display, None if there is none."""
    return reading if isinstance(reading, Decimal) else None


def _reason(text: str) -> str:
    if "," in text:
        return "has a comma: the decimal sign is the full stop"
    if set(text) - NUMBER_CHARACTERS:
        return "is not a number"
    if not set(text) & set("0123456789"):
        return "has no digit"
    if "-" in text[1:]:
        return "has a minus after its first character"
    return "has more than one decimal point"


class Entry(Struct, frozen=True):
    """The text of a field and its unit."""

    text: str = ""
    unit: Unit = "pips"
    fresh: bool = True  # the first digit replaces the text
    by_hand: bool = False
    """Whether the trader wrote it, and not a template."""

    @property
    def value(self) -> Reading:
        """The number typed, None if the field is empty, else why it cannot be read."""
        return read_number(self.text)

    def typed(self, key: str) -> "Entry":
        """Append a character; one beyond the limit stays, so that the field reports that it is too long."""
        text = key if self.fresh else (self.text + key)[: MAX_LENGTH + 1]
        return replace(self, text=text, fresh=False, by_hand=True)

    @property
    def shown(self) -> str:
        """Return the text as a refusal names it: 1.5a."""
        return f"{self.text}a" if self.unit == "ATR" else self.text

    def erased(self) -> "Entry":
        """Remove the last character; clear a field that was not typed into."""
        text = "" if self.fresh else self.text[:-1]
        return replace(self, text=text, fresh=False, by_hand=True)

    def set(self, value: Decimal) -> "Entry":
        """Set a number, as nudges and changes of unit do."""
        return replace(self, text=f"{value:f}", fresh=True, by_hand=True)


def checked(entry: Entry, field: Field) -> Reading:
    """Return the number typed into a field, None if it is empty, else why it cannot be one."""
    value = entry.value
    reason = field.check(value) if isinstance(value, Decimal) else ""
    return UnreadableText(entry.text, reason) if reason else value


class FieldDraft(Struct, Generic[Name], frozen=True):
    """Fields by name, in screen order."""

    entries: Mapping[Name, Entry]
    active: Name

    @property
    def current(self) -> Entry:
        """The field that keys act on."""
        return self.entries[self.active]

    def entry(self, name: Name) -> Entry:
        """Return a field by its name."""
        return self.entries[name]

    def with_field(self, name: Name, entry: Entry) -> "FieldDraft[Name]":
        """Return the draft with that field changed and active."""
        return FieldDraft({**self.entries, name: entry}, name)

    def pick(self, name: Name) -> "FieldDraft[Name]":
        """Make a field the active one; its first digit replaces what is in it."""
        return self.with_field(name, replace(self.entries[name], fresh=True))


def opening(fields: Mapping[Name, Field]) -> FieldDraft[Name]:
    """Return the fields as a form opens: each with its default, the first one active."""
    entries = {
        name: Entry(field.default, field.units[0] if field.units else "")
        for name, field in fields.items()
    }
    return FieldDraft(entries, next(iter(entries)))
