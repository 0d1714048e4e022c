"""Time travel through the whole broker: the franc's day, and what happens while the broker is away."""

import asyncio
from decimal import Decimal
from pathlib import Path
from typing import Any

from support.broker import PracticeServer, practice_server

THE_DAY = ("--start", "2015-01-15T09:20Z", "--speed", "300", "--rate-limit", "100000")


def long_franc(stop: str) -> dict[str, Any]:
    order: dict[str, Any] = {"type": "MARKET", "instrument": "EUR_CHF", "units": "10000"}
    return {"order": order | {stop: {"price": "1.19000"}}}


async def closing_fill(practice: PracticeServer, trade_id: str) -> dict[str, Any]:
    """Wait until a trade is closed and return the part of the fill that closed it."""
    async with asyncio.timeout(60):
        while True:
            trade = (await practice.get(f"{{a}}/trades/{trade_id}")).json()["trade"]
            if trade["state"] == "CLOSED":
                break
    fill = trade["closingTransactionIDs"][-1]
    found = (await practice.get(f"{{a}}/transactions/{fill}")).json()["transaction"]
    return {"reason": found["reason"], "time": found["time"], **found["tradesClosed"][0]}


async def test_when_the_franc_jumps_a_stop_slips_and_a_guaranteed_one_does_not(
    practice_folder: Path,
) -> None:
    async with practice_server(practice_folder, *THE_DAY) as practice:
        plain = (await practice.send("POST", "{a}/orders", long_franc("stopLossOnFill"))).json()
        path = f"/v3/accounts/{practice.hedging_id}/orders"
        sure = await practice.send("POST", path, long_franc("guaranteedStopLossOnFill"))
        slipped = await closing_fill(practice, plain["orderFillTransaction"]["id"])
        assert slipped["reason"] == "STOP_LOSS_ORDER"
        assert slipped["time"].startswith("2015-01-15T09:30:0")
        assert Decimal(slipped["price"]) < Decimal("1.15")
        answer = sure.json()
        if "orderFillTransaction" in answer:  # where guaranteed stops are offered for the franc
            trade = answer["orderFillTransaction"]["id"]
            account = f"/v3/accounts/{practice.hedging_id}"
            fill_id = (await practice.get(f"{account}/trades/{trade}")).json()["trade"]
            assert fill_id["averageClosePrice"] == "1.19000"


async def test_a_stop_is_filled_while_the_broker_is_away(practice_folder: Path) -> None:
    begin = ("--start", "2015-01-15T09:20Z", "--rate-limit", "100000")
    async with practice_server(practice_folder, *begin) as practice:
        made = (await practice.send("POST", "{a}/orders", long_franc("stopLossOnFill"))).json()
        trade_id = made["orderFillTransaction"]["id"]
    async with practice_server(practice_folder, "--start", "2015-01-17T12:00Z") as practice:
        closed = await closing_fill(practice, trade_id)
        ids = [
            one["id"]
            for one in (await practice.get("{a}/transactions/sinceid", id="0")).json()[
                "transactions"
            ]
        ]
    assert closed["time"].startswith("2015-01-15T09:3")
    assert ids == [str(id_) for id_ in range(1, len(ids) + 1)]


async def test_financing_missed_while_away_is_booked_day_by_day(practice_folder: Path) -> None:
    begin = ("--start", "2019-06-03T12:00Z", "--rate-limit", "100000")
    buy = {"order": {"type": "MARKET", "instrument": "EUR_USD", "units": "10000"}}
    async with practice_server(practice_folder, *begin) as practice:
        await practice.send("POST", "{a}/orders", buy)
    async with practice_server(practice_folder, "--start", "2019-06-06T12:00Z") as practice:
        found = (
            await practice.get("{a}/transactions/sinceid", id="0", type="DAILY_FINANCING")
        ).json()
    times = [one["time"] for one in found["transactions"]]
    assert times == [f"2019-06-0{day}T21:00:00.000000000Z" for day in (3, 4, 5)]
