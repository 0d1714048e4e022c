"""The journal of an open account: read into its records when it is first wanted, then kept current by each transaction.

The desk holds no trades: what a page shows is read from the records. Reading and computing take place in threads or between other
work of the event loop, in parts of a few milliseconds. `version` grows with every change of trades and notes, `excursions_read`
with each excursion, so that a page knows when to draw.
"""

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from math import inf
from pathlib import Path
from time import monotonic
from typing import Any, TypeAlias, TypeVar

from keydesk.calc.trade_journal.events import StopSet
from keydesk.calc.trade_journal.excursions import Excursion
from keydesk.calc.trade_journal.rebuild import Journal
from keydesk.calc.trade_journal.trades import JournalTrade
from keydesk.records.database import set_aside
from keydesk.records.errors import NOT_KEPT, DamagedRecords
from keydesk.records.journal import JournalRecords, KeptPart
from keydesk.records.trades import JournalLine, columns_of, count, line_of, trade_of
from keydesk.store.store import Store
from keydesk.text.file_errors import file_trouble
from keydesk.text.format import counted
from keydesk.text.sanitize import SafeText, clean, safe
from keydesk.trade_journal.candles import ExcursionReader, Unread, read_each
from keydesk.trade_journal.files import JournalFiles
from keydesk.trade_journal.loading import kept_and_newest, read_into
from keydesk.trade_journal.newest_part import (
    STANDARD,
    Portions,
    fill_records,
    read_newest_part,
)
from keydesk.trade_journal.notes_file import Notes, read_notes
from keydesk.trade_journal.reading import events_of
from keydesk_client.client import Client
from keydesk_client.errors import KeydeskClientError
from keydesk_client.models import Transaction

NEWEST = 6_000  # trades of a large account that are listed first
NOT_TO_THEIR_END = "MAE and MFE are incomplete"
RETRY_AFTER = 20.0  # seconds after candles could not be read
PAUSE = 0.1  # seconds between pages of older transactions read in the background
ANOTHER_READS = 0.1  # seconds between looks while it is being read
Pips = Mapping[str, Decimal]
Found = TypeVar("Found")
Row: TypeAlias = tuple[Any, ...]
"""The id of a trade or position, and some columns."""


