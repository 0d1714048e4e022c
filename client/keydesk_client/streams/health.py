"""How a stream is doing, readable at any moment."""

from dataclasses import dataclass

from keydesk_client.errors import KeydeskClientError


@dataclass(slots=True)
class StreamHealth:
    """Counts since the stream was entered, and its present state."""

    connected: bool = False
    connects: int = 0
    """Connections that were made."""
    attempts: int = 0
    """Connections that were tried."""
    lines: int = 0
    unreadable: int = 0
    """Lines that are no item of this stream, and were left out."""
    dropped: int = 0
    """Prices that the reader was too slow for."""
    heard_at: float | None = None
    """When the last line came, or the connection before it, by the stream's clock."""
    trouble: KeydeskClientError | None = None
    """Why the connection before this one ended, or the present attempt failed."""


@dataclass(frozen=True, slots=True)
class Lost:
    """A connection was lost, and another one made."""

    reason: KeydeskClientError
    seconds: float
    """From its last line to the new connection."""


class Gap(Lost):
    """The price stream was interrupted and is back: prices in between are lost."""


class Reconnected(Lost):
    """The transaction stream was interrupted and is back: nothing is missing, what came in between follows."""


@dataclass(frozen=True, slots=True)
class HistoryLost:
    """The service does not have the transactions that must follow: take a snapshot, the stream starts anew."""

    applied: int
    """The newest id that was delivered before."""
