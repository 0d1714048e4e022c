"""Time and chance as arguments, so that a test can hold them in its hand."""

import asyncio
import os
import random
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

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
