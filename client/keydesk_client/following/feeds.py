"""What keeps an account current: two streams, snapshots, requested transactions and the check of its changes.

This is the only implementation of following an account: `client.follow()` runs it on an account of its own (`Follower`), and a
program that keeps the account elsewhere runs it on that (`Followed`).

Each feed runs until it is cancelled. Network errors, and answers that cannot be read, are reported to the account and
tried again with growing pauses.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias, TypeVar

from keydesk_client.account.synchronizer import Comparison, Continuity, Synchronizer
from keydesk_client.account.values import READ_ERRORS, number_of, try_to
from keydesk_client.errors import (
    AnswerTooLarge,
    ConnectionLost,
    HttpStatusError,
    KeydeskClientError,
    OutOfRange,
    UnreadableAnswer,
    message_of,
)
from keydesk_client.following.events import Source
from keydesk_client.http.backoff import STREAM_BACKOFF, Backoff
from keydesk_client.http.timing import Timing
from keydesk_client.models import Account, Transaction, TransactionHeartbeat
from keydesk_client.models.transactions.base import TransactionIdentity
from keydesk_client.sequencer import PATIENCE_S, REPLICA_PAUSES_S, Backfill, GapFiller
from keydesk_client.streams.prices import PriceStream
from keydesk_client.streams.settings import HistoryLost, Reconnected, StreamHealth
from keydesk_client.streams.transactions import TransactionItem, TransactionStream

if TYPE_CHECKING:
    from keydesk_client.resources.resource_client import ResourceClient

FAILURES: Final = (KeydeskClientError, *READ_ERRORS)
"""Errors of a request: no answer, a refusal, or an answer without required members."""
REPEATS_AT_ONCE: Final = 2
"""Snapshots one after the other that are taken without a pause."""
SETTLED_S: Final = 10.0
"""Seconds since the last snapshot after which the next one is taken at once."""
SHORTEST_PAUSE_S: Final = 0.25
MAX_RETRY_AFTER_S: Final = 30.0

T = TypeVar("T")


class Followed(Protocol):
    """An account that is kept current, and who is told of it."""

    @property
    def rest(self) -> "ResourceClient":
        """The client of the feeds' requests."""
        ...

    @property
    def timing(self) -> Timing: ...
    @property
    def synchronizer(self) -> Synchronizer: ...
    @property
    def check_every_s(self) -> float: ...
    @property
    def max_backoff_s(self) -> float: ...
    @property
    def snapshot_wanted(self) -> asyncio.Event: ...
    @property
    def check_wanted(self) -> asyncio.Event: ...
    @property
    def names_changed(self) -> asyncio.Event:
        """Set when other instruments may be needed than the price stream has."""
        ...

    @property
    def ready(self) -> asyncio.Event:
        """Set while the account was read."""
        ...

    async def ask(self, call: Awaitable[T]) -> T:
        """Return the answer of a request."""
        ...

    def request_snapshot(self, text: str) -> None:
        """Have the account read anew, and report why."""
        ...

    def interrupted(self, source: Source, error: Exception, what: str = "") -> None:
        """Report that a source does not answer; `what` could not be read. Raise an error that a retry cannot settle."""
        ...

    def restored(self, source: Source) -> None:
        """Report that a source answers."""
        ...

    async def prepare(self) -> None:
        """Read what has to be known before the account is."""
        ...

    def snapshot_taken(self, continuity: Continuity) -> None:
        """Report that the account was read; nothing was applied after it yet that the streams did not bring."""
        ...

    async def compared(self, result: Comparison) -> None:
        """Report the result of a comparison with the account's changes."""
        ...

    def wanted(self) -> tuple[str, ...]:
        """Return the instruments whose prices are needed."""
        ...

    def open_prices(self, names: tuple[str, ...]) -> PriceStream:
        """Return a stream of prices, to be entered."""
        ...

    def open_transactions(self) -> TransactionStream:
        """Return a stream of transactions, to be entered."""
        ...

    def opening(self, source: Source, health: StreamHealth) -> None:
        """Note the health of a stream that is being opened; opening may take long."""
        ...

    async def take_prices(self, items: PriceStream) -> None:
        """Take every item of the stream until it ends."""
        ...

    def on_item(self, item: TransactionItem) -> None:
        """Note an item of the transaction stream before it is applied."""
        ...


