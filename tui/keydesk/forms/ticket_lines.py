"""The lines of a ticket above its figures: what is sent in words, the price, and the fields."""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Literal

from keydesk.calc.market.price_age import FRESH
from keydesk.calc.orders import average_range
from keydesk.calc.orders.field_draft import Reading, UnreadableText, shown_number
from keydesk.calc.orders.fields import (
    NOT_ABOVE_ZERO,
    TICKET_CHOICES,
    TICKET_FIELDS,
    Field,
    FieldName,
    Unit,
)
from keydesk.calc.orders.ticket import Plan, field_reading, fields_of
from keydesk.calc.orders.ticket_draft import BY_THE_STOP, KIND_WORDS, Draft
from keydesk.calc.risk.trading_context import TradingContext
from keydesk.forms.modal_form import ACTIVE_FIELD, TextLine, Words
from keydesk.text.format import EMPTY, money, pair, price, short_age, units
from keydesk.text.sanitize import Printable, safe
from keydesk.widgets.theme import ColourRole

FIELD_WIDTH = 10
LABEL_WIDTH = 11
UNIT_WIDTH = 8
UNIT_NAMES: Mapping[Unit, str] = {"marg %": "margin %", "loss": "lost"}  # others say themselves
CANNOT_BE_READ = "✗ cannot be read"
TOO_SMALL: Printable = "✗ not above 0"
NOT_KNOWN: Printable = "✗ ATR is not known"


def headline(draft: Draft, plan: Plan | None, context: TradingContext | None) -> TextLine:
    """Return what would be sent, in words: side, units, instrument, type and price."""
    role: ColourRole = "buy" if draft.side == "BUY" else "sell"
    arrow = "▲" if draft.side == "BUY" else "▼"
    size = units(plan.units) if plan and plan.units else EMPTY
    text = safe(f"{arrow} {draft.side} {size} {pair(draft.instrument)}")
    if plan is None or context is None:
        return ((text, role),)
    if draft.kind == "MARKET":
        return ((text, role), (" ", role), ("at market", "bright"))
    at = price(shown_number(plan.levels.entry), context.rules.price_precision)
    return ((text, role), (" ", role), (safe(f"{KIND_WORDS[draft.kind]} {at}"), "bright"))


def quote_line(context: TradingContext) -> TextLine:
    """Return bid, ask, spread and the age of the price."""
    digits = context.rules.price_precision
    spread = money((context.ask - context.bid) / context.rules.pip, 1)
    old = context.age > FRESH
    return (
        ("bid ", "muted"),
        (price(context.bid, digits), "bid"),
        ("  ask ", "muted"),
        (price(context.ask, digits), "ask"),
        (safe(f"  {spread} pips"), "plain"),
        (safe(f"  {short_age(context.age)} old"), "warn" if old else "muted"),
    )


def field_lines(
    draft: Draft, plan: Plan, context: TradingContext, level_text: Printable = ""
) -> list[TextLine]:
    """Return the order type, and the fields with their prices or units; the active one with a text of its own."""
    lines: list[TextLine] = [choice_line(TICKET_CHOICES["next_kind"], KIND_WORDS[draft.kind])]
    for name in fields_of(draft, plan):
        if level_text and name == draft.active:
            lines.append((*_field_text(draft, name), (level_text, "muted")))
        else:
            value = _field_value_text(draft, name, plan, context)
            lines.append(field_line(draft, name, value))
    if any(draft.entry(name).unit == "ATR" for name in fields_of(draft, plan)):
        lines.append(range_line(context))
    return lines


def choice_line(choice: Field, value: str, label: str = "") -> TextLine:
    """Return what a key turns to its next value, beside its own label or another one."""
    return (
        (safe(f"{choice.key} "), "bright"),
        (safe(f"{label or choice.label:<{LABEL_WIDTH}}"), "muted"),
        (safe(f" {value}"), "plain"),
    )


def choices_line(choices: Iterable[tuple[str, str]]) -> TextLine:
    """Return keys on one line, each with what it chooses."""
    line: list[Words] = []
    for key, meaning in choices:
        line.extend(((safe(key), "bright"), (safe(f" {meaning}   "), "muted")))
    return line


def labelled(choices: Mapping[str, Field]) -> list[tuple[str, str]]:
    """Return the keys of choices, each with its label."""
    return [(each.key, each.label) for each in choices.values()]


def range_line(context: TradingContext) -> TextLine:
    """Return the size of one average true range, and its candles."""
    unit = context.average_range
    known = "" if unit is None else f"1 ATR = {money(unit / context.rules.pip, 1)} pips, "
    words = f"{known}{average_range.NAME}{'' if known else ' is not known'}"
    return choice_line(TICKET_CHOICES["count_in_atr"], words)


