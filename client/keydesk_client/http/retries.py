"""How often a read is asked again, and how long to wait in between. Writes are never repeated here.

Full jitter: each pause is drawn between nothing and a ceiling that doubles, so that a thousand clients which lost the
service at once do not come back at once.
"""

from collections.abc import Callable
from dataclasses import dataclass

from keydesk_client.errors import (
    Answered,
    AnswerTooLarge,
    ConnectionLost,
    KeydeskClientError,
    RateLimited,
    ServerFailed,
    TimedOut,
    Unreachable,
    UnreadableAnswer,
)

PASSING = (Unreachable, ConnectionLost, TimedOut, UnreadableAnswer, RateLimited)
PASSING_STATUSES = frozenset({500, 502, 503, 504})
"""Not 501: what a service does not offer it will not offer in a second either."""


@dataclass(frozen=True, slots=True)
class Retries:
    """The patience of a client with a read."""

    most: int = 3
    """Times that a read is asked again; 0 for never."""
    first_s: float = 0.25
    longest_s: float = 5.0
    """Ceiling of a drawn pause."""
    patience_s: float = 20.0
    """No further try starts later than this after the first; a longer Retry-After is raised, not slept out."""

    def pause(
        self, error: KeydeskClientError, *, tries: int, spent_s: float, chance: Callable[[], float]
    ) -> float | None:
        """Seconds to wait before the next try, or None to give up; `chance` draws from 0 to 1."""
        if tries > self.most or not _passes(error):
            return None
        asked = error.retry_after if isinstance(error, Answered) else None
        ceiling = min(self.longest_s, self.first_s * 2.0 ** (tries - 1))
        pause = max(asked or 0.0, ceiling * chance())
        return pause if spent_s + pause <= self.patience_s else None


def _passes(error: KeydeskClientError) -> bool:
    if isinstance(error, ServerFailed):
        return error.status in PASSING_STATUSES
    return isinstance(error, PASSING) and not isinstance(error, AnswerTooLarge)
