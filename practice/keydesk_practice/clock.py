"""The broker's clock: wall time turned into market time, never going back."""

import time
from collections.abc import Callable


class Clock:
    """Says the market's time; begins at `start` and runs `speed` times as fast as the wall."""

    def __init__(self, start: int, speed: float, wall: Callable[[], int] = time.time_ns) -> None:
        self.speed = speed
        self._wall = wall
        self._start = start
        self._began = wall()
        self._latest = start

    def __call__(self) -> int:
        """Return the market's time; a wall clock that is set back makes it stand still."""
        passed = self._wall() - self._began
        exact = self._start + (passed if self.speed == 1 else round(passed * self.speed))
        self._latest = max(self._latest, exact)
        return self._latest
