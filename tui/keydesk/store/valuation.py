"""Revalue the account once a frame, after the prices that changed, and turn the trading day.

Values are the client library's formulas (`keydesk_client.account.valuation`).
"""

from collections.abc import Iterable

from keydesk.calc.market.trading_day import day_profit, day_start, nav_at_start, next_day_start
from keydesk.store.candles import begin_day
from keydesk.store.state import Topic
from keydesk.store.store import Store
from keydesk.values import AccountState, Today
from keydesk_client.account.valuation import measure_order, revalue_account, revalue_position


def revalue(store: Store, now: float) -> None:
    """Update everything that depends on prices; runs before each frame."""
    prices = store.dirty_keys(Topic.PRICES)
    note_spreads(store, prices, now)
    account = store.account
    if account is None:
        return
    held = _to_revalue(store, prices)
    for instrument in held:
        revalue_position(store, instrument)
    if prices or store.dirty_keys(Topic.ORDERS):
        _measure_orders(store, prices)
    begins_day = turn_day(store, account)
    if held or begins_day or store.dirty_keys(Topic.ACCOUNT):
        revalue_account(store, account)
        revalue_day(store)


def turn_day(store: Store, account: AccountState) -> bool:
    """Begin a new trading day at 17:00 New York; return whether one began.

    Its start is that of the desk's prices until it is counted as after a restart, from the broker's prices of that instant.
    """
    today = store.today
    if today is None or store.clock_ns < next_day_start(today.start_ns):
        if today is not None and 0 < store.clock_ns < today.start_ns:  # the clock was ahead
            today.wants_count = True
        return False
    start = day_start(store.clock_ns)
    store.today = Today(start, unrealized_then=account.unrealized_pl, wants_count=True)
    begin_day(store)
    return True


def note_spreads(store: Store, moved: Iterable[object], now: float) -> None:
    """Sample the spreads of the prices that moved."""
    for name in moved:
        if (quote := store.quotes.get(str(name))) is not None:
            store.spreads.note(quote.instrument, quote.ask - quote.bid, now)


def revalue_day(store: Store) -> None:
    """Measure the trading day; a start that cannot be counted is the first NAV seen, less what was paid in before."""
    today, account = store.today, store.account
    if today is None or account is None:
        return
    account.day_transfers = today.transfers
    if today.unrealized_then is not None:
        account.day_start_nav = nav_at_start(
            account.balance, today.booked, today.transfers, today.unrealized_then
        )
    else:
        if today.start_nav is None:
            today.start_nav = account.nav - today.transfers
        account.day_start_nav = today.start_nav
    account.day_pl = day_profit(account.nav, account.day_start_nav, today.transfers)


def _to_revalue(store: Store, prices: frozenset[object]) -> set[str]:
    positions, trades = store.dirty_keys(Topic.POSITIONS), store.dirty_keys(Topic.TRADES)
    if None in positions or None in trades or None in prices:
        return set(store.positions)
    held = {name for name in store.positions if name in prices or name in positions}
    return held | {trade.instrument for trade in store.trades.values() if trade.id in trades}


def _measure_orders(store: Store, moved: frozenset[object]) -> None:
    fresh = store.dirty_keys(Topic.ORDERS)
    for order in store.orders.values():
        if order.instrument in moved or None in fresh or order.id in fresh:
            measure_order(store, order)
