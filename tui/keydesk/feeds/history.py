"""What happened before the desk was opened: the log's first lines, the day's start, the trades' first stops.

All of it is read after the first prices are on the screen, and none of it is needed to trade.
"""

from keydesk.calc.day import day_start
from keydesk.feeds.days import days_once
from keydesk.feeds.link import FAILURES, Link, reason
from keydesk.store.history import count_day, held_at_start, remember_first_stops, write_earlier
from keydesk.store.state import Topic
from keydesk.store.unreadable import moment, number_of, readable
from keydesk_client.models import Transaction
from keydesk_client.models.responses_transactions import TransactionsResponse

LINES = 500
MOST_READ = 20_000  # a day of more transactions than this has no start that we could count back to
FIRST_STOP_WITHIN = 12  # ids after the fill: a trade's first stop stands in its batch, as a rule


async def keep_history(link: Link) -> None:
    """Read what was before, once now and again whenever the account was read anew."""
    while True:
        await link.history_wanted.wait()
        link.history_wanted.clear()
        await link.priced.wait()
        try:
            await read_history(link)
        except FAILURES as error:
            link.count_unreadable(error)
            link.write(f"Earlier transactions could not be read: {reason(error)}")
            link.history_wanted.set()
            await link.back_off(3)


async def read_history(link: Link) -> None:
    """Read back to the beginning of the day, 500 transactions at least, and take what they tell."""
    start = day_start(link.store.clock_ns or link.wall_ns())
    earlier = await _read_back(link, start)
    write_earlier(link.store, earlier[-LINES:])
    remember_first_stops(link.store, earlier)
    await _first_stops_of_older_trades(link)
    unknown = held_at_start(link.store, earlier, start) - link.store.days.keys()
    if unknown:
        await days_once(link, sorted(unknown))
    await _catch_up(link, earlier)
    link.store.today = count_day(link.store, earlier, start)
    link.store.mark(Topic.ACCOUNT)


async def _read_back(link: Link, start_ns: int) -> list[Transaction]:
    """The newest transactions, ascending: all of the day and some more."""
    read: list[Transaction] = []
    last = link.door.applied or 0
    while last > 0 and len(read) < MOST_READ:
        first = max(1, last - LINES + 1)
        answer = await link.ask(link.client.transactions.range(first, last))
        transactions = _whole(link, answer)
        read[:0] = transactions
        if transactions and transactions[0].time.ns <= start_ns:
            break
        last = first - 1
    return read


async def _catch_up(link: Link, read: list[Transaction]) -> None:
    """Add what was folded while we read, so that nothing of the day is missing or counted twice."""
    while True:
        last = int(read[-1].id) if read else 0
        applied = link.door.applied or 0
        if applied <= last:
            return
        answer = await link.ask(link.client.transactions.range(last + 1, applied))
        transactions = [each for each in _whole(link, answer) if int(each.id) > last]
        if not transactions:
            return
        read.extend(transactions)


async def _first_stops_of_older_trades(link: Link) -> None:
    for trade in list(link.store.trades.values()):
        known = trade.id in link.store.trades and trade.id.isdecimal()
        if trade.initial_stop is None and known:
            first = int(trade.id) + 1
            last = min(first + FIRST_STOP_WITHIN, link.door.applied or 0)
            if first <= last:
                answer = await link.ask(link.client.transactions.range(first, last))
                remember_first_stops(link.store, _whole(link, answer))


def _whole(link: Link, answer: TransactionsResponse) -> list[Transaction]:
    """The transactions whose place in the history can be read."""
    return list(readable(link.store, _placed, answer.transactions))


def _placed(transaction: Transaction) -> Transaction:
    number_of(transaction.id)
    moment(transaction.time)
    return transaction
