"""The move of a pending entry order: its fields as typed, the levels that they mean, and the risk at them."""

from collections.abc import Mapping, Sequence
from decimal import Decimal

from msgspec import Struct

from keydesk.calc.orders import average_range
from keydesk.calc.orders.checks import is_absurd
from keydesk.calc.orders.field_draft import Entry, Reading, UnreadableText, above_zero, shown_number
from keydesk.calc.orders.fields import ENTRY_FIELDS
from keydesk.calc.orders.instructions import MoveEntry
from keydesk.calc.orders.limits import deviation_warnings
from keydesk.calc.orders.ticket_settings import Limits
from keydesk.calc.risk.trading_context import TradingContext
from keydesk.text.format import money
from keydesk.values import OrderRow
from keydesk_client.arithmetic.profit import round_price
from keydesk_client.unset import UNSET

Levels = Mapping[str, Reading]
"""Price, stop, target, trail (a distance) and units, by the name of their field."""


def levels_of(order: OrderRow | None) -> Mapping[str, Decimal | None]:
    """Return the present levels of an order, units without their sign; None of one that is gone."""
    if order is None:
        return dict.fromkeys(ENTRY_FIELDS)
    return {
        "price": order.price,
        "stop": order.stop_loss,
        "target": order.take_profit,
        "trail": order.trail,
        "units": None if order.units is None else abs(order.units),
    }


def field_of(name: str, level: Decimal | None, pip: Decimal) -> Entry:
    """Return a field filled with a level."""
    if name == "units":
        return Entry("" if level is None else f"{level:f}", "units")
    if name == "trail":
        return Entry("" if level is None else f"{(level / pip).normalize():f}", "pips")
    return Entry("" if level is None else f"{level:f}", "price")


def typed_levels(fields: Mapping[str, Entry], context: TradingContext, *, buys: bool) -> Levels:
    """Return the levels typed, at the instrument's precision; a distance in ranges counts from the typed price."""
    digits, levels = context.rules.price_precision, dict[str, Reading]()
    for name, entry in fields.items():
        value = above_zero(entry.value)
        if name == "units":
            levels[name] = value
            continue
        if name == "trail" and isinstance(value, Decimal):
            value = average_range.distance(entry, context)
        elif entry.unit == "ATR" and isinstance(value, Decimal):
            direction = 1 if (name == "target") == buys else -1
            value = _ranges_away(entry, levels["price"], direction, context)
        levels[name] = round_price(value, digits) if isinstance(value, Decimal) else value
    return levels


def _ranges_away(entry: Entry, at: Reading, direction: int, context: TradingContext) -> Reading:
    """Return the price so many average true ranges from the price of the order."""
    distance = average_range.distance(entry, context)
    if not isinstance(distance, Decimal) or not isinstance(at, Decimal):
        return distance if isinstance(distance, UnreadableText) else None
    return at + distance * direction


def move_instruction(order: OrderRow, levels: Levels) -> MoveEntry | None:
    """Return the instruction that moves the order to these levels; None while one cannot be read."""
    at, stop, target = levels["price"], levels["stop"], levels["target"]
    trail, size = levels["trail"], levels["units"]
    if (
        not isinstance(at, Decimal)
        or isinstance(stop, UnreadableText)
        or isinstance(target, UnreadableText)
        or isinstance(trail, UnreadableText)
        or not isinstance(size, Decimal)
        or order.units is None
    ):
        return None
    return MoveEntry(
        order.id,
        order.instrument,
        at,
        stop,
        target,
        trail=UNSET if trail == order.trail else trail,
        units=None if size == abs(order.units) else size.copy_sign(order.units),
    )


def risk_of(levels: Levels, context: TradingContext) -> Decimal | None:
    """Return the loss at the nearer of stop and trailing stop, None without one or while one cannot be read."""
    at, size = shown_number(levels["price"]), shown_number(levels["units"])
    stop, trail = levels["stop"], levels["trail"]
    if at is None or size is None:
        return None
    spread = context.ask - context.bid
    distances = [trail + spread] if isinstance(trail, Decimal) else []
    distances += [abs(at - stop)] if isinstance(stop, Decimal) else []
    return size * min(distances) * context.factors.loss if distances else None


class MoveOutlook(Struct, frozen=True):
    """What is lost at the stop and won at the target of the moved order, in home currency; None: not known, or none."""

    lost: Decimal | None
    won: Decimal | None
    is_unusable: bool = False  # a level is typed that cannot be read, or that is absurd


def outlook_of(levels: Levels, context: TradingContext) -> MoveOutlook | None:
    """Return the outlook at these levels, None while price or units are missing."""
    at, size = shown_number(levels["price"]), shown_number(levels["units"])
    if at is None or size is None:
        return None
    unreadable = any(isinstance(levels[name], UnreadableText) for name in ("stop", "trail"))
    if unreadable or any(is_absurd(levels[name], context) for name in ("price", "stop", "target")):
        return MoveOutlook(None, None, is_unusable=True)
    target = shown_number(levels["target"])
    won = None if target is None else size * abs(target - at) * context.factors.gain
    return MoveOutlook(risk_of(levels, context), won)


def move_warnings(
    order: OrderRow, levels: Levels, context: TradingContext, own: Limits
) -> Sequence[str]:
    """Warn of a risk that grows beyond the trader's soft limit, and of a new price far from the market."""
    before, after = (risk_of(each, context) for each in (levels_of(order), levels))
    nav, most, at = context.funds.nav, own.soft_risk_percent, levels["price"]
    far: tuple[str, ...] = ()
    if isinstance(at, Decimal) and at != order.price:
        far = tuple(deviation_warnings(at, context, own))
    grows = after is not None and (before is None or after > before)
    if after is None or not grows or nav <= 0 or after * 100 <= most * nav:
        return far
    return (f"Risk {money(after / nav * 100)} % of NAV, over {most} %", *far)
