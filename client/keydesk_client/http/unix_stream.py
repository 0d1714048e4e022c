"""Connections to Unix sockets, read by asyncio alone.

httpcore reads and writes by anyio, which for a Unix socket registers with the event loop at each read. The desk talks to
its practice broker over such a socket: the connection of this module takes a tenth less processor time an order.
"""

import asyncio
import select
from typing import Final, Self, cast

import httpcore

MAX_UNREAD: Final = 256 * 1024
"""Bytes that a Unix socket may be ahead of its reader, as a stream of prices would be of a slow one."""


class UnixConnection(asyncio.Protocol):
    """A connection to a Unix socket: the bytes that were received and not read yet, and whether it ended."""

    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None
        self._unread = bytearray()
        self._has_ended = False
        self._failure: Exception | None = None
        self._changed = asyncio.Event()
        self._may_write = asyncio.Event()
        self._may_write.set()

    @property
    def is_readable(self) -> bool:
        """Whether bytes, or the end of the connection, can be read: here, or still from the system."""
        return self._has_received or self._transport is None or _has_input(self._transport)

    @property
    def _has_received(self) -> bool:
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
        self._end(None)

    def connection_lost(self, exc: Exception | None) -> None:
        """Note that the connection is gone, and why."""
        self._end(exc)
        self._may_write.set()

    def pause_writing(self) -> None:
        """Note that the other side does not read."""
        self._may_write.clear()

    def resume_writing(self) -> None:
        """Note that everything is sent."""
        self._may_write.set()

    async def read(self, max_bytes: int) -> bytes:
        """Return what was received, at most `max_bytes`; empty at the end. Raise OSError when the connection broke."""
        while not self._has_received:
            self._changed.clear()
            await self._changed.wait()
        if not self._unread and self._failure is not None:
            raise self._failure
        received = bytes(self._unread[:max_bytes])
        del self._unread[:max_bytes]
        if self._transport is not None and len(self._unread) <= MAX_UNREAD:
            self._transport.resume_reading()
        return received

    def write(self, data: bytes) -> bool:
        """Send bytes; return whether the system has taken them all. Raise OSError when the connection is gone."""
        if self._transport is None or self._transport.is_closing():
            raise self._failure or ConnectionResetError("the connection is closed")
        self._transport.write(data)
        return self._may_write.is_set()

    async def wait_until_sent(self) -> None:
        """Return when the system has taken everything, or the connection is gone."""
        await self._may_write.wait()

    def close(self) -> None:
        """Close the connection at once: what was not sent or read is of no use any more."""
        if self._transport is not None:
            self._transport.abort()

    def _end(self, failure: Exception | None) -> None:
        self._has_ended, self._failure = True, self._failure or failure
        self._changed.set()


def _has_input(transport: asyncio.Transport) -> bool:
    poll = select.poll()
    poll.register(transport.get_extra_info("socket").fileno(), select.POLLIN)
    return bool(poll.poll(0))


class UnixStream(httpcore.AsyncNetworkStream):
    """A Unix connection with the errors of httpcore."""

    def __init__(self, connection: UnixConnection) -> None:
        self._connection = connection

    @classmethod
    async def connect(cls, path: str, timeout: float | None) -> Self:  # noqa: ASYNC109 - as httpcore's
        """Connect to a socket."""
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(timeout):
                _, connection = await loop.create_unix_connection(UnixConnection, path)
        except TimeoutError as error:
            raise httpcore.ConnectTimeout(error) from error
        except OSError as error:
            raise httpcore.ConnectError(error) from error
        return cls(connection)

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109 - httpcore's signature
        try:
            async with asyncio.timeout(timeout):
                return await self._connection.read(max_bytes)
        except TimeoutError as error:
            raise httpcore.ReadTimeout(error) from error
        except OSError as error:
            raise httpcore.ReadError(error) from error

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109 - same
        try:
            if not self._connection.write(buffer):
                async with asyncio.timeout(timeout):
                    await self._connection.wait_until_sent()
        except TimeoutError as error:
            raise httpcore.WriteTimeout(error) from error
        except OSError as error:
            raise httpcore.WriteError(error) from error

    async def aclose(self) -> None:
        self._connection.close()

    def get_extra_info(self, info: str) -> object:
        return self._connection.is_readable if info == "is_readable" else None
