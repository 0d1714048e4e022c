"""Compute the plan of a ticket from its draft and the trading context: levels, units, risk and margin.

The plan is computed again at every key and frame; the order that is sent is the plan on the screen.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Literal

from keydesk.calc import average_range
from keydesk.calc.instructions import Limits
from keydesk.calc.profit import (
    nearest_price,
    notional,
    pip_value,
    price_down,
    price_up,
)
from keydesk.calc.sizing import (
    CapName,
    Caps,
    closeout_percent,
    margin_cap,
    position_units,
    required_margin,
    size,
    slippage_allowed,
    units_for_risk,
)
from keydesk.calc.ticket_draft import Draft, FieldName, Reading, UnreadableText
from keydesk.calc.trading_context import NOTHING, TradingContext, only_reduces

PERCENT = Decimal(100)


@dataclass(frozen=True, slots=True)
class Levels:
    """The prices of a ticket; None if not set or not computable yet."""

    entry: Reading
    bound: Reading
    stop: Reading
    target: Reading
    trail: Reading  # price units


@dataclass(frozen=True, slots=True)
class SendableLevels:
    """The prices of a ticket that can be sent; None for fields left empty."""

    entry: Decimal
    bound: Decimal | None
    stop: Decimal | None
    target: Decimal | None
    trail: Decimal | None  # price units


def sendable(levels: Levels) -> SendableLevels | None:
    """Return the prices for an order, None if one is missing or cannot be read."""
    entry, bound, stop = levels.entry, levels.bound, levels.stop
    target, trail = levels.target, levels.trail
    if (
        not isinstance(entry, Decimal)
        or isinstance(bound, UnreadableText)
        or isinstance(stop, UnreadableText)
        or isinstance(target, UnreadableText)
        or isinstance(trail, UnreadableText)
    ):
        return None
    return SendableLevels(entry, bound, stop, target, trail)


@dataclass(frozen=True, slots=True)
class Plan:
    """The effect of a ticket; money in home currency."""

    levels: Levels
    units: Decimal  # magnitude
    bound_by: CapName
    distance: Decimal | None  # from the entry to the nearer of stop and trailing stop
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
    reduces: bool = False  # it opens nothing, so it has no stop or target of its own

    @property
    def ratio(self) -> Decimal | None:
        """Reward over risk."""
        if self.risk is None or self.reward is None or self.risk <= 0:
            return None
        return self.reward / self.risk


def work_out(draft: Draft, context: TradingContext, limits: Limits) -> Plan:
    """Compute the plan of a ticket at the present price."""
    levels = levels_of(draft, context)
    distance = stop_distance(draft, levels)
    sized = size(
        _wanted_units(draft, context, distance),
        context.rules.units_precision,
        _caps(draft, context, limits),
    )
    units, factors = sized.units, context.factors
    before = context.funds.net_units
    reduces = only_reduces(draft.direction * units, before, hedging=context.funds.hedging)
    if reduces:
        levels, distance = replace(levels, stop=None, target=None, trail=None), None
    added = margin_added(context, draft.direction * units)
    return Plan(
        levels=levels,
        units=units,
        bound_by=sized.bound_by,
        distance=distance,
        pip_value=pip_value(units, context.rules.pip, factors),
        notional=notional(units, context.mid, factors),
        margin=added,
        margin_left=context.funds.margin_available - added,
        closeout_after=closeout_percent(
            context.funds.margin_used + added, mid_nav_after(context, units)
        ),
        position_before=before,
        position_after=before + draft.direction * units,
        risk=None if distance is None else units * distance * factors.loss,
        reward=_reward(draft, levels, units, factors.gain),
        spread=context.ask - context.bid,
        minimum_risk=None
        if distance is None
        else context.rules.minimum_units * distance * factors.loss,
        reduces=reduces,
    )


def fields_of(draft: Draft, plan: Plan) -> Sequence[FieldName]:
    """Return the fields of the ticket; one that only reduces has no bracket, unless it is sized by it."""
    if not plan.reduces:
        return draft.fields
    sizing = {"stop"} if draft.size.unit == "risk %" else set()
    return [name for name in draft.fields if name not in {"stop", "target", "trail"} - sizing]


def unreadable_fields(draft: Draft, plan: Plan) -> Sequence[tuple[FieldName, UnreadableText]]:
    """Return the fields whose text cannot be read, or whose unit is not known."""
    found: list[tuple[FieldName, UnreadableText]] = []
    for name in fields_of(draft, plan):
        reading = field_reading(draft, name, plan)
        if isinstance(reading, UnreadableText):
            found.append((name, reading))
    return found


def field_reading(draft: Draft, name: FieldName, plan: Plan) -> Reading:
    """Return the number in a field; a distance in average true ranges is unreadable while those are not known."""
    levels = {"stop": plan.levels.stop, "target": plan.levels.target, "trail": plan.levels.trail}
    level = levels.get(name)
    if draft.entry(name).unit == "ATR" and isinstance(level, UnreadableText):
        return level
    return draft.reading(name)


def levels_of(draft: Draft, context: TradingContext) -> Levels:
    """Return the ticket's prices at the instrument's precision."""
    entry = entry_price(draft, context)
    stop = _stop(draft, entry, context)
    return Levels(
        entry=entry,
        bound=_bound(draft, context) if draft.kind == "MARKET" else None,
        stop=stop,
        target=_target(draft, entry, stop, context),
        trail=_trail(draft, context),
    )


def entry_price(draft: Draft, context: TradingContext) -> Reading:
    """Return the entry price: the touch for a market order, else the typed price."""
    touch = context.ask if draft.direction > 0 else context.bid
    if draft.kind == "MARKET":
        return touch
    value = draft.reading("price")
    if not isinstance(value, Decimal):
        return value
    precision = context.rules.price_precision
    if draft.price.unit == "pips":
        return nearest_price(touch + _pending_side(draft) * value * context.rules.pip, precision)
    if value < 0:  # "-15" in the price field: 15 pips under the market
        return nearest_price(touch + value * context.rules.pip, precision)
    return nearest_price(value, precision)


def stop_distance(draft: Draft, levels: Levels) -> Decimal | None:
    """Return the distance of the nearer of stop and trailing stop; negative on the wrong side.

    None without either, and while one of them cannot be read.
    """
    if any(isinstance(each, UnreadableText) for each in (levels.stop, levels.trail)):
        return None
    distances = []
    if isinstance(levels.stop, Decimal) and isinstance(levels.entry, Decimal):
        distances.append(draft.direction * (levels.entry - levels.stop))
    if isinstance(levels.trail, Decimal):
        distances.append(levels.trail)
    return min(distances) if distances else None


def margin_added(context: TradingContext, signed_units: Decimal) -> Decimal:
    """Return the margin that a fill adds: a preview, the broker's figure is authoritative."""
    long, short = context.funds.long_units, -context.funds.short_units
    if context.funds.hedging:
        new_long = long + max(signed_units, NOTHING)
        new_short = short + max(-signed_units, NOTHING)
        grown = position_units(new_long, new_short) - position_units(long, short)
    else:
        grown = abs(long - short + signed_units) - abs(long - short)
    return grown * margin_of_one(context)


