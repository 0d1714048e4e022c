"""Where the tests' proxies listen: each connection is a task, and the end of the block ends them all."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import asynccontextmanager

from support.fakes.connections import Connections, Talk

BACKLOG = 1024


@asynccontextmanager
async def proxy_door(
    serve: Talk, others: Callable[[], Iterable[asyncio.Task[None]]] = tuple
) -> AsyncGenerator[str]:
    """The address of a free port of this machine; `others` are tasks that end with the connections."""
    connections = Connections(serve)
    server = await asyncio.start_server(connections.accept, "127.0.0.1", 0, backlog=BACKLOG)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        await connections.end(server)
        left = list(others())
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
