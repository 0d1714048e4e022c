"""Apply transactions to an account, and collect the transactions of a decision.

Each transaction changes the account in exactly one way; nothing else changes it. Those that create, fill and cancel orders
change orders, trades and positions with the indexes that find them; all others: `apply_account`.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from msgspec.structs import replace

from keydesk_practice.engine.quotes import Market, day_end_after
from keydesk_practice.engine.state.account import (
    KINDS,
    Account,
    Order,
    OrderEvent,
    OrderPriceLevel,
    Position,
    Side,
    Trade,
    Trigger,
    kind_of,
    order_after,
    trade_after,
)
from keydesk_practice.engine.state.apply_account import (
    configure,
    delay_closure,
    enter_margin_call,
    exit_margin_call,
    extend_margin_call,
    finance,
    modify_order_extensions,
    modify_trade_extensions,
    open_account,
    transfer_funds,
)
from keydesk_practice.engine.state.triggers import trigger_of
from keydesk_practice.engine.transactions import (
    AccountCreated,
    ClientConfigured,
    DailyFinanced,
    DependentOrderCreated,
    EntryOrderCreated,
    FundsTransferred,
    MarginCallEntered,
    MarginCallExited,
    MarginCallExtended,
    MarketOrderCreated,
    OrderCancelled,
    OrderCreated,
    OrderExtensionsModified,
    OrderFilled,
    PendingOrderCreated,
    TradeClosureDelayed,
    TradeExtensionsModified,
    TradeOpened,
    TradeReduced,
    Transaction,
)

Kind = TypeVar("Kind", bound=Transaction)
_NO_DEPENDENTS: dict[str, Any] = {f"{kind}_id": None for kind in KINDS}


def apply(account: Account, event: Transaction | OrderPriceLevel) -> Account:
    """Change the account in place by a transaction or mark, and return it.

    Raises:
        ValueError: the transaction's id does not follow the account's last one.
    """
    if isinstance(event, OrderPriceLevel):
        apply_mark(account, event)
        return account
    if event.id != account.last_transaction_id + 1:
        raise ValueError(f"transaction {event.id} does not follow {account.last_transaction_id}")
    if isinstance(event, OrderCreated):
        apply_created(account, event)
    elif change := _CHANGES.get(type(event)):
        change(account, event)
    account.last_transaction_id = event.id
    return account


class Decision:
    """The transactions of a decision in progress, and a copy of the account after them."""

    def __init__(self, account: Account, market: Market, request_id: str | None = None) -> None:
        self.account = account.copy()
        self.market = market
        self.request_id = request_id
        self.transactions: list[Transaction] = []
        self._batch_id = account.last_transaction_id + 1

    def begin_batch(self) -> None:
        """Start a new batch with the next transaction."""
        self._batch_id = self.next_id

    @property
    def next_id(self) -> int:
        """The id of the next transaction."""
        return self.account.last_transaction_id + 1

    def record(self, kind: type[Kind], **members: Any) -> Kind:  # noqa: ANN401 - the members of the kind
        """Make a transaction of a kind, apply it to the copy of the account and return it."""
        transaction = kind(
            id=self.next_id,
            account_id=self.account.id,
            user_id=self.account.user_id,
            batch_id=self._batch_id,
            request_id=self.request_id,
            time=self.market.now,
            **members,
        )
        apply(self.account, transaction)
        self.transactions.append(transaction)
        return transaction


def apply_created(account: Account, created: OrderCreated) -> None:
    """Add a new order to the account."""
    order = order_of(account, created)
    account.orders[order.id] = order
    if order.client_id is not None:
        account.order_ids[order.client_id] = order.id
    if isinstance(created, MarketOrderCreated):
        return  # it ends within its batch
    if isinstance(created, DependentOrderCreated):
        _set_dependent_id(account, created.trade_id, created.order_type, order.id)
    _add_trigger(account, order)
    if order.expires is not None:
        account.expiries[order.id] = order.expires


def apply_fill(account: Account, fill: OrderFilled) -> None:
    """Apply a fill: end its order, reduce, close and open trades, update position and money."""
    account.balance = fill.account_balance
    account.pl += fill.pl
    account.financing += fill.financing
    account.commission += fill.commission
    account.guaranteed_execution_fees += fill.guaranteed_execution_fee
    account.last_order_fill_time = fill.time
    _end_filled_order(account, fill)
    position = account.position(fill.instrument)
    if fill.commission:
        position = replace(position, commission=position.commission + fill.commission)
    parts = [*(fill.trades_closed or ())]
    if fill.trade_reduced is not None:
        parts.append(fill.trade_reduced)
    reduced = [(_reduce_trade(account, part, fill), part) for part in parts]
    for long in (True, False):  # each side is replaced once, however many of its trades close
        if of_side := [pair for pair in reduced if pair[0].long == long]:
            position = _with_side(position, long, _side_after(position, long, of_side))
    if fill.trade_opened is not None:
        position = _open_trade(account, position, fill.trade_opened, fill)
    account.positions[fill.instrument] = position


def apply_mark(account: Account, mark: OrderPriceLevel) -> None:
    """Set the mark of an order."""
    order = account.orders[mark.order_id]
    state = order_after(order.state, "MARKED")
    moved = replace(order, state=state, mark=mark.level)
    account.orders[order.id] = moved
    _remove_trigger(account, order)
    _add_trigger(account, moved)


def end_order(account: Account, order: Order, event: OrderEvent, **end: Any) -> None:  # noqa: ANN401 - members of Order
    """Move an order from the pending to the ended ones; `end` are the members that tell how it ended."""
    ended = replace(order, state=order_after(order.state, event), **end)
    del account.orders[order.id]
    account.expiries.pop(order.id, None)
    _remove_trigger(account, order)
    if order.client_id is not None and account.order_ids.get(order.client_id) == order.id:
        del account.order_ids[order.client_id]
    if (dependent := order.dependent) is not None and dependent.trade_id in account.trades:
        trade = account.trades[dependent.trade_id]
        if trade.dependents.get(kind_of(dependent.order_type)) == order.id:
            _set_dependent_id(account, dependent.trade_id, dependent.order_type, None)
    account.ended.keep_order(ended)


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


def _add_trigger(account: Account, order: Order) -> None:
    trigger = trigger_of(order)
    if trigger is not None:
        resting = account.triggers.get(order.instrument, ())
        account.triggers[order.instrument] = (*resting, trigger)


def _remove_trigger(account: Account, order: Order) -> None:
    resting = account.triggers.get(order.instrument)
    if resting is None or isinstance(order.created, MarketOrderCreated):
        return
    for place, trigger in enumerate(resting):  # the oldest order usually ends first
        if trigger.order_id == order.id:
            _put_triggers(account, order.instrument, resting[:place] + resting[place + 1 :])
            return


def _put_triggers(account: Account, instrument: str, resting: tuple[Trigger, ...]) -> None:
    if resting:
        account.triggers[instrument] = resting
    else:
        del account.triggers[instrument]


def _set_dependent_id(
    account: Account, trade_id: int, order_type: str, order_id: int | None
) -> None:
    kind = kind_of(order_type)
    link: dict[str, Any] = {f"{kind}_id": order_id}
    account.trades[trade_id] = replace(account.trades[trade_id], **link)


def _end_filled_order(account: Account, fill: OrderFilled) -> None:
    closed = tuple(part.trade_id for part in fill.trades_closed or ())
    end_order(
        account,
        account.orders[fill.order_id],
        "FILLED",
        filling_transaction_id=fill.id,
        filled_time=fill.time,
        trade_opened_id=fill.trade_opened.trade_id if fill.trade_opened else None,
        trade_reduced_id=fill.trade_reduced.trade_id if fill.trade_reduced else None,
        trade_closed_ids=closed or None,
    )


def _reduce_trade(account: Account, part: TradeReduced, fill: OrderFilled) -> Trade:
    """Reduce or close a trade and return it as it is then; `part.units` has the opposite sign of the trade's."""
    trade = account.trades[part.trade_id]
    left = trade.current_units + part.units
    changed = replace(
        trade,
        state=trade_after(trade.state, "REDUCED" if left else "CLOSED"),
        current_units=left,
        realized_pl=trade.realized_pl + part.realized_pl,
        financing=trade.financing + part.financing,
        closing_value=trade.closing_value - part.units * part.price,
        closing_transaction_ids=(*(trade.closing_transaction_ids or ()), fill.id),
        close_time=None if left else fill.time,
    )
    if left:
        account.trades[trade.id] = changed
    else:
        _end_trade(account, changed)
    return changed


