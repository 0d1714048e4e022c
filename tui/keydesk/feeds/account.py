"""Read the account: snapshots, the poll of changes, earlier transactions, and the check of UNCONFIRMED commands.

The poll requests the changes since the last comparison, not since the last applied transaction, so that transactions
of the stream are compared too. UNCONFIRMED commands are looked for in the changes as well as on the stream: a snapshot
may hold their effect, and then the stream begins after it.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from keydesk.calc.market.trading_day import day_start
from keydesk.config.settings import Reconciliation
from keydesk.feeds.account_feed import FAILURES, AccountFeed, reason
from keydesk.records import StartPrice
from keydesk.store.state import Topic
from keydesk.store.transactions.fold import (
    count_closed_trades,
    count_day,
    forget_after,
    held_at_start,
    note_opening_costs,
    write_earlier,
)
from keydesk_client.account.fold import remember_first_stops
from keydesk_client.account.synchronizer import AccountRequest, Comparison, Continuity
from keydesk_client.account.values import checked_time_ns, number_of, readable
from keydesk_client.account.values import price as checked_price
from keydesk_client.errors import (
    AnswerTooLarge,
    KeydeskClientError,
    OutOfRange,
    Refused,
)
from keydesk_client.models import Account, AccountChanges, DateTime, Transaction
from keydesk_client.models.responses import AccountChangesResponse, TransactionsResponse
from keydesk_client.orders.outcome import Intent
from keydesk_client.sequencer import REPLICA_PAUSES_S

REPEATS_AT_ONCE = 2
SETTLED_AFTER = 10.0  # seconds since the last snapshot after which the next one is taken at once
LINES = 500
MAX_READ = 20_000  # a day with more transactions is not read back to its start
FIRST_STOP_WITHIN = 12  # ids after the fill: a trade's first stop is usually in its batch
NOT_OFFERED = (400, 403, 404)  # the answer where the account has no candles of an instrument
NS = 1_000_000_000


async def update_account(feed: AccountFeed) -> None:
    """Take a snapshot now and whenever one is requested; back off if snapshots keep being requested."""
    feed.snapshot_wanted.set()
    repeats, taken = 0, float("-inf")
    while True:
        await feed.snapshot_wanted.wait()
        repeats = repeats + 1 if feed.now() - taken < SETTLED_AFTER else 0
        if repeats > REPEATS_AT_ONCE:
            await feed.back_off(repeats - REPEATS_AT_ONCE)
        feed.snapshot_wanted.clear()
        await _snapshot(feed)
        taken = feed.now()
        feed.ready.set()


async def _snapshot(feed: AccountFeed) -> None:
    tries = 0
    while True:
        try:
            with feed.synchronizer.asking() as request:
                replace_account(feed, await _read_account(feed, request), request)
        except FAILURES as error:
            feed.note_failure(error)
            await feed.back_off(tries)
            tries += 1
        else:
            feed.note_success()
            return


async def _read_account(feed: AccountFeed, request: AccountRequest) -> Account:
    """Return the account; where the desk itself made the history go back, as it is."""

    async def read() -> Account:
        return (await feed.ask(feed.unretried.accounts.get())).account

    pauses = REPLICA_PAUSES_S if feed.ready.is_set() else ()
    return await feed.synchronizer.read_snapshot(read, request, sleep=feed.pause, pauses=pauses)


def replace_account(feed: AccountFeed, account: Account, request: AccountRequest) -> None:
    """Replace the account by a snapshot, then apply the transactions after it."""
    match feed.synchronizer.apply_snapshot(account, request):
        case Continuity.ANOTHER_ACCOUNT:
            feed.store.log.clear()
            feed.store.today = feed.store.past_log = None
            feed.write("The broker has another account under this id: its history begins anew")
        case Continuity.WENT_BACK:
            last = feed.gate.applied or 0
            forget_after(feed.store, last)
            feed.write(
                f"The history of the broker now ends at transaction {last}; later transactions were dropped"
            )
    feed.poll_wanted.set()
    feed.history_wanted.set()


async def poll_changes(feed: AccountFeed) -> None:
    """Poll the account's changes every `poll_every` seconds, and at once when requested."""
    await feed.ready.wait()
    tries = 0
    while True:
        if await poll_once(feed):
            tries = 0
            _count_day_if_wanted(feed)
            if feed.reconciler is not None:
                await feed.reconciler.check(feed)
            await _until_next(feed)
        else:
            await feed.back_off(tries)
            tries += 1


def _count_day_if_wanted(feed: AccountFeed) -> None:
    today = feed.store.today
    if today is not None and today.wants_count:
        today.wants_count = False
        feed.history_wanted.set()


async def poll_once(feed: AccountFeed) -> bool:
    """Poll once; return False if there was no answer."""
    feed.poll_wanted.clear()
    since = feed.synchronizer.checked
    try:
        with feed.synchronizer.asking() as request:
            answer = await feed.ask(feed.unretried.accounts.changes(request.since))
            apply_changes(feed, answer, request)
    except OutOfRange:
        feed.request_snapshot(f"The broker does not know transaction {since}")
    except AnswerTooLarge as error:
        feed.request_snapshot(f"Too much changed since transaction {since}: {reason(error)}")
    except FAILURES as error:
        feed.note_failure(error)
        return False
    feed.note_success()
    return True


