"""The connections of a server in a test: each is a task, and the end of the test ends them all, also those accepted last."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

OVER = (OSError, asyncio.IncompleteReadError)
"""How a connection ends that somebody cut."""

Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Connections:
    """Hand `accept` to asyncio's `start_server`, and await `end` when that server is closed."""

    def __init__(self, talk: Talk) -> None:
        self._talk = talk
        self._writers: dict[asyncio.Task[None], asyncio.StreamWriter] = {}
        self._is_over = False

    def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Hold the talk with a connection in a task of its own."""
        if self._is_over:
            writer.transport.abort()
            return
        task = asyncio.create_task(self._hold(reader, writer))
        self._writers[task] = writer
        task.add_done_callback(self._writers.pop)

    async def end(self) -> None:
        """Cut every connection and end its task."""
        self._is_over = True
        for _ in range(
            3
        ):  # passes of the loop, after which a connection that was being accepted is
            await asyncio.sleep(0)
        tasks = list(self._writers)
        for writer in self._writers.values():
            # A connection whose task has not begun yet would never be closed, nor one with something unsent.
            writer.transport.abort()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.sleep(0)  # the transports close in the next pass

    async def _hold(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with suppress(*OVER):
                await self._talk(reader, writer)
        finally:
            writer.close()
