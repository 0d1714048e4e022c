"""Time-outs of requests; clock, sleep and chance as arguments."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds that each phase of a request may take: `Client(..., timeouts=Timeouts(read=3))`. `Timing` is the clock of tests."""

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
    """Clock, wall clock, sleep and random numbers as arguments, so that a test can control them; time limits are `Timeouts`."""

    clock: Callable[[], float] = time.monotonic
    """Monotonic seconds."""
    wall_ns: Callable[[], int] = time.time_ns
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    rng: Callable[[], float] = random.random
    """A random number from 0 to 1."""


REAL_TIMING: Final = Timing()
