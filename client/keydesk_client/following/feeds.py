"""What keeps an account current: two streams, snapshots, requested transactions and the check of its changes.

This is the only implementation of following an account: `client.follow()` runs it on a book of its own, and a program that
keeps the account elsewhere on that, each with a `Follower`.

Each feed runs until it is cancelled. Network errors, and answers that cannot be read, are reported to the listener and
tried again with growing pauses.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar

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
from keydesk_client.following.follower import Follower
from keydesk_client.http.backoff import STREAM_BACKOFF, Backoff
from keydesk_client.models import Account, Transaction, TransactionHeartbeat
from keydesk_client.models.transactions.base import TransactionIdentity
from keydesk_client.sequencer import PATIENCE_S, REPLICA_PAUSES_S, Backfill, GapFiller
from keydesk_client.streams.prices import PriceStream
from keydesk_client.streams.settings import HistoryLost, Reconnected
from keydesk_client.streams.transactions import TransactionItem

if TYPE_CHECKING:
    pass

FAILURES: Final = (KeydeskClientError, *READ_ERRORS)
"""Errors of a request: no answer, a refusal, or an answer without required members."""
REPEATS_AT_ONCE: Final = 2
"""Snapshots one after the other that are taken without a pause."""
SETTLED_S: Final = 10.0
"""Seconds since the last snapshot after which the next one is taken at once."""
SHORTEST_PAUSE_S: Final = 0.25
MAX_RETRY_AFTER_S: Final = 30.0
READ_SECONDS: Final = 0.005
"""How long reading the prices takes at most before it pauses."""

T = TypeVar("T")


async def backoff(follower: Follower, failures: int, error: Exception | None = None) -> None:
    """Wait before the next attempt: full jitter under a ceiling that doubles, or as long as the service asks for."""
    retry_after = error.retry_after if isinstance(error, HttpStatusError) else None
    at_least = max(SHORTEST_PAUSE_S, min(retry_after or 0.0, MAX_RETRY_AFTER_S))
    pauses = Backoff(STREAM_BACKOFF.first_s, follower.max_backoff_s)
    await follower.timing.sleep(pauses.pause(failures, follower.timing.rng, at_least_s=at_least))


async def update_snapshot(follower: Follower) -> None:
    """Take a snapshot now and whenever one is requested; back off when they are requested again and again."""
    clock = follower.timing.clock
    repeats, taken = 0, float("-inf")
    follower.snapshot_wanted.set()
    while True:
        await follower.snapshot_wanted.wait()
        repeats = repeats + 1 if clock() - taken < SETTLED_S else 0
        if repeats > REPEATS_AT_ONCE:
            await backoff(follower, repeats - REPEATS_AT_ONCE)
        follower.snapshot_wanted.clear()
        await _snapshot(follower)
        taken = clock()


async def _snapshot(follower: Follower) -> None:
    failures = 0
    while True:
        try:
            await follower.listener.prepare()
            with follower.synchronizer.asking() as request:
                read = await follower.synchronizer.read_snapshot(
                    partial(_read_account, follower),
                    request,
                    sleep=follower.timing.sleep,
                    # Before it is read for the first time, or after its program made the history go back, as it is.
                    pauses=REPLICA_PAUSES_S if follower.ready.is_set() else (),
                )
                continuity = follower.synchronizer.apply_snapshot(read, request)
        except FAILURES as error:
            _note_unread(follower, error)
            follower.listener.interrupted("account", error, "the account")
            await backoff(follower, failures, error)
            failures += 1
        else:
            break
    follower.listener.restored("account")
    follower.ready.set()
    follower.names_changed.set()
    follower.check_wanted.set()
    follower.listener.snapshot_taken(continuity)


async def _read_account(follower: Follower) -> Account:
    return (await follower.listener.request(follower.rest.accounts.get())).account


async def check_changes(follower: Follower) -> None:
    """Compare the account with the service's changes, at intervals and when transactions may have been missed."""
    failures = 0
    while True:
        await follower.ready.wait()
        await _until(follower.check_wanted, follower.check_every_s if failures == 0 else 0)
        error = await check_once(follower)
        if error is None:
            failures = 0
        else:
            await backoff(follower, failures, error)
            failures += 1


async def check_once(follower: Follower) -> Exception | None:
    """Compare once; return and report the error if there was no answer that can be read."""
    follower.check_wanted.clear()
    try:
        await _check(follower)
    except FAILURES as error:
        _note_unread(follower, error)
        follower.listener.interrupted("account", error, "the account's changes")
        return error
    follower.listener.restored("account")
    return None


def _note_unread(follower: Follower, error: Exception) -> None:
    """Note that an answer came that cannot be read: what it says is not known. No answer leaves what is known."""
    if isinstance(error, (UnreadableAnswer, *READ_ERRORS)):
        follower.synchronizer.note_unread(message_of(error) or "the answer cannot be read")


