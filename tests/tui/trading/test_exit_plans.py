"""When an exit plan acts and when it waits: halted markets, stale prices, commands under way, rejections, READ-ONLY."""

import asyncio
import sqlite3
from contextlib import closing
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any, Self

import pytest

from keydesk.calc.daily_loss import LossLock
from keydesk.calc.orders.instructions import SetExitPlan, SetProtection
from keydesk.calc.orders.plans.exit_plans import ExitPlan
from keydesk.records.desk_records import DeskRecords
from keydesk.store.state import Arming
from keydesk.store.store import Store
from keydesk.trading.dispatcher import Dispatcher
from keydesk.trading.exit_plan_keeper import ExitPlanKeeper
from keydesk.trading.exit_plans import AGAIN_AFTER, ExitPlans
from keydesk.values import Command, DependentOrder
from keydesk_client.orders.outcome import (
    Action,
    Done,
    Intent,
    NotSent,
    OrderResult,
    Outcome,
    Rejected,
    Unconfirmed,
)
from support.data.desk_store import example_store
from support.fakes.recording_gate import RecordingGate

D = Decimal
PIP = D("0.0001")
TRADE = "6411"  # long from 1.08440 with its stop at 1.08200; the bid is 1.08490
EVEN = ExitPlan(break_even_after=4 * PIP)
LATE = ExitPlan(close_at_ns=1)


@dataclass
class Broker:
    """Takes the commands of the plans and answers as it is told."""

    dispatcher: Dispatcher
    outcome: type[Outcome] = Done
    is_recovering: bool = False
    sent: list[object] = field(default_factory=list)
    closed_elsewhere: bool = False  # while the close is under way

    @property
    def store(self) -> Store:
        return self.dispatcher.store

    @property
    def exits(self) -> Self:
        return self

    async def protect(self, change: SetProtection, prefix: str = "") -> Outcome:
        self.sent.append(change)
        if self.outcome is Done:
            order = self.store.trades[TRADE].stop_loss
            assert order is not None
            assert isinstance(change.stop, Decimal)
            order.price = change.stop
        return self._answer(prefix)

    async def close_trade(
        self, trade_id: str, instrument: str, part: Decimal | None, prefix: str = ""
    ) -> Outcome:
        self.sent.append((trade_id, instrument, part))
        if self.closed_elsewhere:
            del self.store.trades[trade_id]
        return self._answer(prefix)

    def _answer(self, prefix: str) -> Outcome:
        assert prefix.startswith("EXIT PLAN ")
        intent = Intent("kd-1", Action.SET_DEPENDENT_ORDERS, 1, 1, None, TRADE, {})
        if self.outcome is Rejected:
            return Rejected(intent, "no", "400", "STOP_LOSS_ORDER_PRICE_INVALID")
        if self.outcome is NotSent:
            return NotSent(intent, "no connection")
        if self.outcome is Unconfirmed:
            self.store.set_in_flight(
                Command(
                    "stop of #6411",
                    id="kd-1",
                    instrument="EUR_USD",
                    kind="protection",
                    state="unconfirmed",
                )
            )
            return Unconfirmed(intent, "not found")
        return Done(intent, OrderResult.APPLIED)


class Desk:
    """The plans of one desk, without a loop: `looks` is one look and what it does."""

    def __init__(self, folder: Path, store: Store | None = None) -> None:
        self.store = store or example_store()
        self.store.health.prices = "OK"
        self.store.clock_ns = 1_000
        self.seconds = 100.0
        dispatcher = Dispatcher(self.store, RecordingGate(), now=lambda: self.seconds)
        self.broker = Broker(dispatcher)
        commands: Any = self.broker
        self.keeper = ExitPlanKeeper(dispatcher)
        self.plans = ExitPlans(commands, self.keeper, lambda: self.seconds)
        self.plans.open(DeskRecords.of(folder, "account"))

    def has(self, plan: ExitPlan | None) -> "Desk":
        self.keeper.update_plan(SetExitPlan(TRADE, "EUR_USD", plan))
        return self

    def looks(self, later: float = 1.0) -> list[object]:
        """Return what was sent by a look."""
        self.seconds += later
        before = len(self.broker.sent)

        async def act() -> None:
            for trade_id, step in self.plans.check():
                await self.plans._act(trade_id, step)

        asyncio.run(act())
        return self.broker.sent[before:]

    @property
    def state(self) -> str:
        return self.store.exit_plan_states[TRADE]

    @property
    def said(self) -> list[str]:
        return [str(notice.text) for notice in self.store.notices]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    tmp_path.chmod(0o700)
    return Desk(tmp_path)


