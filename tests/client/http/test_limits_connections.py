"""At most two new connections a second, requests and streams together; exits take the first idle one."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager

import pytest

from keydesk_client.auth.secret import Secret
from keydesk_client.errors import ClientClosed, TimedOut
from keydesk_client.http.limits import (
    CONNECT_WINDOW_S,
    ConnectionSlots,
    ConnectRateLimiter,
    Limiter,
)
from keydesk_client.http.messages import Request, RequestKind
from keydesk_client.http.session import Session
from keydesk_client.http.timing import Timeouts
from support.data.hostile_answers import GOOD_BODY, answer, whole_request
from support.fakes.connections import Talk
from support.fakes.talking_server import talking_server
from support.fakes.virtual_time import run, virtual_timing

MOST = 8
IDLE_S = 25.0


class Calls:
    """Calls through the admission queue in virtual time, with connections as the HTTP library opens them."""

    def __init__(self) -> None:
        self.rate_limiter = ConnectRateLimiter(virtual_timing())
        self.slots = ConnectionSlots(self.rate_limiter, MOST, IDLE_S)
        self.limiter = Limiter(reads_at_once=100, calls_at_once=100)
        self.began = self.rate_limiter.now()
        self.made: list[float] = []
        self.started: dict[str, float] = {}
        self._free = 0

    def turn(self, *, urgent: bool = False) -> AbstractAsyncContextManager[None]:
        kind = RequestKind.URGENT if urgent else RequestKind.READ
        return self.limiter.turn(kind, self.slots)

    async def call(self, name: str, lasts: float = 0.1, *, urgent: bool = False) -> None:
        async with self.turn(urgent=urgent):
            trace = self.slots.trace()
            if self._free == 0:
                await trace("connection.connect_tcp.started", {})
                self.made.append(self._now())
                await trace("connection.connect_tcp.complete", {})
            else:
                self._free -= 1
            self.started[name] = self._now()
            await asyncio.sleep(lasts)
            if lasts > 9:
                raise ConnectionError("it broke")
            self._free += 1

    def forget(self) -> None:
        """Let the HTTP library close its idle connections."""
        self._free = 0

    def _now(self) -> float:
        return round(self.rate_limiter.now() - self.began, 3)


def lived(body: Callable[[Calls], Awaitable[None]]) -> Calls:
    async def whole() -> Calls:
        calls = Calls()
        await body(calls)
        return calls

    return run(whole())


def test_two_connections_at_once_and_two_more_a_second_later() -> None:
    async def body(calls: Calls) -> None:
        await asyncio.gather(*(calls.call(str(each), 5.0) for each in range(6)))

    assert lived(body).made == [
        0.0,
        0.0,
        CONNECT_WINDOW_S,
        CONNECT_WINDOW_S,
        2 * CONNECT_WINDOW_S,
        2 * CONNECT_WINDOW_S,
    ]


def test_calls_that_are_soon_over_share_the_first_two_connections() -> None:
    async def body(calls: Calls) -> None:
        await asyncio.gather(*(calls.call(str(each), 0.1) for each in range(20)))

    calls = lived(body)
    assert calls.made == [0.0, 0.0]
    assert max(calls.started.values()) == pytest.approx(0.9)


def test_an_exit_takes_the_first_connection_that_is_free() -> None:
    async def body(calls: Calls) -> None:
        reads = [asyncio.ensure_future(calls.call(f"read {each}", 0.4)) for each in range(4)]
        await asyncio.sleep(0.1)
        await calls.call("exit", urgent=True)
        await asyncio.gather(*reads)

    started = lived(body).started
    assert started["exit"] == 0.4
    assert started["read 3"] >= 0.4


def test_an_exit_takes_the_first_connection_that_may_be_made() -> None:
    async def body(calls: Calls) -> None:
        reads = [asyncio.ensure_future(calls.call(f"read {each}", 5.0)) for each in range(4)]
        await asyncio.sleep(0.1)
        await calls.call("exit", urgent=True)
        await asyncio.gather(*reads)

    calls = lived(body)
    assert calls.started["exit"] == CONNECT_WINDOW_S
    assert calls.made == [0.0, 0.0, CONNECT_WINDOW_S, CONNECT_WINDOW_S]


def test_no_more_connections_than_most_are_waited_for() -> None:
    async def body(calls: Calls) -> None:
        await asyncio.gather(*(calls.call(str(each), 8.0) for each in range(12)))

    assert len(lived(body).made) == MOST


def test_a_call_that_fails_takes_its_connection_with_it() -> None:
    async def body(calls: Calls) -> None:
        failing = (calls.call("a", 10.0), calls.call("b", 10.0))
        await asyncio.gather(*failing, return_exceptions=True)
        await asyncio.gather(*(calls.call(each, 5.0) for each in "cde"))

    assert lived(body).made == [0.0, 0.0, 10.0, 10.0, 10.0 + CONNECT_WINDOW_S]


def test_a_failed_call_leaves_no_place_for_another_to_wait_in_instead_of_an_exit() -> None:
    async def body(calls: Calls) -> None:
        calls.rate_limiter.turn_nowait()
        failing = asyncio.ensure_future(calls.call("failing", 10.0))
        await asyncio.sleep(9.9)
        calls.rate_limiter.turn_nowait()  # a stream's
        await asyncio.sleep(0.05)
        calls.rate_limiter.turn_nowait()  # and another's
        waiting = asyncio.ensure_future(calls.call("waiting"))
        await asyncio.sleep(0.1)
        await calls.call("exit", urgent=True)
        await asyncio.gather(failing, waiting, return_exceptions=True)

    assert lived(body).started["exit"] == pytest.approx(9.9 + CONNECT_WINDOW_S)


def test_connections_that_nobody_used_for_long_are_not_counted_on() -> None:
    async def body(calls: Calls) -> None:
        await asyncio.gather(*(calls.call(str(each), 5.0) for each in range(6)))
        await asyncio.sleep(IDLE_S + 1)
        calls.forget()
        await asyncio.gather(*(calls.call(f"late {each}", 5.0) for each in range(3)))

    first, second, third = lived(body).made[6:]
    assert first == second
    assert third == pytest.approx(first + CONNECT_WINDOW_S)


def test_a_connection_closed_unseen_is_made_again_at_the_pace_all_the_same() -> None:
    async def body(calls: Calls) -> None:
        await asyncio.gather(*(calls.call(str(each), 5.0) for each in range(4)))
        calls.forget()
        await asyncio.gather(*(calls.call(f"late {each}", 5.0) for each in range(4)))

    made = lived(body).made[4:]
    assert made[1] == made[0]
    assert [each - made[0] for each in made[2:]] == pytest.approx(
        [CONNECT_WINDOW_S, CONNECT_WINDOW_S]
    )


def test_a_turn_that_was_not_used_does_not_let_a_third_connection_through_later() -> None:
    async def body(calls: Calls) -> None:
        for _ in range(2):
            async with calls.turn():
                pass  # the library had a connection after all
        await asyncio.sleep(3)
        for _ in range(2):
            (await calls.rate_limiter.turn()).over()
        await asyncio.gather(*(calls.call(each, 5.0) for each in "ab"))

    made = lived(body).made
    assert made[0] >= 3 + CONNECT_WINDOW_S


def test_streams_and_calls_share_the_pace() -> None:
    async def body(calls: Calls) -> None:
        (await calls.rate_limiter.turn()).over()
        await asyncio.gather(*(calls.call(each, 5.0) for each in "ab"))

    assert lived(body).made == [0.0, CONNECT_WINDOW_S]


def test_who_gives_up_waiting_leaves_its_place_to_others() -> None:
    async def body(calls: Calls) -> None:
        tasks = [asyncio.ensure_future(calls.call(str(each), 0.5)) for each in range(5)]
        await asyncio.sleep(0.1)
        tasks[2].cancel()
        tasks[3].cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    assert set(lived(body).started) == {"0", "1", "4"}


def test_who_gives_up_the_moment_it_was_let_in_leaves_its_place_to_others() -> None:
    async def body(calls: Calls) -> None:
        async with calls.turn(), AsyncExitStack() as second:
            await second.enter_async_context(calls.turn())
            waiting = asyncio.ensure_future(calls.call("waiting"))
            await asyncio.sleep(0)
            await second.aclose()
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)
            async with calls.turn():
                assert calls.rate_limiter.now() == calls.began

    assert lived(body).started == {}


def test_look_ups_get_the_next_connection_though_exits_wait_and_then_they_take_turns() -> None:
    async def body() -> list[tuple[str, float]]:
        rate_limiter = ConnectRateLimiter(virtual_timing())
        limiter = Limiter()
        slots = {
            RequestKind.URGENT: ConnectionSlots(rate_limiter, MOST, IDLE_S),
            RequestKind.LOOK_UP: ConnectionSlots(rate_limiter, 2, IDLE_S),
        }
        began, got = rate_limiter.now(), list[tuple[str, float]]()

        async def hangs(kind: RequestKind) -> None:
            async with limiter.turn(kind, slots[kind]):
                got.append((kind.name, round(rate_limiter.now() - began)))
                await asyncio.sleep(600)

        calls = [asyncio.create_task(hangs(RequestKind.URGENT)) for _ in range(8)]
        await asyncio.sleep(0.5)
        calls += [asyncio.create_task(hangs(RequestKind.LOOK_UP)) for _ in range(2)]
        await asyncio.sleep(60)
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
        return got

    got = run(body())
    assert [moment for _, moment in got] == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
    assert sorted(got[2:4]) == [("LOOK_UP", 1), ("URGENT", 1)]
    assert sorted(got[4:6]) == [("LOOK_UP", 2), ("URGENT", 2)]
    assert {name for name, _ in got[6:]} == {"URGENT"}


@pytest.mark.e2e
async def test_a_look_up_is_answered_while_exits_hang_at_a_service() -> None:
    async def answer_reads(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while (await whole_request(reader)).startswith(b"GET"):
            writer.write(answer(GOOD_BODY))
        await reader.read()

    async with paced_session(answer_reads) as session:
        close = Request("PUT", "/v3/accounts/1/trades/5/close", urgent=True)
        look_up = Request("GET", "/v3/accounts/1/transactions/sinceid", look_up=True)
        exits = [asyncio.create_task(session.request(close)) for _ in range(12)]
        await asyncio.sleep(0)
        async with asyncio.timeout(8):  # an exit that hangs is given up after 10 s
            answered = await session.request(look_up)
        assert answered.status == 200
        assert not any(each.done() for each in exits)
        for each in exits:
            each.cancel()
        await asyncio.gather(*exits, return_exceptions=True)


@asynccontextmanager
async def paced_session(talk: Talk, timeouts: Timeouts = Timeouts()) -> AsyncIterator[Session]:  # noqa: B008 - it is frozen
    """A transport to a server on this machine, paced as if it were another."""
    async with talking_server(talk) as url:
        session = Session(Secret("t"), url, url, timeouts=timeouts, is_paced=True)
        yield session
        await session.close()


def noting(accepted: list[float]) -> Talk:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        accepted.append(asyncio.get_running_loop().time())
        while True:
            await whole_request(reader)
            writer.write(answer(GOOD_BODY))

    return talk


@pytest.mark.e2e
async def test_a_service_sees_no_third_connection_within_a_second() -> None:
    accepted: list[float] = []
    three = asyncio.Event()

    async def hold(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        accepted.append(asyncio.get_running_loop().time())
        if len(accepted) == 3:
            three.set()
        await three.wait()
        await noting([])(reader, writer)

    async with paced_session(hold) as session:
        asks = [session.request(Request("GET", "/v3/accounts")) for _ in range(4)]
        answers = await asyncio.gather(*asks)
    assert {each.status for each in answers} == {200}
    assert accepted[2] - accepted[0] > 0.95  # both clocks may be late, by a busy machine


async def test_calls_to_this_machine_are_not_held_up() -> None:
    talking = 0
    all_there = asyncio.Event()

    async def hold(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal talking
        talking += 1
        if talking == 6:
            all_there.set()
        await all_there.wait()
        await noting([])(reader, writer)

    async with talking_server(hold) as url:
        session = Session(
            Secret("t"), url, url, timeouts=Timeouts(whole=1000.0), limiter=Limiter(reads_at_once=6)
        )
        await asyncio.gather(*(session.request(Request("GET", "/v3")) for _ in range(6)))
        assert session.rate_limiter.delay() == 0.0  # no turn was taken
        await session.close()


@pytest.mark.e2e
async def test_a_call_that_gets_no_connection_in_time_was_not_sent() -> None:
    heads: list[bytes] = []

    async def mute(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        heads.append(await whole_request(reader))
        await reader.read()

    async with paced_session(mute, Timeouts(pool=0.2, read=0.5)) as session:
        asks = [session.request(Request("GET", "/v3")) for _ in range(3)]
        told = await asyncio.gather(*asks, return_exceptions=True)
    errors = [each for each in told if isinstance(each, TimedOut)]
    assert [(each.phase, each.sent) for each in errors] == [
        ("read", True),
        ("read", True),
        ("pool", False),
    ]
    assert len(heads) == 2


@pytest.mark.e2e
async def test_a_call_that_waits_for_a_connection_of_a_closed_client_is_not_sent() -> None:
    asked = asyncio.Event()

    async def mute(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        await whole_request(reader)
        asked.set()
        await reader.read()

    async with paced_session(mute) as session:
        asks = [asyncio.ensure_future(session.request(Request("GET", "/v3"))) for _ in range(60)]
        await (
            asked.wait()
        )  # two connections a second: a slow machine has not got to the last of 60 by then
        await session.close()
        *others, last = asks
        for each in others:
            each.cancel()  # the last is the next to get a connection, instead of half a minute later
        told = await asyncio.gather(last, return_exceptions=True)
        await asyncio.gather(*others, return_exceptions=True)
    assert isinstance(told[0], ClientClosed)


async def test_streams_of_a_client_share_the_pace_of_its_calls() -> None:
    async with paced_session(noting([])) as session:
        await asyncio.gather(*(session.request(Request("GET", "/v3")) for _ in range(2)))
        assert session.rate_limiter.delay() > 0


def test_an_exit_that_lacks_a_connection_keeps_the_last_of_the_rate() -> None:
    async def body() -> list[tuple[str, float]]:
        rate_limiter = ConnectRateLimiter(virtual_timing())
        limiter = Limiter(rate=3, window_s=100.0)
        full, own = (
            ConnectionSlots(rate_limiter, MOST, IDLE_S),
            ConnectionSlots(rate_limiter, 2, IDLE_S),
        )
        began, admitted = rate_limiter.now(), list[tuple[str, float]]()

        async def one(kind: RequestKind, slots: ConnectionSlots, lasts: float) -> None:
            async with limiter.turn(kind, slots):
                admitted.append((kind.name, round(rate_limiter.now() - began)))
                await asyncio.sleep(lasts)

        read = asyncio.create_task(one(RequestKind.READ, full, 600))
        await asyncio.sleep(0)
        await one(RequestKind.LOOK_UP, own, 0.1)  # the second connection of this second
        later = [
            asyncio.create_task(one(RequestKind.URGENT, full, 0.1)),
            asyncio.create_task(one(RequestKind.LOOK_UP, own, 0.1)),  # its connection is idle
        ]
        await asyncio.sleep(50)
        read.cancel()
        await asyncio.gather(read, *later, return_exceptions=True)
        return admitted

    got = run(body())
    assert got[:3] == [("READ", 0), ("LOOK_UP", 0), ("URGENT", 1)]
    assert got[3][0] == "LOOK_UP"
    assert got[3][1] >= 100


def test_a_request_that_lacks_only_a_connection_times_out_and_leaves_the_queue() -> None:
    async def body() -> None:
        calls = Calls()
        calls.rate_limiter.turn_nowait()
        calls.rate_limiter.turn_nowait()
        for _ in range(2):
            with pytest.raises(TimedOut, match=r"within 0\.5 s") as raised:
                async with calls.limiter.turn(RequestKind.WRITE, calls.slots, 0.5):
                    pass
            assert (raised.value.phase, raised.value.sent) == ("pool", False)
        assert calls.limiter.waiting == 0
        await calls.call("later")
        assert calls.made == [CONNECT_WINDOW_S]

    run(body())


def test_each_request_that_waits_for_a_full_pool_times_out() -> None:
    async def body() -> None:
        calls = Calls()
        slots = ConnectionSlots(calls.rate_limiter, 1, IDLE_S)

        async def late() -> None:
            async with calls.limiter.turn(RequestKind.WRITE, slots, 0.5):
                pass

        async with calls.limiter.turn(RequestKind.WRITE, slots):
            outcomes = await asyncio.gather(late(), late(), return_exceptions=True)
        assert [type(each) for each in outcomes] == [TimedOut, TimedOut]

    run(body())


def test_the_wait_for_a_place_or_for_the_rate_is_not_timed() -> None:
    async def body() -> None:
        calls = Calls()
        limiter = Limiter(rate=1, window_s=60.0)
        async with limiter.turn(RequestKind.WRITE, calls.slots, 0.5):
            await asyncio.sleep(5)
        async with limiter.turn(RequestKind.WRITE, calls.slots, 0.5):
            assert calls.rate_limiter.now() - calls.began >= 65

    run(body())
