"""Shares the event loop: reading much is cut into portions, so that orders and heartbeats go on in between.

Work is counted in units of some 50 microseconds, such as one order shown as JSON. All requests together may do a bounded
number of units in one turn of the loop; who needs more waits for a later turn, first come, first served.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Iterable
from typing import TypeVar

UNITS_PER_TURN = 40  # some 2 ms

Item = TypeVar("Item")


class Turns:
    """What may be done in this turn of the loop, and who waits for the next."""

    def __init__(self, units_per_turn: int = UNITS_PER_TURN) -> None:
        self._units_per_turn = units_per_turn
        self._left = units_per_turn
        self._waiting: deque[tuple[int, asyncio.Future[None]]] = deque()
        self._scheduled = False

    async def take(self, units: int = 1) -> None:
        """Return when `units` may be done; more than a turn has are paid for by the turns that follow."""
        if self._left > 0 and not self._waiting:
            self._left -= units
            self._schedule()
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append((units, turn))
        self._schedule()
        await turn

    async def over(self, items: Iterable[Item], units: int = 1) -> AsyncIterator[Item]:
        """Return the items of an iterator, each made when it may be."""
        iterator = iter(items)
        while True:
            await self.take(units)
            try:
                item = next(iterator)
            except StopIteration:
                return
            yield item

    def _schedule(self) -> None:
        if not self._scheduled:
            self._scheduled = True
            asyncio.get_running_loop().call_soon(self._next_turn)

    def _next_turn(self) -> None:
        self._scheduled = False
        self._left = min(self._left + self._units_per_turn, self._units_per_turn)
        while self._waiting and self._left > 0:
            units, turn = self._waiting.popleft()
            if not turn.done():  # its request was cancelled
                self._left -= units
                turn.set_result(None)
        if self._waiting or self._left < self._units_per_turn:
            self._schedule()
