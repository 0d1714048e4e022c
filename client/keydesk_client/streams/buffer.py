"""What was read and not yet taken: bounded, with a policy for a slow reader."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable
from typing import Generic, Protocol, TypeVar

from keydesk_client.streams.settings import WhenFull

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
