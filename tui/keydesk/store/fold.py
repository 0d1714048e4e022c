"""Apply transactions to the account in the store, each once and in id order, and write its log line.

Figures are taken from the transaction (the balance after a fill is the fill's own member), not computed again. A
transaction of an unknown type, or about an unknown trade, is logged and reported: the caller then takes a snapshot.
Earlier transactions give the first log lines, the day's bookings and the initial stops of trades.
"""

from collections.abc import Iterator, Sequence
from decimal import Decimal
from functools import partial

from keydesk.calc.profit import closing_price, profit
from keydesk.records import AccountState, OrderRow, Today
from keydesk.store.log_lines import line_of
from keydesk.store.risk import count_closed, note_closed
from keydesk.store.rows import (
    attach,
    dependent_row,
    detach,
    entry_row,
    opened_row,
    tag_of,
    trailing_row,
)
from keydesk.store.snapshot import remember_first_stop
from keydesk.store.state import Topic
from keydesk.store.store import LOG_LIMIT, Store, number_of, readable, try_to
from keydesk.store.valuation import factors_of, quote_currency, rebuild_position
from keydesk.text.sanitize import clean
from keydesk_client import models as m
from keydesk_client.models import (
    ClientConfigureTransaction,
    CloseTransaction,
    DailyFinancingTransaction,
    DelayedTradeClosureTransaction,
    DividendAdjustmentTransaction,
    GuaranteedStopLossOrderTransaction,
    LimitOrderTransaction,
    MarketIfTouchedOrderTransaction,
    OrderCancelTransaction,
    OrderClientExtensionsModifyTransaction,
    OrderFillTransaction,
    ReopenTransaction,
    StopLossOrderTransaction,
    StopOrderTransaction,
    TakeProfitOrderTransaction,
    TradeClientExtensionsModifyTransaction,
    TradeReduce,
    TrailingStopLossOrderTransaction,
    Transaction,
    TransferFundsTransaction,
    UnknownTransaction,
)

NOTHING = Decimal(0)

NEEDS_SNAPSHOT = (
    UnknownTransaction,
    CloseTransaction,
    ReopenTransaction,
    DelayedTradeClosureTransaction,
)
"""Their effect is not part of the transaction."""


def apply(store: Store, transaction: Transaction) -> bool:
    """Apply one transaction to the account; return False if a snapshot is needed."""
    account = store.account
    if account is None:
        return False
    store.write_log(line_of(transaction, store))
    account.last_transaction_id = number_of(transaction.id)
    store.mark(Topic.ACCOUNT)
    return _apply(store, account, transaction)


def _apply(store: Store, account: AccountState, transaction: Transaction) -> bool:
    match transaction:
        case OrderFillTransaction():
            return _fill(store, account, transaction)
        case OrderCancelTransaction():
            _end_order(store, transaction.order_id)
        case LimitOrderTransaction() | StopOrderTransaction() | MarketIfTouchedOrderTransaction():
            _rest(store, entry_row(transaction, transaction.time))
        case (
            TakeProfitOrderTransaction()
            | StopLossOrderTransaction()
            | GuaranteedStopLossOrderTransaction()
        ):
            return _protect(store, dependent_row(transaction, transaction.time, store.trades))
        case TrailingStopLossOrderTransaction():
            return _protect(store, trailing_row(transaction, transaction.time, store.trades))
        case _:
            return _apply_beside_orders(store, account, transaction)
    return True


def _apply_beside_orders(store: Store, account: AccountState, transaction: Transaction) -> bool:
    match transaction:
        case TransferFundsTransaction():
            _transfer(store, account, transaction)
        case DailyFinancingTransaction():
            return _finance(store, account, transaction)
        case DividendAdjustmentTransaction():
            account.balance = transaction.account_balance
            _book(store, transaction.time.ns, transaction.dividend_adjustment)
        case OrderClientExtensionsModifyTransaction():
            return _rename_order(store, transaction)
        case TradeClientExtensionsModifyTransaction():
            return _retag_trade(store, transaction)
        case ClientConfigureTransaction():
            _configure(account, transaction)
        case (
            _
        ):  # refusals, market orders before their fill, margin calls leave nothing but their line
            return not isinstance(transaction, NEEDS_SNAPSHOT)
    return True


