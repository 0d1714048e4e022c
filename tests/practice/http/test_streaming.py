"""Both streams as a client reads them: lines, heartbeats, windows, whole batches, and slow readers."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, aclosing
from typing import Any

import httpx
import pytest

from keydesk_practice.broker.feeds import (
    MAX_UNREAD_BYTES,
    PriceSubscription,
    TransactionSubscription,
)
from keydesk_practice.http.streaming import StreamResponse
from support.broker import PracticeServer
from support.wire import wire

Item = dict[str, Any]
Opened = AbstractAsyncContextManager[httpx.Response]
MARKET = {"order": {"type": "MARKET", "instrument": "EUR_USD", "units": "100"}}


async def items_of(answer: httpx.Response) -> AsyncIterator[Item]:
    async for line in answer.aiter_lines():
        yield json.loads(line)


async def first_of(answer: httpx.Response, count: int) -> list[Item]:
    found: list[Item] = []
    async with asyncio.timeout(30), aclosing(items_of(answer)) as items:  # type: ignore[type-var]
        async for item in items:
            found.append(item)
            if len(found) == count:
                break
    return found


def prices(practice: PracticeServer, **query: str) -> Opened:
    path = f"/v3/accounts/{practice.account_id}/pricing/stream"
    return practice.http.stream("GET", path, params={"instruments": "EUR_USD,USD_JPY", **query})


def transactions(practice: PracticeServer, **headers: str) -> Opened:
    path = f"/v3/accounts/{practice.account_id}/transactions/stream"
    return practice.http.stream("GET", path, headers=headers)


@pytest.mark.e2e
async def test_prices_begin_with_a_snapshot_and_go_on(desk_of_my_own: PracticeServer) -> None:
    async with prices(desk_of_my_own) as answer:
        assert answer.headers["Content-Type"] == "application/octet-stream"
        assert answer.headers["Transfer-Encoding"] == "chunked"
        assert answer.headers["RequestID"].isdecimal()
        found = await first_of(answer, 6)
    assert {item["instrument"] for item in found[:2]} == {"EUR_USD", "USD_JPY"}
    checker = wire({"EUR_USD": 5, "USD_JPY": 3})
    assert [checker.item_problems("PricingStreamItem", item) for item in found] == [[]] * 6


@pytest.mark.e2e
async def test_a_price_of_the_snapshot_is_not_sent_again(desk_of_my_own: PracticeServer) -> None:
    async with prices(desk_of_my_own, instruments="EUR_USD,NZD_CAD") as answer:
        found = await first_of(answer, 12)
    told = [(item["instrument"], item["time"]) for item in found if item["type"] == "PRICE"]
    assert len(set(told)) == len(told)


@pytest.mark.e2e
async def test_a_heartbeat_comes_every_five_seconds_between_the_prices(
    desk_of_my_own: PracticeServer,
) -> None:
    async with prices(desk_of_my_own, snapshot="false") as answer, asyncio.timeout(30):
        async for item in items_of(answer):
            if item["type"] == "HEARTBEAT":
                assert wire().item_problems("PricingStreamItem", item) == []
                break


async def test_conversions_ride_along_when_asked_for(desk_of_my_own: PracticeServer) -> None:
    async with prices(desk_of_my_own, includeHomeConversions="true") as answer:
        found = await first_of(answer, 2)
    by_name = {item["instrument"]: item for item in found}
    factors = by_name["USD_JPY"]["homeConversions"]
    assert [one["currency"] for one in factors] == ["USD", "JPY"]
    assert wire().item_problems("PricingStreamItem", by_name["USD_JPY"]) == []


@pytest.mark.parametrize(
    "query", [{"instruments": ""}, {"instruments": "EUR_XXX"}, {"snapshot": "so"}]
)
async def test_a_stream_that_cannot_start_is_a_plain_error(
    desk_of_my_own: PracticeServer, query: Mapping[str, str]
) -> None:
    async with prices(desk_of_my_own, **query) as answer:
        await answer.aread()
    assert answer.status_code == 400
    assert answer.json()["errorMessage"]


async def test_transactions_come_from_now_on_in_whole_batches(
    desk_of_my_own: PracticeServer,
) -> None:
    async with transactions(desk_of_my_own) as answer:
        await desk_of_my_own.send("POST", "{a}/orders", MARKET)
        await desk_of_my_own.send("POST", "{a}/orders", MARKET)
        found = await first_of(answer, 5)
    assert [item["type"] for item in found] == ["HEARTBEAT", *["MARKET_ORDER", "ORDER_FILL"] * 2]
    assert [item["id"] for item in found[1:]] == ["4", "5", "6", "7"]
    assert found[0]["lastTransactionID"] == "3"
    assert all(wire().item_problems("TransactionStreamItem", item) == [] for item in found)


async def test_a_stream_speaks_the_clients_form_of_time(desk_of_my_own: PracticeServer) -> None:
    async with transactions(desk_of_my_own, **{"Accept-Datetime-Format": "UNIX"}) as answer:
        await desk_of_my_own.send("POST", "{a}/orders", MARKET)
        found = await first_of(answer, 3)
    checker = wire()
    checker.unix_times = True
    assert all(checker.item_problems("TransactionStreamItem", item) == [] for item in found)


@pytest.mark.e2e
async def test_streams_end_when_the_broker_leaves(practice: PracticeServer) -> None:
    async with prices(practice), transactions(practice) as events:
        assert await practice.stop() == 0
        async with asyncio.timeout(10):
            await _to_the_end(events)


async def _to_the_end(answer: httpx.Response) -> None:
    async for _ in answer.aiter_raw():
        pass


# --- the stream's own loop, with a client made by hand ---


class HandMade:
    """A client that reads when it is told to."""

    def __init__(self) -> None:
        self.sent: list[bytes] = []
        self.reading = asyncio.Event()
        self.reading.set()
        self.gone = asyncio.Event()

    async def receive(self) -> dict[str, Any]:
        await self.gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Mapping[str, Any]) -> None:
        await self.reading.wait()
        self.sent.append(message.get("body", b""))


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not condition():  # noqa: ASYNC110 - any condition, not only an event
            await asyncio.sleep(0.001)


def serve(
    client: HandMade,
    mailbox: PriceSubscription | TransactionSubscription,
    window: float = 0.0,
    heartbeat_seconds: float = 0.05,
) -> asyncio.Task[None]:
    stream = StreamResponse(
        mailbox,
        first=b"first\n",
        heartbeat=lambda: b"beat\n",
        release=mailbox.close,
        window=window,
        heartbeat_seconds=heartbeat_seconds,
    )
    return asyncio.ensure_future(stream({}, client.receive, client.send))


async def test_a_heartbeat_comes_also_while_nothing_else_does() -> None:
    client, mailbox = HandMade(), TransactionSubscription()
    task = serve(client, mailbox)
    await until(lambda: client.sent.count(b"beat\n") >= 3)
    client.gone.set()
    await asyncio.wait_for(task, 5)


async def test_a_heartbeat_comes_also_while_data_flows() -> None:
    client, mailbox = HandMade(), PriceSubscription(["EUR_USD"], None, unix_times=False)
    task = serve(client, mailbox)
    while not any(b"beat" in sent for sent in client.sent):
        mailbox.offer({"EUR_USD": b"price\n"})
        await asyncio.sleep(0)
    client.gone.set()
    await asyncio.wait_for(task, 5)


async def test_within_a_window_only_the_last_price_is_sent() -> None:
    client, mailbox = HandMade(), PriceSubscription(["EUR_USD"], None, unix_times=False)
    task = serve(client, mailbox, window=0.01, heartbeat_seconds=60)
    for number in range(100):
        mailbox.offer({"EUR_USD": f"{number}\n".encode()})
    await until(lambda: b"99\n" in client.sent)
    assert client.sent[:3] == [b"", b"first\n", b"99\n"]
    client.gone.set()
    await asyncio.wait_for(task, 5)


async def test_a_client_that_does_not_read_costs_one_line_an_instrument() -> None:
    client, mailbox = HandMade(), PriceSubscription(["EUR_USD"], None, unix_times=False)
    task = serve(client, mailbox, heartbeat_seconds=60)
    await until(lambda: b"first\n" in client.sent)
    client.reading.clear()
    for number in range(1000):
        mailbox.offer({"EUR_USD": f"{number}\n".encode()})
        await asyncio.sleep(0)
    client.reading.set()
    await until(lambda: any(sent.endswith(b"999\n") for sent in client.sent))
    assert len(client.sent) < 20
    client.gone.set()
    await asyncio.wait_for(task, 5)


async def test_a_transaction_client_that_cannot_keep_up_is_cut_off() -> None:
    client, mailbox = HandMade(), TransactionSubscription()
    task = serve(client, mailbox)
    await until(lambda: b"first\n" in client.sent)
    client.reading.clear()
    for _ in range(6):
        mailbox.offer(b"x" * (MAX_UNREAD_BYTES // 4))
    await asyncio.wait_for(task, 5)
    assert mailbox.closed
