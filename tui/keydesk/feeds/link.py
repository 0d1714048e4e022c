"""State that all feeds of an account share: client, store, clocks, round-trip times and the transaction gate."""

import asyncio
import random
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import TracebackType
from typing import Protocol, TypeVar

from keydesk.store.fold import apply
from keydesk.store.state import LogLine, Topic
from keydesk.store.store import READ_ERRORS, Store, number_of, try_to
from keydesk.text.sanitize import clean
from keydesk_client.client import Client
from keydesk_client.errors import (
    Answered,
    ConnectionLost,
    KeydeskClientError,
    TimedOut,
    Unreachable,
    UnreadableAnswer,
)
from keydesk_client.http.timing import BackOff
from keydesk_client.models import Transaction
from keydesk_client.sequencer import MOST_HELD, Backfill, Range, Sequencer
from keydesk_client.streams.buffer import StreamHealth

REMEMBERED = 100
Listener = Callable[[Transaction], None]
T = TypeVar("T")
UNANSWERED = (ConnectionLost, TimedOut, Unreachable)
BACK_OFF = BackOff(first_s=0.5, longest_s=30.0)
SHORTEST_PAUSE = 0.25  # seconds
LONGEST_REASON = 200
FAILURES = (KeydeskClientError, *READ_ERRORS)
"""Errors of a request: no answer, a refusal, or an answer without required members."""


class RoundTrips:
    """Times of the newest round trips, and the requests without an answer; all in seconds."""

    def __init__(self) -> None:
        self._taken: deque[float] = deque(maxlen=REMEMBERED)
        self._waiting: dict[object, float] = {}  # when each request was asked
        self._given_up: float | None = None  # when the first was asked that ended without an answer
        self._answered = float("-inf")  # when the last answer of any kind came

    def took(self, seconds: float) -> None:
        """Add the duration of a round trip."""
        self._taken.append(seconds)

    def ask(self, now: float) -> object:
        """Note that a request is sent; return its handle."""
        request = object()
        self._waiting[request] = now
        return request

    def answer(self, request: object, now: float) -> None:
        """Note that a request was answered, also with an error status."""
        self._waiting.pop(request, None)
        self._given_up, self._answered = None, now

    def give_up(self, request: object) -> None:
        """Note that a request ended without an answer; it counts as unanswered until any answer arrives."""
        asked = self._waiting.pop(request, None)
        if self._given_up is None:
            self._given_up = asked

    def forget(self, request: object) -> None:
        """Remove a request that was cancelled or never sent."""
        self._waiting.pop(request, None)

    @property
    def unanswered_since(self) -> float | None:
        """When the oldest unanswered request was sent, None if there is none."""
        waiting = [*self._waiting.values()]
        if self._given_up is not None:
            waiting.append(self._given_up)
        return min(waiting, default=None)

    def silence(self, now: float) -> float:
        """Return the seconds without any answer while a request waits, else 0."""
        since = self.unanswered_since
        return 0.0 if since is None else now - max(since, self._answered)

    @property
    def last_ms(self) -> float | None:
        """The newest round trip in milliseconds, None before the first."""
        return self._taken[-1] * 1000 if self._taken else None

    @property
    def p95_ms(self) -> float | None:
        """The 95th percentile of the round trips in milliseconds."""
        if not self._taken:
            return None
        ordered = sorted(self._taken)
        return ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))] * 1000


