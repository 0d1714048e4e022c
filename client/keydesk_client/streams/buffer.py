"""The buffer between the task that reads a stream and the code that iterates over it."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable
from typing import Generic, Protocol, TypeVar

from keydesk_client.streams.settings import OverflowPolicy

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

    def __init__(self, queue: Queue[T], capacity: int) -> None:
        self._queue, self._capacity = queue, capacity
        self._reader: asyncio.Future[None] | None = None
        self._writer: asyncio.Future[None] | None = None
        self._end: Exception | None = None

    async def put(self, items: Iterable[T]) -> int:
        """Add items, then wait while there are too many; return how many were dropped."""
        dropped = self._queue.add(items)
        _wake(self._reader)
        while len(self._queue) > self._capacity:
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
        if self._writer is not None and len(self._queue) <= self._capacity:
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

    def __init__(self, capacity: int, key_of: KeyOf[T]) -> None:
        self._items: deque[T] = deque()
        self._capacity, self._key_of = capacity, key_of
        self.take: Callable[[], T] = self._items.popleft

    def add(self, items: Iterable[T]) -> int:
        """Add items; return how many prices were dropped."""
        self._items.extend(items)
        dropped = 0
        kept: list[T] = []
        while len(self._items) + len(kept) > self._capacity and self._items:
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


def queue_for(when_full: OverflowPolicy, capacity: int, key_of: KeyOf[T]) -> Queue[T]:
    """Return a queue with this policy for `capacity` items."""
    match when_full:
        case OverflowPolicy.BLOCK:
            return InOrder()
        case OverflowPolicy.DROP_OLDEST:
            return DropOldest(capacity, key_of)
        case OverflowPolicy.KEEP_LAST:
            return KeepLast(key_of)


def _wake(waiting: asyncio.Future[None] | None) -> None:
    if waiting is not None and not waiting.done():
        waiting.set_result(None)
