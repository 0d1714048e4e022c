"""Requests from one node to another: plain HTTP/1.1 on kept connections, with the secret of the cluster in each head."""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from keydesk_practice.errors import NotExecuted, OutcomeUnknown

CONNECT_SECONDS = 0.5
UNIX = "http+unix://"
MAX_IDLE = 16  # kept connections to a node
MAX_HEAD_BYTES = 64 * 1024
_FIRST_FINAL = 200  # status; those below announce the response
_OWN_HEADERS = frozenset({b"connection", b"date", b"server", b"transfer-encoding", b"requestid"})
Headers = Sequence[tuple[bytes, bytes]]
log = logging.getLogger("keydesk.practice.cluster")
Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@dataclass(frozen=True, slots=True)
class PeerRequest:
    """A client's request as another node is asked to answer it."""

    method: str
    target: bytes
    headers: Headers
    body: bytes

    def encoded(self, host: str, inner: Headers) -> bytes:
        """Return the bytes of the request."""
        lines = [f"{self.method} ".encode() + self.target + b" HTTP/1.1"]
        names = {name for name, _ in self.headers}
        if b"host" not in names:
            lines.append(b"host: " + host.encode())
        lines += [name + b": " + value for name, value in (*self.headers, *inner)]
        lines.append(b"content-length: %d" % len(self.body))
        return b"\r\n".join(lines) + b"\r\n\r\n" + self.body


@dataclass(frozen=True, slots=True)
class PeerAnswer:
    """The answer of another node."""

    status: int
    headers: Headers
    body: bytes

    def header(self, name: bytes) -> bytes:
        """Return the value of a header, empty when it is missing."""
        return next((value for key, value in self.headers if key == name), b"")


class Peers:
    """Kept connections to the other nodes."""

    def __init__(self) -> None:
        self._idle: dict[str, list[Connection]] = {}

    async def send(
        self, address: str, request: PeerRequest, inner: Headers, seconds: float
    ) -> PeerAnswer:
        """Return the answer of a node.

        Raises:
            NotExecuted: the node could not be reached, so nothing was sent.
            OutcomeUnknown: the request was sent, and no answer came.
        """
        reader, writer = await self._connection(address)
        try:
            async with asyncio.timeout(seconds):
                writer.write(request.encoded(address, inner))
                await writer.drain()
                answer = await _read_answer(reader, request.method)
        except (OSError, EOFError, ValueError, TimeoutError, asyncio.LimitOverrunError) as error:
            writer.transport.abort()
            log.info("no answer from %s: %r", address, error)
            raise OutcomeUnknown("the node of the account did not answer") from None
        except BaseException:
            writer.transport.abort()
            raise
        kept = self._idle.setdefault(address, [])
        if len(kept) < MAX_IDLE:
            kept.append((reader, writer))
        else:
            writer.close()
        return answer

    async def stream(self, address: str, request: PeerRequest, inner: Headers) -> "PeerStream":
        """Return the answer of a process to a request for a stream; the caller closes it.

        Raises:
            NotExecuted: the process could not be reached, or ended before it answered.
        """
        reader, writer = await self._connection(address)
        stream = PeerStream(reader, writer)
        try:
            writer.write(request.encoded(address, inner))
            await stream.begin()
        except (OSError, EOFError, ValueError, asyncio.LimitOverrunError) as error:
            stream.close()
            log.info("no answer from %s: %r", address, error)
            raise NotExecuted("the process of the account did not answer") from None
        except BaseException:
            stream.close()
            raise
        return stream

    def keep_only(self, addresses: Iterable[str]) -> None:
        """Close the connections to nodes that are gone."""
        for address in self._idle.keys() - set(addresses):
            for _, writer in self._idle.pop(address):
                writer.transport.abort()

    async def _connection(self, address: str) -> Connection:
        kept = self._idle.get(address, [])
        while kept:
            reader, writer = kept.pop()
            if not reader.at_eof() and not writer.is_closing():
                return reader, writer
            writer.transport.abort()
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                return await _opened(address)
        except (OSError, TimeoutError) as error:
            log.info("%s cannot be reached: %r", address, error)
            raise NotExecuted("the node of the account cannot be reached") from None

    def close(self) -> None:
        """Close every connection."""
        self.keep_only(())


class PeerStream:
    """A streamed answer of another process, on a connection of its own."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._size: int | None = None
        self.status = 0
        self.headers: Headers = ()

    async def begin(self) -> None:
        """Read the head of the answer."""
        self.status, self.headers, self._size = await _read_final_head(self._reader)

    async def pieces(self) -> AsyncIterator[bytes]:
        """Yield the body piece by piece; raise `EOFError` or `OSError` when it is cut off."""
        if self._size is not None:
            yield await self._reader.readexactly(self._size)
            return
        while size := int((await self._reader.readuntil(b"\r\n")).split(b";")[0], 16):
            yield await self._reader.readexactly(size)
            await self._reader.readexactly(2)

    def close(self) -> None:
        """Close the connection."""
        self._writer.transport.abort()


async def _opened(address: str) -> Connection:
    if address.startswith(UNIX):
        path = address.removeprefix(UNIX)
        return await asyncio.open_unix_connection(path, limit=MAX_HEAD_BYTES)
    parts = urlsplit(address)
    return await asyncio.open_connection(parts.hostname, parts.port, limit=MAX_HEAD_BYTES)


async def _read_answer(reader: asyncio.StreamReader, method: str) -> PeerAnswer:
    status, headers, size = await _read_final_head(reader)
    if method == "HEAD":  # its length is that of the body which GET would get
        size = 0
    return PeerAnswer(status, headers, await reader.readexactly(size or 0))


async def _read_final_head(reader: asyncio.StreamReader) -> tuple[int, Headers, int | None]:
    """Return the head of the final response: an informational one such as `100 Continue` comes before it."""
    while (head := await _read_head(reader))[0] < _FIRST_FINAL:
        pass
    return head


async def _read_head(reader: asyncio.StreamReader) -> tuple[int, Headers, int | None]:
    """Return status, headers, and the size of the body, None of one in chunks."""
    head = await reader.readuntil(b"\r\n\r\n")
    first, *lines = head[:-4].split(b"\r\n")
    status = int(first.split(b" ", 2)[1])
    headers: list[tuple[bytes, bytes]] = []
    size: int | None = 0
    for line in lines:
        name, _, value = line.partition(b":")
        name, value = name.strip().lower(), value.strip()
        if name == b"content-length":
            size = int(value)
        elif name == b"transfer-encoding" and value.lower() == b"chunked":
            size = None
        if name not in _OWN_HEADERS:
            headers.append((name, value))
    return status, headers, size
