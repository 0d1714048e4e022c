"""How orders come, change and go in the account, with the indexes that find them."""

from dataclasses import replace
from typing import Any

from keydesk_practice.engine.moments import day_end_after
from keydesk_practice.engine.requests import ClientExtensions
from keydesk_practice.engine.state.account import Account
from keydesk_practice.engine.state.order_states import OrderEvent, order_after, trade_after
from keydesk_practice.engine.state.records import Mark, Order, Trigger, kind_of
from keydesk_practice.engine.state.triggers import trigger_of
from keydesk_practice.engine.transactions import (
    DependentOrderCreated,
    EntryOrderCreated,
    MarketOrderCreated,
    OrderCreated,
    OrderExtensionsModified,
    PendingOrderCreated,
    TradeExtensionsModified,
)


def apply_created(account: Account, created: OrderCreated) -> None:
    """Put a new order in."""
    order = order_of(account, created)
    account.orders[order.id] = order
    if order.client_id is not None:
        account.order_ids[order.client_id] = order.id
    if isinstance(created, MarketOrderCreated):
        return  # it ends within its batch
    if isinstance(created, DependentOrderCreated):
        _link(account, created.trade_id, created.order_type, order.id)
    _arm(account, order)
    if order.expires is not None:
        account.expiries[order.id] = order.expires


def order_of(account: Account, created: OrderCreated) -> Order:
    """Return the order that a transaction creates."""
    if isinstance(created, EntryOrderCreated):
        return Order(
            created=created,
            instrument=created.instrument,
            buys=created.units > 0,
            client_extensions=created.client_extensions,
            trade_client_extensions=created.trade_client_extensions,
            expires=_expiry(created),
        )
    if not isinstance(created, DependentOrderCreated):
        raise TypeError(type(created).__name__)
    trade = account.trades[created.trade_id]
    return Order(
        created=created,
        instrument=trade.instrument,
        buys=not trade.long,
        client_extensions=created.client_extensions,
        expires=_expiry(created),
    )


def _expiry(created: OrderCreated) -> int | None:
    if created.time_in_force == "GFD":
        return day_end_after(created.time)
    if isinstance(created, PendingOrderCreated | DependentOrderCreated):
        return created.gtd_time
    return None


def apply_mark(account: Account, mark: Mark) -> None:
    """Let an order know what the market showed it."""
    order = account.orders[mark.order_id]
    state = order_after(order.state, "MARKED")
    moved = replace(order, state=state, mark=mark.level)
    account.orders[order.id] = moved
    _disarm(account, order)
    _arm(account, moved)


def end_order(account: Account, order: Order, event: OrderEvent, **end: Any) -> None:  # noqa: ANN401 - members of Order
    """Take an order out of the pending ones; it stays readable, with how it ended."""
    ended = replace(order, state=order_after(order.state, event), **end)
    del account.orders[order.id]
    account.expiries.pop(order.id, None)
    _disarm(account, order)
    if order.client_id is not None and account.order_ids.get(order.client_id) == order.id:
        del account.order_ids[order.client_id]
    if (dependent := order.dependent) is not None and dependent.trade_id in account.trades:
        trade = account.trades[dependent.trade_id]
        if trade.dependents.get(kind_of(dependent.order_type)) == order.id:
            _link(account, dependent.trade_id, dependent.order_type, None)
    account.ended.keep_order(ended)


def relabel_order(account: Account, event: OrderExtensionsModified) -> None:
    """Change an order's labels."""
    order = account.orders[event.order_id]
    changed = replace(
        order,
        state=order_after(order.state, "RELABELLED"),
        client_extensions=merged(order.client_extensions, event.client_extensions_modify),
        trade_client_extensions=merged(
            order.trade_client_extensions, event.trade_client_extensions_modify
        ),
    )
    if order.client_id is not None:
        account.order_ids.pop(order.client_id, None)
    if changed.client_id is not None:
        account.order_ids[changed.client_id] = order.id
    account.orders[order.id] = changed


def relabel_trade(account: Account, event: TradeExtensionsModified) -> None:
    """Change a trade's labels."""
    trade = account.trades[event.trade_id]
    changed = replace(
        trade,
        state=trade_after(trade.state, "RELABELLED"),
        client_extensions=merged(trade.client_extensions, event.trade_client_extensions_modify),
    )
    if trade.client_id is not None:
        account.trade_ids.pop(trade.client_id, None)
    if changed.client_id is not None:
        account.trade_ids[changed.client_id] = trade.id
    account.trades[trade.id] = changed


def merged(old: ClientExtensions | None, new: ClientExtensions | None) -> ClientExtensions | None:
    """Return labels after a change: what is given overwrites, what is left out stays."""
    if old is None or new is None:
        return new or old
    return ClientExtensions(
        id=old.id if new.id is None else new.id,
        tag=old.tag if new.tag is None else new.tag,
        comment=old.comment if new.comment is None else new.comment,
    )


def _arm(account: Account, order: Order) -> None:
    trigger = trigger_of(order)
    if trigger is not None:
        resting = account.triggers.get(order.instrument, ())
        account.triggers[order.instrument] = (*resting, trigger)


def _disarm(account: Account, order: Order) -> None:
    resting = account.triggers.get(order.instrument)
    if resting is None or isinstance(order.created, MarketOrderCreated):
        return
    for place, trigger in enumerate(resting):  # the oldest mostly end first
        if trigger.order_id == order.id:
            _put_triggers(account, order.instrument, resting[:place] + resting[place + 1 :])
            return


def _put_triggers(account: Account, instrument: str, resting: tuple[Trigger, ...]) -> None:
    if resting:
        account.triggers[instrument] = resting
    else:
        del account.triggers[instrument]


def _link(account: Account, trade_id: int, order_type: str, order_id: int | None) -> None:
    kind = kind_of(order_type)
    link: dict[str, Any] = {f"{kind}_id": order_id}
    account.trades[trade_id] = replace(account.trades[trade_id], **link)