async def backoff(account: Followed, failures: int, error: Exception | None = None) -> None:
    """Wait before the next attempt: full jitter under a ceiling that doubles, or as long as the service asks for."""
    retry_after = error.retry_after if isinstance(error, HttpStatusError) else None
    at_least = max(SHORTEST_PAUSE_S, min(retry_after or 0.0, MAX_RETRY_AFTER_S))
    pauses = Backoff(STREAM_BACKOFF.first_s, account.max_backoff_s)
    await account.timing.sleep(pauses.pause(failures, account.timing.rng, at_least_s=at_least))


async def update_snapshot(account: Followed) -> None:
    """Take a snapshot now and whenever one is requested; back off when they are requested again and again."""
    clock = account.timing.clock
    repeats, taken = 0, float("-inf")
    account.snapshot_wanted.set()
    while True:
        await account.snapshot_wanted.wait()
        repeats = repeats + 1 if clock() - taken < SETTLED_S else 0
        if repeats > REPEATS_AT_ONCE:
            await backoff(account, repeats - REPEATS_AT_ONCE)
        account.snapshot_wanted.clear()
        await _snapshot(account)
        taken = clock()


async def _snapshot(account: Followed) -> None:
    failures = 0
    while True:
        try:
            await account.prepare()
            with account.synchronizer.asking() as request:
                read = await account.synchronizer.read_snapshot(
                    partial(_read_account, account),
                    request,
                    sleep=account.timing.sleep,
                    # Before it is read for the first time, or after its program made the history go back, as it is.
                    pauses=REPLICA_PAUSES_S if account.ready.is_set() else (),
                )
                continuity = account.synchronizer.apply_snapshot(read, request)
        except FAILURES as error:
            _note_unread(account, error)
            account.interrupted("account", error, "the account")
            await backoff(account, failures, error)
            failures += 1
        else:
            break
    account.restored("account")
    account.ready.set()
    account.names_changed.set()
    account.check_wanted.set()
    account.snapshot_taken(continuity)


async def _read_account(account: Followed) -> Account:
    return (await account.ask(account.rest.accounts.get())).account


async def check_changes(account: Followed) -> None:
    """Compare the account with the service's changes, at intervals and when transactions may have been missed."""
    failures = 0
    while True:
        await account.ready.wait()
        await _until(account.check_wanted, account.check_every_s if failures == 0 else 0)
        error = await check_once(account)
        if error is None:
            failures = 0
        else:
            await backoff(account, failures, error)
            failures += 1


async def check_once(account: Followed) -> Exception | None:
    """Compare once; return and report the error if there was no answer that can be read."""
    account.check_wanted.clear()
    try:
        await _check(account)
    except FAILURES as error:
        _note_unread(account, error)
        account.interrupted("account", error, "the account's changes")
        return error
    account.restored("account")
    return None


def _note_unread(account: Followed, error: Exception) -> None:
    """Note that an answer came that cannot be read: what it says is not known. No answer leaves what is known."""
    if isinstance(error, (UnreadableAnswer, *READ_ERRORS)):
        account.synchronizer.note_unread(message_of(error) or "the answer cannot be read")


async def _check(account: Followed) -> None:
    """Compare; request a snapshot if the service does not know the transaction or its answer is too large."""
    with account.synchronizer.asking() as request:
        try:
            answer = await account.ask(account.rest.accounts.changes(request.since))
        except OutOfRange:
            account.request_snapshot(f"The broker does not know transaction {request.since}")
            return
        except AnswerTooLarge as error:
            account.request_snapshot(f"Too much changed since transaction {request.since}: {error}")
            return
        due = account.snapshot_wanted.is_set()
        result = account.synchronizer.apply_changes(answer, request, snapshot_is_due=due)
    await account.compared(result)


