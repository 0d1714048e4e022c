"""The broker: accounts, market and ledger behind one door, without any HTTP.

Commands and ticks run to their end within one turn of the event loop: decide, take in the account as it is then, hand the
batch to the group commit. The account in memory is ahead of the ledger until the batch is committed.
Time goes forward only, and a command never gets ahead of a grid point that the accounts have not seen yet.
"""

import asyncio
import contextlib
import logging
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from keydesk_practice.broker.board import PriceBoard
from keydesk_practice.broker.candle_desk import CandleDesk
from keydesk_practice.broker.clock import Clock
from keydesk_practice.broker.desks import AccountDesk
from keydesk_practice.broker.price_feed import PriceFeed
from keydesk_practice.broker.turns import Turns
from keydesk_practice.broker.walking import (
    SECOND,
    instants,
    last_before_next_grid_point,
    missed_instants,
)
from keydesk_practice.engine.commands import Command, Finance, Tick
from keydesk_practice.engine.decide import decision_on
from keydesk_practice.engine.moments import day_end_after
from keydesk_practice.engine.state.apply import apply
from keydesk_practice.engine.state.records import Mark
from keydesk_practice.engine.state.triggers import observe
from keydesk_practice.engine.transactions import Transaction, to_wire
from keydesk_practice.ledger.ended_shelf import Ended
from keydesk_practice.ledger.group_commit import GroupCommit
from keydesk_practice.ledger.ledger import (
    EndedRecord,
    Entry,
    Ledger,
    LedgerAccount,
    MarkRecord,
    entry_of,
)
from keydesk_practice.ledger.restoring import WORTH_A_SNAPSHOT, keep_snapshot
from keydesk_practice.market.market import PracticeMarket
from keydesk_practice.options import DEFAULT_PRICE_RATE

LONGEST_TURN = 0.02  # seconds of walking before others get their turn
ASLEEP_AFTER = 60 * SECOND  # of wall time without a step
LAST_SEEN = "last_seen"  # the fact under which the ledger keeps how far the accounts have come
_NOTHING = Ended((), ())
log = logging.getLogger("keydesk.practice")


