"""Reasons to refuse a ticket, and warnings that require a confirmation letter instead of `y`.

A refusal names the reason and the remedy. Exits are not checked here.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, tzinfo
from decimal import Decimal

from msgspec import Struct

from keydesk.calc.market.price_age import FRESH, TOO_OLD_TO_OPEN
from keydesk.calc.market.sessions import closed_text
from keydesk.calc.orders.field_draft import Reading, UnreadableText, shown_number
from keydesk.calc.orders.fields import TICKET_FIELDS
from keydesk.calc.orders.limits import limit_refusals, limit_warnings
from keydesk.calc.orders.member_checks import member_refusals, member_warnings
from keydesk.calc.orders.ticket import Plan, room_left, unreadable_fields
from keydesk.calc.orders.ticket_draft import BY_THE_STOP, Draft
from keydesk.calc.orders.ticket_settings import Limits
from keydesk.calc.risk.financing import minutes_to_rollover, minutes_to_week_end
from keydesk.calc.risk.trading_context import NO_RISK, OpenRisk, TradingContext
from keydesk.text.format import counted, duration, money, pair, pip_count, price, unit_count, units
from keydesk.values import Command, CommandKind
from keydesk_client.arithmetic.margin import margin_cap
from keydesk_client.arithmetic.profit import whole_units

ENTRY_REACH = Decimal("0.05")  # of the price: digits typed wrong, or pips for a price
LEVEL_REACH = Decimal("0.25")
OLD = "The price is {} old and"
DUPLICATE_WITHIN = 10.0  # seconds
UNUSUAL = 5  # times the usual size
COMMAND_NAMES: Mapping[CommandKind, str] = {
    "open": "An order",
    "replace": "The change of an order",
    "cancel": "A cancel",
    "close trade": "A close",
    "close position": "A close of the position",
    "protection": "A change of stop or target",
}


class CheckContext(Struct, frozen=True):
    """Conditions beside ticket and price that a verdict depends on."""

    wall_ns: int
    rtt_ms: float | None = None
    sent_like_this: float | None = None  # seconds since the same order was sent
    in_flight: tuple[Command, ...] = ()  # commands that may still change this instrument
    quote_trouble: str = ""  # why an old price could not be read again
    waits: str = ""  # what every new order waits for, in a sentence
    line: Sequence[str] = ()  # what is wrong with the line to the broker, in sentences
    open_risk: OpenRisk = NO_RISK
    zone: tzinfo = UTC  # of the trader, in which an expiry is typed
    usual_size: Decimal | None = None  # of the trader's trades in this instrument


class TicketCheck(Struct, frozen=True):
    """Reasons to refuse, and warnings that require a letter."""

    refusals: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def check_ticket(
    draft: Draft, plan: Plan, context: TradingContext, limits: Limits, check_context: CheckContext
) -> TicketCheck:
    """Return all refusals and warnings of a plan."""
    at_once = _at_once_warnings(draft, plan, context)
    unusable = [
        *field_refusals(draft, plan, context),
        *member_refusals(draft, plan, context, check_context.wall_ns, check_context.zone),
    ]
    if unusable:
        return TicketCheck(tuple(unusable))
    if plan.reduces:  # an exit: no limit, old price or other order may delay it
        refusals = [*_no_size_refusals(draft, plan), *_entry_refusals(plan, context)]
        return TicketCheck(tuple(refusals), (*at_once, *_moment_warnings(check_context, limits)))
    refusals = [
        *_price_refusals(draft, plan, context, check_context),
        *_size_refusals(draft, plan, context),
        *_level_refusals(draft, plan, context),
        *limit_refusals(plan, context, limits, check_context.open_risk),
    ]
    refusals += [check_context.waits] if check_context.waits else []
    refusals += under_way_refusals(draft.instrument, check_context.in_flight)
    warnings = [
        *check_context.line,
        *_unread_warnings(check_context.open_risk),
        *([] if plan.distance is not None else ["No stop: the loss has no limit"]),
        *limit_warnings(plan, context, limits),
        *member_warnings(draft, plan),
        *_unusual_size(plan, check_context.usual_size),
        *at_once,
        *_moment_warnings(check_context, limits),
        *_week_end_warnings(check_context),
    ]
    return TicketCheck(tuple(refusals), tuple(warnings))


def _unread_warnings(risk: OpenRisk) -> list[str]:
    """Warn that trades or orders of the account could not be read: position, margin and risk leave them out."""
    if not risk.unread:
        return []
    what = counted(risk.unread, "trade or order", "trades or orders")
    return [f"{what} could not be read: position, margin and risk are not known"]


def under_way_refusals(instrument: str, in_flight: Iterable[Command]) -> list[str]:
    """Refuse an order while commands in its instrument are sent or looked up."""
    waiting = [each for each in in_flight if each.state != "unconfirmed"]
    if not waiting:
        return []
    first = min(waiting, key=lambda each: each.instrument is None)
    if first.instrument is None:
        return [f"{first.text} is still under way, its instrument is not known: it may be this one"]
    return [f"{COMMAND_NAMES[first.kind]} in {pair(instrument)} is still under way"]


def unconfirmed_warnings(in_flight: Iterable[Command]) -> list[str]:
    """Return warnings of commands that were not found at the broker and may still take effect."""
    lost = [each for each in in_flight if each.state == "unconfirmed"]
    if not lost:
        return []
    first = min(lost, key=lambda each: each.instrument is None)
    more = f" (and {len(lost) - 1} more)" if len(lost) > 1 else ""
    if first.instrument is None:
        return [f"UNCONFIRMED {first.text}{more}: its instrument is not known, it may be this one"]
    return [f"UNCONFIRMED {first.text}{more}: it may still take effect, and this order as well"]


def old_price_text(context: TradingContext, trouble: str) -> str:
    """Return why this price is too old to open on, "" if it is fresh or was read again."""
    if context.age > FRESH and trouble:
        return (
            f"{OLD.format(duration(context.age))} could not be read again ({trouble}); exits work"
        )
    if min(context.age, context.silent) > TOO_OLD_TO_OPEN:
        return f"{OLD.format(duration(context.age))} no other comes; exits work"
    return ""


def _price_refusals(
    draft: Draft, plan: Plan, context: TradingContext, check_context: CheckContext
) -> list[str]:
    reasons = []
    if draft.kind == "MARKET" and not context.tradeable:
        reasons.append(f"Halted: {closed_text(check_context.wall_ns)}")
    old = old_price_text(context, check_context.quote_trouble)
    if old:
        reasons.append(old)
    return [*reasons, *_entry_refusals(plan, context)]


def field_refusals(draft: Draft, plan: Plan, context: TradingContext) -> list[str]:
    """Return a refusal for each field whose text cannot be sent, with the remedy."""
    reasons = [
        unreadable_text(name, text, TICKET_FIELDS[name].key)
        for name, text in unreadable_fields(draft, plan)
    ]
    size, precision = draft.reading("size"), context.rules.units_precision
    if size is None:
        reasons.append("The size is missing: u, then digits")
    elif isinstance(size, Decimal) and draft.size.unit == "units" and _is_finer(size, precision):
        reasons.append(_too_fine(size, precision, context))
    return reasons


def unreadable_text(name: str, text: UnreadableText, key: str) -> str:
    """Return the refusal for a field's text: field, text, reason, and the keys that correct it."""
    return f"{name}: {text.text} {text.reason}. {key} and digits set it, {key} Backspace empties it"


