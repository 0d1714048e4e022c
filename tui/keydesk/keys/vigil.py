"""What disarms by itself: no key for long, a lost transaction stream, a desk that did not run for a while."""

from collections.abc import Iterator
from dataclasses import dataclass

from keydesk.keys.arming import IDLE_LIMIT, Cause

STOOD_STILL = (
    5.0  # seconds between two beats that come ten times a second: stopped, or the machine slept
)


@dataclass(slots=True)
class Vigil:
    """Looks at every beat; wall time counts too, since a sleeping machine's own clock may sleep with it."""

    beat_at: float | None = None  # monotonic seconds
    wall_at: float = 0.0  # wall seconds
    losses: int = 0  # of the transaction stream, as counted before

    def causes(self, now: float, wall: float, last_key_at: float, losses: int) -> Iterator[Cause]:
        """What happened since the beat before."""
        if self.beat_at is not None and max(now - self.beat_at, wall - self.wall_at) > STOOD_STILL:
            yield Cause.RESUME
        if losses != self.losses:
            yield Cause.RECONNECT
        if now - last_key_at > IDLE_LIMIT:
            yield Cause.IDLE
        self.beat_at, self.wall_at, self.losses = now, wall, losses