def _end_trade(account: Account, trade: Trade) -> None:
    del account.trades[trade.id]
    if trade.client_id is not None and account.trade_ids.get(trade.client_id) == trade.id:
        del account.trade_ids[trade.client_id]
    account.ended.keep_trade(replace(trade, **_NO_DEPENDENTS) if trade.dependents else trade)


def _side_after(
    position: Position, long: bool, reduced: Sequence[tuple[Trade, TradeReduced]]
) -> Side:
    side = position.long if long else position.short
    closed = {trade.id for trade, _ in reduced if not trade.current_units}
    parts = [part for _, part in reduced]
    fees = (part.guaranteed_execution_fee for part in parts)
    return replace(
        side,
        units=sum((part.units for part in parts), side.units),
        value=sum((part.units * trade.price for trade, part in reduced), side.value),
        trade_ids=tuple(id_ for id_ in side.trade_ids if id_ not in closed),
        pl=sum((part.realized_pl for part in parts), side.pl),
        financing=sum((part.financing for part in parts), side.financing),
        guaranteed_execution_fees=sum(fees, side.guaranteed_execution_fees),
    )


def _open_trade(
    account: Account, position: Position, part: TradeOpened, fill: OrderFilled
) -> Position:
    trade = Trade(
        id=part.trade_id,
        instrument=fill.instrument,
        price=part.price,
        open_time=fill.time,
        initial_units=part.units,
        current_units=part.units,
        initial_margin_required=part.initial_margin_required,
        client_extensions=part.client_extensions,
    )
    account.trades[trade.id] = trade
    if trade.client_id is not None:
        account.trade_ids[trade.client_id] = trade.id
    side = position.long if trade.long else position.short
    increased = replace(
        side,
        units=side.units + part.units,
        value=side.value + part.units * part.price,
        trade_ids=(*side.trade_ids, trade.id),
    )
    return _with_side(position, trade.long, increased)


def _with_side(position: Position, long: bool, side: Side) -> Position:
    return replace(position, long=side) if long else replace(position, short=side)


def _cancelled(account: Account, event: OrderCancelled) -> None:
    end_order(
        account,
        account.orders[event.order_id],
        "CANCELLED",
        cancelling_transaction_id=event.id,
        cancelled_time=event.time,
        replaced_by_order_id=event.replaced_by_order_id,
    )


_CHANGES: dict[type[Transaction], Callable[[Account, Any], None]] = {
    AccountCreated: open_account,
    ClientConfigured: configure,
    FundsTransferred: transfer_funds,
    OrderFilled: apply_fill,
    OrderCancelled: _cancelled,
    OrderExtensionsModified: modify_order_extensions,
    TradeExtensionsModified: modify_trade_extensions,
    MarginCallEntered: enter_margin_call,
    MarginCallExtended: extend_margin_call,
    MarginCallExited: exit_margin_call,
    TradeClosureDelayed: delay_closure,
    DailyFinanced: finance,
}