MOVED = SetProtection(TRADE, "EUR_USD", stop=D("1.08443"))  # financing of -0.41 is earned back


def test_a_plan_acts_once(desk: Desk) -> None:
    assert desk.has(EVEN).looks() == [MOVED]
    assert [desk.looks() for _ in range(3)] == [[], [], []]
    assert desk.store.exit_plans[TRADE].break_even_done
    assert desk.state == ""


def test_the_trader_is_told_what_a_plan_is_and_that_it_needs_the_desk(desk: Desk) -> None:
    desk.has(EVEN)
    assert desk.said[-1] == (
        "EXIT PLAN of #6411 EUR/USD set: break-even at +4.0p. It runs while Keydesk runs"
    )
    desk.has(None)
    assert "removed; stop and target stay" in desk.said[-1]
    assert desk.looks() == []


def test_a_plan_for_a_trade_that_is_closed_is_refused_in_words(desk: Desk) -> None:
    desk.keeper.update_plan(SetExitPlan("77", "EUR_USD", EVEN))
    assert desk.said == ["NO EXIT PLAN for #77 EUR/USD: the trade is closed"]
    assert desk.store.exit_plans == {}


def test_a_time_stop_waits_for_a_halted_market_says_so_once_and_closes_then(desk: Desk) -> None:
    desk.has(LATE)
    desk.store.quotes["EUR_USD"].tradeable = False
    assert [desk.looks() for _ in range(3)] == [[], [], []]
    assert [each for each in desk.said if "halted or closed" in each] == [
        "EXIT PLAN #6411: time stop waits: the market is halted or closed"
    ]
    assert desk.state == "time stop waits: the market is halted or closed"
    desk.store.quotes["EUR_USD"].tradeable = True
    assert desk.looks() == [(TRADE, "EUR_USD", None)]


def test_stale_prices_move_no_stop_but_hold_no_time_stop_up(desk: Desk) -> None:
    desk.store.health.prices = "STALE"
    assert desk.has(EVEN).looks() == []
    assert desk.state == "waits: prices are stale"
    assert desk.has(LATE).looks() == [(TRADE, "EUR_USD", None)]


def test_a_rejection_is_told_and_tried_again_later_and_later(desk: Desk) -> None:
    desk.broker.outcome = Rejected
    assert desk.has(EVEN).looks() == [MOVED]
    assert "EXIT PLAN #6411: break-even rejected (STOP_LOSS_ORDER_PRICE_INVALID)" in desk.said[-1]
    for pause in AGAIN_AFTER:
        assert desk.looks(pause - 2) == []
        assert "again in" in desk.state
        assert desk.looks(3) == [MOVED]
    desk.broker.outcome = Done
    assert desk.looks(AGAIN_AFTER[-1] + 1) == [MOVED]
    assert desk.looks() == []
    assert desk.state == ""


def test_what_was_not_sent_is_sent_when_the_connection_is_back(desk: Desk) -> None:
    desk.broker.outcome = NotSent
    assert desk.has(LATE).looks() == [(TRADE, "EUR_USD", None)]
    assert "not sent (no connection)" in desk.said[-1]
    desk.broker.outcome = Done
    assert desk.looks(AGAIN_AFTER[0] + 1) == [(TRADE, "EUR_USD", None)]


