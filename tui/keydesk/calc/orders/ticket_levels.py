"""The prices of a ticket: entry, bound, stop, target and trailing distance, from the draft and the present price."""

from decimal import Decimal
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from keydesk.calc.orders import average_range
from keydesk.calc.orders.field_draft import Reading, UnreadableText, shown_number
from keydesk.calc.orders.ticket_draft import Draft
from keydesk.calc.risk.sizing import slippage_allowed
from keydesk.calc.risk.trading_context import TradingContext
from keydesk_client.arithmetic.constants import ZERO
from keydesk_client.arithmetic.depth import average_fill_price
from keydesk_client.arithmetic.profit import round_price, round_price_down, round_price_up


class Levels(Struct, frozen=True):
    """The prices of a ticket; None if not set or not computable yet."""

    entry: Reading
    bound: Reading
    stop: Reading
    target: Reading
    trail: Reading  # price units


class SendableLevels(Struct, frozen=True):
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


def levels_of(draft: Draft, context: TradingContext) -> Levels:
    """Return the ticket's prices at the instrument's precision."""
    entry = entry_price(draft, context)
    stop = _stop(draft, entry, context)
    return Levels(
        entry=entry,
        bound=None if draft.kind == "LIMIT" else _bound(draft, context),
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
        return round_price(touch + _pending_side(draft) * value * context.rules.pip, precision)
    if value < 0:  # "-15" in the price field: 15 pips under the market
        return round_price(touch + value * context.rules.pip, precision)
    return round_price(value, precision)


def fill_price(
    draft: Draft, levels: Levels, context: TradingContext, units: Decimal
) -> Decimal | None:
    """Return the expected average price of the fill: the entry, of a market order through the depth of the price."""
    entry, depth = shown_number(levels.entry), context.depth(draft.direction)
    if draft.kind != "MARKET" or not depth or not units:
        return entry
    return average_fill_price(depth, units, context.rules.price_precision)


def book_exceeded(draft: Draft, context: TradingContext, units: Decimal) -> Decimal | None:
    """Return what all levels of the book hold where a market order is larger, None where it is not."""
    held = sum((each.units for each in context.depth(draft.direction)), ZERO)
    return held if draft.kind == "MARKET" and ZERO < held < units else None


def deep_cost(draft: Draft, levels: Levels, average: Decimal | None) -> Decimal:
    """Return how much worse than the entry the average price is."""
    entry = shown_number(levels.entry)
    return ZERO if entry is None or average is None else draft.direction * (average - entry)


def at_average(
    draft: Draft, levels: Levels, average: Decimal | None, context: TradingContext
) -> Levels:
    """Return the levels of a fill at an average price: a target in R and a stop from the fill are measured from it, other levels stay."""
    if average is None or average == levels.entry:
        return levels
    entry, stop = levels.entry, levels.stop
    counts = draft.stop_counts_from_fill
    if counts and isinstance(entry, Decimal) and isinstance(stop, Decimal):
        levels = replace(levels, stop=average - (entry - stop))
    if draft.target.unit != "R":
        return levels
    return replace(levels, target=_target(draft, average, levels.stop, context))


def stop_distance(
    draft: Draft, levels: Levels, spread: Decimal, average: Decimal | None = None
) -> Decimal | None:
    """Return the distance of the nearer of stop and trailing stop from the average price; negative on the wrong side.

    Without an average price, from the entry. A trailing stop begins at its distance from the closing price, a spread further from the entry. None without either
    stop, and while one of them cannot be read.
    """
    if any(isinstance(each, UnreadableText) for each in (levels.stop, levels.trail)):
        return None
    distances = []
    entry = shown_number(levels.entry) if average is None else average
    if isinstance(levels.stop, Decimal) and entry is not None:
        distances.append(draft.direction * (entry - levels.stop))
    if isinstance(levels.trail, Decimal):
        distances.append(levels.trail + spread)
    return min(distances) if distances else None


def _pending_side(draft: Draft) -> int:
    """Return a default price of a pending order: better than the market for a limit, worse for a stop."""
    return draft.direction if draft.kind == "STOP" else -draft.direction


def _bound(draft: Draft, context: TradingContext) -> Reading:
    typed, rules = draft.reading("bound"), context.rules
    if isinstance(typed, UnreadableText):
        return typed
    if draft.kind != "MARKET":
        return None if typed is None else _pending_bound(draft, typed * rules.pip, context)
    usual = slippage_allowed(context.bid, context.ask, rules.pip)
    allowed = usual if typed is None else typed * rules.pip
    if draft.direction > 0:
        return round_price_up(context.ask + allowed, rules.price_precision)
    return round_price_down(context.bid - allowed, rules.price_precision)


def _pending_bound(draft: Draft, allowed: Decimal, context: TradingContext) -> Reading:
    """Return the worst price of a stop or if-touched order; a limit order has its own price."""
    entry, precision = entry_price(draft, context), context.rules.price_precision
    if draft.kind == "LIMIT" or not isinstance(entry, Decimal):
        return None
    if draft.direction > 0:
        return round_price_up(entry + allowed, precision)
    return round_price_down(entry - allowed, precision)


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
    return round_price(entry + value * (entry - stop), context.rules.price_precision)


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
        return round_price(value, precision)
    distance = average_range.distance(draft.entry(name), context)
    if not isinstance(entry, Decimal) or not isinstance(distance, Decimal):
        return distance if isinstance(distance, UnreadableText) else None
    return round_price(entry + toward * distance, precision)


def _trail(draft: Draft, context: TradingContext) -> Reading:
    value = draft.reading("trail")
    if not isinstance(value, Decimal):
        return value
    distance = average_range.distance(draft.trail, context)
    return (
        round_price(distance, context.rules.price_precision)
        if isinstance(distance, Decimal)
        else distance
    )
