"""Load the journal of an account: cached events, then what the broker has beyond them."""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

from keydesk.calc.trade_journal.events import Event
from keydesk.calc.trade_journal.rebuild import Journal, rebuild
from keydesk.trade_journal.cache import UNREADABLE, CachedEvents, append_cache, read_cache
from keydesk.trade_journal.cache_tail import read_tail, with_openings
from keydesk.trade_journal.reading import events_of
from keydesk_client.client import Client
from keydesk_client.errors import UnsafeFile

ON_A_PAGE = 500  # transactions: more of them hold the event loop too long while they are decoded
PART = 50  # transactions between two turns of the event loop
WRITTEN_EVERY = 5000  # transactions
Progress = Callable[[int, int], None]
"""Called with what was read and how much there is: events of the cache, then transactions."""


async def load_journal(client: Client, path: Path, progress: Progress | None = None) -> Journal:
    """Return the journal of the client's account; `path` is the cache."""
    return rebuild((await load_events(client, path, progress)).events)


async def load_events(
    client: Client,
    path: Path,
    progress: Progress | None = None,
    *,
    written_every: int = WRITTEN_EVERY,
) -> CachedEvents:
    """Return the events of the client's account; the cache is read and written in a thread.

    Args:
        client: Reads what the cache lacks.
        path: The cache.
        progress: Called where much has to be read.
        written_every: After so many transactions they are written: an interruption loses no more.
    """
    return await _load(
        client,
        lambda id_, ns: read_cache(path, id_, ns, progress),
        path,
        progress=progress,
        written_every=written_every,
    )


async def load_newest(
    client: Client,
    path: Path,
    wanted: int,
    open_trades: Callable[[], Iterable[str]],
    progress: Progress | None = None,
) -> CachedEvents:
    """Return about so many of the newest events, with all that belong to the trades in them; the cache is not read whole.

    Args:
        client: Reads what the cache lacks.
        path: The cache.
        wanted: How many events of the cache are read at least.
        open_trades: Returns the trades that are open, whose events are read, too.
        progress: Called where much has to be read after all.
    """
    events = await _load(
        client, lambda id_, ns: read_tail(path, id_, ns, wanted, progress), path, progress=progress
    )
    if not events.skipped:
        return events
    try:
        return await asyncio.to_thread(with_openings, path, events, tuple(open_trades()))
    except (OSError, UnsafeFile, *UNREADABLE):
        return await load_events(client, path, progress)


async def cached_and_newest(
    client: Client, read: Callable[[str, int], CachedEvents]
) -> tuple[CachedEvents, int]:
    """Return what the cache holds and the account's newest transaction; no events if the account began anew.

    Args:
        client: Asked for the account.
        read: Reads the cache of an account id and a time of creation (nanoseconds); called in a thread.
    """
    account = (await client.accounts.summary()).account
    cached = await asyncio.to_thread(read, account.id, account.created_time.ns)
    if cached.last_id > int(account.last_transaction_id):
        # Another desk may have written what has come since that answer.
        account = (await client.accounts.summary()).account
    newest, created = int(account.last_transaction_id), account.created_time.ns
    if cached.last_id > newest or cached.created_ns != created:
        cached = CachedEvents(account.id, created)
    return cached, newest


async def _load(
    client: Client,
    read: Callable[[str, int], CachedEvents],
    path: Path,
    progress: Progress | None = None,
    written_every: int = WRITTEN_EVERY,
) -> CachedEvents:
    cached, newest = await cached_and_newest(client, read)
    while cached.last_id < newest:  # what is written is not read again after an interruption
        last = min(cached.last_id + written_every, newest)
        before, cached = cached, await _with_newer(client, cached, last)
        await asyncio.to_thread(append_cache, path, before, cached)
        if progress is not None and last < newest:
            progress(last, newest)
    return cached


async def _with_newer(client: Client, cached: CachedEvents, newest: int) -> CachedEvents:
    events: list[Event] = list(cached.events)
    for first in range(cached.last_id + 1, newest + 1, ON_A_PAGE):
        events += await read_events(client, first, min(first + ON_A_PAGE - 1, newest))
    return replace(cached, last_id=newest, events=tuple(events))


async def read_events(client: Client, first: int, last: int) -> list[Event]:
    """Return the events of the transactions from one to another, both included; the event loop runs in between."""
    events: list[Event] = []
    transactions = (await client.transactions.range(first, last)).transactions
    for start in range(0, len(transactions), PART):
        events.extend(events_of(transactions[start : start + PART]))
        await asyncio.sleep(0)
    return events


async def pips_of(client: Client) -> dict[str, Decimal]:
    """Return one pip of each instrument in price units."""
    answer = await client.accounts.instruments()
    return {each.name: Decimal(1).scaleb(each.pip_location) for each in answer.instruments}
