"""What every feed of one account shares: the client, the store, the clocks, and who waits for what."""

import asyncio
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Protocol, TypeVar

from keydesk.feeds.round_trips import RoundTrips
from keydesk.feeds.transactions import Door
from keydesk.store.state import LogLine, Topic
from keydesk.store.store import Store
from keydesk.store.unreadable import READ_ERRORS
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
from keydesk_client.streams.health import StreamHealth

T = TypeVar("T")

UNANSWERED = (ConnectionLost, TimedOut, Unreachable)
FIRST_PAUSE = 0.5
LONGEST_PAUSE = 30.0
LONGEST_REASON = 200


class Line(Protocol):
    """An open stream: prices or transactions, heartbeats and gaps as they come."""

    @property
    def health(self) -> StreamHealth: ...
    def __aiter__(self) -> AsyncIterator[object]: ...


class Stream(Protocol):
    """Entering it opens it, leaving it closes it; its health is there before, for entering may wait for long."""

    @property
    def health(self) -> StreamHealth: ...
    async def __aenter__(self) -> Line: ...
    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
        /,
    ) -> bool | None: ...


class Check(Protocol):
    """Something to compare with the broker beside each poll of the account's changes."""

    async def check(self, link: "Link", /) -> None: ...


class Streams(Protocol):
    """Where the two streams of an account come from."""

    def prices(self, instruments: Sequence[str]) -> Stream: ...
    def transactions(self) -> Stream: ...


@dataclass(slots=True, kw_only=True)
class Link:
    """The link to one account, as long as the desk shows it."""

    client: Client
    store: Store
    streams: Streams
    poll_every: float = 5.0  # seconds from one look at the account's changes to the next
    wanted: tuple[str, ...] = ()  # the trader's own watchlist; without it everything there is
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
    door: Door = field(init=False)

    def __post_init__(self) -> None:
        self.door = Door(self.store, doubt=self.doubt)

    async def ask(self, call: Awaitable[T]) -> T:
        """The answer of a REST call, its time taken as a round trip."""
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
        """What we believe of the account may be wrong: say so, and read it whole again."""
        self.write(f"{words}; the account is read again")
        self.store.health.warning = clean(words)
        self.store.mark(Topic.HEALTH)
        self.snapshot_wanted.set()

    def settle_doubt(self) -> None:
        """What we believe was confirmed."""
        if self.store.health.warning:
            self.store.health.warning = ""
            self.store.mark(Topic.HEALTH)

    def write(self, words: str) -> None:
        """A line of the desk's own in the log."""
        moment = self.store.clock_ns or self.wall_ns()
        self.store.write_log(LogLine("", moment, "LINK", "", clean(words)))

    def count_unreadable(self, error: Exception) -> None:
        """Count an answer that came and could not be read; one that did not come is no record."""
        if isinstance(error, READ_ERRORS):
            self.store.note_unreadable(reason(error))

    def failed(self, name: str, error: Exception) -> None:
        """Tell that a feed failed and is started again."""
        why = f"{type(error).__name__}: {reason(error)}"[:LONGEST_REASON]
        self.write(f"The feed of the {name} failed and is started again ({why})")
        self.store.health.restarted[name] = self.now()
        self.store.mark(Topic.HEALTH)

    async def back_off(self, tries: int) -> None:
        """Wait before the next try: full jitter under a ceiling that doubles."""
        ceiling = min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** min(tries, 10))
        await self.pause(max(FIRST_PAUSE / 2, ceiling * self.chance()))


FAILURES = (KeydeskClientError, *READ_ERRORS)
"""What an answer may end in: none came, a refusal, or one without the members that make it an answer."""


def reason(error: Exception) -> str:
    """Why something failed, in words that are safe to print."""
    return clean(str(error) or type(error).__name__)
