"""A proxy between one listener and a broker's stream that falls silent, and notes how long the listener bears it.

async with muting_proxy(practice.stream_url, Silence.HALF_A_LINE, lines=3) as proxy:
    Client(stream_url=proxy.url, ...)
await proxy.left          # seconds from the last line to the end of the connection, as seen from outside
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from enum import Enum
from urllib.parse import urlsplit

from support.fakes.talking_server import talking_server

PIECE = 65536
DRIP = b"1\r\n{\r\n"
DRIP_S = 0.2


class Silence(Enum):
    """How the stream falls silent after some lines."""

    NOTHING = "nothing comes any more"
    HALF_A_LINE = "a line that never ends comes byte by byte"
    NO_ANSWER = "the connection is taken and never answered"


@dataclass
class MutingProxy:
    """The proxy, and what it saw of the first connection that fell silent."""

    upstream: str
    silence: Silence
    lines: int
    url: str = ""
    left: asyncio.Future[float] = field(default_factory=asyncio.Future)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, until the listener leaves it."""
        request = await reader.readuntil(b"\r\n\r\n")
        if self.silence is not Silence.NO_ANSWER:
            await self._pass_on(request, writer)
        if reader.at_eof() or reader.exception() is not None:
            return  # a listener that was tired before the first line: the next connection counts
        silent_since = asyncio.get_running_loop().time()
        dripping = asyncio.create_task(self._drip(writer))
        try:
            await reader.read()
        finally:
            dripping.cancel()
            if not self.left.done():
                self.left.set_result(asyncio.get_running_loop().time() - silent_since)

    async def _pass_on(self, request: bytes, writer: asyncio.StreamWriter) -> None:
        """Pass on what the broker says, up to the end of a line."""
        broker, to_broker = await asyncio.open_unix_connection(urlsplit(self.upstream).path)
        try:
            to_broker.write(request)
            passed = b""
            while passed.count(b"}\n\r\n") < self.lines or not passed.endswith(b"}\n\r\n"):
                if not (piece := await broker.read(PIECE)):
                    raise ConnectionError("the broker closed the stream")
                writer.write(piece)
                passed += piece
        finally:
            to_broker.close()

    async def _drip(self, writer: asyncio.StreamWriter) -> None:
        while self.silence is Silence.HALF_A_LINE:
            writer.write(DRIP)
            await asyncio.sleep(DRIP_S)


@asynccontextmanager
async def muting_proxy(
    upstream: str, silence: Silence, *, lines: int = 2
) -> AsyncGenerator[MutingProxy]:
    """A proxy for the length of the block."""
    proxy = MutingProxy(upstream, silence, lines)
    async with talking_server(proxy.serve) as proxy.url:
        yield proxy
