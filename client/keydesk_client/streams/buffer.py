"""The buffer between the task that reads a stream and the code that iterates over it: settings, health and markers."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, Protocol, TypeVar

from keydesk_client.errors import KeydeskClientError
from keydesk_client.transaction_id import TransactionID


class OverflowPolicy(StrEnum):
    """What to do with prices when more wait for the iteration than the buffer holds."""

    BLOCK = "block"
    """Stop reading; the service's buffers fill, and prices come late."""
    DROP_OLDEST = "drop oldest"
    """Drop the oldest price; `health.dropped` counts it."""
    KEEP_LAST = "keep last"
    """Keep the newest price of each instrument; `health.dropped` counts those that were replaced."""


@dataclass(frozen=True, slots=True)
class StreamSettings:
    """Times and sizes of a stream."""

    stall_s: float = 30.0
    """Seconds without a line, heartbeats included, after which the connection is given up."""
    first_pause_s: float = 0.5
    """Ceiling of the first pause before reconnecting; see `BackOff`."""
    longest_pause_s: float = 4.0
    """Ceiling of every pause before reconnecting. A pause also ends when the service answers a request of the client,
    unless the service asked for a longer one."""
    healthy_s: float = 60.0
    """Seconds after which a connection counts as healthy, so that the next pause is a first one again."""
    waiting_at_most: int = 10_000
    """Items that wait for the iteration before `when_full` applies."""
    when_full: OverflowPolicy = OverflowPolicy.BLOCK
    """Policy for prices; transactions are never dropped."""


@dataclass(slots=True)
class StreamHealth:
    """Counts since the stream was entered, and its current state."""

    connected: bool = False
    connects: int = 0
    """Connections that were made."""
    attempts: int = 0
    """Connections that were attempted."""
    lines: int = 0
    unreadable: int = 0
    """Lines that are not an item of this stream and were left out."""
    dropped: int = 0
    """Prices that were dropped because the iteration was too slow."""
    heard_at: float | None = None
    """Time of the last line, or of the connection if none came since, by the stream's clock."""
    last_error: KeydeskClientError | None = None
    """Why the previous connection ended or the current attempt failed."""


@dataclass(frozen=True, slots=True)
class Interruption:
    """A connection was lost and another one was made."""

    reason: KeydeskClientError
    seconds: float
    """Seconds from the last line of the lost connection to the new connection."""


class Gap(Interruption):
    """The price stream was interrupted: the prices in between are lost."""


class Reconnected(Interruption):
    """The transaction stream was interrupted: the transactions in between follow, none is missing."""


@dataclass(frozen=True, slots=True)
class HistoryLost:
    """The service does not have the transactions that follow: take a snapshot, the stream goes on after the newest."""

    applied: TransactionID
    """The newest id that was delivered before."""


T = TypeVar("T")

KeyOf = Callable[[T], str | None]
"""Returns the instrument of a price; None for an item that must not be dropped."""


class Queue(Protocol[T]):
    """Items that wait, in order."""

    def add(self, items: Iterable[T]) -> int:
        """Add items; return how many were dropped for them."""
        ...

    def take(self) -> T:
        """Remove and return the oldest item; there must be one."""
        ...

    def __len__(self) -> int: ...


class Buffer(Generic[T]):
    """A queue between the task that reads a stream and the code that iterates over it."""

    def __init__(self, queue: Queue[T], most: int) -> None:
        self._queue, self._most = queue, most
        self._reader: asyncio.Future[None] | None = None
        self._writer: asyncio.Future[None] | None = None
        self._end: Exception | None = None

    async def put(self, items: Iterable[T]) -> int:
        """Add items, then wait while there are too many; return how many were dropped."""
        dropped = self._queue.add(items)
        _wake(self._reader)
        while len(self._queue) > self._most:
            self._writer = asyncio.get_running_loop().create_future()
            await self._writer
        return dropped

    async def take(self) -> T:
        """Wait for the next item and return it; raise the error of `end` when all items were taken."""
        while not len(self._queue):
            if self._end is not None:
                raise self._end
            self._reader = asyncio.get_running_loop().create_future()
            await self._reader
        item = self._queue.take()
        if self._writer is not None and len(self._queue) <= self._most:
            _wake(self._writer)
        return item

    def end(self, error: Exception) -> None:
        """Let `take` raise this error after the last item."""
        self._end = error
        _wake(self._reader)


class InOrder(Generic[T]):
    """A queue that drops nothing: its writer waits."""

    def __init__(self) -> None:
        self._items: deque[T] = deque()
        self.take: Callable[[], T] = self._items.popleft

    def add(self, items: Iterable[T]) -> int:
        """Add items; return 0."""
        self._items.extend(items)
        return 0

    def __len__(self) -> int:
        return len(self._items)


class DropOldest(Generic[T]):
    """A queue that drops the oldest price for a new item when it is full; it keeps markers and heartbeats."""

    def __init__(self, most: int, key_of: KeyOf[T]) -> None:
        self._items: deque[T] = deque()
        self._most, self._key_of = most, key_of
        self.take: Callable[[], T] = self._items.popleft

    def add(self, items: Iterable[T]) -> int:
        """Add items; return how many prices were dropped."""
        self._items.extend(items)
        dropped = 0
        kept: list[T] = []
        while len(self._items) + len(kept) > self._most and self._items:
            oldest = self._items.popleft()
            if self._key_of(oldest) is None:
                kept.append(oldest)
            else:
                dropped += 1
        self._items.extendleft(reversed(kept))
        return dropped

    def __len__(self) -> int:
        return len(self._items)


class KeepLast(Generic[T]):
    """A queue of the newest item of each instrument, in the place of the first that waited."""

    def __init__(self, key_of: KeyOf[T]) -> None:
        self._items: dict[object, T] = {}
        self._key_of = key_of

    def add(self, items: Iterable[T]) -> int:
        """Add items; return how many prices were replaced."""
        dropped = 0
        for item in items:
            key = self._key_of(item)
            place = object() if key is None else key
            dropped += place in self._items
            self._items[place] = item
        return dropped

    def take(self) -> T:
        """Remove and return the item that waits longest."""
        return self._items.pop(next(iter(self._items)))

    def __len__(self) -> int:
        return len(self._items)


def queue_for(when_full: OverflowPolicy, most: int, key_of: KeyOf[T]) -> Queue[T]:
    """Return a queue with this policy for `most` items."""
    match when_full:
        case OverflowPolicy.BLOCK:
            return InOrder()
        case OverflowPolicy.DROP_OLDEST:
            return DropOldest(most, key_of)
        case OverflowPolicy.KEEP_LAST:
            return KeepLast(key_of)


def _wake(waiting: asyncio.Future[None] | None) -> None:
    if waiting is not None and not waiting.done():
        waiting.set_result(None)
