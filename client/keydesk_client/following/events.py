"""The changes of a followed account, as events, and the queue in which they wait for an iteration."""

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, Literal, Self, TypeAlias

from keydesk_client.arithmetic.profit import mid_price
from keydesk_client.models import DateTime, Transaction
from keydesk_client.orders.outcome import Ambiguous, Done, Rejected

MAX_WAITING: Final = 10_000
"""Events other than prices that wait for an iteration; an iteration that is slower has to read the whole account."""
Source: TypeAlias = Literal["prices", "transactions", "account"]


@dataclass(frozen=True, slots=True)
class LatestPrice:
    """The latest price of an instrument, in its quote currency."""

    instrument: str
    bid: Decimal
    ask: Decimal
    time: DateTime
    tradeable: bool
    received: float
    """Monotonic seconds (`time.monotonic`) at which it came."""

    @property
    def mid(self) -> Decimal:
        """The mean of bid and ask, unrounded."""
        return mid_price(self.bid, self.ask)

    @property
    def spread(self) -> Decimal:
        """Ask minus bid."""
        return self.ask - self.bid


@dataclass(frozen=True, slots=True)
class TransactionApplied:
    """A transaction was applied to the account: each comes once, in order."""

    transaction: Transaction


@dataclass(frozen=True, slots=True)
class PriceUpdated:
    """A price came; while an iteration is busy, only the newest of each instrument waits."""

    price: LatestPrice


@dataclass(frozen=True, slots=True)
class SnapshotReloaded:
    """The account was read anew, so that transactions may have come and gone without a `TransactionApplied`: look at the whole account."""

    reason: str
    """Empty for the first time."""


@dataclass(frozen=True, slots=True)
class StreamInterrupted:
    """A stream, or the check of the account, gets no answer; what it keeps current is as old as its last answer.

    It is tried again until it answers (`StreamRestored`) or the block is left, however long that takes.
    """

    source: Source
    reason: str


@dataclass(frozen=True, slots=True)
class StreamRestored:
    """A source that was interrupted is back; the transactions in between have come, the prices have not."""

    source: Source


@dataclass(frozen=True, slots=True)
class LateEffect:
    """A request that had ended as Unconfirmed took effect after all."""

    outcome: Done | Rejected | Ambiguous


AccountEvent: TypeAlias = (
    TransactionApplied
    | PriceUpdated
    | SnapshotReloaded
    | StreamInterrupted
    | StreamRestored
    | LateEffect
)


class EventQueue:
    """The events of a followed account from now on: `async for event in account.events(): ...`."""

    def __init__(self, leave: Callable[["EventQueue"], object], *, prices: bool) -> None:
        self._leave, self._with_prices = leave, prices
        self._events: deque[AccountEvent] = deque()
        self._prices: dict[str, PriceUpdated] = {}
        self._wakes = asyncio.Event()
        self._end: Exception | None = None

    def put(self, event: AccountEvent) -> None:
        """Add an event."""
        if isinstance(event, PriceUpdated):
            if not self._with_prices:
                return
            self._prices[event.price.instrument] = event
        elif len(self._events) >= MAX_WAITING:
            self._events.clear()
            self._events.append(SnapshotReloaded("the iteration was too slow: events were dropped"))
        else:
            self._events.append(event)
        self._wakes.set()

    def end(self, error: Exception) -> None:
        """End the iteration with an error (StopAsyncIteration: without one) once all events are taken."""
        self._end = error
        self._wakes.set()

    def close(self) -> None:
        """Collect no more events; do nothing when called again."""
        if self._end is None:
            self._leave(self)
            self.end(StopAsyncIteration())

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> AccountEvent:
        while True:
            if self._events:
                return self._events.popleft()
            if self._prices:
                return self._prices.pop(next(iter(self._prices)))
            if self._end is not None:
                raise self._end
            self._wakes.clear()
            await self._wakes.wait()
