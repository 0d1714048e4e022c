"""`kill -9` in a flow of orders: what was acknowledged is there afterwards, ids have no gaps, replay equals live."""

import asyncio
import random
from pathlib import Path
from typing import Any

import httpx
import pytest

from support.broker import PracticeServer, practice_server, start_practice
from support.data.large_account import large_ledger

pytestmark = pytest.mark.e2e

Transaction = dict[str, Any]
FAST = ("--rate-limit", "1000000")
NOON = "2024-03-06T12:00Z"


def order(number: int, rng: random.Random) -> dict[str, Any]:
    units = str(rng.choice([-300, -200, 100, 200, 400]))
    asked: dict[str, Any] = {"type": "MARKET", "instrument": "EUR_USD", "units": units}
    if number % 3 == 0:
        asked["takeProfitOnFill"] = {"distance": "0.05"}
        asked["trailingStopLossOnFill"] = {"distance": "0.05"}
    if number % 5 == 0:
        asked |= {"type": "LIMIT", "price": "0.5" if int(units) > 0 else "5"}
    return {"order": asked}


async def keep_ordering(practice: PracticeServer, seed: int, known: dict[str, Transaction]) -> None:
    """Send orders until the broker is gone; note every transaction that an answer acknowledged."""
    rng = random.Random(seed)
    for number in range(1_000_000):
        try:
            answer = await practice.send("POST", "{a}/orders", order(number, rng))
        except httpx.TransportError:
            return
        for value in answer.json().values():
            if isinstance(value, dict) and "id" in value:
                known[value["id"]] = value


async def kill_once(folder: Path, seed: int, known: dict[str, Transaction]) -> None:
    practice = await start_practice(folder, *FAST)
    flow = [asyncio.create_task(keep_ordering(practice, seed * 10 + i, known)) for i in range(4)]
    goal = len(known) + random.Random(seed).randint(5, 60)
    while len(known) < goal and not all(task.done() for task in flow):  # noqa: ASYNC110 - a count
        await asyncio.sleep(0)
    await practice.kill()
    await asyncio.gather(*flow)
    await practice.close()


async def everything_since_the_beginning(practice: PracticeServer) -> list[Transaction]:
    found: list[Transaction] = []
    while True:
        last = found[-1]["id"] if found else "0"
        answer = (await practice.get("{a}/transactions/sinceid", id=last)).json()
        if not answer["transactions"]:
            return found
        found += answer["transactions"]


async def survive(folder: Path, kills: int) -> None:
    known: dict[str, Transaction] = {}
    for number in range(kills):
        await kill_once(folder, number, known)
    async with practice_server(folder, *FAST) as practice:
        kept = await everything_since_the_beginning(practice)
        account = (await practice.get("{a}")).json()["account"]
    assert [one["id"] for one in kept] == [str(id_) for id_ in range(1, len(kept) + 1)]
    by_id = {one["id"]: one for one in kept}
    assert {id_: by_id.get(id_) for id_ in known} == known
    assert batches_are_whole(kept)
    balances = [one["accountBalance"] for one in kept if "accountBalance" in one]
    assert account["balance"] == balances[-1]
    assert account["lastTransactionID"] == kept[-1]["id"]


def batches_are_whole(kept: list[Transaction]) -> bool:
    """Every market order has its end in its own batch: none was cut in the middle."""
    ended = {one["orderID"]: one["batchID"] for one in kept if "orderID" in one}
    return all(
        ended.get(one["id"]) == one["batchID"] for one in kept if one["type"] == "MARKET_ORDER"
    )


async def test_a_few_kills_lose_nothing(practice_folder: Path) -> None:
    await survive(practice_folder, kills=3)


@pytest.mark.parametrize(
    "growth", [64, *(pytest.param(each, marks=pytest.mark.soak) for each in (8, 2))]
)
async def test_a_kill_while_a_long_batch_is_written_leaves_all_of_it_or_nothing(
    practice_folder: Path, growth: int
) -> None:
    data = practice_folder / "data"
    large_ledger(data, 1_000, trades=400, orders=400)
    close = {"order": {"type": "MARKET", "instrument": "EUR_USD", "units": "-20000"}}
    turns = 0
    while True:
        practice = await start_practice(practice_folder, *FAST, "--start", NOON)
        sending = asyncio.create_task(practice.send("POST", "{a}/orders", close))
        for _ in range(turns):
            await asyncio.sleep(0)
        await practice.kill()
        answered = not isinstance(
            (await asyncio.gather(sending, return_exceptions=True))[0], Exception
        )
        await practice.close()
        async with practice_server(practice_folder, *FAST, "--start", NOON) as again:
            account = (await again.get("{a}")).json()["account"]
            kept = await everything_since_the_beginning(again)
        assert [one["id"] for one in kept] == [str(id_) for id_ in range(1, len(kept) + 1)]
        assert batches_are_whole(kept)
        ended = [one for one in kept if one.get("reason") == "LINKED_TRADE_CLOSED"]
        assert (account["openTradeCount"], len(ended)) in {(400, 0), (200, 200)}
        assert ended or not answered
        if ended:
            return
        turns = growth * turns + 50


@pytest.mark.soak
async def test_fifty_kills_lose_nothing(practice_folder: Path) -> None:
    await survive(practice_folder, kills=50)


async def test_the_account_after_a_restart_is_the_account_before(practice_folder: Path) -> None:
    known: dict[str, Transaction] = {}
    async with practice_server(practice_folder, *FAST) as practice:
        flow = asyncio.create_task(keep_ordering(practice, 1, known))
        while len(known) < 200:  # noqa: ASYNC110 - a count
            await asyncio.sleep(0)
        flow.cancel()
        await asyncio.gather(flow, return_exceptions=True)
        live = without_prices((await practice.get("{a}")).json())
        live_orders = (await practice.get("{a}/orders", state="ALL", count="500")).json()
    async with practice_server(practice_folder, *FAST) as practice:
        again = without_prices((await practice.get("{a}")).json())
        again_orders = (await practice.get("{a}/orders", state="ALL", count="500")).json()
    assert again == live
    assert without_prices(again_orders) == without_prices(live_orders)


MOVING = frozenset({"unrealizedPL", "marginUsed", "trailingStopValue"})


def without_prices(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Return a JSON value without what moves with the prices."""
    if isinstance(value, list):
        return [without_prices(inner) for inner in value]
    if not isinstance(value, dict):
        return value
    fixed = {"NAV", "withdrawalLimit", "positionValue", "marginAvailable"} | MOVING
    return {
        name: without_prices(inner)
        for name, inner in value.items()
        if name not in fixed and not name.startswith(("marginCloseout", "marginCall"))
    }


async def test_a_trailing_stop_keeps_its_level_over_a_kill(practice_folder: Path) -> None:
    protected = {
        "order": {
            "type": "MARKET",
            "instrument": "EUR_USD",
            "units": "100",
            "trailingStopLossOnFill": {"distance": "0.05"},
        }
    }
    practice = await start_practice(practice_folder, *FAST)
    await practice.send("POST", "{a}/orders", protected)
    before = (await practice.get("{a}/pendingOrders")).json()["orders"][0]
    await practice.kill()
    await practice.close()
    async with practice_server(practice_folder, *FAST) as again:
        after = (await again.get("{a}/pendingOrders")).json()["orders"][0]
    assert float(after["trailingStopValue"]) >= float(before["trailingStopValue"])
