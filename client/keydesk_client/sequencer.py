"""Sequencer: applies the transactions of an account in the order of their ids, each exactly once.

Transactions arrive by the transaction stream, in REST responses and as requested ranges. Ids are consecutive, so that
missing ones are known. None is skipped: when the service lacks an id, the caller has to restart from a snapshot.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from enum import Enum, auto
from typing import Final, Generic, Protocol, TypeAlias, TypeVar

from keydesk_client.errors import NotFound, OutOfRange

MAX_RANGE: Final = 500
"""Ids that one request for missing transactions asks for."""
MAX_HELD = 10_000
PATIENCE_S = 0.25
REPLICA_PAUSES_S: Final = (0.5, 1.0, 2.0)
"""Before each repetition of a request for what the service should have: its replicas may lag behind each other."""


class HasTransactionId(Protocol):
    """A transaction, as far as the sequencer is concerned."""

    @property
    def id(self) -> str: ...


T = TypeVar("T", bound=HasTransactionId)

Range = tuple[int, int]
"""First and last transaction id, both included."""


class Backfill(Enum):
    """The effect of a response to a request for missing transactions."""

    COMPLETE = auto()
    """No transaction is missing."""
    PARTIAL = auto()
    """Some are still missing: request the next range."""
    STALE = auto()
    """The service does not know the missing ids yet: request them again shortly."""
    HOLE = auto()
    """The service skipped an id: take a snapshot and call `restart`."""
    REFUSED = auto()
    """The service refuses the range of ids: its history may be another one, or one of its copies lags behind."""


class Sequencer(Generic[T]):
    """Applies transactions strictly in order; holds those that arrive early."""

    def __init__(
        self,
        last: int,
        apply: Callable[[T], object],
        *,
        most_held: int = MAX_HELD,
        patience_s: float = PATIENCE_S,
    ) -> None:
        self.last: int = last
        """Id of the newest applied transaction."""
        self.known: int = last
        """The newest id seen, applied or not."""
        self._apply = apply
        self._held: dict[int, T] = {}
        self._unreached: set[int] = set()
        self._most_held = most_held
        self._patience_s = patience_s
        self._waiting: tuple[int, float] | None = None

    def offer(self, transaction: T) -> bool:
        """Take a transaction, in any order; return whether it was new."""
        number = int(transaction.id)
        self.saw_last(number)
        if number <= self.last or number in self._held:
            return False
        if number == self.last + 1:
            self._apply_next(transaction)
            self._apply_held()
        elif len(self._held) < self._most_held:
            self._held[number] = transaction  # beyond the bound it is requested again later
        return True

    def offer_all(self, transactions: Iterable[T]) -> int:
        """Take several transactions; return how many were new."""
        return sum(self.offer(transaction) for transaction in transactions)

    def saw_last(self, last_transaction_id: int | str) -> None:
        """Note the lastTransactionID of a heartbeat or a response."""
        self.known = max(self.known, int(last_transaction_id))

    @property
    def missing(self) -> Range | None:
        """The first range of missing ids, or None."""
        if self.known <= self.last:
            return None
        before_held = min(self._held, default=self.known + 1) - 1
        return self.last + 1, before_held

    def overdue(self, now: float) -> Range | None:
        """Return the missing range once it has been missing for `patience_s`; call it at intervals."""
        missing = self.missing
        if missing is None:
            self._waiting = None
            return None
        if self._waiting is None or self._waiting[0] != missing[0]:
            self._waiting = (missing[0], now)
        return missing if now - self._waiting[1] >= self._patience_s else None

    def backfilled(
        self, requested: Range, transactions: Iterable[T], last_transaction_id: int | str
    ) -> Backfill:
        """Take the response to a request for `requested`; return its effect."""
        before = self.last
        self.offer_all(transactions)
        self.saw_last(last_transaction_id)
        if self.missing is None:
            return Backfill.COMPLETE
        if self.last > before or requested[0] <= before:
            return Backfill.PARTIAL
        return Backfill.HOLE if int(last_transaction_id) >= requested[0] else Backfill.STALE

    def is_service_behind(self, last_transaction_id: int | str) -> bool:
        """Return whether the service knows less than was applied: its history was replaced; take a snapshot."""
        return int(last_transaction_id) < self.last

    def restart(self, last: int) -> None:
        """Continue after a snapshot whose lastTransactionID is `last`, and apply the held transactions that follow.

        Transactions that stay beyond two snapshots are dropped: an id that the service never had would be requested without
        end. One that exists is seen again, and requested.
        """
        self.last = last
        self._held = {
            number: held
            for number, held in self._held.items()
            if number > last and number not in self._unreached
        }
        self._unreached = set(self._held)
        self.known = max(self._held, default=last)
        self._waiting = None
        self._apply_held()

    def _apply_held(self) -> None:
        while (following := self._held.pop(self.last + 1, None)) is not None:
            self._apply_next(following)

    def _apply_next(self, transaction: T) -> None:
        self.last += 1  # first: a transaction that fails to apply must not be applied again
        self._apply(transaction)


T_contra = TypeVar("T_contra", contravariant=True)
ReadRange: TypeAlias = Callable[[int, int], Awaitable[tuple[Sequence[T], int]]]
"""Returns the transactions from one id to another, both included, and the newest id that the service knows."""


class GapSource(Protocol[T_contra]):
    """What the gap filler needs of a sequencer."""

    @property
    def missing(self) -> Range | None: ...
    def backfilled(
        self, requested: Range, transactions: Iterable[T_contra], last_transaction_id: int, /
    ) -> Backfill: ...


class GapFiller(Generic[T]):
    """Read missing transactions range by range, and hand them to a sequencer.

    Args:
        gapped: Has the range that is missing, and takes the transactions that were read.
        read_range: Reads transactions; its errors other than OutOfRange and NotFound are raised by `fill`.
        pauses: Seconds to wait before each repetition of a request that brought nothing.
        on_progress: Awaited after each request that brought something.
        sleep: Waits.
    """

    def __init__(
        self,
        gapped: GapSource[T],
        read_range: ReadRange[T],
        *,
        pauses: Sequence[float] = (),
        on_progress: Callable[[], Awaitable[None]] | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.requested: Range = (0, 0)
        """The range of the latest request."""
        self._gapped, self._read_range = gapped, read_range
        self._pauses, self._on_progress, self._sleep = pauses, on_progress, sleep

    async def fill(self) -> Backfill:
        """Read until nothing is missing (COMPLETE), or return why the last request brought nothing."""
        failures = 0
        while (missing := self._gapped.missing) is not None:
            result = await self._read(missing)
            if result in {Backfill.COMPLETE, Backfill.PARTIAL}:
                failures = 0
                if self._on_progress is not None:
                    await self._on_progress()
            elif failures == len(self._pauses):
                return result
            else:
                await self._sleep(self._pauses[failures])
                failures += 1
        return Backfill.COMPLETE

    async def _read(self, missing: Range) -> Backfill:
        first, last = missing
        self.requested = first, min(last, first + MAX_RANGE - 1)
        try:
            transactions, newest = await self._read_range(*self.requested)
        except (OutOfRange, NotFound):
            return Backfill.REFUSED
        return self._gapped.backfilled(self.requested, transactions, newest)
