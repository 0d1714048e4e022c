"""What a poll of the account brings: the service's own figures, and a check of everything we folded."""

from collections.abc import Iterator
from decimal import Decimal

from keydesk.store.state import AccountState, Topic, id_order
from keydesk.store.store import Store
from keydesk.store.valuation import plain_margin
from keydesk_client.models import (
    AccountChanges,
    AccountChangesState,
    Position,
    TradeSummary,
)

NOTHING = Decimal(0)


def take_state(store: Store, state: AccountChangesState) -> None:
    """Overwrite what depends on prices by the service's figures of this moment."""
    account = store.account
    if account is None:
        return
    account.unrealized_pl = state.unrealized_pl
    account.nav = state.nav
    account.margin_used = state.margin_used
    account.margin_available = state.margin_available
    account.margin_closeout_percent = state.margin_closeout_percent
    account.mid_nav = state.margin_closeout_nav
    for each in state.trades:
        trade = store.trades.get(each.id)
        if trade is not None:
            trade.unrealized_pl, trade.margin_used = each.unrealized_pl, each.margin_used
            store.mark(Topic.TRADES, each.id)
    _take_positions(store, state)
    _take_trailing_stops(store, state)
    store.mark(Topic.ACCOUNT)


def differences(
    store: Store, changes: AccountChanges, state: AccountChangesState
) -> tuple[str, ...]:
    """In words, where the account that we folded is not the one that the service has.

    Only to be asked when both are at the same transaction. Empty when all agrees.
    """
    if store.account is None:
        return ()
    found = [
        *_totals(store.account, state),
        *_open_trades(store, state),
        *_changed_trades(store, changes),
        *_changed_positions(store, changes),
        *_changed_orders(store, changes),
    ]
    return tuple(found)


def _take_positions(store: Store, state: AccountChangesState) -> None:
    for each in state.positions:
        position = store.positions.get(each.instrument)
        if position is None:
            continue
        position.unrealized_pl = each.net_unrealized_pl
        position.margin_used = each.margin_used
        ours = plain_margin(store, position)
        if ours:
            position.margin_factor = each.margin_used / ours
        store.mark(Topic.POSITIONS, each.instrument)


def _take_trailing_stops(store: Store, state: AccountChangesState) -> None:
    for each in state.orders:
        order = store.orders.get(each.id)
        if order is None or each.trailing_stop_value is None:
            continue
        order.price = each.trailing_stop_value
        store.mark(Topic.ORDERS, each.id)
        trade = store.trades.get(order.trade_id or "")
        if trade is not None and trade.trailing_stop is not None:
            trade.trailing_stop.price = each.trailing_stop_value
            store.mark(Topic.TRADES, trade.id)


def _totals(account: AccountState, state: AccountChangesState) -> Iterator[str]:
    """The running totals, where the service sends them with its state."""
    for name, ours, theirs in (
        ("balance", account.balance, state.balance),
        ("realised P/L", account.pl, state.pl),
        ("financing", account.financing, state.financing),
    ):
        if theirs is not None and theirs != ours:
            yield f"{name} {ours} here, {theirs} at the broker"


def _open_trades(store: Store, state: AccountChangesState) -> Iterator[str]:
    theirs = {trade.id for trade in state.trades}
    for trade_id in sorted(theirs - store.trades.keys(), key=id_order):
        yield f"trade {trade_id} is open at the broker, unknown here"
    for trade_id in sorted(store.trades.keys() - theirs, key=id_order):
        yield f"trade {trade_id} is open here, not at the broker"


def _changed_trades(store: Store, changes: AccountChanges) -> Iterator[str]:
    for trade in (*changes.trades_opened, *changes.trades_reduced):
        yield from _trade(store, trade)


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
    for theirs in changes.positions:
        long_units, short_units = _held(store, theirs)
        if (long_units, short_units) != (theirs.long.units, theirs.short.units):
            yield (
                f"position {theirs.instrument} is {long_units} and {short_units} here,"
                f" {theirs.long.units} and {theirs.short.units} at the broker"
            )


def _held(store: Store, theirs: Position) -> tuple[Decimal, Decimal]:
    ours = store.positions.get(theirs.instrument)
    return (NOTHING, NOTHING) if ours is None else (ours.long_units, ours.short_units)


def _changed_orders(store: Store, changes: AccountChanges) -> Iterator[str]:
    ended = {order.id for order in (*changes.orders_cancelled, *changes.orders_filled)}
    for order in changes.orders_created:
        if order.state == "PENDING" and order.id not in ended and order.id not in store.orders:
            yield f"order {order.id} is pending at the broker, unknown here"
    for order_id in sorted(ended & store.orders.keys(), key=id_order):
        yield f"order {order_id} is pending here, ended at the broker"
