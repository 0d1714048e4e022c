"""The broker: accounts, clock, market and ledger, without HTTP.

Commands and ticks run within one iteration of the event loop: decide, replace the account's state, pass the batch to the
group commit. The state in memory is ahead of the ledger until the batch is committed. Time never goes back, and a command
never runs ahead of a grid point that the accounts have not been ticked at.

Between grid points prices are linear, so their extremes lie on the grid: a step at every grid point misses no trigger.
When the broker slept (it was not running, or the laptop was closed), the missed time is simulated in steps of five
minutes; a trigger in between fills at the price of the next step, as after a short gap in the market.
"""

import asyncio
import contextlib
import json
import logging
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from keydesk_practice.broker.account_session import AccountSession, EndedItems
from keydesk_practice.broker.anonymizer import AnonymizedMarket, Anonymizer
from keydesk_practice.broker.background import CandleWorker, WorkBudget
from keydesk_practice.broker.feeds import MarketAt, PriceBoard, PriceFeed, WithoutLiquidity
from keydesk_practice.broker.market_clock import (
    COARSE_STEP,
    GRID,
    Clock,
    coarse_time_steps,
    end_of_grid_cell,
    time_steps,
)
from keydesk_practice.broker.market_time import LAST_SEEN, ShownTime
from keydesk_practice.broker.snapshots import save_snapshot
from keydesk_practice.engine.commands import Command, Finance, Tick
from keydesk_practice.engine.decide import decision_on
from keydesk_practice.engine.quotes import Market, day_end_after
from keydesk_practice.engine.state.account import OrderPriceLevel
from keydesk_practice.engine.state.apply import apply
from keydesk_practice.engine.state.triggers import observe
from keydesk_practice.engine.transactions import Transaction, to_wire
from keydesk_practice.engine.wire_form import SECOND
from keydesk_practice.errors import LedgerUnreachable, LedgerWriteFailed
from keydesk_practice.ledger.group_commit import GroupCommit
from keydesk_practice.ledger.interface import LedgerInterface
from keydesk_practice.ledger.records import (
    EndedRecord,
    Entry,
    LedgerAccount,
    MarkRecord,
    WireTransaction,
    entry_of,
)
from keydesk_practice.market.practice_market import PracticeMarket
from keydesk_practice.market.shocks import Shock
from keydesk_practice.options import DEFAULT_PRICE_RATE

MAX_TURN_SECONDS = 0.02  # of simulation before the event loop goes on
SLEEP_THRESHOLD = 60 * SECOND  # of wall time without a step
ACCOUNTS_LEFT = "accounts_left"  # the ledger's fact with its accounts at the last stop, for lists
_NOTHING_ENDED = EndedItems((), ())
log = logging.getLogger("keydesk.practice")


