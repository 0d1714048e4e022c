"""A link between two processes that a test can cut: with an end, or without a word."""

import asyncio
import contextlib
from pathlib import Path

from support.fakes.connections import Connections

Target = tuple[str, int] | str  # host and port, or the path of a unix socket
Ends = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Link:
    """A listener that passes connections on to a target."""

    def __init__(self) -> None:
        self.target: Target | None = None
        self.is_cut = False
        self._passing = asyncio.Event()
        self._passing.set()
        self._writers: set[asyncio.StreamWriter] = set()
        self._connections = Connections(self._serve)
        self._server: asyncio.Server | None = None

    async def open(self) -> str:
        """Listen on a port, and return the address that others use."""
        self._server = await asyncio.start_server(self._connections.accept, "127.0.0.1", 0)
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def open_unix(self, path: Path) -> None:
        """Listen on a unix socket."""
        self._server = await asyncio.start_unix_server(self._connections.accept, path)

    def cut(self) -> None:
        """Break the open connections, and refuse others until `mend`."""
        self.is_cut = True
        for writer in self._writers:
            writer.transport.abort()

    def mute(self) -> None:
        """Pass nothing on until `mend`: connections are accepted and stay open, as with a firewall that drops all."""
        self._passing.clear()

    def mend(self) -> None:
        """Let connections through again; what was held back arrives late."""
        self.is_cut = False
        self._passing.set()

    async def close(self) -> None:
        """Stop listening, and end every connection, also one whose other end is still being connected."""
        self.cut()
        self._passing.set()
        if self._server is not None:
            await self._connections.end(self._server)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.is_cut or self.target is None:
            writer.transport.abort()
            return
        await self._passing.wait()
        try:
            there = await _connected(self.target)
        except OSError:
            writer.transport.abort()
            return
        self._writers |= {writer, there[1]}
        await asyncio.gather(self._copy(reader, there[1]), self._copy(there[0], writer))
        self._writers -= {writer, there[1]}

    async def _copy(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with contextlib.suppress(OSError):
                while data := await reader.read(65_536):
                    await self._passing.wait()
                    writer.write(data)
                    await writer.drain()
        finally:
            writer.transport.abort()


async def _connected(target: Target) -> Ends:
    if isinstance(target, str):
        return await asyncio.open_unix_connection(target)
    return await asyncio.open_connection(*target)
