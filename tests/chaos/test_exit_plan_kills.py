"""kill -9 between the decision of an exit plan and its answer: the next desk sends nothing twice, and finishes it."""

import asyncio
import json
import os
import signal
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from keydesk.calc.orders.instructions import CloseTrades
from keydesk.calc.orders.plans.exit_plans import ExitPlan
from keydesk.values import TradeRow
from support.broker import PracticeServer
from support.exit_plan_desk import PIP, TIGHTENS, actions_at_broker, plan_desk
from support.fakes.talking_server import talking_server
from support.proxies.losing_relay import LosingRelay

TESTS = Path(__file__).parents[1]
PROCESS = TESTS / "support" / "exit_plan_process.py"
CLOSES = ExitPlan(close_at_ns=1)


@dataclass
class KillingRelay(LosingRelay):
    """Kills a process when its write arrives: before the broker sees it, or before the answer goes back."""

    pid: int = 0
    before: bool = False

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            method, target = head.split(" ", 2)[:2]
            sizes = (line for line in head.lower().split("\r\n") if "content-length:" in line)
            body = await reader.readexactly(int(next(sizes, ":0").partition(":")[2]))
            writes = method != "GET"
            if writes and self.before:
                os.kill(self.pid, signal.SIGKILL)
                return
            answer = await self.practice.http.request(method, target, content=body)
            if writes:
                os.kill(self.pid, signal.SIGKILL)
                return
            self._say(writer, target, answer)


async def killed_at_its_action(server: PracticeServer, folder: Path, *, before: bool) -> None:
    """Run a desk in a process until its plan sends something, and kill it there."""
    relay = KillingRelay(server, before=before)
    async with talking_server(relay.talk) as relay_url:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, str(PROCESS)),
            stdin=asyncio.subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(TESTS)},
        )
        relay.pid = process.pid
        said = {
            "rest_url": server.rest_url,
            "stream_url": server.stream_url,
            "token": server.token,
            "account_id": server.account_id,
            "folder": str(folder),
            "relay_url": relay_url,
        }
        assert process.stdin is not None
        process.stdin.write(json.dumps(said).encode() + b"\n")
        await process.stdin.drain()
        async with asyncio.timeout(60):
            assert await process.wait() == -signal.SIGKILL
        process.stdin.close()


async def left_to_a_plan(server: PracticeServer, folder: Path, plan: ExitPlan) -> TradeRow:
    """Buy, and keep a plan that no desk carries out yet."""
    async with plan_desk(server, folder) as desk:
        trade = await desk.buys()
        desk.connection.exit_plans.close()
        desk.connection.exit_plans._lock_path = None
        await desk.plans(trade, plan)
        return trade


async def counts_at_broker(server: PracticeServer) -> tuple[int, int, int]:
    kinds = ("STOP_LOSS_ORDER", "ORDER_FILL", "MARKET_ORDER_REJECT")
    stops, fills, rejects = [await actions_at_broker(server, kind) for kind in kinds]
    return len(stops), len(fills), len(rejects)


@pytest.mark.parametrize("plan", [TIGHTENS, CLOSES], ids=["stop", "time stop"])
async def test_killed_before_the_answer_nothing_is_sent_twice(
    desk_of_my_own: PracticeServer, tmp_path: Path, plan: ExitPlan
) -> None:
    folder = tmp_path / "orders"
    trade = await left_to_a_plan(desk_of_my_own, folder, plan)
    await killed_at_its_action(desk_of_my_own, folder, before=False)
    async with plan_desk(desk_of_my_own, folder) as desk:
        if plan is CLOSES:
            assert trade.id not in desk.store.trades
        else:
            assert desk.stop_of(desk.store.trades[trade.id]) == trade.price - 70 * PIP
        assert desk.store.in_flight == {}
        for _ in range(3):
            assert desk.connection.exit_plans.check() == []
    expected = (1, 2, 0) if plan is CLOSES else (2, 1, 0)
    assert await counts_at_broker(desk_of_my_own) == expected


@pytest.mark.soak  # the look-ups of what never arrived take half a minute
async def test_killed_before_the_broker_saw_it_the_next_desk_waits_and_says_so(
    desk_of_my_own: PracticeServer, tmp_path: Path
) -> None:
    folder = tmp_path / "orders"
    trade = await left_to_a_plan(desk_of_my_own, folder, CLOSES)
    await killed_at_its_action(desk_of_my_own, folder, before=True)
    async with plan_desk(desk_of_my_own, folder, patience=60.0) as desk:
        await desk.until(lambda: "UNCONFIRMED" in desk.store.exit_plan_states.get(trade.id, ""))
        assert any("time stop waits: UNCONFIRMED" in each for each in desk.said)
        assert trade.id in desk.store.trades
        assert await counts_at_broker(desk_of_my_own) == (1, 1, 0)
        await desk.does(CloseTrades("EUR_USD", (trade.id,)))  # a trader's own exit is never held
        await desk.until(lambda: trade.id not in desk.store.trades)
    assert await counts_at_broker(desk_of_my_own) == (1, 2, 0)
