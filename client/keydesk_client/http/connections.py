"""The connections to a host: opened, reused, and each used for one request at a time, whose response h11 parses.

- A request is sent in one piece: head and body as packets of their own would wake the service twice.
- A connection is reused only after a response that was read to its end, with nothing behind it: such bytes would be
  parsed as the response to the next request. Nor is one that became readable, or broke, while it was idle.
- The connections of httpx and httpcore are not used: they pass the event loop four times more for each request, and
  bring 130 modules.
"""

import asyncio
import socket
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import suppress
from functools import partial
from ssl import SSLContext
from typing import Final, TypeVar

import h11

from keydesk_client.http.carrier import (
    ConnectionFailed,
    EncodedRequest,
    NotConnected,
    OpenResponse,
    PhaseTimedOut,
    RequestNotEncodable,
    WriteFailed,
)
from keydesk_client.http.certificates import named_certificates, standard_certificates
from keydesk_client.http.endpoint import Address, host_of
from keydesk_client.http.limits import Trace
from keydesk_client.http.log import log_connection
from keydesk_client.http.messages import header_texts
from keydesk_client.http.socket_stream import SocketOption, SocketStream

T = TypeVar("T")

IDLE_CONNECTION_S: Final = 30.0
KEEPALIVE_IDLE_S, KEEPALIVE_INTERVAL_S, KEEPALIVE_PROBES = 5, 2, 3
UNACKNOWLEDGED_MS: Final = 8000
MAX_HEAD_BYTES: Final = 100 * 1024
"""Bytes of the headers of a response."""
READ_SIZE: Final = 256 * 1024
"""As much as asyncio receives at once."""
CLEAN: Final = (b"", False)
"""`trailing_data` of an h11 parser that received nothing behind the response; True stands for the end of the connection."""


class Connection:
    """One connection: sends a request and parses its response."""

    def __init__(self, network: SocketStream) -> None:
        self.network: SocketStream = network
        self.idle_until: float = 0.0
        self._parser = h11.Connection(h11.CLIENT, MAX_HEAD_BYTES)
        self._is_broken = False

    @property
    def is_quiet(self) -> bool:
        """Whether nothing was received since the last response, not even the end of the connection."""
        return not self.network.is_readable

    @property
    def unread(self) -> bytes:
        """What was received of the body and not parsed yet."""
        return self._parser.trailing_data[0]

    async def exchange(self, request: EncodedRequest, target: bytes) -> h11.Response:
        """Send the request and return the head of its response; `target` is the whole path, and the query."""
        try:
            await self.network.write(self._encoded(request, target), request.timeouts.write)
        except WriteFailed:
            self._is_broken = True  # a response may have come before
        while True:
            event = await self.next_event(request.timeouts.read)
            if isinstance(event, h11.Response):
                return event

    async def next_event(self, timeout: float | None) -> object:  # noqa: ASYNC109 - one for each read
        """Return the next part of the response."""
        while (event := self._parsed()) is h11.NEED_DATA:
            received = await self.network.read(READ_SIZE, timeout)
            if not received and self._parser.their_state is h11.SEND_RESPONSE:
                raise ConnectionFailed("the connection ended without a response")
            self._parser.receive_data(received)
        return event

    def renew(self) -> bool:
        """Prepare for the next request; return False when the connection cannot carry one."""
        parser = self._parser
        is_done = parser.our_state is h11.DONE and parser.their_state is h11.DONE
        if not is_done or self._is_broken or parser.trailing_data != CLEAN:
            return False
        if self.network.has_received:
            return False
        parser.start_next_cycle()
        self.idle_until = time.monotonic() + IDLE_CONNECTION_S
        return True

    def close(self) -> None:
        """Close the connection."""
        self.network.close()

    def _encoded(self, request: EncodedRequest, target: bytes) -> bytes:
        """Return the bytes of the request; raise RequestNotEncodable for one that must not be sent."""
        try:
            head = h11.Request(method=request.method, target=target, headers=list(request.headers))
            pieces = [self._parser.send(head)]
            if request.body:
                pieces.append(self._parser.send(h11.Data(data=request.body)))
            pieces.append(self._parser.send(h11.EndOfMessage()))
        except h11.LocalProtocolError as error:
            reason = str(error)
        else:
            return b"".join(filter(None, pieces))
        raise RequestNotEncodable(reason)

    def _parsed(self) -> object:
        try:
            return self._parser.next_event()
        except h11.RemoteProtocolError as error:
            reason = str(error)
        raise ConnectionFailed(reason)


class ResponseBody:
    """The body of a response; closing it gives the connection back."""

    def __init__(
        self, connection: Connection, timeout_s: float | None, pool: "ConnectionPool"
    ) -> None:
        self.connection: Connection = connection
        self._timeout_s, self._pool = timeout_s, pool
        self._is_closed = False

    async def __aiter__(self) -> AsyncGenerator[bytes]:
        while isinstance(event := await self.connection.next_event(self._timeout_s), h11.Data):
            yield bytes(event.data)

    async def aclose(self) -> None:
        """Give the connection back, or close it when it cannot be used again."""
        if not self._is_closed:
            self._is_closed = True
            self._pool.take_back(self.connection)


