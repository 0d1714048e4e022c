"""MAE and MFE of closed trades from the broker's candles, and the records of those that are known: a closed trade does not change.

What rests on a candle that still forms is provisional: it is not kept, and read again once the candle is complete.
"""

import asyncio
import sqlite3
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import suppress

from msgspec import Struct, field

from keydesk.calc.market.trading_day import day_start, next_day_start
from keydesk.calc.trade_journal.excursions import (
    CELL,
    CandleRange,
    Excursion,
    Extremes,
    are_over,
    candle_plan,
    excursion_of,
    known_excursion,
    length_of,
)
from keydesk.calc.trade_journal.net_asset_values import DayClose
from keydesk.calc.trade_journal.trades import JournalTrade
from keydesk.records.database import Database
from keydesk.records.errors import NOT_KEPT, DamagedRecords
from keydesk.records.excursions import (
    KeptExcursion,
    KeptExcursions,
    kept_excursions,
    write_excursions,
)
from keydesk_client.arithmetic.constants import SECOND
from keydesk_client.client import Client
from keydesk_client.errors import (
    ConnectionLost,
    KeydeskClientError,
    Refused,
    ServerFailed,
    TimedOut,
)
from keydesk_client.models import Candlestick, DateTime

AT_ONCE = 2  # requests
GIVE_UP_AFTER = 8  # failures in a row
PASSING = (TimedOut, ConnectionLost, ServerFailed)  # of one answer; the next may come
CANDLES_AT_ONCE = (
    500  # decoded in one iteration of the event loop: some 5 ms, so that keys and prices go on
)
NOT_OFFERED = (400, 404)  # the answer about an instrument that the account has no more
SETTLES_NS = SECOND  # after its end, until a candle is taken for complete
Progress = Callable[[int, int], None]
Clock = Callable[[], int]
"""Returns the broker's time as far as it is known, in nanoseconds."""


class Unread(Struct):
    """The trades whose candles could not be read, and why."""

    trades: list[JournalTrade] = field(default_factory=list[JournalTrade])
    error: KeydeskClientError | None = None
    in_a_row: int = 0

    @property
    def gave_up(self) -> bool:
        """Whether the host does not answer at all."""
        return self.in_a_row >= GIVE_UP_AFTER

    def note(self, trade: JournalTrade, error: KeydeskClientError) -> None:
        """Add a trade."""
        self.trades.append(trade)
        self.error = error
        self.in_a_row += 1


class ExcursionReader:
    """The excursions of closed trades: those that are kept, and those read from candles since.

    Args:
        client: Reads candles.
        now_ns: Returns the broker's time.
        database: Keeps them; without one they stay in memory.
    """

    def __init__(
        self, client: Client, now_ns: Clock = time.time_ns, database: Database | None = None
    ) -> None:
        self._client, self._now_ns, self.database = client, now_ns, database
        self._unkept, self._provisional = KeptExcursions(), KeptExcursions()

    def known(self, trade: JournalTrade) -> Excursion | None:
        """Return a known excursion; one of another trade with the same id, from before a reset, does not count."""
        return self._known(trade, self._kept([trade.id]))

    def known_of(self, trades: Sequence[JournalTrade]) -> dict[str, Excursion]:
        """Return the excursions that are known, by trade."""
        kept = self._kept([each.id for each in trades])
        found = {each.id: self._known(each, kept) for each in trades}
        return {id_: each for id_, each in found.items() if each is not None}

    def all_known(self) -> dict[str, KeptExcursion]:
        """Return all distances that are known, by trade; a trade with other times is another one."""
        return self._kept() | self._unkept | self._provisional

    def _known(self, trade: JournalTrade, kept: KeptExcursions) -> Excursion | None:
        for found in (self._unkept, self._provisional, kept):
            each = found.get(trade.id)
            if each is not None and each[:2] == (trade.opened_ns, trade.closed_ns):
                is_provisional = found is self._provisional
                return known_excursion(
                    trade, each.adverse, each.favourable, is_provisional=is_provisional
                )
        return None

    def _kept(self, ids: Sequence[str] | None = None) -> KeptExcursions:
        if self.database is None:
            return {}
        try:
            return kept_excursions(self.database.connection, ids)
        except sqlite3.Error:  # damaged records: it is read from candles again
            return {}

    @property
    def due(self) -> frozenset[str]:
        """The trades whose excursion is provisional although their last candle is complete by now."""
        before = self._now_ns() - SETTLES_NS
        return frozenset(id_ for id_, kept in self._provisional.items() if _ended(kept) <= before)

    async def read(self, trade: JournalTrade) -> None:
        """Read the candles of a closed trade; without candles nothing is known of it."""
        excursion, is_final = await _fetch(self._client, trade, self._now_ns)
        if excursion is not None:
            self.record(trade, excursion, is_final=is_final)

    def record(self, trade: JournalTrade, excursion: Excursion, *, is_final: bool) -> None:
        """Take the excursion of a closed trade for known; a final one takes the place of a provisional one."""
        self._provisional.pop(trade.id, None)
        found = self._unkept if is_final else self._provisional
        ends = trade.opened_ns, trade.closed_ns or 0
        found[trade.id] = KeptExcursion(*ends, excursion.adverse, excursion.favourable)

    async def save(self) -> None:
        """Write those that are final, in a thread; where that fails, they stay in memory."""
        written = dict(self._unkept)
        if self.database is not None and written:
            with suppress(*NOT_KEPT, DamagedRecords):
                await asyncio.to_thread(_write, self.database, written)
                for id_ in written:
                    self._unkept.pop(id_, None)


