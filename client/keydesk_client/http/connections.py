"""The connections to a host: opened, reused, and each used for one request at a time, whose response h11 parses.

- A request is sent in one piece: head and body as packets of their own would wake the service twice.
- A connection is reused only after a response that was read to its end, with nothing behind it: such bytes would be
  parsed as the response to the next request. Nor is one that became readable, or broke, while it was idle. Such bytes
  may also be buffered below the parser, where the socket does not show them: the TLS layer is read once to find out;
  of TCP nothing is left, since each read takes all that asyncio has received.
- Connections are opened by httpcore's network backend, but for Unix sockets; its pool and the client of httpx are not
  used: they pass the event loop four times more for each request.
"""

import asyncio
import socket
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, suppress
from functools import partial
from ssl import SSLContext, SSLObject, SSLWantReadError
from typing import Final, TypeAlias, TypeVar, cast

import h11
import httpcore
import httpx

from keydesk_client.errors import InvalidSettings
from keydesk_client.http.certificates import named_certificates
from keydesk_client.http.endpoint import Address
from keydesk_client.http.log import log_connection
from keydesk_client.http.unix_stream import UnixStream

T = TypeVar("T")

Carrier: TypeAlias = httpx.AsyncBaseTransport
"""Carries requests: tests pass a MockTransport, or one that calls an app in this process."""
SocketOption: TypeAlias = tuple[int, int, int]
Trace: TypeAlias = Callable[[str, object], Awaitable[object]]
IDLE_CONNECTION_S: Final = 30.0
KEEPALIVE_IDLE_S, KEEPALIVE_INTERVAL_S, KEEPALIVE_PROBES = 5, 2, 3
UNACKNOWLEDGED_MS: Final = 8000
MAX_REASON_LENGTH: Final = 300
MAX_HEAD_BYTES: Final = 100 * 1024
"""Bytes of the headers of a response."""
READ_SIZE: Final = 256 * 1024
"""As much as asyncio receives at once: anyio would keep the rest, which `is_readable` does not see."""
PORTS: Final = {"http": 80, "https": 443}
CLEAN: Final = (b"", False)
"""`trailing_data` of an h11 parser that received nothing behind the response; True stands for the end of the connection."""

INVALID: Final = (httpx.InvalidURL, httpx.LocalProtocolError, UnicodeError)
"""Raised for a request that cannot be encoded."""


def checked(address: Address) -> Address:
    """Return the address if httpx can use it; raise InvalidSettings if not."""
    try:
        httpx.URL(address.base)
    except INVALID as error:
        reason = str(error)
    else:
        return address
    raise InvalidSettings(f"{address.base[:MAX_REASON_LENGTH]!r} is not a valid URL: {reason}")


class Connection:
    """One connection: sends a request and parses its response."""

    def __init__(self, network: httpcore.AsyncNetworkStream) -> None:
        self.network: httpcore.AsyncNetworkStream = network
        self.idle_until: float = 0.0
        self._parser = h11.Connection(h11.CLIENT, MAX_HEAD_BYTES)
        self._is_broken = False

    @property
    def is_quiet(self) -> bool:
        """Whether nothing was received since the last response, not even the end of the connection."""
        return not self.network.get_extra_info("is_readable")

    @property
    def unread(self) -> bytes:
        """What was received of the body and not parsed yet."""
        return self._parser.trailing_data[0]

    async def exchange(self, request: httpx.Request) -> h11.Response:
        """Send the request and return the head of its response."""
        timeouts = request.extensions["timeout"]
        try:
            await self.network.write(self._encoded(request), timeouts["write"])
        except httpcore.WriteError:
            self._is_broken = True  # a response may have come before
        while True:
            event = await self.next_event(timeouts["read"])
            if isinstance(event, h11.Response):
                return event

    async def next_event(self, timeout: float | None) -> object:  # noqa: ASYNC109 - httpcore reads with a timeout
        """Return the next part of the response."""
        while (event := self._parsed()) is h11.NEED_DATA:
            received = await self.network.read(READ_SIZE, timeout)
            if not received and self._parser.their_state is h11.SEND_RESPONSE:
                raise httpx.RemoteProtocolError("the connection ended without a response")
            self._parser.receive_data(received)
        return event

    def renew(self) -> bool:
        """Prepare for the next request; return False when the connection cannot carry one."""
        parser = self._parser
        is_done = parser.our_state is h11.DONE and parser.their_state is h11.DONE
        if not is_done or self._is_broken or parser.trailing_data != CLEAN:
            return False
        if self._has_more_encrypted():
            return False
        parser.start_next_cycle()
        self.idle_until = time.monotonic() + IDLE_CONNECTION_S
        return True

    async def close(self) -> None:
        """Close the connection; an error of one that is gone does not matter."""
        with suppress(httpcore.NetworkError, OSError):
            await self.network.aclose()

    def _has_more_encrypted(self) -> bool:
        """Return whether TLS received something behind the response, or its end; such bytes are taken out."""
        encryption = cast("SSLObject | None", self.network.get_extra_info("ssl_object"))
        if encryption is None:
            return False
        try:
            encryption.read(1)
        except SSLWantReadError:
            return False
        except OSError:
            pass
        return True

    def _encoded(self, request: httpx.Request) -> bytes:
        """Return the bytes of the request; raise LocalProtocolError for one that must not be sent."""
        content = b"".join(cast("httpx.ByteStream", request.stream))
        try:
            head = h11.Request(
                method=request.method, target=request.url.raw_path, headers=request.headers.raw
            )
            pieces = [self._parser.send(head)]
            if content:
                pieces.append(self._parser.send(h11.Data(data=content)))
            pieces.append(self._parser.send(h11.EndOfMessage()))
        except h11.LocalProtocolError as error:
            reason = str(error)
        else:
            return b"".join(filter(None, pieces))
        raise httpx.LocalProtocolError(reason)

    def _parsed(self) -> object:
        try:
            return self._parser.next_event()
        except h11.RemoteProtocolError as error:
            reason = str(error)
        raise httpx.RemoteProtocolError(reason)


