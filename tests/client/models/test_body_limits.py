"""No body takes more than 100 MB or blocks the event loop for 250 ms; regular large bodies are read."""

import asyncio
import gzip
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from keydesk_client import Client, Limiter, Retries
from keydesk_client.errors import AnswerTooLarge
from keydesk_client.models._core.decoder import MAX_SALVAGED, check_limits
from keydesk_client.models._core.json import CANDLES as CANDLES_BODY
from keydesk_client.models._core.json import ERROR, LIST, SMALL, WRITE, BodyLimits
from keydesk_client.models._core.json import INSTRUMENTS as INSTRUMENTS_BODY
from keydesk_client.resources.accounts import ACCOUNT, INSTRUMENTS
from keydesk_client.resources.candles import CANDLES
from keydesk_client.resources.pricing import PRICING
from keydesk_client.resources.transactions import INDEX, SEVERAL
from support.body_cost import KINDS
from support.data.account_history import account, transaction
from support.data.bench_bodies import candles_body, summary_body, trades_body
from support.data.hostile_answers import answer, chunked, whole_request
from support.fakes.talking_server import talking_server

MAX_MEGABYTES = 100
MAX_HELD_MS = 250
SUPPORT = Path(__file__).parents[2]

GOOD = {
    "account": json.dumps({"account": account().to_wire(), "lastTransactionID": "3"}).encode(),
    "candles": candles_body(),
    "order": b'{"relatedTransactionIDs":[],"lastTransactionID":"3"}',
    "prices": b'{"prices":[],"time":"2026-03-02T10:00:00.000000000Z"}',
    "trades": trades_body(2),
    "transactions": b'{"transactions":[],"lastTransactionID":"3"}',
}
LIST_OF = {
    "account": b'{"account":{"trades":[%b]}}',
    "candles": b'{"candles":[%b]}',
    "order": b'{"relatedTransactionIDs":[%b]}',
    "prices": b'{"prices":[%b]}',
    "trades": b'{"trades":[%b]}',
    "transactions": b'{"transactions":[%b]}',
}


