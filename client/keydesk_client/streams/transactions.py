"""The transaction stream: every transaction once, in the order of ids, whatever happens to the connection.

The service replays nothing. The newest id is therefore read before the stream counts as entered, and everything after
it is delivered. After each reconnection, the transactions since the last delivered one are read before the first line;
and whenever a line, also a heartbeat, shows an id that is not the next, the ids in between are read and delivered first.
A request that fails or is unreadable is repeated; when that does not help, a HistoryLost is delivered and the stream
goes on after the newest id of that time.
"""

import asyncio
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol, TypeAlias

from keydesk_client.errors import MissingMember, NotFound, OutOfRange, UnreadableAnswer
from keydesk_client.http.limits import ConnectRateLimiter
from keydesk_client.http.timing import Timing
from keydesk_client.models._core.decoder import Reader
from keydesk_client.models._core.json import TRANSACTION_LINE
from keydesk_client.models.responses import TransactionsResponse
from keydesk_client.models.transactions.unions import (
    Transaction,
    TransactionHeartbeat,
    TransactionStreamItem,
)
from keydesk_client.sequencer import REPLICA_PAUSES_S, Backfill, GapFiller, Sequencer
from keydesk_client.streams.buffer import Buffer, InOrder
from keydesk_client.streams.connection import Connection, OpenStream, Stream
from keydesk_client.streams.settings import HistoryLost, Interruption, Reconnected, StreamSettings
from keydesk_client.transaction_id import TransactionID

LINE: Reader[Transaction | TransactionHeartbeat] = Reader(TransactionStreamItem, TRANSACTION_LINE)
UNREADABLE_EVERY_S: Final = 1.0
"""The shortest time between two requests that unreadable lines cause."""

TransactionItem: TypeAlias = Transaction | TransactionHeartbeat | Reconnected | HistoryLost


class HasLastId(Protocol):
    """An answer or a heartbeat."""

    @property
    def last_transaction_id(self) -> str: ...


class History(Protocol):
    """The account's transactions by REST."""

    def newest(self) -> Awaitable[int]:
        """Return the id of the newest transaction; raise UnreadableAnswer when the answer lacks it."""
        ...

    def since(self, transaction_id: int) -> Awaitable[TransactionsResponse]:
        """Return the transactions after an id."""
        ...

    def range(self, from_id: int, to_id: int) -> Awaitable[TransactionsResponse]:
        """Return the transactions from one id to another, both included."""
        ...


