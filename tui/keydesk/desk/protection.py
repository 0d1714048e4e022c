"""Moving what protects a trade: from what was typed to what changes, what it risks, and how grave that is."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Literal

from keydesk.desk.draft import Entry, Unit
from keydesk.desk.facts import NOTHING, Facts
from keydesk.desk.instructions import LEFT_ALONE, Change
from keydesk.desk.profit import closing_price
from keydesk.desk.risk import locked_profit, open_risk, reward
from keydesk.desk.rounding import nearest_price
from keydesk.store.state import TradeRow

ProtectionField = Literal["stop", "target", "trail"]
FIELDS: tuple[ProtectionField, ...] = ("stop", "target", "trail")
UNITS: dict[ProtectionField, tuple[Unit, ...]] = {
    "stop": ("price", "pips"),
    "target": ("price", "pips"),
    "trail": ("pips",),
}
Weight = Literal["nothing", "adds", "tightens", "moves target", "loosens"]


@dataclass(frozen=True, slots=True)
class ProtectionDraft:
    """Stop, target and trailing stop of one trade as typed so far."""

    stop: Entry
    target: Entry
    trail: Entry
    active: ProtectionField = "stop"

    def entry(self, name: ProtectionField) -> Entry:
        """Return a field by its name."""
        return {"stop": self.stop, "target": self.target, "trail": self.trail}[name]

    def put(self, name: ProtectionField, entry: Entry) -> "ProtectionDraft":
        """Return the draft with that field changed and active."""
        fields = {each: self.entry(each) for each in FIELDS} | {name: entry}
        return ProtectionDraft(fields["stop"], fields["target"], fields["trail"], name)

    def pick(self, name: ProtectionField) -> "ProtectionDraft":
        """Make a field the active one."""
        return self.put(name, replace(self.entry(name), fresh=True))


@dataclass(frozen=True, slots=True)
class Protection:
    """The levels of a trade: stop and target as prices, trail as a distance; None: not set."""

    stop: Decimal | None
    target: Decimal | None
    trail: Decimal | None


def protection_of(trade: TradeRow) -> Protection:
    """Return what protects the trade now."""
    return Protection(
        stop=trade.stop_loss.price if trade.stop_loss else None,
        target=trade.take_profit.price if trade.take_profit else None,
        trail=trade.trailing_stop.distance if trade.trailing_stop else None,
    )


def draft_of(now: Protection, facts: Facts | None) -> ProtectionDraft:
    """Return the fields filled with what protects the trade now."""
    pip = facts.rules.pip if facts else None
    trail = now.trail / pip if now.trail is not None and pip else None
    return ProtectionDraft(
        stop=_filled(now.stop, "price"),
        target=_filled(now.target, "price"),
        trail=_filled(trail, "pips"),
    )


def _filled(value: Decimal | None, unit: Unit) -> Entry:
    return Entry(
        "" if value is None else f"{value.normalize():f}" if unit == "pips" else f"{value:f}", unit
    )


def wanted(draft: ProtectionDraft, trade: TradeRow, facts: Facts) -> Protection:
    """Return the levels typed, at the instrument's precision."""
    direction = 1 if trade.units > 0 else -1
    return Protection(
        stop=_level(draft.stop, trade.price, -direction, facts),
        target=_level(draft.target, trade.price, direction, facts),
        trail=_distance(draft.trail, facts),
    )


def _level(entry: Entry, origin: Decimal, toward: int, facts: Facts) -> Decimal | None:
    value = entry.value
    if value is None:
        return None
    price = value if entry.unit == "price" else origin + toward * value * facts.rules.pip
    return nearest_price(price, facts.rules.price_precision)


def _distance(entry: Entry, facts: Facts) -> Decimal | None:
    value = entry.value
    if value is None:
        return None
    return nearest_price(value * facts.rules.pip, facts.rules.price_precision)


def change(now: Decimal | None, new: Decimal | None) -> Change:
    """Return what has to be sent: nothing for what stays."""
    return LEFT_ALONE if now == new else new


