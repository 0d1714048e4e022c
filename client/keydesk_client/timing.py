"""Time and chance as arguments, so that a test can hold them in its hand."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final


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
