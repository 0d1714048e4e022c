"""The policy of retries: for how long, with which pauses, and after which errors.

Full jitter: each pause is drawn between 0 and a ceiling that doubles, so that clients which lost the service at the same
moment do not return at the same moment.
"""

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

TRANSIENT: Final = (Unreachable, ConnectionLost, TimedOut, UnreadableAnswer, RateLimited)
TRANSIENT_STATUSES: Final = frozenset({500, 502, 503, 504})
"""Not 501: an operation that the service does not offer stays missing."""
LASTING_CAUSES: Final = frozenset({"certificate", "proxy sign-in"})
"""Causes of Unreachable that a person has to settle."""
MAX_DOUBLINGS: Final = 16


@dataclass(frozen=True, slots=True)
class BackOff:
    """Pauses between tries: exponential backoff with full jitter.

    Each pause is drawn between 0 and a ceiling that doubles, so that many clients which lost the service together do
    not come back together.
    """

    first_s: float
    """Ceiling of the first pause."""
    longest_s: float
    """Ceiling of every pause."""

    def pause(self, failures: int, rng: Callable[[], float], *, at_least_s: float = 0.0) -> float:
        """Return the seconds to wait after this many failures before; `rng` draws from 0 to 1."""
        doubled = self.first_s * 2.0 ** min(failures, MAX_DOUBLINGS)
        return max(at_least_s, min(self.longest_s, doubled) * rng())


@dataclass(frozen=True, slots=True)
class Retries:
    """The retry policy for reads: for `patience_s` seconds, however many attempts that are."""

    most: int | None = None
    """How often a read is retried at most; 0 for never, None for as often as `patience_s` allows."""
    first_s: float = 0.25
    """The ceiling of the first pause; it doubles with each further one."""
    longest_s: float = 5.0
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
        if (self.most is not None and attempts > self.most) or not _is_transient(error):
            return None
        retry_after = (error.retry_after if isinstance(error, HttpStatusError) else None) or 0.0
        left_s = self.patience_s - spent_s
        if left_s <= 0 or retry_after > left_s:
            return None
        back_off = BackOff(self.first_s, self.longest_s)
        return min(left_s, back_off.pause(attempts - 1, rng, at_least_s=retry_after))


STANDARD_RETRIES: Final = Retries()


def _is_transient(error: KeydeskClientError) -> bool:
    if isinstance(error, ServerFailed):
        return error.status in TRANSIENT_STATUSES
    if isinstance(error, Unreachable) and error.cause in LASTING_CAUSES:
        return False
    return isinstance(error, TRANSIENT) and not isinstance(error, AnswerTooLarge)