def repeated(unit: bytes, size: int) -> bytes:
    return b",".join([unit] * (size // (len(unit) + 1)))


def hostile_bodies(kind: str, size: int) -> dict[str, bytes]:
    """Return bodies that take far more memory than their size."""
    inside = LIST_OF[kind]
    return {
        "empty lists": inside % repeated(b"[]", size),
        "nested lists": inside % repeated(b"[[[[[[]]]]]]", size),
        "empty objects": inside % repeated(b"{}", size),
        "objects of one member": inside % repeated(b'{"a":1}', size),
        "numbers": inside % repeated(b"1", size),
        "fractions": inside % repeated(b"1.5", size),
        "empty texts": inside % repeated(b'""', size),
        "names": b'{"a":{%b}}' % b",".join(b'"%x":1' % each for each in range(size // 10)),
        "escapes": b'{"a":"%b"}' % (b"\\/\\u0041" * (size // 8)),
        "one text": b'{"a":"%b"}' % (b"x" * size),
        "half a list": (inside % repeated(b"[]", size))[:-2],
        "unknown records": inside % repeated(b'{"type":"NEW","id":"1"}', size),
    }


async def cost(kind: str, content: bytes, *headers: str) -> dict[str, Any]:
    """Return what reading this body costs, measured in a client's process of its own."""
    bodies = [answer(GOOD[kind]), answer(content, 200, *headers)]

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            await whole_request(reader)
            writer.write(bodies.pop(0))
            await writer.drain()

    async with talking_server(talk) as url:
        child = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "support.body_cost", url, kind),
            cwd=SUPPORT,
            stdout=asyncio.subprocess.PIPE,
        )
        output, _ = await child.communicate()
    measured: dict[str, Any] = json.loads(output)
    return measured


def bounded(measured: dict[str, Any]) -> bool:
    held = measured["held_ms"] / max(1.0, measured["slowness"])
    return bool(measured["megabytes"] < MAX_MEGABYTES and held < MAX_HELD_MS)


@pytest.mark.e2e
async def test_nested_empty_lists_of_eleven_megabytes_raise_answer_too_large() -> None:
    measured = await cost("account", LIST_OF["account"] % repeated(b"[[]]", 10_800_000))
    assert measured["error"] == f"AnswerTooLarge: the answer is larger than {LIST.size} bytes"
    assert bounded(measured), measured


SIZES = {"small": 900_000, "largest": 5_900_000}
COSTLY = (
    "nested lists",
    "names",
    "escapes",
    "half a list",
)  # these at their largest, the others small; both sizes of all by the soak


@pytest.mark.e2e
@pytest.mark.parametrize(
    ("name", "size"),
    [
        pytest.param(
            name,
            size,
            marks=() if (size == "largest") is (name in COSTLY) else pytest.mark.soak,
            id=f"{name}-{size}",
        )
        for name in hostile_bodies("account", 100)
        for size in SIZES
    ],
)
async def test_no_account_costs_too_much(name: str, size: str) -> None:
    measured = await cost("account", hostile_bodies("account", SIZES[size])[name])
    assert bounded(measured), measured


@pytest.mark.e2e
@pytest.mark.parametrize("member", [b"1.5", b'{"id":1}'], ids=["numbers", "objects of numbers"])
async def test_a_dependent_order_of_many_unknown_members_costs_little(
    member: bytes,
) -> None:
    count = 200_000 if member == b"1.5" else 90_000
    members = b",".join(b'"%d":%b' % (number, member) for number in range(count))
    body = trades_body(2).replace(b'"takeProfitOrder": {', b'"takeProfitOrder": {%b,' % members)
    measured = await cost("trades", body)
    assert not measured["error"]
    assert bounded(measured), measured


@pytest.mark.e2e
@pytest.mark.soak
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", hostile_bodies("account", 100))
async def test_no_answer_of_any_kind_costs_too_much(name: str, kind: str) -> None:
    for size in (300_000, 990_000, 3_900_000, 5_900_000):
        measured = await cost(kind, hostile_bodies(kind, size)[name])
        assert bounded(measured), (size, measured)


@pytest.mark.e2e
@pytest.mark.parametrize("unit", [b"[],", b" ", b"{},"])
async def test_a_gzip_bomb_stops_at_the_size_limit_of_its_answer(unit: bytes) -> None:
    bomb = gzip.compress(unit * (60_000_000 // len(unit)))
    measured = await cost("prices", bomb, "Content-Encoding: gzip")
    assert (
        measured["error"]
        == f"AnswerTooLarge: the answer is larger than {INSTRUMENTS_BODY.size} bytes"
    )
    assert bounded(measured), measured


@pytest.mark.e2e
async def test_too_many_broken_records_raise_answer_too_large_and_few_are_read() -> None:
    broken, good = b'{"id":7}', json.loads(trades_body())["trades"][0]
    many = LIST_OF["account"] % repeated(broken, 9 * (MAX_SALVAGED + 10))
    measured = await cost("account", many)
    assert "more than 5,000 records of the answer cannot be read" in measured["error"]
    assert bounded(measured), measured
    few = ACCOUNT.read(LIST_OF["account"] % b",".join([json.dumps(good).encode()] * 500 + [broken]))
    assert len(few.account.trades) == 501
    assert few.account.trades[0].to_wire() == good
    assert few.account.trades[500].id == "7"


def account_with_trades(count: int) -> bytes:
    """Return an account with trades, each with a stop and a target."""
    trade = json.loads(trades_body())["trades"][0]
    trades = [trade | {"id": str(10 + 3 * each)} for each in range(count)]
    common = {
        "createTime": "2026-03-02T10:00:00.000000000Z",
        "price": "1.08500",
        "timeInForce": "GTC",
        "triggerCondition": "DEFAULT",
        "state": "PENDING",
    }
    orders = [
        common | {"id": str(each), "type": kind, "tradeID": trade["id"]}
        for trade in trades
        for each, kind in (
            (int(trade["id"]) + 1, "STOP_LOSS"),
            (int(trade["id"]) + 2, "TAKE_PROFIT"),
        )
    ]
    whole = account().to_wire() | {"trades": trades, "orders": orders}
    return json.dumps({"account": whole, "lastTransactionID": "99999"}).encode()


def test_large_regular_answers_are_within_their_limits() -> None:
    read = ACCOUNT.read(account_with_trades(5000))
    assert (len(read.account.trades), len(read.account.orders)) == (5000, 10_000)
    page = [transaction(each, "MARGIN_CALL_EXIT").to_wire() for each in range(1, 1001)]
    body = json.dumps({"transactions": page, "lastTransactionID": "1000"}).encode()
    assert len(SEVERAL.read(body).transactions) == 1000
    pages = [
        "https://host.test/v3/accounts/101-001-1234567-001/transactions/idrange?from=1000001&to=1000100"
    ]
    index = {"from": "0", "to": "1", "pageSize": 100, "count": 10**6, "pages": pages * 10_000}
    assert (
        len(INDEX.read(json.dumps(index | {"lastTransactionID": "1000000"}).encode()).pages)
        == 10_000
    )


def test_a_thousand_instruments_and_their_prices_are_within_their_limits() -> None:
    days = [{"dayOfWeek": "WEDNESDAY", "daysCharged": 3}] * 7
    instrument = {
        "name": "EUR_USD",
        "type": "CURRENCY",
        "displayName": "EUR/USD",
        "pipLocation": -4,
        "displayPrecision": 5,
        "tradeUnitsPrecision": 0,
        "minimumTradeSize": "1",
        "maximumTrailingStopDistance": "1.00000",
        "minimumGuaranteedStopLossDistance": "0.00100",
        "minimumTrailingStopDistance": "0.00050",
        "maximumPositionSize": "0",
        "maximumOrderUnits": "100000000",
        "marginRate": "0.0333",
        "guaranteedStopLossOrderMode": "ALLOWED",
        "guaranteedStopLossOrderExecutionPremium": "0.0001",
        "guaranteedStopLossOrderLevelRestriction": {"volume": "1000000", "priceRange": "0.00250"},
        "tags": [{"type": "ASSET_CLASS", "name": "CURRENCY"}] * 2,
        "financing": {"longRate": "-0.0105", "shortRate": "-0.0055", "financingDaysOfWeek": days},
    }
    body = json.dumps({"instruments": [instrument] * 1000, "lastTransactionID": "7"}).encode()
    assert len(body) > SMALL.size
    assert len(INSTRUMENTS.read(body).instruments) == 1000
    levels = [{"price": "1.08500", "liquidity": 10_000_000}] * 4
    units = {"long": "2000000", "short": "2000000"}
    price = {
        "type": "PRICE",
        "instrument": "EUR_USD",
        "time": "2026-03-02T10:00:00.000000000Z",
        "bids": levels,
        "asks": levels,
        "closeoutBid": "1.08490",
        "closeoutAsk": "1.08520",
        "status": "tradeable",
        "tradeable": True,
        "quoteHomeConversionFactors": {"positiveUnits": "1.00", "negativeUnits": "1.00"},
        "unitsAvailable": dict.fromkeys(
            ("default", "openOnly", "reduceFirst", "reduceOnly"), units
        ),
    }
    prices = {"prices": [price] * 1000, "time": "2026-03-02T10:00:00.000000000Z"}
    assert len(PRICING.read(json.dumps(prices, indent=1).encode()).prices) == 1000


def test_five_thousand_candles_of_three_components_are_read_although_one_is_broken() -> None:
    plain = json.loads(candles_body())
    for candle in plain["candles"]:
        candle["bid"] = candle["ask"] = candle["mid"]
    plain["candles"][7]["mid"]["c"] = "NaN"
    read = CANDLES.read(json.dumps(plain).encode())
    assert len(read.candles) == 5000
    assert read.candles[8].to_wire() == plain["candles"][8]
    assert not hasattr(read.candles[7].mid, "c")


def test_each_limit_is_named_in_the_error() -> None:
    limits = BodyLimits(1000, containers=10, values=20)
    for body, text in (
        (b"x" * 1001, "larger than 1000 bytes"),
        (b"[" * 11, "more than 10 arrays and objects"),
        (b"," * 21, "more than 20 values"),
    ):
        with pytest.raises(AnswerTooLarge, match=text):
            check_limits(body, limits, counted=True)
    assert max(len(candles_body()), len(summary_body())) < SMALL.size
    assert ERROR.size < SMALL.size < WRITE.size == CANDLES_BODY.size < LIST.size


@asynccontextmanager
async def client_of(body: bytes) -> AsyncIterator[tuple[Client, list[int]]]:
    """Yield a client of a server that always gives this answer, and its count of requests."""
    requests = [0]

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            await whole_request(reader)
            requests[0] += 1
            writer.write(body)
            await writer.drain()

    async with (
        talking_server(talk) as url,
        Client(
            token="t",
            rest_url=url,
            stream_url=url,
            account_id="1",
            limiter=Limiter(rate=10_000),
            retries=Retries(max_retries=3, first_backoff_s=0.001),
        ) as client,
    ):
        yield client, requests


async def test_an_answer_that_is_too_large_is_not_requested_again() -> None:
    async with client_of(answer(b"[" * (INSTRUMENTS_BODY.size + 1))) as (client, requests):
        with pytest.raises(AnswerTooLarge):
            await client.pricing.get(["EUR_USD"])
    assert requests == [1]


async def test_chunks_are_counted_while_they_come() -> None:
    async with client_of(chunked(*[b" " * 100_000] * 26, ending=b"")) as (client, _):
        with pytest.raises(AnswerTooLarge, match="2500000"):
            await client.pricing.get(["EUR_USD"])
