"""The market's clock, which can be paused, set to another speed and moved on, and the steps between two of its times."""

import logging
import time
from collections.abc import Callable, Iterator

from keydesk_practice.engine.wire_form import SECOND

GRID = 5 * SECOND
COARSE_STEP = 300 * SECOND
MAX_SLEEP = 30 * 86_400 * SECOND
CLOCK_SET = SECOND  # a difference between two clocks that no drift explains
log = logging.getLogger("keydesk.practice")


def boot_time_ns() -> int:
    """Return the nanoseconds of a clock that cannot be set; where the system has one, it counts during sleep."""
    return time.clock_gettime_ns(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


class Clock:
    """The clock, which can be paused and set: begins at `start`, runs `speed` times as fast as wall time, and never goes back by itself.

    It follows the wall clock, so that the time of a sleep is made up for. The monotonic clock shows when the wall clock is
    set back; the difference is added from then on.
    """

    def __init__(
        self,
        start: int,
        speed: float,
        wall: Callable[[], int] = time.time_ns,
        monotonic: Callable[[], int] = boot_time_ns,
        *,
        running: bool = True,
    ) -> None:
        self.speed = speed
        self.running = running
        self._wall = wall
        self._monotonic = monotonic
        self._start = start
        self._began = wall()
        self._set_back = 0  # the total by which the wall clock was set back
        self._offset = self._began - monotonic()  # of the wall clock from the monotonic one
        self._latest = start

    def __call__(self) -> int:
        """Return the market's time in nanoseconds since 1970."""
        wall = self._wall()
        self._correct_for_setting(wall)
        passed = wall + self._set_back - self._began
        if not self.running:
            return self._latest
        exact = self._start + (passed if self.speed == 1 else round(passed * self.speed))
        self._latest = max(self._latest, exact)
        return self._latest

    def pause(self) -> None:
        """Stop; the time stays what it is."""
        self._latest = self()
        self.running = False

    def play(self, speed: float | None = None) -> None:
        """Run on from the present time, at another speed if one is given."""
        self.set(self(), speed)
        self.running = True

    def set(self, now: int, speed: float | None = None) -> None:
        """Go on from another time, later or earlier, at another speed if one is given."""
        self.speed = self.speed if speed is None else speed
        self._start = self._latest = now
        self._began, self._set_back = self._wall(), 0
        self._offset = self._began - self._monotonic()

    def _correct_for_setting(self, wall: int) -> None:
        """Correct for a wall clock that was set, or for a sleep during which the monotonic clock stood still."""
        offset = wall - self._monotonic()
        difference = offset - self._offset
        if abs(difference) < CLOCK_SET:
            return
        self._offset = offset
        corrected = max(self._set_back - difference, 0)
        if corrected > self._set_back:
            log.warning(
                "the wall clock was set back by %.0f s; the market's time goes on",
                -difference / SECOND,
            )
        elif self._set_back:
            log.warning("the wall clock was set forward again by %.0f s", difference / SECOND)
        self._set_back = corrected


def time_steps(after: int, until: int, step: int = GRID) -> Iterator[int]:
    """Yield the multiples of `step` between two times, then `until` itself."""
    yield from range((after // step + 1) * step, until, step)
    if until > after:
        yield until


def coarse_time_steps(after: int, until: int) -> Iterator[int]:
    """Yield the steps to simulate after a sleep; of a sleep longer than `MAX_SLEEP`, those of its end."""
    return time_steps(max(after, until - MAX_SLEEP), until, COARSE_STEP)


def end_of_grid_cell(time_: int) -> int:
    """Return the last nanosecond of the grid cell that holds a time."""
    return (time_ // GRID + 1) * GRID - 1
