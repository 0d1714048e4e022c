"""Filling an order: it is filled with everything that belongs to it, or cancelled with the reason why not."""

from keydesk_practice.engine.fills.deals import WAITS, Deal, work_out
from keydesk_practice.engine.fills.dependents_on_fill import create_on_fill
from keydesk_practice.engine.fills.fill_records import record_fill
from keydesk_practice.engine.state.decision import Decision
from keydesk_practice.engine.state.records import Order, Trade
from keydesk_practice.engine.transactions import (
    OrderCancelled,
    OrderFilled,
)


def fill_or_cancel(
    decision: Decision, order_id: int, *, trade: Trade | None = None, reason: str | None = None
) -> OrderFilled | OrderCancelled | None:
    """Fill an order now or cancel it with the reason why not; None when a limit order rests on.

    A close of one trade names the trade; `reason` overrides the fill reason of the order's type.
    """
    order = decision.account.orders[order_id]
    found = work_out(decision, order, trade)
    if isinstance(found, Deal):
        return _record(decision, found, reason or order.created.fill_reason)
    if found == WAITS:
        return None
    return cancel(decision, order, found)


def cancel(
    decision: Decision, order: Order, reason: str, replaced_by: int | None = None
) -> OrderCancelled:
    """Cancel a pending order."""
    return decision.record(
        OrderCancelled,
        order_id=order.id,
        client_order_id=order.client_id,
        reason=reason,
        replaced_by_order_id=replaced_by,
    )


def _record(decision: Decision, deal: Deal, reason: str) -> OrderFilled:
    """Record a fill with everything that belongs to it."""
    fill = record_fill(decision, deal, reason)
    if deal.plan.opens and deal.order.entry is not None:
        create_on_fill(decision, deal.order.entry, fill, deal.opening)
    for part in deal.plan.reductions:
        _cancel_orphans(decision, part.trade)
    return fill


def _cancel_orphans(decision: Decision, trade: Trade) -> None:
    """Cancel what belonged to a trade, as it was before the fill, if the trade is closed now."""
    account = decision.account
    if trade.id in account.trades:
        return
    for order_id in sorted(trade.dependents.values()):
        if order_id in account.orders:
            cancel(decision, account.orders[order_id], "LINKED_TRADE_CLOSED")