class ConnectionPool:
    """At most `most` connections to a host; the one that was used last carries the next request.

    An address that is reached by https needs `encryption`.
    """

    def __init__(self, address: Address, most: int, encryption: SSLContext | None = None) -> None:
        self._address = address
        self._host = host_of(address)
        self._ssl = encryption if address.is_encrypted else None
        self._places = asyncio.Semaphore(most)
        self._connections: set[Connection] = set()
        self._idle: list[Connection] = []
        self._is_closed = False

    async def send(self, request: EncodedRequest) -> OpenResponse:
        """Send a request once, on an idle connection or a new one; return the head of the response with its open body."""
        try:
            target = f"{self._host.path}{request.target}".encode("ascii")
        except UnicodeEncodeError as error:
            raise RequestNotEncodable(str(error)) from None
        await self._wait_for_place(request.timeouts.pool)
        connection = None
        try:
            connection = self._idle_connection()
            if connection is None:
                connection = await self._opened(request)
            head = await connection.exchange(request, target)
        except BaseException:
            self.take_back(connection, is_failed=True)
            raise
        body = ResponseBody(connection, request.timeouts.read, self)
        return OpenResponse(head.status_code, header_texts(head.headers), body)

    def take_back(self, connection: Connection | None, *, is_failed: bool = False) -> None:
        """Keep a connection for the next request, or close it when it cannot carry one."""
        self._places.release()
        if connection is None:
            return
        if not is_failed and not self._is_closed and connection.renew():
            self._idle.append(connection)
        else:
            self._close(connection)

    async def aclose(self) -> None:
        """Close every connection; one that is being opened is closed as soon as it is open."""
        self._is_closed = True
        self._idle.clear()
        for connection in tuple(self._connections):
            self._close(connection)

    async def _wait_for_place(self, timeout_s: float | None) -> None:
        if not self._places.locked():
            await self._places.acquire()
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                await self._places.acquire()
                return
        raise PhaseTimedOut("pool")

    def _idle_connection(self) -> Connection | None:
        """Return the idle connection that was used last, if there is one; close those idle for too long."""
        while self._idle and self._idle[0].idle_until < time.monotonic():
            self._close(self._idle.pop(0))
        while self._idle:
            connection = self._idle.pop()
            if connection.is_quiet:
                return connection
            self._close(connection)
        return None

    def _close(self, connection: Connection) -> None:
        self._connections.discard(connection)
        connection.close()

    async def _opened(self, request: EncodedRequest) -> Connection:
        """Open a connection; close it and raise NotConnected if the pool was closed meanwhile."""
        self._check_open()
        began = time.monotonic()
        network = await self._connected(request.timeouts.connect, request.trace)
        if self._is_closed:
            network.close()
        self._check_open()
        log_connection(self._address, time.monotonic() - began)
        connection = Connection(network)
        self._connections.add(connection)
        return connection

    def _check_open(self) -> None:
        if self._is_closed:
            raise NotConnected("the client was closed while it connected")

    async def _connected(self, timeout_s: float | None, trace: Trace | None) -> SocketStream:
        socket_path = self._address.socket_path
        if socket_path is not None:
            connect_to_path = partial(SocketStream.connect_unix, socket_path, timeout_s)
            return await _traced("connect_unix_socket", connect_to_path, trace)
        connect = partial(
            SocketStream.connect_tcp,
            self._host.name,
            self._host.port,
            timeout_s,
            encryption=self._ssl,
            options=tcp_options(),
        )
        return await _traced("connect_tcp", connect, trace)


async def _traced(step: str, open_: Callable[[], Awaitable[T]], trace: Trace | None) -> T:
    """Open a connection; call `trace` before and after, by the names of httpcore's trace extension."""
    if trace is None:
        return await open_()
    await trace(f"connection.{step}.started", {})
    try:
        opened = await open_()
    except BaseException:
        await trace(f"connection.{step}.failed", {})
        raise
    await trace(f"connection.{step}.complete", {})
    return opened


def ssl_context() -> SSLContext:
    """Return the SSL context of all connections; raise InvalidSettings if named certificates cannot be read."""
    context = named_certificates() or standard_certificates()
    context.set_alpn_protocols(["http/1.1"])
    return context


def tcp_options() -> list[SocketOption]:
    """Return socket options that notice a dead peer within about ten seconds, on Linux and macOS.

    Probes after 5 s of silence, every 2 s, 3 times; sent data may stay unacknowledged for 8 s.
    """
    wanted = {
        "TCP_KEEPIDLE": KEEPALIVE_IDLE_S,
        "TCP_KEEPALIVE": KEEPALIVE_IDLE_S,  # its name on macOS
        "TCP_KEEPINTVL": KEEPALIVE_INTERVAL_S,
        "TCP_KEEPCNT": KEEPALIVE_PROBES,
        "TCP_USER_TIMEOUT": UNACKNOWLEDGED_MS,
        "TCP_NODELAY": 1,
    }
    options = [(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)]
    for name, value in wanted.items():
        option = getattr(socket, name, None)
        if isinstance(option, int):
            options.append((socket.IPPROTO_TCP, option, value))
    return options
