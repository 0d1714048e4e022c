"""A client that is not ours, unchanged, asks everything it can of the broker: oandapyV20, written for the service itself.

The library chooses its hosts from a table by name; here the table gets one more line. Every operation it has is carried
out, both streams included, and a test holds that none was left out.
"""

import asyncio
import inspect
from collections.abc import AsyncIterator, Generator
from pathlib import Path
from typing import Any

import pytest
from oandapyV20 import API, V20Error
from oandapyV20.endpoints import (
    accounts,
    instruments,
    orders,
    positions,
    pricing,
    trades,
    transactions,
)
from oandapyV20.endpoints.apirequest import APIRequest
from oandapyV20.oandapyV20 import TRADING_ENVIRONMENTS

from support.broker import PracticeServer, practice_server
from support.wire import wire

pytestmark = pytest.mark.e2e

NAME = "keydesk"
Operation = Any  # a class of the library, which has no types
AREAS = (accounts, instruments, orders, positions, pricing, trades, transactions)


class Foreign:
    """The library at work on one account; remembers which of its operations were carried out."""

    def __init__(self, practice: PracticeServer) -> None:
        TRADING_ENVIRONMENTS[NAME] = {"api": practice.rest_url, "stream": practice.stream_url}
        self.account = practice.account_id
        self.api = API(access_token=practice.token, environment=NAME)
        self.done: set[Operation] = set()

    async def ask(self, operation: Operation, *path: str, **arguments: object) -> dict[str, Any]:
        """Carry out an operation; the library itself checks the status."""
        account = (self.account,) if "{accountID}" in operation.ENDPOINT else ()
        request = operation(*account, *path, **arguments)
        answer = await asyncio.to_thread(self.api.request, request)
        self.done.add(operation)
        return dict(answer)

    async def listen(self, operation: Operation, count: int, **arguments: object) -> list[Any]:
        """Open a stream and return its first items."""

        def first() -> list[Any]:
            request = operation(self.account, **arguments)
            items: Generator[Any, None, None] = self.api.request(request)
            found = [next(items) for _ in range(count)]
            items.close()
            return found

        self.done.add(operation)
        return await asyncio.to_thread(first)

    async def refused_status(self, operation: Operation, *path: str, **arguments: object) -> int:
        """Return the status of an operation that must fail."""
        with pytest.raises(V20Error) as caught:
            await self.ask(operation, *path, **arguments)
        return int(caught.value.code)


@pytest.fixture
async def foreign(practice_folder: Path) -> AsyncIterator[Foreign]:
    async with practice_server(practice_folder, "--port", "0") as practice:
        client = Foreign(practice)
        yield client
        client.api.close()


def operations() -> set[Operation]:
    """Return every operation that the library offers for this interface."""
    return {
        found
        for area in AREAS
        for _, found in inspect.getmembers(area, inspect.isclass)
        if issubclass(found, APIRequest) and vars(found).get("ENDPOINT")  # bases have none
    }


def market(units: str) -> dict[str, Any]:
    return {"order": {"type": "MARKET", "instrument": "EUR_USD", "units": units}}


def limit(price: str, units: str = "100") -> dict[str, Any]:
    order = {"type": "LIMIT", "instrument": "EUR_USD", "units": units, "price": price}
    return {"order": order}


async def test_the_library_carries_out_everything_it_can(foreign: Foreign) -> None:
    await account_and_market(foreign)
    await order_and_trade(foreign)
    await position_and_history(foreign)
    await both_streams(foreign)
    assert foreign.done == operations()
    assert {(one.METHOD, f"/{one.ENDPOINT}") for one in foreign.done} <= {
        (one["method"], one["path"].replace("Specifier}", "ID}"))
        for one in wire().endpoints.values()
    }


async def account_and_market(foreign: Foreign) -> None:
    ask = foreign.ask
    assert foreign.account in {one["id"] for one in (await ask(accounts.AccountList))["accounts"]}
    assert (await ask(accounts.AccountDetails))["account"]["balance"] == "100000.0000"
    assert (await ask(accounts.AccountSummary))["account"]["openTradeCount"] == 0
    named = await ask(accounts.AccountInstruments, params={"instruments": "EUR_USD"})
    assert named["instruments"][0]["pipLocation"] == -4
    await ask(accounts.AccountConfiguration, data={"alias": "Foreign"})
    changed = await ask(accounts.AccountChanges, params={"sinceTransactionID": 3})
    assert changed["changes"]["transactions"][0]["alias"] == "Foreign"
    prices = (await ask(pricing.PricingInfo, params={"instruments": "EUR_USD,USD_JPY"}))["prices"]
    assert [price["instrument"] for price in prices] == ["EUR_USD", "USD_JPY"]
    asked = {"count": 5, "granularity": "M5"}
    assert len((await ask(instruments.InstrumentsCandles, "EUR_USD", params=asked))["candles"]) == 5
    assert (await ask(instruments.InstrumentsOrderBook, "EUR_USD"))["orderBook"]["buckets"]
    assert (await ask(instruments.InstrumentsPositionBook, "EUR_USD"))["positionBook"]["buckets"]


