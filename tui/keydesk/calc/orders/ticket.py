"""Compute the plan of a ticket from its draft and the trading context: levels, units, risk and margin.

The plan is computed again at every key and frame; the order that is sent is the plan on the screen.
"""

from collections.abc import Sequence
from decimal import Decimal

from msgspec import Struct
from msgspec.structs import replace

from keydesk.calc.orders.field_draft import Reading, UnreadableText
from keydesk.calc.orders.fields import FieldName
from keydesk.calc.orders.order_options import LEVELS, DependentName, Fill
from keydesk.calc.orders.position_effect import PositionEffect, effect_of, realized
from keydesk.calc.orders.ticket_draft import BY_THE_STOP, Draft
from keydesk.calc.orders.ticket_levels import (
    Levels,
    at_average,
    deep_cost,
    fill_price,
    levels_of,
    stop_distance,
)
from keydesk.calc.orders.ticket_settings import Limits
from keydesk.calc.risk.sizing import CapName, Caps, size
from keydesk.calc.risk.trading_context import TradingContext
from keydesk_client.arithmetic.constants import PERCENT, ZERO
from keydesk_client.arithmetic.depth import units_for_risk_through
from keydesk_client.arithmetic.margin import (
    closeout_percent,
    margin_cap,
    position_units,
    required_margin,
)
from keydesk_client.arithmetic.profit import notional, pip_value, spread_cost


class Plan(Struct, frozen=True):
    """The effect of a ticket; money in home currency."""

    levels: Levels
    units: Decimal  # magnitude
    bound_by: CapName
    average: (
        Decimal | None
    )  # expected of the fill; beyond the first price level worse than the entry
    distance: Decimal | None  # from that to the nearer of stop and trailing stop
    pip_value: Decimal
    notional: Decimal
    margin: Decimal  # what this ticket adds, negative when it frees
    margin_left: Decimal
    closeout_after: Decimal  # fraction, 1 is closeout
    position_before: Decimal
    position_after: Decimal
    risk: Decimal | None
    reward: Decimal | None
    spread: Decimal  # price units
    minimum_risk: Decimal | None  # what the least size would risk
    effect: PositionEffect
    realized: Decimal | None  # of the units that it reduces; None where the trades are not known
    premium: Decimal  # home currency, charged if the guaranteed stop fills
    reduces: bool = False  # it opens nothing, so it has no stop or target of its own

    @property
    def is_deep(self) -> bool:
        """Whether the order is larger than what is on offer at the first price level."""
        return self.average is not None and self.average != self.levels.entry

    @property
    def ratio(self) -> Decimal | None:
        """Reward over risk."""
        if self.risk is None or self.reward is None or self.risk <= 0:
            return None
        return self.reward / self.risk


def work_out(draft: Draft, context: TradingContext, limits: Limits) -> Plan:
    """Compute the plan of a ticket at the present price."""
    levels = levels_of(draft, context)
    spread = context.ask - context.bid
    sized = size(
        _wanted_units(draft, context, stop_distance(draft, levels, spread)),
        context.rules.units_precision,
        _caps(draft, context, limits),
    )
    units, factors = sized.units, context.factors
    signed, fill = draft.direction * units, draft.members.fill
    effect = effect_of(context.funds, signed, fill)
    average = fill_price(draft, levels, context, effect.opened + effect.reduced)
    depth_cost = deep_cost(draft, levels, average)
    levels = at_average(draft, levels, average, context)
    distance = stop_distance(draft, levels, spread + depth_cost, average)
    reduces = effect.only_reduces or fill == "REDUCE_ONLY"
    if reduces:
        levels, distance = replace(levels, stop=None, target=None, trail=None), None
    added = margin_added(context, signed, fill)
    premium = premium_of(draft, context)
    return Plan(
        levels=levels,
        units=units,
        bound_by=sized.bound_by,
        average=average,
        distance=distance,
        pip_value=pip_value(units, context.rules.pip, factors),
        notional=notional(units, context.mid, factors),
        margin=added,
        margin_left=context.funds.margin_available
        - added
        - spread_cost(effect.opened, context.bid, context.ask + depth_cost, factors.loss)
        - _lost_in_the_depth(draft, context, effect.reduced, depth_cost),
        closeout_after=closeout_percent(
            context.funds.margin_used + added,
            mid_nav_after(context, units) - units * depth_cost * factors.loss,
        ),
        position_before=context.funds.net_units,
        position_after=effect.long_after - effect.short_after,
        risk=None if distance is None else effect.opened * (distance + premium) * factors.loss,
        reward=_reward(draft, levels.target, average, effect.opened, factors.gain),
        spread=spread,
        minimum_risk=None
        if distance is None
        else context.rules.minimum_units * distance * factors.loss,
        effect=effect,
        realized=None if average is None else realized(context, signed, effect.reduced, average),
        premium=effect.opened * premium * factors.loss,
        reduces=reduces,
    )


def _lost_in_the_depth(
    draft: Draft, context: TradingContext, reduced: Decimal, depth_cost: Decimal
) -> Decimal:
    """Return how much less the reduced units make at the average price than at the first one, at which they were valued."""
    if not depth_cost or not reduced:
        return ZERO
    touch = context.ask if draft.direction > 0 else context.bid
    first, deep = (
        realized(context, draft.direction * reduced, reduced, price)
        for price in (touch, touch + draft.direction * depth_cost)
    )
    if first is None or deep is None:
        return reduced * depth_cost * context.factors.loss
    return first - deep