def _is_finer(size: Decimal, precision: int) -> bool:
    return whole_units(size, precision) != size


def _too_fine(size: Decimal, precision: int, context: TradingContext) -> str:
    decimals = f"{precision} decimals" if precision > 1 else "1 decimal"
    most = f"units with at most {decimals}" if precision else "whole units only"
    return f"size: {size:f} cannot be sent, {pair(context.rules.name)} takes {most}: u, then digits"


def _entry_refusals(plan: Plan, context: TradingContext) -> list[str]:
    entry = plan.levels.entry
    if not isinstance(entry, Decimal):
        return ["The price is missing: p, then digits"]
    if not is_within(entry, context.mid, ENTRY_REACH):
        return [f"{entry} is more than 5 % from the market: pips typed as a price?"]
    return []


def _no_size_refusals(draft: Draft, plan: Plan) -> list[str]:
    """Refuse a size that comes to nothing: it is computed from a stop or an amount that does not give a unit."""
    if plan.units:
        return []
    if draft.size.unit in BY_THE_STOP:
        return ["size: sizing by risk needs a stop: s, then digits, or m counts in units"]
    return ["size: it is less than one unit: u, then digits"]


def _size_refusals(draft: Draft, plan: Plan, context: TradingContext) -> list[str]:
    rules = context.rules
    if draft.size.unit in BY_THE_STOP and plan.distance is None:
        return ["Sizing by risk needs a stop: s, then digits"]
    if plan.units < rules.minimum_units:
        return [_too_small(plan, context)]
    reasons = []
    room = room_left(draft, context)
    if plan.units > rules.maximum_order_units:
        reasons.append(f"Above the maximum order size, {units(rules.maximum_order_units)}")
    if room is not None and plan.units > room:
        reasons.append(
            f"Above what the maximum position still allows, {units(max(room, Decimal(0)))}"
        )
    if plan.margin > context.funds.margin_available:
        reasons.append(_too_much_margin(plan, context))
    return reasons


def _unusual_size(plan: Plan, usual: Decimal | None) -> list[str]:
    if not usual or plan.units <= UNUSUAL * usual:
        return []
    return [f"{money(plan.units / usual, 0)} times your usual size here, {units(usual)}"]


def _too_small(plan: Plan, context: TradingContext) -> str:
    least = units(context.rules.minimum_units)
    if plan.minimum_risk is None or plan.minimum_risk <= 0:
        return f"Below the minimum order size, {least}"
    return (
        f"Too few units: the least, {least}, would risk "
        f"{money(plan.minimum_risk)} {context.funds.currency}"
    )


