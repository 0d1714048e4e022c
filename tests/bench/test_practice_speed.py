"""How fast the practice broker is: it prints the figures, and holds only what a loaded machine can still reach."""

import asyncio
import json
import os
import sys
import time
from pathlib import Path
from typing import Self

import pytest

from support.broker import PracticeServer, practice_server

pytestmark = pytest.mark.bench
FAST = ("--rate-limit", "1000000")


def say(figure: str) -> None:
    print(f"\n    {figure}", file=sys.stderr)  # noqa: T201 - a bench speaks


class Connection:
    """A bare keep-alive connection: the client must not be what is measured."""

    def __init__(self, practice: PracticeServer) -> None:
        self._socket = practice.rest_url.removeprefix("http+unix://")
        self._head = f"Host: x\r\nAuthorization: Bearer {practice.token}\r\n"
        self._path = f"/v3/accounts/{practice.account_id}/orders"

    async def __aenter__(self) -> Self:
        self._reader, self._writer = await asyncio.open_unix_connection(self._socket)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._writer.close()
        await self._writer.wait_closed()

    async def order(self, units: int) -> dict[str, object]:
        order = {"type": "MARKET", "instrument": "EUR_USD", "units": str(units)}
        body = json.dumps({"order": order}).encode()
        head = f"POST {self._path} HTTP/1.1\r\n{self._head}Content-Length: {len(body)}\r\n\r\n"
        self._writer.write(head.encode() + body)
        answer = (await self._reader.readuntil(b"\r\n\r\n")).lower()
        assert b" 201 " in answer
        length = int(answer.partition(b"content-length: ")[2].split(b"\r\n")[0])
        return dict(json.loads(await self._reader.readexactly(length)))


async def test_a_thousand_orders_a_second(practice_folder: Path) -> None:
    async with practice_server(practice_folder, *FAST) as practice:
        took: list[float] = []

        async def trader(number: int) -> None:
            async with Connection(practice) as connection:
                for turn in range(250):
                    began = time.perf_counter()
                    await connection.order(100 if (turn + number) % 2 else -100)
                    took.append(time.perf_counter() - began)

        assert practice.process is not None
        before, began = cpu_of(practice.process.pid), time.perf_counter()
        await asyncio.gather(*map(trader, range(16)))
        rate = len(took) / (time.perf_counter() - began)
        cost = (cpu_of(practice.process.pid) - before) / len(took)
    took.sort()
    p50, p99 = took[len(took) // 2], took[len(took) * 99 // 100]
    say(
        f"{rate:,.0f} orders/s over 16 connections, p50 {p50 * 1e3:.1f} ms, p99 {p99 * 1e3:.1f} ms; "
        f"{cost * 1e3:.2f} ms of the broker's processor time an order"
    )
    assert cost < 0.003  # wall time on a busy machine says little


async def test_an_order_is_on_the_stream_within_50_ms(practice_folder: Path) -> None:
    async with practice_server(practice_folder, *FAST) as practice:
        seen: dict[str, float] = {}
        path = f"/v3/accounts/{practice.account_id}/transactions/stream"

        async def listen() -> None:
            async with practice.http.stream("GET", path) as answer:
                async for line in answer.aiter_lines():
                    if (item := json.loads(line))["type"] == "ORDER_FILL":
                        seen[item["orderID"]] = time.perf_counter()

        listening = asyncio.create_task(listen())
        sent: dict[str, float] = {}
        async with Connection(practice) as connection:
            due = time.perf_counter() + 0.5
            for turn in range(600):
                await asyncio.sleep(max(0.0, due - time.perf_counter()))
                due += 1 / 200
                began = time.perf_counter()
                made = await connection.order(100 if turn % 2 else -100)
                ids = made["relatedTransactionIDs"]
                assert isinstance(ids, list)
                sent[ids[0]] = began
        async with asyncio.timeout(10):
            while len(seen) < len(sent):  # noqa: ASYNC110 - the listener counts
                await asyncio.sleep(0.01)
        listening.cancel()
    took = sorted(seen[id_] - sent[id_] for id_ in sent)
    p50, p99 = took[len(took) // 2], took[len(took) * 99 // 100]
    say(f"order to fill on the stream at 200/s: p50 {p50 * 1e3:.1f} ms, p99 {p99 * 1e3:.1f} ms")
    assert p99 < 0.5


async def test_two_hundred_transaction_streams_hear_every_order(practice_folder: Path) -> None:
    async with practice_server(practice_folder, *FAST) as practice:
        head = f"Host: x\r\nAuthorization: Bearer {practice.token}\r\n\r\n"
        path = f"/v3/accounts/{practice.account_id}/transactions/stream"
        heard, orders = [0] * 200, 400
        opened = asyncio.Semaphore(0)

        async def listen(number: int) -> None:
            socket = practice.rest_url.removeprefix("http+unix://")
            reader, writer = await asyncio.open_unix_connection(socket)
            writer.write(f"GET {path} HTTP/1.1\r\n{head}".encode())
            await reader.readuntil(b"HEARTBEAT")
            opened.release()
            while heard[number] < orders:
                heard[number] += (await reader.readline()).count(b'"type":"ORDER_FILL"')
            writer.close()
            await writer.wait_closed()

        listening = [asyncio.create_task(listen(number)) for number in range(200)]
        for _ in listening:
            await opened.acquire()
        began = time.perf_counter()
        async with Connection(practice) as connection:
            for turn in range(orders):
                await connection.order(100 if turn % 2 else -100)
        sent = time.perf_counter() - began
        async with asyncio.timeout(30):
            await asyncio.gather(*listening)
        passed = time.perf_counter() - began
    say(
        f"200 transaction streams: {orders} orders in {sent:.2f} s, the last one heard by all after {passed:.2f} s"
    )
    assert heard == [orders] * 200


@pytest.mark.parametrize(("rate", "clients"), [("4", 1), ("4", 50), ("72", 1)])
async def test_prices_cost_little(practice_folder: Path, rate: str, clients: int) -> None:
    async with practice_server(practice_folder, *FAST, "--price-rate", rate) as practice:
        found = (await practice.get("{a}/instruments")).json()["instruments"]
        names = ",".join(one["name"] for one in found)
        path = f"/v3/accounts/{practice.account_id}/pricing/stream"
        lines = 0

        async def read() -> None:
            nonlocal lines
            async with practice.http.stream("GET", path, params={"instruments": names}) as answer:
                async for piece in answer.aiter_raw():
                    lines += piece.count(b"\n")

        readers = [asyncio.create_task(read()) for _ in range(clients)]
        await asyncio.sleep(1)
        assert practice.process is not None
        before, began, counted = cpu_of(practice.process.pid), time.perf_counter(), lines
        await asyncio.sleep(5)
        passed = time.perf_counter() - began
        share = (cpu_of(practice.process.pid) - before) / passed
        for reader in readers:
            reader.cancel()
    per_second = (lines - counted) / passed
    say(
        f"{clients} clients x {len(found)} instruments at {rate}/s: {per_second:,.0f} lines/s, {share:.1%} of a core"
    )
    assert share < 0.9


def cpu_of(pid: int) -> float:
    """Return the seconds of processor time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def test_it_listens_within_600_ms(practice_folder: Path) -> None:
    took = []
    for _ in range(5):
        began = time.perf_counter()
        async with practice_server(practice_folder):
            took.append(time.perf_counter() - began)
    say(f"from the command to listening: best {min(took):.2f} s, worst {max(took):.2f} s")
    assert min(took) < 2
