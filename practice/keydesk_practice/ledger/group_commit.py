"""Group commit: whoever decides in one turn of the event loop shares one fsync at its end.

The broker decides and applies at once, in memory. The batch is encoded and written in the turns that follow, together
with all that came meanwhile; only then is it published to the streams and answered. A long batch is encoded over several
turns: the batches of other accounts pass it, those of its own account wait behind it, and it is written whole. When the
disk refuses, nothing was acknowledged, and the process must end: the ledger is the truth and memory is ahead of it.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Sequence

from keydesk_practice.errors import LedgerWriteFailed
from keydesk_practice.ledger.ledger import EndedRecord, Entry, Ledger, LedgerBatch, MarkRecord

RECORDS_PER_TURN = 100  # encoded in a turn of the loop: some 2 ms
LEAST_SHARE = 20  # of an account, however many wait: more than the records of one order
Publish = Callable[[str, Sequence[Entry]], None]


class _Waiting:
    """A batch on its way to the ledger."""

    def __init__(
        self,
        account: str,
        records: Iterable[Entry | EndedRecord | MarkRecord],
        when_written: Callable[[], None],
    ) -> None:
        self.batch = LedgerBatch(account)
        self.when_written = when_written
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._records = iter(records)

    def encode(self, most: int) -> int:
        """Encode up to `most` more records and return how many fewer there were: above 0, the batch is whole."""
        for left in range(most, 0, -1):
            try:
                record = next(self._records, None)
            except Exception as error:
                raise LedgerWriteFailed(f"a transaction cannot be encoded: {error}") from error
            if record is None:
                return left
            self.batch.add(record)
        return 0

    def release(self) -> None:
        """Let those go on who wait for it."""
        if not self.done.done():
            self.done.set_result(None)


class GroupCommit:
    """The way from a decided batch to the ledger and then to its listeners."""

    def __init__(self, ledger: Ledger, publish: Publish) -> None:
        self._ledger = ledger
        self._publish = publish
        self._queues: dict[str, deque[_Waiting]] = {}  # by account, oldest first
        self._scheduled = False
        self.failure: LedgerWriteFailed | None = None
        self.on_failure: Callable[[], None] = lambda: None

    def add(
        self,
        account: str,
        records: Iterable[Entry | EndedRecord | MarkRecord],
        when_written: Callable[[], None] = lambda: None,
    ) -> None:
        """Write a batch in the turns that follow; its records are encoded as they are taken."""
        if self.failure is not None:
            return  # ids follow each other: nothing is written after what is missing
        waiting = _Waiting(account, records, when_written)
        self._queues.setdefault(account, deque()).append(waiting)
        self._schedule()

    async def wait_until_committed(self, account: str | None = None) -> None:
        """Return when everything added so far, of one account or of all, is on disk.

        Raises:
            LedgerWriteFailed: the disk refused, now or earlier.
        """
        queues = [
            queue for name, queue in self._queues.items() if account is None or name == account
        ]
        for last in [queue[-1] for queue in queues]:
            await asyncio.shield(last.done)
        if self.failure is not None:
            raise self.failure

    async def wait_one_turn(self, account: str) -> None:
        """Return when a short batch of an account is on disk; a long one is not waited for.

        Raises:
            LedgerWriteFailed: the disk refused, now or earlier.
        """
        if account in self._queues:
            await asyncio.sleep(0)  # `_take_turn` is scheduled already, so it runs before
        if self.failure is not None:
            raise self.failure

    def flush(self) -> None:
        """Write everything that waits at once."""
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
        """Encode for one turn and commit the batches that are whole now."""
        whole: list[_Waiting] = []
        try:
            self._encode(whole)
            for waiting in whole:
                self._ledger.stage_batch(waiting.batch)
            self._ledger.commit()
        except LedgerWriteFailed as error:
            self._fail(whole, error)
        else:
            self._tell(whole)

    def _encode(self, whole: list[_Waiting]) -> None:
        """Encode for one turn, every account its share, and add the batches that are whole now to `whole`."""
        share = max(LEAST_SHARE, RECORDS_PER_TURN // max(1, len(self._queues)))
        for account, queue in list(self._queues.items()):
            left = share
            while queue and (left := queue[0].encode(left)):
                whole.append(queue.popleft())
            if not queue:
                del self._queues[account]

    def _tell(self, whole: Sequence[_Waiting]) -> None:
        """Give committed batches to the listeners, and release those who wait for them."""
        for waiting in whole:
            waiting.when_written()
            if waiting.batch.entries:
                self._publish(waiting.batch.account, waiting.batch.entries)
            waiting.release()

    def _fail(self, whole: Sequence[_Waiting], error: LedgerWriteFailed) -> None:
        """Give up what waits: it was not acknowledged, and a later batch must not follow a missing one."""
        self.failure = error
        behind = [waiting for queue in self._queues.values() for waiting in queue]
        self._queues.clear()
        for waiting in (*whole, *behind):
            waiting.release()
        self.on_failure()
