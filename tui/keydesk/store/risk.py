"""What the trader's limits look at beyond one ticket: open risk of the account, closed trades, the daily loss lock."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import TYPE_CHECKING

from msgspec.structs import replace

from keydesk.calc.daily_loss import DayResult, LossLock, is_set, lock_text
from keydesk.calc.orders.limits import cool_off_text
from keydesk.calc.orders.ticket_settings import Limits
from keydesk.calc.risk.sizing import median
from keydesk.calc.risk.trading_context import OpenRisk
from keydesk.store.state import Topic
from keydesk.store.store import Store
from keydesk.store.trading_context import factors_of
from keydesk.values import ClosedTrade, OpeningCosts, OrderRow, TradeRow, id_order, is_unprotected
from keydesk_client.arithmetic.constants import ZERO

if TYPE_CHECKING:
    from keydesk_client.models import OrderFillTransaction

MAX_CLOSED = 1000  # trades; a row of losses is shorter
USUAL_OF = 20  # the newest trades of an instrument, whose median size is its usual one
USUAL_FROM = 3  # trades
NOT_KNOWN = (
    "The loss of the day is still being read, and you set a limit for it: exits work, wait a moment"
)


def open_risk_of(store: Store, *, without: str = "") -> OpenRisk:
    """Return what is at risk: open trades to their stops, and entry orders as if they filled.

    Trades of the instrument `without` are left out: a reversal closes them.
    """
    trades = [each for each in store.trades.values() if each.instrument != without]
    entries = [each for each in store.orders.values() if each.trade_id is None and not each.reduces]
    risks = [trade.risk for trade in trades]
    risks += [_entry_risk(store, each) for each in entries]
    known = [each for each in risks if each is not None]
    return OpenRisk(
        trades=len(trades),
        entries=len(entries),
        cash=sum(known, ZERO),
        unprotected=len(risks) - len(known),
        unread=len(store.unread.trades) + len(store.unread.orders),
    )


def unprotected_trades(store: Store) -> list[TradeRow]:
    """Return the open trades without any stop, oldest first."""
    unprotected = [trade for trade in store.trades.values() if is_unprotected(trade)]
    return sorted(unprotected, key=lambda trade: id_order(trade.id))


def _entry_risk(store: Store, order: OrderRow) -> Decimal | None:
    """Return the loss of an entry order at its stop; None without one, or while it is not known."""
    factors = factors_of(store, order.instrument)
    if factors is None or order.units is None or order.price is None:
        return None
    distances = [] if order.trail is None else [order.trail]
    if order.stop_loss is not None:
        distances.append(abs(order.price - order.stop_loss))
    return abs(order.units) * min(distances) * factors.loss if distances else None


def day_result(store: Store) -> DayResult:
    """Return the loss of the day since 17:00 New York, without transfers; unknown before it was counted."""
    account = store.account
    if account is None or account.day_pl is None:
        return DayResult(currency=account.currency if account is not None else "")
    start = account.day_start_nav
    base = None if start is None else start + account.day_transfers
    return DayResult(-account.day_pl, base, account.currency)


def keep_day_start(store: Store, lock: LossLock) -> LossLock:
    """Keep the start of a day that cannot be counted with the day's lock, or take it from there as it was kept."""
    today = store.today
    if today is None or today.unrealized_then is not None or lock.day_ns != today.start_ns:
        return lock
    if lock.start_nav is None:
        return replace(lock, start_nav=today.start_nav)
    if today.start_nav != lock.start_nav:
        today.start_nav = lock.start_nav
        store.mark(Topic.ACCOUNT)
    return lock


def exit_only_text(store: Store, limits: Limits, now_ns: int) -> str:
    """Return why no risk may be opened now, "" if it may: the daily loss lock, or a pause after losses."""
    locked = lock_text(store.loss_lock, now_ns)
    if locked:
        return locked
    if is_set(limits) and day_result(store).loss is None:
        return NOT_KNOWN
    return cool_off_text(store.closed, limits, now_ns)


# Costs and results of trades.


def note_opening(store: Store, fill: OrderFillTransaction) -> None:
    """Remember the size of the trade that a fill opened, its commission and the fee of its guaranteed stop."""
    opened = fill.trade_opened
    if opened is None or not fill.units:
        return
    store.opened[opened.trade_id] = (fill.instrument, abs(opened.units))
    if len(store.opened) > MAX_CLOSED:
        del store.opened[min(store.opened, key=id_order)]
    share = abs(opened.units / fill.units)  # a reversal pays for the part that it closed as well
    costs = OpeningCosts(fill.commission * share, opened.guaranteed_execution_fee or ZERO)
    if costs != OpeningCosts():
        store.opening_costs[opened.trade_id] = costs


def usual_size(store: Store, instrument: str) -> Decimal | None:
    """Return the median units of the newest trades of an instrument, None while too few are known."""
    own = [trade_id for trade_id, (name, _) in store.opened.items() if name == instrument]
    newest = sorted(own, key=id_order)[-USUAL_OF:]
    return median(store.opened[each][1] for each in newest) if len(own) >= USUAL_FROM else None


def costs_until_closed(store: Store, trade: TradeRow) -> Decimal:
    """Return what a trade has cost and will cost to close, home currency, negative when paid: for its break-even.

    Financing so far, the fee of the guaranteed stop and the commission; closing pays as much commission again. Of a trade
    that was closed in part, the share of the units that are open.
    """
    costs = store.opening_costs.get(trade.id)
    if costs is None or not trade.initial_units:
        return trade.financing
    share = abs(trade.units / trade.initial_units)
    return trade.financing - share * (2 * costs.commission + costs.guarantee)


def note_closed(store: Store, fill: OrderFillTransaction) -> None:
    """Add the trades that a fill closed in full; parts closed before count with the last one."""
    reduced = [] if fill.trade_reduced is None else [fill.trade_reduced]
    for part in reduced:
        before = store.closed_parts.get(part.trade_id, ZERO)
        store.closed_parts[part.trade_id] = before + part.realized_pl + part.financing
    for part in fill.trades_closed or ():
        before = store.closed_parts.pop(part.trade_id, ZERO)
        result = before + part.realized_pl + part.financing
        store.closed.append(ClosedTrade(part.trade_id, fill.time.ns, result))
    del store.closed[:-MAX_CLOSED]


def count_closed(store: Store, fills: Iterable[OrderFillTransaction]) -> None:
    """Count the closed trades anew, from fills in ascending order."""
    store.closed.clear()
    store.closed_parts.clear()
    for fill in fills:
        note_closed(store, fill)
