"""Pacing of new connections: two a second at most.

Time and chance as arguments, so that a test can hold them in its hand.
Who may ask next: never more requests a second than the service takes, in the order they came, exits first.

The window is exact where it is counted, at the service: a request starts a second after the one RATE places before it
was answered. Counted from start to start, requests that bunch up on their way, behind a new connection say, would be too
many; and a bucket that fills while nobody asks would let twice the rate through.

Cancels and closes go before everything that waits, then look-ups of requests whose answers were lost. And since a slow
candle request must not hold an order up, reads may use only some of the connections; since orders can hang too, a few
connections are for exits alone; and since exits can hang, look-ups have connections of their own.
"""

import asyncio
import os
import random
import time
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from enum import IntEnum
from functools import cache
from itertools import count
from math import inf
from pathlib import Path
from typing import Final, Protocol, TypeAlias

BOOT_ID: Final = Path("/proc/sys/kernel/random/boot_id")
TIME_NAMESPACE: Final = Path("/proc/self/ns/time")


@dataclass(frozen=True, slots=True)
class Timing:
    """The clock, the wall clock, the way to wait, and the dice."""

    clock: Callable[[], float] = time.monotonic
    """Seconds that only ever go forward."""
    wall_ns: Callable[[], int] = time.time_ns
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    chance: Callable[[], float] = random.random
    """Draws from 0 to 1."""


REAL_TIMING: Final = Timing()


@dataclass(frozen=True, slots=True)
class SteadyTime:
    """A reading of a monotonic clock that other processes of the same machine can compare with theirs."""

    clock: str
    """Names the clock: readings of two clocks tell nothing about each other."""
    ns: int

    def since(self, earlier: "SteadyTime | None") -> int | None:
        """Return the least nanoseconds that have passed since a reading, None when that cannot be told."""
        if earlier is None or earlier.clock != self.clock or earlier.ns > self.ns:
            return None
        return self.ns - earlier.ns


def steady_time() -> SteadyTime:
    """Read the monotonic clock; it stands still while the machine sleeps, as its unsent packets do."""
    return SteadyTime(_clock_name(), time.monotonic_ns())


@cache
def _clock_name() -> str:
    """Name the monotonic clock by the boot that it counts from, where the system has an id for it.

    By the host elsewhere: the clock begins at the boot, so that after a reboot a difference is only too small.
    """
    namespace = ""
    with suppress(OSError):
        namespace = str(TIME_NAMESPACE.readlink())
    try:
        return f"{BOOT_ID.read_text(encoding='ascii').strip()} {namespace}".strip()
    except (OSError, ValueError):
        return f"{os.uname().nodename} {namespace}".strip()


MOST_DOUBLINGS: Final = 16


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
        doubled = self.first_s * 2.0 ** min(failures, MOST_DOUBLINGS)
        return max(at_least_s, min(self.longest_s, doubled) * chance())


RATE = 120
RATE_WINDOW_S = 1.005
READS_AT_ONCE = 4
CALLS_AT_ONCE = 6
MORE_FOR_EXITS = 2
LOOK_UPS_AT_ONCE = 2


class Claim(IntEnum):
    """What a request may claim of a place in the queue."""

    URGENT = 0
    LOOK_UP = 1
    WRITE = 2
    READ = 3


class Alarm(Protocol):
    """What `call_at` gives back."""

    def cancel(self) -> object:
        """Take the appointment back."""
        ...


class Timers(Protocol):
    """The part of an event loop that tells the time and keeps appointments."""

    def time(self) -> float:
        """Seconds, on a clock that never goes back."""
        ...

    def call_at(self, when: float, callback: Callable[[], object], /) -> Alarm:
        """Call it once, when the clock says `when`."""
        ...


Ticket: TypeAlias = tuple[int, asyncio.Future[None]]
"""The order of arrival, and what is told when the turn has come."""


