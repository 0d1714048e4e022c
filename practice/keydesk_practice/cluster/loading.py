"""Loading accounts that were taken: read some at a time, ticked up to the present, those first that a request waits for.

Loading an account applies its transactions, then ticks it through the time since its last tick.
"""

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Iterable, Sequence

from keydesk_practice.broker.account_session import AccountSession
from keydesk_practice.broker.broker import MAX_TURN_SECONDS, SLEEP_THRESHOLD, Broker
from keydesk_practice.broker.clock import GRID, coarse_time_steps, time_steps
from keydesk_practice.broker.feeds import PriceBoard
from keydesk_practice.broker.snapshots import encoded_snapshot, restored_state, state_format
from keydesk_practice.broker.startup import restored_session, session_of
from keydesk_practice.cluster.clock import ClusterClock
from keydesk_practice.cluster.database import TakenAccount
from keydesk_practice.cluster.database_threads import DatabaseWorker
from keydesk_practice.cluster.watched_accounts import WatchedAccounts
from keydesk_practice.engine.quotes import day_end_after
from keydesk_practice.errors import LedgerUnreachable, LedgerWriteFailed
from keydesk_practice.ledger.postgres import PostgresLedger
from keydesk_practice.ledger.postgres_accounts import Snapshot, read_accounts, save_snapshots
from keydesk_practice.ledger.records import StoredAccount

LOADED_AT_ONCE = 16
SNAPSHOT_AFTER = 100  # transactions that the next node need not read again
SNAPSHOT_SECONDS = 1.0  # between two savings of snapshots, and after a loading
RETRY_SECONDS = 30.0  # until an account is loaded again that could not be
log = logging.getLogger("keydesk.practice.cluster")


