"""Divide a ticket into the orders of its scale-out."""

from decimal import Decimal

from keydesk.calc.orders.plans.scale_out import (
    NO_SCALE_OUT,
    OrderPart,
    ScaleOut,
    parse_scale_out,
    shared_units,
)
from keydesk.calc.orders.ticket import Plan
from keydesk.calc.orders.ticket_draft import Draft
from keydesk.calc.risk.trading_context import TradingContext
from keydesk.text.format import unit_count
from keydesk_client.arithmetic.profit import round_price


def scale_out_of(draft: Draft) -> ScaleOut:
    """Return the scale-out of a ticket, none while it cannot be read."""
    scale_out = parse_scale_out(draft.members.scale)
    return NO_SCALE_OUT if isinstance(scale_out, str) else scale_out


def parts_of(draft: Draft, plan: Plan, context: TradingContext) -> tuple[OrderPart, ...] | str:
    """Return the orders of a ticket, () where it has no scale-out or only reduces, or why it cannot be divided."""
    scale_out = NO_SCALE_OUT if plan.reduces else parse_scale_out(draft.members.scale)
    if isinstance(scale_out, str):
        return f"scale-out: {scale_out}. / retypes it"
    if not scale_out.shares:
        return ()
    if problem := _problem(draft, plan):
        return problem
    entry, trail, rules = plan.average, plan.levels.trail, context.rules
    if plan.distance is None or entry is None:
        return "stop: the scale-out counts in R: s, then digits"
    sizes = shared_units(plan.units, scale_out.shares, rules.units_precision)
    if min(sizes) < rules.minimum_units:
        return f"units: the least of {len(sizes)} parts would be below {rules.minimum_units:f}"
    direction, digits = draft.direction, rules.price_precision
    targets = [
        round_price(entry + direction * times * plan.distance, digits)
        for times in scale_out.targets_r
    ]
    usual = trail if isinstance(trail, Decimal) else None
    rest = usual or max(round_price(plan.distance, digits), rules.minimum_trail)
    won = [
        size * direction * (target - entry) * context.factors.gain
        for size, target in zip(sizes, targets, strict=False)
    ]
    return (
        *(
            OrderPart(direction * size, target, usual, gain)
            for size, target, gain in zip(sizes, targets, won, strict=False)
        ),
        OrderPart(direction * sizes[-1], None, rest),
    )


def _problem(draft: Draft, plan: Plan) -> str:
    """Return why a ticket cannot have a scale-out, "" where it can."""
    if plan.distance is not None and draft.target.text:
        return "target: the scale-out has its own ones: t, Backspace"
    if plan.distance is not None and plan.effect.reduced:
        closed = unit_count(plan.effect.reduced)
        return f"The scale-out opens several trades, and this closes {closed} first"
    return ""