async def order_and_trade(foreign: Foreign) -> None:
    ask = foreign.ask
    made = await ask(orders.OrderCreate, data=limit("0.5"))
    order = made["orderCreateTransaction"]["id"]
    assert [one["id"] for one in (await ask(orders.OrderList))["orders"]] == [order]
    assert len((await ask(orders.OrdersPending))["orders"]) == 1
    assert (await ask(orders.OrderDetails, order))["order"]["price"] == "0.50000"
    await ask(orders.OrderClientExtensions, order, data={"clientExtensions": {"tag": "theirs"}})
    replaced = await ask(orders.OrderReplace, order, data=limit("0.51"))
    await ask(orders.OrderCancel, replaced["orderCreateTransaction"]["id"])
    filled = await ask(orders.OrderCreate, data=market("1000"))
    trade = filled["orderFillTransaction"]["tradeOpened"]["tradeID"]
    assert [one["id"] for one in (await ask(trades.TradesList))["trades"]] == [trade]
    assert len((await ask(trades.OpenTrades))["trades"]) == 1
    labels = {"clientExtensions": {"id": "theirs"}}
    await ask(trades.TradeClientExtensions, trade, data=labels)
    assert (await ask(trades.TradeDetails, "@theirs"))["trade"]["id"] == trade
    await ask(trades.TradeCRCDO, trade, data={"stopLoss": {"price": "0.5"}})
    closed = await ask(trades.TradeClose, trade, data={"units": 400})
    assert closed["orderFillTransaction"]["units"] == "-400"


async def position_and_history(foreign: Foreign) -> None:
    ask = foreign.ask
    assert len((await ask(positions.PositionList))["positions"]) == 1
    assert len((await ask(positions.OpenPositions))["positions"]) == 1
    held = (await ask(positions.PositionDetails, "EUR_USD"))["position"]
    assert held["long"]["units"] == "600"
    closed = await ask(positions.PositionClose, "EUR_USD", data={"longUnits": "ALL"})
    last = closed["lastTransactionID"]
    assert (await ask(transactions.TransactionList))["count"] == int(last)
    assert (await ask(transactions.TransactionDetails, last))["transaction"]["id"] == last
    ranged = await ask(transactions.TransactionIDRange, params={"from": 1, "to": last})
    assert len(ranged["transactions"]) == int(last)
    since = await ask(transactions.TransactionsSinceID, params={"id": 3})
    assert len(since["transactions"]) == int(last) - 3


async def both_streams(foreign: Foreign) -> None:
    params = {"instruments": "EUR_USD,USD_JPY"}
    prices = await foreign.listen(pricing.PricingStream, 4, params=params)
    assert {one["type"] for one in prices} == {"PRICE"}
    listening = asyncio.create_task(foreign.listen(transactions.TransactionsStream, 3))
    while not listening.done():  # the stream begins when it is open, and says only what comes then
        await foreign.ask(orders.OrderCreate, data=market("10"))
    kinds = [one["type"] for one in listening.result()]
    assert {"HEARTBEAT", "MARKET_ORDER", "ORDER_FILL"} >= set(kinds)


async def test_the_library_knows_a_refusal_by_its_status(foreign: Foreign) -> None:
    assert await foreign.refused_status(orders.OrderDetails, "99") == 404
    assert await foreign.refused_status(orders.OrderCreate, data=limit("1.1234567")) == 400
    assert await foreign.refused_status(orders.OrderCreate, data=limit("much")) == 400
    assert await foreign.refused_status(orders.OrderCancel, "99") == 404
    assert await foreign.refused_status(positions.PositionDetails, "EUR_USD") == 404
    foreign.api.client.headers["Authorization"] = "Bearer nobody"
    assert await foreign.refused_status(accounts.AccountSummary) == 401
