"""Apply transactions to the account in the store, each once and in id order, and write its log line.

The fold itself is the client library's (`keydesk_client.account.fold`). Earlier transactions give the first log lines,
the day's bookings and the initial stops of trades.
"""

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from functools import partial
from heapq import merge

from msgspec import Struct

from keydesk.store.risk import count_closed, note_closed, note_opening
from keydesk.store.state import Topic
from keydesk.store.store import LOG_LIMIT, Store
from keydesk.values import StartPrice, Today
from keydesk.words.log_line import LogLine
from keydesk.words.log_lines import line_of
from keydesk.words.log_names import LogNames
from keydesk_client import models as m
from keydesk_client.account import fold
from keydesk_client.account.valuation import factors_of
from keydesk_client.account.values import price as checked_price
from keydesk_client.account.values import readable, try_to
from keydesk_client.arithmetic.constants import DAY, ZERO
from keydesk_client.arithmetic.profit import (
    Factors,
    closing_price,
    currencies,
    mid_price,
    profit,
)

MAX_LEVELS = 100
WEEKEND_NS = 3 * DAY  # in which no financing is charged


def apply(store: Store, transaction: m.Transaction) -> bool:
    """Apply one transaction to the account and write its line; return False if a snapshot is needed."""
    if store.account is None:
        return False
    store.write_log(line_of(transaction, store.orders, store.trades, instruments=store.instruments))
    if isinstance(transaction, m.OrderFillTransaction):
        _note_level(store, transaction)
        try_to(store, lambda: note_closed(store, transaction))
        try_to(store, lambda: note_opening(store, transaction))
    _book(store, transaction)
    return fold.apply(store, transaction)


def _book(store: Store, transaction: m.Transaction) -> None:
    """Add what a transaction books to the day; financing stamped exactly 17:00 belongs to the day that ended."""
    today = store.today
    if today is None:
        return
    if isinstance(transaction, m.DailyFinancingTransaction):
        today.wants_count = True  # it has the conversion factors of the day's start
    if transaction.time.ns <= today.start_ns:
        return
    match transaction:
        case m.OrderFillTransaction():
            fees = transaction.commission + (transaction.guaranteed_execution_fee or ZERO)
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
    lines = list(
        readable(
            store,
            lambda each: line_of(each, store.orders, store.trades, names, store.instruments),
            new,
        )
    )
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


def forget_account(store: Store) -> None:
    """Drop everything that was counted from the transactions of another account, or of a ledger that was replaced."""
    for held in (
        *(store.log, store.closed, store.closed_parts, store.opened, store.opening_costs),
        store.filled_levels,
    ):
        held.clear()
    store.past_log = None
    store.forget_day()
    store.mark(Topic.LOG)


def forget_after(store: Store, last: int) -> None:
    """Drop the lines of transactions after an id: the broker went back to it."""
    store.log[:] = [line for line in store.log if not line.id or int(line.id) <= last]
    if store.past_log is not None and store.past_log.newest > last:
        store.past_log = None
    store.forget_day()
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


def count_day(
    store: Store,
    transactions: Sequence[m.Transaction],
    start_ns: int,
    prices: Mapping[str, StartPrice],
) -> Today:
    """Return what was booked since the start of the day, and the profit then of the trades open then.

    Where that is not known, NAV at the start stays what the desk took it for.

    Args:
        store: Has the account.
        transactions: Those of the day and some before it, in ascending order.
        start_ns: The start of the day.
        prices: The last ones before it, by instrument.
    """
    since = [each for each in transactions if each.time.ns > start_ns]
    today = Today(start_ns, start_prices=prices)
    booked = readable(
        store,
        lambda each: (each, line_of(each, store.orders, store.trades).amount or ZERO),
        since,
    )
    for each, amount in booked:
        if isinstance(each, m.TransferFundsTransaction):
            today.transfers += amount
        else:
            today.booked += amount
    factors = _factors_at(store, transactions, start_ns)
    today.unrealized_then = _worth_at_start(store, since, _DayStart(start_ns, prices, factors))
    before, account = store.today, store.account
    if today.unrealized_then is None and before is not None and before.start_ns == start_ns:
        today.start_nav = None if account is None else account.day_start_nav
    return today


