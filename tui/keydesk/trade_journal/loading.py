"""Read the transactions of an account into its records: what they lack, oldest first, some thousands at a time.

Memory stays bounded, an interruption costs one such step, and two desks go on from what the other has written.
"""

import asyncio
from collections.abc import Awaitable, Callable
from decimal import Decimal
from pathlib import Path

from keydesk.calc.trade_journal.events import Event
from keydesk.calc.trade_journal.rebuild import Journal
from keydesk.records.database import set_aside
from keydesk.records.errors import NOT_KEPT, DamagedRecords
from keydesk.records.journal import JournalRecords, KeptPart
from keydesk.trade_journal.reading import events_of
from keydesk_client.client import Client
from keydesk_client.errors import UnreadableAnswer

ON_A_PAGE = 500  # transactions: more of them hold the event loop too long while they are decoded
PART = 50  # transactions between two turns of the event loop
WRITTEN_EVERY = 5000  # transactions
Progress = Callable[[int, int], None]
"""Called with the last transaction read, and the newest one."""


async def load_journal(
    client: Client, path: Path, progress: Progress | None = None
) -> tuple[JournalRecords, Journal]:
    """Return the records of the client's account and their journal, up to its newest transaction; `path` is their file.

    Where that cannot be written, they are in memory; a damaged file is set aside.
    """
    try:
        return await _load(client, path, progress)
    except DamagedRecords:
        set_aside(path)
        return await _load(client, path, progress)
    except NOT_KEPT:
        return await _load(client, None, progress)


async def _load(
    client: Client, path: Path | None, progress: Progress | None
) -> tuple[JournalRecords, Journal]:
    records = JournalRecords(path)
    await read_into(client, records, progress)
    return records, await asyncio.to_thread(records.journal)


async def read_into(
    client: Client,
    records: JournalRecords,
    progress: Progress | None = None,
    *,
    written_every: int = WRITTEN_EVERY,
) -> KeptPart:
    """Read what the records lack of the client's account; return what they have then.

    Args:
        client: Reads transactions.
        records: They begin anew if the account began anew.
        progress: Called where much has to be read.
        written_every: After so many transactions they are written.

    Raises:
        OSError: the records cannot be written. Others as `Database`.
        KeydeskClientError: the broker does not answer; what was written stays.
    """
    kept, newest = await kept_and_newest(client, records)
    while kept.last_id < newest:
        kept = await read_step(client, records, kept, min(kept.last_id + written_every, newest))
        if progress is not None and kept.last_id < newest:
            progress(kept.last_id, newest)
    return kept


async def read_step(
    client: Client,
    records: JournalRecords,
    kept: KeptPart,
    last: int,
    *,
    after_page: Callable[[int], Awaitable[None]] | None = None,
    page: int = ON_A_PAGE,
) -> KeptPart:
    """Read the transactions after those that are kept, up to one; return what is kept then.

    Args:
        client: Reads transactions.
        records: Keep them.
        kept: What they have.
        last: The last transaction to read.
        after_page: Called with the last transaction of each page.
        page: How many transactions a page has.
    """
    events: list[Event] = []
    for first in range(kept.last_id + 1, last + 1, page):
        end = min(first + page - 1, last)
        events += await read_events(client, first, end)
        if after_page is not None:
            await after_page(end)
    await asyncio.to_thread(records.add, kept, last, events)
    return await asyncio.to_thread(records.kept)


async def kept_and_newest(client: Client, records: JournalRecords) -> tuple[KeptPart, int]:
    """Return what is kept of the client's account, and its newest transaction; records of another one begin anew."""
    account = (await client.accounts.summary()).account
    kept = await asyncio.to_thread(records.kept)
    if kept.last_id > int(account.last_transaction_id):
        # Another desk may have written what has come since that answer.
        account = (await client.accounts.summary()).account
    newest, created = int(account.last_transaction_id), account.created_time.ns
    if kept.last_id > newest:
        await asyncio.to_thread(records.begin, "", 0)  # its history began anew
    if kept.last_id > newest or not kept.is_of(account.id, created):
        await asyncio.to_thread(records.begin, account.id, created)
        kept = await asyncio.to_thread(records.kept)
    return kept, newest


async def read_events(client: Client, first: int, last: int) -> list[Event]:
    """Return the events of the transactions from one to another, both included; the event loop runs in between.

    Raises:
        UnreadableAnswer: there are none. Ids are consecutive: the broker names a newest transaction that it does not have, and
            a wrong one would be asked for page after page.
    """
    events: list[Event] = []
    transactions = (await client.transactions.range(first, last)).transactions
    if not transactions:
        raise UnreadableAnswer(
            f"the broker has no transactions {first} to {last}, which its lastTransactionID promises"
        )
    for start in range(0, len(transactions), PART):
        events.extend(events_of(transactions[start : start + PART]))
        await asyncio.sleep(0)
    return events


async def pips_of(client: Client) -> dict[str, Decimal]:
    """Return one pip of each instrument in price units."""
    answer = await client.accounts.instruments()
    return {each.name: Decimal(1).scaleb(each.pip_location) for each in answer.instruments}
