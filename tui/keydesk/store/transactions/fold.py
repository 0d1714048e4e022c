"""Apply transactions to the account in the store, each once and in id order, and write its log line.

The fold itself is the client library's (`keydesk_client.account.fold`). Earlier transactions give the first log lines,
the day's bookings and the initial stops of trades.
"""

from collections.abc import Iterator, Sequence
from decimal import Decimal
from functools import partial
from heapq import merge

from keydesk.records import Today
from keydesk.store.log_names import LogNames
from keydesk.store.risk import count_closed, note_closed, note_opening
from keydesk.store.state import LogLine, Topic
from keydesk.store.store import LOG_LIMIT, Store
from keydesk.store.transactions.log_lines import line_of
from keydesk_client import models as m
from keydesk_client.account import fold
from keydesk_client.account.valuation import factors_of
from keydesk_client.account.values import readable, try_to
from keydesk_client.arithmetic.profit import closing_price, currencies, profit

NOTHING = Decimal(0)
MAX_LEVELS = 100


def apply(store: Store, transaction: m.Transaction) -> bool:
    """Apply one transaction to the account and write its line; return False if a snapshot is needed."""
    if store.account is None:
        return False
    store.write_log(line_of(transaction, store))
    if isinstance(transaction, m.OrderFillTransaction):
        _note_level(store, transaction)
        try_to(store, lambda: note_closed(store, transaction))
        try_to(store, lambda: note_opening(store, transaction))
    _book(store, transaction)
    return fold.apply(store, transaction)


def _book(store: Store, transaction: m.Transaction) -> None:
    """Add what a transaction books to the day; financing stamped exactly 17:00 belongs to the day that ended."""
    today = store.today
    if today is None or transaction.time.ns <= today.start_ns:
        return
    match transaction:
        case m.OrderFillTransaction():
            fees = transaction.commission + (transaction.guaranteed_execution_fee or NOTHING)
            today.booked += transaction.pl + transaction.financing - fees
        case m.DailyFinancingTransaction():
            today.booked += transaction.financing
        case m.DividendAdjustmentTransaction():
            today.booked += transaction.dividend_adjustment
        case m.TransferFundsTransaction():
            today.transfers += transaction.amount


def _note_level(store: Store, fill: m.OrderFillTransaction) -> None:
    """Remember the price of the order that is filled, from which its slippage is measured; its row goes with the fill."""
    order = store.orders.get(fill.order_id or "")
    if order is not None and order.price is not None:
        store.filled_levels[order.id] = order.price
        if len(store.filled_levels) > MAX_LEVELS:
            del store.filled_levels[next(iter(store.filled_levels))]


def write_earlier(store: Store, transactions: Sequence[m.Transaction]) -> None:
    """Insert the log lines of earlier transactions where the log lacks them.

    The log has no gap after that: lines from before a gap that these transactions do not fill are given up, and read again
    when one scrolls there. The desk's own lines stay, in the order of their time.
    """
    if not transactions:
        return
    names = LogNames()
    for each in transactions:
        names.remember(each)
    first = int(transactions[0].id)
    before = max(
        (int(line.id) for line in store.log if line.id and int(line.id) < first), default=0
    )
    if before and before + 1 < first:
        _forget_before(store, before)
    held = {line.id for line in store.log}
    new = [each for each in transactions if each.id not in held]
    lines = list(readable(store, lambda each: line_of(each, store, names), new))
    if lines:
        store.log[:] = _merged(store.log, lines)[-LOG_LIMIT:]
    store.mark(Topic.LOG)


def _forget_before(store: Store, last: int) -> None:
    """Give up the lines of transactions up to an id."""
    own = [line for line in store.log if not line.id]
    numbered = [line for line in store.log if line.id]
    store.log[:] = numbered
    store.trim_log(sum(int(line.id) <= last for line in numbered))
    store.log[:] = _merged(own, store.log)


def _merged(lines: Sequence[LogLine], others: Sequence[LogLine]) -> list[LogLine]:
    """Return all lines: transactions in the order of their ids, own lines of the desk at their time."""
    every = [*lines, *others]
    numbered = sorted((line for line in every if line.id), key=lambda line: int(line.id))
    own = [line for line in every if not line.id]
    return list(merge(numbered, own, key=lambda line: line.time_ns))


def forget_after(store: Store, last: int) -> None:
    """Drop the lines of transactions after an id: the broker went back to it."""
    store.log[:] = [line for line in store.log if not line.id or int(line.id) <= last]
    if store.past_log is not None and store.past_log.newest > last:
        store.past_log = None
    store.mark(Topic.LOG)


def count_closed_trades(store: Store, transactions: Sequence[m.Transaction]) -> None:
    """Count the trades that earlier transactions closed, for the row of losses."""
    fills = (each for each in transactions if isinstance(each, m.OrderFillTransaction))
    try_to(store, lambda: count_closed(store, fills))


def note_opening_costs(store: Store, transactions: Sequence[m.Transaction]) -> None:
    """Remember what opening the trades of these transactions cost."""
    for each in transactions:
        if isinstance(each, m.OrderFillTransaction):
            try_to(store, partial(note_opening, store, each))


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
    factors = factors_of(store, currencies(instrument)[1])
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