class TransactionGate:
    """Takes transactions from any source and applies each to the account once, in id order.

    Args:
        store: Where the account is.
        doubt: Told, in words, when the account has to be read whole.
    """

    def __init__(self, store: Store, *, doubt: Callable[[str], None]) -> None:
        self._store = store
        self._doubt = doubt
        self._listeners: list[Listener] = []
        self._sequencer: Sequencer[Transaction] | None = None
        self._early: list[Transaction] = []  # came before the first snapshot
        self.gap_seen = (
            asyncio.Event()
        )  # set while a transaction is known to exist and did not come

    @property
    def applied(self) -> int | None:
        """The newest applied transaction id, None before the first snapshot."""
        return None if self._sequencer is None else self._sequencer.last

    def listen(self, heard: Listener) -> None:
        """Call `heard` with every transaction after it is applied."""
        self._listeners.append(heard)

    def offer(self, transaction: Transaction) -> None:
        """Take a transaction, in any order and any number of times; one without an id is requested by number later."""
        if not self._has_number(transaction):
            return
        if self._sequencer is None:
            if len(self._early) < MOST_HELD:  # dropped ones are requested after the snapshot
                self._early.append(transaction)
        else:
            self._sequencer.offer(transaction)
            self._check_gap()

    def offer_all(self, transactions: Iterable[Transaction]) -> None:
        """Take several transactions."""
        for transaction in transactions:
            self.offer(transaction)

    def saw_last(self, last_transaction_id: int | str) -> None:
        """Note a lastTransactionID of a heartbeat or of an answer."""
        if self._sequencer is not None:
            self._sequencer.saw_last(number_of(str(last_transaction_id)))
            self._check_gap()

    def open_at(self, last_id: int) -> None:
        """Continue after a snapshot that holds all transactions up to `last_id`."""
        early, self._early = self._early, []
        if self._sequencer is None:
            self._sequencer = Sequencer(last_id, self._apply)
            self.offer_all(early)
        else:
            self._sequencer.restart(last_id)
            self._check_gap()

    def forget(self) -> None:
        """Drop all waiting transactions: the broker has another history."""
        self._sequencer = None
        self._early.clear()
        self.gap_seen.clear()

    @property
    def missing(self) -> Range | None:
        """The first range of ids that did not come, or None."""
        return None if self._sequencer is None else self._sequencer.missing

    def overdue(self, now: float) -> Range | None:
        """Return the ids to request: known to exist and missing for a quarter of a second."""
        return None if self._sequencer is None else self._sequencer.overdue(now)

    def backfilled(
        self, asked: Range, transactions: Iterable[Transaction], last_transaction_id: int | str
    ) -> Backfill:
        """Take the answer to a request for missing ids; return how it helped."""
        if self._sequencer is None:
            return Backfill.COMPLETE
        readable = [each for each in transactions if self._has_number(each)]
        result = self._sequencer.backfilled(asked, readable, last_transaction_id)
        if result is Backfill.HOLE:
            self._doubt(f"The broker does not have transaction {asked[0]}")
        self._check_gap()
        return result

    def _check_gap(self) -> None:
        if self._sequencer is not None and self._sequencer.missing is not None:
            self.gap_seen.set()
        else:
            self.gap_seen.clear()

    def _has_number(self, transaction: Transaction) -> bool:
        return try_to(self._store, lambda: number_of(transaction.id))

    def _apply(self, transaction: Transaction) -> None:
        name = f"Transaction {transaction.id} {getattr(transaction, 'type', 'of no type')}"
        try:
            if not apply(self._store, transaction):
                self._doubt(f"{name} is not understood")
        except READ_ERRORS as error:
            self._store.note_unreadable(str(error))
            self._doubt(f"{name} is incomplete: {error}")
        for heard in self._listeners:
            try_to(self._store, partial(heard, transaction))


class OpenStream(Protocol):
    """An open stream: prices or transactions, heartbeats and gaps."""

    @property
    def health(self) -> StreamHealth: ...
    def __aiter__(self) -> AsyncIterator[object]: ...


class Stream(Protocol):
    """A stream as a context manager; `health` can be read before it is entered, because opening may take long."""

    @property
    def health(self) -> StreamHealth: ...
    async def __aenter__(self) -> OpenStream: ...
    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
        /,
    ) -> bool | None: ...


class Check(Protocol):
    """A check that runs after each poll of the account's changes."""

    async def check(self, link: "Link", /) -> None: ...


class Streams(Protocol):
    """The source of an account's two streams."""

    def prices(self, instruments: Sequence[str]) -> Stream: ...
    def transactions(self) -> Stream: ...


