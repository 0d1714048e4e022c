"""Load the journal of an account: cached events, then what the broker has beyond them."""

import asyncio
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

from keydesk.calc.trade_journal.events import Event
from keydesk.calc.trade_journal.rebuild import Journal, rebuild
from keydesk.trade_journal.cache import CachedEvents, append_cache, read_cache
from keydesk.trade_journal.reading import events_of
from keydesk_client.client import Client

PROGRESS_EVERY = 5000  # transactions
Progress = Callable[[int, int], None]
"""Called with what was read and how much there is: events of the cache, then transactions."""


async def load_journal(client: Client, path: Path, progress: Progress | None = None) -> Journal:
    """Return the journal of the client's account; `path` is the cache."""
    return rebuild((await load_events(client, path, progress)).events)


async def load_events(client: Client, path: Path, progress: Progress | None = None) -> CachedEvents:
    """Return the events of the client's account; the cache is read and written in a thread."""
    account = (await client.accounts.summary()).account
    created, newest = account.created_time.ns, int(account.last_transaction_id)
    cached = await asyncio.to_thread(read_cache, path, account.id, created, progress)
    if cached.last_id > newest:
        cached = CachedEvents(account.id, created)
    if cached.last_id < newest:
        before, cached = cached, await _with_newer(client, cached, newest, progress)
        await asyncio.to_thread(append_cache, path, before, cached)
    return cached


async def _with_newer(
    client: Client, cached: CachedEvents, newest: int, progress: Progress | None
) -> CachedEvents:
    events: list[Event] = list(cached.events)
    last = cached.last_id
    async for each in client.transactions.iterate_since(last):
        events.extend(events_of([each]))
        last = int(each.id)
        if progress is not None and not last % PROGRESS_EVERY:
            progress(last, newest)
    return CachedEvents(cached.account_id, cached.created_ns, last, tuple(events))


async def pips_of(client: Client) -> dict[str, Decimal]:
    """Return one pip of each instrument in price units."""
    found = await client.accounts.instruments()
    return {each.name: Decimal(1).scaleb(each.pip_location) for each in found.instruments}
