"""How patient a stream is, and what it does when its reader is slow."""

from dataclasses import dataclass
from enum import Enum


class WhenFull(Enum):
    """What happens to prices that nobody has taken yet, once there are too many."""

    BLOCK = "block"
    """Read no further; the service's buffers fill, and prices come late."""
    DROP_OLDEST = "drop oldest"
    """Forget the oldest price; `health.dropped` counts it."""
    KEEP_LAST = "keep last"
    """Keep one price an instrument, always the newest; `health.dropped` counts those it replaced."""


@dataclass(frozen=True, slots=True)
class StreamSettings:
    """Seconds and sizes of a stream."""

    stall_s: float = 30.0
    """Silence without a single line, heartbeats included, that means the stream is dead."""
    first_pause_s: float = 0.5
    longest_pause_s: float = 30.0
    """Ceiling of a pause before reconnecting; each is drawn between nothing and a ceiling that doubles."""
    healthy_s: float = 60.0
    """A connection that lasted this long makes the next pause a short one again."""
    waiting_at_most: int = 10_000
    """Items that wait for the reader before `when_full` applies."""
    when_full: WhenFull = WhenFull.BLOCK
    """For prices; transactions are never dropped."""
