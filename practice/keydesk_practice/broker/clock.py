"""Which instants the market passes between two looks at the clock, so that nothing is jumped over.

Between grid points prices run straight, so the extremes lie on the grid: looking at every grid point misses no trigger.
When the broker slept (it was not running, or the laptop was closed) it looks every five minutes of the time it missed;
what was due then is filled at the price of that look, as after a short gap in the market.

The broker's clock: wall time turned into market time, never going back and never standing still.

Time is the wall clock's, so that a machine that slept makes up for what it missed. A second clock, which nobody sets,
shows when the wall clock is set: what it is set back by is added again from then on.
"""

import logging
import time
from collections.abc import Callable, Iterator

SET = 1_000_000_000  # nanoseconds of difference that no drift explains
log = logging.getLogger("keydesk.practice")


def boot_time_ns() -> int:
    """Return the nanoseconds of a clock that nobody sets; it goes on while the machine sleeps, where that is to be had."""
    return time.clock_gettime_ns(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


class Clock:
    """Says the market's time; begins at `start` and runs `speed` times as fast as the wall."""

    def __init__(
        self,
        start: int,
        speed: float,
        wall: Callable[[], int] = time.time_ns,
        steady: Callable[[], int] = boot_time_ns,
    ) -> None:
        self.speed = speed
        self._wall = wall
        self._steady = steady
        self._start = start
        self._began = wall()
        self._set_back = 0  # what the wall clock was set back by since the beginning
        self._apart = self._began - steady()  # how far the wall clock is ahead of the steady one
        self._latest = start

    def __call__(self) -> int:
        """Return the market's time."""
        wall = self._wall()
        self._make_up_for_setting(wall)
        passed = wall + self._set_back - self._began
        exact = self._start + (passed if self.speed == 1 else round(passed * self.speed))
        self._latest = max(self._latest, exact)
        return self._latest

    def _make_up_for_setting(self, wall: int) -> None:
        """Notice that the wall clock was set, or that the machine slept on a system whose steady clock then stops."""
        apart = wall - self._steady()
        difference = apart - self._apart
        if abs(difference) < SET:
            return
        self._apart = apart
        corrected = max(self._set_back - difference, 0)
        if corrected > self._set_back:
            log.warning(
                "the wall clock was set back by %.0f s; the market's time goes on",
                -difference / SET,
            )
        elif self._set_back:
            log.warning("the wall clock was set forward again by %.0f s", difference / SET)
        self._set_back = corrected


SECOND = 1_000_000_000
GRID = 5 * SECOND
ASLEEP = 300 * SECOND
LONGEST_SLEEP = 30 * 86_400 * SECOND


def time_steps(after: int, until: int, step: int = GRID) -> Iterator[int]:
    """Return the multiples of `step` between two instants, then `until` itself."""
    yield from range((after // step + 1) * step, until, step)
    if until > after:
        yield until


def coarse_time_steps(after: int, until: int) -> Iterator[int]:
    """Return the instants to look at after a sleep, of a month at most."""
    return time_steps(max(after, until - LONGEST_SLEEP), until, ASLEEP)


def end_of_grid_cell(instant: int) -> int:
    """Return the last instant that lies in the same cell of the grid."""
    return (instant // GRID + 1) * GRID - 1
