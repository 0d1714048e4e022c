"""What keys do to the fields of a ticket: digits, letters, units, nudges and turned choices; it draws and sends nothing."""

from collections.abc import Sequence

from msgspec.structs import replace

from keydesk.calc.market.price_levels import PriceLevel
from keydesk.calc.orders import average_range
from keydesk.calc.orders.field_draft import (
    TYPED_BEHIND_A_DIGIT,
    Entry,
    UnreadableText,
    is_number_key,
)
from keydesk.calc.orders.fields import TICKET_FIELDS, FieldName, Unit
from keydesk.calc.orders.first_draft import preset_size, with_resting_price
from keydesk.calc.orders.order_options import MAX_TEXT, OptionName, TextName
from keydesk.calc.orders.plans.scale_out import NO_SCALE_OUT
from keydesk.calc.orders.ticket import Plan, fields_of
from keydesk.calc.orders.ticket_draft import DISTANCES, Draft
from keydesk.calc.orders.ticket_parts import scale_out_of
from keydesk.calc.orders.ticket_settings import RISK_PRESET, Template
from keydesk.calc.orders.ticket_units import level_in_unit, size_in_unit, step_of, touch_of
from keydesk.calc.risk.trading_context import TradingContext
from keydesk.forms.level_name import LevelName
from keydesk.forms.text_fields import ENDS_TEXT, edited_text
from keydesk_client.arithmetic.constants import ZERO

HAS_NO_END = "The {} has no end of its own: s t r pick a level that has, e is the order's"
PRICES: frozenset[FieldName] = frozenset(("price", "stop", "target"))
"""The fields that may be a price level by its name."""