class Broker:
    """The accounts, the market's time and prices, and the group commit."""

    def __init__(
        self,
        ledger: LedgerInterface,
        make_market: Callable[[], PracticeMarket],
        clock: Clock,
        since: int,
        *,
        price_rate: float,
        overlay: tuple[Sequence[Shock], Anonymizer | None] = ((), None),
    ) -> None:
        self.ledger = ledger
        self.candles = CandleWorker(make_market)
        self.clock = clock
        self._step_seconds = 1.0 / price_rate
        faster = price_rate > DEFAULT_PRICE_RATE  # for load tests
        self.price_window = 0.0 if faster else self._step_seconds  # least time between two sends
        self._ticked_until = since
        self.market = make_market()
        self.shocks: tuple[Shock, ...] = ()
        self.anonymizer: Anonymizer | None = None
        self.board = PriceBoard(self._overlaid(*overlay), since)
        self.prices = PriceFeed(self.board, every_step=faster)
        self.sessions: dict[str, AccountSession] = {}
        self.earlier_model: int | None = None  # of the market, at the ledger's last start
        self.budget = WorkBudget()
        self.read_lag = 0.0
        self.ledger_number = 0  # how often the ledger was replaced
        self.commits = GroupCommit(ledger, self._publish)
        self._shown_time = ShownTime(ledger)
        self._stepping = asyncio.Lock()

    def add_session(self, session: AccountSession) -> None:
        """Add an account."""
        session.read_lag = self.read_lag
        self.sessions[session.account.id] = session

    def accounts_of(self, owner: int) -> list[LedgerAccount]:
        """Return the accounts that a token opens."""
        accounts = [session.account for session in self.sessions.values()]
        return [account for account in accounts if account.owner == owner]

    def now(self) -> int:
        """Return the market's time."""
        exact = self.clock()
        limit = end_of_grid_cell(self._ticked_until)
        return max(self.board.now, min(exact, limit))

    def execute(
        self, session: AccountSession, command: Command, *, without_liquidity: bool = False
    ) -> list[WireTransaction]:
        """Execute a command and return the transactions it made; they may be shown once they are committed."""
        self.board.set_time(self.now())
        market = WithoutLiquidity(self.board) if without_liquidity else self.board
        return self._execute(session, command, market)

    def _execute(
        self, session: AccountSession, command: Command, market: Market
    ) -> list[WireTransaction]:
        for moment, undone in session.take_undone():  # before anything later
            self._execute(session, undone, self.board.at(moment))
        decision = decision_on(session.state, command, market)
        transactions = [] if decision is None else decision.transactions
        ended = _NOTHING_ENDED if decision is None else session.adopt(decision.account)
        marks = observe(session.state, market) if session.state.orders else ()
        if marks and decision is None:
            session.adopt(session.state.copy())  # the committed one stays as the ledger has it
        for mark in marks:
            apply(session.state, mark)
        batch = [WireTransaction(to_wire(one)) for one in transactions]
        if batch or marks:
            self.commits.add(
                session.account.id,
                _records(batch, transactions, ended, marks),
                partial(session.mark_committed, session.state, ended),
                partial(_drop, session, command if batch else None, market.now, ended),
            )
        return batch

    def _publish(self, account: str, batch: Sequence[Entry]) -> None:
        session = self.sessions[account]
        session.publish(batch)
        if session.committed_id - session.snapshot_id >= self.ledger.snapshot_interval:
            with contextlib.suppress(RuntimeError):  # the loop has ended: `close` saves one
                asyncio.get_running_loop().call_soon(self._save_snapshot, session)

    def _save_snapshot(self, session: AccountSession) -> None:
        """Save a snapshot of the account, unless a batch is still being written.

        A snapshot only makes the next start faster, so a failure is logged and nothing else.
        """
        if session.committed_id == session.snapshot_id:
            return
        if session.state.last_transaction_id != session.committed_id:
            return
        session.snapshot_id = session.committed_id
        try:
            save_snapshot(self.ledger, session.state)
        except (sqlite3.Error, LedgerUnreachable, LedgerWriteFailed) as error:
            log.warning(
                "cannot save a snapshot of %s, the next start takes longer: %s",
                session.account.id,
                error,
            )

    # --- time ---

    def set_read_lag(self, seconds: float) -> None:
        """Let reads of accounts be behind by some seconds, a fault on demand."""
        self.read_lag = seconds
        for session in self.sessions.values():
            session.read_lag = seconds

    def overlay(self, shocks: Sequence[Shock], anonymizer: Anonymizer | None) -> None:
        """Show the market with these shocks and this anonymizer from now on."""
        self.board.replace_market(self._overlaid(shocks, anonymizer))

    def _overlaid(self, shocks: Sequence[Shock], anonymizer: Anonymizer | None) -> MarketAt:
        self.shocks, self.anonymizer = tuple(shocks), anonymizer
        self.market.set_shocks(self.shocks)
        self.candles.overlay(shocks, anonymizer)
        if self.anonymizer is None:
            return self.market.at
        return AnonymizedMarket(self.market, self.anonymizer).at

    def adopt_ledger(
        self,
        ledger: LedgerInterface,
        since: int,
        overlay: tuple[Sequence[Shock], Anonymizer | None] = ((), None),
    ) -> None:
        """Go on with another ledger, without its accounts, from a time; the former one is committed and closed."""
        on_failure = self.commits.on_failure
        self.ledger, self.sessions = ledger, {}
        self.ledger_number += 1
        self.commits = GroupCommit(ledger, self._publish)
        self.commits.on_failure = on_failure
        self._shown_time = ShownTime(ledger)
        self.clock.set(since)
        self._ticked_until = since
        self.board.restart(self._overlaid(*overlay), since)

    def save_state(self) -> None:
        """Commit what waits, and write what the next start reads of this ledger."""
        self.commits.flush()
        for session in self.sessions.values():
            self._save_snapshot(session)
        self._save_last_seen()

    def catch_up(self) -> None:
        """Tick the accounts through the time since the ledger was last used."""
        self._reserve(self.clock())
        for now in self._steps_until(self.clock(), COARSE_STEP):
            self._step(now)
        self.commits.flush()

    async def run(self) -> None:
        """Move the market on, step by step, until cancelled."""
        clock = asyncio.get_running_loop().time
        due = clock()
        while True:
            due = max(due + self._step_seconds, clock() - self._step_seconds)
            await asyncio.sleep(due - clock())
            async with self._stepping:
                until = max(self.clock(), self._ticked_until)
                self._reserve(until)
                slept = until - self._ticked_until > SLEEP_THRESHOLD * self.clock.speed
                await self._simulate(self._steps_until(until, COARSE_STEP if slept else GRID))
            self.prices.publish()

    async def advance(self, until: int, step: int = GRID) -> None:
        """Move the market on to a time, at every multiple of `step` on the way; the clock goes on from there."""
        async with self._stepping:
            self._reserve(until)
            await self._simulate(self._steps_until(until, step))
            self.clock.set(max(until, self._ticked_until))
        self.prices.publish()

    def play(self, speed: float | None = None) -> None:
        """Let the market run on, at another speed if one is given."""
        self.clock.play(speed)
        self._reserve(self.clock())

    def _reserve(self, until: int) -> None:
        """Let the ledger know, before anything of it is shown, how far the market's time goes."""
        if self.clock.running:  # `now` goes on to the end of a cell between two steps
            self._shown_time.reserve(until, end_of_grid_cell(until), self.clock.speed)
        else:
            self._shown_time.settle(until)

    def _steps_until(self, until: int, step: int) -> Iterable[int]:
        """Return the steps to simulate; only the last one when no account has an order or a trade."""
        if not any(session.is_active for session in self.sessions.values()):
            return (until,)
        if step == COARSE_STEP:
            return coarse_time_steps(self._ticked_until, until)
        return time_steps(self._ticked_until, until, step)

    async def _simulate(self, passed: Iterable[int]) -> None:
        clock = asyncio.get_running_loop().time
        began = clock()
        for now in passed:
            self._step(now)
            if clock() - began > MAX_TURN_SECONDS:
                await asyncio.sleep(0)
                began = clock()

    def _step(self, now: int) -> None:
        """Move the market to a time and tick every active account."""
        day_ended = day_end_after(self._ticked_until) <= now
        self._ticked_until = now
        self.board.move_to(now)
        for session in self.sessions.values():
            if session.is_active:
                self._tick(session, day_ended)

    def _tick(self, session: AccountSession, day_ended: bool) -> None:
        try:
            self._execute(session, Tick(), self.board)
            if day_ended:
                self._execute(session, Finance(), self.board)
        except Exception:  # a fault in one account must not stop the market
            log.exception("tick of %s failed", session.account.id)

    def _save_last_seen(self) -> None:
        try:
            self._shown_time.settle(self.now())
            self.ledger.set_fact(LAST_SEEN, str(self.board.now))
            left = [_left(session) for session in self.sessions.values()]
            self.ledger.set_fact(ACCOUNTS_LEFT, json.dumps(left))
        except (sqlite3.Error, LedgerUnreachable, LedgerWriteFailed) as error:
            log.warning("cannot save the time of this stop in the ledger: %s", error)

    @property
    def failed(self) -> bool:
        """Whether the ledger could not be written."""
        return self.commits.failure is not None

    def end_streams(self) -> None:
        """End every stream, so that the server can stop."""
        self.prices.close()
        for session in self.sessions.values():
            session.transactions.close()

    def close(self) -> None:
        """Commit the waiting batches and close the ledger."""
        self.candles.close()
        self.commits.flush()
        if not self.failed:
            for session in self.sessions.values():
                if (
                    session.committed_id - session.snapshot_id
                    >= self.ledger.snapshot_interval // 10
                ):
                    self._save_snapshot(session)
            self._save_last_seen()
        self.ledger.close()