class TransactionStream(Stream[TransactionItem, TransactionItem]):
    """`async with client.transactions.stream() as transactions: async for item in transactions: ...`."""

    def __init__(
        self,
        open_stream: OpenStream,
        history: History,
        rate_limiter: ConnectRateLimiter,
        settings: StreamSettings,
        timing: Timing,
        *,
        since: int | None = None,
    ) -> None:
        super().__init__(
            Connection(open_stream, rate_limiter, settings, timing, "transactions"),
            Buffer(InOrder(), settings.waiting_at_most),
            area="transactions",
            name="transactions",
        )
        self._history, self._sleep = history, timing.sleep
        self._ready: list[TransactionItem] = []
        self._begun = asyncio.Event()
        self._unreadable_at = float("-inf")
        self._sequencer: Sequencer[Transaction] | None = None
        if since is not None:
            self._begin(since)

    async def _wait_until_entered(self, reading: asyncio.Task[None]) -> None:
        """Wait until the id where the stream begins is known: everything after it is delivered."""
        begun = asyncio.ensure_future(self._begun.wait())
        try:
            await asyncio.wait((reading, begun), return_when=asyncio.FIRST_COMPLETED)
        finally:
            begun.cancel()

    async def __anext__(self) -> TransactionItem:
        self._check_entered()
        return await self._buffer.take()

    async def prepare(self) -> None:
        """Read the id where the stream begins, unless it is known."""
        await self._current_sequencer()

    async def connected(self, lost: Interruption | None) -> None:
        """Read the transactions since the last delivered one, before the first line."""
        if lost is not None:
            self._ready.append(Reconnected(lost.reason, lost.seconds))
        await self._catch_up(await self._current_sequencer())
        await self._deliver()

    async def receive_lines(self, lines: list[bytes]) -> None:
        """Deliver the items of lines, after the transactions that are missing before them."""
        unreadable = 0
        for line in lines:
            try:
                item = LINE.read(line)
            except UnreadableAnswer:  # not JSON: it may have been a transaction
                unreadable += 1
            else:
                await self._deliver_item(item)
        await self._deliver()
        if unreadable:
            self.health.unreadable += unreadable
            await self._catch_up_after_unreadable()

    async def _catch_up_after_unreadable(self) -> None:
        """Read what unreadable lines may have held, at most once in `UNREADABLE_EVERY_S`."""
        clock = asyncio.get_running_loop().time
        await self._sleep(max(0.0, self._unreadable_at + UNREADABLE_EVERY_S - clock()))
        self._unreadable_at = clock()
        await self._catch_up(await self._current_sequencer())
        await self._deliver()

    async def _deliver_item(self, item: Transaction | TransactionHeartbeat) -> None:
        sequencer = await self._current_sequencer()
        if isinstance(item, TransactionHeartbeat):
            last = last_id_of(item)
            sequencer.saw_last(last or 0)
            if last is not None and sequencer.is_service_behind(last):
                await self._catch_up(sequencer)  # a replica lags behind, or the history is another
            else:
                await self._fill_gap(sequencer)
            self._ready.append(item)
        elif _id_of(item) is None:
            self.health.unreadable += 1  # the next heartbeat shows whether a transaction is missing
        else:
            sequencer.offer(item)
            await self._fill_gap(sequencer)

    async def _catch_up(self, sequencer: Sequencer[Transaction]) -> None:
        """Read everything after the last transaction; wait for a replica that does not know that one yet."""
        for pause in (*REPLICA_PAUSES_S, None):
            answer = await self._read_since(sequencer.last)
            if answer is not None and (
                answer.last is None or not sequencer.is_service_behind(answer.last)
            ):
                sequencer.offer_all(answer.transactions)
                sequencer.saw_last(answer.last or 0)
                return await self._fill_gap(sequencer)
            if pause is not None:
                await self._sleep(pause)
        return await self._begin_anew(sequencer)

    async def _read_since(self, last: int) -> "_Readable | None":
        try:
            return self._readable(await self._history.since(last))
        except (OutOfRange, NotFound):
            return None

    async def _fill_gap(self, sequencer: Sequencer[Transaction]) -> None:
        """Read missing transactions; begin anew when the service, asked again, does not give them."""
        if sequencer.missing is None:
            return
        filler = GapFiller(
            sequencer,
            self._read_range,
            pauses=REPLICA_PAUSES_S,
            on_progress=self._deliver,
            sleep=self._sleep,
        )
        if await filler.fill() is not Backfill.COMPLETE:
            await self._begin_anew(sequencer)

    async def _read_range(self, first: int, last: int) -> tuple[Sequence[Transaction], int]:
        answer = self._readable(await self._history.range(first, last))
        return answer.transactions, first - 1 if answer.last is None else answer.last

    def _readable(self, answer: TransactionsResponse) -> "_Readable":
        readable = _readable_of(answer)
        self.health.unreadable += readable.unreadable
        return readable

    async def _begin_anew(self, sequencer: Sequencer[Transaction]) -> None:
        """Report the loss once the new beginning is known: a snapshot taken then leaves nothing out."""
        self._ready.append(HistoryLost(TransactionID(sequencer.last)))
        self._sequencer = None
        await self._current_sequencer()

    async def _current_sequencer(self) -> Sequencer[Transaction]:
        """Return the sequencer; begin at the newest id of the service when there is none."""
        if self._sequencer is not None:
            return self._sequencer
        return self._begin(await self._history.newest())

    def _begin(self, last: int) -> Sequencer[Transaction]:
        self._sequencer = Sequencer(last, self._ready.append)
        self._begun.set()
        return self._sequencer

    async def _deliver(self) -> None:
        ready, self._ready[:] = self._ready[:], ()
        await self._buffer.put(ready)


def last_id_of(answer: HasLastId) -> int | None:
    """Return the lastTransactionID of an answer or a heartbeat; None when it lacks one."""
    try:
        return int(answer.last_transaction_id)
    except MissingMember:
        return None


@dataclass(frozen=True, slots=True)
class _Readable:
    """The readable part of an answer."""

    transactions: tuple[Transaction, ...]
    last: int | None
    """The newest id of the account, if the answer has it."""
    unreadable: int
    """The number of transactions without an id: without a place in the order, they are read again."""


def _readable_of(answer: TransactionsResponse) -> _Readable:
    try:
        transactions = answer.transactions
    except MissingMember:
        transactions = ()
    with_id = tuple(each for each in transactions if _id_of(each) is not None)
    return _Readable(with_id, last_id_of(answer), len(transactions) - len(with_id))


def _id_of(transaction: Transaction) -> int | None:
    try:
        return int(transaction.id)
    except (MissingMember, ValueError):  # the id of a transaction of an unknown kind is any text
        return None
