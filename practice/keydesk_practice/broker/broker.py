"""Opening the broker: its ledger, its market, its clock, and every account as it was; the first start makes accounts.

A ledger belongs to one market: its seed is kept, and its time never goes back. A ledger that is ahead of the clock (it
ran faster, or from a later start) goes on from where it was.

The broker: accounts, market and ledger behind one door, without any HTTP.

Commands and ticks run to their end within one turn of the event loop: decide, take in the account as it is then, hand the
batch to the group commit. The account in memory is ahead of the ledger until the batch is committed.
Time goes forward only, and a command never gets ahead of a grid point that the accounts have not seen yet.
"""

import asyncio
import contextlib
import logging
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import partial
from typing import Any

from keydesk_practice.broker.account_session import AccountDesk, History
from keydesk_practice.broker.background import CandleDesk, Turns
from keydesk_practice.broker.clock import (
    SECOND,
    Clock,
    instants,
    last_before_next_grid_point,
    missed_instants,
)
from keydesk_practice.broker.feeds import PriceBoard, PriceFeed
from keydesk_practice.engine.commands import Command, Finance, OpenAccount, Tick
from keydesk_practice.engine.decide import decide, decision_on
from keydesk_practice.engine.quotes import day_end_after
from keydesk_practice.engine.state.account import Account
from keydesk_practice.engine.state.apply import apply
from keydesk_practice.engine.state.records import Mark
from keydesk_practice.engine.state.triggers import observe
from keydesk_practice.engine.transactions import Transaction, to_wire
from keydesk_practice.errors import LedgerUnavailable
from keydesk_practice.ledger.archive import (
    WORTH_A_SNAPSHOT,
    Ended,
    EndedShelf,
    keep_snapshot,
    new_account,
    restored,
)
from keydesk_practice.ledger.group_commit import GroupCommit
from keydesk_practice.ledger.ledger import (
    EndedRecord,
    Entry,
    Ledger,
    LedgerAccount,
    MarkRecord,
    entry_of,
)
from keydesk_practice.ledger.ledger_file import FILE_NAME, ledger_refusal
from keydesk_practice.market.market import PracticeMarket
from keydesk_practice.market.replay import read_candle_file
from keydesk_practice.options import DEFAULT_PRICE_RATE, Options

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


DEFAULT_SEED = 1
FIRST_USER = 1_000_001
DEPOSIT = Decimal(100_000)


def open_broker(options: Options, owners: int) -> Broker:
    """Open the ledger and bring every account to the present.

    Raises:
        LedgerUnavailable: it is held by another process, or belongs to another market.
        OwnDataUnreadable: a file of candles cannot be used.
    """
    ledger = Ledger.open(options.data)
    try:
        ledger.refuse_damage()
        return _open(options, owners, ledger)
    except sqlite3.Error as error:
        ledger.close()
        raise ledger_refusal(error, options.data / FILE_NAME) from error
    except BaseException:
        ledger.close()
        raise


def _open(options: Options, owners: int, ledger: Ledger) -> Broker:
    seed = _seed(options, ledger)
    own = tuple(read_candle_file(instrument, file) for instrument, file in options.candles)
    last_seen = max(int(ledger.fact(LAST_SEEN) or 0), ledger.last_time())
    asked = time.time_ns() if options.start is None else options.start
    start = max(asked, last_seen)
    clock = Clock(start, options.speed)
    broker = Broker(
        ledger,
        lambda: PracticeMarket(seed, options.hours, own),
        clock,
        since=last_seen or start,
        price_rate=options.price_rate,
    )
    known = {account.id: account for account in ledger.accounts()}
    for account in known.values():
        state = restored(ledger, account)
        _check_instruments(state, broker)
        broker.admit(_desk(broker, account, state))
    asked_for = [one for owner in range(owners) for one in default_accounts(owner, options.fifo)]
    for account in asked_for:
        _check_fifo(account, known.get(account.id, account))
    for account in asked_for:
        if account.id not in known:
            broker.admit(_opened(broker, account))
    broker.catch_up()
    if broker.commits.failure is not None:
        raise broker.commits.failure
    return broker


def _check_instruments(state: Account, broker: Broker) -> None:
    held = {*state.positions, *(order.instrument for order in state.orders.values())}
    for name in sorted(held):
        if broker.board.specification(name) is None:
            raise LedgerUnavailable(
                f"account {state.id} holds {name}, which this market does not offer; "
                f"start with --candles {name}=FILE as before"
            )


def _check_fifo(asked: LedgerAccount, kept: LedgerAccount) -> None:
    if asked.fifo and not kept.fifo:
        raise LedgerUnavailable(
            f"account {kept.id} was opened without --fifo and keeps its rules; "
            "use another --data, or practice reset"
        )


def _seed(options: Options, ledger: Ledger) -> int:
    kept = ledger.fact("seed")
    if kept is None:
        seed = DEFAULT_SEED if options.seed is None else options.seed
        ledger.note("seed", str(seed))
        return seed
    if options.seed not in {None, int(kept)}:
        raise LedgerUnavailable(
            f"this ledger belongs to the market of seed {kept}; use another --data, or practice reset"
        )
    return int(kept)


def default_accounts(owner: int, fifo: bool) -> list[LedgerAccount]:
    """Return the two accounts of a token: US dollars netting, with FIFO rules if asked for; euros hedging."""
    user = FIRST_USER + owner
    return [
        LedgerAccount(f"101-001-{user}-001", owner, "USD", hedging=False, fifo=fifo),
        LedgerAccount(f"101-001-{user}-002", owner, "EUR", hedging=True),
    ]


def _desk(broker: Broker, account: LedgerAccount, state: Account) -> AccountDesk:
    shelf = EndedShelf(broker.ledger, account.id)
    state.ended = shelf
    history = History(broker.ledger, account.id)
    return AccountDesk(account, state, broker.board, shelf, history, state.last_transaction_id)


def _opened(broker: Broker, account: LedgerAccount) -> AccountDesk:
    """Open an account: created, named and funded, all in the ledger before anybody sees it."""
    state = new_account(account)
    alias = (
        "Practice, hedging" if account.hedging else "Practice, FIFO" if account.fifo else "Practice"
    )
    history = decide(state, OpenAccount(alias=alias, deposit=DEPOSIT), broker.board)
    for transaction in history:
        apply(state, transaction)
    entries = [entry_of(to_wire(one), one.time) for one in history]
    broker.ledger.create_account(account, entries)
    return _desk(broker, account, state)
