"""What was read and not yet taken: bounded, with a policy for a slow reader.

How patient a stream is, and what it does when its reader is slow.
How a stream is doing, readable at any moment.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Generic, Protocol, TypeVar

from keydesk_client.errors import KeydeskClientError


class WhenFull(Enum):
    """What happens to prices that nobody has taken yet, once there are too many."""

    BLOCK = "block"
    """Read no further; the service's buffers fill, and prices come late."""
    DROP_OLDEST = "drop oldest"
    """Forget the oldest price; `health.dropped` counts it."""
    KEEP_LAST = "keep last"
    """Keep one price an instrument, always the newest; `health.dropped` counts those it replaced."""


@dataclass(frozen=True, slots=True)
class StreamSettings:
    """Seconds and sizes of a stream."""

    stall_s: float = 30.0
    """Silence without a single line, heartbeats included, that means the stream is dead."""
    first_pause_s: float = 0.5
    longest_pause_s: float = 30.0
    """Ceiling of a pause before reconnecting; each is drawn between nothing and a ceiling that doubles."""
    healthy_s: float = 60.0
    """A connection that lasted this long makes the next pause a short one again."""
    waiting_at_most: int = 10_000
    """Items that wait for the reader before `when_full` applies."""
    when_full: WhenFull = WhenFull.BLOCK
    """For prices; transactions are never dropped."""


@dataclass(slots=True)
class StreamHealth:
    """Counts since the stream was entered, and its present state."""

    connected: bool = False
    connects: int = 0
    """Connections that were made."""
    attempts: int = 0
    """Connections that were tried."""
    lines: int = 0
    unreadable: int = 0
    """Lines that are no item of this stream, and were left out."""
    dropped: int = 0
    """Prices that the reader was too slow for."""
    heard_at: float | None = None
    """When the last line came, or the connection before it, by the stream's clock."""
    trouble: KeydeskClientError | None = None
    """Why the connection before this one ended, or the present attempt failed."""


@dataclass(frozen=True, slots=True)
class Lost:
    """A connection was lost, and another one made."""

    reason: KeydeskClientError
    seconds: float
    """From its last line to the new connection."""


class Gap(Lost):
    """The price stream was interrupted and is back: prices in between are lost."""


class Reconnected(Lost):
    """The transaction stream was interrupted and is back: nothing is missing, what came in between follows."""


@dataclass(frozen=True, slots=True)
class HistoryLost:
    """The service does not have the transactions that must follow: take a snapshot, the stream starts anew."""

    applied: int
    """The newest id that was delivered before."""


T = TypeVar("T")

KeyOf = Callable[[T], str | None]
"""The instrument of a price; None for what must not be dropped."""


class Shelf(Protocol[T]):
    """Holds items in order."""

    def add(self, items: Iterable[T]) -> int:
        """Take items; returns how many had to go for them."""
        ...

    def take(self) -> T:
        """The oldest item; there must be one."""
        ...

    def __len__(self) -> int: ...


class Buffer(Generic[T]):
    """Between the task that reads a stream and the one that iterates over it."""

    def __init__(self, shelf: Shelf[T], most: int) -> None:
        self._shelf, self._most = shelf, most
        self._reader: asyncio.Future[None] | None = None
        self._writer: asyncio.Future[None] | None = None
        self._end: Exception | None = None

    async def put(self, items: Iterable[T]) -> int:
        """Add items, then wait while there are too many; returns how many were dropped."""
        dropped = self._shelf.add(items)
        _wake(self._reader)
        while len(self._shelf) > self._most:
            self._writer = asyncio.get_running_loop().create_future()
            await self._writer
        return dropped

    async def take(self) -> T:
        """The next item; raises what the stream ended with once everything before it was taken."""
        while not len(self._shelf):
            if self._end is not None:
                raise self._end
            self._reader = asyncio.get_running_loop().create_future()
            await self._reader
        item = self._shelf.take()
        if self._writer is not None and len(self._shelf) <= self._most:
            _wake(self._writer)
        return item

    def end(self, error: Exception) -> None:
        """Nothing more will come."""
        self._end = error
        _wake(self._reader)


class InOrder(Generic[T]):
    """Drops nothing: its writer waits."""

    def __init__(self) -> None:
        self._items: deque[T] = deque()
        self.take: Callable[[], T] = self._items.popleft

    def add(self, items: Iterable[T]) -> int:
        """Take items."""
        self._items.extend(items)
        return 0

    def __len__(self) -> int:
        return len(self._items)


class DropOldest(Generic[T]):
    """Drops the oldest price for a new item once it is full; markers and heartbeats stay."""

    def __init__(self, most: int, key_of: KeyOf[T]) -> None:
        self._items: deque[T] = deque()
        self._most, self._key_of = most, key_of
        self.take: Callable[[], T] = self._items.popleft

    def add(self, items: Iterable[T]) -> int:
        """Take items; returns how many prices were dropped."""
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
    """Holds one item an instrument, the newest, in the place of the first that waited."""

    def __init__(self, key_of: KeyOf[T]) -> None:
        self._items: dict[object, T] = {}
        self._key_of = key_of

    def add(self, items: Iterable[T]) -> int:
        """Take items; returns how many prices were replaced before anybody saw them."""
        dropped = 0
        for item in items:
            key = self._key_of(item)
            place = object() if key is None else key
            dropped += place in self._items
            self._items[place] = item
        return dropped

    def take(self) -> T:
        """The item that waits longest."""
        return self._items.pop(next(iter(self._items)))

    def __len__(self) -> int:
        return len(self._items)


def shelf_for(when_full: WhenFull, most: int, key_of: KeyOf[T]) -> Shelf[T]:
    """The shelf that a policy asks for."""
    match when_full:
        case WhenFull.BLOCK:
            return InOrder()
        case WhenFull.DROP_OLDEST:
            return DropOldest(most, key_of)
        case WhenFull.KEEP_LAST:
            return KeepLast(key_of)


def _wake(waiting: asyncio.Future[None] | None) -> None:
    if waiting is not None and not waiting.done():
        waiting.set_result(None)
