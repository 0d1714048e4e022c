"""What earlier transactions tell: the log's first lines, what the day has booked, the trades' first stops."""

from collections.abc import Iterator, Sequence
from decimal import Decimal
from functools import partial

from keydesk.calc.profit import closing_price, profit
from keydesk.records import Today
from keydesk.store.lines import line_of
from keydesk.store.rows import dependent_row, trailing_row
from keydesk.store.snapshot import remember_first_stop
from keydesk.store.state import Topic
from keydesk.store.store import LOG_LIMIT, Store
from keydesk.store.unreadable import readable, try_to
from keydesk.store.valuation import factors_of, quote_currency
from keydesk_client import models as m

NOTHING = Decimal(0)


def write_earlier(store: Store, transactions: Sequence[m.Transaction]) -> None:
    """Put the lines of earlier transactions ahead of what the log holds already."""
    numbered = [int(line.id) for line in store.log if line.id]
    first = min(numbered, default=None)
    before = (each for each in transactions if first is None or int(each.id) < first)
    earlier = list(readable(store, lambda each: line_of(each, store), before))
    store.log[:0] = earlier[-LOG_LIMIT:]
    store.mark(Topic.LOG)


def count_day(store: Store, transactions: Sequence[m.Transaction], start_ns: int) -> Today:
    """What was booked since the day began, and what the trades open then were worth at its start."""
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
    """The instruments of which something was open when the day began."""
    since = [each for each in transactions if each.time.ns > start_ns]
    open_still = {row.instrument for row in store.trades.values() if row.open_time_ns <= start_ns}
    return frozenset(open_still | {fill.instrument for fill, _ in _closed_since(store, since)})


def remember_first_stops(store: Store, transactions: Sequence[m.Transaction]) -> None:
    """Find the stop that each open trade began with."""
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
    """The profit, at the day's first price, of all that was open then; None while a price is not known."""
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
        worth += part.realized_pl + later  # what it made in all, less what it made since the start
    return worth


def _at_start(store: Store, instrument: str, units: Decimal, entry: Decimal) -> Decimal | None:
    """What units at a price were worth at the day's first price, sided by the spread of now."""
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
    """The parts closed today of trades that were open before today."""
    fills = [each for each in since if isinstance(each, m.OrderFillTransaction)]
    opened = set(readable(store, _opened, fills))
    for parts in readable(store, _closed, fills):
        for fill, part in parts:
            if part.trade_id not in opened:
                yield fill, part


def _opened(fill: m.OrderFillTransaction) -> str:
    return "" if fill.trade_opened is None else fill.trade_opened.trade_id


def _closed(
    fill: m.OrderFillTransaction,
) -> Sequence[tuple[m.OrderFillTransaction, m.TradeReduce]]:
    """The parts that a fill closed, each with the members that are needed."""
    parts = [*(fill.trades_closed or ()), *((fill.trade_reduced,) if fill.trade_reduced else ())]
    for part in parts:
        _ = fill.instrument, part.trade_id, part.units, part.price, part.realized_pl
    return [(fill, part) for part in parts]
