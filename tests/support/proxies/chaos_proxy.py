"""A proxy between a client and a broker that cuts, mutes, garbles and drips, by seeded chance; no root needed.

    async with chaos_proxy(upstream_url, seed=7, faulty=0.4) as proxy:
        Client(rest_url=proxy.url, ...)
    proxy.fates                                    # how many exchanges met which fate
    proxy.request_ids                              # the broker's RequestID of each ClientRequestID that reached it

A fate is drawn for each exchange: for the first bytes of a connection, and whenever the client speaks again after an
answer. It listens on a free port of this machine and speaks to `http+unix:///path` or `http://host:port`.
"""

import asyncio
import random
import re
import socket
import struct
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from enum import Enum
from urllib.parse import urlsplit

from support.proxies.proxy_door import proxy_door

PIECE = 65536
CLIENT_REQUEST_ID = re.compile(rb"(?i)\r\nclientrequestid: *([^\r]+)")
REQUEST_ID = re.compile(rb"(?i)\r\nrequestid: *([^\r]+)")
LAST_ANSWER_S = 10.0
"""How long an answer may take of which nobody but the proxy hears."""
CONTENT_LENGTH = re.compile(rb"(?i)\r\ncontent-length: *(\d+)")
OVER = (ConnectionError, OSError)
"""Connections that may wait: one that is turned away here is tried again a second later by the kernel."""


class Fate(Enum):
    """What happens to one exchange."""

    FINE = "fine"
    RESET_UNSENT = "reset before the broker hears of it"
    SWALLOWED = "the request disappears, and nothing comes back"
    RESET_UNANSWERED = "the broker acts, and the connection is reset before the answer"
    MUTE = "the broker acts, and the answer disappears"
    RESET_HALF = "half the answer, then a reset"
    CLOSED_HALF = "two thirds of the answer, then a clean close"
    GARBAGE = "something that is no HTTP"
    DRIPPED = "the answer comes in bits"
    DELAYED = "the request arrives late"
    LATE = "reset at once; the broker hears of it later, when nobody waits for the answer"
    CUT_LATER = "a few pieces of the answer, then a reset: the end of a stream"


FAULTS = tuple(fate for fate in Fate if fate is not Fate.FINE)
ORDER_FAULTS = tuple(fate for fate in FAULTS if fate is not Fate.CUT_LATER)


