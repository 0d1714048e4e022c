"""How long the broker takes to answer: the last time, the 95th of a hundred, and how long it has not answered."""

from collections import deque

REMEMBERED = 100


class RoundTrips:
    """The newest round trips and the requests that wait for their answers, in seconds."""

    def __init__(self) -> None:
        self._taken: deque[float] = deque(maxlen=REMEMBERED)
        self._waiting: dict[object, float] = {}  # when each request was asked
        self._given_up: float | None = None  # when the first was asked that ended without an answer
        self._answered = float("-inf")  # when the last answer of any kind came

    def took(self, seconds: float) -> None:
        """Note one."""
        self._taken.append(seconds)

    def ask(self, now: float) -> object:
        """Note that a request leaves; returns what to name it by."""
        request = object()
        self._waiting[request] = now
        return request

    def answer(self, request: object, now: float) -> None:
        """Note that it was answered, be it by a refusal."""
        self._waiting.pop(request, None)
        self._given_up, self._answered = None, now

    def give_up(self, request: object) -> None:
        """Note that it ended without an answer; until any other is answered it still counts."""
        asked = self._waiting.pop(request, None)
        if self._given_up is None:
            self._given_up = asked

    def forget(self, request: object) -> None:
        """Note that it was cancelled here, or never left."""
        self._waiting.pop(request, None)

    @property
    def unanswered_since(self) -> float | None:
        """When the oldest request was asked that has no answer; None: there is none."""
        waiting = [*self._waiting.values()]
        if self._given_up is not None:
            waiting.append(self._given_up)
        return min(waiting, default=None)

    def silence(self, now: float) -> float:
        """For how long nothing at all was answered, although something was asked."""
        since = self.unanswered_since
        return 0.0 if since is None else now - max(since, self._answered)

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
