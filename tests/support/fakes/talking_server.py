"""A server on a real socket that says exactly what a test tells it to, good HTTP or not."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from support.fakes.connections import Connections, Talk


@asynccontextmanager
async def talking_server(talk: Talk, socket_path: Path | None = None) -> AsyncIterator[str]:
    """The address of a server that holds `talk` with each connection; it and its talks end with the block."""
    talks = Connections(talk)
    if socket_path is None:
        server = await asyncio.start_server(talks.accept, "127.0.0.1", 0)
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    else:
        server = await asyncio.start_unix_server(talks.accept, socket_path)
        url = f"http+unix://{socket_path}"
    try:
        yield url
    finally:
        await talks.end(server)
