"""What keeps a followed account current: two streams, snapshots, requested transactions and the check of its changes.

Each feed runs until it is cancelled. Network errors, and answers that cannot be read, are reported and tried again with
growing pauses; before the account was read for the first time, a refusal ends the attempt to follow it.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Final

from keydesk_client.account.synchronizer import Comparison
from keydesk_client.account.values import READ_ERRORS, number_of, try_to
from keydesk_client.arithmetic.profit import currencies
from keydesk_client.errors import (
    AnswerTooLarge,
    KeydeskClientError,
    OutOfRange,
)
from keydesk_client.following.events import (
    PriceUpdated,
    SnapshotReloaded,
)
from keydesk_client.following.follower import (
    Follower,
)
from keydesk_client.models import Account, ClientPrice, Transaction, TransactionHeartbeat
from keydesk_client.models.transactions.base import TransactionIdentity
from keydesk_client.resources._base import unknown_instrument
from keydesk_client.sequencer import PATIENCE_S, Backfill, GapFiller
from keydesk_client.streams.buffer import (
    HistoryLost,
    OverflowPolicy,
    Reconnected,
    StreamSettings,
)
from keydesk_client.streams.prices import PriceStream
from keydesk_client.streams.transactions import TransactionItem

if TYPE_CHECKING:
    pass

FAILURES: Final = (KeydeskClientError, *READ_ERRORS)
HEALTH_EVERY_S: Final = 0.5
REPEATS_AT_ONCE: Final = 2
"""Snapshots one after the other that are taken without a pause."""
SETTLED_S: Final = 10.0


async def update_snapshot(follower: Follower) -> None:
    """Take a snapshot now and whenever one is requested; back off when they are requested again and again."""
    clock = follower.timing.clock
    repeats, taken = 0, float("-inf")
    follower.snapshot_wanted.set()
    while True:
        await follower.snapshot_wanted.wait()
        repeats = repeats + 1 if clock() - taken < SETTLED_S else 0
        if repeats > REPEATS_AT_ONCE:
            await follower.back_off(repeats - REPEATS_AT_ONCE)
        follower.snapshot_wanted.clear()
        reason, follower.snapshot_reason = follower.snapshot_reason, ""
        await _snapshot(follower)
        taken, follower.is_read = clock(), True
        follower.names_changed.set()
        follower.check_wanted.set()
        follower.tell(SnapshotReloaded(reason))


async def _snapshot(follower: Follower) -> None:
    failures = 0
    while True:
        try:
            if not follower.book.instruments:
                await _read_instruments(follower)
            synchronizer = follower.synchronizer
            with synchronizer.asking() as request:
                account = await synchronizer.read_snapshot(
                    partial(_account, follower), request, sleep=follower.timing.sleep
                )
                synchronizer.apply_snapshot(account, request)
        except FAILURES as error:
            follower.interrupted("account", error)
            await follower.back_off(failures, error)
            failures += 1
        else:
            follower.restored("account")
            return


async def _account(follower: Follower) -> Account:
    return (await follower.client.accounts.get()).account


async def _read_instruments(follower: Follower) -> None:
    """Read the terms of all instruments; raise InvalidRequest if the account lacks a named one."""
    terms = await follower.client.accounts.instruments()
    instruments = {each.name: each for each in terms.instruments}
    for name in follower.names:
        if name not in instruments:
            raise unknown_instrument("instruments", name, instruments)
    follower.book.instruments = instruments


async def check_changes(follower: Follower) -> None:
    """Compare the book with the account's changes, at intervals and when transactions may have been missed."""
    failures = 0
    while True:
        await _until(follower.check_wanted, follower.settings.check_every_s if failures == 0 else 0)
        if not follower.is_read:
            continue
        try:
            await check_once(follower)
            await _read_missing_conversions(follower)
        except FAILURES as error:
            follower.interrupted("account", error)
            await follower.back_off(failures, error)
            failures += 1
        else:
            failures = 0
            follower.restored("account")


async def check_once(follower: Follower) -> None:
    """Compare once; request a snapshot if the service does not know the transaction or its answer is too large."""
    with follower.synchronizer.asking() as request:
        try:
            answer = await follower.client.accounts.changes(request.since)
        except OutOfRange:
            follower.request_snapshot(f"The service does not know transaction {request.since}")
            return
        except AnswerTooLarge:
            follower.request_snapshot(f"Too much changed since transaction {request.since}")
            return
        due = follower.snapshot_wanted.is_set()
        compared = follower.synchronizer.apply_changes(answer, request, snapshot_is_due=due)
    if compared is Comparison.EQUAL:
        follower.tell(None)


async def _read_missing_conversions(follower: Follower) -> None:
    """Read the conversion factors of positions for which no price has brought them."""
    book = follower.book
    home = "" if book.account is None else book.account.currency
    known = book.conversions.keys() | {home}
    names = [each for each in book.positions if currencies(each)[1] not in known]
    if names:
        answer = await follower.client.pricing.get(names, include_home_conversions=True)
        for conversion in answer.home_conversions or ():
            try_to(book, partial(book.apply_conversion, conversion))
        book.revalue()