def _fill(store: Store, account: AccountState, fill: OrderFillTransaction) -> bool:
    account.balance = fill.account_balance
    account.pl += fill.pl
    account.financing += fill.financing
    fees = fill.commission + (fill.guaranteed_execution_fee or NOTHING)
    _book(store, fill.time.ns, fill.pl + fill.financing - fees)
    _end_order(store, fill.order_id)
    try_to(store, partial(note_closed, store, fill))
    reduced = [*(fill.trades_closed or ())]
    if fill.trade_reduced is not None:
        reduced.append(fill.trade_reduced)
    known = [_reduce(store, part) for part in reduced]
    if fill.trade_opened is not None:
        opened = opened_row(fill.trade_opened, fill.instrument, fill.time.ns)
        store.trades[opened.id] = opened
    store.mark(Topic.TRADES)
    rebuild_position(store, fill.instrument)
    return all(known)


def _reduce(store: Store, part: TradeReduce) -> bool:
    """Reduce a trade by a closed part; the units of the part have the fill's sign."""
    trade = store.trades.get(part.trade_id)
    if trade is None:
        return False
    trade.units += part.units
    trade.realized_pl += part.realized_pl
    trade.financing += part.financing
    if not trade.units:
        del store.trades[trade.id]
    store.mark(Topic.TRADES, trade.id)
    return True


def _rest(store: Store, order: OrderRow) -> None:
    store.orders[order.id] = order
    store.mark(Topic.ORDERS)


def _protect(store: Store, order: OrderRow) -> bool:
    trade = store.trades.get(order.trade_id or "")
    _rest(store, order)
    if trade is None:
        return False
    attach(trade, order)
    remember_first_stop(trade, order)
    store.mark(Topic.TRADES, trade.id)
    return True


def _end_order(store: Store, order_id: str) -> None:
    """Remove a pending order; a market order never was pending, so a missing one is expected."""
    order = store.orders.pop(order_id, None)
    if order is None:
        return
    store.mark(Topic.ORDERS)
    trade = store.trades.get(order.trade_id or "")
    if trade is not None:
        detach(trade, order_id)
        store.mark(Topic.TRADES, trade.id)


def _finance(store: Store, account: AccountState, charge: DailyFinancingTransaction) -> bool:
    account.balance = charge.account_balance
    account.financing += charge.financing
    _book(store, charge.time.ns, charge.financing)
    known = True
    for position in charge.position_financings:
        for part in position.open_trade_financings:
            trade = store.trades.get(part.trade_id)
            if trade is None:
                known = False
            else:
                trade.financing += part.financing
                store.mark(Topic.TRADES, trade.id)
    return known


def _transfer(store: Store, account: AccountState, transfer: TransferFundsTransaction) -> None:
    account.balance = transfer.account_balance
    today = store.today
    if today is not None and transfer.time.ns > today.start_ns:
        today.transfers += transfer.amount


def _rename_order(store: Store, change: OrderClientExtensionsModifyTransaction) -> bool:
    order = store.orders.get(change.order_id)
    if order is None:
        return False
    if change.client_extensions_modify is not None and change.client_extensions_modify.id:
        order.client_id = change.client_extensions_modify.id
    store.mark(Topic.ORDERS, order.id)
    return True


def _retag_trade(store: Store, change: TradeClientExtensionsModifyTransaction) -> bool:
    trade = store.trades.get(change.trade_id)
    if trade is None:
        return False
    if change.trade_client_extensions_modify.tag is not None:
        trade.tag = tag_of(change.trade_client_extensions_modify)
    store.mark(Topic.TRADES, trade.id)
    return True


def _configure(account: AccountState, change: ClientConfigureTransaction) -> None:
    if change.alias is not None:
        account.alias = clean(change.alias)
    if change.margin_rate is not None:
        account.margin_rate = change.margin_rate


def _book(store: Store, time_ns: int, amount: Decimal) -> None:
    """Add a booking to the day; financing stamped exactly 17:00 belongs to the day that ended."""
    today = store.today
    if today is not None and time_ns > today.start_ns:
        today.booked += amount


def write_earlier(store: Store, transactions: Sequence[m.Transaction]) -> None:
    """Insert the log lines of earlier transactions before those of the log."""
    numbered = [int(line.id) for line in store.log if line.id]
    first = min(numbered, default=None)
    before = (each for each in transactions if first is None or int(each.id) < first)
    earlier = list(readable(store, lambda each: line_of(each, store), before))
    store.log[:0] = earlier[-LOG_LIMIT:]
    store.mark(Topic.LOG)


