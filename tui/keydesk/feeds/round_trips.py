"""Round-trip times of an account's requests, and the requests without an answer."""

from collections import deque

REMEMBERED = 100  # round trips
RECENT = 60.0  # seconds: older round trips say nothing of the line as it is now


class RoundTrips:
    """The newest round-trip times, and the requests without an answer; all in seconds."""

    def __init__(self) -> None:
        self._taken: deque[tuple[float, float]] = deque(maxlen=REMEMBERED)  # when, how long
        self._waiting: dict[object, float] = {}  # when each request was asked
        self._failed_since: float | None = (
            None  # when the first was asked that ended without an answer
        )
        self._answered_at = float("-inf")  # when the last answer of any kind came

    def took(self, seconds: float, now: float) -> None:
        """Add the duration of a round trip that just ended."""
        self._taken.append((now, seconds))

    def ask(self, now: float) -> object:
        """Note that a request is sent; return its handle."""
        request = object()
        self._waiting[request] = now
        return request

    def answer(self, request: object, now: float) -> None:
        """Note that a request was answered, also with an error status."""
        self._waiting.pop(request, None)
        self._failed_since, self._answered_at = None, now

    def give_up(self, request: object) -> None:
        """Note that a request ended without an answer; it counts as unanswered until any answer arrives."""
        sent_at = self._waiting.pop(request, None)
        if self._failed_since is None:
            self._failed_since = sent_at

    def forget(self, request: object) -> None:
        """Remove a request that was cancelled or never sent."""
        self._waiting.pop(request, None)

    @property
    def unanswered_since(self) -> float | None:
        """When the oldest unanswered request was sent, None if there is none."""
        waiting = [*self._waiting.values()]
        if self._failed_since is not None:
            waiting.append(self._failed_since)
        return min(waiting, default=None)

    def silence(self, now: float) -> float:
        """Return the seconds without any answer while a request waits, else 0."""
        since = self.unanswered_since
        return 0.0 if since is None else now - max(since, self._answered_at)

    def oldest_wait(self, now: float) -> float:
        """Return the seconds for which the oldest request waits; 0 if none does."""
        return now - min(self._waiting.values(), default=now)

    @property
    def last_ms(self) -> float | None:
        """The newest round trip in milliseconds, None before the first."""
        return self._taken[-1][1] * 1000 if self._taken else None

    @property
    def p95_ms(self) -> float | None:
        """The 95th percentile in milliseconds of the round trips in the minute up to the newest one."""
        if not self._taken:
            return None
        newest, _ = self._taken[-1]
        ordered = sorted(seconds for when, seconds in self._taken if newest - when < RECENT)
        return ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))] * 1000
