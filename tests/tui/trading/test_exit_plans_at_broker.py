"""Exit plans against the real practice broker: carried out once, kept over a restart, by one of two desks."""

import asyncio
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pytest

from keydesk.calc.orders.field_draft import Entry
from keydesk.calc.orders.instructions import CancelOrders, CloseTrades
from keydesk.calc.orders.plans.exit_plans import ExitPlan, ExitRules
from keydesk.records.desk_records import DeskRecords
from keydesk.records.exit_plans import EXIT_PLANS, NO_PLANS, ExitPlanSet, ExpectedPlan
from support.broker import PracticeServer
from support.data.entry_orders import open_order
from support.exit_plan_desk import FAR, PIP, TIGHTENS, actions_at_broker, plan_desk, plan_records
from support.fakes.talking_server import talking_server
from support.proxies.losing_relay import LosingRelay

pytestmark = pytest.mark.e2e

D = Decimal
ONE_R = ExitRules(break_even_at=Entry("1", "R"), break_even_offset_pips=D(1))


def changes(
    records: DeskRecords, ledger: int, change: Callable[[ExitPlanSet], ExitPlanSet]
) -> None:
    """Change the plans as another desk does."""
    records.change(EXIT_PLANS, ledger, lambda found: change(found or NO_PLANS))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "orders"


async def test_the_stop_is_moved_once_and_the_action_is_told_and_audited(
    desk_of_my_own: PracticeServer, folder: Path
) -> None:
    async with plan_desk(desk_of_my_own, folder) as desk:
        trade = await desk.buys()
        await desk.plans(trade, TIGHTENS)
        wanted = trade.price - 70 * PIP
        await desk.until(lambda: desk.stop_of(trade) == wanted)
        await desk.until(lambda: desk.store.exit_plan_states[trade.id] == "")
        for _ in range(3):  # further looks find nothing to do
            assert desk.connection.exit_plans.check() == []
        assert any(f"EXIT PLAN step trail: stop {wanted}" in each for each in desk.said)
        assert f"step trail moves the stop to {wanted}" in desk.audited
    stops = await actions_at_broker(desk_of_my_own, "STOP_LOSS_ORDER")
    assert [each["reason"] for each in stops] == ["ON_FILL", "REPLACEMENT"]


async def test_at_its_time_the_trade_is_closed_and_the_plan_ends(
    desk_of_my_own: PracticeServer, folder: Path
) -> None:
    async with plan_desk(desk_of_my_own, folder) as desk:
        trade = await desk.buys()
        await desk.plans(trade, ExitPlan(close_at_ns=1))
        await desk.until(lambda: trade.id not in desk.store.trades)
        await desk.until(lambda: any("CLOSED 10,000" in each for each in desk.said))
        desk.passes_a_minute()
        await desk.until(lambda: desk.store.exit_plans == {})
        assert "ended, the trade is closed" in desk.audited
    assert len(await actions_at_broker(desk_of_my_own, "ORDER_FILL")) == 2


async def test_a_plan_goes_on_after_a_restart(desk_of_my_own: PracticeServer, folder: Path) -> None:
    async with plan_desk(desk_of_my_own, folder) as desk:
        trade = await desk.buys()
        await desk.plans(trade, ExitPlan(break_even_after=FAR))
    records = plan_records(folder)
    async with plan_desk(desk_of_my_own, folder) as desk:
        await desk.until(lambda: trade.id in desk.store.exit_plans)
        assert desk.store.exit_plans[trade.id].break_even_after == FAR
        account = desk.store.account
        assert account is not None
        changes(records, account.created_time_ns, lambda plans: plans.with_plan(trade.id, TIGHTENS))
        await desk.until(
            lambda: desk.stop_of(desk.store.trades[trade.id]) == trade.price - 70 * PIP
        )


async def test_of_two_desks_one_acts_and_the_other_takes_over_when_it_leaves(
    desk_of_my_own: PracticeServer, folder: Path
) -> None:
    async with plan_desk(desk_of_my_own, folder, name="second") as second:
        await second.until(lambda: second.connection.exit_plans.is_acting)
        async with plan_desk(desk_of_my_own, folder) as first:
            trade = await first.buys()
            await first.plans(trade, TIGHTENS)
            await first.until(lambda: first.stop_of(trade) == trade.price - 70 * PIP)
            await first.until(lambda: trade.id in first.store.exit_plan_states)
            assert "another desk" in first.store.exit_plan_states[trade.id]
            assert any("EXIT PLAN step trail" in each for each in second.said)
            assert not any("EXIT PLAN step trail" in each for each in first.said)
            second.connection.exit_plans.close()
            second.connection.exit_plans._lock_path = None
            await first.until(lambda: first.connection.exit_plans.is_acting)
    stops = await actions_at_broker(desk_of_my_own, "STOP_LOSS_ORDER")
    assert len(stops) == 2


