"""The form with fields of numbers: it declares its fields, and says what they come to and what is sent.

Editing, nudging, units, refusals of what cannot be read, and the keys beneath it follow from the fields. A ticket has its
own editor: its size follows from the stop, and its fields from the order type.
"""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, ClassVar, Generic

from msgspec.structs import replace

from keydesk.calc.market.price_levels import PriceLevel
from keydesk.calc.orders import average_range
from keydesk.calc.orders.checks import unreadable_text
from keydesk.calc.orders.field_draft import (
    TYPED_BEHIND_A_DIGIT,
    Entry,
    FieldDraft,
    Reading,
    UnreadableText,
    checked,
    is_number_key,
    shown_number,
)
from keydesk.calc.orders.fields import Field, Name, Unit
from keydesk.calc.risk.trading_context import TradingContext
from keydesk.forms.form import FIELD_HINTS, NUDGES, STEP, TENS, Form
from keydesk.forms.form_lines import KEYS_HINT
from keydesk.forms.level_name import LevelName
from keydesk.forms.modal_form import FormContext, TextLine, Words
from keydesk.forms.ticket_lines import (
    CANNOT_BE_READ,
    number_field,
    quote_line,
    shown_digits,
)
from keydesk.parse.price_levels import SIGN
from keydesk.text.sanitize import Printable
from keydesk.widgets.overlay import Result
from keydesk_client.arithmetic.constants import ZERO

FINE_STEP = Decimal("0.1")  # of units that are counted in parts: R and average true ranges


class NumberFields(Form[Result], Generic[Result, Name]):
    """A form with fields of numbers: keys pick, fill, erase, nudge and turn one of them.

    A form says its `FIELDS`, their `meaning`, its `effect()`, its `problems()` and its `request()`.
    """

    FIELDS: ClassVar[Mapping[Any, Field]]
    PRICES: ClassVar[frozenset[str]] = frozenset()  # fields that may be a price level by its name

    draft: FieldDraft[Name]

    def __init__(self, context: FormContext) -> None:
        super().__init__(context)
        self.level_name = LevelName(context.keymap)

    # What a form says.

    @property
    def instrument(self) -> str:
        """The instrument that it is about; "" where there is none."""
        return ""

    def gone(self) -> str:
        """Return why there is nothing left to change, "" while there is."""
        return ""

    @abstractmethod
    def first_draft(self) -> FieldDraft[Name]:
        """Return the fields as the form opens."""

    def meaning(self, name: Name) -> Words:  # noqa: ARG002 - a form whose numbers come to prices reads it
        """Return what the number of a field comes to, such as its price."""
        return ("", "plain")

    def reading(self, name: Name) -> Reading:
        """Return the number in a field, None if it is empty, else why it cannot be one."""
        return checked(self.draft.entry(name), self.FIELDS[name])

    def unread_text(self, name: Name, unread: UnreadableText) -> str:
        """Return the refusal of a field that cannot be read."""
        return unreadable_text(name, unread, self.FIELDS[name].key)

    def problems(self) -> Sequence[str]:
        """Return why numbers that can be read cannot be sent."""
        return ()

    def in_unit(self, name: Name, unit: Unit) -> Entry | None:
        """Return a field counted in another unit, as a rule with the same text; None where that is not known."""
        return replace(self.draft.entry(name), unit=unit)

    # What follows from it.

    def begin(self) -> None:
        self.draft = self.first_draft()

    @property
    def names(self) -> Sequence[Name]:
        """The fields that can be picked, in screen order."""
        return tuple(self.draft.entries)

    @property
    def shown(self) -> Sequence[Name]:
        """The fields that have a line."""
        return self.names

    @property
    def market(self) -> TradingContext | None:
        """The instrument's rules and price and the account's funds; None while one of them is missing."""
        return self.trading_context_about(self.instrument)

    def price_line(self) -> TextLine:
        """Return the price that it goes by."""
        return () if self.market is None else quote_line(self.market)

    def hints(self) -> TextLine:
        """Return the keys of the fields: unit or steps of ten, and the next field."""
        if any(len(each.units) > 1 for each in self.FIELDS.values()):
            return FIELD_HINTS
        return NUDGES if len(self.FIELDS) > 1 else (*STEP, *TENS, *KEYS_HINT)

    def unready(self) -> str:
        """Return why nothing can be reckoned now, "" if it can."""
        return self.gone() or ("Waiting for a price" if self.instrument and not self.market else "")

    def field_lines(self) -> Sequence[TextLine]:
        """Return the fields as typed, each with what it comes to."""
        return () if self.unready() else [self._field_line(name) for name in self.shown]

    def _field_line(self, name: Name) -> TextLine:
        field, entry = self.FIELDS[name], self.draft.entry(name)
        text, active = shown_digits(entry.text), name == self.draft.active
        shown = number_field(field.key, field.label, text, entry.unit, active=active)
        if named := self.level_text(name):
            return (*shown, (named, "muted"))
        if isinstance(self.reading(name), UnreadableText):
            return (*shown, (CANNOT_BE_READ, "danger"))
        return (*shown, self.meaning(name))

    def body(self) -> Sequence[TextLine]:
        """Return the fields, and what follows from them."""
        return () if self.unready() else super().body()

    def refusals(self) -> Sequence[str]:
        """Refuse what is gone, text that cannot be read, and the form's own problems."""
        if unready := self.unready():
            return (unready,)
        readings = [(name, self.reading(name)) for name in self.names]
        unread = [(name, each) for name, each in readings if isinstance(each, UnreadableText)]
        return [self.unread_text(name, each) for name, each in unread] or self.problems()

    def nudged(self, entry: Entry, steps: int) -> Entry | None:
        """Return the active field moved by so many steps of its unit, not below 0; None where it stays as it is."""
        one = FINE_STEP if entry.unit in {"R", "ATR"} else Decimal(1)
        return entry.set(max(ZERO, (shown_number(entry.value) or ZERO) + steps * one))

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

    def action_next_unit(self) -> None:
        """Count the active field in its next unit."""
        name, entry = self.draft.active, self.draft.current
        choices = self.FIELDS[name].units or (entry.unit,)
        unit = choices[(choices.index(entry.unit) + 1) % len(choices)]
        if (converted := self.in_unit(name, unit)) is not None:
            self.set_field(converted)
        else:
            self._hint = f"The {name} stays in {entry.unit}: {average_range.NAME} is not known"
            self.redraw()