def field_line(draft: Draft, name: FieldName, meaning: Printable) -> TextLine:
    """Return a field that digits fill; the active one is a solid block."""
    reading = draft.reading(name)
    if meaning is NOT_KNOWN:
        return (*_field_text(draft, name), (NOT_KNOWN, "danger"))
    if isinstance(reading, UnreadableText):
        is_number = reading.reason == NOT_ABOVE_ZERO
        return (*_field_text(draft, name), (TOO_SMALL if is_number else CANNOT_BE_READ, "danger"))
    return (*_field_text(draft, name), (meaning, "plain"))


def _field_text(draft: Draft, name: FieldName) -> TextLine:
    entry = draft.entry(name)
    return number_field(
        TICKET_FIELDS[name].key,
        name,
        shown_digits(entry.text),
        entry.unit,
        active=draft.active == name,
    )


def number_field(
    key: str, label: str, text: str, unit: Unit | Literal[""], *, active: bool
) -> TextLine:
    """Return key, label, text and unit of a field that digits fill; the active one is a solid block."""
    name = UNIT_NAMES.get(unit, unit) if unit else ""
    return (
        (safe(f"{key} "), "bright"),
        (safe(f"{label:<{LABEL_WIDTH}}"), "focus" if active else "muted"),
        (safe(f" {_tail(text):>{FIELD_WIDTH}} "), ACTIVE_FIELD if active else "plain"),
        (safe(f" {name:<{UNIT_WIDTH}} "), "muted"),
    )


def _tail(text: str) -> str:
    """Return the end of a name that is longer than its field; a number is whole."""
    is_long_name = text.startswith("@") and len(text) > FIELD_WIDTH
    return f"…{text[1 - FIELD_WIDTH :]}" if is_long_name else text


def shown_digits(text: str) -> str:
    """Return typed digits, thousands grouped where there are only digits."""
    return f"{int(text):,}" if text.isdecimal() else text.replace("-", "−")


def _field_value_text(
    draft: Draft, name: FieldName, plan: Plan, context: TradingContext
) -> Printable:
    """Return the price or units of a field, or that its unit is not known."""
    unknown = isinstance(field_reading(draft, name, plan), UnreadableText)
    if unknown and isinstance(draft.reading(name), Decimal):
        return NOT_KNOWN
    return meaning_of(draft, name, plan, context)


def meaning_of(draft: Draft, name: FieldName, plan: Plan, context: TradingContext) -> Printable:
    """Return the price, distance or units that a field means at this price."""
    digits, levels = context.rules.price_precision, plan.levels
    match name:
        case "size":
            bound = f" by {plan.bound_by}" if plan.bound_by else ""
            return safe(f"= {units(plan.units)}{bound}{_size_text(draft, context)}")
        case "price":
            return _entry_text(draft, levels.entry, context)
        case "stop":
            start = plan.average if draft.stop_counts_from_fill else levels.entry
            stop = _level(draft.reading(name), levels.stop, start, context)
            sizes = draft.size.unit in BY_THE_STOP
            unsent = "sizes it, is not sent" if sizes else "cannot be sent"
            return unsent if plan.reduces else stop
        case "target":
            return _level(draft.reading(name), levels.target, levels.entry, context)
        case "trail":
            trail = shown_number(levels.trail)
            return "" if trail is None else safe(f"= {_trail_text(draft, trail, context)} behind")
        case "bound":
            worst = shown_number(levels.bound)
            return "none" if worst is None else safe(f"worst price {price(worst, digits)}")


def _size_text(draft: Draft, context: TradingContext) -> str:
    """Return what a size counts in where its unit does not say it."""
    match draft.size.unit:
        case "loss":
            return f", {context.funds.currency} at the stop"
        case "value":
            return f", worth in {context.funds.currency}"
        case "marg %":
            return ", of free margin"
        case _:
            return ""


def _trail_text(draft: Draft, trail: Decimal, context: TradingContext) -> str:
    if draft.trail.unit == "ATR":
        return _pips_text(trail, context)
    return price(trail, context.rules.price_precision)


def _entry_text(draft: Draft, entry: Reading, context: TradingContext) -> Printable:
    if not isinstance(entry, Decimal):
        return ""
    touch = context.ask if draft.direction > 0 else context.bid
    distance_pips = _pips_text(abs(entry - touch), context)
    ranges, day = "", context.daily_range
    if day and abs(entry - touch) >= day:
        ranges = f", {money(abs(entry - touch) / day, 1)} average daily ranges"
    if draft.price.unit == "price":
        return safe(f"{distance_pips} away{ranges}")
    return safe(f"= {price(entry, context.rules.price_precision)} {distance_pips}{ranges}")


def _level(typed: Reading, level: Reading, entry: Reading, context: TradingContext) -> Printable:
    if typed is None:
        return "none" if isinstance(entry, Decimal) else ""
    if not isinstance(level, Decimal):
        return ""
    if not isinstance(entry, Decimal):
        return safe(f"= {price(level, context.rules.price_precision)}")
    distance_pips = _pips_text(abs(level - entry), context)
    return safe(f"= {price(level, context.rules.price_precision)} {distance_pips}")


def _pips_text(distance: Decimal, context: TradingContext) -> str:
    return f"{money(distance / context.rules.pip, 1)} pips"
