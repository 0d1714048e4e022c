"""What a field of a form is, and the fields that arithmetic and checks read, too; those of one form stand in the key map."""

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Literal, NamedTuple, TypeVar

Unit = Literal["", "units", "risk %", "loss", "value", "marg %", "price", "pips", "R", "ATR", "min"]
Name = TypeVar("Name", bound=str)
Check = Callable[[Decimal], str]
"""Returns why a number cannot be in its field, "" if it can."""
NOT_ABOVE_ZERO = "is not above 0"
YEAR = Decimal(525_600)  # minutes


def any_number(_: Decimal) -> str:
    """Take every number."""
    return ""


def not_below_zero(number: Decimal) -> str:
    """Take 0 and what is above it."""
    return "is below 0" if number < 0 else ""


def not_zero(number: Decimal) -> str:
    """Take what is above 0."""
    return not_below_zero(number) or ("" if number else NOT_ABOVE_ZERO)


def minutes_of_a_year(number: Decimal) -> str:
    """Take a time of at most a year."""
    return not_zero(number) or ("is more than a year" if number > YEAR else "")


class Field(NamedTuple):
    """A field of a form."""

    id: str
    """Of its key, by which a keymap.toml moves it."""
    key: str
    label: str
    """Beside what is typed."""
    text: str
    """The sentence of the help."""
    hint: str = ""
    """In the footer; "" leaves it out."""
    units: tuple[Unit, ...] = ()
    """What its number may count in, the usual one first."""
    check: Check = any_number
    default: str = ""
    """What it holds as the form opens, where nothing else says so."""


FieldName = Literal["size", "price", "stop", "target", "trail", "bound"]
TICKET_FIELDS: Mapping[FieldName, Field] = {
    "size": Field(
        "size", "u", "size", "Size", "size", ("units", "risk %", "loss", "value", "marg %")
    ),
    "price": Field("price", "p", "price", "Price; -15: 15 pips under", "price", ("price", "pips")),
    "stop": Field("stop", "s", "stop", "Stop", "stop", ("pips", "price", "ATR")),
    "target": Field("target", "t", "target", "Target", "target", ("R", "pips", "price", "ATR")),
    "trail": Field("trail", "r", "trail", "Trailing stop", "trail", ("pips", "ATR")),
    "bound": Field("bound", "b", "bound", "How far it may slip", "bound", ("pips",)),
}
"""The numbers of a ticket, in screen order."""

TICKET_CHOICES: Mapping[str, Field] = {
    "next_kind": Field("kind", "o", "type", "Order type", "type"),
    "next_expiry": Field("expiry", "e", "time in force", "Time in force", "expiry"),
    "next_unit": Field("unit", "m", "unit", "What the field counts in", "unit"),
    "next_template": Field("template", "h", "template", "Next template"),
    "more": Field("more", "n", "fields", "More fields, or fewer", "more"),
    "guarantee": Field("guarantee", "w", "guarantee", "Guaranteed stop, or usual"),
    "next_lifetime": Field("ticket-life", ";", "ends", "Expiry of stop or target"),
    "count_in_atr": Field("ticket-atr", "a", "ATR", "Count in ATR: 1.5a", "ATR"),
}
"""What a key of a ticket turns to its next value, by the action of the key."""

ProtectionField = Literal["stop", "target", "trail", "guaranteed"]
LEVEL_UNITS: tuple[Unit, ...] = ("price", "pips", "ATR")
PROTECTION_FIELDS: Mapping[ProtectionField, Field] = {
    "stop": Field("modify-stop", "s", "stop", "Stop", "stop", LEVEL_UNITS),
    "target": Field("modify-target", "t", "target", "Target", "target", LEVEL_UNITS),
    "trail": Field("modify-trail", "r", "trail", "Trailing stop", "trail", ("pips", "ATR")),
    "guaranteed": Field(
        "modify-guarantee", "w", "guaranteed", "Guaranteed stop", units=LEVEL_UNITS
    ),
}
"""The dependent orders of a trade, in screen order."""

ENTRY_FIELDS: Mapping[str, Field] = {
    "price": Field("modify-price", "p", "price", "Price of the entry order", "price"),
    "stop": PROTECTION_FIELDS["stop"],
    "target": PROTECTION_FIELDS["target"],
    "trail": PROTECTION_FIELDS["trail"],
    "units": Field("modify-units", "u", "units", "Units of the entry order", "units"),
}
"""What is changed of an entry order, in screen order."""

MODIFY_FIELDS: Mapping[str, Field] = {
    **{name: ENTRY_FIELDS[name] for name in ("price", "stop", "target", "trail")},
    "guaranteed": PROTECTION_FIELDS["guaranteed"],
    "units": ENTRY_FIELDS["units"],
}
"""Those of both, which have the same keys."""

MODIFY_CHOICES: Mapping[str, Field] = {
    "next_expiry": Field("modify-expiry", "e", "until", "Time in force"),
    "write_until": Field("modify-until", "g", "until", "Type an expiry: 18:30, 4h"),
    "next_trigger": Field("modify-trigger", "i", "trigger", "Trigger: bid, ask or mid"),
    "next_unit": Field("modify-unit", "m", "unit", "What the field counts in", "unit"),
    "count_in_atr": Field("modify-atr", "a", "ATR", "Count in ATR: 1.5a", "ATR"),
}
"""What a key turns or begins in the forms that change levels or an entry order, by the action of the key."""

PlanField = Literal["even", "offset", "from", "behind", "step", "time"]
EXIT_PLAN_FIELDS: Mapping[PlanField, Field] = {
    "even": Field(
        *("plan-even", "e", "break-even", "Profit for break-even", "even"),
        ("R", "pips", "ATR"),
        not_below_zero,
    ),
    "offset": Field(
        *("plan-offset", "o", " offset", "Pips beyond break-even", "offset"),
        ("pips",),
        not_below_zero,
    ),
    "from": Field(
        *("plan-from", "t", "trail from", "Profit the trail starts at", "trail"),
        ("R", "pips", "ATR"),
        not_below_zero,
    ),
    "behind": Field(
        *("plan-behind", "r", " distance", "How far the stop is behind", ""),
        ("R", "pips", "ATR"),
        not_zero,
    ),
    "step": Field(
        *("plan-step", "k", " step", "Step of the trail", ""), ("pips", "R", "ATR"), not_zero
    ),
    "time": Field(
        *("plan-time", "h", "close after", "Minutes until it closes", "time"),
        ("min",),
        minutes_of_a_year,
    ),
}
"""The fields of an exit plan, in screen order."""
