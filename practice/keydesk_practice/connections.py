"""The connections of the server: bounded in number and in time, each iteration's writes sent in one piece.

An idle connection or half a request is closed after a while, and earlier when other clients need its place, so idle clients
cannot exhaust the descriptors; a connection with a request in progress is never closed for another one.
"""

import asyncio
import json
import resource
import socket
import sys
import time
from typing import Any, ClassVar, cast

import httptools
from msgspec import Struct, field
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MAX_CONNECTIONS = 2_000
RESERVED_DESCRIPTORS = 128  # for the ledger's files and connections that are about to be refused
REQUEST_SECONDS = 10.0
READER_SECONDS = 60.0
MAX_HEAD_BYTES = 64 * 1024
MAX_HELD_BYTES = 16 * 1024  # of one write
_KEEPALIVE = {"TCP_KEEPIDLE": 20, "TCP_KEEPINTVL": 5, "TCP_KEEPCNT": 4, "TCP_USER_TIMEOUT": 40_000}
METHODS = "GET, POST, PUT or PATCH"
_FULL = "The practice broker has as many connections open as it accepts: try again later"


class ConnectionLimits(Struct):
    """The limits of one server, and its connections that wait for a complete request."""

    max_connections: int = MAX_CONNECTIONS
    request_seconds: float = (
        REQUEST_SECONDS  # from connecting, or the first byte, to a complete request
    )
    reader_seconds: float = READER_SECONDS  # that a client may read nothing of what it is sent
    awaiting_request: "dict[LimitedConnection, None]" = field(
        default_factory=dict
    )  # longest waiting first


def raise_descriptor_limit() -> int:
    """Raise the process's descriptor limit as far as possible; return the number of connections it allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    limit = MAX_CONNECTIONS + RESERVED_DESCRIPTORS
    if soft != resource.RLIM_INFINITY and soft < limit:
        soft = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    if soft == resource.RLIM_INFINITY:
        return MAX_CONNECTIONS
    return max(1, min(MAX_CONNECTIONS, soft - RESERVED_DESCRIPTORS))


def connection_class(limits: ConnectionLimits) -> type[HttpToolsProtocol]:
    """Return the protocol class of a server's connections."""
    return type("LimitedConnection", (LimitedConnection,), {"limits": limits})


