"""The account as the service tells it whole: the ground that transactions are folded onto."""

from decimal import Decimal

from keydesk.clean import clean
from keydesk.desk.risk import FIRST_STOP_WITHIN_NS
from keydesk.store.positions import rebuild_position
from keydesk.store.rows import attach, order_row, trade_row
from keydesk.store.state import AccountState, OrderRow, Topic, TradeRow, id_order
from keydesk.store.store import Store
from keydesk_client.models import Account


def take_snapshot(store: Store, account: Account) -> None:
    """Replace all that is known of the account by what the service says now."""
    known = store.trades
    held_before = set(store.positions)
    store.trades = {trade.id: trade_row(trade) for trade in reversed(account.trades)}
    store.trades = dict(sorted(store.trades.items(), key=lambda item: id_order(item[0])))
    rows = (order_row(order, store.trades) for order in account.orders)
    store.orders = {row.id: row for row in rows if row is not None}
    for order in store.orders.values():
        if order.trade_id in store.trades:
            attach(store.trades[order.trade_id], order)
            remember_first_stop(store.trades[order.trade_id], order)
    for trade in store.trades.values():
        _keep_first_stop(trade, known.get(trade.id))
    store.account = account_state(account, store.account)
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
        balance=account.balance,
        nav=account.nav,
        unrealized_pl=account.unrealized_pl,
        margin_used=account.margin_used,
        margin_available=account.margin_available,
        margin_closeout_percent=account.margin_closeout_percent,
        margin_rate=account.margin_rate,
        pl=account.pl,
        financing=account.financing,
        last_transaction_id=int(account.last_transaction_id),
        created_time_ns=account.created_time.ns,
        mid_nav=account.margin_closeout_nav,
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
