import asyncio
from bisect import bisect_left
from collections.abc import Callable
from functools import partial
from time import monotonic

import pytest

from keydesk_client import Client
from keydesk_client.errors import UnreadableAnswer
from keydesk_client.http.limits import Limiter
from keydesk_client.http.messages import RequestKind
from keydesk_client.models import MarketOrderRequest
from support.data.hostile_answers import answer, whole_request
from support.fakes.fake_time import FakeTimers
from support.fakes.talking_server import talking_server


async def start(
    limiter: Limiter, timers: FakeTimers, kinds: list[RequestKind]
) -> list[tuple[int, float]]:
    """Return the admissions as (place in the list, time)."""
    entered: list[tuple[int, float]] = []

    async def one(place: int, kind: RequestKind) -> None:
        async with limiter.turn(kind):
            entered.append((place, timers.time()))

    async with asyncio.TaskGroup() as group:
        for place, kind in enumerate(kinds):
            group.create_task(one(place, kind))
        await timers.run_until(lambda: len(entered) == len(kinds))
    return entered


async def test_six_hundred_calls_take_four_seconds_and_no_second_sees_more_than_the_rate() -> None:
    timers = FakeTimers()
    entered = await start(Limiter(timers=timers), timers, [RequestKind.READ] * 600)
    times = [at for _, at in entered]
    assert 4.0 <= times[-1] - times[0] <= 4.3
    assert all(later - earlier >= 1.0 for earlier, later in zip(times, times[120:], strict=False))


async def test_calls_are_let_in_as_they_came() -> None:
    timers = FakeTimers()
    kinds = [RequestKind.READ, RequestKind.WRITE] * 200
    entered = await start(Limiter(timers=timers), timers, kinds)
    assert [place for place, _ in entered] == list(range(400))


async def test_a_cancel_goes_before_everything_that_waits() -> None:
    timers = FakeTimers()
    kinds = [RequestKind.READ] * 240 + [RequestKind.URGENT]
    entered = await start(Limiter(timers=timers), timers, kinds)
    assert [place for place, _ in entered].index(240) == 120


async def hold(limiter: Limiter, kind: RequestKind, release: asyncio.Event) -> None:
    async with limiter.turn(kind):
        await release.wait()


@pytest.fixture
async def holding() -> Callable[[Limiter, RequestKind, int], asyncio.Event]:
    tasks: list[asyncio.Task[None]] = []

    def begin(limiter: Limiter, kind: RequestKind, count: int) -> asyncio.Event:
        release = asyncio.Event()
        tasks.extend(asyncio.create_task(hold(limiter, kind, release)) for _ in range(count))
        return release

    return begin


async def test_slow_reads_leave_room_for_an_order(
    holding: Callable[[Limiter, RequestKind, int], asyncio.Event],
) -> None:
    limiter = Limiter(reads_at_once=4, calls_at_once=6)
    release = holding(limiter, RequestKind.READ, 10)
    await asyncio.sleep(0)
    async with asyncio.timeout(1), limiter.turn(RequestKind.WRITE):
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
            with pytest.raises(UnreadableAnswer):  # it has come, though it names nothing
                await client.positions.close("EUR_USD", long_units="ALL")
        for read in reads:
            read.cancel()
        await asyncio.gather(*reads, return_exceptions=True)


