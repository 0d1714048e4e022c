"""Apply a snapshot of the account or its changes to a book, and compare the changes with the folded account."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial

from keydesk_client.account.records import AccountFigures, OpenTrade, Part, PendingOrder, Unread
from keydesk_client.account.rows import (
    Printable,
    attach,
    attach_named,
    order_row,
    trade_row,
    words_of,
)
from keydesk_client.account.valuation import ValuedAccount, plain_margin, rebuild_position, rounded
from keydesk_client.account.values import (
    READ_ERRORS,
    RecordReader,
    amount,
    number_of,
    price,
    readable,
    try_to,
)
from keydesk_client.arithmetic.constants import ZERO
from keydesk_client.arithmetic.risk import FIRST_STOP_WITHIN_NS, nearest_stop, trailing_stop
from keydesk_client.errors import message_of
from keydesk_client.models import (
    Account,
    AccountChanges,
    AccountChangesState,
    CalculatedPositionState,
    CalculatedTradeState,
    DynamicOrderState,
    Order,
    Position,
    TradeSummary,
)

NO_NAMES: frozenset[str] = frozenset()
MOST_MISSING = 1_000
"""Records that are taken as missing: as many as a list of the interface has at most. A broker's wrong count must not take the memory."""


def apply_snapshot(book: ValuedAccount, account: Account) -> None:
    """Replace the account by a snapshot of the broker.

    What cannot be read of a trade or an order stays as it was known, else it is noted as unread (`Unread`). Without the
    account's own figures nothing changes, and what they raise is raised.
    """
    known = book.trades
    held_before = set(book.positions)
    figures = figures_of(account, book.printable)
    before = _Before.of(book, figures)
    rows = rows_of(book, account, before)
    book.trades, book.orders, book.unread = rows.trades, rows.orders, rows.unread
    book.set_figures(figures)
    for trade in book.trades.values():
        _keep_first_stop(trade, known.get(trade.id))
    for instrument in held_before | {trade.instrument for trade in book.trades.values()}:
        rebuild_position(book, instrument)
    for topic in (Part.ACCOUNT, Part.TRADES, Part.POSITIONS, Part.ORDERS):
        book.changed(topic)


@dataclass(frozen=True, slots=True)
class Rows:
    """The trades and orders of a snapshot by id, and those without a row, as they could not be read."""

    trades: dict[str, OpenTrade]
    orders: dict[str, PendingOrder]
    unread: Unread


def rows_of(book: RecordReader, account: Account, before: "_Before | None" = None) -> Rows:
    """Return the rows of a snapshot; raise MissingMember if one of its lists cannot be read.

    Args:
        book: Counts what cannot be read.
        account: The snapshot.
        before: The rows of earlier answers that stay where theirs cannot be read.
    """
    before = before or _Before({}, {})
    records, listed = account.trades, account.orders
    missing = _missing(account, "open_trade_count", records)
    trades, unread_trades = _trades(book, records, before, missing)
    missing = _missing(account, "pending_order_count", listed)
    orders, unread_orders = _orders(book, listed, trades, before, missing)
    for order in orders.values():
        if order.trade_id in trades:
            attach(trades[order.trade_id], order)
            remember_first_stop(trades[order.trade_id], order)
    for record in records:
        row = trades.get(getattr(record, "id", ""))
        if row is not None:
            attach_named(row, record)
    return Rows(trades, orders, Unread(unread_trades, unread_orders))


@dataclass(frozen=True, slots=True)
class _Before:
    """The rows of earlier answers that may stand in a snapshot: those of this account that it is not older than."""

    trades: Mapping[str, OpenTrade]
    orders: dict[str, PendingOrder]

    @classmethod
    def of(cls, book: ValuedAccount, figures: AccountFigures) -> "_Before":
        account = book.account
        if account is None or account.created_time_ns != figures.created_time_ns:
            return cls({}, {})
        last = figures.last_transaction_id
        return cls(
            {id_: row for id_, row in book.trades.items() if number_of(id_) <= last},
            {id_: row for id_, row in book.orders.items() if number_of(id_) <= last},
        )


def _missing(account: Account, count: str, records: Sequence[object]) -> int:
    """Return how many records a list lacks by the account's own count, at most `MOST_MISSING`."""
    counted: int | None = getattr(account, count, None)
    return 0 if counted is None else min(max(0, counted - len(records)), MOST_MISSING)