def premium_of(draft: Draft, context: TradingContext) -> Decimal:
    """Return the premium of a guaranteed stop in price units, 0 for a usual stop."""
    return context.rules.guarantee_premium if draft.members.guaranteed else ZERO


def fields_of(draft: Draft, plan: Plan) -> Sequence[FieldName]:
    """Return the fields of the ticket; one that only reduces has no bracket, unless it is sized by it or was typed."""
    if not plan.reduces:
        return draft.fields
    sizing = {"stop"} if draft.size.unit in BY_THE_STOP else set()
    shown = {*sizing, *without_a_trade(draft, plan)}
    return [name for name in draft.fields if name not in LEVELS or name in shown]


def without_a_trade(draft: Draft, plan: Plan) -> Sequence[DependentName]:
    """Return the typed ones of stop, target and trailing stop where no trade is opened that they could be of."""
    if not plan.reduces:
        return ()
    sizing = {"stop"} if draft.size.unit in BY_THE_STOP else set()
    levels: list[DependentName] = [name for name in LEVELS if name not in sizing]
    return [name for name in levels if draft.entry(name).by_hand and draft.entry(name).text]


def unreadable_fields(draft: Draft, plan: Plan) -> Sequence[tuple[FieldName, UnreadableText]]:
    """Return the fields whose text cannot be read, or whose unit is not known."""
    unreadable: list[tuple[FieldName, UnreadableText]] = []
    for name in fields_of(draft, plan):
        reading = field_reading(draft, name, plan)
        if isinstance(reading, UnreadableText):
            unreadable.append((name, reading))
    return unreadable


def field_reading(draft: Draft, name: FieldName, plan: Plan) -> Reading:
    """Return the number in a field; a distance in average true ranges is unreadable while those are not known."""
    levels = {"stop": plan.levels.stop, "target": plan.levels.target, "trail": plan.levels.trail}
    level = levels.get(name)
    if draft.entry(name).unit == "ATR" and isinstance(level, UnreadableText):
        return level
    return draft.reading(name)


def margin_added(context: TradingContext, signed_units: Decimal, fill: Fill = "DEFAULT") -> Decimal:
    """Return the margin that a fill adds: a preview, the broker's figure is authoritative."""
    effect = effect_of(context.funds, signed_units, fill)
    before = position_units(effect.long_before, effect.short_before)
    return (position_units(effect.long_after, effect.short_after) - before) * margin_of_one(context)


def mid_nav_after(context: TradingContext, units: Decimal) -> Decimal:
    """Return NAV at mid prices after dealing the units: half the spread is paid."""
    nav = context.funds.nav if context.funds.mid_nav is None else context.funds.mid_nav
    return nav - units * (context.ask - context.bid) / 2 * context.factors.loss


def margin_of_one(context: TradingContext) -> Decimal:
    """Return the margin of one unit."""
    return required_margin(
        Decimal(1), context.rules.margin_rate, context.mid, context.factors.value
    )


def _wanted_units(draft: Draft, context: TradingContext, distance: Decimal | None) -> Decimal:
    value = draft.reading("size")
    if not isinstance(value, Decimal):
        return ZERO
    funds, factors = context.funds, context.factors
    match draft.size.unit:
        case "risk %":
            lost = funds.nav * value / PERCENT
        case "loss":
            lost = value
        case "value":
            return value / (context.mid * factors.value)
        case "marg %":
            return funds.margin_available * value / PERCENT / margin_of_one(context)
        case _:
            return value
    if distance is None or distance <= 0:
        return ZERO
    moves_along = draft.stop_counts_from_fill and not draft.trail.text
    return units_for_risk_through(
        context.depth(draft.direction) if draft.kind == "MARKET" and not moves_along else (),
        risk=lost,
        distance=distance,
        premium=premium_of(draft, context),
        loss_factor=factors.loss,
        precision=context.rules.price_precision,
    )


def _caps(draft: Draft, context: TradingContext, limits: Limits) -> Caps:
    """Limit a size that is computed by the caps; typed units above a cap are refused instead."""
    if draft.size.unit == "units":
        return Caps()
    funds, rules = context.funds, context.rules
    freed = max(ZERO, -draft.direction * funds.net_units) if not funds.hedging else ZERO
    one = margin_of_one(context)
    exact = margin_cap(
        funds.margin_available, rules.margin_rate, context.mid, context.factors.value
    )
    return Caps(
        margin=exact + 2 * freed if one else None,
        order=rules.maximum_order_units,
        position=room_left(draft, context),
        own=limits.of(rules.name).hard_units,
    )


def room_left(draft: Draft, context: TradingContext) -> Decimal | None:
    """Return the units left under the instrument's maximum position, None without a maximum."""
    if not context.rules.maximum_position:
        return None
    held = context.funds.long_units if draft.direction > 0 else -context.funds.short_units
    if not context.funds.hedging:
        held = draft.direction * context.funds.net_units
    return context.rules.maximum_position - held


def _reward(
    draft: Draft, target: Reading, entry: Decimal | None, units: Decimal, gain: Decimal
) -> Decimal | None:
    if not isinstance(target, Decimal) or entry is None:
        return None
    return units * draft.direction * (target - entry) * gain