async def test_exits_get_through_while_every_other_call_hangs() -> None:
    async def answer_exits(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            head = await whole_request(reader)
            if not head.startswith(b"PUT"):
                await reader.read()
            writer.write(answer(b"{}"))

    order = MarketOrderRequest(instrument="EUR_USD", units=5)
    async with (
        talking_server(answer_exits) as url,
        Client(token="t", rest_url=url, stream_url=url, account_id="1") as client,
    ):
        reads = [asyncio.create_task(client.accounts.summary()) for _ in range(20)]
        writes = [asyncio.create_task(client.orders.create(order)) for _ in range(20)]
        await asyncio.sleep(0)
        async with asyncio.timeout(3):
            cancels = (client.orders.cancel(str(each)) for each in range(1, 6))
            close = client.positions.close("EUR_USD", long_units="ALL")
            answers = await asyncio.gather(*cancels, close, return_exceptions=True)
            assert {type(each) for each in answers} == {UnreadableAnswer}, "they name nothing"
        for each in (*reads, *writes):
            each.cancel()
        await asyncio.gather(*reads, *writes, return_exceptions=True)


async def test_look_ups_get_through_while_every_other_call_hangs(
    holding: Callable[[Limiter, RequestKind, int], asyncio.Event],
) -> None:
    limiter = Limiter()
    release = holding(limiter, RequestKind.URGENT, 25)
    holding(limiter, RequestKind.READ, 25)
    await asyncio.sleep(0)
    async with (
        asyncio.timeout(1),
        limiter.turn(RequestKind.LOOK_UP),
        limiter.turn(RequestKind.LOOK_UP),
    ):
        assert limiter.waiting == 42
    release.set()


async def test_look_ups_that_hang_themselves_take_no_place_of_an_exit(
    holding: Callable[[Limiter, RequestKind, int], asyncio.Event],
) -> None:
    limiter = Limiter(look_ups_at_once=2)
    holding(limiter, RequestKind.LOOK_UP, 30)
    await asyncio.sleep(0)
    assert limiter.waiting == 28
    async with asyncio.timeout(1), limiter.turn(RequestKind.URGENT), limiter.turn(RequestKind.READ):
        pass


async def test_a_look_up_goes_before_every_read_that_waits() -> None:
    timers = FakeTimers()
    kinds = [RequestKind.READ] * 240 + [RequestKind.LOOK_UP]
    entered = await start(Limiter(timers=timers), timers, kinds)
    assert [place for place, _ in entered].index(240) == 120


async def test_exits_that_hang_themselves_take_no_more_than_their_share(
    holding: Callable[[Limiter, RequestKind, int], asyncio.Event],
) -> None:
    limiter = Limiter(calls_at_once=6, more_for_exits=2)
    release = holding(limiter, RequestKind.URGENT, 12)
    await asyncio.sleep(0)
    assert limiter.waiting == 4
    release.set()
    async with asyncio.timeout(1), limiter.turn(RequestKind.READ):
        pass


async def test_a_thousand_that_wait_are_served_as_they_came_and_those_that_give_up_cost_no_turn() -> (
    None
):
    timers = FakeTimers()
    limiter = Limiter(timers=timers)
    entered: list[int] = []

    async def one(place: int) -> None:
        async with limiter.turn(RequestKind.WRITE if place % 3 else RequestKind.READ):
            entered.append(place)

    tasks = [asyncio.create_task(one(place)) for place in range(1000)]
    await asyncio.sleep(0)
    for place in range(200, 1000, 2):
        tasks[place].cancel()
    staying = [place for place in range(1000) if place < 200 or place % 2]
    began = timers.time()
    await timers.run_until(lambda: len(entered) == len(staying))
    assert entered == staying
    assert timers.time() - began <= len(staying) / 120 * 1.03
    assert limiter.waiting == 0


async def test_exits_without_end_leave_the_others_what_they_do_not_use() -> None:
    timers = FakeTimers()
    limiter = Limiter(rate=10, timers=timers)
    reads: list[float] = []

    async def read() -> None:
        async with limiter.turn(RequestKind.READ):
            reads.append(timers.time())

    async def exits() -> None:
        while len(reads) < 20:
            for _ in range(8):  # of ten a second
                async with limiter.turn(RequestKind.URGENT):
                    pass
            await told_in(timers, 1.02)

    tasks = [asyncio.create_task(read()) for _ in range(20)] + [asyncio.create_task(exits())]
    await timers.run_until(lambda: len(reads) == 20)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert reads[-1] - reads[0] < 15


async def told_in(timers: FakeTimers, seconds: float) -> None:
    told = asyncio.get_running_loop().create_future()
    timers.call_at(timers.time() + seconds, partial(told.set_result, None))
    await told


def busiest_second(times: list[float]) -> int:
    """The most of them within one second."""
    return max(bisect_left(times, at + 1.0) - place for place, at in enumerate(times))


async def requests_at_a_server(calls: int) -> list[float]:
    """When each of so many calls at once arrived, by the server's clock."""
    arrived: list[float] = []

    async def note(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            await whole_request(reader)
            arrived.append(monotonic())
            writer.write(answer(b"{}"))

    async with (
        talking_server(note) as url,
        Client(token="t", rest_url=url, stream_url=url, account_id="1") as client,
    ):
        await asyncio.gather(*(client.accounts.summary() for _ in range(calls)))
    return arrived


@pytest.mark.e2e
async def test_a_server_never_sees_more_than_the_rate_in_any_second() -> None:
    arrived = await requests_at_a_server(200)
    assert len(arrived) == 200
    assert busiest_second(arrived) <= 120


@pytest.mark.soak
async def test_a_server_of_six_hundred_calls_never_sees_more_than_the_rate_in_any_second() -> None:
    arrived = await requests_at_a_server(600)
    assert len(arrived) == 600
    assert busiest_second(arrived) <= 120


async def test_a_caller_that_gives_up_while_it_waits_leaves_its_place_to_the_next() -> None:
    limiter = Limiter(calls_at_once=1)
    async with limiter.turn(RequestKind.WRITE):
        tired = asyncio.create_task(hold(limiter, RequestKind.READ, asyncio.Event()))
        await asyncio.sleep(0)
        tired.cancel()
        await asyncio.wait([tired])
        assert limiter.waiting == 0
    async with asyncio.timeout(1), limiter.turn(RequestKind.WRITE):
        pass


async def test_a_caller_that_gives_up_as_its_turn_comes_gives_the_turn_back() -> None:
    limiter = Limiter(calls_at_once=1)
    async with limiter.turn(RequestKind.WRITE):
        tired = asyncio.create_task(hold(limiter, RequestKind.WRITE, asyncio.Event()))
        await asyncio.sleep(0)
    tired.cancel()
    await asyncio.wait([tired])
    async with asyncio.timeout(1), limiter.turn(RequestKind.WRITE):
        pass
