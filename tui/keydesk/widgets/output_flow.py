"""How much of the output has not reached the terminal yet, so that a slow line gets fewer pictures, not older ones.

A write to a terminal over SSH returns long before its bytes arrive: up to 20 kB wait in the pseudo-terminal and far more
in sshd and the network. So a request that nearly every terminal answers (DA1) is sent along with the output; its reply
says that everything before it has been drawn. What may be under way is a window: what the line carried in a fifth of
a second when a reply took long, a little more each time when it did not. A terminal that never answered is never
waited for.
"""

from collections.abc import Callable
from dataclasses import dataclass

REQUEST = "\x1b[c"  # DA1, primary device attributes
REQUEST_EVERY = 2_000  # bytes
LARGEST_WINDOW, FIRST_WINDOW, SMALLEST_WINDOW = 16_000, 8_000, 2_500  # bytes
LONG_WAIT, SHORT_WAIT = 0.20, 0.08  # seconds more than the quickest reply took
GROWTH = 1_000  # bytes
IDLE = (
    2.0  # seconds after which a few bytes are reason enough for a request: its reply is a quick one
)
LONGEST_ROUND = 0.6  # seconds, a satellite's: what is more was spent waiting, also by the quickest
NO_ANSWER = 5.0  # seconds after which the terminal counts as one that does not answer


@dataclass(slots=True)
class OutputFlow:
    """Follows what was sent and what was answered."""

    clock: Callable[[], float]
    window: int = FIRST_WINDOW
    answers: bool = False  # the terminal has answered, and did so in time since
    asks: bool = True  # it is not known to be one that does not answer
    _sent: int = 0  # bytes in all
    _drawn: int = 0  # bytes that an answer told of
    _requested: int = 0  # bytes that were sent before the last request
    _requested_at: float | None = None  # None: no answer is awaited
    _answered_at: float = float("-inf")
    _quickest: float = LONGEST_ROUND

    @property
    def is_open(self) -> bool:
        """Whether more may be sent now."""
        if self._requested_at is not None and self.clock() - self._requested_at > NO_ANSWER:
            self.asks, self.answers = self.answers, False  # one answer may be lost, not the first
            self._requested_at, self._drawn = None, self._sent
        return not self.answers or self._sent - self._drawn < self.window

    def sending(self, size: int) -> str:
        """Count an update that is being sent; returns the request to send after it, or nothing."""
        self._sent += size
        if not self.asks or self._requested_at is not None:
            return ""
        idle = self.clock() - self._answered_at > IDLE
        due = idle or self._sent - max(self._requested, self._drawn) >= REQUEST_EVERY
        return self._request() if due else ""

    def answered(self) -> str:
        """Take an answer; returns the next request, where more is under way, or nothing."""
        self.asks = True
        if self._requested_at is None:
            return ""
        self._answered_at = self.clock()
        wait = self._answered_at - self._requested_at
        self._quickest = min(self._quickest, wait)
        under_way = self._requested - self._drawn
        if wait - self._quickest > LONG_WAIT:
            carried = int(under_way / wait * LONG_WAIT)
            self.window = max(SMALLEST_WINDOW, min(self.window, carried))
        elif wait - self._quickest < SHORT_WAIT and 2 * under_way > self.window:
            self.window = min(LARGEST_WINDOW, self.window + GROWTH)
        self.answers, self._drawn, self._requested_at = True, self._requested, None
        return self._request() if self._sent > self._drawn else ""

    def _request(self) -> str:
        self._requested, self._requested_at = self._sent, self.clock()
        return REQUEST
