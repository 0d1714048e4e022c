"""When look-ups happen: at fixed times, at once when the stream shows a transaction, until the last is answered."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from keydesk_client.client import Client
from keydesk_client.http.limits import LOOK_UPS_AT_ONCE
from keydesk_client.http.retry import Retries
from keydesk_client.models import MarketOrderRequest, Transaction
from keydesk_client.models._core.decoder import Reader
from keydesk_client.orders.journal import FileJournal
from keydesk_client.orders.outcome import Done, Outcome, Unconfirmed
from keydesk_client.orders.reconciler import MAX_SPREAD, SharedReads
from keydesk_client.orders.sender import Sender
from support.data.hostile_answers import answer, whole_request
from support.fakes.talking_server import talking_server
from support.fakes.virtual_time import run

MADE = {
    "id": "12",
    "type": "MARKET_ORDER",
    "batchID": "12",
    "accountID": "001",
    "userID": 1,
    "time": "2026-11-20T10:00:00.000000000Z",
    "instrument": "EUR_USD",
    "units": "1",
    "reason": "CLIENT_ORDER",
    "clientExtensions": {"id": "kd-1"},
}
CANCELLED = {
    "id": "13",
    "type": "ORDER_CANCEL",
    "batchID": "12",
    "accountID": "001",
    "userID": 1,
    "time": "2026-11-20T10:00:00.000000000Z",
    "orderID": "12",
    "reason": "MARKET_HALTED",
}
SLOW_S = 4.0


class SlowHistory:
    """An account's history with slow answers, each with what was known when the request came."""

    def __init__(self, answer_s: float = 0.0) -> None:
        self.answer_s = answer_s
        self.failing = 0
        self.known: list[dict[str, object]] = []
        self.asked_at: list[float] = []

    async def answered(self, request: httpx.Request) -> httpx.Response:
        if request.method == "POST":
            raise httpx.ReadError("cut")
        self.asked_at.append(asyncio.get_running_loop().time() - 1000)
        after = int(request.url.params["id"])
        known = [each for each in self.known if int(str(each["id"])) > after]
        await asyncio.sleep(self.answer_s)
        if self.failing:
            self.failing -= 1
            raise httpx.ReadError("cut")
        return httpx.Response(200, json={"transactions": known, "lastTransactionID": "13"})

    def client(self) -> Client:
        return Client(
            token="token-1234",
            rest_url="https://rest.test",
            stream_url="https://stream.test",
            account_id="001",
            transport=httpx.MockTransport(self.answered),
            retries=Retries(max_retries=0),
        )


def settle(
    folder: Path, history: SlowHistory, *events: tuple[float, Callable[[Sender], None]]
) -> tuple[Outcome, float]:
    """Return the outcome of an order whose answer was lost, and the seconds it took; play events meanwhile."""

    async def body() -> tuple[Outcome, float]:
        loop = asyncio.get_running_loop()
        async with history.client() as client:
            journal = FileJournal(folder / "journal" / "orders.jsonl")
            sender = Sender(client, journal, lambda: 11, new_id=lambda: "kd-1")
            for moment, event in events:
                loop.call_later(moment, event, sender)
            outcome = await sender.create(MarketOrderRequest(instrument="EUR_USD", units=1))
            return outcome, loop.time() - 1000

    return run(body())


def tell(sender: Sender) -> None:
    sender.watch(Reader[Transaction](Transaction).read(json.dumps(MADE).encode()))


def test_slow_answers_do_not_add_up(tmp_path: Path) -> None:
    history = SlowHistory(answer_s=SLOW_S)
    outcome, after = settle(tmp_path, history)
    assert isinstance(outcome, Unconfirmed)
    assert history.asked_at[-1] == 30.5
    assert after == 30.5 + SLOW_S


def test_a_failed_look_up_delays_those_that_follow(tmp_path: Path) -> None:
    history = SlowHistory(answer_s=10.0)
    history.failing = 2
    settle(tmp_path, history)
    assert history.asked_at[:3] == [0.5, 11.5, 23.5]


def test_a_look_up_that_the_stream_calls_for_replaces_no_scheduled_one(tmp_path: Path) -> None:
    history = SlowHistory()
    history.known = [MADE]  # the rest of its batch is late: nothing is settled by it
    outcome, after = settle(tmp_path, history, *((0.1 * each, tell) for each in range(1, 9)))
    assert isinstance(outcome, Unconfirmed)
    assert after == 30.5