def mid_nav_after(context: TradingContext, units: Decimal) -> Decimal:
    """Return NAV at mid prices after dealing the units: half the spread is paid (TRADER.md 2.4)."""
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
        return NOTHING
    if draft.size.unit == "units":
        return value
    if distance is None or distance <= 0:
        return NOTHING
    risk = context.funds.nav * value / PERCENT
    return units_for_risk(risk, distance, context.factors.loss)


def _caps(draft: Draft, context: TradingContext, limits: Limits) -> Caps:
    """Limit a size computed from risk by the caps; typed units above a cap are refused instead."""
    if draft.size.unit == "units":
        return Caps()
    funds, rules = context.funds, context.rules
    freed = max(NOTHING, -draft.direction * funds.net_units) if not funds.hedging else NOTHING
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


def _reward(draft: Draft, levels: Levels, units: Decimal, gain: Decimal) -> Decimal | None:
    if not isinstance(levels.target, Decimal) or not isinstance(levels.entry, Decimal):
        return None
    return units * draft.direction * (levels.target - levels.entry) * gain


def _pending_side(draft: Draft) -> int:
    """Return a default price of a pending order: better than the market for a limit, worse for a stop."""
    return draft.direction if draft.kind == "STOP" else -draft.direction


def _bound(draft: Draft, context: TradingContext) -> Reading:
    typed, rules = draft.reading("bound"), context.rules
    if isinstance(typed, UnreadableText):
        return typed
    usual = slippage_allowed(context.bid, context.ask, rules.pip)
    allowed = usual if typed is None else typed * rules.pip
    if draft.direction > 0:
        return price_up(context.ask + allowed, rules.price_precision)
    return price_down(context.bid - allowed, rules.price_precision)


def _stop(draft: Draft, entry: Reading, context: TradingContext) -> Reading:
    return _level(draft, "stop", entry, -draft.direction, context)


def _target(draft: Draft, entry: Reading, stop: Reading, context: TradingContext) -> Reading:
    value = draft.reading("target")
    if draft.target.unit != "R" or not isinstance(value, Decimal):
        return _level(draft, "target", entry, draft.direction, context)
    if stop is None and isinstance(entry, Decimal):
        return UnreadableText(draft.target.text, "is in R, which needs a stop")
    if not isinstance(entry, Decimal) or not isinstance(stop, Decimal):
        return None
    return nearest_price(entry + value * (entry - stop), context.rules.price_precision)


def _level(
    draft: Draft,
    name: Literal["stop", "target"],
    entry: Reading,
    toward: int,
    context: TradingContext,
) -> Reading:
    value, precision = draft.reading(name), context.rules.price_precision
    if not isinstance(value, Decimal):
        return value
    if draft.entry(name).unit == "price":
        return nearest_price(value, precision)
    away = average_range.distance(draft.entry(name), context)
    if not isinstance(entry, Decimal) or not isinstance(away, Decimal):
        return away if isinstance(away, UnreadableText) else None
    return nearest_price(entry + toward * away, precision)


def _trail(draft: Draft, context: TradingContext) -> Reading:
    value = draft.reading("trail")
    if not isinstance(value, Decimal):
        return value
    away = average_range.distance(draft.trail, context)
    return nearest_price(away, context.rules.price_precision) if isinstance(away, Decimal) else away