class Broker:
    """The shell around the engine: it owns the clock, the ledger and the subscribers."""

    def __init__(
        self,
        ledger: Ledger,
        make_market: Callable[[], PracticeMarket],
        clock: Clock,
        since: int,
        price_rate: float,
    ) -> None:
        self.ledger = ledger
        self.candles = CandleDesk(make_market)
        self._clock = clock
        self._step_seconds = 1.0 / price_rate
        faster = price_rate > DEFAULT_PRICE_RATE  # for load tests
        self.price_window = 0.0 if faster else self._step_seconds  # of a reader
        self._walked = since
        self.board = PriceBoard(make_market().at, since)
        self.prices = PriceFeed(self.board, every_step=faster)
        self.desks: dict[str, AccountDesk] = {}
        self.turns = Turns()
        self.commits = GroupCommit(ledger, self._publish)

    # --- accounts ---

    def admit(self, desk: AccountDesk) -> None:
        """Take in an account."""
        self.desks[desk.account.id] = desk

    def accounts_of(self, owner: int) -> list[LedgerAccount]:
        """Return the accounts that a token opens."""
        return [desk.account for desk in self.desks.values() if desk.account.owner == owner]

    # --- commands ---

    def now(self) -> int:
        """Return the market's time."""
        exact = self._clock()
        limit = last_before_next_grid_point(self._walked)
        return max(self.board.now, min(exact, limit))

    def execute(self, desk: AccountDesk, command: Command) -> list[dict[str, Any]]:
        """Carry out a command and return the transactions it made; answer only once they are settled."""
        self.board.stand_at(self.now())
        return self._carry_out(desk, command)

    async def settled(self, account: str | None = None) -> None:
        """Return when all that was decided so far, of one account or of all, is on disk; raises `LedgerWriteFailed`."""
        await self.commits.settled(account)

    async def readable(self, account: str) -> None:
        """Return when an account may be read as it is on disk, with what was decided just before.

        Raises:
            LedgerWriteFailed: the disk refused, now or earlier.
        """
        await self.commits.passed_a_turn(account)

    def _carry_out(self, desk: AccountDesk, command: Command) -> list[dict[str, Any]]:
        decision = decision_on(desk.state, command, self.board)
        transactions = [] if decision is None else decision.transactions
        ended = _NOTHING if decision is None else desk.adopt(decision.account)
        marks = observe(desk.state, self.board)
        for mark in marks:
            apply(desk.state, mark)
        batch = [to_wire(transaction) for transaction in transactions]
        if batch or marks:
            self.commits.add(
                desk.account.id,
                _records(batch, transactions, ended, marks),
                partial(desk.note_written, desk.state, ended),
            )
        return batch

    def _publish(self, account: str, batch: Sequence[Entry]) -> None:
        desk = self.desks[account]
        desk.publish(batch)
        if desk.committed_id - desk.snapshot_id >= WORTH_A_SNAPSHOT:
            with contextlib.suppress(RuntimeError):  # no loop any more: `close` keeps one
                asyncio.get_running_loop().call_soon(self._keep_snapshot, desk)

    def _keep_snapshot(self, desk: AccountDesk) -> None:
        """Note the account, unless more is on its way to the ledger: a snapshot holds what is there.

        It only makes the next start quicker; a disk that has no room for it stops nothing.
        """
        if desk.committed_id == desk.snapshot_id:
            return
        if desk.state.last_transaction_id != desk.committed_id:
            return
        desk.snapshot_id = desk.committed_id
        try:
            keep_snapshot(self.ledger, desk.state)
        except sqlite3.Error as error:
            log.warning("no snapshot of %s was kept: %s", desk.account.id, error)

    # --- time ---

    def catch_up(self) -> None:
        """Let the accounts see what the market did while the broker was away."""
        for instant in self._instants_until(self._clock(), slept=True):
            self._step(instant)
        self.commits.flush()

    async def run(self) -> None:
        """Let the market go on, step by step, until cancelled."""
        clock = asyncio.get_running_loop().time
        due = clock()
        while True:
            due = max(due + self._step_seconds, clock() - self._step_seconds)
            await asyncio.sleep(due - clock())
            until = self._clock()
            slept = until - self._walked > ASLEEP_AFTER * self._clock.speed
            await self._walk(self._instants_until(until, slept))
            self.prices.publish()

    def _instants_until(self, until: int, slept: bool) -> Iterable[int]:
        """Return what there is to look at; between two looks nobody has to look when nobody holds anything."""
        if not any(desk.is_active for desk in self.desks.values()):
            return (until,)
        return (missed_instants if slept else instants)(self._walked, until)

    async def _walk(self, passed: Iterable[int]) -> None:
        clock = asyncio.get_running_loop().time
        began = clock()
        for instant in passed:
            self._step(instant)
            if clock() - began > LONGEST_TURN:
                await asyncio.sleep(0)
                began = clock()

    def _step(self, instant: int) -> None:
        """Move the market to an instant and let every account that prices can touch see it."""
        day_ended = day_end_after(self._walked) <= instant
        self._walked = instant
        self.board.move_to(instant)
        for desk in self.desks.values():
            if desk.is_active:
                self._tick(desk, day_ended)

    def _tick(self, desk: AccountDesk, day_ended: bool) -> None:
        try:
            self._carry_out(desk, Tick())
            if day_ended:
                self._carry_out(desk, Finance())
        except Exception:  # one account's fault must not stop the market for the others
            log.exception("tick of %s failed", desk.account.id)

    # --- the end ---

    def _note_last_seen(self) -> None:
        try:
            self.ledger.note(LAST_SEEN, str(self.board.now))
        except sqlite3.Error as error:
            log.warning("the ledger could not note when the broker stopped: %s", error)

    @property
    def failed(self) -> bool:
        """Whether the ledger could not be written."""
        return self.commits.failure is not None

    def end_streams(self) -> None:
        """End every stream, so that the server can leave."""
        self.prices.close()
        for desk in self.desks.values():
            desk.listeners.close()

    def close(self) -> None:
        """Write what waits and give the ledger back."""
        self.candles.close()
        self.commits.flush()
        if not self.failed:
            for desk in self.desks.values():
                if desk.committed_id - desk.snapshot_id >= WORTH_A_SNAPSHOT // 10:
                    self._keep_snapshot(desk)
            self._note_last_seen()
        self.ledger.close()


def _records(
    batch: Sequence[Mapping[str, Any]],
    transactions: Sequence[Transaction],
    ended: Ended,
    marks: Sequence[Mark],
) -> Iterator[Entry | EndedRecord | MarkRecord]:
    """Return what the ledger keeps of a batch, each record encoded when it is asked for."""
    for wire, transaction in zip(batch, transactions, strict=True):
        yield entry_of(wire, transaction.time)
    yield from ended.records()
    yield from (MarkRecord(mark.order_id, mark.level) for mark in marks)
