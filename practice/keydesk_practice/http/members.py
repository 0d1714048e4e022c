"""Reading the members of a JSON body: each is of the right type, or the request is refused with the member's path.

Numbers may come as text or as JSON numbers, times in either form; everything else is taken as the interface says.
What is well-formed but wrong by the rules of trading is the engine's to reject.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from keydesk_practice.http.refusals import invalid, missing
from keydesk_practice.http.requests import read_time

LONGEST_NUMBER = 40
LONGEST_TEXT = 8192
_DECIMAL = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)", re.ASCII)


@dataclass(frozen=True, slots=True)
class Members:
    """A JSON object and where it stands in the body."""

    values: Mapping[str, Any]
    path: str = ""

    def name(self, member: str) -> str:
        """Return the full path of a member, as error messages name it."""
        return f"{self.path}.{member}" if self.path else member

    def has(self, member: str) -> bool:
        """Return whether a member is there, null included."""
        return member in self.values

    def text(self, member: str) -> str | None:
        """Return a text."""
        value = self.values.get(member)
        if value is not None and (not isinstance(value, str) or len(value) > LONGEST_TEXT):
            raise invalid(self.name(member))
        return value

    def word(self, member: str, allowed: frozenset[str]) -> str | None:
        """Return one of the allowed words."""
        value = self.text(member)
        if value is not None and value not in allowed:
            raise invalid(self.name(member))
        return value

    def decimal(self, member: str) -> Decimal | None:
        """Return a number, exactly as written."""
        value = self.values.get(member)
        return None if value is None else decimal_of(value, self.name(member))

    def time(self, member: str) -> int | None:
        """Return a point in time as nanoseconds since 1970."""
        value = self.values.get(member)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, str | int | Decimal):
            raise invalid(self.name(member))
        return read_time(str(value), self.name(member))

    def flag(self, member: str) -> bool | None:
        """Return a boolean."""
        value = self.values.get(member)
        if value is not None and not isinstance(value, bool):
            raise invalid(self.name(member))
        return value

    def object(self, member: str) -> "Members | None":
        """Return an inner object."""
        value = self.values.get(member)
        if value is None:
            return None
        if not isinstance(value, dict):
            raise invalid(self.name(member))
        return Members(value, self.name(member))

    def needed(self, member: str) -> "Members":
        """Return an inner object that must be there."""
        found = self.object(member)
        if found is None:
            raise missing(self.name(member))
        return found


def decimal_of(value: object, name: str) -> Decimal:
    """Return the number of a JSON text or number; no exponents, no infinities, no absurd lengths."""
    if isinstance(value, bool) or not isinstance(value, str | int | Decimal):
        raise invalid(name)
    text = format(value, "f") if isinstance(value, Decimal) else _plain(value)
    if len(text) > LONGEST_NUMBER or not _DECIMAL.fullmatch(text):
        raise invalid(name)
    return Decimal(text)


def _plain(value: str | int) -> str:
    if isinstance(value, str):
        return value
    return str(value) if value.bit_length() < 4 * LONGEST_NUMBER else ""