def apply_changes(
    feed: AccountFeed, answer: AccountChangesResponse, request: AccountRequest
) -> None:
    """Apply new transactions and compare; if the desk is no newer than the answer, take the broker's figures."""
    due = feed.snapshot_wanted.is_set()
    compared = feed.synchronizer.apply_changes(answer, request, snapshot_is_due=due)
    if compared is Comparison.EQUAL:
        feed.clear_warning()
        if not feed.snapshot_wanted.is_set():
            feed.store.health.unchecked = False


async def _until_next(feed: AccountFeed) -> None:
    """Wait until the next poll is due or requested."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(feed.poll_every):  # wait_for of 3.11 may swallow a cancellation
            await feed.poll_wanted.wait()


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
            await feed.back_off(3)


async def read_history(feed: AccountFeed) -> None:
    """Read transactions back to the start of the day, at least 500, and apply them to log, day and stops."""
    start = day_start(feed.store.clock_ns or feed.wall_ns())
    earlier = await _read_back(feed, start)
    write_earlier(feed.store, earlier[-LINES:])
    remember_first_stops(feed.store, earlier)
    note_opening_costs(feed.store, earlier)
    await _first_stops_of_older_trades(feed)
    prices = await _start_prices(feed, held_at_start(feed.store, earlier, start), start)
    await _catch_up(feed, earlier)
    feed.store.today = count_day(feed.store, earlier, start, prices)
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
            answer = await feed.ask(
                feed.client.candles.get(
                    name, granularity="S5", price="BA", count=1, to=DateTime.from_ns(start_ns)
                )
            )
        except Refused as error:
            if error.status not in NOT_OFFERED:
                raise
            feed.write(f"The price of {name} at 17:00 New York is not known: {reason(error)}")
            continue
        for each in answer.candles[-1:]:
            if each.bid is not None and each.ask is not None:
                prices[name] = StartPrice(checked_price(each.bid.c), checked_price(each.ask.c))
    return prices


async def _read_back(feed: AccountFeed, start_ns: int) -> list[Transaction]:
    """Return the newest transactions in ascending order: those of the day and some before it."""
    read: list[Transaction] = []
    last = feed.gate.applied or 0
    while last > 0 and len(read) < MAX_READ:
        first = max(1, last - LINES + 1)
        answer = await feed.ask(feed.client.transactions.range(first, last))
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
        applied = feed.gate.applied or 0
        if applied <= last:
            return
        answer = await feed.ask(feed.client.transactions.range(last + 1, applied))
        transactions = [each for each in _valid_transactions(feed, answer) if int(each.id) > last]
        if not transactions:
            return
        read.extend(transactions)


async def _first_stops_of_older_trades(feed: AccountFeed) -> None:
    for trade in list(feed.store.trades.values()):
        known = trade.id in feed.store.trades and trade.id.isdecimal()
        if trade.initial_stop is None and known:
            first = int(trade.id)  # the fill that opened it
            last = min(first + FIRST_STOP_WITHIN, feed.gate.applied or 0)
            if first <= last:
                answer = await feed.ask(feed.client.transactions.range(first, last))
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


class UnconfirmedSource(Protocol):
    """The part of the client's `Sender` that the check needs."""

    def unconfirmed(self) -> tuple[Intent, ...]: ...
    def reconcile(self, changes: AccountChanges, since: int) -> Awaitable[tuple[Intent, ...]]: ...


@dataclass(slots=True)
class Reconciler:
    """Polls the account's changes while a command is UNCONFIRMED, and lets the sender compare them.

    Changes that were compared and do not concern a command are not requested again for it: those of an hour would be
    more than a bad link takes every ten seconds.
    """

    sender: UnconfirmedSource
    thresholds: Reconciliation
    _checked_at: float = field(default=float("-inf"), init=False)
    _sent_at: dict[str, float] = field(default_factory=dict[str, float], init=False)
    """Send times by intent id on the monotonic clock, converted from the wall clock at the first check."""
    _compared: dict[str, int] = field(default_factory=dict[str, int], init=False)
    """Transaction ids by intent id: what happened up to there does not concern the intent."""

    async def check(self, feed: AccountFeed) -> None:
        """Compare what is due; without an answer the next check polls again."""
        due = self._due(feed)
        if not due or feed.now() - self._checked_at < self.thresholds.check_every:
            return
        self._checked_at = feed.now()
        compared = {each.id: self._compared.get(each.id, each.since) for each in due}
        since = min(compared.values())
        try:
            answer = await feed.ask(feed.client.for_look_ups().accounts.changes(since))
        except OutOfRange:  # a history that began anew lacks that id
            self._compared = {}
            return
        except KeydeskClientError:
            return
        feed.gate.offer_all(answer.changes.transactions)
        feed.gate.saw_last(answer.last_transaction_id)
        not_concerned = await self.sender.reconcile(answer.changes, since)
        last = number_of(answer.last_transaction_id)
        compared |= {each.id: last for each in not_concerned if each.id in compared}
        self._compared = compared

    def _due(self, feed: AccountFeed) -> list[Intent]:
        """Return the intents older than `check_after` and younger than `look_back`."""
        now, limits = feed.now(), self.thresholds
        intents = self.sender.unconfirmed()
        self._sent_at = {
            each.id: self._sent_at.get(each.id, now - max(0, feed.wall_ns() - each.at_ns) / NS)
            for each in intents
        }
        return [
            each
            for each in intents
            if limits.check_after <= now - self._sent_at[each.id] <= limits.look_back * 60
        ]
