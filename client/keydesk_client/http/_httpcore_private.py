"""Private attributes of httpx and httpcore: the only module that reads any.

The tests check each against the installed version. Where one is missing, requests get slower, never less safe.
"""

from collections.abc import Iterable
from contextlib import suppress
from ssl import SSLContext
from typing import Final

import httpcore

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


class WholeRequestBackend(httpcore.AsyncNetworkBackend):
    """Opens connections that send what was written when they are read from."""

    def __init__(self, backend: httpcore.AsyncNetworkBackend) -> None:
        self._backend = backend
        self.is_closed: bool = False

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - httpcore's signature
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        return await self.opened(
            await self._backend.connect_tcp(host, port, timeout, local_address, socket_options)
        )

    async def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,  # noqa: ASYNC109 - same
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        return await self.opened(
            await self._backend.connect_unix_socket(path, timeout, socket_options)
        )

    async def opened(self, stream: httpcore.AsyncNetworkStream) -> "WholeRequestStream":
        """Return a new connection ready for requests; close it and raise ConnectError if none may be opened any more."""
        if self.is_closed:
            await stream.aclose()
            raise httpcore.ConnectError("the client was closed while it connected")
        return WholeRequestStream(stream, self)

    async def sleep(self, seconds: float) -> None:
        await self._backend.sleep(seconds)


class WholeRequestStream(httpcore.AsyncNetworkStream):
    """A connection that keeps what is written until it is read from."""

    def __init__(self, stream: httpcore.AsyncNetworkStream, backend: WholeRequestBackend) -> None:
        self._stream = stream
        self._backend = backend
        self._unsent = b""
        self._timeout: float | None = None

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109 - httpcore's signature
        self._unsent += buffer
        self._timeout = timeout

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109 - same
        if self._unsent:
            await self._send()
        return await self._stream.read(max_bytes, timeout)

    async def _send(self) -> None:
        unsent, self._unsent = self._unsent, b""
        with suppress(httpcore.WriteError):  # as in httpcore: an answer may have come before
            await self._stream.write(unsent, self._timeout)

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def start_tls(
        self,
        ssl_context: SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 - same
    ) -> "WholeRequestStream":
        return await self._backend.opened(
            await self._stream.start_tls(ssl_context, server_hostname, timeout)
        )

    def get_extra_info(self, info: str) -> object:
        return self._stream.get_extra_info(info)
