"""The commits of a node: all batches that wait are written in one statement, in a thread, while the next ones gather.

A batch that is refused belongs to an account that this node has lost: the account is dropped. After a lost connection it is
not known what was stored, so all accounts are dropped, and taken again with a higher fencing number before anything else.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence

from keydesk_practice.errors import (
    LedgerUnreachable,
    LedgerWriteFailed,
    NotExecuted,
    NotStored,
    OutcomeUnknown,
    PracticeError,
)
from keydesk_practice.ledger.group_commit import RECORDS_PER_TURN, PendingBatch, Publish
from keydesk_practice.ledger.postgres_accounts import RequestRecord
from keydesk_practice.ledger.records import EndedRecord, Entry, LedgerBatch, MarkRecord

MAX_BATCHES = 500  # in one statement
Fences = dict[str, int]  # by account; -1 for one that was dropped
Write = Callable[[Sequence[LedgerBatch], Fences, Sequence[RequestRecord]], Awaitable[set[str]]]
log = logging.getLogger("keydesk.practice.cluster")


class NodeBatch(PendingBatch):
    """A batch that is not committed yet, and the request that made it."""

    request: tuple[str, Callable[[], str]] | None = None
    error: PracticeError | None = None

    def fail(self, error: PracticeError) -> None:
        """End the wait for this batch: it is not stored, or that is not known."""
        self.error = error
        self.done.set()


class NodeCommit:
    """Writes the decided batches of the accounts of one node."""

    def __init__(
        self,
        write: Write,
        publish: Publish,
        *,
        fences: Mapping[str, int],
        ticked_until: Callable[[], int],
        on_lost: Callable[[Fences], None],
        on_away: Callable[[LedgerUnreachable], None],
    ) -> None:
        self._write = write
        self._publish = publish
        self._fences = fences
        self._ticked_until = ticked_until
        self._on_lost = on_lost
        self._on_away = on_away
        self._queues: dict[str, deque[NodeBatch]] = {}
        self._encoding: list[NodeBatch] = []
        self._sent: list[NodeBatch] = []
        self._work = asyncio.Event()
        self._ticked = 0
        self._refusal = ""  # the last answer of a database that could not store anything
        self.check_lease: Callable[[], None] = lambda: None
        self.failure: PracticeError | None = None
        self.on_failure: Callable[[], None] = lambda: None

    @property
    def ticked(self) -> int:
        """The market's time up to which every account was ticked, and everything that this produced is stored."""
        if not self._queues and not self._encoding and not self._sent:
            self._ticked = self._ticked_until()
        return self._ticked

    def add(
        self,
        account: str,
        records: Iterable[Entry | EndedRecord | MarkRecord],
        on_committed: Callable[[], None] = lambda: None,
    ) -> None:
        """Queue a batch."""
        self._queues.setdefault(account, deque()).append(NodeBatch(account, records, on_committed))
        self._work.set()

    def note_answer(self, account: str, request: str, answer: Callable[[], str]) -> None:
        """Store the answer to a request with the batch that it made; a request that made none is not stored."""
        queue = self._queues.get(account)
        if queue and queue[-1].request is None:
            queue[-1].request = (request, answer)

    async def wait_until_committed(self, account: str | None = None) -> None:
        """Return when every batch added so far, of one account or of all, is committed.

        Raises:
            NotExecuted: it is not stored, and never will be.
            OutcomeUnknown: it may be stored.
        """
        waiting = self._waiting(
            account
        )  # whatever became of the lease: what was queued may be stored
        for one in waiting:
            await one.done.wait()
        for one in reversed(waiting):
            if one.error is not None:
                raise one.error

    async def wait_one_turn(self, account: str) -> None:
        """Return at once: reads show what is committed; raise `NotExecuted` when the lease is not certain."""
        del account
        self.check_lease()

    def flush(self) -> None:
        """Do nothing: `drain` commits what waits."""

    async def drain(self) -> None:
        """Return when the queue is empty, whether its batches were stored or not."""
        for one in self._waiting(None):
            await one.done.wait()

    def waits(self, account: str) -> bool:
        """Return whether a batch of an account is not committed yet."""
        return bool(self._waiting(account))

    def _waiting(self, account: str | None) -> list[NodeBatch]:
        under_way = [
            one for one in (*self._sent, *self._encoding) if account in {None, one.batch.account}
        ]
        queues = self._queues.values() if account is None else [self._queues.get(account, ())]
        return [*under_way, *(one for queue in queues for one in queue)]

    def drop(self, accounts: Iterable[str], error: PracticeError) -> None:
        """Remove the queued batches of accounts that were not sent yet."""
        gone = set(accounts)
        for one in [one for one in self._encoding if one.batch.account in gone]:
            one.fail(error)
        for account in gone:
            for one in self._queues.pop(account, ()):
                one.fail(error)

    async def run(self) -> None:
        """Write batches until cancelled."""
        while True:
            await self._work.wait()
            self._work.clear()
            while self._queues:
                await self._write_waiting()

    async def _write_waiting(self) -> None:
        ticked = self._ticked_until()
        complete = await self._encoded()
        if not complete:
            return
        self._sent = complete
        fences = fences_of([one.batch for one in complete], self._fences)
        try:
            moved = await self._write(
                [one.batch for one in complete],
                fences,
                [record for one in complete if (record := _request_record(one))],
            )
        except LedgerUnreachable as error:
            self._fail_sent(OutcomeUnknown("the database does not answer"))
            self._on_away(error)
            return
        except LedgerWriteFailed as error:  # the database has answered: nothing is stored
            if str(error) != self._refusal:  # not again for each commit
                log.warning("%s", error)
            self._refusal = str(error)
            self._finish(complete, set(), fences, NotStored(str(error)))
            return
        except (
            Exception
        ) as error:  # a fault of the statement: what it held is refused, the others go on
            log.exception("a commit failed")
            self._finish(complete, set(), fences, NotExecuted(str(error)))
            return
        moved_away = NotExecuted("the account belongs to another node")
        self._finish(complete, moved, fences, moved_away)
        if not self._queues:
            self._ticked = ticked

    async def _encoded(self) -> list[NodeBatch]:
        """Encode what waits, some records in each iteration of the loop, and take it out of the queues."""
        complete: list[NodeBatch] = []
        self._encoding = complete
        left = RECORDS_PER_TURN
        while self._queues and len(complete) < MAX_BATCHES:
            account, queue = next(iter(self._queues.items()))
            one = queue[0]
            try:
                left = one.encode(left)
            except LedgerWriteFailed as error:
                log.critical("%s", error)
                self._refuse({account: self._fences.get(account, -1)}, NotExecuted(str(error)))
                continue
            if not left:
                await asyncio.sleep(0)
                left = RECORDS_PER_TURN
                continue
            if one.error is None:  # else it was dropped meanwhile
                queue.popleft()
                complete.append(one)
            if not queue and self._queues.get(account) is queue:
                del self._queues[account]
        self._encoding = []
        return [one for one in complete if one.error is None]

    def _finish(
        self,
        complete: Sequence[NodeBatch],
        moved: set[str],
        fences: Fences,
        refusal: NotExecuted,
    ) -> None:
        self._sent = []
        for one in complete:
            if one.batch.account not in moved:
                one.fail(refusal)
                continue
            one.on_committed()
            if one.batch.entries:
                self._publish(one.batch.account, one.batch.entries)
            one.done.set()
        if refused := {one.batch.account for one in complete} - moved:
            self._refuse({account: fences[account] for account in refused}, refusal)

    def _refuse(self, fences: Fences, refusal: NotExecuted) -> None:
        """Drop refused accounts, unless they were taken again meanwhile, with another fencing number."""
        lost = {
            account: fence
            for account, fence in fences.items()
            if self._fences.get(account, -1) == fence
        }
        self.drop(lost, refusal)
        self._on_lost(lost)

    def _fail_sent(self, error: PracticeError) -> None:
        sent, self._sent = self._sent, []
        for one in sent:
            one.fail(error)


def _request_record(one: NodeBatch) -> RequestRecord | None:
    if one.request is None:
        return None
    request, answer = one.request
    entries = one.batch.entries
    first, last = (entries[0].id, entries[-1].id) if entries else (0, 0)
    return RequestRecord(one.batch.account, request, first, last, answer())


def fences_of(batches: Iterable[LedgerBatch], fences: Mapping[str, int]) -> dict[str, int]:
    """Return the fencing numbers of the accounts of some batches, -1 for one that was dropped."""
    return {batch.account: fences.get(batch.account, -1) for batch in batches}
