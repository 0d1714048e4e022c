"""Carry out the exit plans of the account's trades while the desk runs: move stops nearer to the price, close in time.

Every action goes through the order protocol, as the exits of the trader do. For a trade there is one action at a time: the
next one waits until the outcome of the last is known, and until no other command of the instrument is under way or
unconfirmed. What is to be done follows from the trade at the broker and the price alone, so that nothing is done twice
after a restart. Of several desks on this machine one acts: the one that holds the lock file beside their records.
"""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from decimal import Decimal
from pathlib import Path

from msgspec import Struct, field

from keydesk.calc.orders.instructions import SetProtection
from keydesk.calc.orders.plans.exit_plans import (
    ExitPlan,
    PlanStep,
    is_due,
    next_step,
    with_break_even_done,
)
from keydesk.records.desk_records import DeskRecords
from keydesk.store.risk import costs_until_closed
from keydesk.store.state import Topic
from keydesk.store.store import Store
from keydesk.store.trading_context import factors_of
from keydesk.store.unknown import are_trades_known
from keydesk.text.format import pair
from keydesk.text.sanitize import clean
from keydesk.trading.commands import Commands
from keydesk.trading.exit_plan_keeper import ExitPlanKeeper
from keydesk.values import Command, TradeRow
from keydesk.words.outcomes import Level
from keydesk_client.account.values import READ_ERRORS
from keydesk_client.arithmetic.profit import closing_price
from keydesk_client.arithmetic.risk import break_even_stop
from keydesk_client.auth.private_files import release_lock, try_lock
from keydesk_client.errors import KeydeskClientError
from keydesk_client.orders.outcome import Done, NotSent, OrderResult, Outcome, Rejected

CHECK_INTERVAL = 0.25  # seconds
LOCK_EVERY = 1.0  # seconds between tries to become the desk that acts
GONE_FOR = 10.0  # seconds that a trade is missing before its plan ends: a snapshot may be under way
AGAIN_AFTER = (15.0, 30.0, 60.0, 120.0, 300.0)  # seconds to the next try after a rejection
PREFIX = "EXIT PLAN "
NO_TRADE = "the practice market was replaced, without its trade"
OTHER_TRADE = "the practice market was replaced: its number is another trade's now"


class _Attempts(Struct):
    """Actions of one trade that failed one after another."""

    count: int = 0
    again_at: float = float("-inf")
    reason: str = ""  # why it waits, as last reported


