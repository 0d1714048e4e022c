"""The fields of a ticket in other units, and the step of a nudge: a size or a level keeps its meaning."""

from decimal import ROUND_DOWN, Decimal

from msgspec.structs import replace

from keydesk.calc.orders import average_range
from keydesk.calc.orders.field_draft import Entry, UnreadableText, shown_number
from keydesk.calc.orders.fields import FieldName, Unit
from keydesk.calc.orders.ticket import Plan
from keydesk.calc.orders.ticket_draft import Draft
from keydesk.calc.orders.ticket_levels import levels_of
from keydesk.calc.risk.trading_context import TradingContext
from keydesk_client.arithmetic.constants import PERCENT

HUNDREDTH = Decimal("0.01")
TENTH = Decimal("0.1")


def size_in_unit(unit: Unit, plan: Plan, context: TradingContext) -> Entry | None:
    """Return the size of a plan counted in a unit, rounded down; None where there is nothing to count."""
    funds = context.funds
    match unit:
        case "loss":
            value = plan.risk
        case "value":
            value = plan.notional
        case "marg %":
            value = (
                plan.margin / funds.margin_available * PERCENT if funds.margin_available else None
            )
        case "units":
            return Entry(f"{plan.units:f}", "units") if plan.units else None
        case _:
            value = None
    rounded = None if value is None else value.quantize(HUNDREDTH, rounding=ROUND_DOWN)
    return Entry(f"{rounded:f}", unit) if rounded else None


def level_in_unit(
    draft: Draft, name: FieldName, unit: Unit, context: TradingContext
) -> Entry | None:
    """Return a price, level or distance in another unit; None where its level is not known."""
    typed = draft.entry(name)
    if isinstance(typed.value, UnreadableText) or typed.value is None:
        return replace(typed, unit=unit)  # empty, or text that stays for correction
    levels = levels_of(draft, context)
    of_field = {
        "price": levels.entry,
        "stop": levels.stop,
        "target": levels.target,
        "trail": levels.trail,
    }
    level, entry = shown_number(of_field.get(name)), shown_number(levels.entry)
    empty = Entry("", unit)
    if level is None or entry is None:
        return None
    if unit == "price":
        return empty.set(level)
    if unit in {"pips", "ATR"}:
        origin = touch_of(draft, context) if name == "price" else entry
        length = level if name == "trail" else abs(level - origin)
        counted = average_range.in_unit(length, unit, context)
        return None if counted is None else empty.set(counted)
    stop = shown_number(levels.stop)
    if stop is None or stop == entry:
        return None
    return empty.set(((level - entry) / (entry - stop)).quantize(HUNDREDTH))


def touch_of(draft: Draft, context: TradingContext) -> Decimal:
    """Return the price at which the side deals at market."""
    return context.ask if draft.direction > 0 else context.bid


def step_of(entry: Entry, context: TradingContext) -> Decimal:
    """Return the step of one nudge in a field that holds no price."""
    match entry.unit:
        case "units":
            return max(context.rules.minimum_units, _second_digit(entry))
        case "loss" | "value":
            return max(Decimal(1), _second_digit(entry))
        case "risk %" | "R" | "ATR":
            return TENTH
        case _:
            return Decimal(1)


def _second_digit(entry: Entry) -> Decimal:
    digits = len(str(int(shown_number(entry.value) or 1)))
    return Decimal(10) ** max(0, digits - 2)
