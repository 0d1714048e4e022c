"""The market moved: orders expire and trigger, owed closes are made up for, and the margin rules look."""

from collections.abc import Iterable

from keydesk_practice.engine.commands import Tick
from keydesk_practice.engine.fills.filling import cancel, fill_or_cancel
from keydesk_practice.engine.margin import close_what_is_owed, margin_moved, watch_margin
from keydesk_practice.engine.quotes import Market
from keydesk_practice.engine.state.account import Account
from keydesk_practice.engine.state.decision import Decision
from keydesk_practice.engine.state.triggers import is_met


def tick(account: Account, command: Tick, market: Market) -> Decision | None:
    """Return what the prices of this instant set off, None when nothing; then nothing is copied."""
    expired = sorted(id_ for id_, time in account.expiries.items() if time <= market.now)
    triggered = sorted(_triggered(account, command, market))
    if not (expired or triggered or margin_moved(account, command, market)):
        return None
    decision = Decision(account, market)
    for order_id in expired:
        decision.begin_batch()
        cancel(decision, decision.account.orders[order_id], "TIME_IN_FORCE_EXPIRED")
    for order_id in triggered:
        if order_id in decision.account.orders:  # a fill before it may have ended it
            decision.begin_batch()
            fill_or_cancel(decision, order_id)
    close_what_is_owed(decision)
    watch_margin(decision)
    return decision


def _triggered(account: Account, command: Tick, market: Market) -> Iterable[int]:
    for instrument, resting in account.triggers.items():
        if command.instruments is not None and instrument not in command.instruments:
            continue
        quote = market.quote(instrument)
        if quote.tradeable:
            yield from (trigger.order_id for trigger in resting if is_met(trigger, quote))
