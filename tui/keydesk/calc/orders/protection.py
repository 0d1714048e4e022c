"""Compute changes of a trade's stop, target, trailing and guaranteed stop: the edits, the risk after them, and their severity."""

from decimal import Decimal
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from keydesk.calc.orders import average_range
from keydesk.calc.orders.field_draft import Entry, FieldDraft, Reading, UnreadableText, above_zero
from keydesk.calc.orders.fields import PROTECTION_FIELDS, ProtectionField, Unit
from keydesk.calc.orders.ticket_settings import Template
from keydesk.calc.risk.trading_context import TradingContext
from keydesk.values import TradeRow
from keydesk_client.arithmetic.constants import ZERO
from keydesk_client.arithmetic.profit import closing_price, round_price
from keydesk_client.arithmetic.risk import (
    locked_profit,
    nearest_stop,
    open_risk,
    reward,
    trailing_stop,
)

Severity = Literal["nothing", "adds", "tightens", "moves target", "loosens"]


ProtectionDraft = FieldDraft[ProtectionField]
"""Stop, target, trailing and guaranteed stop of one trade as typed."""


def level_reading(draft: ProtectionDraft, name: ProtectionField) -> Reading:
    """Return the number in a field, None if it is empty, else why it cannot be read."""
    entry = draft.entry(name)
    return above_zero(entry.value) if entry.unit == "price" or name == "trail" else entry.value


class Protection(Struct, frozen=True):
    """Levels of a trade: stops and target as prices, trail as a distance; None if not set."""

    stop: Decimal | None
    target: Decimal | None
    trail: Decimal | None
    guaranteed: Decimal | None = None

    @property
    def fixed_stop(self) -> Decimal | None:
        """The price of the stop that does not trail; the broker never accepts one beside a guaranteed one."""
        return self.stop if self.guaranteed is None else self.guaranteed


def protection_of(trade: TradeRow) -> Protection:
    """Return the present levels of a trade."""
    return Protection(
        stop=trade.stop_loss.price if trade.stop_loss else None,
        target=trade.take_profit.price if trade.take_profit else None,
        trail=trade.trailing_stop.distance if trade.trailing_stop else None,
        guaranteed=trade.guaranteed_stop.price if trade.guaranteed_stop else None,
    )


def draft_of(now: Protection, context: TradingContext | None) -> ProtectionDraft:
    """Return a draft filled with the present levels."""
    pip = context.rules.pip if context else None
    trail = now.trail / pip if now.trail is not None and pip else None
    entries: dict[ProtectionField, Entry] = {
        "stop": _entry_of(now.stop, "price"),
        "target": _entry_of(now.target, "price"),
        "trail": _entry_of(trail, "pips"),
        "guaranteed": _entry_of(now.guaranteed, "price"),
    }
    return FieldDraft(entries, "stop")


def _entry_of(value: Decimal | None, unit: Unit) -> Entry:
    return Entry(
        "" if value is None else f"{value.normalize():f}" if unit == "pips" else f"{value:f}", unit
    )


def wanted_protection(
    draft: ProtectionDraft, trade: TradeRow, context: TradingContext
) -> Protection | None:
    """Return the typed levels at the instrument's precision, None while one cannot be read."""
    stop, target, trail, guaranteed = (
        wanted_level(draft, name, trade, context) for name in PROTECTION_FIELDS
    )
    if (
        isinstance(stop, UnreadableText)
        or isinstance(target, UnreadableText)
        or isinstance(trail, UnreadableText)
        or isinstance(guaranteed, UnreadableText)
    ):
        return None
    return Protection(stop, target, trail, guaranteed)


def wanted_level(
    draft: ProtectionDraft, name: ProtectionField, trade: TradeRow, context: TradingContext
) -> Reading:
    """Return the level of one field: a price, or the trailing distance in price units."""
    value = level_reading(draft, name)
    if not isinstance(value, Decimal):
        return value
    entry, precision = draft.entry(name), context.rules.price_precision
    if entry.unit == "price":
        return round_price(value, precision)
    distance = average_range.distance(entry, context)
    if name == "trail" or not isinstance(distance, Decimal):
        return round_price(distance, precision) if isinstance(distance, Decimal) else distance
    direction = 1 if trade.units > 0 else -1
    toward = direction if name == "target" else -direction
    return round_price(trade.price + toward * distance, precision)


def counted_in_pips(
    draft: ProtectionDraft, trade: TradeRow, context: TradingContext
) -> ProtectionDraft:
    """Return the draft with its prices as distances from the entry; one that pips do not hold exactly stays a price."""
    entries = dict(draft.entries)
    for name, entry in draft.entries.items():
        level = wanted_level(draft, name, trade, context)
        if entry.unit != "price" or isinstance(level, UnreadableText):
            continue
        pips = None if level is None else in_unit(name, level, "pips", trade, context)
        counted = _entry_of(pips, "pips")
        if wanted_level(draft.with_field(name, counted), name, trade, context) == level:
            entries[name] = counted
    return FieldDraft(entries, draft.active)


def in_unit(
    name: ProtectionField,
    level: Decimal,
    unit: Unit,
    trade: TradeRow,
    context: TradingContext,
) -> Decimal | None:
    """Return a level as a number in a unit, None while the unit is not known."""
    if unit == "price":
        return level
    if name == "trail":
        return average_range.in_unit(level, unit, context)
    toward = (1 if trade.units > 0 else -1) * (1 if name == "target" else -1)
    return average_range.in_unit((level - trade.price) * toward, unit, context)


