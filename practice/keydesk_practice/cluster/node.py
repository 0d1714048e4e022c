"""A node of a cluster: it renews its lease, takes accounts that belong to no node, and drops those it has lost."""

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Iterable, Sequence

from keydesk_practice.broker.broker import Broker
from keydesk_practice.broker.replay import stored_overlay
from keydesk_practice.cluster import database
from keydesk_practice.cluster.clock import ClusterClock, DatabaseWallClock
from keydesk_practice.cluster.commits import Fences, NodeCommit
from keydesk_practice.cluster.database import MarketTime, Owner, StoredRequest, TakenAccount
from keydesk_practice.cluster.database_threads import DatabaseWorker
from keydesk_practice.cluster.loading import AccountLoader
from keydesk_practice.cluster.watched_accounts import WatchedAccounts
from keydesk_practice.errors import LedgerUnreachable, LedgerWriteFailed, NotExecuted
from keydesk_practice.ledger.postgres import PostgresLedger
from keydesk_practice.ledger.postgres_accounts import RequestRecord, commit_batches
from keydesk_practice.ledger.records import Entry, LedgerAccount, LedgerBatch

LEASE_SECONDS = 2.0
RENEW_SECONDS = 0.5
TAKE_SECONDS = 0.2  # between two searches for accounts that belong to no node
TAKEN_AT_ONCE = 100
MAX_REQUESTS = (
    1_000  # ids remembered for each account: more than arrive while one request is retried
)
AWAY = "the database does not answer"
log = logging.getLogger("keydesk.practice.cluster")


