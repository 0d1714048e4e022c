"""Read earlier transactions of the account: the day so far, the log, the first stops of open trades."""

from collections.abc import Iterable, Mapping

from keydesk.calc.market.trading_day import DAY_END_TEXT, day_start
from keydesk.feeds.account_feed import AccountFeed, reason
from keydesk.store.state import Topic
from keydesk.store.transactions.fold import (
    count_closed_trades,
    count_day,
    held_at_start,
    note_opening_costs,
    write_earlier,
)
from keydesk.values import StartPrice
from keydesk_client.account.fold import remember_first_stops
from keydesk_client.account.values import checked_time_ns, number_of, readable
from keydesk_client.account.values import price as checked_price
from keydesk_client.errors import Refused, UnreadableAnswer
from keydesk_client.following.feeds import FAILURES
from keydesk_client.models import DateTime, Transaction
from keydesk_client.models.responses import TransactionsResponse

REPEATS_AT_ONCE = 2
SETTLED_AFTER = 10.0  # seconds since the last snapshot after which the next one is taken at once
LINES = 500
MAX_READ = 20_000  # a day with more transactions is not read back to its start
FIRST_STOP_WITHIN = 12  # ids after the fill: a trade's first stop is usually in its batch
NOT_OFFERED = (400, 403, 404)  # the answer where the account has no candles of an instrument


async def update_history(feed: AccountFeed) -> None:
    """Read earlier transactions, now and after each snapshot."""
    while True:
        await feed.history_wanted.wait()
        feed.history_wanted.clear()
        await feed.priced.wait()
        try:
            await read_history(feed)
        except FAILURES as error:
            feed.count_unreadable(error)
            feed.write(f"Earlier transactions could not be read: {reason(error)}")
            feed.history_wanted.set()
            await feed.backoff(3)


async def read_history(feed: AccountFeed) -> None:
    """Read transactions back to the start of the day, at least 500, and apply them to log, day and stops."""
    asked_at = feed.account_asked_at
    start = day_start(feed.store.clock_ns or feed.wall_ns())
    earlier = await _read_back(feed, start)
    write_earlier(feed.store, earlier[-LINES:])
    remember_first_stops(feed.store, earlier)
    note_opening_costs(feed.store, earlier)
    await _first_stops_of_older_trades(feed)
    prices = await _start_prices(feed, held_at_start(feed.store, earlier, start), start)
    await _catch_up(feed, earlier)
    feed.store.today = count_day(feed.store, earlier, start, prices)
    feed.store.day_asked_at = asked_at
    count_closed_trades(feed.store, earlier)
    feed.store.mark(Topic.ACCOUNT)


async def _start_prices(
    feed: AccountFeed, held: Iterable[str], start_ns: int
) -> Mapping[str, StartPrice]:
    """Return the last prices before the day began; of an instrument that is offered no more there are none."""
    today = feed.store.today
    prices = {} if today is None or today.start_ns != start_ns else dict(today.start_prices)
    for name in sorted(set(held) - prices.keys()):
        try:
            answer = await feed.request(
                feed.client.candles.get(
                    name, granularity="S5", price="BA", count=1, to=DateTime.from_ns(start_ns)
                )
            )
        except Refused as error:
            if error.status not in NOT_OFFERED:
                raise
            feed.write(f"The price of {name} at {DAY_END_TEXT} is not known: {reason(error)}")
            continue
        for each in answer.candles[-1:]:
            if each.bid is not None and each.ask is not None:
                prices[name] = StartPrice(checked_price(each.bid.c), checked_price(each.ask.c))
    return prices


async def _read_back(feed: AccountFeed, start_ns: int) -> list[Transaction]:
    """Return the newest transactions in ascending order: those of the day and some before it."""
    read: list[Transaction] = []
    last = feed.follower.gate.applied or 0
    while last > 0 and len(read) < MAX_READ:
        first = max(1, last - LINES + 1)
        answer = await feed.request(feed.client.transactions.range(first, last))
        if not answer.transactions:  # ids are consecutive: `applied` is made up
            raise UnreadableAnswer(f"the broker has no transactions {first} to {last}")
        transactions = _valid_transactions(feed, answer)
        read[:0] = transactions
        if transactions and transactions[0].time.ns <= start_ns:
            break
        last = first - 1
    return read


async def _catch_up(feed: AccountFeed, read: list[Transaction]) -> None:
    """Add the transactions that were applied meanwhile, so that none of the day is missing or counted twice."""
    while True:
        last = int(read[-1].id) if read else 0
        applied = feed.follower.gate.applied or 0
        if applied <= last:
            return
        answer = await feed.request(feed.client.transactions.range(last + 1, applied))
        transactions = [each for each in _valid_transactions(feed, answer) if int(each.id) > last]
        if not transactions:
            return
        read.extend(transactions)


async def _first_stops_of_older_trades(feed: AccountFeed) -> None:
    for trade in list(feed.store.trades.values()):
        known = trade.id in feed.store.trades and trade.id.isdecimal()
        if trade.opened_closing is None and known:
            first = int(trade.id)  # the fill that opened it
            last = min(first + FIRST_STOP_WITHIN, feed.follower.gate.applied or 0)
            if first <= last:
                answer = await feed.request(feed.client.transactions.range(first, last))
                transactions = _valid_transactions(feed, answer)
                remember_first_stops(feed.store, transactions)
                note_opening_costs(feed.store, transactions)


def _valid_transactions(feed: AccountFeed, answer: TransactionsResponse) -> list[Transaction]:
    """Return the transactions that have a valid id and time."""
    return list(readable(feed.store, _require_id_and_time, answer.transactions))


def _require_id_and_time(transaction: Transaction) -> Transaction:
    number_of(transaction.id)
    checked_time_ns(transaction.time)
    return transaction
