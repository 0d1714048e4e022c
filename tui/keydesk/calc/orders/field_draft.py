"""The fields of a form that changes a trade or an order, as typed, and the one that keys act on."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from keydesk.calc.orders.ticket_draft import Entry

Name = TypeVar("Name", bound=str)


@dataclass(frozen=True, slots=True)
class FieldDraft(Generic[Name]):
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

    def put(self, name: Name, entry: Entry) -> "FieldDraft[Name]":
        """Return the draft with that field changed and active."""
        return FieldDraft({**self.entries, name: entry}, name)

    def pick(self, name: Name) -> "FieldDraft[Name]":
        """Make a field the active one; its first digit replaces what is in it."""
        return self.put(name, replace(self.entries[name], fresh=True))
