"""Apply an account snapshot or a poll of changes to the store, and compare the poll with the folded account."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal
from functools import partial

from keydesk.calc.risk import FIRST_STOP_WITHIN_NS
from keydesk.records import AccountState, OrderRow, TradeRow
from keydesk.store.rows import attach, order_row, trade_row
from keydesk.store.state import Topic
from keydesk.store.store import Store, amount, number_of, price, readable, try_to
from keydesk.store.valuation import plain_margin, rebuild_position
from keydesk.text.sanitize import clean
from keydesk_client.models import (
    Account,
    AccountChanges,
    AccountChangesState,
    CalculatedPositionState,
    CalculatedTradeState,
    DynamicOrderState,
    Position,
    TradeSummary,
)

NOTHING = Decimal(0)


def take_snapshot(store: Store, account: Account) -> None:
    """Replace the account by a snapshot of the broker.

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
    """Return the account figures; the day's start, which only the desk knows, is carried over."""
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
    """Record a stop as the trade's initial one if it is the first and was set soon after the fill."""
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


def take_state(store: Store, state: AccountChangesState) -> None:
    """Overwrite the price-dependent figures by those of the broker."""
    account = store.account
    if account is None:
        return
    for take in (_take_figures, _take_trades, _take_positions, _take_trailing_stops):
        try_to(store, partial(take, store, state))
    store.mark(Topic.ACCOUNT)


def _take_figures(store: Store, state: AccountChangesState) -> None:
    account = store.account
    figures = (
        state.unrealized_pl,
        state.nav,
        state.margin_used,
        state.margin_available,
        state.margin_closeout_percent,
        state.margin_closeout_nav,
    )
    if account is None:
        return
    (
        account.unrealized_pl,
        account.nav,
        account.margin_used,
        account.margin_available,
        account.margin_closeout_percent,
        account.mid_nav,
    ) = map(amount, figures)


def _take_trades(store: Store, state: AccountChangesState) -> None:
    for each in state.trades:
        try_to(store, partial(_take_trade, store, each))


def _take_positions(store: Store, state: AccountChangesState) -> None:
    for each in state.positions:
        try_to(store, partial(_take_position, store, each))


def _take_trailing_stops(store: Store, state: AccountChangesState) -> None:
    for each in state.orders:
        try_to(store, partial(_take_trailing_stop, store, each))


def _take_trade(store: Store, theirs: CalculatedTradeState) -> None:
    trade = store.trades.get(theirs.id)
    if trade is not None:
        result, used = amount(theirs.unrealized_pl), amount(theirs.margin_used)
        trade.unrealized_pl, trade.margin_used = result, used
        store.mark(Topic.TRADES, theirs.id)


def differences(
    store: Store, changes: AccountChanges, state: AccountChangesState
) -> tuple[str, ...]:
    """Return in words how the folded account differs from the broker's.

    Only to be asked when both are at the same transaction. Empty when all agrees.
    """
    if store.account is None:
        return ()
    parts = (
        partial(_totals, store.account, state),
        partial(_open_trades, store, state),
        partial(_changed_trades, store, changes),
        partial(_changed_positions, store, changes),
        partial(_changed_orders, store, changes),
    )
    return tuple(words for part in readable(store, _listed, parts) for words in part)


def _listed(part: Callable[[], Iterable[str]]) -> Sequence[str]:
    return tuple(part())


def _take_position(store: Store, theirs: CalculatedPositionState) -> None:
    position = store.positions.get(theirs.instrument)
    if position is None:
        return
    result, used = amount(theirs.net_unrealized_pl), amount(theirs.margin_used)
    position.unrealized_pl, position.margin_used = result, used
    ours = plain_margin(store, position)
    if ours:
        position.margin_factor = used / ours
    store.mark(Topic.POSITIONS, theirs.instrument)


