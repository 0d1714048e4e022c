"""The price stream's speed, and how exactly a mute one is found, on real sockets: `pytest -m bench -s`."""

import asyncio
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

import support.pouring_server
from keydesk_client.client import Client
from keydesk_client.streams.health import Gap
from keydesk_client.streams.settings import StreamSettings
from support.pouring_server import HEAD, chunk
from support.scripted_stream import price
from support.talking_server import talking_server

pytestmark = pytest.mark.bench

WARM_UP, MEASURED = 2_000, 100_000
LEAST_LINES_A_SECOND = 72_000


@pytest.fixture
def pouring_server() -> Iterator[str]:
    """A server in a process of its own, so that two cores share the work as they do in life."""
    program = support.pouring_server.__file__
    process = subprocess.Popen([sys.executable, program], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    yield process.stdout.readline().strip()
    process.kill()
    process.wait()
    process.stdout.close()


def client_of(url: str) -> Client:
    return Client(token="token-1234", rest_url=url, stream_url=url, account_id="001")


async def lines_a_second(url: str) -> tuple[float, float]:
    """Lines a second of wall time, and microseconds of processor time a line."""
    async with client_of(url) as client, client.pricing.stream(["EUR_USD"]) as prices:
        for _ in range(WARM_UP):
            await anext(prices)
        began, busy = time.perf_counter(), time.process_time()
        for _ in range(MEASURED):
            await anext(prices)
        wall, busy = time.perf_counter() - began, time.process_time() - busy
    return MEASURED / wall, busy / MEASURED * 1e6


async def test_typed_prices_a_second(pouring_server: str) -> None:
    runs = [await lines_a_second(pouring_server) for _ in range(3)]
    best, busy = max(wall for wall, _ in runs), min(busy for _, busy in runs)
    print(f"\n{best:,.0f} typed lines/s of {len(price())} bytes, {busy:.1f} us of CPU a line")  # noqa: T201
    assert 1e6 / busy >= LEAST_LINES_A_SECOND  # of a core: the wall clock knows who else is busy


async def mute(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """One price, and then nothing."""
    await reader.readuntil(b"\r\n\r\n")
    writer.write(HEAD + chunk(price()))
    await reader.read()


@pytest.mark.parametrize("stall", [0.5, 2.0])
async def test_a_mute_stream_is_found_within_a_tenth_of_its_stall_time(stall: float) -> None:
    settings = StreamSettings(stall_s=stall, first_pause_s=0.0)
    async with talking_server(mute) as url, client_of(url) as client:
        async with client.pricing.stream(["EUR_USD"], settings=settings) as prices:
            await anext(prices)
            found = await anext(prices)
        assert isinstance(found, Gap)
        assert found.seconds == pytest.approx(stall, rel=0.1)