@dataclass(slots=True, kw_only=True)
class Link:
    """What the feeds of one account share while the desk shows it."""

    client: Client
    store: Store
    streams: Streams
    poll_every: float = 5.0  # seconds from one look at the account's changes to the next
    now: Callable[[], float] = time.monotonic
    wall_ns: Callable[[], int] = time.time_ns
    pause: Callable[[float], Awaitable[None]] = asyncio.sleep
    chance: Callable[[], float] = random.random
    round_trips: RoundTrips = field(default_factory=RoundTrips)
    snapshot_wanted: asyncio.Event = field(default_factory=asyncio.Event)
    poll_wanted: asyncio.Event = field(default_factory=asyncio.Event)
    history_wanted: asyncio.Event = field(default_factory=asyncio.Event)
    listed: asyncio.Event = field(default_factory=asyncio.Event)  # instruments are known
    ready: asyncio.Event = field(default_factory=asyncio.Event)  # the account is on the desk
    priced: asyncio.Event = field(default_factory=asyncio.Event)  # the first price came
    price_health: StreamHealth | None = None  # of the open price stream
    event_health: StreamHealth | None = None  # of the open transaction stream
    lines_unreadable: dict[str, tuple[StreamHealth, int]] = field(default_factory=dict)
    unreadable_noted: int = 0  # records that could not be read, when health was last judged
    checked: int = 0  # the transaction up to which broker and desk were found to agree
    reconciler: Check | None = None  # of what is UNCONFIRMED
    gate: TransactionGate = field(init=False)

    def __post_init__(self) -> None:
        self.gate = TransactionGate(self.store, doubt=self.doubt)

    async def ask(self, call: Awaitable[T]) -> T:
        """Return the answer of a REST call and record its round trip."""
        began, trips = self.now(), self.round_trips
        request = trips.ask(began)
        try:
            answer = await call
        except UNANSWERED:
            trips.give_up(request)
            raise
        except (Answered, UnreadableAnswer):
            trips.answer(request, self.now())
            raise
        finally:
            trips.forget(request)
        trips.answer(request, self.now())
        trips.took(self.now() - began)
        return answer

    def doubt(self, words: str) -> None:
        """Log why the account may be wrong, show a warning and request a snapshot."""
        self.write(f"{words}; the account is read again")
        self.store.health.warning = clean(words)
        self.store.mark(Topic.HEALTH)
        self.snapshot_wanted.set()

    def settle_doubt(self) -> None:
        """Remove the warning: account and broker agree."""
        if self.store.health.warning:
            self.store.health.warning = ""
            self.store.mark(Topic.HEALTH)

    def write(self, words: str) -> None:
        """Write a line of the desk's own to the log."""
        moment = self.store.clock_ns or self.wall_ns()
        self.store.write_log(LogLine("", moment, "LINK", "", clean(words)))

    def count_unreadable(self, error: Exception) -> None:
        """Count an answer that could not be read; a missing answer is not counted."""
        if isinstance(error, READ_ERRORS):
            self.store.note_unreadable(reason(error))

    def failed(self, name: str, error: Exception) -> None:
        """Log that a feed failed and is restarted."""
        why = f"{type(error).__name__}: {reason(error)}"[:LONGEST_REASON]
        self.write(f"The feed of the {name} failed and is started again ({why})")
        self.store.health.restarted[name] = self.now()
        self.store.mark(Topic.HEALTH)

    async def wait(self, event: asyncio.Event, timeout_s: float | None = None) -> None:
        """Wait until the event is set, or for `timeout_s` seconds, and clear it."""
        if timeout_s is None:
            await event.wait()
        else:
            waits = (
                asyncio.ensure_future(event.wait()),
                asyncio.ensure_future(self.pause(timeout_s)),
            )
            try:
                await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for each in waits:
                    each.cancel()
        event.clear()

    async def back_off(self, tries: int) -> None:
        """Wait before the next attempt: full jitter under a ceiling that doubles."""
        await self.pause(BACK_OFF.pause(tries, self.chance, at_least_s=SHORTEST_PAUSE))


def reason(error: Exception) -> str:
    """Return the message of an error as printable text."""
    return clean(str(error) or type(error).__name__)