class ExitPlans(Struct):
    """The exit plans of one account; `run` carries them out until it is cancelled."""

    commands: Commands
    keeper: ExitPlanKeeper
    now: Callable[[], float]
    _lock_path: Path | None = None
    _lock: int | None = None
    _lock_tried: float = float("-inf")
    _busy: set[str] = field(default_factory=set)
    _attempts: dict[str, _Attempts] = field(default_factory=dict)
    _missing: dict[str, float] = field(default_factory=dict)  # since when a trade is not there
    _looked_up: bool = False  # what became of orders that were sent by an earlier desk

    def open(self, records: DeskRecords) -> None:
        """Use these records, and try to become the desk that acts."""
        self.keeper.open(records)
        self._lock_path = records.path.with_suffix(".exit-plans.acting")

    @property
    def is_acting(self) -> bool:
        """Whether this desk is the one that carries the plans out."""
        return self._lock is not None

    def close(self) -> None:
        """Let another desk act."""
        if self._lock is not None and self._lock_path is not None:
            release_lock(self._lock_path, self._lock)
            self._lock = None

    async def run(self) -> None:
        """Look at price and time four times a second, and act; each action is a task of its own."""
        async with asyncio.TaskGroup() as group:
            while True:
                if not self._looked_up and not self.commands.is_recovering:
                    await self._look_up_expected()
                for trade_id, step in self.check():
                    self._busy.add(trade_id)
                    group.create_task(self._act(trade_id, step), name=f"exit plan {trade_id}")
                await asyncio.sleep(CHECK_INTERVAL)

    # Looking, four times a second.

    def check(self) -> list[tuple[str, PlanStep]]:
        """Return what is to be done now, at most one step for each trade."""
        if self._lock_path is None or self._store.account is None:
            return []
        self.keeper.read_again(self.now())
        acts = self._may_act()
        self.keeper.set_up_opened(self.now())
        self._end_closed()
        states = {id_: self._state_of(id_, plan, acts=acts) for id_, plan in self._plans.items()}
        self._show({id_: text for id_, (text, _) in states.items()})
        return [(id_, step) for id_, (_, step) in states.items() if step is not None]

    def _may_act(self) -> bool:
        """Return whether this desk acts: it holds the lock, and may send."""
        now = self.now()
        if self._lock is None and self._lock_path and now - self._lock_tried >= LOCK_EVERY:
            self._lock_tried = now
            with suppress(OSError):
                self._lock = try_lock(self._lock_path)
        return self._lock is not None

    def _state_of(
        self, trade_id: str, plan: ExitPlan, *, acts: bool
    ) -> tuple[str, PlanStep | None]:
        """Return the state of a plan in words, "" while it simply runs, and what it does now."""
        trade = self._store.trades.get(trade_id)
        if (idle := self._why_idle(trade, plan, acts=acts)) or trade is None:
            return idle, None
        step, attempts = self._step(plan, trade), self._attempts.get(trade_id, _Attempts())
        if step is not None and (obstacle := self._obstacle(trade)):
            return self._waiting(trade_id, step, obstacle), None
        if step is None or self.now() < attempts.again_at:
            return attempts.reason, None
        return "acting", step

    def _why_idle(self, trade: TradeRow | None, plan: ExitPlan, *, acts: bool) -> str:
        """Return why a plan is not looked at now, "" if it is."""
        if not acts:
            return "another desk on this account carries it out"
        if self._store.arming.level == "READ-ONLY":
            return "READ-ONLY: it does nothing"
        if trade is None or trade.instrument not in self._store.quotes:
            return "waits for a price"
        if trade.id in self._busy:
            return "acting"
        if self._store.health.unchecked:
            return "waits: the account is being read again"
        stale = self._store.health.prices in {"STALE", "DOWN"}
        return "waits: prices are stale" if stale and not is_due(plan, self._store.clock_ns) else ""

    def _obstacle(self, trade: TradeRow) -> Command | str | None:
        """Return what prevents sending for the trade now: a command in flight, or another reason; None if nothing does."""
        if self.commands.is_recovering:
            return "an earlier session's orders are being looked up"
        for each in self._store.in_flight_of(trade.instrument):
            if each.kind != "open":
                return each
        quote = self._store.quotes[trade.instrument]
        return None if quote.tradeable else "the market is halted or closed"

    def _waiting(self, trade_id: str, step: PlanStep, obstacle: Command | str) -> str:
        """Return what waits and why; it is reported once for a time stop, and of what waits for an unconfirmed command."""
        attempts = self._attempts.setdefault(trade_id, _Attempts())
        unconfirmed = isinstance(obstacle, Command) and obstacle.state == "unconfirmed"
        why = obstacle.line if isinstance(obstacle, Command) else obstacle
        text = f"{step.kind} waits: {why}"
        if (unconfirmed or step.kind == "time stop") and attempts.reason != text:
            self._tell("bad" if unconfirmed else "warn", f"{PREFIX}#{trade_id}: {text}")
            self._record(f"#{trade_id}: {text}")
        attempts.reason = text
        return text

    def _step(self, plan: ExitPlan, trade: TradeRow) -> PlanStep | None:
        known, quote = (
            self._store.instruments.get(trade.instrument),
            self._store.quotes[trade.instrument],
        )
        if is_due(plan, self._store.clock_ns):
            return PlanStep("time stop")
        break_even = self._break_even(plan, trade)
        if known is None or break_even is None:
            return None
        done = with_break_even_done(plan, trade, break_even)
        if done != plan:
            self.keeper.change(lambda plan_set: plan_set.with_plan(trade.id, done))
        least = known.minimum_guaranteed_stop_loss_distance if trade.guaranteed_stop else None
        return next_step(
            done,
            trade,
            close=closing_price(trade.units, quote.bid, quote.ask),
            break_even=break_even,
            precision=known.display_precision,
            now_ns=self._store.clock_ns,
            room=least or Decimal(0),
        )

    def _break_even(self, plan: ExitPlan, trade: TradeRow) -> Decimal | None:
        known, factors = (
            self._store.instruments.get(trade.instrument),
            factors_of(self._store, trade.instrument),
        )
        if known is None or factors is None:
            return None
        return break_even_stop(
            entry=trade.price,
            units=trade.units,
            costs=costs_until_closed(self._store, trade),
            factors=factors,
            precision=known.display_precision,
            offset=plan.break_even_offset,
        )

    # Acting.

    async def _act(self, trade_id: str, step: PlanStep) -> None:
        """Send what a plan does now, and note a failure; the trade stays busy until its outcome is known."""
        try:
            trade = self._store.trades[trade_id]
            self._record(text := self._decision_text(trade, step))
            if step.stop is None:  # the report of the fill says what was closed, not why
                self._tell("warn", f"{PREFIX}{text}")
            outcome = await self._send(trade, step)
            self._note(trade_id, step, outcome)
        except Exception as error:  # noqa: BLE001 - the edge of a task: the trader is told
            self._failed(trade_id, step, clean(f"{type(error).__name__}: {error}"))
        finally:
            self._busy.discard(trade_id)

    async def _send(self, trade: TradeRow, step: PlanStep) -> Outcome:
        if step.stop is None:
            return await self.commands.exits.close_trade(
                trade.id, trade.instrument, None, f"{PREFIX}time stop: "
            )
        change = SetProtection(trade.id, trade.instrument, stop=step.stop)
        if step.guaranteed:
            change = SetProtection(trade.id, trade.instrument, guaranteed=step.stop)
        return await self.commands.exits.protect(change, f"{PREFIX}{step.kind}: ")

    def _note(self, trade_id: str, step: PlanStep, outcome: Outcome) -> None:
        match outcome:
            case Done(result=OrderResult.CANCELLED):
                self._failed(trade_id, step, "the broker cancelled it")
            case Done():
                self._attempts.pop(trade_id, None)
            case Rejected() if trade_id not in self._store.trades:
                self._attempts.pop(trade_id, None)  # closed meanwhile
            case Rejected():
                code = outcome.reject_reason or outcome.error_code or outcome.message
                self._failed(trade_id, step, f"rejected ({clean(str(code))})")
            case NotSent():
                self._failed(trade_id, step, f"not sent ({clean(outcome.message)})")
            case _:
                pass  # unconfirmed: it is in flight, and the next action waits for it

    def _failed(self, trade_id: str, step: PlanStep, why: str) -> None:
        attempts = self._attempts.setdefault(trade_id, _Attempts())
        pause = AGAIN_AFTER[min(attempts.count, len(AGAIN_AFTER) - 1)]
        attempts.count += 1
        attempts.again_at = self.now() + pause
        attempts.reason = f"{step.kind} {why}; again in {pause:.0f} s"
        self._record(f"#{trade_id}: {attempts.reason}")
        self._tell("bad", f"{PREFIX}#{trade_id}: {attempts.reason}")

    def _decision_text(self, trade: TradeRow, step: PlanStep) -> str:
        quote = self._store.quotes[trade.instrument]
        price = closing_price(trade.units, quote.bid, quote.ask)
        what = "closes it" if step.stop is None else f"moves the stop to {step.stop}"
        return f"#{trade.id} {pair(trade.instrument)}: {step.kind} {what}, the price is {price}"

    # The end of plans.

    def _end_closed(self) -> None:
        if not are_trades_known(self._store):
            return  # a trade that is not listed may be open all the same
        now = self.now()
        for trade_id, plan in list(self._plans.items()):
            trade = self._store.trades.get(trade_id)
            if trade is not None and _is_of(trade, plan):
                self._missing.pop(trade_id, None)
            elif trade is not None:
                self._attempts.pop(trade_id, None)
                self.keeper.end(trade_id, OTHER_TRADE)
                self._tell("warn", f"{PREFIX}#{trade_id}: ended, {OTHER_TRADE}")
            elif now - self._missing.setdefault(trade_id, now) >= GONE_FOR:
                del self._missing[trade_id]
                self._attempts.pop(trade_id, None)
                self.keeper.end(trade_id)

    def restart_market(self) -> None:
        """Take the plans of the account of another market, and end those whose trade it has not: a later one may get its number."""
        self.keeper.restart_market()
        if not are_trades_known(self._store):
            return
        for trade_id in self._plans.keys() - self._store.trades.keys():
            self._missing.pop(trade_id, None)
            self._attempts.pop(trade_id, None)
            self.keeper.end(trade_id, NO_TRADE)
            self._tell("warn", f"{PREFIX}#{trade_id}: ended, {NO_TRADE}")

    async def _look_up_expected(self) -> None:
        """Find what became of orders with rules that an earlier desk sent."""
        if self._store.account is None:
            return
        self.keeper.read_again(self.now())
        unconfirmed = {each.id for each in self.commands.sender.unconfirmed()}
        try:
            await self.keeper.look_up(self.commands.client, unconfirmed)
        except (KeydeskClientError, *READ_ERRORS):
            return  # with the next look
        self._looked_up = True

    @property
    def _store(self) -> Store:
        return self.commands.store

    @property
    def _plans(self) -> Mapping[str, ExitPlan]:
        return self.keeper.plans

    def _show(self, states: Mapping[str, str]) -> None:
        if self._store.exit_plan_states != states:
            self._store.exit_plan_states = dict(states)
            self._store.mark(Topic.TRADES)

    def _record(self, text: str) -> None:
        self.keeper.record(text)

    def _tell(self, level: Level, text: str) -> None:
        self.commands.dispatcher.notify(level, text)


def _is_of(trade: TradeRow, plan: ExitPlan) -> bool:
    """Return whether a plan is that of the trade, not of one that had its number in another ledger."""
    return plan.opened_ns is None or plan.opened_ns == trade.open_time_ns
