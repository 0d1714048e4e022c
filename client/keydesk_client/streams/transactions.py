"""The transaction stream: every transaction once, in the order of ids, whatever happens to the connection.

The service replays nothing. So the newest id is asked for before the stream counts as entered, and everything after it
is delivered; each time the connection is made, the transactions since the last one are asked for before its first line
is read; and whenever a line, be it a heartbeat, tells of an id that is not the next, the ids in between are asked for
before anything more is delivered. What the service does not give, or not in a form that can be read, is asked for
again; then a HistoryLost says so, and the stream goes on after the newest id of that moment.

The account's transactions by REST, as a stream asks for them, and what of an answer can be relied on.
"""

import asyncio
from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Final, Protocol, TypeAlias

from keydesk_client.errors import MissingMember, NotFound, OutOfRange, UnreadableAnswer
from keydesk_client.http.pacing import ConnectPace, Timing
from keydesk_client.models._core.decoder import Reader
from keydesk_client.models._core.json import TRANSACTION_LINE
from keydesk_client.models.responses import TransactionsResponse
from keydesk_client.models.transactions.unions import (
    Transaction,
    TransactionHeartbeat,
    TransactionStreamItem,
)
from keydesk_client.sequencer import Backfill, Range, Sequencer
from keydesk_client.streams.buffer import (
    Buffer,
    HistoryLost,
    InOrder,
    Lost,
    Reconnected,
    StreamSettings,
)
from keydesk_client.streams.connection import Connection, Opening, Stream


class TellsLast(Protocol):
    """An answer or a heartbeat."""

    @property
    def last_transaction_id(self) -> str: ...


class History(Protocol):
    """What the service knows of the account's transactions."""

    def newest(self) -> Awaitable[int]:
        """Id of the newest transaction; UnreadableAnswer when the service does not tell it."""
        ...

    def since(self, transaction_id: int) -> Awaitable[TransactionsResponse]:
        """Transactions after an id."""
        ...

    def range(self, from_id: int, to_id: int) -> Awaitable[TransactionsResponse]:
        """Transactions from one id to another, both included."""
        ...


@dataclass(frozen=True, slots=True)
class Told:
    """An answer of the history: a transaction without an id has no place in the order, so it is asked for again."""

    transactions: tuple[Transaction, ...]
    last: int | None
    """The newest id, when the answer tells it."""
    unreadable: int
    """Transactions without an id."""


def told_by(answer: TransactionsResponse) -> Told:
    """What can be read of an answer, however much of it is missing."""
    try:
        sent = answer.transactions
    except MissingMember:
        sent = ()
    numbered = tuple(each for each in sent if id_of(each) is not None)
    return Told(numbered, last_told(answer), len(sent) - len(numbered))


def last_told(answer: TellsLast) -> int | None:
    """The lastTransactionID that came, if one did."""
    try:
        return int(answer.last_transaction_id)
    except MissingMember:
        return None


def id_of(transaction: Transaction) -> int | None:
    """The id that a transaction tells, if it tells one."""
    try:
        return int(transaction.id)
    except (MissingMember, ValueError):  # of a kind that is newer than this library it is any text
        return None


TransactionItem: TypeAlias = Transaction | TransactionHeartbeat | Reconnected | HistoryLost

LINE: Reader[Transaction | TransactionHeartbeat] = Reader(TransactionStreamItem, TRANSACTION_LINE)
LARGEST_RANGE: Final = 500
UNREADABLE_EVERY_S: Final = 1.0
PATIENCE_S: Final = (0.5, 1.0, 2.0)
"""Pauses before asking again for what the service should have: its copies can lag behind each other."""


