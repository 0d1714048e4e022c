"""Refusals for the rarely changed members of a ticket: guaranteed stop, position fill, expiry, tag and comment.

Each names the field first, and the key that corrects it last.
"""

from datetime import tzinfo
from decimal import Decimal

from keydesk.calc.orders.expiry_time import HOW, expiry_ns
from keydesk.calc.orders.ticket import Plan
from keydesk.calc.orders.ticket_draft import (
    MAX_TEXT,
    TEXT_KEYS,
    TYPED_EXPIRY,
    Draft,
    TextName,
    UnreadableText,
)
from keydesk.calc.risk.trading_context import TradingContext
from keydesk.text.format import money, pair, units

LABELS: tuple[TextName, ...] = ("tag", "comment")


def member_refusals(
    draft: Draft, plan: Plan, context: TradingContext, wall_ns: int, zone: tzinfo
) -> list[str]:
    """Return a refusal for each member that cannot be sent as it is."""
    return [
        *_expiry_refusals(draft, wall_ns, zone),
        *_text_refusals(draft),
        *_fill_refusals(draft, plan, context),
        *(() if plan.reduces else guarantee_refusals(draft, plan, context)),
    ]


def _expiry_refusals(draft: Draft, wall_ns: int, zone: tzinfo) -> list[str]:
    if draft.expiry != TYPED_EXPIRY:
        return []
    members, key = draft.members, TEXT_KEYS["until"]
    expiry = expiry_ns(members.until, members.until_typed_ns, wall_ns, zone)
    if expiry is None:
        return [f"expiry: it is missing. {key}, then {HOW}; e takes another"]
    if isinstance(expiry, UnreadableText):
        return [f"expiry: {expiry.text} {expiry.reason}. {key} retypes it"]
    return []


def _text_refusals(draft: Draft) -> list[str]:
    return [
        f"{name}: it is longer than {MAX_TEXT} characters. {TEXT_KEYS[name]} Backspace shortens it"
        for name in LABELS
        if len(draft.members.text(name)) > MAX_TEXT
    ]


def _fill_refusals(draft: Draft, plan: Plan, context: TradingContext) -> list[str]:
    fill, name = draft.members.fill, pair(context.rules.name)
    effect, funds = plan.effect, context.funds
    opposite = effect.short_before if draft.direction > 0 else effect.long_before
    if fill == "OPEN_ONLY" and opposite and not funds.hedging:
        held = "short" if draft.direction > 0 else "long"
        return [f"fill: opens only, but {name} is held {held}: l takes another fill"]
    if fill == "REDUCE_ONLY" and draft.kind == "MARKET" and effect.left_over:
        return [f"fill: reduces only, and {units(opposite)} {name} can be reduced: l or u"]
    return []


def guarantee_refusals(draft: Draft, plan: Plan, context: TradingContext) -> list[str]:
    """Return why a guaranteed stop cannot be sent, or why a usual stop cannot."""
    rules, stop = context.rules, plan.levels.stop
    name = pair(rules.name)
    if not draft.members.guaranteed:
        needed = rules.guarantee == "REQUIRED"
        return [f"guarantee: {name} takes guaranteed stops only: w turns it on"] if needed else []
    if rules.guarantee == "DISABLED":
        return [f"guarantee: {name} takes no guaranteed stop: w turns it off"]
    if draft.trail.text:
        return [
            "trail: no trailing stop goes with a guaranteed one: r Backspace empties it, or w turns the guarantee off"
        ]
    if stop is None:
        return ["guarantee: it needs a stop: s, then digits, or w turns it off"]
    return [*_too_near(draft, plan, context), *_hedged(draft, plan, context)]


def _too_near(draft: Draft, plan: Plan, context: TradingContext) -> list[str]:
    """The broker measures from the price at which the trade would close."""
    stop, entry, rules = plan.levels.stop, plan.levels.entry, context.rules
    if not isinstance(stop, Decimal) or not isinstance(entry, Decimal):
        return []
    away = draft.direction * (entry - stop) - plan.spread
    if away >= rules.guarantee_distance:
        return []
    least = money((rules.guarantee_distance + plan.spread) / rules.pip, 1)
    return [f"stop: a guaranteed one must be {least} pips from the entry at least: s, then digits"]


def _hedged(draft: Draft, plan: Plan, context: TradingContext) -> list[str]:
    """The broker looks at the other side as it is before the fill, also where the fill closes it."""
    effect = plan.effect
    opposite = effect.short_before if draft.direction > 0 else effect.long_before
    if not opposite:
        return []
    name = pair(context.rules.name)
    return [f"guarantee: none while {name} is held the other way: w turns it off"]
