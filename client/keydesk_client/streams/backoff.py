"""Pauses before a stream reconnects: exponential backoff with full jitter."""

from typing import Final

from keydesk_client.http.timing import Timing
from keydesk_client.streams.settings import StreamSettings

MOST_DOUBLINGS: Final = 16
LONGEST_RETRY_AFTER_S: Final = 300.0


class BackOff:
    """Pauses before reconnecting: full jitter under a ceiling that doubles, short again after a healthy time."""

    def __init__(self, settings: StreamSettings, timing: Timing) -> None:
        self._settings, self._timing = settings, timing
        self._failures = 0

    def pause(self, lasted_s: float, asked_s: float | None = None) -> float:
        """Seconds to wait after a connection that lasted so long; a Retry-After is heeded, within bounds."""
        if lasted_s >= self._settings.healthy_s:
            self._failures = 0
        doubled = self._settings.first_pause_s * 2.0 ** min(self._failures, MOST_DOUBLINGS)
        ceiling = min(self._settings.longest_pause_s, doubled)
        self._failures += 1
        heeded = min(asked_s or 0.0, LONGEST_RETRY_AFTER_S)
        return max(heeded, ceiling * self._timing.chance())