def _write(database: Database, excursions: KeptExcursions) -> None:
    with database.change() as connection:
        write_excursions(connection, excursions)


async def read_each(
    read: Callable[[JournalTrade], Awaitable[None]], trades: Sequence[JournalTrade]
) -> Unread:
    """Read the candles of each trade; those that a passing failure left out once more at the end.

    Several failures in a row end it: the host does not answer. Any other error ends it at once, in an exception group.
    """
    unread = await _read_once(read, trades)
    return await _read_once(read, unread.trades) if unread.trades and not unread.gave_up else unread


async def _read_once(
    read: Callable[[JournalTrade], Awaitable[None]], trades: Sequence[JournalTrade]
) -> Unread:
    slots = asyncio.Semaphore(AT_ONCE)
    unread = Unread()

    async def read_one(trade: JournalTrade) -> None:
        async with slots:
            if unread.gave_up:
                unread.trades.append(trade)
                return
            try:
                await read(trade)
            except PASSING as error:
                unread.note(trade, error)
            else:
                unread.in_a_row = 0

    async with asyncio.TaskGroup() as group:
        for each in trades:
            group.create_task(read_one(each))
    return unread


async def read_excursions(
    reader: ExcursionReader, trades: Sequence[JournalTrade], progress: Progress | None = None
) -> dict[str, Excursion]:
    """Return the excursions of closed trades by id, from the records or from candles; those without candles are left out.

    Raise an error if candles of a trade cannot be read; the reader then knows, and the records have, all those that could.
    """
    closed = [each for each in trades if each.is_closed]
    missing = [each for each in closed if reader.known(each) is None]
    done = 0

    async def fetch(trade: JournalTrade) -> None:
        nonlocal done
        await reader.read(trade)
        done += 1
        if progress is not None:
            progress(done, len(missing))

    try:
        unread = await read_each(fetch, missing)
        if unread.error is not None:
            raise unread.error
    except (
        ExceptionGroup
    ) as errors:  # not `except*`: before 3.11.4 it groups what is raised in it, too
        raise errors.exceptions[0] from None
    finally:
        if missing:
            await reader.save()
    return reader.known_of(closed)


async def _fetch(
    client: Client, trade: JournalTrade, now_ns: Clock
) -> tuple[Excursion | None, bool]:
    """Return the excursion of a trade, and whether it is final."""
    asked_ns = now_ns()  # before the answer: what comes later is not in it
    try:
        plan = candle_plan(trade)
        candles = [each for part in plan async for each in closing_candles(client, trade, part)]
    except Refused as error:
        if error.status not in NOT_OFFERED:
            raise
        return None, False
    sides = [each.bid if trade.is_long else each.ask for each in candles]
    found = excursion_of(trade, [Extremes(each.h, each.l) for each in sides if each is not None])
    complete = all(each.complete for each in candles)
    starts = [each.time.ns for each in candles]
    return found, are_over(plan, starts, complete=complete, now_ns=asked_ns)


def closing_candles(
    client: Client, trade: JournalTrade, part: CandleRange
) -> AsyncIterator[Candlestick]:
    """Yield the candles of a range, of the side that closes the trade.

    A request asks for no more candles than the range has, and one after them, which shows that it is over.
    """
    count = -(-(part.end_ns - part.start_ns) // length_of(part.granularity))
    return client.candles.iterate(
        trade.instrument,
        from_=DateTime.from_ns(part.start_ns),
        to=DateTime.from_ns(part.end_ns),
        granularity=part.granularity,
        page=min(count + 1, CANDLES_AT_ONCE),
        price="B" if trade.is_long else "A",
    )


def _ended(kept: KeptExcursion) -> int:
    return kept.closed_ns // CELL * CELL + CELL


async def read_day_closes(
    client: Client, spans: Mapping[str, tuple[int, int]]
) -> dict[str, list[DayClose]]:
    """Return the closing prices of trading days in the span of each instrument, of a day that is not over the present ones.

    An instrument that is offered no more is left out.
    """
    found = {}
    for name, span in spans.items():
        try:
            found[name] = await _day_closes(client, name, *span)
        except Refused as error:
            if error.status not in NOT_OFFERED:
                raise
    return found


async def _day_closes(client: Client, name: str, first: int, last: int) -> list[DayClose]:
    candles = client.candles.iterate(
        name,
        from_=DateTime.from_ns(day_start(first)),
        to=DateTime.from_ns(last),
        granularity="D",
        price="BA",
    )
    return [
        DayClose(next_day_start(each.time.ns), each.bid.c, each.ask.c)
        async for each in candles
        if each.bid is not None and each.ask is not None
    ]
