"""Where the tests' proxies listen: each connection is a task, and the end of the block ends them all."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager, suppress

BACKLOG = 1024
OVER = (OSError, asyncio.IncompleteReadError)
"""How a connection ends that somebody cut."""

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def proxy_door(
    serve: Serve, others: Callable[[], Iterable[asyncio.Task[None]]] = tuple
) -> AsyncGenerator[str]:
    """The address of a free port of this machine; `others` are tasks that end with the connections."""
    connections: dict[asyncio.Task[None], asyncio.StreamWriter] = {}

    async def hold(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(*OVER):
            await serve(reader, writer)
        writer.close()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(hold(reader, writer))
        connections[task] = writer
        task.add_done_callback(connections.pop)

    server = await asyncio.start_server(accept, "127.0.0.1", 0, backlog=BACKLOG)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        for writer in connections.values():
            # A connection whose task has not begun yet would never be closed, nor one with something unsent.
            writer.transport.abort()
        left = (*connections, *others())
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
