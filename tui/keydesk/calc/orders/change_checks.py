"""What is refused when a pending entry order is replaced, or the protection of a trade is changed."""

from collections.abc import Mapping, Sequence
from decimal import Decimal

from keydesk.calc.orders.checks import (
    LEVEL_REACH,
    is_absurd,
    is_within,
    trail_out_of_range,
    unreadable_text,
)
from keydesk.calc.orders.field_draft import Reading, UnreadableText
from keydesk.calc.orders.fields import PROTECTION_FIELDS, Field, ProtectionField
from keydesk.calc.orders.limits import deviation_refusals
from keydesk.calc.orders.protection import (
    Protection,
    ProtectionDraft,
    fills_at_once,
    fires_at_once,
    protection_of,
    stop_severity,
    wanted_level,
    wanted_protection,
)
from keydesk.calc.orders.ticket_settings import Limits
from keydesk.calc.risk.trading_context import TradingContext
from keydesk.text.format import pair, pip_count, units
from keydesk.values import OrderRow, TradeRow
from keydesk_client.arithmetic.profit import closing_price, whole_units

PIPS_AS_PRICE = "pips typed as a price? m counts in pips"
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
    fields: Mapping[str, Field],
    was: Mapping[str, Decimal | None],
) -> Sequence[str]:
    """Refuse levels that cannot be read, are far from the market, or are on the wrong side of the price.

    Args:
        direction: 1 for an order that buys, -1 for one that sells.
        levels: The levels as typed, by the name of their field.
        context: Rules and prices of the instrument.
        fields: The fields, whose keys the refusals name.
        was: The levels of the order now; one that stays is taken as it is.
    """
    unreadable = [
        unreadable_text(name, level, fields[name].key)
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
        elif level != was[name] and is_absurd(level, context):
            reasons.append(f"The {name} {level} is implausibly far: pips typed as a price?")
    trail = levels["trail"]
    if isinstance(trail, Decimal):
        reasons += trail_out_of_range(trail, context)
    return reasons


def protection_refusals(
    draft: ProtectionDraft, trade: TradeRow, context: TradingContext
) -> Sequence[str]:
    """Refuse a change of protection that the broker would not take, such as a stop that the price has already passed."""
    now, new = protection_of(trade), wanted_protection(draft, trade, context)
    if new is None:
        return [
            unreadable_text(name, text, PROTECTION_FIELDS[name].key)
            for name, text in _unreadable_fields(draft, trade, context)
        ]
    reasons = []
    if new.stop != now.stop and new.stop is not None:
        reasons += _passed_stop(trade, new.stop, context)
    if new.target != now.target and new.target is not None:
        reasons += _passed_target(trade, new.target, context)
    reasons = (
        reasons or absurd_levels(draft, trade, new, context) or _prices_as_pips(draft, context)
    )
    if new.trail != now.trail and new.trail is not None:
        reasons += trail_out_of_range(new.trail, context)
    reasons += _guarantee_refusals(trade, now, new, context)
    if not reasons and new == now:
        reasons.append("No change yet: s t r w pick, digits or ↑ ↓ change it")
    return reasons


def absurd_levels(
    draft: ProtectionDraft, trade: TradeRow, new: Protection, context: TradingContext
) -> list[str]:
    """Return a refusal for each changed level so far from the market that nothing is reckoned from it.

    A stop that the price has not passed and that tightens is never absurd: it reduces the risk.
    """
    now = protection_of(trade)
    tightens = stop_severity(trade, now.fixed_stop, new.fixed_stop) == "tightens"
    found = []
    levels: list[tuple[str, ProtectionField, Decimal | None, Decimal | None]] = [
        ("Stop", "stop", now.stop, new.stop),
        ("Guaranteed stop", "guaranteed", now.guaranteed, new.guaranteed),
        ("Target", "target", now.target, new.target),
    ]
    for name, field, before, level in levels:
        if level is None or level == before or not is_absurd(level, context):
            continue
        if field == "target" or not tightens or fires_at_once(trade, level, context):
            is_price = draft.entry(field).unit == "price"
            remedy = PIPS_AS_PRICE if is_price else "type a smaller distance"
            found.append(f"{name} {level} is implausibly far: {remedy}")
    return found


def _prices_as_pips(draft: ProtectionDraft, context: TradingContext) -> list[str]:
    """Return a refusal for each distance in pips that is finer than prices are, and reads like one."""
    least = context.rules.pip / 10
    return [
        f"{name}: {entry.text} pips reads like a price: m counts in prices"
        for name, entry in draft.entries.items()
        if entry.unit == "pips"
        and isinstance(entry.value, Decimal)
        and is_within(entry.value, context.mid, LEVEL_REACH)
        and (entry.value * context.rules.pip) % least
    ]


def _unreadable_fields(
    draft: ProtectionDraft, trade: TradeRow, context: TradingContext
) -> Sequence[tuple[ProtectionField, UnreadableText]]:
    """Return the fields whose text cannot be read, or whose unit is not known."""
    unreadable: list[tuple[ProtectionField, UnreadableText]] = []
    for name in PROTECTION_FIELDS:
        level = wanted_level(draft, name, trade, context)
        if isinstance(level, UnreadableText):
            unreadable.append((name, level))
    return unreadable


def _guarantee_refusals(
    trade: TradeRow, now: Protection, new: Protection, context: TradingContext
) -> list[str]:
    """Refuse a guaranteed stop that the broker would not take."""
    if new.guaranteed is None or new == now:
        return []
    if new.stop is not None or new.trail is not None:
        return ["A guaranteed stop stands alone: empty stop and trail (s r, Backspace)"]
    if new.guaranteed == now.guaranteed:
        return []
    if context.rules.guarantee == "DISABLED":
        return ["The broker guarantees no stop of this instrument: w, Backspace"]
    least = context.rules.guarantee_distance
    close = closing_price(trade.units, context.bid, context.ask)
    if abs(close - new.guaranteed) < least:
        pips = pip_count((least / context.rules.pip).normalize())
        return [f"A guaranteed stop stands {pips} from the price at least"]
    return _passed_stop(trade, new.guaranteed, context)


def _passed_stop(trade: TradeRow, stop: Decimal, context: TradingContext) -> list[str]:
    if not fires_at_once(trade, stop, context):
        return []
    close = closing_price(trade.units, context.bid, context.ask)
    return [f"A stop at {stop} would fire now, the price is {close}: {_remedy(stop, close)}"]


def _passed_target(trade: TradeRow, target: Decimal, context: TradingContext) -> list[str]:
    if not fills_at_once(trade, target, context):
        return []
    close = closing_price(trade.units, context.bid, context.ask)
    return [f"A target at {target} would fill now, the price is {close}: {_remedy(target, close)}"]


def _remedy(level: Decimal, close: Decimal) -> str:
    """Return what to do about a level that is passed; pips typed as a price are far off it."""
    is_price = is_within(level, close, LEVEL_REACH)
    return "close it instead" if is_price else "m counts in pips, not in price"
