"""Two connections a second at most, counted from when the service saw them."""

import asyncio

from keydesk_client.http.backoff import Backoff
from keydesk_client.http.limits import CONNECT_WINDOW_S, ConnectRateLimiter
from support.fakes.virtual_time import run, virtual_timing


def test_the_third_connection_waits_for_the_second_to_pass() -> None:
    async def body() -> None:
        rate_limiter, clock = ConnectRateLimiter(virtual_timing()), asyncio.get_running_loop().time
        began = clock()
        for _ in range(6):
            (await rate_limiter.turn()).over()
        assert round(clock() - began, 6) == 2 * CONNECT_WINDOW_S

    run(body())


def test_a_connection_that_took_its_time_counts_from_when_it_was_made() -> None:
    async def body() -> None:
        rate_limiter, clock = ConnectRateLimiter(virtual_timing()), asyncio.get_running_loop().time
        slow = [await rate_limiter.turn() for _ in range(2)]
        await asyncio.sleep(0.9)
        for turn in slow:
            turn.over()
        made = clock()
        await rate_limiter.turn()
        assert round(clock() - made, 6) == CONNECT_WINDOW_S

    run(body())


def test_one_that_is_over_while_another_waits_puts_it_off() -> None:
    async def body() -> None:
        rate_limiter, loop = ConnectRateLimiter(virtual_timing()), asyncio.get_running_loop()
        began = loop.time()
        for turn in [await rate_limiter.turn() for _ in range(2)]:
            loop.call_later(0.5, turn.over)
        await rate_limiter.turn()
        assert round(loop.time() - began, 6) == 0.5 + CONNECT_WINDOW_S

    run(body())


def test_the_end_of_a_connection_says_nothing_of_its_beginning() -> None:
    async def body() -> None:
        rate_limiter, clock = ConnectRateLimiter(virtual_timing()), asyncio.get_running_loop().time
        turns = [await rate_limiter.turn() for _ in range(2)]
        for turn in turns:
            turn.over()
        began = clock()
        await asyncio.sleep(1.0)
        for turn in turns:
            turn.over()
        await rate_limiter.turn()
        assert round(clock() - began, 6) == CONNECT_WINDOW_S

    run(body())


def test_a_pause_is_drawn_below_a_ceiling_that_doubles_up_to_the_longest() -> None:
    backoff = Backoff(first_s=0.5, max_s=30.0)
    ceilings = [backoff.pause(failures, lambda: 1.0) for failures in (0, 1, 2, 5, 6, 10_000)]
    assert ceilings == [0.5, 1.0, 2.0, 16.0, 30.0, 30.0]
    assert backoff.pause(2, lambda: 0.25) == 0.5


def test_a_pause_is_as_long_as_the_service_demands() -> None:
    assert Backoff(first_s=0.5, max_s=30.0).pause(0, lambda: 1.0, at_least_s=60.0) == 60.0
