"""Time travel through the whole broker: the franc's day, and what happens while the broker is away."""

import asyncio
from decimal import Decimal
from pathlib import Path
from typing import Any

from support.broker import PracticeServer, plain_client, practice_server

THE_DAY = ("--start", "2015-01-15T09:20Z", "--speed", "600", "--rate-limit", "100000")
OVERLEVERED = "a-second-token"


def long_franc(stop: str) -> dict[str, Any]:
    order: dict[str, Any] = {"type": "MARKET", "instrument": "EUR_CHF", "units": "10000"}
    return {"order": order | {stop: {"price": "1.1900"}}}


async def closing_fill(
    practice: PracticeServer, trade_id: str, account: str = "{a}"
) -> dict[str, Any]:
    """Wait until a trade is closed and return the fill that closed it."""
    async with asyncio.timeout(60):
        while True:
            trade = (await practice.get(f"{account}/trades/{trade_id}")).json()["trade"]
            if trade["state"] == "CLOSED":
                break
    fill = trade["closingTransactionIDs"][-1]
    found = (await practice.get(f"{account}/transactions/{fill}")).json()["transaction"]
    return dict(found)


async def open_practice(practice: PracticeServer, account: str, order: dict[str, Any]) -> str:
    made = (await practice.send("POST", f"{account}/orders", order)).json()
    return str(made["orderFillTransaction"]["id"])


async def test_the_franc_jumps_over_stops_and_margins(practice_folder: Path) -> None:
    tokens = ("--token", "a-first-token", "--token", OVERLEVERED)
    async with practice_server(practice_folder, *THE_DAY, *tokens) as practice:
        hedging = f"/v3/accounts/{practice.hedging_id}"
        plain = await open_practice(practice, "{a}", long_franc("stopLossOnFill"))
        sure = await open_practice(practice, hedging, long_franc("guaranteedStopLossOnFill"))
        await the_overlevered_account_is_closed_out(practice)
        slipped = await closing_fill(practice, plain)
        exact = await closing_fill(practice, sure, hedging)
        premium = await premium_of_the_franc(practice)
    assert slipped["reason"] == "STOP_LOSS_ORDER"
    assert slipped["time"].startswith("2015-01-15T09:30:0")
    assert Decimal(slipped["tradesClosed"][0]["price"]) < Decimal("1.15")
    assert exact["reason"] == "GUARANTEED_STOP_LOSS_ORDER"
    assert exact["tradesClosed"][0]["price"] == "1.19000"
    assert Decimal(exact["quoteGuaranteedExecutionFee"]) == premium * 10000
    assert Decimal(exact["guaranteedExecutionFee"]) > 0
    booked = Decimal(exact["pl"]) + Decimal(exact["financing"])
    after = Decimal(exact["accountBalance"])
    assert after == Decimal("100000.0000") + booked - Decimal(exact["guaranteedExecutionFee"])


async def premium_of_the_franc(practice: PracticeServer) -> Decimal:
    found = (await practice.get("{a}/instruments", instruments="EUR_CHF")).json()["instruments"]
    return Decimal(found[0]["guaranteedStopLossOrderExecutionPremium"])


async def the_overlevered_account_is_closed_out(practice: PracticeServer) -> None:
    """Hold as much as the margin allows: the jump takes more than half of the margin."""
    async with plain_client(practice.rest_url, OVERLEVERED) as http:
        account = (await http.get("/v3/accounts")).json()["accounts"][0]["id"]
        path = f"/v3/accounts/{account}"
        order = {"type": "MARKET", "instrument": "EUR_CHF", "units": "1500000"}
        made = (await http.post(f"{path}/orders", json={"order": order})).json()
        trade = made["orderFillTransaction"]["id"]
        before = (await http.get(f"{path}/summary")).json()["account"]
        assert Decimal(before["marginCloseoutPercent"]) < 1
        async with asyncio.timeout(60):
            while (await http.get(f"{path}/openTrades")).json()["trades"]:
                pass
        found = (await http.get(f"{path}/transactions/sinceid", params={"id": trade})).json()
        after = (await http.get(f"{path}/summary")).json()["account"]
    by_type = {one["type"]: one for one in found["transactions"]}
    assert list(by_type) == ["MARGIN_CALL_ENTER", "MARKET_ORDER", "ORDER_FILL", "MARGIN_CALL_EXIT"]
    assert by_type["MARKET_ORDER"]["marginCloseout"] == {"reason": "MARGIN_CHECK_VIOLATION"}
    fill = by_type["ORDER_FILL"]
    assert fill["reason"] == "MARKET_ORDER_MARGIN_CLOSEOUT"
    assert fill["time"].startswith("2015-01-15T09:30:0")
    assert Decimal(after["balance"]) == Decimal(before["balance"]) + Decimal(fill["pl"])
    assert after["marginUsed"] == "0.0000"


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
