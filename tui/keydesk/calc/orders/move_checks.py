"""What is refused when a pending entry order is replaced: its levels, its size, its distance from the market."""

from collections.abc import Mapping, Sequence
from decimal import Decimal

from keydesk.calc.orders.checks import unreadable_words
from keydesk.calc.orders.instructions import Limits
from keydesk.calc.orders.limits import deviation_refusals
from keydesk.calc.orders.protection import trail_out_of_range
from keydesk.calc.orders.ticket_draft import Reading, UnreadableText, shown_number
from keydesk.calc.risk.trading_context import TradingContext
from keydesk.records import OrderRow
from keydesk.text.format import pair, units
from keydesk_client.arithmetic.profit import whole_units

REACH = Decimal("0.05")  # of the price: digits typed wrong


def distance_refusals(
    order: OrderRow, at: Reading, context: TradingContext, own: Limits
) -> Sequence[str]:
    """Refuse an entry farther from the market than the trader's limit; one that only reduces is an exit."""
    if order.reduces or not isinstance(at, Decimal):
        return ()
    return list(deviation_refusals(at, context, own))


def size_refusals(
    size: Reading, was: Decimal, context: TradingContext, limits: Limits
) -> list[str]:
    """Refuse a size that the broker would not take, and one that grows over the trader's own limit."""
    rules = context.rules
    if not isinstance(size, Decimal):
        return ["units: the size is missing: u, then digits"] if size is None else []
    if whole_units(size, rules.units_precision) != size:
        return [f"units: {size:f} has more decimals than {pair(rules.name)} takes: u, then digits"]
    if size < rules.minimum_units:
        return [f"units: {units(rules.minimum_units)} is the minimum: u, then digits"]
    if size > rules.maximum_order_units:
        return [
            f"units: the maximum order size is {units(rules.maximum_order_units)}: u, then digits"
        ]
    own = limits.hard_units
    if own is not None and size > max(own, was):
        return [f"units: over your own limit of {units(own)}: u, then digits"]
    return []


def level_refusals(
    direction: int,
    levels: Mapping[str, Reading],
    context: TradingContext,
    keys: Mapping[str, str],
) -> Sequence[str]:
    """Refuse levels that cannot be read, are far from the market, or are on the wrong side of the price.

    Args:
        direction: 1 for an order that buys, -1 for one that sells.
        levels: The levels as typed, by the name of their field.
        context: Rules and prices of the instrument.
        keys: The key of each field, as the refusals name them.
    """
    unreadable = [
        unreadable_words(name, level, keys[name])
        for name, level in levels.items()
        if isinstance(level, UnreadableText)
    ]
    at = levels["price"]
    if unreadable:
        return unreadable
    if not isinstance(at, Decimal):
        return ["The price is missing: p, then digits"]
    if abs(at - context.mid) > context.mid * REACH:
        return [f"{at} is more than 5 % from the market"]
    reasons = []
    for name, toward in (("stop", -direction), ("target", direction)):
        level = levels[name]
        if isinstance(level, Decimal) and toward * (level - at) <= 0:
            side = "below" if toward < 0 else "above"
            reasons.append(f"The {name} {level} must be {side} the price {at}")
    trail = levels["trail"]
    if isinstance(trail, Decimal):
        reasons += trail_out_of_range(trail, context)
    return reasons


def risk_of(levels: Mapping[str, Reading], context: TradingContext) -> Decimal | None:
    """Return the loss at the nearer of stop and trailing stop, None without one or while one cannot be read."""
    at, size = shown_number(levels["price"]), shown_number(levels["units"])
    stop, trail = levels["stop"], levels["trail"]
    if at is None or size is None:
        return None
    spread = context.ask - context.bid
    distances = [trail + spread] if isinstance(trail, Decimal) else []
    distances += [abs(at - stop)] if isinstance(stop, Decimal) else []
    return size * min(distances) * context.factors.loss if distances else None
