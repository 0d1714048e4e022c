"""Time-outs of requests, clocks, back-off, and the pace at which a client opens connections: two a second at most."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds that each phase of a request may take."""

    connect: float = 5.0
    write: float = 10.0
    read: float = 10.0
    pool: float = 10.0
    """How long a request may wait for a connection."""
    whole: float = 30.0
    """All phases together, once the request has a connection."""
    opening: float = 60.0
    """Until the headers of a stream; the service is known to be slow there."""


STANDARD_TIMEOUTS: Final = Timeouts()


@dataclass(frozen=True, slots=True)
class Timing:
    """Clock, wall clock, sleep and random numbers as arguments, so that a test can control them."""

    clock: Callable[[], float] = time.monotonic
    """Monotonic seconds."""
    wall_ns: Callable[[], int] = time.time_ns
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    chance: Callable[[], float] = random.random
    """A random number from 0 to 1."""


REAL_TIMING: Final = Timing()
MAX_DOUBLINGS: Final = 16


@dataclass(frozen=True, slots=True)
class BackOff:
    """Pauses between tries: exponential backoff with full jitter.

    Each pause is drawn between 0 and a ceiling that doubles, so that many clients which lost the service together do
    not come back together.
    """

    first_s: float
    """Ceiling of the first pause."""
    longest_s: float
    """Ceiling of every pause."""

    def pause(
        self, failures: int, chance: Callable[[], float], *, at_least_s: float = 0.0
    ) -> float:
        """Return the seconds to wait after this many failures before; `chance` draws from 0 to 1."""
        doubled = self.first_s * 2.0 ** min(failures, MAX_DOUBLINGS)
        return max(at_least_s, min(self.longest_s, doubled) * chance())


CONNECTS: Final = 2
CONNECT_WINDOW_S: Final = 1.02
"""A little over a second: connections can reach the service closer together than they were opened."""


class Turn:
    """Permission to open one connection; call `over` once it is open, or has failed."""

    __slots__ = ("_clock", "_is_over", "at")

    def __init__(self, clock: Callable[[], float]) -> None:
        self.at: float = clock()
        """When the connection was opened; until it is over, when opening began."""
        self._clock = clock
        self._is_over = False

    def over(self) -> None:
        """Count the connection from now: the service has seen it by now, however slow this machine was."""
        if not self._is_over:
            self._is_over, self.at = True, self._clock()


class ConnectRateLimiter:
    """The pace of new connections, shared by all requests and streams of a client."""

    def __init__(self, timing: Timing = REAL_TIMING) -> None:
        self._timing = timing
        self._latest: list[Turn] = []
        self.awaiting_answer: set[asyncio.Future[None]] = set()
        """The futures of `next_answer` that wait; while there is none, an answer need not be noted."""
        self._queue = asyncio.Lock()

    async def turn(self) -> Turn:
        """Wait until another connection may be opened."""
        async with self._queue:
            while (turn := self.turn_nowait()) is None:
                await self._timing.sleep(self.delay())
            return turn

    def next_answer(self) -> asyncio.Future[None]:
        """Return a future that ends with the next answer of the service to a request: it can be reached again."""
        answer = asyncio.get_running_loop().create_future()
        self.awaiting_answer.add(answer)
        answer.add_done_callback(self.awaiting_answer.discard)
        return answer

    def note_answer(self) -> None:
        """End the waiting for an answer."""
        for answer in tuple(self.awaiting_answer):
            if not answer.done():
                answer.set_result(None)

    def turn_nowait(self) -> Turn | None:
        """Return a turn, or None when no connection may be opened yet."""
        if self.delay() > 0:
            return None
        if len(self._latest) == CONNECTS:
            self._latest.remove(min(self._latest, key=_opened_at))
        turn = Turn(self._timing.clock)
        self._latest.append(turn)
        return turn

    def renew(self, turn: Turn) -> bool:
        """Move an unused turn to now; return False when it has expired."""
        if turn not in self._latest:
            return False
        turn.at = self._timing.clock()
        return True

    def delay(self) -> float:
        """Return the seconds until another connection may be opened; 0 or less for at once."""
        if len(self._latest) < CONNECTS:
            return 0.0
        return min(map(_opened_at, self._latest)) + CONNECT_WINDOW_S - self._timing.clock()

    def now(self) -> float:
        """Return the time on the clock of this pace."""
        return self._timing.clock()


def _opened_at(turn: Turn) -> float:
    return turn.at
