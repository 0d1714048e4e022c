"""The order that a ticket sends, frozen from what is on the screen, and whether the price ran since it was seen."""

from collections import deque
from datetime import tzinfo
from decimal import Decimal

from msgspec import Struct

from keydesk.calc.orders.instructions import OpenOrder
from keydesk.calc.orders.lifetime import (
    TILL_CANCELLED,
    TYPED_EXPIRY,
    UNCHANGED_LIFETIME,
    Lifetime,
    expiry_ns,
    frozen,
)
from keydesk.calc.orders.plans.exit_plans import ExitRules
from keydesk.calc.orders.plans.scale_out import OrderPart
from keydesk.calc.orders.ticket import Plan
from keydesk.calc.orders.ticket_draft import LEVELS, DependentName, Draft
from keydesk.calc.orders.ticket_levels import sendable
from keydesk.calc.orders.ticket_units import touch_of
from keydesk.calc.risk.sizing import slippage_allowed
from keydesk.calc.risk.trading_context import TradingContext

REACTION = 0.5  # seconds; a younger price cannot be what the trader decided on
MAX_ADVERSE_MOVE = Decimal("0.25")  # of the distance to the stop: 0.25 R


class Ends(Struct, frozen=True):
    """When an order ends, and how long stop, target and trailing stop live that its fill sets."""

    order: int | None  # the instant, of an expiry that was typed
    stop: Lifetime
    target: Lifetime
    trail: Lifetime


def order_of(
    draft: Draft,
    plan: Plan,
    ends: Ends | None,
    rules: ExitRules | None,
    parts: tuple[OrderPart, ...] | str,
) -> OpenOrder | None:
    """Return the order of a ticket; None while a field, its exit plan or its scale-out cannot be read."""
    levels = sendable(plan.levels)
    if levels is None or rules is None or ends is None:
        return None
    if isinstance(parts, str):
        return None
    members = draft.members
    return OpenOrder(
        instrument=draft.instrument,
        kind=draft.kind,
        units=draft.direction * plan.units,
        price=None if draft.kind == "MARKET" else levels.entry,
        bound=levels.bound,
        expected=levels.entry,
        stop=levels.stop,
        target=levels.target,
        trail=levels.trail,
        expiry=draft.expiry,
        reduces=plan.reduces,
        gtd_ns=ends.order,
        guaranteed=members.guaranteed and levels.stop is not None,
        stop_distance=_distance_from_fill(draft, plan),
        fill=members.fill,
        trigger=members.trigger,
        stop_lifetime=ends.stop,
        target_lifetime=ends.target,
        trail_lifetime=ends.trail,
        tag=members.tag,
        comment=members.comment,
        trade_id=members.trade_id,
        exit_rules=rules,
        parts=parts,
        draft=draft,
    )


def _distance_from_fill(draft: Draft, plan: Plan) -> Decimal | None:
    """Return how far the stop stands from the fill, None where it is sent at its price."""
    fill, stop = plan.average or plan.levels.entry, plan.levels.stop
    if not draft.stop_counts_from_fill:
        return None
    if not isinstance(fill, Decimal) or not isinstance(stop, Decimal):
        return None
    return draft.direction * (fill - stop)


def ends_of(draft: Draft, now_ns: int, zone: tzinfo) -> Ends | None:
    """Return when the order of a ticket ends, and how long what the fill sets lives; None while a typed end cannot be read."""
    members, order = draft.members, None
    if draft.expiry == TYPED_EXPIRY:
        typed = expiry_ns(members.gtd_text, members.gtd_typed_ns, now_ns, zone)
        if not isinstance(typed, int):
            return None
        order = typed
    lives = {name: _lifetime_of(draft, name, now_ns, zone) for name in LEVELS}
    stop, target, trail = lives["stop"], lives["target"], lives["trail"]
    if stop is None or target is None or trail is None:
        return None
    return Ends(order, stop, target, trail)


def _lifetime_of(draft: Draft, name: DependentName, now_ns: int, zone: tzinfo) -> Lifetime | None:
    lifetime = draft.members.lifetime(name)
    if not draft.entry(name).text or lifetime == TILL_CANCELLED:
        return UNCHANGED_LIFETIME
    return frozen(lifetime, now_ns, zone)


class SeenPrices:
    """The prices that a ticket has shown, as far back as a person reacts to."""

    def __init__(self) -> None:
        self._prices: deque[tuple[float, Decimal]] = deque()  # with monotonic seconds

    def add(self, now: float, touch: Decimal) -> None:
        """Note a price that is drawn now."""
        self._prices.append((now, touch))
        while len(self._prices) > 1 and self._prices[1][0] <= now - REACTION:
            self._prices.popleft()

    def recheck_reason(self, draft: Draft, plan: Plan, context: TradingContext) -> str:
        """Return, once, that the price ran against the order since it was seen; "" if it did not."""
        if not self._prices:
            return ""
        touch, seen = touch_of(draft, context), self._prices[0][1]
        allowed = slippage_allowed(context.bid, context.ask, context.rules.pip)
        if plan.distance is not None:
            allowed = min(allowed, plan.distance * MAX_ADVERSE_MOVE)
        if draft.direction * (touch - seen) <= allowed:
            return ""
        self._prices.clear()
        return f"The price just moved from {seen} to {touch}: press again to send at that"