class ResponseBody(httpx.AsyncByteStream):
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
            await self._pool.take_back(self.connection)


class ConnectionPool(httpx.AsyncBaseTransport):
    """At most `most` connections to a host; the one that was used last carries the next request.

    An address that is reached by https needs `encryption`.
    """

    def __init__(self, address: Address, most: int, encryption: SSLContext | None = None) -> None:
        url = httpx.URL(address.base)
        self._address = address
        self._host = url.raw_host.decode("ascii")
        self._port = url.port or PORTS[url.scheme]
        self._ssl = encryption if address.is_encrypted else None
        self._backend = cast("httpcore.AsyncNetworkBackend", httpcore.AnyIOBackend())
        self._places = asyncio.Semaphore(most)
        self._connections: set[Connection] = set()
        self._idle: list[Connection] = []
        self._is_closed = False

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request once, on an idle connection or a new one; return the head of the response with its open body."""
        await self._wait_for_place(request.extensions["timeout"]["pool"])
        connection = None
        try:
            connection = await self._idle_connection()
            if connection is None:
                connection = await self._opened(request)
            head = await connection.exchange(request)
        except BaseException:
            await self.take_back(connection, is_failed=True)
            raise
        body = ResponseBody(connection, request.extensions["timeout"]["read"], self)
        return httpx.Response(head.status_code, headers=list(head.headers), stream=body)

    async def take_back(self, connection: Connection | None, *, is_failed: bool = False) -> None:
        """Keep a connection for the next request, or close it when it cannot carry one."""
        self._places.release()
        if connection is None:
            return
        if not is_failed and not self._is_closed and connection.renew():
            self._idle.append(connection)
        else:
            await self._close(connection)

    async def aclose(self) -> None:
        """Close every connection; one that is being opened is closed as soon as it is open."""
        self._is_closed = True
        self._idle.clear()
        async with (
            AsyncExitStack() as closing
        ):  # if it is cancelled, the others are closed all the same
            for connection in self._connections:
                closing.push_async_callback(self._close, connection)

    async def _wait_for_place(self, timeout_s: float | None) -> None:
        if not self._places.locked():
            await self._places.acquire()
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                await self._places.acquire()
                return
        raise httpx.PoolTimeout("every connection is in use")

    async def _idle_connection(self) -> Connection | None:
        """Return the idle connection that was used last, if there is one; close those idle for too long."""
        while self._idle and self._idle[0].idle_until < time.monotonic():
            await self._close(self._idle.pop(0))
        while self._idle:
            connection = self._idle.pop()
            if connection.is_quiet:
                return connection
            await self._close(connection)
        return None

    async def _close(self, connection: Connection) -> None:
        self._connections.discard(connection)
        await connection.close()

    async def _opened(self, request: httpx.Request) -> Connection:
        """Open a connection; close it and raise ConnectError if the pool was closed meanwhile."""
        self._check_open()
        timeout_s = request.extensions["timeout"]["connect"]
        trace: Trace | None = request.extensions.get("trace")
        began = time.monotonic()
        network = await self._connected(timeout_s, trace)
        try:
            if self._ssl is not None and not self._is_closed:
                secure = partial(network.start_tls, self._ssl, self._host, timeout_s)
                network = await _traced("start_tls", secure, trace)
        except BaseException:
            await network.aclose()
            raise
        if self._is_closed:
            await network.aclose()
        self._check_open()
        log_connection(self._address, time.monotonic() - began)
        connection = Connection(network)
        self._connections.add(connection)
        return connection

    def _check_open(self) -> None:
        if self._is_closed:
            raise httpcore.ConnectError("the client was closed while it connected")

    async def _connected(
        self, timeout_s: float | None, trace: Trace | None
    ) -> httpcore.AsyncNetworkStream:
        socket_path = self._address.socket_path
        if socket_path is not None:
            connect_to_path = partial(UnixStream.connect, socket_path, timeout_s)
            return await _traced("connect_unix_socket", connect_to_path, trace)
        options = tcp_keepalive()
        connect = partial(
            self._backend.connect_tcp, self._host, self._port, timeout_s, None, options
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
    context = named_certificates() or httpx.create_ssl_context(trust_env=False)
    context.set_alpn_protocols(["http/1.1"])
    return context


def tcp_keepalive() -> list[SocketOption]:
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
