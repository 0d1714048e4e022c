"""The transaction stream: every transaction once, in the order of ids, whatever happens to the connection.

The service replays nothing. So each time the connection is back, the transactions since the last one are asked for
before its first line is read; and whenever a line, be it a heartbeat, tells of an id that is not the next, the ids in
between are asked for before anything more is delivered.
"""

from collections.abc import Awaitable
from typing import Final, Protocol, TypeAlias

from keydesk_client.errors import MissingMember, NotFound, OutOfRange
from keydesk_client.models.reading import Reader
from keydesk_client.models.responses.transactions import TransactionsResponse
from keydesk_client.models.transactions.unions import (
    Transaction,
    TransactionHeartbeat,
    TransactionStreamItem,
)
from keydesk_client.sequencer import Backfill, Range, Sequencer
from keydesk_client.streams.buffer import Buffer, InOrder
from keydesk_client.streams.connection import Connection, Opening
from keydesk_client.streams.health import HistoryLost, Lost, Reconnected
from keydesk_client.streams.pace import ConnectPace
from keydesk_client.streams.settings import StreamSettings
from keydesk_client.streams.stream import Stream
from keydesk_client.timing import Timing

TransactionItem: TypeAlias = Transaction | TransactionHeartbeat | Reconnected | HistoryLost

LINE: Reader[Transaction | TransactionHeartbeat] = Reader(TransactionStreamItem)
LARGEST_RANGE: Final = 500
PATIENCE_S: Final = (0.5, 1.0, 2.0)
"""Pauses before asking again for what the service should have: its copies can lag behind each other."""


class History(Protocol):
    """The account's transactions by REST."""

    def since(self, transaction_id: int) -> Awaitable[TransactionsResponse]:
        """Transactions after an id."""
        ...

    def range(self, from_id: int, to_id: int) -> Awaitable[TransactionsResponse]:
        """Transactions from one id to another, both included."""
        ...


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
        self._sequence = None if since is None else self._begin(since)

    async def __anext__(self) -> TransactionItem:
        self._refuse_unentered()
        return await self._buffer.take()

    async def connected(self, lost: Lost | None) -> None:
        """Ask for what happened meanwhile, before the first line."""
        if lost is not None:
            self._ready.append(Reconnected(lost.reason, lost.seconds))
        if self._sequence is not None:
            await self._catch_up(self._sequence)
        await self._deliver()

    async def take(self, lines: list[bytes]) -> None:
        """Deliver what is next, after what is missing."""
        for line in lines:
            await self._take_item(LINE.read(line))  # a line that is no JSON: reconnect, and ask
        await self._deliver()

    async def _take_item(self, item: Transaction | TransactionHeartbeat) -> None:
        number = _number(item)
        if isinstance(item, TransactionHeartbeat):
            await self._heard_of(number)
            self._ready.append(item)
        elif number is None:
            self.health.unreadable += 1  # the next heartbeat shows whether it was one of ours
        else:
            await self._offered(item, number)

    async def _heard_of(self, number: int | None) -> None:
        if number is None:
            return
        if self._sequence is None:
            self._sequence = self._begin(number)
        self._sequence.saw_last(number)
        await self._fill(self._sequence)

    async def _offered(self, transaction: Transaction, number: int) -> None:
        if self._sequence is None:
            self._sequence = self._begin(number - 1)
        self._sequence.offer(transaction)
        await self._fill(self._sequence)

    async def _catch_up(self, sequence: Sequencer[Transaction]) -> None:
        """Ask for everything after the last one; the service's copies may take a moment to agree on what that is."""
        for pause in (*PATIENCE_S, None):
            answer = await self._since(sequence.last)
            if answer is not None and not sequence.is_behind_us(answer.last_transaction_id):
                sequence.offer_all(answer.transactions)
                sequence.saw_last(answer.last_transaction_id)
                return await self._fill(sequence)
            if pause is not None:
                await self._sleep(pause)
        return self._lose(sequence)

    async def _since(self, last: int) -> TransactionsResponse | None:
        try:
            return await self._history.since(last)
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
                return self._lose(sequence)
            else:
                await self._sleep(PATIENCE_S[fruitless])
                fruitless += 1
        return None

    async def _asked(self, sequence: Sequencer[Transaction], missing: Range) -> Backfill:
        asked = missing[0], min(missing[1], missing[0] + LARGEST_RANGE - 1)
        try:
            answer = await self._history.range(*asked)
        except (OutOfRange, NotFound):
            return Backfill.STALE
        return sequence.backfilled(asked, answer.transactions, answer.last_transaction_id)

    def _lose(self, sequence: Sequencer[Transaction]) -> None:
        self._ready.append(HistoryLost(sequence.last))
        self._sequence = None

    def _begin(self, last: int) -> Sequencer[Transaction]:
        return Sequencer(last, self._ready.append)

    async def _deliver(self) -> None:
        ready, self._ready[:] = self._ready[:], ()
        await self._buffer.put(ready)


def _number(item: Transaction | TransactionHeartbeat) -> int | None:
    """The id that an item tells, when it tells one."""
    try:
        told = item.last_transaction_id if isinstance(item, TransactionHeartbeat) else item.id
        return int(told)
    except (MissingMember, ValueError):
        return None
