"""The price stream: it lives while heartbeats come, reconnects after every loss and reports gaps."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from itertools import pairwise

import pytest

from keydesk_client.errors import (
    ConnectionLost,
    RateLimited,
    StreamNotOpen,
    TimedOut,
    Unauthorized,
    Unreachable,
)
from keydesk_client.http.limits import ConnectRateLimiter
from keydesk_client.models import ClientPrice, PricingHeartbeat
from keydesk_client.streams.prices import LINE, PriceItem, PriceStream
from keydesk_client.streams.settings import Gap, OverflowPolicy, StreamSettings
from support.fakes.scripted_stream import ScriptedStream, heartbeat, price
from support.fakes.virtual_time import run, virtual_timing

FOREVER = 1e6
STANDARD = StreamSettings()


def stream_of(
    opening: ScriptedStream,
    settings: StreamSettings = STANDARD,
    *,
    seed: int = 1,
) -> PriceStream:
    timing = virtual_timing(seed)
    return PriceStream(opening, ConnectRateLimiter(timing), settings, timing)


async def take(stream: PriceStream, until: Callable[[list[PriceItem]], bool]) -> list[PriceItem]:
    items: list[PriceItem] = []
    async with stream:
        async for item in stream:
            items.append(item)
            if until(items):
                break
    return items


def count(number: int) -> Callable[[list[PriceItem]], bool]:
    return lambda items: len(items) >= number


def bids(items: list[PriceItem]) -> list[str]:
    return [str(item.closeout_bid) for item in items if isinstance(item, ClientPrice)]


def test_prices_and_heartbeats_come_as_records() -> None:
    async def body() -> None:
        opening = ScriptedStream([price("EUR_USD"), heartbeat(), FOREVER])
        found = await take(stream_of(opening), count(2))
        assert [type(item) for item in found] == [ClientPrice, PricingHeartbeat]
        assert opening.open_now == 0

    run(body())


def test_an_interruption_is_logged_once_with_its_end_and_the_stream_goes_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("INFO", "keydesk_client")

    async def body() -> None:
        refused = [Unreachable("no")]
        opening = ScriptedStream([price(), 1.0], refused, refused, [price(), FOREVER])
        await take(stream_of(opening), lambda items: isinstance(items[-1], Gap))

    run(body())
    lost, back = (each.getMessage() for each in caplog.records)
    assert lost.startswith("the stream of prices is interrupted (ConnectionLost): it is opened")
    assert re.fullmatch(r"the stream of prices is back after \d+\.\d s", back)


def test_silence_for_the_stall_time_ends_the_connection_and_heartbeats_put_it_off() -> None:
    async def body() -> None:
        opening = ScriptedStream([price(), 25.0, heartbeat(), FOREVER], [price(), FOREVER])
        stream = stream_of(opening)
        found = await take(stream, lambda items: isinstance(items[-1], Gap))
        gap = found[-1]
        assert isinstance(gap, Gap)
        assert isinstance(gap.reason, TimedOut)
        assert gap.reason.phase == "silence"
        first, second = opening.opened_at
        assert 55.0 <= second - first <= 55.6
        assert 30.0 <= gap.seconds <= 30.6

    run(body())


@pytest.mark.parametrize("stall", [1.0, 6.0, 30.0])
def test_a_silent_connection_ends_at_the_stall_time_of_each_client(stall: float) -> None:
    async def body() -> None:
        settings = StreamSettings(stall_s=stall, first_backoff_s=0.0)
        opening = ScriptedStream([FOREVER], [price(), FOREVER])
        await take(stream_of(opening, settings), lambda items: isinstance(items[-1], ClientPrice))
        first, second = opening.opened_at
        assert second - first == pytest.approx(stall, rel=0.1)

    run(body())


def test_incomplete_lines_count_as_silence() -> None:
    async def body() -> None:
        drip = [step for _ in range(100) for step in (b" ", 1.0)]
        opening = ScriptedStream([*drip, FOREVER], [price(), FOREVER])
        found = await take(stream_of(opening), lambda items: isinstance(items[-1], ClientPrice))
        assert isinstance(found[0], Gap)
        assert opening.opened_at[1] - opening.opened_at[0] < 31.0

    run(body())


def test_a_slow_iteration_is_not_a_stall() -> None:
    async def body() -> None:
        settings = StreamSettings(waiting_at_most=1)
        alive = [step for _ in range(100) for step in (5.0, heartbeat())]
        opening = ScriptedStream([price(bid="1"), price(bid="2"), price(bid="3"), *alive])
        seen: list[PriceItem] = []
        async with stream_of(opening, settings) as stream:
            async for item in stream:
                await asyncio.sleep(100.0)
                seen.append(item)
                if len(seen) == 3:
                    break
        assert bids(seen) == ["1", "2", "3"]
        assert len(opening.opened_at) == 1

    run(body())


def test_a_clean_close_and_a_broken_connection_both_come_back_with_a_gap() -> None:
    async def body() -> None:
        broken = ConnectionLost("reset")
        opening = ScriptedStream([price(), 1.0], [price(), broken], [price(), FOREVER])
        found = await take(stream_of(opening), count(5))
        kinds = [type(item) for item in found]
        assert kinds == [ClientPrice, Gap, ClientPrice, Gap, ClientPrice]
        assert isinstance(found[3], Gap)
        assert found[3].reason is broken

    run(body())


def test_failures_before_the_first_connection_make_no_gap() -> None:
    async def body() -> None:
        opening = ScriptedStream([Unreachable("no route")], [price(), FOREVER])
        found = await take(stream_of(opening), count(1))
        assert isinstance(found[0], ClientPrice)

    run(body())


def test_reconnects_never_exceed_two_a_second_and_pauses_grow_up_to_the_longest() -> None:
    async def body() -> None:
        opening = ScriptedStream(*[[Unreachable("no route")]] * 30, [price(), FOREVER])
        await take(stream_of(opening, StreamSettings(max_backoff_s=30.0)), count(1))
        at = opening.opened_at
        assert all(later - sooner > 1.0 for sooner, later in zip(at, at[2:], strict=False))
        pauses = [later - sooner for sooner, later in pairwise(at)]
        assert max(pauses) <= 30.0
        assert max(pauses[8:]) > 10.0

    run(body())


def test_a_healthy_minute_makes_the_next_pause_short_again() -> None:
    async def body() -> None:
        down = [[Unreachable("no route")]] * 10
        healthy = [step for _ in range(13) for step in (heartbeat(), 5.0)]
        opening = ScriptedStream(*down, healthy, [price(), FOREVER])
        await take(stream_of(opening), lambda items: isinstance(items[-1], ClientPrice))
        assert opening.opened_at[-1] - opening.opened_at[-2] <= 65.5

    run(body())


def test_the_retry_after_of_a_429_is_respected() -> None:
    async def body() -> None:
        busy = RateLimited("too many", status=429, retry_after=17.0)
        opening = ScriptedStream([busy], [price(), FOREVER])
        await take(stream_of(opening), count(1))
        assert opening.opened_at[1] - opening.opened_at[0] >= 17.0

    run(body())


def test_a_refusal_ends_the_stream_with_its_error() -> None:
    async def body() -> None:
        opening = ScriptedStream([Unauthorized("no", status=401)])
        with pytest.raises(Unauthorized):
            await take(stream_of(opening), count(1))
        assert len(opening.opened_at) == 1

    run(body())


def test_an_error_page_of_a_proxy_does_not_end_the_stream() -> None:
    async def body() -> None:
        page = Unauthorized("a proxy's page", status=401, explained=False)
        opening = ScriptedStream([page], [price(), FOREVER])
        assert await take(stream_of(opening), count(1))

    run(body())


def test_an_unreadable_line_is_counted_and_skipped() -> None:
    async def body() -> None:
        opening = ScriptedStream([b"<html>\n" + price(), FOREVER])
        stream = stream_of(opening)
        found = await take(stream, count(1))
        assert isinstance(found[0], ClientPrice)
        assert stream.health.unreadable == 1

    run(body())


def test_a_slow_reader_can_keep_the_last_price_of_each_instrument() -> None:
    async def body() -> None:
        settings = StreamSettings(when_full=OverflowPolicy.KEEP_LAST)
        lines = b"".join(price("EUR_USD", f"1.{n}") + price("USD_JPY", f"150.{n}") for n in "123")
        opening = ScriptedStream([lines + heartbeat(), FOREVER])
        stream = stream_of(opening, settings)
        found = await take(stream, lambda items: isinstance(items[-1], PricingHeartbeat))
        assert bids(found) == ["1.3", "150.3"]
        assert stream.health.dropped == 4

    run(body())


def test_a_slow_reader_can_lose_the_oldest_prices_but_no_heartbeat() -> None:
    async def body() -> None:
        settings = StreamSettings(when_full=OverflowPolicy.DROP_OLDEST, waiting_at_most=3)
        lines = heartbeat() + b"".join(price(bid=f"1.{n}") for n in "123456")
        opening = ScriptedStream([lines, FOREVER])
        stream = stream_of(opening, settings)
        found = await take(stream, count(3))
        assert isinstance(found[0], PricingHeartbeat)
        assert bids(found) == ["1.5", "1.6"]
        assert stream.health.dropped == 4

    run(body())


def test_leaving_the_block_closes_the_connection_and_it_is_not_entered_again() -> None:
    async def body() -> None:
        opening = ScriptedStream([price(), FOREVER])
        async with stream_of(opening) as stream:
            await anext(stream)
        assert opening.open_now == 0
        with pytest.raises(StreamNotOpen, match="entered once"):
            async with stream:
                pass

    run(body())


def test_a_stream_that_was_not_entered_says_how_rather_than_waiting_for_ever() -> None:
    async def body() -> None:
        stream = stream_of(ScriptedStream([price(), FOREVER]))
        told = r"enter the stream first: `async with client\.pricing\.stream\(\.\.\.\) as prices:`"
        with pytest.raises(StreamNotOpen, match=told):
            _ = [item async for item in stream]
        with pytest.raises(StreamNotOpen, match=told):
            await anext(stream)

    run(body())


def test_a_stream_that_was_left_ends_the_iteration_and_cannot_be_iterated_again() -> None:
    async def body() -> None:
        stream = stream_of(ScriptedStream([price(), FOREVER]))
        async with stream:
            items = aiter(stream)
            await anext(items)
        with pytest.raises(StopAsyncIteration):
            await anext(items)
        with pytest.raises(StreamNotOpen, match="the stream was left: open another"):
            aiter(stream)

    run(body())


class Outage:
    """A stream that cannot be reached from its first minute until a time, and then at once."""

    def __init__(self, until_s: float) -> None:
        self._until_s = 1000.0 + until_s
        self.back_at: list[float] = []
        self.attempts = 0

    def __call__(self) -> AbstractAsyncContextManager[AsyncIterator[bytes]]:
        self.attempts += 1
        now = asyncio.get_running_loop().time()
        if self.attempts == 1:
            return ScriptedStream([price(), 1.0, ConnectionLost("cut")])()
        if now < self._until_s:
            return ScriptedStream([Unreachable("down")])()
        self.back_at.append(now - self._until_s)
        return ScriptedStream([price(), FOREVER])()


@pytest.mark.parametrize("outage_s", [5.0, 20.0, 120.0])
def test_prices_come_again_within_five_seconds_of_the_services_return(outage_s: float) -> None:
    async def body(seed: int) -> float:
        opening = Outage(outage_s)
        timing = virtual_timing(seed)
        stream = PriceStream(opening, ConnectRateLimiter(timing), STANDARD, timing)
        await take(stream, lambda items: isinstance(items[-1], ClientPrice) and len(items) > 2)
        return opening.back_at[0]

    assert max(run(body(seed)) for seed in range(8)) < 5.0


def test_an_answer_to_a_request_ends_the_pause_before_a_reconnection() -> None:
    """Once in two pauses: a service that answers requests and refuses streams is not asked all the time."""

    async def body() -> None:
        slow = StreamSettings(first_backoff_s=40.0, max_backoff_s=40.0)
        timing = replace(virtual_timing(1), rng=lambda: 1.0)
        rate_limiter = ConnectRateLimiter(timing)
        opening = ScriptedStream([Unreachable("down")])
        loop = asyncio.get_running_loop()
        for moment in (5.0, 10.0, 20.0, 60.0):
            loop.call_at(1000.0 + moment, rate_limiter.note_answer)
        stream = PriceStream(opening, rate_limiter, slow, timing)
        async with stream:
            await asyncio.sleep(62.0)
        assert [each - 1000.0 for each in opening.opened_at] == [0.0, 5.0, 45.0, 60.0]

    run(body())


def test_an_answer_does_not_end_a_pause_that_the_service_asked_for() -> None:
    async def body() -> None:
        timing = virtual_timing(1)
        rate_limiter = ConnectRateLimiter(timing)
        opening = ScriptedStream([RateLimited("429", status=429, retry_after=30.0)], [FOREVER])
        asyncio.get_running_loop().call_at(1005.0, rate_limiter.note_answer)
        stream = PriceStream(opening, rate_limiter, STANDARD, timing)
        async with stream:
            await asyncio.sleep(40.0)
        assert opening.opened_at == [1000.0, 1030.0]

    run(body())


def test_texts_of_price_lines_are_not_kept_after_their_prices() -> None:
    line = b'{"type":"PRICE","instrument":"EUR_USD","bids":[],"asks":[],"closeoutBid":"1","closeoutAsk":"1"}'
    first, second = LINE.read(line), LINE.read(line)
    assert isinstance(first, ClientPrice)
    assert isinstance(second, ClientPrice)
    assert first.instrument == second.instrument
    assert first.instrument is not second.instrument  # one object if pydantic-core kept the text