class Node:
    """The accounts of one node, and what it knows of the others."""

    def __init__(
        self, broker: Broker, ledger: PostgresLedger, clock: ClusterClock, wall: DatabaseWallClock
    ) -> None:
        self.broker = broker
        self.ledger = ledger
        self.clock = clock
        self.number = 0
        self.owners: dict[str, Owner | None] = {}
        self.accounts: dict[str, LedgerAccount] = {}
        self.watched = WatchedAccounts(broker, ledger)
        self.away = False
        self.unreachable_reason = AWAY
        self.failed = False  # a task of the node ended with an error
        self.loader = AccountLoader(
            *(broker, ledger, self.watched, clock),
            begin=self._begin_loading,
            is_away=lambda: self.away,
        )
        self.on_control: Callable[[], None] = lambda: None
        self.commits = NodeCommit(
            self._write,
            self._publish,
            fences=ledger.fences,
            ticked_until=lambda: broker.ticked_until,
            on_lost=self._lost,
            on_away=self.connection_lost,
        )
        self.commits.check_lease = self.check_lease
        broker.commits = self.commits
        broker.all_accounts = self.accounts
        self._wall = wall
        self._loading = self.watched.loading
        self._requests: dict[str, dict[str, None]] = {}  # executed since the account was taken
        self._lease_until = 0.0
        self._take_after = 0.0
        self._nodes, self._all = 1, 0  # at the last look: live nodes, accounts
        self._orphans: set[str] = set()
        self._newest: dict[str, int] = {}  # transaction of each account
        self._commit_worker = DatabaseWorker(ledger.text, "commit")
        self._worker = DatabaseWorker(ledger.text, "lease")
        self._request_worker = DatabaseWorker(ledger.text, "requests")
        self._tasks: list[asyncio.Task[None]] = []
        self._owners_changed = asyncio.Event()
        self._taking = asyncio.Lock()

    async def start(self, address: str) -> None:
        """Register this run of the node, and begin to take accounts."""
        self.number = await self._worker.run(database.register, address, LEASE_SECONDS)
        await self.refresh()
        await self._renew()
        await self._take_share()
        for body, name in (
            (self.commits.run(), "commits"),
            (self._keep_lease(), "lease"),
            (self._take(), "take accounts"),
            (self.loader.keep_snapshots(), "snapshots"),
        ):
            task = asyncio.create_task(body, name=name)
            task.add_done_callback(self._task_ended)
            self._tasks.append(task)

    def _task_ended(self, task: asyncio.Task[None]) -> None:
        """Stop the node when one of its tasks fails: without it accounts would neither move nor be written."""
        if not task.cancelled() and (error := task.exception()) is not None:
            log.critical("the task %r failed", task.get_name(), exc_info=error)
            self.failed = True
            self.commits.on_failure()

    async def stop(self) -> None:
        """Commit what waits, give the accounts up and end the lease."""
        try:
            async with asyncio.timeout(LEASE_SECONDS):
                await self.commits.drain()
                ids, ticked = list(self.broker.sessions), self.commits.ticked
                self._drop(ids)
                await self._worker.run(database.release, self.number, ids, ticked)
                await self._worker.run(database.leave, self.number)
        except (LedgerUnreachable, LedgerWriteFailed, TimeoutError) as error:
            log.warning("the accounts cannot be given up: %s", error)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for worker in (self._worker, self._commit_worker, self._request_worker, self.loader):
            worker.close()

    # --- requests ---

    def check_lease(self) -> None:
        """Raise `NotExecuted` when another node may have this one's accounts by now."""
        if time.monotonic() >= self._lease_until:
            raise NotExecuted("the lease of this node has expired")

    def owns(self, account: str) -> bool:
        """Return whether an account is here, and its lease has not expired."""
        return account in self.broker.sessions and time.monotonic() < self._lease_until

    def begin_request(self, account: str, request: str) -> bool:
        """Return whether a request is new to this node; a repeated one must not be executed again."""
        known = self._requests.setdefault(account, {})
        if request in known:
            return False
        known[request] = None
        if len(known) > MAX_REQUESTS:
            del known[next(iter(known))]
        return True

    def end_request(self, account: str, request: str) -> None:
        """Note that a request was certainly not executed."""
        self._requests.get(account, {}).pop(request, None)

    async def find_request(self, account: str, request: str) -> StoredRequest | None:
        """Return what the ledger knows of a request; raise `LedgerUnreachable`."""
        return await self._request_worker.run(database.find_request, account, request)

    async def give_up(self, account: str, request: str) -> StoredRequest:
        """Mark a request as never to be executed, unless it was already; raise `LedgerUnreachable`."""
        return await self._request_worker.run(database.give_up, account, request)

    async def refresh(self) -> None:
        """Read the accounts and the node that owns each; raise `LedgerUnreachable`."""
        owners, self._newest = await self._worker.run(database.owners)
        if owners.keys() != self.accounts.keys():
            found = await self._worker.run(database.accounts)
            self.accounts.clear()
            self.accounts.update({one.id: one for one in found})
        if owners != self.owners:
            self.owners = owners
            changed, self._owners_changed = self._owners_changed, asyncio.Event()
            changed.set()

    async def wait_for_owner(self, account: str, known: Owner | None, seconds: float) -> None:
        """Return when an account has another owner than the known one, or after some seconds."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self.owners.get(account) == known:
                    await self._owners_changed.wait()

    # --- the clock and what else is changed for all nodes ---

    async def change_pace(self, make: Callable[[], MarketTime]) -> None:
        """Change the market's pace for all nodes; raise `LedgerUnreachable`."""
        while not await self._worker.run(database.write_pace, make()):
            await self._follow_pace()
        await self._follow_pace()

    async def follow_control(self) -> None:
        """Read the pace, the shocks and the tokens that another node may have changed; raise `LedgerUnreachable`."""
        await self._follow_pace()
        self.follow_shocks()
        self.on_control()

    def follow_shocks(self) -> None:
        """Read the shocks that another node may have added or cancelled; raise `LedgerUnreachable`."""
        shocks, disguise = stored_overlay(self.ledger)
        if shocks != self.broker.shocks:
            self.broker.overlay(shocks, disguise)

    async def announce_control(self) -> None:
        """Tell the other nodes that something was changed."""
        await self._worker.run(database.notify_control)

    async def _follow_pace(self) -> None:
        """Read the pace; when this node is ahead of it, let every node go on, or stop, where this one is."""
        while True:
            self._wall.add(*await self._worker.run(database.wall_offset))
            pace = await self._worker.run(database.read_pace)
            if pace is None or pace.number < self.clock.pace.number:
                return
            self.clock.follow(pace)
            if not self.clock.is_ahead:
                return
            here = self.clock()
            stops = None if pace.stops is None else max(pace.stops, here)
            await self._worker.run(
                database.write_pace, self.clock.changed(market=here, stops=stops)
            )

    # --- the lease ---

    async def _keep_lease(self) -> None:
        loop = asyncio.get_running_loop()
        due = loop.time()
        while True:
            due = max(due + RENEW_SECONDS, loop.time())
            await asyncio.sleep(due - loop.time())
            try:
                if self.away:
                    await self._reconnect()
                else:
                    await self._renew()
                    await self._take_orphans()
                    await self.refresh()
                    self._wall.add(*await self._worker.run(database.wall_offset))
                    if (
                        self.clock.is_ahead
                    ):  # because of an account taken from a node that was ahead
                        await self._follow_pace()
                    self.watched.catch_up(self._newest)
                    self.ledger.ping()
            except (LedgerUnreachable, LedgerWriteFailed) as error:
                self.connection_lost(error)
                due = loop.time() - RENEW_SECONDS / 2

    async def _renew(self) -> None:
        began = time.monotonic()
        lease = await self._worker.run(
            database.renew, self.number, LEASE_SECONDS, self.commits.ticked
        )
        if lease is None:
            raise LedgerUnreachable(
                "the database has no registration of this node any more, since its lease expired long ago: restart the node"
            )
        self._lease_until = began + LEASE_SECONDS
        self._nodes, self._all = lease.nodes, lease.accounts
        self._orphans = lease.fences.keys() - self.broker.sessions.keys()
        self._drop(
            account
            for account in list(self.broker.sessions)
            if lease.fences.get(account) != self.ledger.fences.get(account)
        )

    async def _take_orphans(self) -> None:
        """Take accounts again that are this node's in the database and are not served: their loading has failed."""
        if self._orphans and not self._taking.locked():
            async with self._taking:
                waiting = self._orphans - self.broker.sessions.keys()
                ids = [id_ for id_ in waiting if not self.loader.is_unloadable(id_)]
                await self._load(await self._worker.run(database.lease_again, self.number, ids))

    async def _reconnect(self) -> None:
        """Go on after the database was away: what was sent before is refused from now on."""
        await self._worker.call(self.ledger.reconnect)
        await self._renew()
        async with self._taking:
            taken = await self._worker.run(
                database.lease_again,
                self.number,
                [*await self._worker.run(database.ids_of, self.number)],
            )
            self.away = False
            self.commits.failure = None
            await self._load(taken)
        log.warning("the database is back: %d accounts go on here", len(taken))
        await self.follow_control()
        await self.refresh()

    def connection_lost(self, error: LedgerUnreachable | LedgerWriteFailed) -> None:
        """Drop every account: what was sent may be stored or not, and the lease cannot be renewed."""
        if not self.away:
            log.warning("%s", error)
        self.away = True
        self.unreachable_reason = str(error) if isinstance(error, LedgerWriteFailed) else AWAY
        self.commits.failure = error
        self._take_after = time.monotonic() + LEASE_SECONDS
        self._drop(list(self.broker.sessions))
        self.commits.drop(list(self._loading), NotExecuted(str(error)))
        self.ledger.close()

    # --- taking and dropping accounts ---

    async def _take(self) -> None:
        while True:
            await asyncio.sleep(TAKE_SECONDS)
            if self.away:
                continue
            try:
                self._nodes, self._all = await self._worker.run(database.counts)
                await self._take_share()
            except (LedgerUnreachable, LedgerWriteFailed) as error:
                self.connection_lost(error)

    async def _take_share(self) -> None:
        """Take free accounts up to this node's share of all, or give up what is above it."""
        share = -(-self._all // max(self._nodes, 1))
        have = len(self.broker.sessions)
        if have > share:
            await self._give_up_accounts(list(self.broker.sessions)[share:])
        elif have < share and time.monotonic() >= self._take_after:
            async with self._taking:
                most = min(share - have, TAKEN_AT_ONCE)
                taken = await self._worker.run(database.lease_free, self.number, most)
                await self._load(taken)

    async def _give_up_accounts(self, ids: Sequence[str]) -> None:
        """Release accounts that have no queued batches, because another node has fewer accounts."""
        ticked = self.commits.ticked
        idle = [id_ for id_ in ids if not self.commits.waits(id_)][:TAKEN_AT_ONCE]
        self._drop(idle)
        await self._worker.run(database.release, self.number, idle, ticked)

    async def _load(self, taken: Sequence[TakenAccount]) -> None:
        await self.loader.load(taken)
        if taken and not self.away:
            await self.refresh()

    def _begin_loading(self, one: TakenAccount) -> None:
        id_ = one.account.id
        self.accounts[id_] = one.account
        self.ledger.fences[id_] = one.fence
        self._requests.pop(id_, None)

    def _lost(self, fences: Fences) -> None:
        """Drop accounts whose batches were refused, and take those again that are still this node's."""
        self._drop(fences)
        task = asyncio.get_running_loop().create_task(self._take_again(list(fences)))
        task.add_done_callback(_log_failure)

    async def _take_again(self, ids: Sequence[str]) -> None:
        async with self._taking:
            if not self.away:
                await self._load(await self._worker.run(database.lease_again, self.number, ids))

    def replace(self, account: LedgerAccount, history: Iterable[Entry]) -> None:
        """Begin an account of this node anew; its streams end, and any node takes it."""
        self.ledger.replace_account(account, history)
        self.watched.end(account.id)
        self._drop([account.id])

    def _drop(self, accounts: Iterable[str]) -> None:
        gone = list(accounts)
        self.commits.drop(gone, NotExecuted("the account is moving to another node"))
        for id_ in gone:
            self._loading.pop(id_, None)
            self.ledger.fences.pop(id_, None)
            self.broker.sessions.pop(id_, None)

    # --- commits ---

    async def _write(
        self, batches: Sequence[LedgerBatch], fences: Fences, requests: Sequence[RequestRecord]
    ) -> set[str]:
        return await self._commit_worker.run(commit_batches, batches, fences, requests)

    def _publish(self, account: str, batch: Sequence[Entry]) -> None:
        session = self.broker.sessions.get(account) or self._loading.get(account)
        if session is None:
            return
        session.publish(batch)
        self.watched.committed_here(session)
        self.loader.note_committed(session)


def _log_failure(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        log.warning("accounts cannot be taken again: %s", error)