def test_after_an_unconfirmed_action_nothing_is_sent_until_it_is_resolved(desk: Desk) -> None:
    desk.broker.outcome = Unconfirmed
    assert desk.has(EVEN).looks() == [MOVED]
    assert [desk.looks(1000) for _ in range(3)] == [[], [], []]
    assert desk.state == "break-even waits: UNCONFIRMED stop of #6411"
    assert sum("break-even waits: UNCONFIRMED" in text for text in desk.said) == 1
    desk.store.settle("kd-1")
    desk.broker.outcome = Done
    assert desk.looks() == [MOVED]


@pytest.mark.parametrize("state", ["sent", "unknown", "unconfirmed"])
def test_a_command_of_the_trader_under_way_goes_first(desk: Desk, state: Any) -> None:  # noqa: ANN401 - a literal
    desk.store.set_in_flight(
        Command("CLOSE #6411", id="kd-9", instrument="EUR_USD", kind="close trade", state=state)
    )
    assert desk.has(EVEN).looks() == []
    assert desk.state.startswith("break-even waits: ")
    desk.store.settle("kd-9")
    assert desk.looks() == [MOVED]


def test_an_opening_order_under_way_holds_no_exit_up(desk: Desk) -> None:
    desk.store.set_in_flight(Command("BUY", id="kd-9", instrument="EUR_USD", state="unconfirmed"))
    assert desk.has(LATE).looks() == [(TRADE, "EUR_USD", None)]


def test_while_an_earlier_session_is_looked_up_it_waits(desk: Desk) -> None:
    desk.broker.is_recovering = True
    assert desk.has(EVEN).looks() == []
    desk.broker.is_recovering = False
    assert desk.looks() == [MOVED]


def test_disarmed_it_acts_and_read_only_it_does_not(desk: Desk) -> None:
    desk.store.arming = Arming("READ-ONLY")
    assert desk.has(EVEN).looks() == []
    assert desk.state == "READ-ONLY: it does nothing"
    desk.store.arming = Arming("DISARMED")
    assert desk.looks() == [MOVED]


def test_a_daily_loss_lock_holds_no_plan_up(desk: Desk) -> None:
    desk.store.loss_lock = LossLock(limit=D(300), is_on=True)
    assert desk.has(LATE).looks() == [(TRADE, "EUR_USD", None)]


def test_a_trade_that_is_missing_for_a_moment_keeps_its_plan(desk: Desk) -> None:
    desk.has(EVEN)
    trade = desk.store.trades.pop(TRADE)
    assert desk.looks(5) == []
    desk.store.trades[TRADE] = trade
    assert desk.looks(60) == [MOVED]


def test_the_plan_of_a_closed_trade_ends(desk: Desk) -> None:
    desk.has(EVEN)
    del desk.store.trades[TRADE]
    desk.looks()
    desk.looks(11)
    assert desk.store.exit_plans == {}


def test_a_close_that_found_the_trade_gone_is_not_tried_again(desk: Desk) -> None:
    desk.has(LATE)
    desk.broker.outcome, desk.broker.closed_elsewhere = Rejected, True
    assert desk.looks() == [(TRADE, "EUR_USD", None)]
    assert not any("again in" in each for each in desk.said)


def test_a_second_desk_shows_that_the_first_one_acts(desk: Desk, tmp_path: Path) -> None:
    assert desk.has(EVEN).plans.check()
    second = Desk(tmp_path)
    assert second.looks() == []
    assert second.state == "another desk on this account carries it out"
    desk.plans.close()
    assert second.looks(2) == [MOVED]


def test_a_plan_set_at_the_second_desk_is_carried_out_by_the_first(
    desk: Desk, tmp_path: Path
) -> None:
    assert desk.looks() == []
    Desk(tmp_path).has(EVEN)
    assert desk.looks(2) == [MOVED]


def damage(folder: Path, text: str) -> None:
    """Write a text in the place of the plans."""
    with closing(sqlite3.connect(folder / "account.sqlite")) as connection, connection:
        connection.execute("UPDATE records SET record = ?", (text,))


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"plans": 3}', '{"plans": {"1": {"trail_step": "NaN"}}}']
)
def test_a_damaged_record_is_told_once_and_no_plan_runs(
    desk: Desk, tmp_path: Path, text: str
) -> None:
    desk.has(EVEN)
    desk.plans.close()
    damage(tmp_path, text)
    later = Desk(tmp_path)
    assert later.looks() == later.looks() == []
    told = [each for each in later.said if "cannot be read, none of its plans runs" in each]
    assert len(told) == 1


