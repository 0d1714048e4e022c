"""Bounds connections: how many there are, how long a request may take to arrive, how long a reader may not read.

A connection that sends nothing, or half a request, is closed after a while, and before that when others need its place.
So connections that nobody uses exhaust no descriptors; those of clients that talk are never closed for others.
"""

import asyncio
import resource
import socket
import sys
from dataclasses import dataclass, field
from typing import ClassVar

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MOST_CONNECTIONS = 2_000
RESERVED_DESCRIPTORS = (
    128  # for the ledger, the files beside it, and connections about to be refused
)
REQUEST_SECONDS = 10.0
READER_SECONDS = 60.0
LARGEST_HEAD = 64 * 1024
_KEEPALIVE = {"TCP_KEEPIDLE": 20, "TCP_KEEPINTVL": 5, "TCP_KEEPCNT": 4, "TCP_USER_TIMEOUT": 40_000}
_FULL = b'{"errorMessage":"The practice broker has as many connections open as it takes"}'


@dataclass(slots=True)
class ConnectionLimits:
    """The limits of one server, and which of its connections wait for a whole request."""

    most: int = MOST_CONNECTIONS
    request_seconds: float = (
        REQUEST_SECONDS  # from the first byte, or from connecting, to the whole request
    )
    reader_seconds: float = READER_SECONDS  # without taking anything of what it is sent
    expecting: "dict[Connection, None]" = field(default_factory=dict)  # longest first


def raise_descriptor_limit() -> int:
    """Allow this process as many descriptors as the system lets it; return how many connections that bears."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_CONNECTIONS + RESERVED_DESCRIPTORS
    if soft != resource.RLIM_INFINITY and soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    if soft == resource.RLIM_INFINITY:
        return MOST_CONNECTIONS
    return max(1, min(MOST_CONNECTIONS, soft - RESERVED_DESCRIPTORS))


def protocol_of(limits: ConnectionLimits) -> type[HttpToolsProtocol]:
    """Return the protocol class of a server's connections."""
    return type("LimitedConnection", (Connection,), {"limits": limits})


class Connection(HttpToolsProtocol):
    """One connection, within limits."""

    limits: ClassVar[ConnectionLimits]

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take in a connection, in place of one that sends no request if there are too many, or refuse it."""
        self._deadline: asyncio.TimerHandle | None = None
        self._unread: asyncio.TimerHandle | None = None
        self._head_size = 0
        super().connection_made(transport)
        _set_keepalive(transport)
        if len(self.connections) > self.limits.most:
            if not self.limits.expecting:
                self._refuse()
                return
            next(iter(self.limits.expecting)).give_up()
        self._expect_request()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._request_is_whole()
        self._cancel_unread()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take bytes; a request must be whole some seconds after its first."""
        if self._deadline is None and (self.cycle is None or self.cycle.response_complete):
            self._expect_request()
        self._head_size += len(data)
        super().data_received(data)
        if self._head_size > LARGEST_HEAD and not self.transport.is_closing():
            self.send_400_response(f"The head of a request has at most {LARGEST_HEAD} bytes")

    def on_headers_complete(self) -> None:
        """Begin to answer."""
        self._head_size = 0
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Take a part of the body, which has a limit of its own."""
        self._head_size = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """The request is whole; how long its answer takes is our affair."""
        self._head_size = 0
        self._request_is_whole()
        super().on_message_complete()

    def pause_writing(self) -> None:
        """The client does not read what it is sent: it has some time to begin again."""
        super().pause_writing()
        self._cancel_unread()
        self._unread = self.loop.call_later(self.limits.reader_seconds, self.give_up)

    def resume_writing(self) -> None:
        """The client reads again."""
        self._cancel_unread()
        super().resume_writing()

    def give_up(self) -> None:
        """Close the connection at once."""
        self._request_is_whole()
        self.transport.abort()

    def _expect_request(self) -> None:
        self.limits.expecting[self] = None
        self._deadline = self.loop.call_later(self.limits.request_seconds, self.give_up)

    def _request_is_whole(self) -> None:
        self.limits.expecting.pop(self, None)
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _cancel_unread(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def _refuse(self) -> None:
        head = (
            "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\n"
            f"content-length: {len(_FULL)}\r\nretry-after: 1\r\nconnection: close\r\n\r\n"
        )
        self.transport.write(head.encode("ascii") + _FULL)
        self.transport.close()


def _set_keepalive(transport: asyncio.Transport) -> None:
    """Let the system notice that the other machine is gone."""
    found = transport.get_extra_info("socket")
    if found is None or found.family == socket.AF_UNIX:
        return
    found.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    if sys.platform == "linux":
        for name, value in _KEEPALIVE.items():
            found.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
