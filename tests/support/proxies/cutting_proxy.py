"""A proxy between one listener and a broker's stream that cuts each connection at a drawn place, and notes when each began.

    async with cutting_proxy(practice.stream_url, seed=7) as proxy:
        Client(stream_url=proxy.url, ...)
    proxy.accepted_at, proxy.cuts

The places are bytes, not pieces as they happened to arrive: within a line, between a chunk's length and its data, in
the headers. It ends as a network does, with a reset, or as a service does, with a clean close.
"""

import asyncio
import random
import re
import socket
import struct
from collections import Counter
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from enum import Enum
from urllib.parse import urlsplit

from support.proxies.proxy_door import proxy_door

PIECE = 65536
FARTHEST = 3000
"""Bytes of an answer within which a random cut falls: headers, a heartbeat and a few transactions."""
OVER = (OSError, asyncio.IncompleteReadError)
RESET = struct.pack("ii", 1, 0)
CHUNK_LENGTH = re.compile(rb"\r\n[0-9a-f]+\r\n")


class Place(Enum):
    """Where a connection is cut."""

    ANY_BYTE = "at any byte"
    UNANSWERED = "before anything came"
    IN_HEADERS = "within the headers"
    BEFORE_FIRST_LINE = "behind the headers"
    BEFORE_DATA = "between a chunk's length and its data"
    IN_LINE = "within a line"
    AFTER_HEARTBEAT = "behind a heartbeat"
    AFTER_TRANSACTION = "behind a transaction"


@dataclass
class CuttingProxy:
    """The proxy, its dice, and what it did."""

    upstream: str
    dice: random.Random
    on_event: Callable[[], object]
    url: str = ""
    is_cutting: bool = True
    accepted_at: list[float] = field(default_factory=list)
    """By the loop's clock."""
    cuts: Counter[Place] = field(default_factory=Counter)

    @property
    def most_in_a_second(self) -> int:
        """The most connections that began within any second."""
        starts = self.accepted_at
        return max(sum(start <= each < start + 1.0 for each in starts) for start in starts)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, up to its cut."""
        self.accepted_at.append(asyncio.get_running_loop().time())
        self.on_event()
        request = await reader.readuntil(b"\r\n\r\n")
        parts = urlsplit(self.upstream)
        broker, to_broker = await (
            asyncio.open_unix_connection(parts.path)
            if parts.scheme == "http+unix"
            else asyncio.open_connection(parts.hostname, parts.port)
        )
        try:
            to_broker.write(request)
            await self._pass_on(broker, writer)
        finally:
            to_broker.close()

    async def _pass_on(self, broker: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        place, passed = self.dice.choice(tuple(Place)), b""
        byte = self.dice.randint(0, FARTHEST)
        while piece := await broker.read(PIECE):
            end = self._end(place, passed + piece, byte) if self.is_cutting else None
            writer.write(piece if end is None else piece[: max(0, end - len(passed))])
            await writer.drain()
            if end is not None:
                self._cut(place, writer)
                return
            passed += piece

    def _end(self, place: Place, answer: bytes, byte: int) -> int | None:
        """The number of bytes after which an answer like this is cut; None when its place is not there yet."""
        head = answer.find(b"\r\n\r\n") + 4
        end: int | None = None
        match place:
            case Place.ANY_BYTE if byte <= len(answer):
                end = byte
            case Place.UNANSWERED:
                end = 0
            case Place.IN_HEADERS:
                end = self.dice.randint(1, min(100, len(answer)))
            case Place.BEFORE_FIRST_LINE if b"\r\n\r\n" in answer:
                end = head
            case Place.BEFORE_DATA:
                lengths = list(CHUNK_LENGTH.finditer(answer, max(head - 2, 0)))
                end = lengths[-1].end() if len(lengths) > 1 else None
            case Place.IN_LINE:
                end = _within(answer, b'{"', self.dice)
            case Place.AFTER_HEARTBEAT:
                end = _behind(answer, b'"HEARTBEAT"')
            case Place.AFTER_TRANSACTION:
                end = _behind(answer, b'"batchID"')
        return end

    def _cut(self, place: Place, writer: asyncio.StreamWriter) -> None:
        self.cuts[place] += 1
        self.on_event()
        if self.dice.random() < 0.5:
            raw: socket.socket = writer.get_extra_info("socket")
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
            writer.transport.abort()


def _within(answer: bytes, beginning: bytes, dice: random.Random) -> int | None:
    """A byte of the last line, which begins like this."""
    start = answer.rfind(beginning)
    end = answer.find(b"\n", start)
    return dice.randint(start + 1, end) if 0 <= start < end else None


def _behind(answer: bytes, mark: bytes) -> int | None:
    """The end of the line that holds the mark."""
    found = answer.find(mark)
    end = answer.find(b"\n", found)
    return end + 1 if 0 <= found < end else None


def _nothing() -> None:
    """Nobody wants to know."""


@asynccontextmanager
async def cutting_proxy(
    upstream: str, *, seed: int, on_event: Callable[[], object] = _nothing
) -> AsyncGenerator[CuttingProxy]:
    """A proxy for the length of the block; `on_event` is called for each connection and each cut."""
    proxy = CuttingProxy(upstream, random.Random(seed), on_event)
    async with proxy_door(proxy.serve) as proxy.url:
        yield proxy
