"""Private attributes of httpx and httpcore: the only module that reads any.

The tests check each against the installed version. Where one is missing, requests get slower, never less safe.
"""

from typing import Final

import httpcore

from keydesk_client.http.backend import WholeRequestBackend

PARSER_PATH: Final = ("_httpcore_stream", "_stream", "_connection", "_h11_state")
"""From the stream of an httpx response to the h11 parser of its connection."""
POOL: Final = "_pool"
"""The connection pool of an httpx transport."""
BACKEND: Final = "_network_backend"
"""What opens the connections of a pool."""

CLEAN: Final = ((b"", False), (b"", True))
"""`trailing_data` of an h11 parser that received nothing behind the response; True stands for the end of the connection."""


def may_have_trailing_data(stream: object) -> bool:
    """Return whether bytes followed the response that `stream` carried; call it once the body is read.

    Such bytes would be parsed as the response to the next request. Only the parser knows of them: where it cannot be
    reached the answer is True, and the caller closes the connection instead of reusing it.
    """
    return _trailing_data(stream) not in CLEAN


def unread_bytes(stream: object) -> bytes | None:
    """Return what was received of the body that `stream` carries, if none of it has been read yet.

    The rest can then be read from the connection, without the parser. None if the parser cannot be reached: the caller
    reads the body from `stream`.
    """
    match _trailing_data(stream):
        case (bytes() as received, False):
            return received
        case _:
            return None


def _trailing_data(stream: object) -> object:
    parser = stream
    for name in PARSER_PATH:
        parser = getattr(parser, name, None)
    return getattr(parser, "trailing_data", None)


def send_requests_whole(transport: object) -> None:
    """Let the new connections of an httpx transport send head and body of a request in one piece.

    Otherwise each is a packet of its own, and wakes the service once more.
    """
    pool = getattr(transport, POOL, None)
    backend = getattr(pool, BACKEND, None)
    if isinstance(backend, httpcore.AsyncNetworkBackend):
        setattr(pool, BACKEND, WholeRequestBackend(backend))


def refuse_connections(transport: object) -> None:
    """Let a transport open no more connections; one that is being opened is closed as soon as it is open.

    Closing a pool forgets its connections: one that opens afterwards would never be closed.
    """
    backend = getattr(getattr(transport, POOL, None), BACKEND, None)
    if isinstance(backend, WholeRequestBackend):
        backend.is_closed = True