async def _check(follower: Follower) -> None:
    """Compare; request a snapshot if the service does not know the transaction or its answer is too large."""
    with follower.synchronizer.asking() as request:
        try:
            answer = await follower.listener.request(follower.rest.accounts.changes(request.since))
        except OutOfRange:
            follower.request_snapshot(f"The broker does not know transaction {request.since}")
            return
        except AnswerTooLarge as error:
            follower.request_snapshot(
                f"Too much changed since transaction {request.since}: {error}"
            )
            return
        due = follower.snapshot_wanted.is_set()
        result = follower.synchronizer.apply_changes(answer, request, snapshot_is_due=due)
    await follower.listener.compared(result)


async def fill_gaps(follower: Follower) -> None:
    """Read transactions that are known to exist and did not come."""
    gate, failures = follower.gate, 0
    while True:
        await gate.gap_seen.wait()
        await follower.timing.sleep(PATIENCE_S / 2)
        if gate.overdue(follower.timing.clock()) is None or await fill_gap(follower):
            failures = 0
        else:
            await backoff(follower, failures)
            failures += 1


async def fill_gap(follower: Follower) -> bool:
    """Request missing transactions; return False if none were applied."""
    gate = follower.gate
    before, filler = gate.applied, GapFiller(gate, partial(_read_range, follower))
    try:
        result = await filler.fill()
    except FAILURES as error:
        first, last = filler.requested
        _note_unread(follower, error)
        follower.listener.interrupted("account", error, f"transactions {first} to {last}")
        return False
    if result is Backfill.REFUSED:
        first, last = filler.requested
        follower.request_snapshot(f"The broker does not know transactions {first} to {last}")
    return gate.applied != before


async def _read_range(
    follower: Follower, first: int, last: int
) -> tuple[Sequence[Transaction], int]:
    answer = await follower.listener.request(follower.rest.transactions.range(first, last))
    return answer.transactions, number_of(answer.last_transaction_id)


async def stream_transactions(follower: Follower) -> None:
    """Pass every transaction of the stream to the gate."""
    failures = 0
    while True:
        error: KeydeskClientError = ConnectionLost("the stream ended")
        stream = follower.open_transactions()
        try:
            async with stream as items:
                async for item in items:
                    failures = 0
                    apply_transaction(follower, item)
        except KeydeskClientError as raised:
            error = raised
        follower.listener.interrupted("transactions", error)
        await backoff(follower, failures, error)
        failures += 1


def apply_transaction(follower: Follower, item: TransactionItem) -> None:
    """Take one item of the transaction stream."""
    gate = follower.gate
    follower.listener.on_item(item)
    match item:
        case TransactionHeartbeat():
            try_to(gate.counter, lambda: gate.saw_last(item.last_transaction_id))
        case HistoryLost():
            follower.request_snapshot(
                f"The broker does not know what came after transaction {item.applied}"
            )
        case Reconnected():  # what came in between follows, and is in the changes
            follower.check_wanted.set()
        case TransactionIdentity():
            gate.offer(item)


async def stream_prices(follower: Follower) -> None:
    """Take the prices of the wanted instruments; open the stream anew when others are."""
    failures = 0
    while True:
        follower.names_changed.clear()
        names = follower.listener.wanted()
        if not names:
            await follower.names_changed.wait()
            continue
        error: KeydeskClientError = ConnectionLost("the stream ended")
        stream = follower.open_prices(names)
        try:
            async with stream as items:
                if await _others_wanted(follower, names, items):
                    failures = 0
                    continue
        except KeydeskClientError as raised:
            error = raised
        follower.listener.interrupted("prices", error)
        failures = 0 if stream.health.lines else failures + 1
        await backoff(follower, failures, error)


async def take_prices(follower: Follower, items: PriceStream) -> None:
    """Take items until the stream ends: at once after a pause, in batches under load."""
    clock, take = follower.timing.clock, follower.listener.take_price
    began = float("-inf")
    async for item in items:
        take(item)
        now = clock()
        if now - began > READ_SECONDS:
            early = began + follower.read_interval_s - now
            if early > 0:
                await follower.timing.sleep(early)
            began = clock()


async def _others_wanted(follower: Follower, names: tuple[str, ...], items: PriceStream) -> bool:
    """Take prices until other instruments are needed, or the stream ends: then return False, or raise its error."""
    reading = asyncio.create_task(take_prices(follower, items))
    try:
        while not reading.done() and set(follower.listener.wanted()) <= set(names):
            changed = asyncio.ensure_future(follower.names_changed.wait())
            try:
                await asyncio.wait((reading, changed), return_when=asyncio.FIRST_COMPLETED)
            finally:
                changed.cancel()
            follower.names_changed.clear()
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


Feed: TypeAlias = Callable[[Follower], Coroutine[None, None, None]]
FEEDS: Final[Iterable[Feed]] = (
    stream_transactions,
    update_snapshot,
    stream_prices,
    check_changes,
    fill_gaps,
)
"""The feeds, in the order in which they start: transactions are buffered before the snapshot is read."""
