"""Group commit: all batches decided in one iteration of the event loop share one fsync.

The broker decides in memory. A batch is encoded and written in the following iterations, together with all that arrived
meanwhile; only then is it published to the streams and shown in responses. A long batch is encoded over several
iterations and written whole: batches of other accounts overtake it, those of its own account wait behind it.

On a full disk every queued batch is dropped, and the broker takes the accounts back to what the ledger holds: nothing was
acknowledged, so it never happened. The next batch tries again. When the ledger cannot be written for another reason, the
process must end.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Iterable, Sequence

from keydesk_practice.errors import (
    LedgerFull,
    LedgerUnreachable,
    LedgerWriteFailed,
    OutcomeUnknown,
    PracticeError,
)
from keydesk_practice.ledger.interface import LedgerInterface
from keydesk_practice.ledger.records import EndedRecord, Entry, LedgerBatch, MarkRecord

RECORDS_PER_TURN = 100  # encoded in one iteration of the loop: some 2 ms
MIN_SHARE = 20  # records an account, however many accounts wait: more than one order makes
Publish = Callable[[str, Sequence[Entry]], None]
Event = Callable[[], None]
log = logging.getLogger("keydesk.practice")


def _nothing() -> None:
    """Do nothing."""


class PendingBatch:
    """A batch that is not committed yet."""

    def __init__(
        self,
        account: str,
        records: Iterable[Entry | EndedRecord | MarkRecord],
        on_committed: Event,
        on_dropped: Event = _nothing,
    ) -> None:
        self.batch = LedgerBatch(account)
        self.on_committed = on_committed
        self.on_dropped = on_dropped
        self.failure: PracticeError | None = None  # why it was dropped, or is perhaps not stored
        self.done = asyncio.Event()
        self._records = iter(records)

    def encode(self, limit: int) -> int:
        """Encode up to `limit` more records and return the rest of the limit; above 0, the batch is complete."""
        for left in range(limit, 0, -1):
            try:
                record = next(self._records, None)
            except Exception as error:
                raise LedgerWriteFailed(f"a transaction cannot be encoded: {error}") from error
            if record is None:
                return left
            self.batch.add(record)
        return 0


class GroupCommit:
    """Writes decided batches to the ledger, then publishes them."""

    def __init__(self, ledger: LedgerInterface, publish: Publish) -> None:
        self._ledger = ledger
        self._publish = publish
        self._queues: dict[str, deque[PendingBatch]] = {}  # by account, oldest first
        self._scheduled = False
        self.failure: PracticeError | None = None
        self.refusal: LedgerFull | None = None
        self.on_failure: Event = _nothing

    def add(
        self,
        account: str,
        records: Iterable[Entry | EndedRecord | MarkRecord],
        on_committed: Event = _nothing,
        on_dropped: Event = _nothing,
    ) -> None:
        """Queue a batch; its records are taken, and so encoded, in the following iterations."""
        if self.failure is not None:
            return  # ids have no gaps: nothing is written after a lost batch
        pending = PendingBatch(account, records, on_committed, on_dropped)
        self._queues.setdefault(account, deque()).append(pending)
        self._schedule()

    async def wait_until_committed(self, account: str | None = None) -> None:
        """Return when every batch added so far, of one account or of all, is committed.

        Raises:
            LedgerFull: one of them was dropped.
            LedgerWriteFailed: the ledger could not be written, now or earlier.
            LedgerUnreachable: its database went away before; `OutcomeUnknown` when it went away meanwhile.
        """
        if account is None:
            last = [queue[-1] for queue in self._queues.values()]
        else:
            queue = self._queues.get(account)
            last = [queue[-1]] if queue else []
        for pending in last:
            await pending.done.wait()
            if pending.failure is not None:
                raise pending.failure
        if not last and self.failure is not None:  # what is committed stays so
            raise self.failure

    async def wait_one_turn(self, account: str) -> None:
        """Return when a short batch of an account is committed; do not wait for a long one.

        Raises:
            LedgerWriteFailed: the ledger could not be written, now or earlier.
        """
        if account in self._queues:
            await asyncio.sleep(0)  # `_take_turn` is scheduled already, so it runs first
        if self.failure is not None:
            raise self.failure

    def flush(self) -> None:
        """Commit every queued batch now."""
        while self._queues:
            self._advance()

    def _schedule(self) -> None:
        if not self._scheduled:
            self._scheduled = True
            asyncio.get_running_loop().call_soon(self._take_turn)

    def _take_turn(self) -> None:
        self._scheduled = False
        self._advance()
        if self._queues:
            self._schedule()

    def _advance(self) -> None:
        """Encode for one iteration and commit the batches that are complete."""
        complete: list[PendingBatch] = []
        try:
            self._encode(complete)
            self._ledger.commit([pending.batch for pending in complete])
        except LedgerFull as error:
            self._drop(complete, error)
        except (LedgerWriteFailed, LedgerUnreachable) as error:
            self._fail(complete, error)
        else:
            if complete and self.refusal is not None:
                self.refusal = None
                log.warning("the ledger can be written again")
            self._publish_all(complete)

    def _encode(self, complete: list[PendingBatch]) -> None:
        """Encode for one iteration, an equal share an account, and append the complete batches to `complete`."""
        share = max(MIN_SHARE, RECORDS_PER_TURN // max(1, len(self._queues)))
        for account, queue in list(self._queues.items()):
            left = share
            while queue and (left := queue[0].encode(left)):
                complete.append(queue.popleft())
            if not queue:
                del self._queues[account]

    def _publish_all(self, complete: Sequence[PendingBatch]) -> None:
        """Publish committed batches and wake the requests that wait for them."""
        for pending in complete:
            pending.on_committed()
            if pending.batch.entries:
                self._publish(pending.batch.account, pending.batch.entries)
            pending.done.set()

    def _drop(self, complete: Sequence[PendingBatch], error: LedgerFull) -> None:
        """Drop every queued batch, and go on: what was decided in memory after a lost one is void, too."""
        if self.refusal is None:
            log.critical("%s", error)
        self.refusal = error
        for pending in self._take_all(complete):
            pending.failure = error
            pending.on_dropped()
            pending.done.set()

    def _fail(
        self, complete: Sequence[PendingBatch], error: LedgerWriteFailed | LedgerUnreachable
    ) -> None:
        """Drop every queued batch for good: none was acknowledged, and none may follow a lost one."""
        self.failure = LedgerUnreachable(str(error)) if isinstance(error, OutcomeUnknown) else error
        for pending in self._take_all(()):
            pending.failure = self.failure
            pending.done.set()
        for pending in complete:
            pending.failure = error
            pending.done.set()
        self.on_failure()

    def _take_all(self, complete: Sequence[PendingBatch]) -> list[PendingBatch]:
        behind = [pending for queue in self._queues.values() for pending in queue]
        self._queues.clear()
        return [*complete, *behind]
