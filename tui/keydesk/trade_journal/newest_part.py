"""A large account whose cache lacks many transactions: the newest ones are read first, the cache is filled meanwhile.

The cache is filled from the first transaction that it lacks on, some thousands at a time: memory stays bounded, an interruption costs
one such step, two desks go on from what the other has written, and the file becomes the same, byte for byte, as one written at once.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from keydesk.calc.trade_journal.events import Event, Fill
from keydesk.calc.trade_journal.rebuild import trades_of
from keydesk.text.format import counted
from keydesk.text.sanitize import SafeText, safe
from keydesk.trade_journal.cache import (
    LOCK_TIMEOUT,
    UNREADABLE,
    CachedEvents,
    Progress,
    append_events,
    read_mark,
)
from keydesk.trade_journal.loading import ON_A_PAGE, cached_and_newest, read_events
from keydesk_client.auth.private_files import locked, private_folder
from keydesk_client.client import Client
from keydesk_client.errors import UnsafeFile


@dataclass(frozen=True, slots=True)
class Portions:
    """How many transactions are read at a time."""

    page: int = ON_A_PAGE
    first: int = 3000  # newest ones that are shown before all others are read
    few: int = 6000  # missing ones that are read at once
    step: int = 5000  # between two writings of the cache


STANDARD = Portions()


@dataclass(frozen=True, slots=True)
class CacheGap:
    """The end of an account's cache, and the newest transaction of the account."""

    cached: CachedEvents  # without events
    newest: int

    @property
    def missing(self) -> int:
        """How many transactions the cache lacks."""
        return self.newest - self.cached.last_id


@dataclass(frozen=True, slots=True)
class NewestPart:
    """The newest transactions of an account, read without those before them."""

    first: int  # transaction
    newest: int
    events: tuple[Event, ...]

    @property
    def length(self) -> int:
        """How many transactions it has."""
        return self.newest - self.first + 1

    def text(self, open_trades: Iterable[str]) -> SafeText:
        """Return what it is of the account, and what is left out: trades that it touches, or that are open."""
        read = f"newest {self.length:,} of {self.newest:,} transactions"
        left_out = len(_opened_before(self.events, open_trades))
        if not left_out:
            return safe(read)
        are = "is" if left_out == 1 else "are"
        return safe(f"{read}; {counted(left_out, 'trade')} opened before {are} left out")


def _opened_before(events: Iterable[Event], open_trades: Iterable[str]) -> set[str]:
    """Return the trades that no event opens although one touches it, or it is open: what they gained is not known."""
    opened: set[str] = set()
    touched = set(open_trades)
    for each in events:
        touched.update(trades_of(each))
        if isinstance(each, Fill) and each.opening is not None:
            opened.add(each.opening.trade_id)
    return touched - opened


async def gap_of(client: Client, path: Path) -> CacheGap:
    """Return what the cache of the client's account lacks; the cache itself is not read."""
    return CacheGap(*await cached_and_newest(client, partial(_end_of_cache, path)))


def _end_of_cache(path: Path, account_id: str, created_ns: int) -> CachedEvents:
    with suppress(OSError, UnsafeFile, *UNREADABLE):
        private_folder(path.parent)
        with locked(path, patience_s=LOCK_TIMEOUT):
            mark, size = read_mark(path), path.stat().st_size
        if mark.is_of(account_id, created_ns) and size >= mark.size:
            return CachedEvents(account_id, created_ns, mark.last_id, (), mark.lines, mark.size)
    return CachedEvents(account_id, created_ns)


async def read_newest_part(
    client: Client, newest: int, portions: Portions = STANDARD
) -> AsyncIterator[NewestPart]:
    """Yield the newest part of an account, first of one page, then longer, read backwards."""
    events: tuple[Event, ...] = ()
    for last in range(newest, newest - portions.first, -portions.page):
        first = last - portions.page + 1
        events = (*await read_events(client, first, last), *events)
        yield NewestPart(first, newest, events)


async def fill_cache(
    client: Client,
    path: Path,
    progress: Progress,
    pause: Callable[[], Awaitable[None]],
    portions: Portions = STANDARD,
) -> None:
    """Read what the cache lacks, oldest first, until it lacks few transactions.

    Args:
        client: Reads transactions.
        path: The cache.
        progress: Called with the last transaction read, and the newest one.
        pause: Waited for after each page.
        portions: How many transactions are read at a time.

    Raises:
        OSError: the cache cannot be written.
        UnsafeFile: it is accessible to others.
        KeydeskClientError: the broker does not answer; what was written stays.
    """
    while (gap := await gap_of(client, path)).missing > portions.few:
        events: list[Event] = []
        end = gap.cached.last_id + portions.step
        for first in range(gap.cached.last_id + 1, end + 1, portions.page):
            last = min(first + portions.page - 1, end)
            events += await read_events(client, first, last)
            progress(last, gap.newest)
            await pause()
        after = replace(gap.cached, last_id=end, events=tuple(events))
        await asyncio.to_thread(append_events, path, gap.cached, after)