def weight(trade: TradeRow, now: Protection, new: Protection) -> Severity:
    """Return the most severe change; removing protection is the most severe, and a stop without its guarantee is less."""
    if now.guaranteed is not None and new.guaranteed is None:
        return "loosens"
    weights: list[Severity] = [
        stop_severity(trade, now.fixed_stop, new.fixed_stop),
        _trail_weight(now.trail, new.trail),
        _target_weight(now.target, new.target),
    ]
    order: tuple[Severity, ...] = ("nothing", "adds", "tightens", "moves target", "loosens")
    return max(weights, key=order.index)


def stop_severity(trade: TradeRow, now: Decimal | None, new: Decimal | None) -> Severity:
    """Return how severe the change of a stop is."""
    if now == new:
        return "nothing"
    if now is None:
        return "adds"
    if new is None:
        return "loosens"
    tighter = new > now if trade.units > 0 else new < now
    return "tightens" if tighter else "loosens"


def _trail_weight(now: Decimal | None, new: Decimal | None) -> Severity:
    if now == new:
        return "nothing"
    if now is None:
        return "adds"
    return "tightens" if new is not None and new < now else "loosens"


def _target_weight(now: Decimal | None, new: Decimal | None) -> Severity:
    if now == new:
        return "nothing"
    return "adds" if now is None else "moves target"


def premium(trade: TradeRow, now: Protection, new: Protection, context: TradingContext) -> Decimal:
    """Return what a new guaranteed stop costs if it fills, in home currency; 0 without one, or if the trade had one already."""
    if new.guaranteed is None or now.guaranteed is not None:
        return ZERO
    return abs(trade.units) * context.rules.guarantee_premium * context.factors.loss


def fires_at_once(trade: TradeRow, stop: Decimal, context: TradingContext) -> bool:
    """Return whether the price has passed a stop, so that it would fire now."""
    close = closing_price(trade.units, context.bid, context.ask)
    return stop >= close if trade.units > 0 else stop <= close


def fills_at_once(trade: TradeRow, target: Decimal, context: TradingContext) -> bool:
    """Return whether the price has passed a target, so that it would fill now."""
    close = closing_price(trade.units, context.bid, context.ask)
    return target <= close if trade.units > 0 else target >= close


class ProtectionPreview(Struct, frozen=True):
    """Profit at the levels in home currency; None without the level."""

    at_stop: Decimal | None  # negative: lost
    at_target: Decimal | None

    @property
    def ratio(self) -> Decimal | None:
        """Return reward over risk; None without a target or without a loss at the stop."""
        if self.at_stop is None or self.at_target is None or self.at_stop >= 0:
            return None
        return self.at_target / -self.at_stop


def outlook(trade: TradeRow, levels: Protection, context: TradingContext) -> ProtectionPreview:
    """Return the profit at the nearest stop and at the target."""
    at_stop = at_target = None
    stop = effective_stop(trade, levels, context)
    if stop is not None:
        lost = open_risk(trade.units, trade.price, stop, context.factors)
        locked = locked_profit(trade.units, trade.price, stop, context.factors)
        at_stop = locked - lost if locked else -lost if lost else ZERO
    if levels.target is not None:
        at_target = reward(trade.units, trade.price, levels.target, context.factors)
    return ProtectionPreview(at_stop, at_target)


def effective_stop(trade: TradeRow, levels: Protection, context: TradingContext) -> Decimal | None:
    """Return which of stop, trailing stop and guaranteed stop is nearest to the price, None without any."""
    trailed = _trailed_price(trade, levels.trail, context)
    return nearest_stop(trade.units, (levels.stop, trailed, levels.guaranteed))


def _trailed_price(
    trade: TradeRow, distance: Decimal | None, context: TradingContext
) -> Decimal | None:
    """Return the price of a trailing stop; with a new distance it starts from the present price."""
    if distance is None:
        return None
    standing = trade.trailing_stop
    if standing is not None and standing.price is not None and standing.distance == distance:
        return standing.price
    close = closing_price(trade.units, context.bid, context.ask)
    return trailing_stop(trade.units, close, distance)


def completed_by(
    draft: ProtectionDraft, trade: TradeRow, context: TradingContext, template: Template
) -> ProtectionDraft:
    """Return the draft with the template's stop and target where the trade has none.

    Both are measured from the entry, so that the target is the template's R of what the stop risks. Two exceptions: a
    stop that the price has passed, or that lies within the spread of it, is measured from the closing price; a target
    that the price has passed is left out.
    """
    usual, now = template.stop_entry(context), wanted_protection(draft, trade, context)
    distance = average_range.distance(usual, context)
    if distance is None or now is None:
        return draft
    direction = 1 if trade.units > 0 else -1
    stop = effective_stop(trade, now, context)
    if isinstance(distance, UnreadableText):  # shown as it is, so that the form names it
        return draft.with_field("stop", usual) if stop is None else draft
    if stop is None:
        stop = _template_stop(trade, distance, context)
        draft = draft.with_field("stop", Entry(f"{stop:f}", "price"))
    if not draft.entry("target").text and template.target_r is not None:
        risk = direction * (trade.price - stop)
        target = trade.price + direction * template.target_r * (risk if risk > 0 else distance)
        target = round_price(target, context.rules.price_precision)
        if not fills_at_once(trade, target, context):
            draft = draft.with_field("target", Entry(f"{target:f}", "price"))
    return replace(draft, active="stop")


def _template_stop(trade: TradeRow, distance: Decimal, context: TradingContext) -> Decimal:
    direction = 1 if trade.units > 0 else -1
    close = closing_price(trade.units, context.bid, context.ask)
    stop = trade.price - direction * distance
    if direction * (close - stop) <= context.ask - context.bid:
        stop = close - direction * distance
    return round_price(stop, context.rules.price_precision)
