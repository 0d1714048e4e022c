"""The pauses between attempts, of reads, streams and followed accounts: exponential backoff with full jitter.

Full jitter: each pause is drawn between 0 and a ceiling that doubles, so that clients which lost the service at the same
moment do not return at the same moment.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

MAX_DOUBLINGS: Final = 16


@dataclass(frozen=True, slots=True)
class Backoff:
    """Pauses between attempts, each drawn between 0 and a ceiling that doubles."""

    first_s: float
    """Ceiling of the first pause."""
    max_s: float
    """Ceiling of every pause."""

    def pause(self, failures: int, rng: Callable[[], float], *, at_least_s: float = 0.0) -> float:
        """Return the seconds to wait after this many failures before; `rng` draws from 0 to 1."""
        doubled = self.first_s * 2.0 ** min(failures, MAX_DOUBLINGS)
        return max(at_least_s, min(self.max_s, doubled) * rng())


READ_BACKOFF: Final = Backoff(0.25, 5.0)
"""Of a read that is retried (`Retries`)."""
STREAM_BACKOFF: Final = Backoff(0.5, 4.0)
"""Of a stream that is opened again (`StreamSettings`), and of a followed account (`FollowSettings`)."""
CANDLE_BACKOFF: Final = Backoff(0.5, 60.0)
"""While the service still shows a candle as forming whose period has ended, or does not answer."""