class TicketEditor:
    """The draft of a ticket and the keys' effects on it; `hint` says what a key could not do."""

    def __init__(
        self, draft: Draft, template: Template, preset: int, level_name: LevelName
    ) -> None:
        self.draft = draft
        self.template, self.preset = template, preset
        self.everything = False  # whether the rarely changed members are shown, too
        self.writing: TextName | None = None  # the field that letters go to
        self.hint = ""
        self.level_name = level_name
        self._stepped: tuple[str, Entry] | None = None  # minus signs that stepped the size down
        self._prefilled: str | None = None  # the price that the desk proposed

    def begin_with(self, draft: Draft, template: Template) -> None:
        """Begin again with the fields of another template."""
        self.draft, self.template = draft, template
        self._stepped, self._prefilled = None, draft.price.text or None

    # Text.

    def write(self, key: str, character: str | None, now_ns: int) -> None:
        """Take a key for the field of text; Enter, Tab and Esc end it."""
        name = self.writing
        if name is None:
            return
        if key in ENDS_TEXT:
            self.writing = None
            if name == "scale":
                self._give_targets()
        elif key == "backspace" or character:
            text = edited_text(self.draft.text(name), key, character, MAX_TEXT + 1)
            self.draft = self.draft.put_text(name, text, now_ns)

    def _give_targets(self) -> None:
        """Leave the targets to a scale-out that can be read; without one the template's is back."""
        divides = bool(scale_out_of(self.draft).shares)
        if divides:
            self.draft = self.draft.with_field("target", Entry("", "R"))
        elif not self.draft.members.scale and not self.draft.target.text:
            whole = replace(self.template, scale_out=NO_SCALE_OUT)
            self.draft = self.draft.with_field("target", whole.target_entry)

    def next_lifetime(self) -> None:
        """Turn how long the active one of stop, target and trailing stop lives."""
        level = self.draft.active_level
        if level is None:
            self.hint = HAS_NO_END.format(self.draft.active)
        else:
            self.draft = self.draft.next_lifetime(level)

    def begin_text(self, name: TextName, now_ns: int) -> None:
        """Send the letters that follow to a field of text; an expiry or an end begins anew."""
        if name == "ends" and self.draft.active_level is None:
            self.hint = HAS_NO_END.format(self.draft.active)
        elif name == "ends":
            self.writing = name
            self.draft = self.draft.put_text(name, "", now_ns)
        elif name != "until":
            self.writing = name
        elif self.draft.kind == "MARKET":
            self.hint = "A market order does not rest: o turns the type, e its time in force"
        else:
            self.writing = name
            self.draft = self.draft.put_text(name, "", now_ns)

    # Price levels.

    def begin_level(self, levels: Sequence[PriceLevel], plan: Plan | None) -> None:
        """Send the letters that follow to the name of a price level, in the active field."""
        name = self.draft.active
        if name not in PRICES:
            self.hint = f"@ names a price level: the {name} is none, p s t pick one"
        elif self.has_field(name, plan):
            entry = self.level_name.begin(self.draft.entry(name), levels)
            self._put_level(entry)

    def write_level(self, key: str, character: str | None, levels: Sequence[PriceLevel]) -> None:
        """Take a key for that name."""
        entry = self.draft.entry(self.draft.active)
        self._put_level(self.level_name.take(key, character, entry, levels))

    def _put_level(self, entry: Entry) -> None:
        self.draft = self.draft.with_field(self.draft.active, entry)
        self.hint, self.level_name.hint = self.level_name.hint, ""

    # Numbers.

    def type_key(self, key: str, context: TradingContext | None, plan: Plan | None) -> bool:
        """Fill the active field; in an untouched size, a minus and an equals sign step it."""
        if key == "=":
            self._step_size(1, context)
            return True
        if not is_number_key(key):
            return False
        size = self.draft.size
        stepped, self._stepped = self._stepped, None
        signs = stepped[0] if stepped and stepped[1] is size else ""
        if key == "-" and self.draft.active == "size" and size.fresh and size.text:
            self._step_size(-1, context)
            self._stepped = (f"{signs}-", self.draft.size)
        elif signs:  # "-5" is a number below 0, not a step and a 5
            entry = replace(size, text=f"{signs}{key}", fresh=False)
            self.draft = self.draft.with_field("size", entry)
        elif self.has_field(self.draft.active, plan):
            self.draft = self.draft.typed(key)
        return True

    def erase(self) -> None:
        """Take a digit out of the active field."""
        self.draft = self.draft.erased()

    def nudge(self, steps: int, context: TradingContext | None, plan: Plan | None) -> None:
        """Move the active field; after a digit the full stop and the comma are typed into it."""
        if not self.has_field(self.draft.active, plan):
            return
        entry = self.draft.entry(self.draft.active)
        if steps in TYPED_BEHIND_A_DIGIT and not entry.fresh:
            self.draft = self.draft.typed(TYPED_BEHIND_A_DIGIT[steps])
        else:
            self.draft = self.draft.with_field(
                self.draft.active, self._nudged(entry, steps, context)
            )

    def _step_size(self, steps: int, context: TradingContext | None) -> None:
        self.draft = self.draft.with_field("size", self._nudged(self.draft.size, steps, context))

    def _nudged(self, entry: Entry, steps: int, context: TradingContext | None) -> Entry:
        value = entry.value
        if isinstance(value, UnreadableText):
            self.hint = f"{value.text} {value.reason}: type a number"
            return entry
        if context is None:
            return entry
        if entry.unit == "price":
            start = value if value is not None and value > 0 else touch_of(self.draft, context)
            return entry.set(start + steps * context.rules.pip)
        return entry.set(max(ZERO, (value or ZERO) + steps * step_of(entry, context)))

    # Fields and choices.

    def has_field(self, name: FieldName, plan: Plan | None) -> bool:
        """Whether the ticket has the field now; says why when it has none because it only reduces."""
        there = plan is None or name in fields_of(self.draft, plan)
        if not there and name in self.draft.fields:
            self.hint = f"It only reduces: a {name} is for a new trade"
        return there

    def pick(self, name: FieldName, plan: Plan | None) -> None:
        """Make a field the active one; a field that the ticket lacks does not take digits."""
        self.draft = self.draft.pick(name)
        self.has_field(name, plan)

    def next_field(self, step: int, plan: Plan | None) -> None:
        """Go to the next field."""
        there = self.draft.fields if plan is None else fields_of(self.draft, plan)
        self.draft = self.draft.next_field(step)
        while self.draft.active not in there:
            self.draft = self.draft.next_field(step)

    def next_kind(self, context: TradingContext | None) -> None:
        """Turn to the next order type; a price that was not typed is one at which the order rests."""
        before = self.draft
        self.draft = before.next_kind()
        proposed = not before.price.text or before.price.text == self._prefilled
        if context is not None and proposed:
            self.draft = with_resting_price(self.draft, context)
            self._prefilled = self.draft.price.text

    def turn(self, name: OptionName) -> None:
        """Turn to the next choice of an option; a market order has no trigger: turn what its stop counts from."""
        if name == "trigger" and self.draft.kind == "MARKET":
            counts = not self.draft.members.stop_from_fill
            self.draft = self.draft.with_stop_from_fill(counts=counts)
        else:
            self.draft = self.draft.cycled(name)

    # Units.

    def next_unit(self, context: TradingContext | None, plan: Plan | None) -> None:
        """Count the active field in its next unit; a size or level keeps its meaning."""
        name = self.draft.active
        entry, choices = self.draft.entry(name), TICKET_FIELDS[name].units
        unit = choices[(choices.index(entry.unit) + 1) % len(choices)]
        if unit == entry.unit:
            return
        converted = self._in_unit(name, unit, context, plan)
        self.draft = self.draft.with_field(name, converted or entry)
        if converted is None:
            missing = f"{average_range.NAME} is not known" if unit == "ATR" else "there is no price"
            self.hint = f"The {name} stays in {entry.unit}: {missing} to count it in {unit} yet"

    def count_in_atr(self, context: TradingContext | None, plan: Plan | None) -> None:
        """Count the active distance in average true ranges: typed digits stay, an old distance is converted."""
        name, entry = self.draft.active, self.draft.entry(self.draft.active)
        if name not in DISTANCES:
            self.hint = f"The {name} is not a distance: s t r pick one that a counts in ATR"
        elif entry.unit != "ATR":
            converted = self._in_unit(name, "ATR", context, plan) if entry.fresh else None
            self.draft = self.draft.with_field(name, converted or replace(entry, unit="ATR"))

    def _in_unit(
        self, name: FieldName, unit: Unit, context: TradingContext | None, plan: Plan | None
    ) -> Entry | None:
        """Return the field in another unit; None where its level is not known, so that it cannot be turned."""
        entry = self.draft.entry(name)
        if isinstance(entry.value, UnreadableText) or (entry.value is None and name != "size"):
            return replace(entry, unit=unit)  # empty, or text that stays for correction
        if name == "size":
            return self._size_in_unit(unit, context, plan)
        return None if context is None else level_in_unit(self.draft, name, unit, context)

    def _size_in_unit(self, unit: Unit, context: TradingContext | None, plan: Plan | None) -> Entry:
        """Return the size counted in another unit; where it cannot be counted, the preset's, or an empty field."""
        counted = None
        if plan is not None and context is not None and unit != "risk %":
            counted = size_in_unit(unit, plan, context)
        if counted is None and unit in {"units", "risk %"}:
            return preset_size(self.template, RISK_PRESET if unit == "risk %" else self.preset or 1)
        return counted or Entry("", unit)
