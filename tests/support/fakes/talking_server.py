"""A server on a real socket that says exactly what a test tells it to, good HTTP or not."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]

OVER = (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError)
"""A talk is over when the other end goes, or when the test does."""


@asynccontextmanager
async def talking_server(talk: Talk, socket_path: Path | None = None) -> AsyncIterator[str]:
    """The address of a server that holds `talk` with each connection; it and its talks end with the block."""
    talks: set[asyncio.Task[None]] = set()

    async def hold(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        talks.add(task)
        try:
            with contextlib.suppress(*OVER):
                await talk(reader, writer)
        finally:
            writer.close()

    if socket_path is None:
        server = await asyncio.start_server(hold, "127.0.0.1", 0)
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    else:
        server = await asyncio.start_unix_server(hold, socket_path)
        url = f"http+unix://{socket_path}"
    try:
        yield url
    finally:
        server.close()
        for task in talks:
            task.cancel()
        await asyncio.gather(*talks, return_exceptions=True)
