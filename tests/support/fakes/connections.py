"""The connections of a server in a test: each is a task, and the end of the test ends them all, also those accepted last."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

OVER = (OSError, asyncio.IncompleteReadError)
"""How a connection ends that somebody cut."""

Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Connections:
    """Hand `accept` to asyncio's `start_server`, and await `end` to close that server with all connections."""

    def __init__(self, talk: Talk) -> None:
        self._talk = talk
        self._writers: dict[asyncio.Task[None], asyncio.StreamWriter] = {}

    def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Hold the talk with a connection in a task of its own."""
        task = asyncio.create_task(self._hold(reader, writer))
        self._writers[task] = writer
        task.add_done_callback(self._writers.pop)

    async def end(self, server: asyncio.Server) -> None:
        """Close the server, cut every connection, end its task, and return when the last one is closed."""
        await _close_server(server)
        while held := dict(self._writers):
            for task, writer in held.items():
                # A connection whose task has not begun yet would never be closed, nor one with something unsent.
                writer.transport.abort()
                task.cancel()
            await asyncio.gather(*held, return_exceptions=True)
            for writer in held.values():
                await _closed(writer)

    async def _hold(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with suppress(*OVER):
                await self._talk(reader, writer)
        finally:
            writer.close()
            await _closed(writer)  # not before the other end has taken what was sent


async def _close_server(server: asyncio.Server) -> None:
    """Close a server; return when the connections that it accepted last have begun.

    What asyncio has accepted and not yet attached to the server when it is closed would stay open (CPython 3.11).
    """
    for listening in server.sockets:
        asyncio.get_running_loop().remove_reader(listening)
    for _ in range(
        3
    ):  # iterations of the loop until a connection that was being accepted has begun
        await asyncio.sleep(0)
    server.close()


async def _closed(writer: asyncio.StreamWriter) -> None:
    with suppress(*OVER):
        await asyncio.shield(
            writer.wait_closed()
        )  # two tasks may wait for it, and one be cancelled
