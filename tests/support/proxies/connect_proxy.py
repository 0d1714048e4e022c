"""A forward proxy on a real socket: it opens tunnels by CONNECT, for those who name its user and password.

proxy = ConnectProxy()                                   # or ConnectProxy("user", "word")
async with talking_server(proxy.talk) as url:
    ...                                                  # proxy.tunnels: the hosts that were asked for
"""

import asyncio
from base64 import b64encode
from contextlib import suppress
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from support.fakes.connections import Talk

PIECE = 65_536


@dataclass
class ConnectProxy:
    """Keeps what was asked of it; `says` is its answer to every CONNECT, if it is not to open a tunnel."""

    user: str = ""
    password: str = ""
    says: bytes = b""
    tunnels: list[str] = field(default_factory=list)
    heads: list[str] = field(default_factory=list)

    @property
    def allowed(self) -> str:
        """The header of those who may use it."""
        login = b64encode(f"{self.user}:{self.password}".encode()).decode()
        return f"Proxy-Authorization: Basic {login}"

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Hold one connection; for `talking_server`."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        self.heads.append(head)
        method, target = head.split(" ", 2)[:2]
        if self.user and self.allowed not in head:
            writer.write(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
            return
        if method != "CONNECT" or self.says:
            writer.write(self.says or b"HTTP/1.1 405 Method Not Allowed\r\n\r\n")
            await reader.read()
            return
        self.tunnels.append(target)
        host, _, port = target.rpartition(":")
        there = await asyncio.open_connection(host, int(port))
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        await both_ways(reader, writer, *there)


def relay_to(url: str) -> Talk:
    """A talk that passes everything on to a unix socket and back."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        host = await asyncio.open_unix_connection(urlsplit(url).path)
        await both_ways(reader, writer, *host)

    return talk


async def both_ways(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    from_host: asyncio.StreamReader,
    to_host: asyncio.StreamWriter,
) -> None:
    """Pass on what either side says, until one of them leaves."""
    ways = [
        asyncio.ensure_future(_pass_on(reader, to_host)),
        asyncio.ensure_future(_pass_on(from_host, writer)),
    ]
    try:
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
    finally:
        to_host.close()  # before anything is waited for: a second cancellation would leave it open
        for way in ways:
            way.cancel()
        await asyncio.gather(*ways, return_exceptions=True)
        with suppress(OSError):
            await to_host.wait_closed()


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while piece := await reader.read(PIECE):
            writer.write(piece)
            await writer.drain()