class AccountLoader:
    """Makes the accounts that a node has taken ready to be served, and keeps their snapshots new."""

    def __init__(
        self,
        broker: Broker,
        ledger: PostgresLedger,
        watched: WatchedAccounts,
        clock: ClusterClock,
        *,
        begin: Callable[[TakenAccount], None],
        is_away: Callable[[], bool],
    ) -> None:
        self._broker = broker
        self._ledger = ledger
        self._watched = watched
        self._clock = clock
        self._begin = begin
        self._is_away = is_away
        self._loading = watched.loading
        self._arriving: dict[str, asyncio.Event] = {}  # taken, and not served yet
        self._awaited: set[str] = set()  # of them: a request waits for it
        self._unloadable: dict[str, float] = {}  # accounts, and when each is tried again
        self._old: set[str] = set()  # accounts whose snapshot is due
        self._worker = DatabaseWorker(ledger.text, "load")

    def close(self) -> None:
        """End the thread."""
        self._worker.close()

    async def load(self, taken: Sequence[TakenAccount]) -> None:
        """Restore accounts that were taken and tick them up to the present, some at a time: the first are served early."""
        waiting = list(taken)
        self._arriving |= {one.account.id: asyncio.Event() for one in taken}
        try:
            while waiting and not self._is_away():
                waiting.sort(key=lambda one: one.account.id not in self._awaited)
                some, waiting = waiting[:LOADED_AT_ONCE], waiting[LOADED_AT_ONCE:]
                await self._load_some(some)
                self._arrived(some)
        finally:
            self._arrived(taken)

    async def wait_for(self, account: str, seconds: float) -> None:
        """Return when an account that is being loaded is served, or after some seconds; it is loaded before others."""
        arrived = self._arriving.get(account)
        if arrived is None:
            return
        self._awaited.add(account)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await arrived.wait()

    def is_unloadable(self, account: str) -> bool:
        """Return whether an account could not be loaded a short time ago; the log says why."""
        return time.monotonic() < self._unloadable.get(account, 0.0)

    def _arrived(self, taken: Iterable[TakenAccount]) -> None:
        """Let the requests go on that wait for accounts."""
        for one in taken:
            self._awaited.discard(one.account.id)
            if arrived := self._arriving.pop(one.account.id, None):
                arrived.set()

    async def _load_some(self, taken: Sequence[TakenAccount]) -> None:
        ids = [one.account.id for one in taken]
        accounts = await self._worker.run(read_accounts, ids, state_format())
        if self._is_away():
            return
        restored: list[tuple[AccountSession, int]] = []
        latest = 0  # time of the newest transaction of all: the market of another node may have been ahead
        for one in taken:
            id_ = one.account.id
            self._begin(one)
            try:
                session, last_time = self._restored(one, accounts.get(id_))
            except LedgerWriteFailed as error:  # lost again already
                log.warning("%s", error)
                continue
            except LedgerUnreachable:
                raise
            except Exception:  # the other accounts go on without it
                log.exception("account %s cannot be loaded, and is tried again later", id_)
                self._unloadable[id_] = time.monotonic() + RETRY_SECONDS
                continue
            self._loading[id_] = session
            self._watched.join(session)
            restored.append((session, max(one.ticked, last_time)))
            latest = max(latest, last_time)
            await asyncio.sleep(0)
        self._clock.at_least(latest)
        try:
            await self._broker.reach(latest)
            await catch_up(self._broker, restored)
            for session, _ in restored:
                id_ = session.account.id
                if self._loading.get(id_) is session and not self._is_away():
                    self._broker.add_session(session)
                    self.note_committed(session)
        finally:
            for session, _ in restored:
                self._loading.pop(session.account.id, None)

    def _restored(
        self, one: TakenAccount, stored: StoredAccount | None
    ) -> tuple[AccountSession, int]:
        """Return the session of an account, and the time of its newest transaction."""
        state = None if stored is None else restored_state(self._ledger, one.account, stored)
        if stored is None or state is None:  # a long history, or one of an older format
            session = restored_session(self._broker, one.account)
            last_time = self._ledger.time_of(one.account.id, session.committed_id)
            return session, last_time or 0
        session = session_of(self._broker, one.account, state)
        session.snapshot_id = stored.snapshot_id
        return session, stored.last_time

    # --- snapshots ---

    def note_committed(self, session: AccountSession) -> None:
        """Save a snapshot of an account soon, when the newest one is old."""
        if not session.snapshot_id or session.committed_id - session.snapshot_id >= SNAPSHOT_AFTER:
            self._old.add(session.account.id)

    async def keep_snapshots(self) -> None:
        """Save the snapshots that are due, until cancelled; not while accounts are loaded, which is more urgent."""
        while True:
            await asyncio.sleep(SNAPSHOT_SECONDS)
            if not self._arriving and not self._is_away():
                await self._save_old()

    async def _save_old(self) -> None:
        due, self._old = self._old, set()
        snapshots: list[Snapshot] = []
        for id_ in due:
            session = self._broker.sessions.get(id_)
            if session is None:
                continue
            if session.state.last_transaction_id != session.committed_id:
                self._old.add(id_)  # while a batch is written
                continue
            state = session.state
            text = encoded_snapshot(state)
            snapshots.append(
                Snapshot(id_, session.committed_id, state_format(), text, list(state.orders))
            )
            session.snapshot_id = session.committed_id
            await asyncio.sleep(0)
        if not snapshots:
            return
        try:
            await self._worker.run(save_snapshots, snapshots, dict(self._ledger.fences))
        except (LedgerUnreachable, LedgerWriteFailed) as error:
            log.warning("snapshots cannot be saved, the next loading takes longer: %s", error)


async def catch_up(broker: Broker, taken: Sequence[tuple[AccountSession, int]]) -> None:
    """Tick accounts from their last tick until the broker's present time, which moves on meanwhile.

    On return no iteration of the event loop has passed since the last look at the broker's time.
    """
    if not taken:
        return
    seen = min(ticked for _, ticked in taken)
    market = broker.market_at
    while seen < (until := broker.ticked_until):
        board = PriceBoard(market, seen)
        await _tick_through(broker, board, taken, until)
        seen = until


async def _tick_through(
    broker: Broker, board: PriceBoard, taken: Sequence[tuple[AccountSession, int]], until: int
) -> None:
    clock = asyncio.get_running_loop().time
    began, seen = clock(), board.now
    slept = until - seen > SLEEP_THRESHOLD * max(broker.clock.speed, 1)
    active = [(session, ticked) for session, ticked in taken if session.is_active]
    steps = coarse_time_steps(seen, until) if slept else time_steps(seen, until, GRID)
    for now in steps if active else (until,):
        day_ended = day_end_after(seen) <= now
        board.move_to(now)
        for session, ticked in active:
            if ticked < now:
                broker.tick_at(session, board, day_ended=day_ended)
        seen = now
        if clock() - began > MAX_TURN_SECONDS:
            await asyncio.sleep(0)
            began = clock()