def _too_much_margin(plan: Plan, context: TradingContext) -> str:
    rate, value = context.rules.margin_rate, context.factors.value
    exact = margin_cap(context.funds.margin_available, rate, context.mid, value)
    most = whole_units(exact, context.rules.units_precision)
    return (
        f"Margin {money(plan.margin)} is over the {money(context.funds.margin_available)} "
        f"available: at most {unit_count(most)}"
    )


def _level_refusals(draft: Draft, plan: Plan, context: TradingContext) -> list[str]:
    levels, reasons = plan.levels, []
    if not isinstance(levels.entry, Decimal):
        return []
    for name, level, toward in (
        ("Stop", levels.stop, -draft.direction),
        ("Target", levels.target, draft.direction),
    ):
        if not isinstance(level, Decimal):
            continue
        if toward * (level - levels.entry) <= 0:
            side = "below" if toward < 0 else "above"
            reasons.append(f"{name} {level} must be {side} the entry {levels.entry}")
        elif level <= 0:
            reasons.append(f"{name} would lie at or below 0: type a smaller distance, or its price")
        elif is_absurd(level, context):
            reasons.append(f"{name} {level} is implausibly far: pips typed as a price?")
    if not reasons:
        reasons += _stop_in_spread(draft, plan, context)
    if isinstance(levels.target, UnreadableText):
        reasons.append("A target in R needs a stop: s, then digits")
    if isinstance(levels.trail, Decimal):
        reasons += trail_out_of_range(levels.trail, context)
    return reasons


def _stop_in_spread(draft: Draft, plan: Plan, context: TradingContext) -> list[str]:
    levels = plan.levels
    if not isinstance(levels.stop, Decimal) or not isinstance(levels.entry, Decimal):
        return []
    if draft.direction * (levels.entry - levels.stop) > plan.spread:
        return []
    spread = money(plan.spread / context.rules.pip, 1)
    return [f"The stop is inside the spread of {spread} pips: it would fire at once"]


def trail_out_of_range(trail: Decimal, context: TradingContext) -> list[str]:
    """Refuse a trailing distance that the broker does not take."""
    least, most, pip = context.rules.minimum_trail, context.rules.maximum_trail, context.rules.pip
    if trail < least:
        pips = pip_count((least / pip).normalize())
        return [f"Trailing distance below the broker's minimum, {pips}"]
    if most and trail > most:
        pips = pip_count((most / pip).normalize())
        return [f"Trailing distance above the broker's maximum, {pips}"]
    return []


def _at_once_warnings(draft: Draft, plan: Plan, context: TradingContext) -> list[str]:
    if not fills_at_once(draft, plan, context):
        return []
    at = price(shown_number(plan.levels.entry), context.rules.price_precision)
    if draft.kind == "STOP":
        return [f"The market is past {at} already: this stop fills at once"]
    return [f"MARKETABLE: a limit at {at} fills at once"]


def fills_at_once(draft: Draft, plan: Plan, context: TradingContext) -> bool:
    """Return whether a limit or stop order would fill at once."""
    entry = plan.levels.entry
    if draft.kind not in {"LIMIT", "STOP"} or not isinstance(entry, Decimal):
        return False
    touch = context.ask if draft.direction > 0 else context.bid
    beyond = draft.direction * (entry - touch)
    return beyond >= 0 if draft.kind == "LIMIT" else beyond <= 0


def _moment_warnings(check_context: CheckContext, limits: Limits) -> list[str]:
    warnings = []
    since = check_context.sent_like_this
    if since is not None and since < DUPLICATE_WITHIN:
        warnings.append(f"The same order was sent {since:.0f} s ago")
    if check_context.rtt_ms is not None and check_context.rtt_ms > limits.slow_ms:
        warnings.append(f"LAG: the broker answers in {check_context.rtt_ms:.0f} ms")
    warnings += unconfirmed_warnings(check_context.in_flight)
    minutes = minutes_to_rollover(check_context.wall_ns)
    if minutes is not None:
        warnings.append(f"Rollover in {minutes} min: spreads widen, financing is charged")
    return warnings


def _week_end_warnings(check_context: CheckContext) -> list[str]:
    minutes = minutes_to_week_end(check_context.wall_ns)
    if minutes is None:
        return []
    return [f"Weekend in {minutes} min: Sunday's first price may be beyond the stop"]


def is_absurd(level: Reading, context: TradingContext) -> bool:
    """Return whether a level is so far from the market that nothing is reckoned from it: pips typed as a price."""
    return isinstance(level, Decimal) and not is_within(level, context.mid, LEVEL_REACH)


def is_within(value: Decimal, middle: Decimal, reach: Decimal) -> bool:
    """Return whether a value is at most that share of the middle away from it."""
    return abs(value - middle) <= middle * reach
