"""The market's clock of a cluster: the pace that the database holds, read with the clock of the database."""

import time
from collections import deque
from collections.abc import Callable

from keydesk_practice.broker.clock import CLOCK_SET, SECOND
from keydesk_practice.cluster.database import MarketTime

_SAMPLES = 8  # of the offset between two clocks; the most exact one counts
_MAX_AHEAD = SECOND // 2  # of a node; above the difference of the clocks, too short to be noticed


class DatabaseWallClock:
    """The wall time of the database, by this process's steady clock."""

    def __init__(
        self, offset: int, error: int, steady: Callable[[], int] = time.monotonic_ns
    ) -> None:
        self._samples = deque([(error, offset)], maxlen=_SAMPLES)
        self._steady = steady

    def add(self, offset: int, error: int) -> None:
        """Note another measurement of the offset; after the database's clock was set, the earlier ones do not count."""
        best_error, best = min(self._samples)
        if abs(offset - best) > CLOCK_SET + error + best_error:
            self._samples.clear()
        self._samples.append((error, offset))

    def __call__(self) -> int:
        """Return the nanoseconds since 1970."""
        return self._steady() + min(self._samples)[1]


class ClusterClock:
    """The market's time: equal on all nodes but for the error of their wall clocks, exactly equal while it is paused."""

    def __init__(self, pace: MarketTime, wall: Callable[[], int]) -> None:
        self.pace = pace
        self._wall = wall
        self._latest = 0

    @property
    def speed(self) -> float:
        """Market seconds a second, while it runs."""
        return self.pace.speed

    @property
    def running(self) -> bool:
        """Whether the time goes on."""
        return self.pace.stops is None

    def __call__(self) -> int:
        """Return the market's time in nanoseconds since 1970."""
        self._latest = max(self._latest, self.at(self._wall()))
        return self._latest

    def at_least(self, market: int) -> None:
        """Go on from a time that the market of another node has reached already."""
        self._latest = max(self._latest, market)

    def at(self, wall: int) -> int:
        """Return the market's time at a wall time."""
        pace = self.pace
        exact = pace.market + round((wall - pace.wall) * pace.speed)
        return exact if pace.stops is None else min(exact, pace.stops)

    def follow(self, pace: MarketTime) -> None:
        """Go on with another pace; the time never goes back."""
        self.pace = pace

    @property
    def is_ahead(self) -> bool:
        """Whether this node has shown a later time than the pace gives now, so that its time would stand still.

        Causes: it was ahead when it read that the market stops or runs more slowly, it took an account of a node that was ahead,
        or the clock of the database was set back.
        """
        pace = self.pace
        if pace.stops is not None and self._latest > pace.stops:
            return True
        return self._latest - self.at(self._wall()) > _MAX_AHEAD * pace.speed

    def changed(
        self, *, market: int | None = None, speed: float | None = None, stops: int | None = None
    ) -> MarketTime:
        """Return the pace that follows this one, from now on: at another time or speed, or until it stops."""
        now = self()
        return MarketTime(
            now if market is None else market,
            self._wall(),
            self.speed if speed is None else speed,
            stops,
            self.pace.number + 1,
        )
