"""The journal of an open account: read when it is first wanted, then kept current by each transaction.

Reading and computing take place in threads or between other work of the event loop, in parts of a few milliseconds.
`version` grows with every change of trades and notes, `excursions_read` with each excursion, so that a page knows when to draw.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import replace
from decimal import Decimal
from math import inf
from pathlib import Path
from time import monotonic

from keydesk.calc.trade_journal.events import Event, StopSet
from keydesk.calc.trade_journal.excursions import Excursion
from keydesk.calc.trade_journal.rebuild import Journal, Rebuilder, trades_of
from keydesk.calc.trade_journal.trades import JournalTrade
from keydesk.text.file_errors import file_trouble
from keydesk.text.format import counted
from keydesk.text.sanitize import SafeText, clean, safe
from keydesk.trade_journal.cache import UNREADABLE, CachedEvents
from keydesk.trade_journal.candles import ExcursionReader, Unread, read_each
from keydesk.trade_journal.files import JournalFiles
from keydesk.trade_journal.lines import JournalLines
from keydesk.trade_journal.loading import load_events, load_newest
from keydesk.trade_journal.newest_part import (
    STANDARD,
    CacheGap,
    Portions,
    fill_cache,
    gap_of,
    read_newest_part,
)
from keydesk.trade_journal.notes_file import Notes, read_notes
from keydesk.trade_journal.reading import events_of
from keydesk_client.client import Client
from keydesk_client.errors import KeydeskClientError, UnsafeFile
from keydesk_client.models import Transaction

NEWEST = 20_000  # events of a large account that are read first: some 6,000 trades
NOT_TO_THEIR_END = "MAE and MFE are not read to their end"
RETRY_AFTER = 20.0  # seconds after candles could not be read
PART = 50  # transactions between two turns of the event loop
PAUSE = 0.1  # seconds between pages of older transactions read in the background
ANOTHER_READS = 0.1  # seconds between looks while it is being read
Pips = Mapping[str, Decimal]


class LiveJournal:
    """The journal of an account.

    Args:
        client: Reads transactions and candles.
        files: Where caches and notes are.
        pips: Returns one pip of each instrument in price units.
        clock: Returns monotonic seconds.
        now_ns: Returns the broker's time.
        open_trades: Returns the ids of the trades that are open.
        newest: How many of the newest events of a large account are read first.
        sleep: Waits for so many seconds.
        portions: How many transactions of an account without a cache are read at a time.
    """

    def __init__(
        self,
        client: Client,
        files: JournalFiles,
        pips: Callable[[], Pips],
        clock: Callable[[], float] = monotonic,
        *,
        now_ns: Callable[[], int] = time.time_ns,
        open_trades: Callable[[], Iterable[str]] = lambda: (),
        newest: int = NEWEST,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        portions: Portions = STANDARD,
    ) -> None:
        self.files, self.client, self._clock = files, client, clock
        self.version = 0
        self.excursions_read = 0  # how many were read from candles
        self.lines = JournalLines({})
        self.notes = Notes()
        self.is_read = False
        self.is_whole = False  # else it has the newest trades only
        self.rebuilt = 0  # how often all its trades were made anew
        self._wants_whole = False
        self.is_behind = False  # transactions came that it does not have
        self.trouble: SafeText = safe("")  # why it could not be read, or not to the end
        self.progress: SafeText = safe("")  # while it is read
        self.excursions = ExcursionReader(client, files.excursions, now_ns)
        self._pips, self._now_ns, self._open_trades = pips, now_ns, open_trades
        self._newest, self._sleep, self._portions = newest, sleep, portions
        self.part: SafeText = safe("")  # what is shown of an account whose cache lacks much
        self._is_filling = False  # the cache
        self._is_filled = False  # the cache was filled, and the journal is to be rebuilt from it
        self._is_kept = True  # the cache can be written
        self._rebuilder = Rebuilder()
        self._account: tuple[str, int] = "", 0  # id, and when it was opened
        self._last_id = 0
        self._last_streamed_id = 0  # the last transaction of the open account
        self._is_reading = False
        self._notes_stamp: object = None
        self._journal: tuple[int, Journal] = -1, Journal()
        self._without_candles: set[str] = set()
        self.excursions_trouble: SafeText = safe(
            ""
        )  # why candles could not be read, until they are
        self._failed_at: float | None = None  # when they could not be read

    @property
    def pips(self) -> Pips:
        """One pip of each instrument, as known when the journal was read."""
        return self.lines.pips

    @property
    def journal(self) -> Journal:
        """All trades and balances, as they are now."""
        if self._journal[0] != self._last_id:
            trades = [each.trade for each in self.lines.trades.values()]  # as `apply` left them
            self._journal = self._last_id, self._rebuilder.journal(trades)
        return self._journal[1]

    @property
    def stamp(self) -> object:
        """A stamp that changes with each new transaction or note, and when older ones are read."""
        return self._last_id, self._notes_stamp, self.rebuilt

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

    def stops_of(self, trade: JournalTrade) -> tuple[StopSet, ...]:
        """Return the stops that a trade had, in the order in which they were set."""
        return self._rebuilder.stops(trade.id)

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
            await self.excursions.load()
            await self._check_account()
            self.is_behind = True
            while self.is_behind:
                self.is_behind = False
                if self._is_filled or (self._wants_whole and not self.is_whole):
                    await self._check_account()
                await self._read_newer()
            self.is_read = True
        except KeydeskClientError as error:
            self.trouble = safe(f"The journal is not read to its end: {clean(str(error))}")
        finally:
            self._is_reading, self.is_behind = False, False
            self.progress = safe("")
            self._turn()

    async def _check_account(self) -> None:
        """Begin anew where nothing is read, or the account's history began anew."""
        stays = self.is_whole or not self._wants_whole or (self.part and self._is_kept)
        if self.is_read and stays and not self._is_filled:
            account = (await self.client.accounts.summary()).account
            known = account.id, account.created_time.ns
            if self._account == known and int(account.last_transaction_id) >= self._last_id:
                return
        if self._is_kept:
            gap = await gap_of(self.client, self.files.events)
            if gap.missing > self._portions.few:
                await self._read_newest_part(gap)
                return
        cached = await self._events()
        self.part, self._is_filled = safe(""), False
        try:
            await self._rebuild(cached)
        except UNREADABLE:  # a cache that was changed by hand
            await asyncio.to_thread(self.files.events.unlink, missing_ok=True)
            await self._rebuild(await self._events())

    async def _events(self) -> CachedEvents:
        client, path = self.client, self.files.events
        if self._wants_whole:
            return await load_events(client, path, self._say)
        return await load_newest(client, path, self._newest, self._open_trades, self._say)

    async def _rebuild(self, cached: CachedEvents) -> None:
        pips = dict(self._pips())
        rebuilder, lines = await asyncio.to_thread(_rebuilt, cached.events, pips)
        self._rebuilder, self.lines = rebuilder, lines
        self._account, self._last_id = (cached.account_id, cached.created_ns), cached.last_id
        self._journal = -1, Journal()
        self.is_whole = not cached.skipped
        self.rebuilt += 1

    async def _read_newest_part(self, gap: CacheGap) -> None:
        """Show the newest transactions of a large account; `fill` reads those before them."""
        self._is_filled = False
        async for part in read_newest_part(self.client, gap.newest, self._portions):
            if part.length == self._portions.page or part.length >= self._portions.first:
                before = part.first - 1  # transactions
                cached = replace(
                    gap.cached, last_id=gap.newest, events=part.events, skipped=before, start=0
                )
                await self._rebuild(cached)
                self.part, self.is_read = part.text(self._open_trades()), True
                self._turn()

    async def fill(self) -> None:
        """Read the older transactions of a large account into its cache, then the journal from there.

        A broker that does not answer is asked again after a pause. Where the cache cannot be written, they are read once every
        trade is wanted.
        """
        if self._is_filling:
            return
        self._is_filling = True
        try:
            while self.part and (self._is_kept or self._wants_whole):
                await self._fill_and_read()
                if self.part:
                    await self._sleep(RETRY_AFTER)
        finally:
            self._is_filling = False
            self.progress = safe("")
            self._turn()

    async def _fill_and_read(self) -> None:
        try:
            path, portions = self.files.events, self._portions
            await fill_cache(self.client, path, self._say_older, self._pause, portions)
        except KeydeskClientError as error:
            self.trouble = safe(f"Older transactions are not read: {clean(str(error))}")
            self._turn()
            return
        except (OSError, UnsafeFile) as error:
            why = file_trouble(error, self.files.events)
            self.trouble, self._is_kept = safe(f"Older transactions are not kept: {why}"), False
            self._turn()
        if self._is_kept or self._wants_whole:
            self._is_filled = True
            while self._is_reading:  # another page reads; it ends in a moment
                await self._sleep(ANOTHER_READS)
            await self.read()

    def _say_older(self, read: int, newest: int) -> None:
        self.trouble = safe("")
        self._say(read, newest)

    async def _pause(self) -> None:
        await self._sleep(0 if self._wants_whole else PAUSE)

    async def _read_newer(self) -> None:
        async for each in self.client.transactions.iterate_since(self._last_id):
            self._apply(each)
            if not int(each.id) % PART:
                await asyncio.sleep(0)

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
            elif number == self._last_id + 1:
                self._apply(transaction)
            elif number > self._last_id:
                self.is_behind = True

    def _apply(self, transaction: Transaction) -> None:
        changed: dict[str, None] = {}
        for event in events_of([transaction]):
            self._rebuilder.apply(event)
            changed |= dict.fromkeys(trades_of(event))
        found = [self._rebuilder.trade(id_) for id_ in changed]
        self.lines.update(each for each in found if each is not None)
        self._last_id = int(transaction.id)
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

    def known_excursions(self, trades: Iterable[JournalTrade]) -> dict[str, Excursion]:
        """Return the excursions that are known, by trade."""
        return self.excursions.known_of(trades)

    async def read_excursions(self, trades: Iterable[JournalTrade]) -> None:
        """Read how far these closed trades went against and for the trader, where that is not known yet."""
        missing = [
            each
            for each in trades
            if each.is_closed and each.id not in self._without_candles and self._is_wanted(each)
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

    def _is_wanted(self, trade: JournalTrade) -> bool:
        """Return whether its excursion is not known, or provisional although its last candle is complete."""
        return self.excursions.known(trade) is None or trade.id in self.excursions.due

    def _tell_excursions(self, trouble: str) -> None:
        if trouble != self.excursions_trouble:
            self.excursions_trouble = clean(trouble)
            self._turn()


def _unread_text(unread: Unread) -> str:
    if unread.gave_up:
        return f"{NOT_TO_THEIR_END}: {unread.error}"
    return f"MAE and MFE of {counted(len(unread.trades), 'trade')} are not read: {unread.error}"


def _rebuilt(events: Iterable[Event], pips: Pips) -> tuple[Rebuilder, JournalLines]:
    rebuilder = Rebuilder()
    for each in events:
        rebuilder.apply(each)
    return rebuilder, JournalLines.of(rebuilder.journal().trades, pips)


def _stamp(path: Path) -> object:
    try:
        status = path.stat()
    except OSError as error:
        return error.errno
    return status.st_mtime_ns, status.st_size, status.st_ino


def _stamped_notes(path: Path) -> tuple[object, Notes]:
    return _stamp(path), read_notes(path)