def count_closed_trades(store: Store, transactions: Sequence[m.Transaction]) -> None:
    """Count the trades that earlier transactions closed, for the row of losses."""
    fills = (each for each in transactions if isinstance(each, m.OrderFillTransaction))
    try_to(store, lambda: count_closed(store, fills))


def count_day(store: Store, transactions: Sequence[m.Transaction], start_ns: int) -> Today:
    """Return what was booked since the start of the day, and the profit then of the trades open then."""
    since = [each for each in transactions if each.time.ns > start_ns]
    today = Today(start_ns)
    booked = readable(store, lambda each: (each, line_of(each, store).amount or NOTHING), since)
    for each, amount in booked:
        if isinstance(each, m.TransferFundsTransaction):
            today.transfers += amount
        else:
            today.booked += amount
    today.unrealized_then = _worth_at_start(store, since, start_ns)
    return today


def held_at_start(
    store: Store, transactions: Sequence[m.Transaction], start_ns: int
) -> frozenset[str]:
    """Return the instruments with open trades at the start of the day."""
    since = [each for each in transactions if each.time.ns > start_ns]
    open_still = {row.instrument for row in store.trades.values() if row.open_time_ns <= start_ns}
    return frozenset(open_still | {fill.instrument for fill, _ in _closed_since(store, since)})


def remember_first_stops(store: Store, transactions: Sequence[m.Transaction]) -> None:
    """Set the initial stop of each open trade."""
    for each in transactions:
        try_to(store, partial(_remember_first_stop, store, each))


def _remember_first_stop(store: Store, transaction: m.Transaction) -> None:
    match transaction:
        case m.StopLossOrderTransaction() | m.GuaranteedStopLossOrderTransaction():
            order = dependent_row(transaction, transaction.time, store.trades)
        case m.TrailingStopLossOrderTransaction():
            order = trailing_row(transaction, transaction.time, store.trades)
        case _:
            return
    trade = store.trades.get(transaction.trade_id)
    if trade is not None:
        remember_first_stop(trade, order)
        store.mark(Topic.TRADES, trade.id)


def _worth_at_start(store: Store, since: Sequence[m.Transaction], start_ns: int) -> Decimal | None:
    """Return the profit of the trades open at the start of the day, at its first prices; None while one is unknown."""
    worth = NOTHING
    for trade in store.trades.values():
        if trade.open_time_ns <= start_ns:
            still = _at_start(store, trade.instrument, trade.units, trade.price)
            if still is None:
                return None
            worth += still
    for fill, part in _closed_since(store, since):
        later = _at_start(store, fill.instrument, -part.units, part.price)
        if later is None:
            return None
        worth += part.realized_pl + later  # the profit in all, less that since the start
    return worth


def _at_start(store: Store, instrument: str, units: Decimal, entry: Decimal) -> Decimal | None:
    """Return the profit of units at the day's first price, adjusted by the present spread."""
    day, quote = store.days.get(instrument), store.quotes.get(instrument)
    factors = factors_of(store, quote_currency(instrument))
    if day is None or quote is None or factors is None:
        return None
    half = (quote.ask - quote.bid) / 2
    close = closing_price(units, day.previous_close - half, day.previous_close + half)
    return profit(units, entry, close, factors)


def _closed_since(
    store: Store, since: Sequence[m.Transaction]
) -> Iterator[tuple[m.OrderFillTransaction, m.TradeReduce]]:
    """Return the parts closed today of trades that were opened before today."""
    fills = [each for each in since if isinstance(each, m.OrderFillTransaction)]
    opened = set(readable(store, _opened_trade_id, fills))
    for parts in readable(store, _closed_parts, fills):
        for fill, part in parts:
            if part.trade_id not in opened:
                yield fill, part


def _opened_trade_id(fill: m.OrderFillTransaction) -> str:
    return "" if fill.trade_opened is None else fill.trade_opened.trade_id


def _closed_parts(
    fill: m.OrderFillTransaction,
) -> Sequence[tuple[m.OrderFillTransaction, m.TradeReduce]]:
    """Return the parts that a fill closed, each with all needed members."""
    parts = [*(fill.trades_closed or ()), *((fill.trade_reduced,) if fill.trade_reduced else ())]
    for part in parts:
        _ = fill.instrument, part.trade_id, part.units, part.price, part.realized_pl
    return [(fill, part) for part in parts]