def _trades(
    book: RecordReader, records: Iterable[TradeSummary], before: _Before, missing: int
) -> tuple[dict[str, OpenTrade], tuple[str, ...]]:
    """Return the rows by id, in order, and what can be read of the records without one.

    While a record cannot be told to be that of one trade, each trade that was known and that no other record names stays:
    it may be that one.
    """
    rows: dict[str, OpenTrade] = {}
    nameless: list[str] = [""] * missing
    others: list[str] = []
    for record in records:
        id_ = _id_of(book, record)
        if id_ is None or id_ in rows:
            nameless.append(words_of(record, book.printable))
            continue
        try:
            rows[id_] = trade_row(record, book.printable, before.trades)
        except READ_ERRORS as error:
            book.note_unreadable(message_of(error))
            others.append(words_of(record, book.printable))
    if nameless:
        kept = {id_: row for id_, row in before.trades.items() if id_ not in rows}
        rows |= {id_: replace(row, unread=row.unread | {"id"}) for id_, row in kept.items()}
        nameless = nameless[len(kept) :]
    return dict(sorted(rows.items(), key=lambda item: int(item[0]))), (*others, *nameless)


def _orders(
    book: RecordReader,
    records: Iterable[Order],
    trades: Mapping[str, OpenTrade],
    before: _Before,
    missing: int,
) -> tuple[dict[str, PendingOrder], tuple[str, ...]]:
    """Return the rows by id, and what can be read of the records without one.

    A row that is known stays where its record cannot be read, as orders do not change; and while a record cannot be told
    to be that of one order, each that was known and that no other record names stays.
    """
    rows: dict[str, PendingOrder] = {}
    unread: list[str] = [""] * missing
    has_nameless = bool(missing)
    for record in records:
        try:
            row = order_row(record, trades, book.printable)
        except READ_ERRORS as error:
            book.note_unreadable(message_of(error))
            id_ = _id_of(book, record)
            has_nameless = has_nameless or id_ is None
            row = before.orders.get(id_ or "")
            if row is None:
                unread.append(words_of(record, book.printable))
        if row is not None:
            rows[row.id] = row
    return (before.orders | rows if has_nameless else rows), tuple(unread)


def _id_of(book: RecordReader, record: TradeSummary | Order) -> str | None:
    """Return the id of a record, counted and None where it cannot be read."""
    try:
        number_of(record.id)
    except READ_ERRORS as error:
        book.note_unreadable(message_of(error))
        return None
    return record.id


def figures_of(account: Account, printable: Printable) -> AccountFigures:
    """Return the totals of a snapshot; raise ValueError or AttributeError if one is missing or out of range."""
    return AccountFigures(
        id=account.id,
        alias=printable(account.alias or ""),
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
    )


def remember_first_stop(trade: OpenTrade, order: PendingOrder) -> None:
    """Record a stop as the trade's initial one if it is the first and was set soon after the fill.

    Of several that were set by the fill itself, the nearest is the initial one.
    """
    stop = _beginning(trade, order)
    if stop is None or order.create_time_ns - trade.open_time_ns > FIRST_STOP_WITHIN_NS:
        return
    if trade.initial_stop is not None:
        if not order.on_fill:
            return
        stop = nearest_stop(trade.units, (stop, trade.initial_stop))
    trade.initial_stop, trade.initial_risk = stop, None
    trade.initial_premium = max(trade.initial_premium, order.premium)


def _beginning(trade: OpenTrade, order: PendingOrder) -> Decimal | None:
    """Return the price at which a stop began; None of a target, or while it is not known."""
    if order.type == "TAKE_PROFIT":
        return None
    if order.type != "TRAILING_STOP_LOSS":
        return order.price
    if order.distance is None:
        return None
    closing = trade.price if trade.opened_closing is None else trade.opened_closing
    return trailing_stop(trade.units, closing, order.distance)


def forget_first_stop(trade: OpenTrade) -> None:
    """Drop the initial stop, so that the transactions of the trade, oldest first, set it anew."""
    trade.initial_stop, trade.initial_risk, trade.initial_premium = None, None, Decimal(0)


def _keep_first_stop(trade: OpenTrade, before: OpenTrade | None) -> None:
    if before is None:
        return
    trade.opened_closing = before.opened_closing
    trade.opened_loss_factor = before.opened_loss_factor
    if before.initial_stop is not None:
        trade.initial_stop, trade.initial_risk = before.initial_stop, before.initial_risk
        trade.initial_premium = before.initial_premium


def apply_account_state(book: ValuedAccount, state: AccountChangesState) -> None:
    """Overwrite the price-dependent figures by those of the broker."""
    account = book.account
    if account is None:
        return
    for take in (_apply_figures, _apply_trades, _apply_positions, _apply_trailing_stops):
        try_to(book, partial(take, book, state))
    book.changed(Part.ACCOUNT)


