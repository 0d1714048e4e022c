"""Speed of the price stream, and how exactly a stall is detected, on real sockets: `pytest -m bench -s`."""

import asyncio
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager

import pytest

import support.fakes.pouring_server
from keydesk_client.client import Client
from keydesk_client.http.timing import Timeouts
from keydesk_client.streams.settings import StreamSettings
from support.broker import PracticeServer
from support.fakes.scripted_stream import price
from support.proxies.muting_proxy import Silence, muting_proxy

pytestmark = pytest.mark.bench

WARM_UP, MEASURED = 2_000, 100_000
LEAST_LINES_A_SECOND = 72_000


@pytest.fixture
def pouring_server() -> Iterator[str]:
    """Start a server in a process of its own, and yield its address."""
    program = support.fakes.pouring_server.__file__
    process = subprocess.Popen([sys.executable, program], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    yield process.stdout.readline().strip()
    process.kill()
    process.wait()
    process.stdout.close()


def client_of(stream_url: str, desk: PracticeServer | None = None) -> Client:
    if desk is None:
        return Client(
            token="token-1234", rest_url=stream_url, stream_url=stream_url, account_id="001"
        )
    return Client(
        token=desk.token,
        rest_url=desk.rest_url,
        stream_url=stream_url,
        account_id=desk.account_id,
        timeouts=Timeouts(opening=OPENING_S),
    )


async def lines_a_second(url: str) -> tuple[float, float]:
    """Return lines a second of wall time, and CPU microseconds a line."""
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
    assert 1e6 / busy >= LEAST_LINES_A_SECOND  # CPU time: wall time depends on what else runs


STALLS = (1.0, 5.0, StreamSettings().stall_s)
OPENING_S = 5.0
PATIENCE_S = 30.0
"""A busy broker's first line may come after the shortest stall time; that connection does not count."""
LINES = {"prices": 3, "transactions": 1}
"""Lines before the silence: idle, transactions are 5 s apart and prices 0.25 s."""


async def seconds_until_given_up(
    desk: PracticeServer, kind: str, silence: Silence, stall: float
) -> float:
    """Return the seconds until the client gives up a silent stream of the practice broker, seen from outside."""
    settings = StreamSettings(stall_s=stall, first_backoff_s=0.0)
    async with (
        muting_proxy(desk.stream_url, silence, lines=LINES[kind]) as proxy,
        client_of(proxy.url, desk) as client,
    ):
        stream: AbstractAsyncContextManager[object] = (
            client.pricing.stream(["EUR_USD"], settings=settings)
            if kind == "prices"
            else client.transactions.stream(settings=settings)
        )
        async with stream, asyncio.timeout(2 * stall + PATIENCE_S):
            return await proxy.left


@pytest.mark.parametrize("silence", [Silence.NOTHING, Silence.HALF_A_LINE])
@pytest.mark.parametrize("kind", ["prices", "transactions"])
async def test_a_silent_stream_is_detected_within_a_tenth_of_its_stall_time(
    desk_of_my_own: PracticeServer, kind: str, silence: Silence
) -> None:
    found = await asyncio.gather(
        *(seconds_until_given_up(desk_of_my_own, kind, silence, stall) for stall in STALLS)
    )
    shown = ", ".join(
        f"{each:.3f} s of {stall:g}" for each, stall in zip(found, STALLS, strict=True)
    )
    print(f"\n{kind}, {silence.value}: {shown}")  # noqa: T201
    assert found == [pytest.approx(stall, rel=0.1) for stall in STALLS]


@pytest.mark.parametrize("kind", ["prices", "transactions"])
async def test_an_unanswered_stream_is_detected_within_a_tenth_of_its_opening_timeout(
    desk_of_my_own: PracticeServer, kind: str
) -> None:
    """Opening has a timeout of its own: the service may send the first line of a stream late."""
    found = await seconds_until_given_up(desk_of_my_own, kind, Silence.NO_ANSWER, 30.0)
    print(f"\n{kind}, {Silence.NO_ANSWER.value}: {found:.3f} s of {OPENING_S:g}")  # noqa: T201
    assert found == pytest.approx(OPENING_S, rel=0.1)