def test_a_transaction_that_comes_during_a_look_up_causes_another_one(tmp_path: Path) -> None:
    history = SlowHistory(answer_s=1.0)

    def happen(sender: Sender) -> None:
        history.known = [MADE, CANCELLED]
        tell(sender)

    outcome, _ = settle(tmp_path, history, (4.0, happen))  # asked since 3.5, and next at 7.5
    assert isinstance(outcome, Done)
    assert history.asked_at[3] == 4.5


def test_twenty_five_lost_answers_are_looked_up_by_a_few_reads(tmp_path: Path) -> None:
    history = SlowHistory(answer_s=1.0)
    history.known = [
        each | {"id": str(2 * number + place), "batchID": str(2 * number)} | member
        for number in range(10, 35)
        for place, each, member in (
            (0, MADE, {"clientExtensions": {"id": f"kd-{number}"}}),
            (1, CANCELLED, {"orderID": str(2 * number)}),
        )
    ]

    async def body() -> float:
        async with history.client() as client:
            journal = FileJournal(tmp_path / "journal" / "orders.jsonl")
            names = map("kd-{}".format, range(10, 35)).__next__
            sender = Sender(client, journal, lambda: 11, new_id=names)
            order = MarketOrderRequest(instrument="EUR_USD", units=1)
            outcomes = await asyncio.gather(*(sender.create(order) for _ in range(25)))
            assert all(isinstance(outcome, Done) for outcome in outcomes)
            return asyncio.get_running_loop().time() - 1000

    assert run(body()) <= 0.5 + 2.0  # not 25 s
    assert len(history.asked_at) == LOOK_UPS_AT_ONCE + 1  # the first alone, the others together


async def test_a_look_up_does_not_wait_behind_three_that_hang() -> None:
    hanging = asyncio.Event()

    async def read(after: int, _: str | None) -> list[Transaction]:
        if after < 3 * MAX_SPREAD:  # the first three: too far from each other to be read together
            await hanging.wait()
        return []

    reads = SharedReads(read)
    others = [
        asyncio.create_task(reads.after(place * 2 * MAX_SPREAD, "001", f"kd-{place}"))
        for place in range(2)
    ]
    others.append(asyncio.create_task(reads.after(0, "002", "kd-2")))
    await asyncio.sleep(0)
    assert await reads.after(3 * MAX_SPREAD, "001", "kd-3") == []
    assert not any(other.done() for other in others)
    hanging.set()
    await asyncio.gather(*others)


class HangingWrites:
    """A server that cuts the connection of the first close, answers no other write, and answers reads."""

    def __init__(self) -> None:
        self.ledger: list[dict[str, object]] = []
        self.writes = 0
        self.closed = asyncio.Event()

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            request = await whole_request(reader)
            if request.startswith(b"GET"):
                told = {"transactions": self.ledger, "lastTransactionID": "13"}
                writer.write(answer(json.dumps(told).encode()))
                continue
            self.writes += 1
            if b"/trades/1/close" in request:
                close = {"tradeClose": {"tradeID": "1", "units": "ALL"}, "reason": "TRADE_CLOSE"}
                self.ledger = [MADE | close, CANCELLED]
                return
            await reader.read()


async def settles_while_writes_hang(rest_url: str, folder: Path) -> None:
    """Send 25 closes; the first, whose answer is lost, is settled while the others get no answer."""
    async with Client(
        token="t", rest_url=rest_url, stream_url=rest_url, account_id="001"
    ) as client:
        journal = FileJournal(folder / "journal" / "orders.jsonl")
        sender = Sender(client, journal, lambda: 11)
        first = asyncio.create_task(sender.close_trade("1"))
        others = [asyncio.create_task(sender.close_trade(str(number))) for number in range(2, 26)]
        reads = [asyncio.create_task(client.accounts.summary()) for _ in range(25)]
        async with asyncio.timeout(SETTLED_WITHIN_S):
            outcome = await first
        assert isinstance(outcome, Done)
        assert not any(other.done() for other in others)
        for each in (*others, *reads):
            each.cancel()
        await asyncio.gather(*others, *reads, return_exceptions=True)


SETTLED_WITHIN_S = 8.0
"""Less than the 10 s after which the first hanging write times out."""


@pytest.mark.e2e
async def test_a_lost_answer_is_looked_up_while_25_writes_hang(tmp_path: Path) -> None:
    async with talking_server(HangingWrites().talk) as url:
        await settles_while_writes_hang(url, tmp_path)
