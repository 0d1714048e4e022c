"""The fields of numbers in a form that changes a trade or an order: what keys do to them, and their lines.

A ticket has its own editor: its size follows from the stop, and its fields from the order type.
"""

from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar, Generic

from keydesk.calc.market.price_levels import PriceLevel
from keydesk.calc.orders.field_draft import (
    TYPED_BEHIND_A_DIGIT,
    Entry,
    FieldDraft,
    UnreadableText,
    is_number_key,
)
from keydesk.calc.orders.fields import Name
from keydesk.forms.form import Form
from keydesk.forms.level_name import LevelName
from keydesk.forms.modal_form import FormContext
from keydesk.parse.price_levels import SIGN
from keydesk.text.sanitize import Printable
from keydesk.widgets.overlay import Result


class NumberFields(Form[Result], Generic[Result, Name]):
    """A form with fields of numbers: keys pick, fill, erase and nudge one of them."""

    PRICES: ClassVar[frozenset[str]] = frozenset()  # fields that may be a price level by its name

    draft: FieldDraft[Name]

    def __init__(self, context: FormContext) -> None:
        super().__init__(context)
        self.level_name = LevelName()

    @property
    def instrument(self) -> str:
        """The instrument whose price levels a field may name; "" where there is none."""
        return ""

    @property
    def names(self) -> Sequence[Name]:
        """The fields that can be picked, in screen order."""
        return tuple(self.draft.entries)

    @abstractmethod
    def nudged(self, entry: Entry, steps: int) -> Entry | None:
        """Return the active field moved by so many steps; None where it stays as it is."""

    @property
    def counts_in_ranges(self) -> bool:
        """Whether a field is a distance in average true ranges."""
        return any(entry.unit == "ATR" for entry in self.draft.entries.values())

    # Price levels.

    @property
    def _levels(self) -> Sequence[PriceLevel]:
        return self.context.store.levels.get(self.instrument, ())

    def level_text(self, name: Name) -> Printable:
        """Return the levels that a name which is being typed into the field may mean; "" without one."""
        is_typed = self.level_name.is_typed and name == self.draft.active
        return self.level_name.meaning(self.draft.current, self._levels) if is_typed else ""

    @property
    def is_writing(self) -> bool:
        """Whether letters go to the name of a price level."""
        return self.level_name.is_typed

    def write(self, key: str, character: str | None) -> None:
        """Take a key for that name."""
        self._put_level(self.level_name.take(key, character, self.draft.current, self._levels))

    def _put_level(self, entry: Entry) -> None:
        self._hint, self.level_name.hint = self.level_name.hint, ""
        self.set_field(entry)

    # Keys.

    def set_field(self, entry: Entry) -> None:
        """Change the active field."""
        self.draft = self.draft.with_field(self.draft.active, entry)
        self.redraw()

    def typed(self, key: str) -> bool:
        """Fill the active field."""
        if key == SIGN and self.draft.active in self.PRICES:
            self._put_level(self.level_name.begin(self.draft.current, self._levels))
            return True
        if not is_number_key(key):
            return False
        self.set_field(self.draft.current.typed(key))
        return True

    def action_pick(self, name: str) -> None:
        """Make a field the active one; a field that the form does not have is left out."""
        for each in self.names:
            if each == name:
                self.draft = self.draft.pick(each)
        self.redraw()

    def action_next_field(self, step: int) -> None:
        """Go to the next field."""
        names = self.names
        self.draft = self.draft.pick(names[(names.index(self.draft.active) + step) % len(names)])
        self.redraw()

    def action_erase(self) -> None:
        """Take a digit out of the active field; all of it where nothing was typed yet."""
        self.set_field(self.draft.current.erased())

    def action_nudge(self, steps: int) -> None:
        """Move the active field; after a digit the full stop and the comma are typed into it."""
        entry = self.draft.current
        if steps in TYPED_BEHIND_A_DIGIT and not entry.fresh:
            self.set_field(entry.typed(TYPED_BEHIND_A_DIGIT[steps]))
        elif (moved := self.nudged(entry, steps)) is not None:
            self.set_field(moved)
        elif isinstance(entry.value, UnreadableText):
            self._hint = f"{entry.text} {entry.value.reason}: type a number"
            self.redraw()
