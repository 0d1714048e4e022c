"""What carries requests to a host: the connections of `connections`, or a transport of httpx that a caller passes.

The interface between them and `transport`: a request as it is sent, the response whose body is still to be read, and the
errors.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, TypeAlias

from keydesk_client.http.limits import Trace
from keydesk_client.http.messages import Method

if TYPE_CHECKING:
    import httpx

Phase: TypeAlias = Literal["connect", "write", "read", "pool"]


class PhaseTimeouts(NamedTuple):
    """Seconds that each phase of a request may take, None for no limit; `read` is the longest silence."""

    connect: float | None
    write: float | None
    read: float | None
    pool: float | None


class EncodedRequest(NamedTuple):
    """A request as it is sent."""

    method: Method
    base: str
    """The URL of the host."""
    target: str
    """The path, percent-encoded, and the query."""
    headers: Sequence[tuple[bytes, bytes]]
    body: bytes
    timeouts: PhaseTimeouts
    trace: Trace | None = None
    """Called, and awaited, at each step of opening a connection."""

    def __repr__(self) -> str:
        """Leave out the headers, which hold the token."""
        return f"<{self.method} {self.base}{self.target}>"


class Body(Protocol):
    """The body of a response whose connection is open."""

    def __aiter__(self) -> AsyncIterator[bytes]:
        """Return its pieces, as they come."""
        ...

    async def aclose(self) -> None:
        """Close it: its connection is given back, or closed."""
        ...


class OpenResponse(NamedTuple):
    """The head of a response, with header names in lower case, and its body, which must be closed."""

    status: int
    headers: Mapping[str, str]
    body: Body

    def __repr__(self) -> str:
        """Leave out the headers: a service may send the token back."""
        return f"<response {self.status}>"


class Carrier(Protocol):
    """Carries requests; what it raises is a `ConnectionFailed` or a `RequestNotEncodable`."""

    async def send(self, request: EncodedRequest) -> OpenResponse:
        """Send a request once; return the head of its response."""
        ...

    async def aclose(self) -> None:
        """Close every connection."""
        ...


PassedCarrier: TypeAlias = "Carrier | httpx.AsyncBaseTransport"
"""What a caller may pass to a client."""


class RequestNotEncodable(Exception):
    """Raised for a request that the rules of HTTP cannot express; nothing was sent."""


class ConnectionFailed(Exception):
    """Raised when a connection broke, or brought what is not a response."""


class NotConnected(ConnectionFailed):
    """Raised when a connection cannot be opened; nothing was sent."""


class WriteFailed(ConnectionFailed):
    """Raised when a request could not be sent to its end."""


class PhaseTimedOut(ConnectionFailed):
    """Raised when a phase took longer than it may."""

    def __init__(self, phase: Phase) -> None:
        super().__init__(f"the {phase} timeout has passed")
        self.phase: Phase = phase