def _apply_figures(book: ValuedAccount, state: AccountChangesState) -> None:
    account = book.account
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


def _apply_trades(book: ValuedAccount, state: AccountChangesState) -> None:
    for each in state.trades:
        try_to(book, partial(_apply_trade, book, each))


def _apply_positions(book: ValuedAccount, state: AccountChangesState) -> None:
    for each in state.positions:
        try_to(book, partial(_apply_position, book, each))


def _apply_trailing_stops(book: ValuedAccount, state: AccountChangesState) -> None:
    for each in state.orders:
        try_to(book, partial(_apply_trailing_stop, book, each))


def _apply_trade(book: ValuedAccount, theirs: CalculatedTradeState) -> None:
    trade = book.trades.get(theirs.id)
    if trade is not None:
        result, used = amount(theirs.unrealized_pl), amount(theirs.margin_used)
        trade.unrealized_pl, trade.margin_used = result, used
        book.changed(Part.TRADES, theirs.id)


@dataclass(frozen=True, slots=True)
class Compared:
    """The result of comparing a book with the account's changes."""

    differences: tuple[str, ...]
    """A sentence for each."""
    left_out: frozenset[str]
    """Ids and instruments of what the changes list and later transactions concern."""


def compare(
    book: ValuedAccount,
    changes: AccountChanges,
    state: AccountChangesState,
    later: AbstractSet[str] = NO_NAMES,
) -> Compared:
    """Compare the folded account with the broker's.

    The book holds the transactions of the changes and may hold later ones. `later` are the orders, trades and instruments
    that those name: they are left out, and so are the totals if there are any.
    """
    if book.account is None:
        return Compared((), NO_NAMES)
    left_out = _left_out(book, changes, later)
    skipped = left_out | later
    parts = [
        partial(_open_trades, book, state, skipped),
        partial(_changed_trades, book, changes, skipped),
        partial(_changed_positions, book, changes, skipped),
        partial(_changed_orders, book, changes, skipped),
    ]
    if not later:
        parts.insert(0, partial(_totals, book.account, state))
    found = tuple(text for part in readable(book, _listed, parts) for text in part)
    return Compared(found, left_out)


def _left_out(
    book: ValuedAccount, changes: AccountChanges, later: AbstractSet[str]
) -> frozenset[str]:
    """Return the listed items that later transactions concern, a trade also by its dependent orders."""
    if not later:
        return NO_NAMES
    orders = (*changes.orders_created, *changes.orders_cancelled, *changes.orders_filled)
    trades = (*changes.trades_opened, *changes.trades_reduced)
    names = {
        *readable(book, lambda order: order.id, orders),
        *readable(book, lambda position: position.instrument, changes.positions),
        *readable(book, lambda trade: trade.id, trades),
    }
    linked = readable(book, lambda trade: (trade.id, _dependents(book, trade)), trades)
    return frozenset(names & later).union(
        trade_id for trade_id, ids in linked if not later.isdisjoint(ids)
    )


def _dependents(book: ValuedAccount, theirs: TradeSummary) -> set[str | None]:
    """Return the ids of a trade's dependent orders, here and at the broker."""
    ours = book.trades.get(theirs.id)
    return set() if ours is None else {id_ for _, *ids in _links(ours, theirs) for id_ in ids}


def _links(ours: OpenTrade, theirs: TradeSummary) -> Iterator[tuple[str, str | None, str | None]]:
    """Yield each kind of dependent order, and its id here and at the broker."""
    for name, standing, order_id in (
        ("target", ours.take_profit, theirs.take_profit_order_id),
        ("stop", ours.stop_loss, theirs.stop_loss_order_id),
        ("trailing stop", ours.trailing_stop, theirs.trailing_stop_loss_order_id),
        ("guaranteed stop", ours.guaranteed_stop, theirs.guaranteed_stop_loss_order_id),
    ):
        yield name, None if standing is None else standing.order_id, order_id


def _listed(part: Callable[[], Iterable[str]]) -> Sequence[str]:
    return tuple(part())


def _apply_position(book: ValuedAccount, theirs: CalculatedPositionState) -> None:
    position = book.positions.get(theirs.instrument)
    if position is None:
        return
    result, used = amount(theirs.net_unrealized_pl), amount(theirs.margin_used)
    position.unrealized_pl, position.margin_used = result, used
    ours = plain_margin(book, position)
    if ours:
        position.margin_factor = Decimal(1) if rounded(ours) == used else used / ours
    book.changed(Part.POSITIONS, theirs.instrument)


