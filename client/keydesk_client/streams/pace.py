"""How often to knock: two connections a second at most, and ever longer pauses while nobody opens."""

import asyncio
from collections.abc import Callable
from typing import Final

from keydesk_client.streams.settings import StreamSettings
from keydesk_client.timing import REAL_TIMING, Timing

CONNECTS: Final = 2
WINDOW_S: Final = 1.02
"""A little over a second: connections bunch up on their way."""
MOST_DOUBLINGS: Final = 16


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
        return min(map(_moment, self._latest)) + WINDOW_S - self._timing.clock()

    def now(self) -> float:
        """The time by its clock."""
        return self._timing.clock()


def _moment(turn: Turn) -> float:
    return turn.at


class BackOff:
    """Pauses before reconnecting: full jitter under a ceiling that doubles, short again after a healthy time."""

    def __init__(self, settings: StreamSettings, timing: Timing) -> None:
        self._settings, self._timing = settings, timing
        self._failures = 0

    def pause(self, lasted_s: float, asked_s: float | None = None) -> float:
        """Seconds to wait after a connection that lasted so long; a Retry-After is heeded, within bounds."""
        if lasted_s >= self._settings.healthy_s:
            self._failures = 0
        doubled = self._settings.first_pause_s * 2.0 ** min(self._failures, MOST_DOUBLINGS)
        ceiling = min(self._settings.longest_pause_s, doubled)
        self._failures += 1
        heeded = min(asked_s or 0.0, LONGEST_RETRY_AFTER_S)
        return max(heeded, ceiling * self._timing.chance())


LONGEST_RETRY_AFTER_S: Final = 300.0