class LiveJournal:
    """The journal of an account.

    Args:
        client: Reads transactions and candles.
        files: Where records and notes are.
        store: Has the open trades, the instruments and the broker's time.
        clock: Returns monotonic seconds.
        newest: How many of the newest trades of a large account are listed first.
        sleep: Waits for so many seconds.
        portions: How many transactions of an account without records are read at a time.
    """

    def __init__(
        self,
        client: Client,
        files: JournalFiles,
        store: Store,
        clock: Callable[[], float] = monotonic,
        *,
        newest: int = NEWEST,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        portions: Portions = STANDARD,
    ) -> None:
        self.files, self.client, self._clock = files, client, clock
        self.version = 0
        self.excursions_read = 0  # how many were read from candles
        self.notes = Notes()
        self.is_read = False
        self.records = JournalRecords()  # what is shown
        self.pips: Pips = {}  # one pip of each instrument, as known when the journal was read
        self._wants_whole = False
        self.is_behind = False  # transactions came that it does not have
        self.trouble: SafeText = safe("")  # why it could not be read, or not to the end
        self.notice: SafeText = safe("")  # damaged records were set aside
        self.progress: SafeText = safe("")  # while it is read
        self.excursions = ExcursionReader(client, lambda: store.now_ns)
        self._store = store
        self._newest, self._sleep, self._portions = newest, sleep, portions
        self.part: SafeText = safe("")  # what is shown of an account whose records lack much
        self._is_filling = False  # the records
        self._kept: JournalRecords | None = None  # those in the file, or in memory without one
        self._why_unkept: SafeText = safe("")  # why they are not in the file
        self._is_damaged = False  # what is shown cannot be read
        self._changes = 0  # of what is shown, but for single transactions
        self._shown = KeptPart("", 0, 0)  # whose transactions it has, and up to which
        self._last_streamed_id = 0  # the last transaction of the open account
        self._is_reading = False
        self._notes_stamp: object = None
        self._without_candles: set[str] = set()
        self.excursions_trouble: SafeText = safe(
            ""
        )  # why candles could not be read, until they are
        self._failed_at: float | None = None  # when they could not be read

    @property
    def journal(self) -> Journal:
        """All trades and balances, as they are now; for a thread."""
        return self.records.journal()

    async def whole(self) -> Journal:
        """Return all trades and balances, as they are now; damaged records are read anew."""
        try:
            return await asyncio.to_thread(self.records.journal)
        except DamagedRecords:
            self._is_damaged = True
            await self.read(whole=True)
            return await asyncio.to_thread(self.records.journal)

    @property
    def stamp(self) -> object:
        """A stamp that changes with each new transaction or note, and when older ones are read."""
        return self._shown, self._notes_stamp, self._changes

    @property
    def is_whole(self) -> bool:
        """Whether it lists every trade, not the newest ones only."""
        return not self.part and (self._wants_whole or self.count() <= self._newest)

    # What is shown.

    def count(self, *, by_position: bool = False) -> int:
        """Return how many trades or positions there are."""
        found = self._read(lambda: [count(self.records.connection, by_position=by_position)])
        return found[0] if found else 0

    def rows(self, columns: Sequence[str], *, by_position: bool = False) -> list[Row]:
        """Return ids and columns of what is listed, open trades first, then the newest first."""
        connection, most = self.records.connection, -1 if self._wants_whole else self._newest
        return self._read(
            lambda: columns_of(connection, columns, by_position=by_position, most=most)
        )

    def line(self, id_: str, *, by_position: bool = False) -> JournalLine | None:
        """Return a trade, or a position by the id of its first trade; None if there is none."""
        found = self._read(
            lambda: [trade_of(self.records.connection, id_, by_position=by_position)]
        )
        trade = found[0] if found else None
        return None if trade is None else line_of(trade, self.pips)

    def stops_of(self, trade: JournalTrade) -> tuple[StopSet, ...]:
        """Return the stops that a trade had, in the order in which they were set."""
        return tuple(self._read(lambda: self.records.stops(trade.id)))

    def _read(self, read: Callable[[], Iterable[Found]]) -> list[Found]:
        """Return what the records have; nothing of damaged ones, which are read anew."""
        try:
            return list(read())
        except (sqlite3.Error, DamagedRecords):
            self._is_damaged = self.is_behind = True
            return []

    @property
    def is_reading(self) -> bool:
        """Whether it is being read."""
        return self._is_reading

    @property
    def excursions_due(self) -> bool:
        """Whether candles that could not be read may be asked for again."""
        return self._failed_at is not None and not self.pauses

    @property
    def pauses(self) -> bool:
        """Whether the host did not answer a moment ago, so that no candles are asked for."""
        return self._failed_at is not None and self._clock() - self._failed_at < RETRY_AFTER

    # Reading.

    async def read(self, *, whole: bool = False) -> None:
        """Read what is not read yet, up to the newest transaction.

        Args:
            whole: Every trade is wanted; else those of a large account begin with the newest ones.
        """
        self._wants_whole = self._wants_whole or whole
        if self._is_reading:
            self.is_behind = True
            return
        self._is_reading, self.trouble = True, safe("")
        if self._failed_at is not None:
            self._failed_at = -inf  # the trader asks again
        self._without_candles.clear()
        self._turn()
        try:
            await self._read_notes()
            self.pips = {name: each.pip for name, each in self._store.instruments.items()}
            self.is_behind = True
            while self.is_behind:
                self.is_behind = False
                await self._read_records()
            self.is_read = True
        except KeydeskClientError as error:
            self.trouble = safe(f"The journal is incomplete: {clean(str(error))}")
        finally:
            self._is_reading, self.is_behind = False, False
            self.progress = safe("")
            self._turn()

    async def _read_records(self) -> None:
        """Read up to the newest transaction; damaged records are set aside, and memory is used where there is no room."""
        if self._is_damaged:
            await asyncio.to_thread(self._set_aside)
        try:
            await self._read_transactions(await self._open())
        except DamagedRecords:
            await asyncio.to_thread(self._set_aside)
            await self._read_transactions(await self._open())
        except NOT_KEPT as error:
            await asyncio.to_thread(self._use_memory, error)
            await self._read_transactions(await self._open())

    async def _open(self) -> JournalRecords:
        """Return the records of the account's file, of memory where it cannot be used; damaged ones are set aside."""
        if self._kept is None:
            try:
                self._kept = await asyncio.to_thread(JournalRecords, self.files.records)
            except DamagedRecords:
                await asyncio.to_thread(self._set_aside)
                self._kept = await asyncio.to_thread(JournalRecords, self.files.records)
            self.excursions.database = self._kept.database
        return self._kept

    def _set_aside(self) -> None:
        if self._kept is not None:
            done = self._kept.database.set_aside(self._store.now_ns)
        else:
            done = set_aside(self.files.records, now_ns=self._store.now_ns)
        self._kept, self._is_damaged = None, False
        self.records, self._shown = JournalRecords(), KeptPart("", 0, 0)
        self.notice = clean(done)

    def _use_memory(self, error: Exception) -> None:
        """Go on without the file, with what it has."""
        self._why_unkept = file_trouble(error, self.files.records)
        records, before = JournalRecords(), self._kept
        if before is not None:
            with suppress(sqlite3.Error):
                before.connection.backup(records.connection)
        self._kept = records
        self.excursions.database = records.database

    async def _read_transactions(self, records: JournalRecords) -> None:
        kept, newest = await kept_and_newest(self.client, records)
        stays = not self._why_unkept or not self._wants_whole
        if newest - kept.last_id > self._portions.few and stays:
            await self._read_newest(kept, newest)
            if self._why_unkept:
                self.trouble = safe(f"Older transactions are not kept: {self._why_unkept}")
        else:
            self._show(records, await read_into(self.client, records, self._say))
            self.part = safe("")
            await asyncio.to_thread(records.database.checkpoint)

    async def _read_newest(self, kept: KeptPart, newest: int) -> None:
        """Show the newest transactions of a large account; `fill` reads those before them."""
        account = kept.account_id, kept.created_ns
        if self.part and self._shown.is_of(*account):
            self._show(self.records, await read_into(self.client, self.records))
            return
        async for part in read_newest_part(self.client, newest, self._portions):
            if part.length == self._portions.page or part.length >= self._portions.first:
                records = await asyncio.to_thread(part.records, *account)
                self._show(records, KeptPart(*account, newest))
                self.part, self.is_read = part.text(self._store.trades), True
                self._turn()

    def _show(self, records: JournalRecords, kept: KeptPart) -> None:
        """Show other records, or what was read into them."""
        if records is not self.records or kept != self._shown:
            self._changes += 1
        self.records, self._shown = records, kept

    async def fill(self) -> None:
        """Read the older transactions of a large account into its records, then show those.

        A broker that does not answer is asked again after a pause. Where the records cannot be written, they are read once every
        trade is wanted.
        """
        if self._is_filling:
            return
        self._is_filling = True
        try:
            while self.part and (not self._why_unkept or self._wants_whole):
                await self._fill_and_read()
                if self.part:
                    await self._sleep(RETRY_AFTER)
        finally:
            self._is_filling = False
            self.progress = safe("")
            self._turn()

    async def _fill_and_read(self) -> None:
        try:
            records, portions = await self._open(), self._portions
            if not self._why_unkept:
                await fill_records(self.client, records, self._say_older, self._pause, portions)
        except DamagedRecords:
            self._is_damaged = True
        except NOT_KEPT as error:
            await asyncio.to_thread(self._use_memory, error)
        except KeydeskClientError as error:
            self.trouble = safe(f"Older transactions are not read: {clean(str(error))}")
            self._turn()
            return
        while self._is_reading:  # another page reads; it ends in a moment
            await self._sleep(ANOTHER_READS)
        await self.read()

    def _say_older(self, read: int, newest: int) -> None:
        self.trouble = safe("")
        self._say(read, newest)

    async def _pause(self) -> None:
        await self._sleep(0 if self._wants_whole else PAUSE)

    def _say(self, read: int, newest: int) -> None:
        self.progress = safe(f"{read:,} of {newest:,} transactions")
        self._turn()

    def _turn(self) -> None:
        self.version += 1

    # Following the account.

    def apply(self, transaction: Transaction) -> None:
        """Take a transaction of the open account; `is_behind` says that one before it is missing."""
        number, before = int(transaction.id), self._last_streamed_id
        self._last_streamed_id = number
        if self._is_reading:
            self.is_behind = True
        elif self.is_read:
            if number <= before:  # the account's history began anew
                self.is_behind = True
            elif number == self._shown.last_id + 1:
                self._apply(transaction)
            elif number > self._shown.last_id:
                self.is_behind = True

    def _apply(self, transaction: Transaction) -> None:
        number = int(transaction.id)
        try:
            self.records.add_now(self._shown, number, list(events_of([transaction])))
        except (*NOT_KEPT, DamagedRecords):  # another desk writes, or there is no room
            self.is_behind = True
        else:
            self._shown = self._shown._replace(last_id=number)
        self._turn()

    # Notes.

    async def reread_notes(self) -> None:
        """Read the file of notes again if another desk, or a person, changed it."""
        if await asyncio.to_thread(_stamp, self.files.notes) != self._notes_stamp:
            await self._read_notes()
            self._turn()

    async def _read_notes(self) -> None:
        self._notes_stamp, self.notes = await asyncio.to_thread(_stamped_notes, self.files.notes)

    # Excursions.

    def known_excursions(self, trades: Sequence[JournalTrade]) -> dict[str, Excursion]:
        """Return the excursions that are known, by trade."""
        return self.excursions.known_of(trades)

    async def read_excursions_of(self, ids: Iterable[str]) -> None:
        """Read how far these trades went, as `read_excursions` does."""
        known, due = self.excursions.all_known(), self.excursions.due
        wanted = [each for each in ids if each not in known or each in due]
        await self.read_excursions(await asyncio.to_thread(self.records.trades, wanted))

    async def read_excursions(self, trades: Sequence[JournalTrade]) -> None:
        """Read how far these closed trades went against and for the trader, where that is not known yet."""
        known, due = self.known_excursions(trades), self.excursions.due
        missing = [
            each
            for each in trades
            if each.is_closed
            and each.id not in self._without_candles
            and (each.id not in known or each.id in due)
        ]
        if not missing or self.pauses:
            return
        self._failed_at = None

        async def fetch(trade: JournalTrade) -> None:
            await self.excursions.read(trade)
            if self.excursions.known(trade) is None:
                self._without_candles.add(trade.id)
            self.excursions_read += 1

        try:
            unread = await read_each(fetch, missing)
            if unread.gave_up:
                self._failed_at = self._clock()
            else:  # they are asked for again when the trader reads anew
                self._without_candles.update(each.id for each in unread.trades)
            self._tell_excursions("" if unread.error is None else _unread_text(unread))
        except* KeydeskClientError as errors:  # a host that is silent now answers later
            self._failed_at = self._clock()
            self._tell_excursions(f"{NOT_TO_THEIR_END}: {errors.exceptions[0]}")
        finally:
            await self.excursions.save()

    def _tell_excursions(self, trouble: str) -> None:
        if trouble != self.excursions_trouble:
            self.excursions_trouble = clean(trouble)
            self._turn()


def _unread_text(unread: Unread) -> str:
    if unread.gave_up:
        return f"{NOT_TO_THEIR_END}: {unread.error}"
    return f"MAE and MFE of {counted(len(unread.trades), 'trade')} are not read: {unread.error}"


def _stamp(path: Path) -> object:
    try:
        status = path.stat()
    except OSError as error:
        return error.errno
    return status.st_mtime_ns, status.st_size, status.st_ino


def _stamped_notes(path: Path) -> tuple[object, Notes]:
    return _stamp(path), read_notes(path)