class TransactionStream(Stream[TransactionItem, TransactionItem]):
    """`async with client.transactions.stream() as transactions: async for item in transactions: ...`."""

    def __init__(
        self,
        opening: Opening,
        history: History,
        pace: ConnectPace,
        settings: StreamSettings,
        timing: Timing,
        *,
        since: int | None = None,
    ) -> None:
        super().__init__(
            Connection(opening, pace, settings, timing),
            Buffer(InOrder(), settings.waiting_at_most),
            area="transactions",
            name="transactions",
        )
        self._history, self._sleep = history, timing.sleep
        self._ready: list[TransactionItem] = []
        self._begun = asyncio.Event()
        self._asked_at = float("-inf")
        self._sequence: Sequencer[Transaction] | None = None
        if since is not None:
            self._begin(since)

    async def _entered(self, reading: asyncio.Task[None]) -> None:
        """Wait until it is known where the stream begins: what happens from then on is delivered."""
        begun = asyncio.ensure_future(self._begun.wait())
        try:
            await asyncio.wait((reading, begun), return_when=asyncio.FIRST_COMPLETED)
        finally:
            begun.cancel()

    async def __anext__(self) -> TransactionItem:
        self._refuse_unentered()
        return await self._buffer.take()

    async def prepare(self) -> None:
        """Ask where the stream begins, unless that is known."""
        await self._place()

    async def connected(self, lost: Lost | None) -> None:
        """Ask for what happened meanwhile, before the first line."""
        if lost is not None:
            self._ready.append(Reconnected(lost.reason, lost.seconds))
        await self._catch_up(await self._place())
        await self._deliver()

    async def take(self, lines: list[bytes]) -> None:
        """Deliver what is next, after what is missing."""
        unreadable = 0
        for line in lines:
            try:
                item = LINE.read(line)
            except UnreadableAnswer:  # no JSON: whatever it told is asked for
                unreadable += 1
            else:
                await self._take_item(item)
        await self._deliver()
        if unreadable:
            self.health.unreadable += unreadable
            await self._ask_for_unreadable()

    async def _ask_for_unreadable(self) -> None:
        """Ask for what unreadable lines may have told; at most once in a while, however many of them come."""
        clock = asyncio.get_running_loop().time
        await self._sleep(max(0.0, self._asked_at + UNREADABLE_EVERY_S - clock()))
        self._asked_at = clock()
        await self._catch_up(await self._place())
        await self._deliver()

    async def _take_item(self, item: Transaction | TransactionHeartbeat) -> None:
        sequence = await self._place()
        if isinstance(item, TransactionHeartbeat):
            told = last_told(item)
            sequence.saw_last(told or 0)
            if told is not None and sequence.is_behind_us(told):
                await self._catch_up(sequence)  # it lags, or our place is one that never was
            else:
                await self._fill(sequence)
            self._ready.append(item)
        elif id_of(item) is None:
            self.health.unreadable += 1  # the next heartbeat shows whether it was one of ours
        else:
            sequence.offer(item)
            await self._fill(sequence)

    async def _catch_up(self, sequence: Sequencer[Transaction]) -> None:
        """Ask for everything after the last one; the service's copies may take a moment to agree on what that is."""
        for pause in (*PATIENCE_S, None):
            told = await self._since(sequence.last)
            if told is not None and (told.last is None or not sequence.is_behind_us(told.last)):
                sequence.offer_all(told.transactions)
                sequence.saw_last(told.last or 0)
                return await self._fill(sequence)
            if pause is not None:
                await self._sleep(pause)
        return await self._lose(sequence)

    async def _since(self, last: int) -> Told | None:
        try:
            return self._counted(told_by(await self._history.since(last)))
        except (OutOfRange, NotFound):
            return None

    async def _fill(self, sequence: Sequencer[Transaction]) -> None:
        """Ask for missing ids until there are none; give up only when the service, asked again, has none."""
        fruitless = 0
        while (missing := sequence.missing) is not None:
            brought = await self._asked(sequence, missing)
            if brought in {Backfill.COMPLETE, Backfill.PARTIAL}:
                fruitless = 0
                await self._deliver()
            elif fruitless == len(PATIENCE_S):
                return await self._lose(sequence)
            else:
                await self._sleep(PATIENCE_S[fruitless])
                fruitless += 1
        return None

    async def _asked(self, sequence: Sequencer[Transaction], missing: Range) -> Backfill:
        asked = missing[0], min(missing[1], missing[0] + LARGEST_RANGE - 1)
        try:
            told = self._counted(told_by(await self._history.range(*asked)))
        except (OutOfRange, NotFound):
            return Backfill.STALE
        newest = asked[0] - 1 if told.last is None else told.last
        return sequence.backfilled(asked, told.transactions, newest)

    def _counted(self, told: Told) -> Told:
        self.health.unreadable += told.unreadable
        return told

    async def _lose(self, sequence: Sequencer[Transaction]) -> None:
        """Nobody hears of it before the new beginning is known: a snapshot taken then leaves nothing out."""
        self._ready.append(HistoryLost(sequence.last))
        self._sequence = None
        await self._place()

    async def _place(self) -> Sequencer[Transaction]:
        """Where the stream is; asked of the service when it must begin anew."""
        if self._sequence is not None:
            return self._sequence
        return self._begin(await self._history.newest())

    def _begin(self, last: int) -> Sequencer[Transaction]:
        self._sequence = Sequencer(last, self._ready.append)
        self._begun.set()
        return self._sequence

    async def _deliver(self) -> None:
        ready, self._ready[:] = self._ready[:], ()
        await self._buffer.put(ready)