def test_a_file_that_is_no_database_is_told_and_no_plan_runs(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    path = tmp_path / "account.sqlite"
    path.write_bytes(b"x" * 5000)
    path.chmod(0o600)
    desk = Desk(tmp_path)
    assert desk.looks() == []
    assert any("cannot be read, none of its plans runs" in each for each in desk.said)
    desk.has(EVEN)
    assert any("holds in this desk only" in each for each in desk.said)
    assert desk.looks() == [MOVED]


def test_while_another_desk_writes_the_plans_run_on_and_nothing_is_said(
    desk: Desk, tmp_path: Path
) -> None:
    desk.has(EVEN)
    said = list(desk.said)
    with closing(sqlite3.connect(tmp_path / "account.sqlite", isolation_level=None)) as theirs:
        theirs.execute("BEGIN EXCLUSIVE")
        assert desk.looks() == [MOVED]
    assert not any("cannot be read" in each for each in desk.said[len(said) :])


def test_the_file_of_an_earlier_account_has_no_plans(desk: Desk, tmp_path: Path) -> None:
    desk.has(EVEN)
    store = example_store()
    assert store.account is not None
    store.account.created_time_ns += 1
    desk.plans.close()
    assert Desk(tmp_path, store).looks() == []


def test_a_plan_does_not_act_on_a_trade_of_another_ledger_that_has_its_number(
    desk: Desk, tmp_path: Path
) -> None:
    desk.has(LATE)
    desk.plans.close()
    store = example_store()
    store.trades[TRADE].open_time_ns += 1
    later = Desk(tmp_path, store)
    assert later.looks() == []
    assert later.store.exit_plans == {}
    assert later.said == [
        "EXIT PLAN #6411: ended, the practice market was replaced: its number is another trade's now"
    ]


def test_after_prices_were_interrupted_a_plan_waits_until_the_account_was_compared(
    desk: Desk,
) -> None:
    desk.has(LATE).store.health.unchecked = True
    assert desk.looks() == []
    assert desk.state == "waits: the account is being read again"
    desk.store.health.unchecked = False
    assert desk.looks() == [(TRADE, "EUR_USD", None)]


def test_the_plan_of_a_trade_that_a_new_market_lacks_ends_at_once(desk: Desk) -> None:
    desk.has(LATE)
    trade = desk.store.trades.pop(TRADE)
    desk.plans.restart_market()
    desk.store.trades[TRADE] = trade  # opened again at the same moment of a paused market
    assert desk.looks() == []
    assert (
        desk.said[-1]
        == "EXIT PLAN #6411: ended, the practice market was replaced, without its trade"
    )


def test_without_a_file_a_plan_runs_in_this_desk_and_that_is_said(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    desk = Desk(tmp_path)
    (tmp_path / "account.sqlite").mkdir()
    desk.has(EVEN)
    assert any("holds in this desk only" in each for each in desk.said)
    assert desk.looks() == [MOVED]
    assert desk.looks(5.0) == []
    assert TRADE in desk.store.exit_plans, "it stays although the records have none"


def test_a_tighter_stop_set_by_hand_stays(desk: Desk) -> None:
    desk.has(EVEN)
    desk.store.trades[TRADE].stop_loss = DependentOrder("1", D("1.08460"))
    assert desk.looks() == []


def test_plans_of_the_account_that_was_left_for_a_replay_come_back(desk: Desk) -> None:
    desk.has(LATE)
    account, trade = desk.store.account, desk.store.trades[TRADE]
    assert account is not None
    created = account.created_time_ns
    account.created_time_ns = 7
    del desk.store.trades[TRADE]
    desk.plans.restart_market()
    assert desk.store.exit_plans == {}
    assert "ended" not in " ".join(desk.said)
    account.created_time_ns = created
    desk.store.trades[TRADE] = trade
    desk.plans.restart_market()
    assert desk.store.exit_plans.keys() == {TRADE}