class WholeWrites(asyncio.Transport):
    """A connection's transport that sends what one iteration of the event loop writes in one piece.

    uvicorn writes head and body of a response apart: each would be a packet of its own, and wake the client once more.
    """

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__()
        self._transport = transport
        self._loop = loop
        self._unsent: list[bytes] = []

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Send bytes at the end of this iteration, many of them at once: the transport counts what waits."""
        if not self._unsent:
            self._loop.call_soon(self._send)
        self._unsent.append(bytes(data))
        if len(data) > MAX_HELD_BYTES:
            self._send()

    def _send(self) -> None:
        unsent, self._unsent = self._unsent, []
        if unsent:
            self._transport.write(unsent[0] if len(unsent) == 1 else b"".join(unsent))

    def close(self) -> None:
        """Send what was written, then close the connection."""
        self._send()
        self._transport.close()

    def abort(self) -> None:
        """Close the connection at once."""
        self._unsent = []
        self._transport.abort()

    def is_closing(self) -> bool:
        """Return whether the connection is closed or being closed."""
        return self._transport.is_closing()

    def pause_reading(self) -> None:
        """Stop reading from the client."""
        self._transport.pause_reading()

    def resume_reading(self) -> None:
        """Read from the client again."""
        self._transport.resume_reading()

    def get_extra_info(self, name: str, default: object = None) -> Any:  # noqa: ANN401 - asyncio's signature
        """Return a fact about the connection."""
        return self._transport.get_extra_info(name, default)


class LimitedConnection(HttpToolsProtocol):
    """One connection within the limits."""

    limits: ClassVar[ConnectionLimits]

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept a connection; at the limit, close one that sends no request instead, or else refuse this one."""
        self._request_timer: asyncio.TimerHandle | None = None
        self._reader_timer: asyncio.TimerHandle | None = None
        self._head_size = 0
        self._in_request = False
        super().connection_made(WholeWrites(transport, self.loop))
        _set_keepalive(transport)
        if len(self.connections) > self.limits.max_connections:
            if not self.limits.awaiting_request:
                self._refuse()
                return
            next(iter(self.limits.awaiting_request)).abort()
        self._start_request_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the connection's timers."""
        self._stop_request_timer()
        self._stop_reader_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse bytes; start the request timer when a request began and is not complete."""
        self._head_size += len(data)
        super().data_received(data)
        waits = self._in_request or self.cycle is None or self.cycle.response_complete
        if waits and self._request_timer is None and not self.transport.is_closing():
            self._start_request_timer()
        if self._head_size > MAX_HEAD_BYTES and not self.transport.is_closing():
            self.send_400_response(
                f"The request head is too large: send at most {MAX_HEAD_BYTES} bytes"
            )

    def send_400_response(self, msg: str) -> None:
        """Answer bytes that are no request as any error is answered, and close the connection."""
        status = "400 Bad Request"
        if isinstance(
            sys.exc_info()[1], httptools.HttpParserInvalidMethodError
        ):  # uvicorn is catching it
            status, msg = "501 Not Implemented", f"The method is not known: use {METHODS}"
        self._write_error(status, msg, f"RequestID: {time.time_ns()}\r\n")

    def on_message_begin(self) -> None:
        """Note that a request began."""
        self._in_request = True
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """Start the request."""
        self._head_size = 0
        super().on_headers_complete()
        scope: dict[str, Any] = cast("dict[str, Any]", self.scope)
        scope["extensions"] = {"keydesk.abort": self.abort}  # faults on demand close it

    def on_body(self, body: bytes) -> None:
        """Add a part of the body, whose size is limited by the endpoint."""
        self._head_size = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Stop the request timer: the request is complete."""
        self._head_size = 0
        self._in_request = False
        self._stop_request_timer()
        super().on_message_complete()

    def pause_writing(self) -> None:
        """Start the reader timer: the client does not read."""
        super().pause_writing()
        self._stop_reader_timer()
        self._reader_timer = self.loop.call_later(self.limits.reader_seconds, self.abort)

    def resume_writing(self) -> None:
        """Stop the reader timer: the client reads again."""
        self._stop_reader_timer()
        super().resume_writing()

    def abort(self) -> None:
        """Close the connection at once."""
        self._stop_request_timer()
        self.transport.abort()

    def _start_request_timer(self) -> None:
        self.limits.awaiting_request[self] = None
        self._request_timer = self.loop.call_later(self.limits.request_seconds, self.abort)

    def _stop_request_timer(self) -> None:
        self.limits.awaiting_request.pop(self, None)
        if self._request_timer is not None:
            self._request_timer.cancel()
            self._request_timer = None

    def _stop_reader_timer(self) -> None:
        if self._reader_timer is not None:
            self._reader_timer.cancel()
            self._reader_timer = None

    def _refuse(self) -> None:
        self._write_error("503 Service Unavailable", _FULL, "retry-after: 1\r\n")

    def _write_error(self, status: str, message: str, headers: str) -> None:
        body = json.dumps({"errorMessage": message}, separators=(",", ":"))
        head = (
            f"HTTP/1.1 {status}\r\ncontent-type: application/json\r\n"
            f"content-length: {len(body)}\r\n{headers}connection: close\r\n\r\n"
        )
        self.transport.write((head + body).encode("ascii"))
        self.transport.close()


def _set_keepalive(transport: asyncio.Transport) -> None:
    """Set TCP keep-alive, so that the system notices a lost peer."""
    found = transport.get_extra_info("socket")
    if found is None or found.family == socket.AF_UNIX:
        return
    found.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    if sys.platform == "linux":
        for name, value in _KEEPALIVE.items():
            found.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
