"""State that all feeds of an account share: client, store, clocks, round-trip times and the transaction gate."""

import asyncio
import random
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import TracebackType
from typing import Literal, Protocol, TypeVar

from keydesk.alerts.watch import AlertWatch
from keydesk.feeds.outage import Broker, outage_of, silence
from keydesk.store.state import LogLine, Notice, Outage, Topic
from keydesk.store.store import Store
from keydesk.store.transactions.fold import apply
from keydesk.text.sanitize import clean, safe
from keydesk_client.account.synchronizer import Synchronizer, TransactionGate
from keydesk_client.account.values import READ_ERRORS
from keydesk_client.client import Client
from keydesk_client.errors import (
    ConnectionLost,
    HttpStatusError,
    KeydeskClientError,
    TimedOut,
    Unreachable,
    UnreadableAnswer,
    message_of,
)
from keydesk_client.http.retry import BackOff, Retries
from keydesk_client.streams.settings import StreamHealth

REMEMBERED = 100  # round trips
RECENT = 60.0  # seconds: older round trips say nothing of the line as it is now
T = TypeVar("T")
UNANSWERED = (ConnectionLost, TimedOut, Unreachable)
BACK_OFF = BackOff(first_s=0.5, longest_s=30.0)
NO_RETRIES = Retries(most=0)
SHORTEST_PAUSE = 0.25  # seconds
MAX_REASON_LENGTH = 200
FAILURES = (KeydeskClientError, *READ_ERRORS)
"""Errors of a request: no answer, a refusal, or an answer without required members."""


class RoundTrips:
    """The newest round-trip times, and the requests without an answer; all in seconds."""

    def __init__(self) -> None:
        self._taken: deque[tuple[float, float]] = deque(maxlen=REMEMBERED)  # when, how long
        self._waiting: dict[object, float] = {}  # when each request was asked
        self._failed_since: float | None = (
            None  # when the first was asked that ended without an answer
        )
        self._answered_at = float("-inf")  # when the last answer of any kind came

    def took(self, seconds: float, now: float) -> None:
        """Add the duration of a round trip that just ended."""
        self._taken.append((now, seconds))

    def ask(self, now: float) -> object:
        """Note that a request is sent; return its handle."""
        request = object()
        self._waiting[request] = now
        return request

    def answer(self, request: object, now: float) -> None:
        """Note that a request was answered, also with an error status."""
        self._waiting.pop(request, None)
        self._failed_since, self._answered_at = None, now

    def give_up(self, request: object) -> None:
        """Note that a request ended without an answer; it counts as unanswered until any answer arrives."""
        sent_at = self._waiting.pop(request, None)
        if self._failed_since is None:
            self._failed_since = sent_at

    def forget(self, request: object) -> None:
        """Remove a request that was cancelled or never sent."""
        self._waiting.pop(request, None)

    @property
    def unanswered_since(self) -> float | None:
        """When the oldest unanswered request was sent, None if there is none."""
        waiting = [*self._waiting.values()]
        if self._failed_since is not None:
            waiting.append(self._failed_since)
        return min(waiting, default=None)

    def silence(self, now: float) -> float:
        """Return the seconds without any answer while a request waits, else 0."""
        since = self.unanswered_since
        return 0.0 if since is None else now - max(since, self._answered_at)

    def oldest_wait(self, now: float) -> float:
        """Return the seconds for which the oldest request waits; 0 if none does."""
        return now - min(self._waiting.values(), default=now)

    @property
    def last_ms(self) -> float | None:
        """The newest round trip in milliseconds, None before the first."""
        return self._taken[-1][1] * 1000 if self._taken else None

    @property
    def p95_ms(self) -> float | None:
        """The 95th percentile in milliseconds of the round trips in the minute up to the newest one."""
        if not self._taken:
            return None
        newest, _ = self._taken[-1]
        ordered = sorted(seconds for when, seconds in self._taken if newest - when < RECENT)
        return ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))] * 1000


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

    async def check(self, feed: "AccountFeed", /) -> None: ...


