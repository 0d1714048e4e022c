"""Time travel through the whole broker: the franc's day, and what happens while the broker is away."""

import asyncio
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from support.broker import PracticeServer, practice_server
from support.controlled_broker import ControlledBroker, controlled_broker


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


async def test_the_franc_jumps_over_stops_and_margins(tmp_path: Path) -> None:
    async with controlled_broker(tmp_path, "2015-01-15T09:20Z") as market:
        plain = await open_trade(market, "{a}", long_franc("stopLossOnFill"))
        hedging = await a_further_account(market, currency="EUR", hedging=True)
        sure = await open_trade(market, hedging, long_franc("guaranteedStopLossOnFill"))
        overlevered, before = await open_an_overlevered_trade(market)
        await market.control("POST", "/clock/jump", time="2015-01-15T09:31Z")
        slipped = await fill_that_closed(market, "{a}", plain)
        exact = await fill_that_closed(market, hedging, sure)
        await check_the_closeout(market, overlevered, before)
        premium = await premium_of_the_franc(market)
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


async def a_further_account(market: ControlledBroker, **terms: Any) -> str:  # noqa: ANN401 - as `control` takes them
    """Add an account and return its path."""
    made = await market.control("POST", "/accounts", **terms)
    return f"/v3/accounts/{made['id']}"


async def open_trade(market: ControlledBroker, account: str, order: dict[str, Any]) -> str:
    made = await market.v20("POST", f"{account}/orders", order, expect=201)
    return str(made["orderFillTransaction"]["id"])


async def fill_that_closed(market: ControlledBroker, account: str, trade_id: str) -> dict[str, Any]:
    trade = (await market.v20("GET", f"{account}/trades/{trade_id}"))["trade"]
    fill = trade["closingTransactionIDs"][-1]
    return dict((await market.v20("GET", f"{account}/transactions/{fill}"))["transaction"])


async def premium_of_the_franc(market: ControlledBroker) -> Decimal:
    found = await market.v20("GET", "{a}/instruments", instruments="EUR_CHF")
    return Decimal(found["instruments"][0]["guaranteedStopLossOrderExecutionPremium"])


async def open_an_overlevered_trade(market: ControlledBroker) -> tuple[str, str]:
    """Hold as much as the margin allows: the jump takes more than half of the margin. Returns the account and its balance."""
    account = await a_further_account(market, currency="USD", hedging=False)
    order = {"type": "MARKET", "instrument": "EUR_CHF", "units": "1500000"}
    await open_trade(market, account, {"order": order})
    before = (await market.v20("GET", f"{account}/summary"))["account"]
    assert Decimal(before["marginCloseoutPercent"]) < 1
    return account, before["balance"]


async def check_the_closeout(market: ControlledBroker, account: str, balance: str) -> None:
    """See that the broker closed the overlevered trade at the jump, and said why."""
    assert (await market.v20("GET", f"{account}/openTrades"))["trades"] == []
    found = await market.v20("GET", f"{account}/transactions/sinceid", id="1")
    after = (await market.v20("GET", f"{account}/summary"))["account"]
    by_type = {one["type"]: one for one in found["transactions"]}
    expected = ["MARGIN_CALL_ENTER", "MARKET_ORDER", "ORDER_FILL", "MARGIN_CALL_EXIT"]
    assert [one["type"] for one in found["transactions"]][-4:] == expected
    assert by_type["MARKET_ORDER"]["marginCloseout"] == {"reason": "MARGIN_CHECK_VIOLATION"}
    fill = by_type["ORDER_FILL"]
    assert fill["reason"] == "MARKET_ORDER_MARGIN_CLOSEOUT"
    assert fill["time"].startswith("2015-01-15T09:30:0")
    assert Decimal(after["balance"]) == Decimal(balance) + Decimal(fill["pl"])
    assert after["marginUsed"] == "0.0000"


@pytest.mark.e2e
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


@pytest.mark.e2e
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


@pytest.mark.e2e
async def test_a_market_that_was_begun_in_the_past_goes_on_where_it_was_left(
    practice_folder: Path,
) -> None:
    async def year(*arguments: str) -> str:
        async with practice_server(practice_folder, *arguments) as practice:
            answer = await practice.get("{a}/pricing", instruments="EUR_USD")
            return str(answer.json()["time"])[:4]

    assert await year("--start", "2019-06-03T12:00Z") == "2019"
    assert await year() == "2019"
    assert await year("--start", "2020-06-03T12:00Z") == "2020"
    assert await year() == "2020"
    assert int(await year("--start", "now")) > 2020
    assert int(await year()) > 2020, "from then on its time is the present"
