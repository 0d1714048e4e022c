"""The policy of retries: for how long, with which pauses (`backoff`), and after which errors."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from keydesk_client.errors import (
    AnswerTooLarge,
    ConnectionLost,
    HttpStatusError,
    KeydeskClientError,
    RateLimited,
    ServerFailed,
    TimedOut,
    Unreachable,
    UnreadableAnswer,
)
from keydesk_client.http.backoff import READ_BACKOFF, Backoff

TRANSIENT: Final = (Unreachable, ConnectionLost, TimedOut, UnreadableAnswer, RateLimited)
TRANSIENT_STATUSES: Final = frozenset({500, 502, 503, 504})
"""Not 501: an operation that the service does not offer stays missing."""
LASTING_CAUSES: Final = frozenset({"certificate", "proxy sign-in"})
"""Causes of Unreachable that a person has to settle."""


@dataclass(frozen=True, slots=True)
class Retries:
    """The retry policy for reads: for `patience_s` seconds, however many attempts that are."""

    max_retries: int | None = None
    """How often a read is retried at most; 0 for never, None for as often as `patience_s` allows."""
    first_backoff_s: float = READ_BACKOFF.first_s
    """The ceiling of the first pause; it doubles with each further one."""
    max_backoff_s: float = READ_BACKOFF.max_s
    """The highest ceiling."""
    patience_s: float = 20.0
    """No retry starts later than this after the first attempt; a longer Retry-After is raised instead of waited for.

    The last pause is shortened so that the last retry starts at this time."""

    def pause(
        self,
        error: KeydeskClientError,
        *,
        attempts: int,
        spent_s: float,
        rng: Callable[[], float],
    ) -> float | None:
        """Return the seconds to wait before the next attempt, or None to give up.

        `attempts` have failed in `spent_s` seconds; `rng` draws from 0 to 1.
        """
        if (self.max_retries is not None and attempts > self.max_retries) or not _is_transient(
            error
        ):
            return None
        retry_after = (error.retry_after if isinstance(error, HttpStatusError) else None) or 0.0
        left_s = self.patience_s - spent_s
        if left_s <= 0 or retry_after > left_s:
            return None
        backoff = Backoff(self.first_backoff_s, self.max_backoff_s)
        return min(left_s, backoff.pause(attempts - 1, rng, at_least_s=retry_after))


STANDARD_RETRIES: Final = Retries()


def _is_transient(error: KeydeskClientError) -> bool:
    if isinstance(error, ServerFailed):
        return error.status in TRANSIENT_STATUSES
    if isinstance(error, Unreachable) and error.cause in LASTING_CAUSES:
        return False
    return isinstance(error, TRANSIENT) and not isinstance(error, AnswerTooLarge)
