"""Refusals for the rarely changed members of a ticket: guaranteed stop, position fill, expiry, tag and comment.

Each names the field first, and the key that corrects it last.
"""

from collections.abc import Mapping, Sequence
from datetime import tzinfo
from decimal import Decimal

from keydesk.calc.orders.field_draft import UnreadableText
from keydesk.calc.orders.fields import TICKET_FIELDS
from keydesk.calc.orders.lifetime import HOW, TYPED_EXPIRY, end_refusals, expiry_ns
from keydesk.calc.orders.order_options import LEVELS, MAX_TEXT, OPTIONS, TICKET_TEXTS, DependentName
from keydesk.calc.orders.ticket import Plan, without_a_trade
from keydesk.calc.orders.ticket_draft import Draft
from keydesk.calc.risk.trading_context import TradingContext
from keydesk.text.format import money, pair, units

LINE_WORDS: Mapping[DependentName, str] = {"stop": "sl", "target": "tp", "trail": "tr"}
"""How an order that is typed on a line names them."""


def member_refusals(
    draft: Draft, plan: Plan, context: TradingContext, wall_ns: int, zone: tzinfo
) -> list[str]:
    """Return a refusal for each member that cannot be sent as it is."""
    return [
        *_expiry_refusals(draft, wall_ns, zone),
        *_text_refusals(draft),
        *_trade_id_refusals(draft, plan),
        *_bracket_refusals(draft, plan),
        *_end_refusals(draft, plan, wall_ns, zone),
        *_fill_refusals(draft, plan, context),
        *(() if plan.reduces else guarantee_refusals(draft, plan, context)),
    ]


def _expiry_refusals(draft: Draft, wall_ns: int, zone: tzinfo) -> list[str]:
    if draft.expiry != TYPED_EXPIRY:
        return []
    members, key = draft.members, TICKET_TEXTS["until"].key
    expiry = expiry_ns(members.gtd_text, members.gtd_typed_ns, wall_ns, zone)
    if expiry is None:
        return [f"expiry: it is missing. {key}, then {HOW}; e takes another"]
    if isinstance(expiry, UnreadableText):
        return [f"expiry: {expiry.text} {expiry.reason}. {key} retypes it"]
    return []


def set_by_the_fill(draft: Draft, plan: Plan) -> tuple[DependentName, ...]:
    """Return the dependent orders that the fill sets."""
    if plan.reduces:
        return ()
    levels: Sequence[DependentName] = LEVELS
    return tuple(name for name in levels if draft.entry(name).text)


def _end_refusals(draft: Draft, plan: Plan, wall_ns: int, zone: tzinfo) -> list[str]:
    """Refuse an end of stop, target or trailing stop that cannot be read, or is past."""
    return [
        refusal
        for name in set_by_the_fill(draft, plan)
        for refusal in end_refusals(
            draft.members.lifetime(name),
            f"end of the {name}",
            f"{TICKET_FIELDS[name].key} {TICKET_TEXTS['ends'].key}",
            wall_ns,
            zone,
        )
    ]


def member_warnings(draft: Draft, plan: Plan) -> list[str]:
    """Warn of a stop that ends before its trade does, and of a level whose end may come before the fill."""
    set_ = set_by_the_fill(draft, plan)
    levels: list[DependentName] = [name for name in set_ if draft.members.lifetime(name).ends]
    stops = [name for name in levels if name != "target"]
    found = [f"The {stops[0]} ends by time: after that nothing limits the loss"] if stops else []
    at_an_instant = [name for name in levels if draft.members.lifetime(name).ends_at_an_instant]
    if at_an_instant and draft.kind != "MARKET":
        late = f"A fill after the end of the {at_an_instant[0]} is cancelled"
        found.append(f"{late}: it counts from now, not from the fill")
    return found


def _bracket_refusals(draft: Draft, plan: Plan) -> list[str]:
    """Refuse a typed stop, target or trailing stop of an order that only reduces: it would not be sent."""
    return [
        f"{name}: the order only reduces, no trade is opened that has one. "
        f"{TICKET_FIELDS[name].key} Backspace empties it; on a line, leave {LINE_WORDS[name]} out"
        for name in without_a_trade(draft, plan)
    ]


def _trade_id_refusals(draft: Draft, plan: Plan) -> list[str]:
    """Refuse an id where no trade is opened, or more than one."""
    if not draft.members.trade_id:
        return []
    key = TICKET_TEXTS["trade_id"].key
    if plan.reduces:
        return [f"trade id: no trade is opened. {key} Backspace empties it"]
    if draft.members.scale:
        return [
            f"trade id: a scale-out opens several trades. {key} Backspace empties it, or k a tag"
        ]
    return []


def _text_refusals(draft: Draft) -> list[str]:
    return [
        f"{option.field.label}: it is longer than {MAX_TEXT} characters. {option.field.key} Backspace shortens it"
        for name, option in OPTIONS.items()
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
    distance = draft.direction * (entry - stop) - plan.spread
    if distance >= rules.guarantee_distance:
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
