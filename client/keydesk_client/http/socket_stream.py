"""Connections by TCP, TLS or Unix socket, read by asyncio alone.

Everything that a connection received is known here, decrypted where it is encrypted: so is, between two requests, what
nobody asked for. A general network library registers with the event loop at each read, which took a tenth of the
processor time of an order, and its import 5 MB.
"""

import asyncio
import os
import select
import socket
import sys
from collections.abc import Iterable, Sequence
from itertools import zip_longest
from ssl import SSLContext, SSLError
from typing import Final, Self, TypeAlias, cast

from keydesk_client.errors import message_of
from keydesk_client.http.carrier import ConnectionFailed, NotConnected, PhaseTimedOut, WriteFailed

SocketOption: TypeAlias = tuple[int, int, int]
SocketAddress: TypeAlias = tuple[str, int] | tuple[str, int, int, int] | tuple[int, bytes]
AddressInfo: TypeAlias = tuple[socket.AddressFamily, socket.SocketKind, int, str, SocketAddress]
"""What `getaddrinfo` returns: family, kind, protocol, canonical name, address."""
MAX_UNREAD: Final = 256 * 1024
"""Bytes that a connection may be ahead of its reader, as a stream of prices would be of a slow one."""
NEXT_ADDRESS_S: Final = 0.25
"""Until the next address of a host is tried beside the one before (RFC 8305)."""
SHUTDOWN_S: Final = 1.0
"""How long an encrypted connection that is given up while it opens may wait for the other side."""


