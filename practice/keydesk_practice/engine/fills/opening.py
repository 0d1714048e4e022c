"""Whether the account may open what a fill would open: margin, limits, the rules of its division."""

from decimal import Decimal

from keydesk_practice.engine.fills.fill_plans import FillPlan
from keydesk_practice.engine.quotes import Market
from keydesk_practice.engine.state.account import Account
from keydesk_practice.engine.state.records import Order
from keydesk_practice.engine.valuation import (
    counted_units,
    margin_available,
    margin_of_units,
    specification_of,
)


def opening_problem(account: Account, market: Market, order: Order, plan: FillPlan) -> str | None:
    """Return why the account may not open what the plan opens; reducing is always allowed."""
    return (
        _label_problem(account, order)
        or _limit_problem(account, market, order, plan)
        or _hedging_problem(account, order, plan)
        or _margin_problem(account, market, order, plan)
    )


def _label_problem(account: Account, order: Order) -> str | None:
    labels = order.trade_client_extensions
    taken = labels is not None and labels.id in account.trade_ids
    return "CLIENT_TRADE_ID_ALREADY_EXISTS" if taken else None


def _limit_problem(account: Account, market: Market, order: Order, plan: FillPlan) -> str | None:
    if len(account.trades) >= account.terms.most_open_trades:
        return "OPEN_TRADES_ALLOWED_EXCEEDED"
    most = specification_of(market, order.instrument).maximum_position_size
    long, short = _units_after(account, order.instrument, plan)
    return "POSITION_SIZE_EXCEEDED" if most and max(long, short) > most else None


def _hedging_problem(account: Account, order: Order, plan: FillPlan) -> str | None:
    """An instrument with a guaranteed stop on one side may not be held on the other."""
    position = account.position(order.instrument)
    other = position.short if plan.opens > 0 else position.long
    guarded = any(account.trades[id_].guaranteed_stop_loss_id for id_ in other.trade_ids)
    return "HEDGING_GSLO_VIOLATION" if guarded and account.terms.hedging else None


def _margin_problem(account: Account, market: Market, order: Order, plan: FillPlan) -> str | None:
    """The margin that the position needs more than now must be available."""
    before = counted_units(account.position(order.instrument))
    after = max(_units_after(account, order.instrument, plan))
    if after <= before:
        return None
    needed = margin_of_units(account, market, order.instrument, after - before)
    return "INSUFFICIENT_MARGIN" if needed > margin_available(account, market) else None


def _units_after(account: Account, instrument: str, plan: FillPlan) -> tuple[Decimal, Decimal]:
    """Return the unsigned units of both sides after a plan."""
    position = account.position(instrument)
    long, short = position.long.units, -position.short.units
    reduced = sum((part.units for part in plan.reductions), Decimal(0))
    if plan.opens > 0 or reduced > 0:
        return long + plan.opens, short - reduced
    return long + reduced, short - plan.opens