class _DayStart(Struct, frozen=True):
    """The start of a day: its time, the last prices before it, and the conversion factors then, by currency."""

    time_ns: int
    prices: Mapping[str, StartPrice]
    factors: Mapping[str, Factors]

    def profit(
        self, store: Store, instrument: str, units: Decimal, entry: Decimal
    ) -> Decimal | None:
        """Return the profit of units at the prices of then; factors that are not stated are the present ones."""
        quote = currencies(instrument)[1]
        price, factors = self.prices.get(instrument), self.factors.get(quote)
        factors = factors or factors_of(store, quote)
        if price is None or factors is None:
            return None
        return profit(units, entry, closing_price(units, price.bid, price.ask), factors)


def _factors_at(
    store: Store, transactions: Sequence[m.Transaction], start_ns: int
) -> Mapping[str, Factors]:
    """Return the conversion factors at the start of the day by currency, as the last financing before it states them."""
    first = start_ns - WEEKEND_NS
    charges = [
        each
        for each in transactions
        if isinstance(each, m.DailyFinancingTransaction) and first <= each.time.ns <= start_ns
    ]
    factors: dict[str, Factors] = {}
    for stated in readable(store, _stated_factors, charges):
        factors |= stated
    return factors


def _stated_factors(charge: m.DailyFinancingTransaction) -> Mapping[str, Factors]:
    found = {}
    for each in charge.position_financings:
        if (factors := _quote_factors(each.home_conversion_factors)) is not None:
            found[currencies(each.instrument)[1]] = factors
    return found


def _quote_factors(stated: m.HomeConversionFactors | None) -> Factors | None:
    """Return the factors of the quote currency as a transaction states them."""
    if stated is None or stated.gain_quote_home is None or stated.loss_quote_home is None:
        return None
    gain = checked_price(stated.gain_quote_home.factor)
    loss = checked_price(stated.loss_quote_home.factor)
    return Factors(gain, loss, mid_price(gain, loss))


def held_at_start(
    store: Store, transactions: Sequence[m.Transaction], start_ns: int
) -> frozenset[str]:
    """Return the instruments with open trades at the start of the day."""
    since = [each for each in transactions if each.time.ns > start_ns]
    open_still = {row.instrument for row in store.trades.values() if row.open_time_ns <= start_ns}
    return frozenset(open_still | {fill.instrument for fill, _ in _closed_since(store, since)})


def _worth_at_start(
    store: Store, since: Sequence[m.Transaction], start: _DayStart
) -> Decimal | None:
    """Return the profit of the trades open at the start of the day, at its prices; None while one is unknown."""
    held = [
        (trade.instrument, trade.units, trade.price)
        for trade in store.trades.values()
        if trade.open_time_ns <= start.time_ns
    ]
    held += [_held_part(store, fill, part) for fill, part in _closed_since(store, since)]
    worth = ZERO
    for instrument, units, entry in held:
        if not units:
            continue
        then = start.profit(store, instrument, units, entry)
        if then is None:
            return None
        worth += then
    return worth


def _held_part(
    store: Store, fill: m.OrderFillTransaction, part: m.TradeReduce
) -> tuple[str, Decimal, Decimal]:
    """Return instrument, units and entry of a part that was closed; the entry is counted back from its profit."""
    units = -part.units
    quote = currencies(fill.instrument)[1]
    factors = _quote_factors(fill.home_conversion_factors) or factors_of(store, quote)
    if factors is None or not units:
        return fill.instrument, units, part.price
    gained = part.realized_pl / (factors.gain if part.realized_pl > 0 else factors.loss)
    return fill.instrument, units, part.price - gained / units


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
