import asyncio
from collections.abc import Callable

import pytest

from keydesk_client import Client
from keydesk_client.limiter import Claim, Limiter
from support.fake_time import FakeTimers
from support.talking_server import talking_server


async def start(
    limiter: Limiter, timers: FakeTimers, claims: list[Claim]
) -> list[tuple[int, float]]:
    """Who was let in when, as (place in the list, time)."""
    entered: list[tuple[int, float]] = []

    async def one(place: int, claim: Claim) -> None:
        async with limiter.turn(claim):
            entered.append((place, timers.time()))

    async with asyncio.TaskGroup() as group:
        for place, claim in enumerate(claims):
            group.create_task(one(place, claim))
        await timers.run_until(lambda: len(entered) == len(claims))
    return entered


async def test_six_hundred_calls_take_four_seconds_and_no_second_sees_more_than_the_rate() -> None:
    timers = FakeTimers()
    entered = await start(Limiter(timers=timers), timers, [Claim.READ] * 600)
    times = [at for _, at in entered]
    assert 4.0 <= times[-1] - times[0] <= 4.3
    assert all(later - earlier >= 1.0 for earlier, later in zip(times, times[120:], strict=False))


async def test_calls_are_let_in_as_they_came() -> None:
    timers = FakeTimers()
    claims = [Claim.READ, Claim.WRITE] * 200
    entered = await start(Limiter(timers=timers), timers, claims)
    assert [place for place, _ in entered] == list(range(400))


async def test_a_cancel_goes_before_everything_that_waits() -> None:
    timers = FakeTimers()
    claims = [Claim.READ] * 240 + [Claim.URGENT]
    entered = await start(Limiter(timers=timers), timers, claims)
    assert [place for place, _ in entered].index(240) == 120


async def hold(limiter: Limiter, claim: Claim, release: asyncio.Event) -> None:
    async with limiter.turn(claim):
        await release.wait()


@pytest.fixture
async def holding() -> Callable[[Limiter, Claim, int], asyncio.Event]:
    tasks: list[asyncio.Task[None]] = []

    def begin(limiter: Limiter, claim: Claim, count: int) -> asyncio.Event:
        release = asyncio.Event()
        tasks.extend(asyncio.create_task(hold(limiter, claim, release)) for _ in range(count))
        return release

    return begin


async def test_slow_reads_leave_room_for_an_order(
    holding: Callable[[Limiter, Claim, int], asyncio.Event],
) -> None:
    limiter = Limiter(reads_at_once=4, calls_at_once=6)
    release = holding(limiter, Claim.READ, 10)
    await asyncio.sleep(0)
    async with asyncio.timeout(1), limiter.turn(Claim.WRITE):
        assert limiter.waiting == 6
    release.set()


async def test_an_order_gets_through_while_every_read_hangs() -> None:
    async def answer_writes(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        if head.startswith(b"GET"):
            await reader.read()
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")

    async with (
        talking_server(answer_writes) as url,
        Client(token="t", rest_url=url, stream_url=url, account_id="1") as client,
    ):
        reads = [asyncio.create_task(client.accounts.summary()) for _ in range(20)]
        await asyncio.sleep(0)
        async with asyncio.timeout(3):
            await client.positions.close("EUR_USD", long_units="ALL")
        for read in reads:
            read.cancel()
        await asyncio.gather(*reads, return_exceptions=True)


async def test_a_caller_that_gives_up_while_it_waits_leaves_its_place_to_the_next() -> None:
    limiter = Limiter(calls_at_once=1)
    async with limiter.turn(Claim.WRITE):
        tired = asyncio.create_task(hold(limiter, Claim.URGENT, asyncio.Event()))
        await asyncio.sleep(0)
        tired.cancel()
        await asyncio.wait([tired])
        assert limiter.waiting == 0
    async with asyncio.timeout(1), limiter.turn(Claim.WRITE):
        pass


async def test_a_caller_that_gives_up_as_its_turn_comes_gives_the_turn_back() -> None:
    limiter = Limiter(calls_at_once=1)
    async with limiter.turn(Claim.WRITE):
        tired = asyncio.create_task(hold(limiter, Claim.WRITE, asyncio.Event()))
        await asyncio.sleep(0)
    tired.cancel()
    await asyncio.wait([tired])
    async with asyncio.timeout(1), limiter.turn(Claim.WRITE):
        pass