def weight(trade: TradeRow, now: Protection, new: Protection) -> Weight:
    """Return the gravest of the changes; taking protection away outweighs everything."""
    weights: list[Weight] = [
        _stop_weight(trade, now.stop, new.stop),
        _trail_weight(now.trail, new.trail),
        _target_weight(now.target, new.target),
    ]
    order: tuple[Weight, ...] = ("nothing", "adds", "tightens", "moves target", "loosens")
    return max(weights, key=order.index)


def _stop_weight(trade: TradeRow, now: Decimal | None, new: Decimal | None) -> Weight:
    if now == new:
        return "nothing"
    if now is None:
        return "adds"
    if new is None:
        return "loosens"
    tighter = new > now if trade.units > 0 else new < now
    return "tightens" if tighter else "loosens"


def _trail_weight(now: Decimal | None, new: Decimal | None) -> Weight:
    if now == new:
        return "nothing"
    if now is None:
        return "adds"
    return "tightens" if new is not None and new < now else "loosens"


def _target_weight(now: Decimal | None, new: Decimal | None) -> Weight:
    if now == new:
        return "nothing"
    return "adds" if now is None else "moves target"


def refusals(draft: ProtectionDraft, trade: TradeRow, facts: Facts) -> Sequence[str]:
    """Return what cannot be meant; a stop that the price already passed would fire at once."""
    now, new = protection_of(trade), wanted(draft, trade, facts)
    unread = [name for name in FIELDS if draft.entry(name).text and draft.entry(name).value is None]
    if unread:
        return [f"{unread[0]} is no number yet"]
    reasons = []
    if new.stop != now.stop and new.stop is not None:
        reasons += _fires_at_once(trade, new.stop, facts)
    if new.target != now.target and new.target is not None:
        reasons += _fills_at_once(trade, new.target, facts)
    if new.trail != now.trail and new.trail is not None:
        reasons += _trail_out_of_range(new.trail, facts)
    if not reasons and new == now:
        reasons.append("Nothing changed yet: ↑ ↓ nudge, digits set, s t r pick")
    return reasons


def _fires_at_once(trade: TradeRow, stop: Decimal, facts: Facts) -> list[str]:
    close = closing_price(trade.units, facts.bid, facts.ask)
    passed = stop >= close if trade.units > 0 else stop <= close
    return (
        [f"A stop at {stop} would fire now, the price is {close}: close it instead"]
        if passed
        else []
    )


def _fills_at_once(trade: TradeRow, target: Decimal, facts: Facts) -> list[str]:
    close = closing_price(trade.units, facts.bid, facts.ask)
    passed = target <= close if trade.units > 0 else target >= close
    return (
        [f"A target at {target} would fill now, the price is {close}: close it instead"]
        if passed
        else []
    )


def _trail_out_of_range(trail: Decimal, facts: Facts) -> list[str]:
    least, most = facts.rules.minimum_trail, facts.rules.maximum_trail
    if trail < least:
        return [
            f"Trailing distance below the broker's least, {(least / facts.rules.pip).normalize():f} pips"
        ]
    if most and trail > most:
        return [
            f"Trailing distance over the broker's most, {(most / facts.rules.pip).normalize():f} pips"
        ]
    return []


@dataclass(frozen=True, slots=True)
class Outlook:
    """What the levels come to, home currency; None: no such level."""

    at_stop: Decimal | None  # negative: lost
    at_target: Decimal | None


def outlook(trade: TradeRow, levels: Protection, facts: Facts) -> Outlook:
    """Return what the trade makes at its stop and at its target."""
    at_stop = at_target = None
    if levels.stop is not None:
        lost = open_risk(trade.units, trade.price, levels.stop, facts.factors)
        kept = locked_profit(trade.units, trade.price, levels.stop, facts.factors)
        at_stop = kept - lost if kept else -lost if lost else NOTHING
    if levels.target is not None:
        at_target = reward(trade.units, trade.price, levels.target, facts.factors)
    return Outlook(at_stop, at_target)
