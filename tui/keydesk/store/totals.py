"""The account's totals from its trades and positions, and what the trading day has made so far."""

from decimal import Decimal

from keydesk.calc import margin
from keydesk.calc.day import day_profit, day_start, nav_at_start, next_day_start
from keydesk.records import AccountState, Today, TradeRow
from keydesk.store.candles import begin_day
from keydesk.store.positions import total
from keydesk.store.state import Topic
from keydesk.store.store import Store

NOTHING = Decimal(0)


def revalue_account(store: Store, account: AccountState) -> None:
    """Add the account's figures up from its trades and positions; what is not known yet stays the service's."""
    trades, positions = store.trades.values(), store.positions.values()
    unrealized = total(trade.unrealized_pl for trade in trades)
    used = total(position.margin_used for position in positions)
    mid_pl = total(position.mid_pl for position in positions)
    if unrealized is not None:
        account.unrealized_pl = unrealized
        account.nav = account.balance + unrealized
    if used is not None:
        account.margin_used = used
    account.margin_available = margin.margin_available(account.nav, account.margin_used)
    if mid_pl is not None:
        account.mid_nav = account.balance + mid_pl
        account.margin_closeout_percent = margin.closeout_percent(
            account.margin_used, account.mid_nav
        )
    account.open_risk = sum((trade.risk for trade in trades if trade.risk is not None), NOTHING)
    account.naked_trades = sum(1 for trade in trades if _is_naked(trade))
    _revalue_day(store, account)
    store.mark(Topic.ACCOUNT)


def _is_naked(trade: TradeRow) -> bool:
    return not (trade.stop_loss or trade.trailing_stop or trade.guaranteed_stop)


def _revalue_day(store: Store, account: AccountState) -> None:
    today = store.today
    if today is None or today.unrealized_then is None:
        return
    account.day_transfers = today.transfers
    account.day_start_nav = nav_at_start(
        account.balance, today.booked, today.transfers, today.unrealized_then
    )
    account.day_pl = day_profit(account.nav, account.day_start_nav, today.transfers)


def turn_day(store: Store, account: AccountState) -> bool:
    """At 17:00 New York a new day begins, from what the account is worth at that moment."""
    today = store.today
    if today is None or store.clock_ns < next_day_start(today.start_ns):
        return False
    store.today = Today(day_start(store.clock_ns), unrealized_then=account.unrealized_pl)
    begin_day(store)
    return True
