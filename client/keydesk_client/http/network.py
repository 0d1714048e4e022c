"""The network below httpcore: connections by TCP, TLS and Unix socket, of which none is used again with bytes left in it.

httpcore would parse what follows a response as the response to the next request. It reads only while a response is
incomplete; so the last byte that was received is handed on by itself, and whatever stands behind the end of a response
stays unread here. Before httpcore keeps or reuses an idle connection it asks whether it `is_readable`, and closes it then:
that is also how it notices that the other side has closed.
"""

import asyncio
import select
import socket
import ssl
import sys
import time
from collections.abc import Iterable
from typing import Final, cast

import httpcore

from keydesk_client.http.log import log_connection

KEEPALIVE_IDLE_S, KEEPALIVE_INTERVAL_S, KEEPALIVE_PROBES = 5, 2, 3
UNACKNOWLEDGED_MS: Final = 8000
READ_SIZE: Final = 256 * 1024
"""As much as asyncio receives at once: anyio would keep the rest of it where nobody sees it."""
SLICE: Final = 16 * 1024
"""What httpcore parses before other tasks run: a flood of chunks or of 1xx responses costs a microsecond a byte."""


class Network(httpcore.AsyncNetworkBackend):
    """Opens the connections of one pool.

    Args:
        place: Where they lead, for the log.
        tls_layers: How often TLS is begun on a connection: for the host, and for a proxy that is reached by https.
    """

    def __init__(self, place: str, tls_layers: int) -> None:
        self._place, self._tls_layers = place, tls_layers
        self._backend = cast("httpcore.AsyncNetworkBackend", httpcore.AnyIOBackend())
        self.is_closed: bool = False
        """Whether a connection that is being opened is closed as soon as it is open."""

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - as in the base class
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,  # noqa: ARG002 - httpcore passes none to proxies
    ) -> httpcore.AsyncNetworkStream:
        """Connect to whichever of the host's addresses answers first."""
        began = time.monotonic()
        stream = await self._backend.connect_tcp(host, port, timeout, local_address, tcp_options())
        return await self.opened(stream, self._tls_layers, began)

    async def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,  # noqa: ASYNC109 - same
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Connect to a Unix socket."""
        began = time.monotonic()
        stream = await self._backend.connect_unix_socket(path, timeout, socket_options)
        return await self.opened(UnixStream(stream), self._tls_layers, began)

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await self._backend.sleep(seconds)

    async def opened(
        self, stream: httpcore.AsyncNetworkStream, tls_layers: int, began: float
    ) -> httpcore.AsyncNetworkStream:
        """Return a stream on which TLS is still to be begun so often, or the watched one that carries requests."""
        if self.is_closed:
            await stream.aclose()
            raise httpcore.ConnectError("the client was closed while it connected")
        if tls_layers:
            return OpeningStream(stream, self, tls_layers, began)
        log_connection(self._place, time.monotonic() - began)
        return WatchedStream(stream)


class _Stream(httpcore.AsyncNetworkStream):
    """A stream on another one."""

    def __init__(self, stream: httpcore.AsyncNetworkStream) -> None:
        self._stream = stream

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109 - same
        return await self._stream.read(max_bytes, timeout)

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109 - same
        await self._stream.write(buffer, timeout)

    async def aclose(self) -> None:
        await self._stream.aclose()

    def get_extra_info(self, info: str) -> object:
        return self._stream.get_extra_info(info)


class UnixStream(_Stream):
    """A connection by Unix socket of which a reader can be cancelled at any time.

    That of anyio raises `InvalidStateError` in the event loop when its bytes arrive in the turn of the cancellation; asyncio
    prints that. So it is asked only once there is something to read, and has nothing to wait for.
    """

    def __init__(self, stream: httpcore.AsyncNetworkStream) -> None:
        super().__init__(stream)
        self._socket: socket.socket = stream.get_extra_info("socket")
        self._input: asyncio.Future[None] | None = None  # while a reader waits

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109 - same
        """Wait for input, and return it."""
        try:
            async with asyncio.timeout(timeout):
                await self._until_input()
        except TimeoutError as error:
            raise httpcore.ReadTimeout from error
        return await self._stream.read(max_bytes, timeout)

    async def aclose(self) -> None:
        """Close it; a reader that waits fails, as one of a closed socket."""
        self._end_wait()
        await self._stream.aclose()

    async def _until_input(self) -> None:
        if self._socket.fileno() < 0:  # closed
            return
        loop = asyncio.get_running_loop()
        waiting = self._input = loop.create_future()
        loop.add_reader(self._socket, self._end_wait)
        try:
            await waiting
        finally:
            self._end_wait()

    def _end_wait(self) -> None:
        waiting, self._input = self._input, None
        if waiting is None:
            return
        asyncio.get_running_loop().remove_reader(self._socket)
        if not waiting.done():
            waiting.set_result(None)


class OpeningStream(_Stream):
    """A connection on which TLS is still to be begun."""

    def __init__(
        self, stream: httpcore.AsyncNetworkStream, network: Network, tls_layers: int, began: float
    ) -> None:
        super().__init__(stream)
        self._network, self._tls_layers, self._began = network, tls_layers, began

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 - same
    ) -> httpcore.AsyncNetworkStream:
        """Begin TLS."""
        try:
            stream = await self._stream.start_tls(ssl_context, server_hostname, timeout)
        except BaseException:  # a cancellation, too
            await self._stream.aclose()
            raise
        return await self._network.opened(stream, self._tls_layers - 1, self._began)


class WatchedStream(_Stream):
    """A connection that knows what was received and not asked for, and sends head and body of a request in one piece."""

    def __init__(self, stream: httpcore.AsyncNetworkStream) -> None:
        super().__init__(stream)
        self._unread = self._unsent = b""
        self._is_closed = False
        self._socket: socket.socket = stream.get_extra_info("socket")
        self._encryption: object = stream.get_extra_info("ssl_object")

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109 - same
        """Keep a piece of a request, and send them all at its end, which is an empty piece."""
        self._unsent += buffer
        if not buffer:
            await self._send(timeout)

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109 - same
        """Return a slice of what was received; the last byte of it by itself, at the next call."""
        if self._unsent:
            await self._send(timeout)
        if not self._unread:
            self._unread = await self._stream.read(READ_SIZE, timeout)
        elif len(self._unread) > 1:
            await asyncio.sleep(0)
        size = min(max_bytes, SLICE, max(1, len(self._unread) - 1))
        piece, self._unread = self._unread[:size], self._unread[size:]
        return piece

    async def aclose(self) -> None:
        """Close it; at once, so that no request that waits for a connection takes this one."""
        self._is_closed = True
        await self._stream.aclose()

    def get_extra_info(self, info: str) -> object:
        """Return whether anything `is_readable`, the end of the connection as well, or another property."""
        if info != "is_readable":
            return self._stream.get_extra_info(info)
        return (
            self._is_closed
            or bool(self._unread)
            or _has_input(self._socket)
            or (isinstance(self._encryption, ssl.SSLObject) and _has_record(self._encryption))
        )

    async def _send(self, timeout: float | None) -> None:  # noqa: ASYNC109 - same
        unsent, self._unsent = self._unsent, b""
        await self._stream.write(unsent, timeout)


def _has_input(connection: socket.socket) -> bool:
    """Return whether the system has bytes of a connection, or its end, or has closed it."""
    number = connection.fileno()
    if number < 0 or sys.platform == "win32":
        return number < 0 or bool(select.select([number], [], [], 0)[0])
    poll = select.poll()  # unlike `select`, for any number of open files
    poll.register(number, select.POLLIN)
    return bool(poll.poll(0))


def _has_record(encryption: ssl.SSLObject) -> bool:
    """Return whether a record was received that was not read; the connection is of no use then."""
    try:
        encryption.read(1)
    except ssl.SSLWantReadError:
        return False
    except ssl.SSLError:
        return True
    return True


def tcp_options() -> list[tuple[int, int, int]]:
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