async def test_the_rules_of_a_market_order_become_the_plan_of_its_trade(
    desk_of_my_own: PracticeServer, folder: Path
) -> None:
    async with plan_desk(desk_of_my_own, folder) as desk:
        trade = await desk.buys(rules=ONE_R)
        await desk.until(lambda: trade.id in desk.store.exit_plans)
        # The row may have come with an answer about the account, before the transaction of its stop.
        await desk.until(lambda: desk.store.trades[trade.id].initial_stop is not None)
        trade = desk.store.trades[trade.id]
        assert trade.initial_stop is not None
        plan = desk.store.exit_plans[trade.id]
        assert plan == ExitPlan(
            break_even_after=trade.price - trade.initial_stop,
            break_even_offset=PIP,
            opened_ns=trade.open_time_ns,
        )
        assert desk.connection.exit_plans.keeper.plan_set.expected == {}


async def test_the_rules_of_a_resting_order_wait_and_go_with_it(
    desk_of_my_own: PracticeServer, folder: Path
) -> None:
    async with plan_desk(desk_of_my_own, folder) as desk:
        keeper = desk.connection.exit_plans.keeper
        far = desk.store.quotes["EUR_USD"].bid - FAR
        await desk.does(open_order("EUR_USD", "LIMIT", D(1000), price=far, exit_rules=ONE_R))
        await desk.until(lambda: bool(desk.store.orders))
        assert len(keeper.plan_set.expected) == 1
        await desk.does(CancelOrders(tuple(desk.store.orders), ""))
        await desk.until(lambda: keeper.plan_set.expected == {})


async def test_a_rejected_order_leaves_no_rules_behind(
    desk_of_my_own: PracticeServer, folder: Path
) -> None:
    async with plan_desk(desk_of_my_own, folder) as desk:
        keeper = desk.connection.exit_plans.keeper
        await desk.does(open_order("EUR_USD", "MARKET", D("0.5"), exit_rules=ONE_R))
        assert keeper.plan_set == ExitPlanSet()


async def test_an_order_that_filled_while_no_desk_ran_still_gets_its_plan(
    desk_of_my_own: PracticeServer, folder: Path
) -> None:
    async with plan_desk(desk_of_my_own, folder) as desk:
        account = desk.store.account
        assert account is not None
        expected = ExpectedPlan(ONE_R, account.last_transaction_id)
        records = plan_records(folder)
        changes(
            records, account.created_time_ns, lambda plans: plans.with_expected("kd-gone", expected)
        )
        changes(
            records,
            account.created_time_ns,
            lambda plans: plans.with_expected("kd-never", expected),
        )
        stop = f"{desk.store.quotes['EUR_USD'].bid - FAR}"
    order = {
        "type": "MARKET",
        "instrument": "EUR_USD",
        "units": "1000",
        "clientExtensions": {"id": "kd-gone"},
        "stopLossOnFill": {"price": stop},
    }
    await desk_of_my_own.send("POST", "{a}/orders", {"order": order})
    async with plan_desk(desk_of_my_own, folder) as desk:
        await desk.until(lambda: len(desk.store.exit_plans) == 1)
        await desk.until(
            lambda: set(desk.connection.exit_plans.keeper.plan_set.expected) == {"kd-never"}
        )


async def test_a_lost_answer_is_looked_up_and_nothing_is_sent_twice(
    desk_of_my_own: PracticeServer, folder: Path
) -> None:
    relay = LosingRelay(desk_of_my_own)
    async with (
        talking_server(relay.talk) as rest_url,
        plan_desk(desk_of_my_own, folder, rest_url=rest_url) as desk,
    ):
        trade = await desk.buys()
        relay.loses, relay.writes = True, []
        await desk.plans(trade, TIGHTENS)
        await desk.until(lambda: any("(found by looking it up)" in each for each in desk.said))
        await asyncio.sleep(0)
        assert desk.stop_of(trade) == trade.price - 70 * PIP
        assert len(relay.writes) == 1


async def test_a_trade_closed_by_hand_ends_its_plan_without_another_request(
    desk_of_my_own: PracticeServer, folder: Path
) -> None:
    async with plan_desk(desk_of_my_own, folder) as desk:
        trade = await desk.buys()
        await desk.plans(trade, ExitPlan(break_even_after=FAR))
        await desk.does(CloseTrades("EUR_USD", (trade.id,), D(4000)))
        await desk.until(lambda: trade.units == 6000)
        assert trade.id in desk.store.exit_plans, "a part was closed: the plan holds for the rest"
        await desk.does(CloseTrades("EUR_USD", (trade.id,)))
        await desk.until(lambda: trade.id not in desk.store.trades)
        desk.passes_a_minute()
        await desk.until(lambda: desk.store.exit_plans == {})
    assert await actions_at_broker(desk_of_my_own, "MARKET_ORDER_REJECT") == []