async def fill_gaps(follower: Follower) -> None:
    """Read transactions that are known to exist and did not come."""
    gate, failures = follower.synchronizer.gate, 0
    while True:
        await gate.gap_seen.wait()
        await follower.timing.sleep(PATIENCE_S / 2)
        if gate.overdue(follower.timing.clock()) is None:
            continue
        before = gate.applied
        try:
            result = await GapFiller(gate, partial(_read_range, follower)).fill()
            if result is Backfill.REFUSED:
                follower.request_snapshot(
                    "The service does not know transactions that it had announced"
                )
        except FAILURES as error:
            follower.interrupted("account", error)
        failures = 0 if gate.applied != before else failures + 1
        if failures:
            await follower.back_off(failures)


async def _read_range(
    follower: Follower, first: int, last: int
) -> tuple[Sequence[Transaction], int]:
    answer = await follower.client.transactions.range(first, last)
    return answer.transactions, number_of(answer.last_transaction_id)


async def stream_transactions(follower: Follower) -> None:
    """Pass every transaction of the stream to the gate."""
    settings = StreamSettings(
        stall_s=follower.settings.stall_s, longest_pause_s=follower.settings.longest_pause_s
    )
    failures = 0
    while True:
        stream = follower.client.transactions.stream(settings=settings, timing=follower.timing)
        follower.streams["transactions"] = stream.health
        try:
            async with stream as items:
                async for item in items:
                    failures = 0
                    apply_transaction(follower, item)
        except KeydeskClientError as error:
            follower.interrupted("transactions", error)
            await follower.back_off(failures, error)
            failures += 1


def apply_transaction(follower: Follower, item: TransactionItem) -> None:
    """Take one item of the transaction stream."""
    gate = follower.synchronizer.gate
    match item:
        case TransactionHeartbeat():
            try_to(follower.book, lambda: gate.saw_last(item.last_transaction_id))
        case HistoryLost():
            follower.request_snapshot(
                f"The service does not know what came after transaction {item.applied}"
            )
        case Reconnected():  # what came in between follows, and is in the changes
            follower.check_wanted.set()
        case TransactionIdentity():
            gate.offer(item)


async def stream_prices(follower: Follower) -> None:
    """Take the prices of the named and the held instruments; open the stream anew when they change."""
    settings = StreamSettings(
        stall_s=follower.settings.stall_s,
        longest_pause_s=follower.settings.longest_pause_s,
        when_full=OverflowPolicy.KEEP_LAST,
    )
    failures = 0
    while True:
        follower.names_changed.clear()
        names = follower.wanted()
        if not names:
            await follower.names_changed.wait()
            continue
        try:
            stream = follower.client.pricing.stream(
                names,
                include_home_conversions=True,
                settings=settings,
                timing=follower.timing,
            )
            follower.streams["prices"] = stream.health
            async with stream as items:
                await _until_names_change(follower, names, items)
            failures = 0
        except KeydeskClientError as error:
            follower.interrupted("prices", error)
            await follower.back_off(failures, error)
            failures += 1


async def _until_names_change(
    follower: Follower, names: tuple[str, ...], items: PriceStream
) -> None:
    """Take prices until other instruments are needed."""
    reading = asyncio.create_task(_read_prices(follower, items))
    try:
        while not reading.done() and set(follower.wanted()) <= set(names):
            changed = asyncio.ensure_future(follower.names_changed.wait())
            try:
                await asyncio.wait((reading, changed), return_when=asyncio.FIRST_COMPLETED)
            finally:
                changed.cancel()
            follower.names_changed.clear()
        if reading.done():
            reading.result()
    finally:
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)


async def _read_prices(follower: Follower, items: PriceStream) -> None:
    clock = follower.timing.clock
    async for item in items:
        if isinstance(item, ClientPrice):
            try_to(follower.book, partial(_apply_price, follower, item, clock()))


def _apply_price(follower: Follower, price: ClientPrice, received: float) -> None:
    taken = follower.book.apply_price(price, received)
    if taken is not None:
        follower.tell(PriceUpdated(taken))


async def watch_streams(follower: Follower) -> None:
    """Report a stream whose connection is lost or silent, and its return."""
    while True:
        now = follower.timing.clock()
        for source, health in follower.streams.items():
            silent = (
                health.heard_at is not None and now - health.heard_at > follower.settings.stall_s
            )
            if health.connected and not silent:
                follower.restored(source)
            elif health.heard_at is not None or health.last_error is not None:
                follower.interrupted(source, health.last_error or TimeoutError("no line came"))
        await follower.timing.sleep(HEALTH_EVERY_S)


FEEDS: Final[Iterable[Callable[[Follower], Coroutine[None, None, None]]]] = (
    stream_transactions,
    update_snapshot,
    stream_prices,
    check_changes,
    fill_gaps,
    watch_streams,
)
"""The feeds, in the order in which they start: transactions are buffered before the snapshot is read."""


async def _until(event: asyncio.Event, seconds: float) -> None:
    """Wait until an event is set, for some seconds at most, and clear it."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
    event.clear()