class Limiter:
    """Admits requests: `async with limiter.turn(claim)` around each."""

    def __init__(
        self,
        rate: int = RATE,
        window_s: float = RATE_WINDOW_S,
        *,
        reads_at_once: int = READS_AT_ONCE,
        calls_at_once: int = CALLS_AT_ONCE,
        more_for_exits: int = MORE_FOR_EXITS,
        look_ups_at_once: int = LOOK_UPS_AT_ONCE,
        timers: Timers | None = None,
    ) -> None:
        self._rate, self._window_s = rate, window_s
        self._under_way = 0
        self._ends: deque[float] = deque()
        self._queues: dict[Claim, deque[Ticket]] = {claim: deque() for claim in Claim}
        self._arrivals = count()
        self._reads_free, self._calls_free = reads_at_once, calls_at_once
        self._least_free = -more_for_exits
        self._look_ups_free = look_ups_at_once
        self._timers = timers
        self._alarm: Alarm | None = None

    @asynccontextmanager
    async def turn(self, claim: Claim) -> AsyncGenerator[None]:
        """Wait for a place, and give it up on leaving."""
        await self._admitted(claim)
        try:
            yield
        finally:
            self._leave(claim)

    @property
    def waiting(self) -> int:
        """How many requests wait for their turn."""
        return sum(not told.done() for queue in self._queues.values() for _, told in queue)

    async def _admitted(self, claim: Claim) -> None:
        told = asyncio.get_running_loop().create_future()
        self._queues[claim].append((next(self._arrivals), told))
        self._let_in()
        try:
            await told
        except asyncio.CancelledError:
            if told.done() and not told.cancelled():  # its turn had come, but it will not use it
                self._leave(claim)
            raise

    def _leave(self, claim: Claim) -> None:
        self._under_way -= 1
        self._ends.append(self._now())
        self._free(claim, 1)
        self._let_in()

    def _free(self, claim: Claim, places: int) -> None:
        """Count places that become free; fewer than none are taken."""
        if claim is Claim.LOOK_UP:
            self._look_ups_free += places
            return
        self._calls_free += places
        if claim is Claim.READ:
            self._reads_free += places

    def _let_in(self) -> None:
        while (claim := self._next()) is not None:
            wait = self._pause()
            if wait > 0:
                self._wake_in(wait)
                return
            _, told = self._queues[claim].popleft()
            self._under_way += 1
            self._free(claim, -1)
            told.set_result(None)

    def _next(self) -> Claim | None:
        """Whose turn it is: exits first, look-ups next, then by arrival; None when nobody waits or nothing is free."""
        if self._calls_free > self._least_free and self._first(Claim.URGENT) is not None:
            return Claim.URGENT
        if self._look_ups_free > 0 and self._first(Claim.LOOK_UP) is not None:
            return Claim.LOOK_UP
        if self._calls_free <= 0:
            return None
        ready = {claim: self._first(claim) for claim in (Claim.WRITE, Claim.READ)}
        if self._reads_free == 0:
            ready[Claim.READ] = None
        arrivals = {claim: first for claim, first in ready.items() if first is not None}
        return min(arrivals, key=arrivals.__getitem__, default=None)

    def _first(self, claim: Claim) -> int | None:
        queue = self._queues[claim]
        while queue and queue[0][1].done():  # gave up while it waited
            queue.popleft()
        return queue[0][0] if queue else None

    def _pause(self) -> float:
        """Seconds until the rate leaves room for one more; endless while only an answer can make it."""
        past = self._now() - self._window_s
        while self._ends and self._ends[0] <= past:
            self._ends.popleft()
        if self._under_way + len(self._ends) < self._rate:
            return 0.0
        return self._ends[0] - past if self._ends else inf

    def _wake_in(self, seconds: float) -> None:
        if self._alarm is None and seconds != inf:
            self._alarm = self._keeper().call_at(self._now() + seconds, self._woken)

    def _woken(self) -> None:
        self._alarm = None
        self._let_in()

    def _now(self) -> float:
        return self._keeper().time()

    def _keeper(self) -> Timers:
        return self._timers or asyncio.get_running_loop()


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