class SocketConnection(asyncio.Protocol):
    """A connection: the bytes that were received and not read yet, and whether it ended."""

    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None
        self._unread = bytearray()
        self._has_ended = False
        self._failure = ""
        self._changed = asyncio.Event()
        self._may_write = asyncio.Event()
        self._may_write.set()

    @property
    def is_readable(self) -> bool:
        """Whether bytes, or the end of the connection, can be read: here, or still from the system."""
        return self.has_received or self._transport is None or _has_input(self._transport)

    @property
    def has_received(self) -> bool:
        """Whether bytes, or the end of the connection, were received and not read yet."""
        return bool(self._unread) or self._has_ended

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Have `pause_writing` called for whatever the system does not take at once."""
        self._transport = cast("asyncio.Transport", transport)
        self._transport.set_write_buffer_limits(high=0)

    def data_received(self, data: bytes) -> None:
        """Keep what was received; stop reading while too much of it waits."""
        self._unread += data
        if len(self._unread) > MAX_UNREAD and self._transport is not None:
            self._transport.pause_reading()
        self._changed.set()

    def eof_received(self) -> None:
        """Note that the other side has closed."""
        self._end("")

    def connection_lost(self, exc: Exception | None) -> None:
        """Note that the connection is gone, and why."""
        self._end("" if exc is None else _reason(exc))
        self._may_write.set()

    def pause_writing(self) -> None:
        """Note that the other side does not read."""
        self._may_write.clear()

    def resume_writing(self) -> None:
        """Note that everything is sent."""
        self._may_write.set()

    async def read(self, max_bytes: int) -> bytes:
        """Return what was received, at most `max_bytes`; empty at the end. Raise ConnectionFailed when it broke."""
        while not self.has_received:
            self._changed.clear()
            await self._changed.wait()
        if not self._unread and self._failure:
            raise ConnectionFailed(self._failure)
        received = bytes(self._unread[:max_bytes])
        del self._unread[:max_bytes]
        if self._transport is not None and len(self._unread) <= MAX_UNREAD:
            self._transport.resume_reading()
        return received

    def write(self, data: bytes) -> bool:
        """Send bytes; return whether the system has taken them all. Raise WriteFailed when the connection is gone."""
        if self._transport is None or self._transport.is_closing():
            raise WriteFailed(self._failure or "the connection is closed")
        self._transport.write(data)
        return self._may_write.is_set()

    async def wait_until_sent(self) -> None:
        """Return when the system has taken everything, or the connection is gone."""
        await self._may_write.wait()

    def close(self) -> None:
        """Close the connection at once: what was not sent or read is of no use any more."""
        if self._transport is not None:
            self._transport.abort()

    def _end(self, failure: str) -> None:
        self._has_ended, self._failure = True, self._failure or failure
        self._changed.set()


def _has_input(transport: asyncio.Transport) -> bool:
    number = transport.get_extra_info("socket").fileno()
    if sys.platform == "win32":
        return bool(select.select([number], [], [], 0)[0])
    poll = select.poll()  # unlike `select`, for any number of open files
    poll.register(number, select.POLLIN)
    return bool(poll.poll(0))


class SocketStream:
    """A connection whose reads and writes have timeouts, in seconds, and raise `ConnectionFailed`."""

    def __init__(self, connection: SocketConnection) -> None:
        self._connection = connection

    @classmethod
    async def connect_unix(cls, path: str, timeout: float | None) -> Self:  # noqa: ASYNC109 - one for each step
        """Connect to a Unix socket."""
        try:
            async with asyncio.timeout(timeout):
                loop = asyncio.get_running_loop()
                _, connection = await loop.create_unix_connection(SocketConnection, path)
        except TimeoutError as error:
            raise PhaseTimedOut("connect") from error
        except OSError as error:
            raise NotConnected(_reason(error)) from error
        return cls(connection)

    @classmethod
    async def connect_tcp(
        cls,
        host: str,
        port: int,
        timeout: float | None,  # noqa: ASYNC109 - same
        *,
        encryption: SSLContext | None = None,
        options: Iterable[SocketOption] = (),
    ) -> Self:
        """Connect to a host, whichever of its addresses answers first.

        Args:
            host: Its name or address, in ASCII.
            port: Its port.
            timeout: Seconds for all of it.
            encryption: Encrypts the connection; the host's certificate is checked for its name.
            options: Arguments of `setsockopt`.
        """
        is_encrypted = encryption is not None
        try:
            async with asyncio.timeout(timeout):
                loop = asyncio.get_running_loop()
                _, connection = await loop.create_connection(
                    SocketConnection,
                    sock=await _connected_socket(host, port, options),
                    ssl=encryption,
                    server_hostname=host if is_encrypted else None,
                    ssl_shutdown_timeout=SHUTDOWN_S if is_encrypted else None,
                )
        except TimeoutError as error:
            raise PhaseTimedOut("connect") from error
        except OSError as error:
            raise NotConnected(_reason(error)) from error
        return cls(connection)

    @property
    def is_readable(self) -> bool:
        """Whether bytes, or the end of the connection, can be read."""
        return self._connection.is_readable

    @property
    def has_received(self) -> bool:
        """Whether bytes, or the end of the connection, were received and not read yet."""
        return self._connection.has_received

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109 - same
        """Return what was received, at most `max_bytes`; empty at the end."""
        try:
            async with asyncio.timeout(timeout):
                return await self._connection.read(max_bytes)
        except TimeoutError as error:
            raise PhaseTimedOut("read") from error

    async def write(self, data: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109 - same
        """Send bytes; return when the system has taken them."""
        try:
            if not self._connection.write(data):
                async with asyncio.timeout(timeout):
                    await self._connection.wait_until_sent()
        except TimeoutError as error:
            raise PhaseTimedOut("write") from error

    def close(self) -> None:
        """Close the connection at once."""
        self._connection.close()


async def _connected_socket(host: str, port: int, options: Iterable[SocketOption]) -> socket.socket:
    """Return a socket that is connected to the first address of a host that answers; raise an OSError if none does.

    Addresses are tried in the order of RFC 8305, each a moment after the one before. `create_connection` would do so, too,
    but loses a socket when it is cancelled in the moment in which it connects.
    """
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    tries: list[asyncio.Task[socket.socket]] = []
    try:
        for each in _alternating(found):
            tries.append(loop.create_task(_connect(each, options)))
            if connected := await _first_connected(tries, NEXT_ADDRESS_S):
                return connected
        while any(not each.done() for each in tries):
            if connected := await _first_connected(tries, None):
                return connected
        failures = [each.exception() for each in tries]
    finally:
        for other in tries:
            other.cancel()
            other.add_done_callback(_close_other)
    raise next(
        (each for each in failures if each is not None), OSError("the host has no addresses")
    )


def _alternating(found: Sequence[AddressInfo]) -> list[AddressInfo]:
    """Return addresses so that the two families take turns, beginning with that of the first one."""
    first = [each for each in found if each[0] == found[0][0]]
    others = [each for each in found if each[0] != found[0][0]]
    paired = zip_longest(first, others)
    return [each for pair in paired for each in pair if each is not None]


async def _connect(to: AddressInfo, options: Iterable[SocketOption]) -> socket.socket:
    family, kind, protocol, _, address = to
    made = socket.socket(family, kind, protocol)
    try:
        made.setblocking(False)
        for option in options:
            made.setsockopt(*option)
        await asyncio.get_running_loop().sock_connect(made, address)
    except BaseException:
        made.close()
        raise
    return made


async def _first_connected(
    tries: list[asyncio.Task[socket.socket]], seconds: float | None
) -> socket.socket | None:
    """Wait until a try ends, or for so long; return the socket of one that connected, and take its task out."""
    running = [each for each in tries if not each.done()]
    await asyncio.wait(running, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    for each in tries:
        if each.done() and not each.cancelled() and each.exception() is None:
            tries.remove(each)
            return each.result()
    return None


def _close_other(late: asyncio.Task[socket.socket]) -> None:
    """Close the socket of a try that is not needed any more."""
    if not late.cancelled() and late.exception() is None:
        late.result().close()


def _reason(error: Exception) -> str:
    """Return why a connection failed, without the address that asyncio adds."""
    if isinstance(error, SSLError | socket.gaierror):  # their numbers are not those of the system
        return error.strerror or message_of(error)
    if isinstance(error, OSError) and error.errno:
        return os.strerror(error.errno)
    return message_of(error)
