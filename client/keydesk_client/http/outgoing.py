"""What leaves with a request: its headers, and the time that each phase of the call may take."""

from dataclasses import dataclass
from typing import Final, TypeAlias

from keydesk_client._version import __version__
from keydesk_client.auth.secret import Secret
from keydesk_client.http.exchange import Request

Headers: TypeAlias = tuple[tuple[bytes, bytes], ...]

USER_AGENT: Final = (b"User-Agent", f"keydesk-client/{__version__}".encode())
JSON_BODY: Final = (b"Content-Type", b"application/json")
REST: Final[Headers] = (
    (b"Accept", b"application/json"),
    (b"Accept-Encoding", b"gzip"),
    USER_AGENT,
)
REST_HERE: Final[Headers] = (
    (b"Accept", b"application/json"),
    (b"Accept-Encoding", b"identity"),
    USER_AGENT,
)
STREAM: Final[Headers] = (
    (b"Accept", b"application/octet-stream"),
    (b"Accept-Encoding", b"identity"),  # a compressor would hold lines back
    USER_AGENT,
)


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds that each phase of a call may take."""

    connect: float = 5.0
    write: float = 10.0
    read: float = 10.0
    pool: float = 10.0
    whole: float = 30.0
    """All phases of a call together."""
    opening: float = 60.0
    """Until a stream's first header; the service is known to take its time."""

    def phases(self, read: float | None) -> dict[str, float | None]:
        """The phases that the HTTP library watches; `read` is how long not a byte may come."""
        return {"connect": self.connect, "write": self.write, "read": read, "pool": self.pool}


STANDARD_TIMEOUTS: Final = Timeouts()


def headers_of(request: Request, token: Secret, accepted: Headers) -> list[tuple[bytes, bytes]]:
    """Every header of a request; UnicodeError when one of the caller's has no bytes."""
    sent = [(b"Authorization", token.bearer()), *accepted]
    if request.body is not None:
        sent.append(JSON_BODY)
    sent += [(name.encode(), value.encode()) for name, value in request.headers.items()]
    return sent
