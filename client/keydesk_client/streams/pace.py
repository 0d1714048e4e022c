"""How often to knock: two connections a second at most, and ever longer pauses while nobody opens."""

import asyncio
from collections import deque
from typing import Final

from keydesk_client.streams.settings import StreamSettings
from keydesk_client.timing import REAL_TIMING, Timing

CONNECTS: Final = 2
WINDOW_S: Final = 1.02
"""A little over a second: connections bunch up on their way."""
MOST_DOUBLINGS: Final = 16


class ConnectPace:
    """Lets connections through; all streams of a client share one."""

    def __init__(self, timing: Timing = REAL_TIMING) -> None:
        self._timing = timing
        self._starts: deque[float] = deque(maxlen=CONNECTS)
        self._turn = asyncio.Lock()

    async def turn(self) -> None:
        """Wait until another connection may be made."""
        async with self._turn:
            if len(self._starts) == CONNECTS:
                wait = self._starts[0] + WINDOW_S - self._timing.clock()
                if wait > 0:
                    await self._timing.sleep(wait)
            self._starts.append(self._timing.clock())


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
