"""The settings of a stream, its health, and the markers that it puts between its items."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from keydesk_client.arithmetic.constants import SECOND
from keydesk_client.errors import KeydeskClientError
from keydesk_client.http.backoff import STREAM_BACKOFF
from keydesk_client.models._core.scalars import DateTime
from keydesk_client.transaction_id import TransactionID


class OverflowPolicy(StrEnum):
    """What to do with prices when more wait for the iteration than the buffer holds."""

    BLOCK = "block"
    """Stop reading; the service's buffers fill, and prices come late."""
    DROP_OLDEST = "drop oldest"
    """Drop the oldest price; `health.dropped` counts it."""
    KEEP_LAST = "keep last"
    """Keep the newest price of each instrument; `health.dropped` counts those that were replaced."""


STALL_S: Final = 30.0
"""Without a line for so many seconds a stream that a program iterates over is opened again."""
FOLLOWED_STALL_S: Final = 10.0
"""The same of the streams of an account that is followed, by `client.follow()` or the desk; heartbeats come every 5 s."""


@dataclass(frozen=True, slots=True)
class StreamSettings:
    """Times and sizes of a stream."""

    stall_s: float = STALL_S
    """Seconds without a line, heartbeats included, after which the connection is given up."""
    first_backoff_s: float = STREAM_BACKOFF.first_s
    """Ceiling of the first pause before reconnecting; see `backoff`."""
    max_backoff_s: float = STREAM_BACKOFF.max_s
    """Ceiling of every pause before reconnecting. A pause also ends when the service answers a request of the client,
    unless the service asked for a longer one."""
    healthy_s: float = 60.0
    """Seconds after which a connection counts as healthy, so that the next pause is a first one again."""
    waiting_at_most: int = 10_000
    """Items that wait for the iteration before `when_full` applies."""
    when_full: OverflowPolicy = OverflowPolicy.BLOCK
    """Policy for prices; transactions are never dropped."""


@dataclass(slots=True)
class StreamHealth:
    """Counts since the stream was entered, and its current state."""

    connected: bool = False
    connects: int = 0
    """Connections that were made."""
    attempts: int = 0
    """Connections that were attempted."""
    lines: int = 0
    unreadable: int = 0
    """Lines that are not an item of this stream and were left out."""
    dropped: int = 0
    """Prices that were dropped because the iteration was too slow."""
    heard_at: float | None = None
    """Time of the last line, or of the connection if none came since, by the stream's clock."""
    last_error: KeydeskClientError | None = None
    """Why the previous connection ended or the current attempt failed."""


@dataclass(frozen=True, slots=True)
class Interruption:
    """A connection was lost and another one was made."""

    reason: KeydeskClientError
    seconds: float
    """Seconds from the last line of the lost connection to the new connection."""


@dataclass(frozen=True, slots=True)
class Gap(Interruption):
    """The price stream was interrupted: the prices in between are lost."""

    began: DateTime | None = None
    """The service's time of the last line before; None if no line came, or it has no time."""

    @property
    def ended(self) -> DateTime | None:
        """The service's time of the new connection: `began` and the seconds since, by this machine's clock."""
        if self.began is None:
            return None
        return DateTime.from_ns(self.began.ns + round(self.seconds * SECOND))


class Reconnected(Interruption):
    """The transaction stream was interrupted: the transactions in between follow, none is missing."""


@dataclass(frozen=True, slots=True)
class HistoryLost:
    """The service does not have the transactions that follow: take a snapshot, the stream goes on after the newest."""

    applied: TransactionID
    """The newest id that was delivered before."""
