"""Bringing an account that was taken over up to the present: its transactions, then the time since it was last ticked."""

import asyncio
from collections.abc import Sequence

from keydesk_practice.broker.account_session import AccountSession
from keydesk_practice.broker.broker import MAX_TURN_SECONDS, SLEEP_THRESHOLD, Broker
from keydesk_practice.broker.clock import GRID, coarse_time_steps, time_steps
from keydesk_practice.broker.feeds import PriceBoard
from keydesk_practice.engine.quotes import day_end_after


async def catch_up(broker: Broker, taken: Sequence[tuple[AccountSession, int]]) -> None:
    """Tick accounts from their last tick until the broker's present time, which moves on meanwhile.

    On return no iteration of the event loop has passed since the last look at the broker's time.
    """
    if not taken:
        return
    seen = min(ticked for _, ticked in taken)
    market = broker.market_at
    while seen < (until := broker.ticked_until):
        board = PriceBoard(market, seen)
        await _tick_through(broker, board, taken, until)
        seen = until


async def _tick_through(
    broker: Broker, board: PriceBoard, taken: Sequence[tuple[AccountSession, int]], until: int
) -> None:
    clock = asyncio.get_running_loop().time
    began, seen = clock(), board.now
    slept = until - seen > SLEEP_THRESHOLD * max(broker.clock.speed, 1)
    active = [(session, ticked) for session, ticked in taken if session.is_active]
    steps = coarse_time_steps(seen, until) if slept else time_steps(seen, until, GRID)
    for now in steps if active else (until,):
        day_ended = day_end_after(seen) <= now
        board.move_to(now)
        for session, ticked in active:
            if ticked < now:
                broker.tick_at(session, board, day_ended=day_ended)
        seen = now
        if clock() - began > MAX_TURN_SECONDS:
            await asyncio.sleep(0)
            began = clock()