class Streams(Protocol):
    """The source of an account's two streams."""

    def prices(self, instruments: Sequence[str]) -> Stream: ...
    def transactions(self) -> Stream: ...


@dataclass(slots=True, kw_only=True)
class AccountFeed:
    """What the feeds of one account share while the desk shows it."""

    client: Client
    store: Store
    streams: Streams
    poll_every: float = 5.0  # seconds from one poll of the account's changes to the next
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
    broker: Broker = field(default_factory=Broker)  # as outages name it
    failures_in_row: int = 0  # of the account's requests
    unreadable_noted: int = 0  # records that could not be read, when health was last assessed
    reconciler: Check | None = None  # of what is UNCONFIRMED
    alerts: AlertWatch | None = None  # called when prices were missed
    synchronizer: Synchronizer = field(init=False)
    gate: TransactionGate = field(init=False)
    unretried: Client = field(init=False)  # for loops that try again themselves, and show why

    def __post_init__(self) -> None:
        apply_to_store = partial(apply, self.store)
        self.synchronizer = Synchronizer(self.store, apply_to_store, self.request_snapshot)
        self.gate = self.synchronizer.gate
        self.unretried = self.client.with_retries(NO_RETRIES)

    async def ask(self, call: Awaitable[T]) -> T:
        """Return the answer of a REST call and record its round trip."""
        began, trips = self.now(), self.round_trips
        request = trips.ask(began)
        try:
            answer = await call
        except UNANSWERED:
            trips.give_up(request)
            raise
        except (HttpStatusError, UnreadableAnswer):
            trips.answer(request, self.now())
            raise
        finally:
            trips.forget(request)
        trips.answer(request, self.now())
        trips.took(self.now() - began, self.now())
        return answer

    def request_snapshot(self, text: str) -> None:
        """Log why the account may be wrong, show a warning and request a snapshot."""
        self.write(f"{text}; the account is read again")
        self.store.health.warning = clean(text)
        self.store.mark(Topic.HEALTH)
        self.snapshot_wanted.set()

    def clear_warning(self) -> None:
        """Remove the warning: account and broker agree."""
        if self.store.health.warning:
            self.store.health.warning = ""
            self.store.mark(Topic.HEALTH)

    def note_failure(self, error: Exception) -> None:
        """Show why the account cannot be read: the present reason, but of a known account no single failure."""
        self.count_unreadable(error)
        self.failures_in_row += 1
        if self.failures_in_row > 1 or self.store.account is None:
            self._show(outage_of(error, self.broker))

    def note_silence(self, after_s: float) -> None:
        """Show that the broker does not answer, once a request has waited for so many seconds."""
        if self.round_trips.oldest_wait(self.now()) >= after_s:
            self._show(silence(self.broker, after_s))

    def note_success(self) -> None:
        """Take back why the account could not be read."""
        self.failures_in_row = 0
        if self.store.health.outage is not None:
            self.store.health.outage = None
            self._tell("good", "Connected: the broker answers again")

    def _show(self, outage: Outage) -> None:
        known = self.store.health.outage
        if known is None or known.short != outage.short:
            self.store.health.outage = outage
            self.write(outage.text)
            self._tell("warn", outage.text)

    def _tell(self, level: Literal["good", "warn"], text: str) -> None:
        """Show a notice, which takes the place of the one before about the connection."""
        self.store.notify(Notice(level, safe(text), self.wall_ns(), sums_up="connection"))
        self.store.mark(Topic.HEALTH)

    def write(self, text: str) -> None:
        """Write a line of the desk's own to the log."""
        moment = self.store.clock_ns or self.wall_ns()
        self.store.write_log(LogLine("", moment, "LINK", "", clean(text)))

    def count_unreadable(self, error: Exception) -> None:
        """Count an answer that could not be read; a missing answer is not counted."""
        if isinstance(error, READ_ERRORS):
            self.store.note_unreadable(reason(error))

    def failed(self, name: str, error: Exception) -> None:
        """Log that a feed failed and is restarted."""
        why = f"{type(error).__name__}: {reason(error)}"[:MAX_REASON_LENGTH]
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
    return clean(message_of(error))
