"""How long the broker takes to answer: the last time and the 95th of a hundred."""

from collections import deque

REMEMBERED = 100


class RoundTrips:
    """The newest round trips, in seconds."""

    def __init__(self) -> None:
        self._taken: deque[float] = deque(maxlen=REMEMBERED)

    def took(self, seconds: float) -> None:
        """Note one."""
        self._taken.append(seconds)

    @property
    def last_ms(self) -> float | None:
        """The newest, in milliseconds; None before the first."""
        return self._taken[-1] * 1000 if self._taken else None

    @property
    def p95_ms(self) -> float | None:
        """The one that 95 of 100 are not slower than, in milliseconds."""
        if not self._taken:
            return None
        ordered = sorted(self._taken)
        return ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))] * 1000