@dataclass
class ChaosProxy:
    """The proxy, its dice, and what it did."""

    upstream: str
    faulty: float
    dice: random.Random
    faults: tuple[Fate, ...] = ORDER_FAULTS
    url: str = ""
    fates: Counter[Fate] = field(default_factory=Counter)
    latest_s: float = 1.0
    """How late a write may arrive."""
    late: set[asyncio.Task[None]] = field(default_factory=set)
    request_ids: dict[str, str] = field(default_factory=dict[str, str])
    """The broker's RequestID of each ClientRequestID, also where the client never got the answer."""
    sent: Counter[str] = field(default_factory=Counter[str])
    """How often a ClientRequestID came."""

    def draw(self) -> Fate:
        """The fate of the next exchange."""
        faulted = self.dice.random() < self.faulty
        fate = self.dice.choice(self.faults) if faulted else Fate.FINE
        self.fates[fate] += 1
        return fate

    async def to_broker(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        parts = urlsplit(self.upstream)
        if parts.scheme == "http+unix":
            return await asyncio.open_unix_connection(parts.path)
        return await asyncio.open_connection(parts.hostname, parts.port)

    def send_later(self, request: bytes) -> None:
        """Let the broker hear of a request when nobody waits for its answer any more."""
        task = asyncio.create_task(self._sent_later(request))
        self.late.add(task)
        task.add_done_callback(self.late.discard)

    async def _sent_later(self, request: bytes) -> None:
        await asyncio.sleep(self.dice.uniform(0.0, self.latest_s))
        broker, to_broker = await self.to_broker()
        try:
            to_broker.write(request)
            self.note(_client_request_id(request), await broker.read(PIECE))
        finally:
            to_broker.close()

    def note(self, name: str, answer: bytes) -> None:
        """Keep which request of the broker's a client's request is."""
        found = REQUEST_ID.search(answer)
        if name and found:
            self.request_ids[name] = found[1].decode()

    async def everything_arrived(self) -> None:
        """Wait until the broker has heard of whatever was sent."""
        while self.late:
            await asyncio.wait(self.late)


@asynccontextmanager
async def chaos_proxy(
    upstream: str,
    *,
    seed: int,
    faulty: float = 0.4,
    faults: tuple[Fate, ...] = ORDER_FAULTS,
    latest_s: float = 1.0,
) -> AsyncGenerator[ChaosProxy]:
    """A proxy for the length of the block."""
    proxy = ChaosProxy(upstream, faulty, random.Random(seed), faults, latest_s=latest_s)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await Exchange(proxy, reader, writer).run()

    async with proxy_door(serve, lambda: proxy.late) as proxy.url:
        yield proxy


class Exchange:
    """One connection of a client, and the broker's behind it."""

    def __init__(
        self, proxy: ChaosProxy, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.proxy, self.reader, self.writer = proxy, reader, writer
        self.fate = Fate.FINE
        self.answered = True
        self.pieces_left = 0
        self.asked = ""
        """The ClientRequestID that the broker has got and not answered yet."""

    async def run(self) -> None:
        broker, to_broker = await self.proxy.to_broker()
        ways = [
            asyncio.create_task(self._requests(to_broker)),
            asyncio.create_task(self._answers(broker)),
        ]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            await self._hear_last_answer(ways[1], broker)
        finally:
            to_broker.close()  # first: this task may be cancelled while it waits for the others
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)

    async def _hear_last_answer(
        self, answers: asyncio.Task[None], broker: asyncio.StreamReader
    ) -> None:
        """Read the answer to a request whose client has gone, to know which one it was."""
        answers.cancel()
        await asyncio.gather(answers, return_exceptions=True)
        if self.asked:
            async with asyncio.timeout(LAST_ANSWER_S):
                self.proxy.note(self.asked, await broker.read(PIECE))

    async def _requests(self, to_broker: asyncio.StreamWriter) -> None:
        while piece := await self.reader.read(PIECE):
            if self.answered:
                self._begin()
            if name := _client_request_id(piece):
                self.proxy.sent[name] += 1
            if self.fate is Fate.RESET_UNSENT:
                return self._reset()
            if self.fate is Fate.SWALLOWED:
                continue
            if self.fate is Fate.LATE:
                return await self._late(piece)
            if self.fate is Fate.DELAYED:
                await asyncio.sleep(0.05)
            self.asked = name or self.asked
            to_broker.write(piece)
            await to_broker.drain()
        return None

    async def _late(self, piece: bytes) -> None:
        request = await self._whole(piece)
        self._reset()
        if not request.startswith(b"GET"):
            self.proxy.send_later(request)

    async def _whole(self, piece: bytes) -> bytes:
        """The request that begins with this piece: a body comes by itself."""
        while b"\r\n\r\n" not in piece:
            piece += await self.reader.read(PIECE)
        length = CONTENT_LENGTH.search(piece)
        end = piece.index(b"\r\n\r\n") + 4 + (int(length[1]) if length else 0)
        while len(piece) < end and (more := await self.reader.read(PIECE)):
            piece += more
        return piece

    def _begin(self) -> None:
        self.fate, self.answered = self.proxy.draw(), False
        self.pieces_left = self.proxy.dice.randint(1, 4)

    async def _answers(self, broker: asyncio.StreamReader) -> None:
        while piece := await broker.read(PIECE):
            self.answered = True
            self.proxy.note(self.asked, piece)
            self.asked = ""
            if not await self._passed_on(piece):
                return

    async def _passed_on(self, piece: bytes) -> bool:
        """Whether the connection goes on."""
        match self.fate:
            case Fate.RESET_UNANSWERED | Fate.RESET_HALF | Fate.CLOSED_HALF | Fate.GARBAGE:
                await self._write(_spoilt(self.fate, piece))
                if self.fate in {Fate.RESET_UNANSWERED, Fate.RESET_HALF}:
                    self._reset()
                return False
            case Fate.CUT_LATER:
                return await self._cut_later(piece)
            case Fate.DRIPPED:
                for start in range(0, len(piece), 200):
                    await self._write(piece[start : start + 200])
            case Fate.MUTE:
                pass
            case _:
                await self._write(piece)
        return True

    async def _cut_later(self, piece: bytes) -> bool:
        self.pieces_left -= 1
        if self.pieces_left:
            await self._write(piece)
            return True
        await self._write(piece[: self.proxy.dice.randint(0, len(piece))])
        self._reset()
        return False

    async def _write(self, piece: bytes) -> None:
        self.writer.write(piece)
        await self.writer.drain()

    def _reset(self) -> None:
        raw: socket.socket = self.writer.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()


def _client_request_id(request: bytes) -> str:
    found = CLIENT_REQUEST_ID.search(request)
    return found[1].decode() if found else ""


def _spoilt(fate: Fate, piece: bytes) -> bytes:
    """What is left of an answer."""
    match fate:
        case Fate.RESET_HALF:
            return piece[: len(piece) // 2]
        case Fate.CLOSED_HALF:
            return piece[: len(piece) * 2 // 3]
        case Fate.GARBAGE:
            return b"\x00\xffno HTTP at all\r\n\r\n"
        case _:
            return b""
