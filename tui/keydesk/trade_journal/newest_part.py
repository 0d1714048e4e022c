"""A large account whose records lack many transactions: the newest ones are read first, the records are filled meanwhile.

The newest ones are kept in memory until the records have all.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable

from msgspec import Struct

from keydesk.calc.trade_journal.events import Event, Fill
from keydesk.calc.trade_journal.rebuild import trades_of
from keydesk.records.journal import JournalRecords, KeptPart
from keydesk.text.format import counted
from keydesk.text.sanitize import SafeText, safe
from keydesk.trade_journal.loading import (
    ON_A_PAGE,
    Progress,
    kept_and_newest,
    read_events,
    read_step,
)
from keydesk_client.client import Client


class Portions(Struct, frozen=True):
    """How many transactions are read at a time."""

    page: int = ON_A_PAGE
    first: int = 3000  # newest ones that are shown before all others are read
    few: int = 6000  # missing ones that are read at once
    step: int = 5000  # between two writings of the records


STANDARD = Portions()


class NewestPart(Struct, frozen=True):
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

    def records(self, account_id: str, created_ns: int) -> JournalRecords:
        """Return records of it in memory; called in a thread."""
        records = JournalRecords()
        before = KeptPart(account_id, created_ns, self.first - 1)
        records.begin_part(*before)
        records.add(before, self.newest, self.events)
        return records


def _opened_before(events: Iterable[Event], open_trades: Iterable[str]) -> set[str]:
    """Return the trades that no event opens although one touches it, or it is open: what they gained is not known."""
    opened: set[str] = set()
    touched = set(open_trades)
    for each in events:
        touched.update(trades_of(each))
        if isinstance(each, Fill) and each.opening is not None:
            opened.add(each.opening.trade_id)
    return touched - opened


async def read_newest_part(
    client: Client, newest: int, portions: Portions = STANDARD
) -> AsyncIterator[NewestPart]:
    """Yield the newest part of an account, first of one page, then longer, read backwards."""
    events: tuple[Event, ...] = ()
    for last in range(newest, newest - portions.first, -portions.page):
        first = last - portions.page + 1
        events = (*await read_events(client, first, last), *events)
        yield NewestPart(first, newest, events)


async def fill_records(
    client: Client,
    records: JournalRecords,
    progress: Progress,
    pause: Callable[[], Awaitable[None]],
    portions: Portions = STANDARD,
) -> None:
    """Read what the records lack, oldest first, until they lack few transactions.

    Args:
        client: Reads transactions.
        records: Those in the account's file.
        progress: Called with the last transaction read, and the newest one.
        pause: Waited for after each page.
        portions: How many transactions are read at a time.

    Raises:
        OSError: the records cannot be written. Others as `Database`.
        KeydeskClientError: the broker does not answer; what was written stays.
    """
    kept, newest = await kept_and_newest(client, records)
    while newest - kept.last_id > portions.few:

        async def after_page(last: int, newest: int = newest) -> None:
            progress(last, newest)
            await pause()

        last = kept.last_id + portions.step
        await read_step(client, records, kept, last, after_page=after_page, page=portions.page)
        kept, newest = await kept_and_newest(client, records)
