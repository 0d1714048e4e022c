"""Pacing of new connections: two a second at most."""

import asyncio
from collections.abc import Callable
from typing import Final

from keydesk_client.http.timing import REAL_TIMING, Timing

CONNECTS: Final = 2
CONNECT_WINDOW_S: Final = 1.02
"""A little over a second: connections bunch up on their way."""


class Turn:
    """The right to make one connection: say when it arrived, or failed."""

    __slots__ = ("_clock", "_is_over", "at")

    def __init__(self, clock: Callable[[], float]) -> None:
        self.at: float = clock()
        """When the connection was made, as far as known: until it is over, when it began."""
        self._clock = clock
        self._is_over = False

    def over(self) -> None:
        """The service has seen this connection by now: from here on a busy machine can not bring it nearer the next."""
        if not self._is_over:
            self._is_over, self.at = True, self._clock()


class ConnectPace:
    """Lets connections through; everything of a client shares one."""

    def __init__(self, timing: Timing = REAL_TIMING) -> None:
        self._timing = timing
        self._latest: list[Turn] = []
        self._queue = asyncio.Lock()

    async def turn(self) -> Turn:
        """Wait until another connection may be made."""
        async with self._queue:
            while (turn := self.turn_now()) is None:
                await self._timing.sleep(self.wait())
            return turn

    def turn_now(self) -> Turn | None:
        """The same, without waiting; None when no connection may be made yet."""
        if self.wait() > 0:
            return None
        if len(self._latest) == CONNECTS:
            self._latest.remove(min(self._latest, key=_moment))
        turn = Turn(self._timing.clock)
        self._latest.append(turn)
        return turn

    def renew(self, turn: Turn) -> bool:
        """Whether a turn that was taken before, and not used, is good for a connection that is made now."""
        if turn not in self._latest:
            return False
        turn.at = self._timing.clock()
        return True

    def wait(self) -> float:
        """Seconds until another connection may be made."""
        if len(self._latest) < CONNECTS:
            return 0.0
        return min(map(_moment, self._latest)) + CONNECT_WINDOW_S - self._timing.clock()

    def now(self) -> float:
        """The time by its clock."""
        return self._timing.clock()


def _moment(turn: Turn) -> float:
    return turn.at