def _take_trailing_stop(store: Store, theirs: DynamicOrderState) -> None:
    order, level = store.orders.get(theirs.id), theirs.trailing_stop_value
    if order is None or level is None:
        return
    order.price = price(level)
    store.mark(Topic.ORDERS, theirs.id)
    trade = store.trades.get(order.trade_id or "")
    if trade is not None and trade.trailing_stop is not None:
        trade.trailing_stop.price = level
        store.mark(Topic.TRADES, trade.id)


def _totals(account: AccountState, state: AccountChangesState) -> Iterator[str]:
    """Copy the running totals, if the broker sends them with its state."""
    for name, ours, theirs in (
        ("balance", account.balance, state.balance),
        ("realised P/L", account.pl, state.pl),
        ("financing", account.financing, state.financing),
    ):
        if theirs is not None and theirs != ours:
            yield f"{name} {ours} here, {theirs} at the broker"


def _open_trades(store: Store, state: AccountChangesState) -> Iterator[str]:
    theirs = set(readable(store, lambda trade: str(number_of(trade.id)), state.trades))
    for trade_id in sorted(theirs - store.trades.keys(), key=int):
        yield f"trade {trade_id} is open at the broker, unknown here"
    if len(theirs) < len(state.trades):
        return  # which one of ours is the unreadable one is not known
    for trade_id in sorted(store.trades.keys() - theirs, key=int):
        yield f"trade {trade_id} is open here, not at the broker"


def _changed_trades(store: Store, changes: AccountChanges) -> Iterator[str]:
    trades = (*changes.trades_opened, *changes.trades_reduced)
    for words in readable(store, lambda trade: tuple(_trade(store, trade)), trades):
        yield from words


def _trade(store: Store, theirs: TradeSummary) -> Iterator[str]:
    ours = store.trades.get(theirs.id)
    if ours is None:
        return  # closed since, or named already
    if ours.units != theirs.current_units:
        yield f"trade {ours.id} has {ours.units} units here, {theirs.current_units} at the broker"
    if ours.realized_pl != theirs.realized_pl:
        yield f"trade {ours.id} realised {ours.realized_pl} here, {theirs.realized_pl} at the broker"
    if ours.financing != theirs.financing:
        yield f"trade {ours.id} financing {ours.financing} here, {theirs.financing} at the broker"
    for name, standing, order_id in (
        ("target", ours.take_profit, theirs.take_profit_order_id),
        ("stop", ours.stop_loss, theirs.stop_loss_order_id),
        ("trailing stop", ours.trailing_stop, theirs.trailing_stop_loss_order_id),
        ("guaranteed stop", ours.guaranteed_stop, theirs.guaranteed_stop_loss_order_id),
    ):
        here = None if standing is None else standing.order_id
        if here != order_id:
            yield f"{name} of trade {ours.id} is {here or 'none'} here, {order_id or 'none'} at the broker"


def _changed_positions(store: Store, changes: AccountChanges) -> Iterator[str]:
    for words in readable(store, partial(_position, store), changes.positions):
        yield from words


def _position(store: Store, theirs: Position) -> Sequence[str]:
    long_units, short_units = _held_units(store, theirs)
    if (long_units, short_units) == (theirs.long.units, theirs.short.units):
        return ()
    here, there = f"{long_units} and {short_units}", f"{theirs.long.units} and {theirs.short.units}"
    return (f"position {theirs.instrument} is {here} here, {there} at the broker",)


def _held_units(store: Store, theirs: Position) -> tuple[Decimal, Decimal]:
    ours = store.positions.get(theirs.instrument)
    return (NOTHING, NOTHING) if ours is None else (ours.long_units, ours.short_units)


def _changed_orders(store: Store, changes: AccountChanges) -> Iterator[str]:
    gone = (*changes.orders_cancelled, *changes.orders_filled)
    ended = set(readable(store, lambda order: order.id, gone))
    states = readable(store, lambda order: (order.id, order.state), changes.orders_created)
    for order_id, state in states:
        if state == "PENDING" and order_id not in ended and order_id not in store.orders:
            yield f"order {order_id} is pending at the broker, unknown here"
    for order_id in sorted(ended & store.orders.keys(), key=int):
        yield f"order {order_id} is pending here, ended at the broker"
