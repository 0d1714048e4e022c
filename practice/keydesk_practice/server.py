"""uvicorn, stripped: one process, our own socket, our own signals, nothing logged per request."""

import contextlib
import socket
from collections.abc import Callable, Iterator

import uvicorn

from keydesk_practice.connections import ConnectionLimits, protocol_of
from keydesk_practice.http.door import Application
from keydesk_practice.listening import BACKLOG, Listener

SECONDS_TO_FINISH = 1
ACCEPTED_AT_ONCE = 64  # connections, before those that came earlier are looked at


class Server(uvicorn.Server):
    """Serves an application on one listener until `stop`."""

    def __init__(
        self,
        application: Application,
        listener: Listener,
        when_listening: Callable[[], None],
        limits: ConnectionLimits | None = None,
    ) -> None:
        super().__init__(
            uvicorn.Config(
                application,
                loop="asyncio",
                http=protocol_of(limits or ConnectionLimits()),
                ws="none",
                lifespan="off",
                interface="asgi3",
                backlog=ACCEPTED_AT_ONCE,
                access_log=False,
                log_config=None,
                log_level="critical",
                server_header=False,
                proxy_headers=False,
                timeout_keep_alive=75,
                timeout_graceful_shutdown=SECONDS_TO_FINISH,
            )
        )
        self._listener = listener
        self._when_listening = when_listening

    async def run_here(self) -> None:
        """Serve in the running loop until `stop` was called."""
        await self.serve(sockets=[self._listener.socket])

    def stop(self) -> None:
        """Finish what is being answered and leave."""
        self.should_exit = True

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, then say so."""
        await super().startup(sockets=sockets)
        self._listener.socket.listen(BACKLOG)  # what the system holds, whatever is accepted at once
        self._when_listening()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave the signals to the command that runs us."""
        yield