def _apply_trailing_stop(book: ValuedAccount, theirs: DynamicOrderState) -> None:
    order, level = book.orders.get(theirs.id), theirs.trailing_stop_value
    if order is None or level is None:
        return
    order.price = price(level)
    book.changed(Part.ORDERS, theirs.id)
    trade = book.trades.get(order.trade_id or "")
    if trade is not None and trade.trailing_stop is not None:
        trade.trailing_stop.price = level
        book.changed(Part.TRADES, trade.id)


def _totals(account: AccountFigures, state: AccountChangesState) -> Iterator[str]:
    """Yield a sentence for each total that differs from the broker's, if the broker sends totals with its state."""
    for name, ours, theirs in (
        ("balance", account.balance, state.balance),
        ("realized P/L", account.pl, state.pl),
        ("financing", account.financing, state.financing),
    ):
        if theirs is not None and theirs != ours:
            yield f"{name} {ours} here, {theirs} at the broker"


def _open_trades(
    book: ValuedAccount, state: AccountChangesState, skipped: AbstractSet[str]
) -> Iterator[str]:
    theirs = set(readable(book, lambda trade: str(number_of(trade.id)), state.trades))
    for trade_id in sorted(theirs - book.trades.keys() - skipped, key=int):
        yield f"trade {trade_id} is open at the broker, unknown here"
    if len(theirs) < len(state.trades):
        return  # which one of ours is the unreadable one is not known
    for trade_id in sorted(book.trades.keys() - theirs - skipped, key=int):
        yield f"trade {trade_id} is open here, not at the broker"


def _changed_trades(
    book: ValuedAccount, changes: AccountChanges, skipped: AbstractSet[str]
) -> Iterator[str]:
    trades = (*changes.trades_opened, *changes.trades_reduced)
    for words in readable(book, lambda trade: tuple(_trade(book, trade, skipped)), trades):
        yield from words


def _trade(book: ValuedAccount, theirs: TradeSummary, skipped: AbstractSet[str]) -> Iterator[str]:
    ours = book.trades.get(theirs.id)
    if ours is None or ours.id in skipped:
        return  # closed or changed since, or named already
    if ours.units != theirs.current_units:
        yield f"trade {ours.id} has {ours.units} units here, {theirs.current_units} at the broker"
    if ours.realized_pl != theirs.realized_pl:
        yield f"trade {ours.id} realized {ours.realized_pl} here, {theirs.realized_pl} at the broker"
    if ours.financing != theirs.financing:
        yield f"trade {ours.id} financing {ours.financing} here, {theirs.financing} at the broker"
    for name, here, there in _links(ours, theirs):
        if here != there:
            yield f"{name} of trade {ours.id} is {here or 'none'} here, {there or 'none'} at the broker"


def _changed_positions(
    book: ValuedAccount, changes: AccountChanges, skipped: AbstractSet[str]
) -> Iterator[str]:
    for words in readable(book, partial(_position, book, skipped), changes.positions):
        yield from words


def _position(book: ValuedAccount, skipped: AbstractSet[str], theirs: Position) -> Sequence[str]:
    if theirs.instrument in skipped:
        return ()
    long_units, short_units = _held_units(book, theirs)
    if (long_units, short_units) == (theirs.long.units, theirs.short.units):
        return ()
    here, there = f"{long_units} and {short_units}", f"{theirs.long.units} and {theirs.short.units}"
    return (f"position {theirs.instrument} is {here} here, {there} at the broker",)


def _held_units(book: ValuedAccount, theirs: Position) -> tuple[Decimal, Decimal]:
    ours = book.positions.get(theirs.instrument)
    return (ZERO, ZERO) if ours is None else (ours.long_units, ours.short_units)


def _changed_orders(
    book: ValuedAccount, changes: AccountChanges, skipped: AbstractSet[str]
) -> Iterator[str]:
    gone = (*changes.orders_cancelled, *changes.orders_filled)
    ended = set(readable(book, lambda order: order.id, gone))
    states = readable(book, lambda order: (order.id, order.state), changes.orders_created)
    for order_id, state in states:
        if state == "PENDING" and order_id not in {*ended, *skipped, *book.orders}:
            yield f"order {order_id} is pending at the broker, unknown here"
    for order_id in sorted((ended & book.orders.keys()) - skipped, key=int):
        yield f"order {order_id} is pending here, ended at the broker"