def _left(session: AccountSession) -> dict[str, object]:
    """Return an account as lists of kept ledgers show it."""
    state = session.state
    return {
        "id": state.id,
        "currency": session.account.currency,
        "balance": str(state.balance),
        "open_trades": len(state.trades),
        "pending_orders": len(state.orders),
    }


def _drop(session: AccountSession, command: Command | None, now: int, ended: EndedItems) -> None:
    """Take back a batch that the ledger had no space for.

    What the market caused, such as the fill of an order that a price touched, is done again for its time; without a
    command only marks changed, which follow the next prices.
    """
    session.roll_back(ended)
    if isinstance(command, Tick | Finance):
        session.undone.append((now, command))


def _records(
    batch: Sequence[WireTransaction],
    transactions: Sequence[Transaction],
    ended: EndedItems,
    marks: Sequence[OrderPriceLevel],
) -> Iterator[Entry | EndedRecord | MarkRecord]:
    """Yield the ledger records of a batch, each encoded only when it is taken."""
    created: dict[int, str] = {}
    for wire, transaction in zip(batch, transactions, strict=True):
        entry = entry_of(wire, transaction.time)
        created[entry.id] = entry.body
        yield entry
    yield from ended.records(created)
    yield from (MarkRecord(mark.order_id, mark.level) for mark in marks)
