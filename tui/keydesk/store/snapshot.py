"""The account as the service tells it whole: the ground that transactions are folded onto."""

from decimal import Decimal
from functools import partial

from keydesk.calc.risk import FIRST_STOP_WITHIN_NS
from keydesk.records import AccountState, OrderRow, TradeRow
from keydesk.store.positions import rebuild_position
from keydesk.store.rows import attach, order_row, trade_row
from keydesk.store.state import Topic
from keydesk.store.store import Store
from keydesk.store.unreadable import amount, number_of, readable
from keydesk.text.sanitize import clean
from keydesk_client.models import Account


def take_snapshot(store: Store, account: Account) -> None:
    """Replace all that is known of the account by what the service says now.

    Trades and orders that cannot be read are left out; without the account's own figures nothing changes, and what
    they raise is raised.
    """
    known = store.trades
    held_before = set(store.positions)
    state = account_state(account, store.account)
    read = readable(store, trade_row, account.trades)
    trades = {row.id: row for row in sorted(read, key=lambda row: int(row.id))}
    rows = readable(store, partial(order_row, trades=trades), account.orders)
    store.orders = {row.id: row for row in rows if row is not None}
    store.trades, store.account = trades, state
    for order in store.orders.values():
        if order.trade_id in store.trades:
            attach(store.trades[order.trade_id], order)
            remember_first_stop(store.trades[order.trade_id], order)
    for trade in store.trades.values():
        _keep_first_stop(trade, known.get(trade.id))
    for instrument in held_before | {trade.instrument for trade in store.trades.values()}:
        rebuild_position(store, instrument)
    for topic in (Topic.ACCOUNT, Topic.TRADES, Topic.POSITIONS, Topic.ORDERS):
        store.mark(topic)


def account_state(account: Account, before: AccountState | None) -> AccountState:
    """The account strip's numbers; what only we know (the day's start) is carried over."""
    return AccountState(
        id=account.id,
        alias=clean(account.alias or ""),
        currency=account.currency,
        hedging=account.hedging_enabled,
        balance=amount(account.balance),
        nav=amount(account.nav),
        unrealized_pl=amount(account.unrealized_pl),
        margin_used=amount(account.margin_used),
        margin_available=amount(account.margin_available),
        margin_closeout_percent=amount(account.margin_closeout_percent),
        margin_rate=account.margin_rate,
        pl=amount(account.pl),
        financing=amount(account.financing),
        last_transaction_id=number_of(account.last_transaction_id),
        created_time_ns=account.created_time.ns,
        mid_nav=amount(account.margin_closeout_nav),
        day_pl=before.day_pl if before else None,
        day_start_nav=before.day_start_nav if before else None,
        day_transfers=before.day_transfers if before else Decimal(0),
    )


def remember_first_stop(trade: TradeRow, order: OrderRow) -> None:
    """Take a stop as the trade's initial one when it is the first and came soon after the fill."""
    if trade.initial_stop is not None or order.type == "TAKE_PROFIT":
        return
    if order.create_time_ns - trade.open_time_ns > FIRST_STOP_WITHIN_NS:
        return
    if order.type == "TRAILING_STOP_LOSS":
        if order.distance is not None:
            away = order.distance if trade.units > 0 else -order.distance
            trade.initial_stop = trade.price - away
    else:
        trade.initial_stop = order.price


def _keep_first_stop(trade: TradeRow, before: TradeRow | None) -> None:
    if before is not None and before.initial_stop is not None:
        trade.initial_stop, trade.initial_risk = before.initial_stop, before.initial_risk
