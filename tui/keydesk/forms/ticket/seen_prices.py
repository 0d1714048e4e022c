"""Whether the price ran since the trader saw it on a ticket."""

from collections import deque
from decimal import Decimal

from keydesk.calc.orders.ticket import Plan
from keydesk.calc.orders.ticket_draft import Draft
from keydesk.calc.orders.ticket_units import touch_of
from keydesk.calc.risk.sizing import slippage_allowed
from keydesk.calc.risk.trading_context import TradingContext

REACTION = 0.5  # seconds; a younger price cannot be what the trader decided on
MAX_ADVERSE_MOVE = Decimal("0.25")  # of the distance to the stop: 0.25 R


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