async def fill_gaps(account: Followed) -> None:
    """Read transactions that are known to exist and did not come."""
    gate, failures = account.synchronizer.gate, 0
    while True:
        await gate.gap_seen.wait()
        await account.timing.sleep(PATIENCE_S / 2)
        if gate.overdue(account.timing.clock()) is None or await fill_gap(account):
            failures = 0
        else:
            await backoff(account, failures)
            failures += 1


async def fill_gap(account: Followed) -> bool:
    """Request missing transactions; return False if none were applied."""
    gate = account.synchronizer.gate
    before, filler = gate.applied, GapFiller(gate, partial(_read_range, account))
    try:
        result = await filler.fill()
    except FAILURES as error:
        first, last = filler.requested
        _note_unread(account, error)
        account.interrupted("account", error, f"transactions {first} to {last}")
        return False
    if result is Backfill.REFUSED:
        first, last = filler.requested
        account.request_snapshot(f"The broker does not know transactions {first} to {last}")
    return gate.applied != before


async def _read_range(
    account: Followed, first: int, last: int
) -> tuple[Sequence[Transaction], int]:
    answer = await account.ask(account.rest.transactions.range(first, last))
    return answer.transactions, number_of(answer.last_transaction_id)


async def stream_transactions(account: Followed) -> None:
    """Pass every transaction of the stream to the gate."""
    failures = 0
    while True:
        error: KeydeskClientError = ConnectionLost("the stream ended")
        stream = account.open_transactions()
        account.opening("transactions", stream.health)
        try:
            async with stream as items:
                async for item in items:
                    failures = 0
                    apply_transaction(account, item)
        except KeydeskClientError as raised:
            error = raised
        account.interrupted("transactions", error)
        await backoff(account, failures, error)
        failures += 1


def apply_transaction(account: Followed, item: TransactionItem) -> None:
    """Take one item of the transaction stream."""
    gate = account.synchronizer.gate
    account.on_item(item)
    match item:
        case TransactionHeartbeat():
            try_to(gate.counter, lambda: gate.saw_last(item.last_transaction_id))
        case HistoryLost():
            account.request_snapshot(
                f"The broker does not know what came after transaction {item.applied}"
            )
        case Reconnected():  # what came in between follows, and is in the changes
            account.check_wanted.set()
        case TransactionIdentity():
            gate.offer(item)


async def stream_prices(account: Followed) -> None:
    """Take the prices of the wanted instruments; open the stream anew when others are."""
    failures = 0
    while True:
        account.names_changed.clear()
        names = account.wanted()
        if not names:
            await account.names_changed.wait()
            continue
        error: KeydeskClientError = ConnectionLost("the stream ended")
        stream = account.open_prices(names)
        account.opening("prices", stream.health)
        try:
            async with stream as items:
                if await _others_wanted(account, names, items):
                    failures = 0
                    continue
        except KeydeskClientError as raised:
            error = raised
        account.interrupted("prices", error)
        failures = 0 if stream.health.lines else failures + 1
        await backoff(account, failures, error)


async def _others_wanted(account: Followed, names: tuple[str, ...], items: PriceStream) -> bool:
    """Take prices until other instruments are needed, or the stream ends: then return False, or raise its error."""
    reading = asyncio.create_task(account.take_prices(items))
    try:
        while not reading.done() and set(account.wanted()) <= set(names):
            changed = asyncio.ensure_future(account.names_changed.wait())
            try:
                await asyncio.wait((reading, changed), return_when=asyncio.FIRST_COMPLETED)
            finally:
                changed.cancel()
            account.names_changed.clear()
        if reading.done():
            reading.result()
            return False
        return True
    finally:
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)


async def _until(event: asyncio.Event, seconds: float) -> None:
    """Wait until an event is set, for some seconds at most."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):  # wait_for of 3.11 may swallow a cancellation
            await event.wait()


Feed: TypeAlias = Callable[[Followed], Coroutine[None, None, None]]
FEEDS: Final[Iterable[Feed]] = (
    stream_transactions,
    update_snapshot,
    stream_prices,
    check_changes,
    fill_gaps,
)
"""The feeds, in the order in which they start: transactions are buffered before the snapshot is read."""
