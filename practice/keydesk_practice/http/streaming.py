"""A stream over HTTP: one JSON object a line, a heartbeat every five seconds, until one side leaves.

The connection's own write buffer is the only queue besides the subscription's mailbox: while the client does not read,
`send` does not return, the mailbox conflates or closes, and nobody else notices.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from starlette.types import Receive, Scope, Send

from keydesk_practice.broker.subscriptions import Subscription

HEARTBEAT_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class LineStream:
    """The response of a stream endpoint; `release` is called however it ends."""

    subscription: Subscription
    first: bytes
    heartbeat: Callable[[], bytes]
    release: Callable[[], None]
    window: float = 0.0
    heartbeat_seconds: float = HEARTBEAT_SECONDS

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve the stream as an ASGI response."""
        del scope
        watcher = asyncio.ensure_future(_gone(receive))
        watcher.add_done_callback(lambda _: self.subscription.close())
        flow = asyncio.ensure_future(self._flow(send))
        self.subscription.when_overrun = flow.cancel
        try:
            await asyncio.wait({flow})
            if not flow.cancelled():  # else the connection is dropped in the middle: too slow
                flow.result()
                await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            self.release()
            flow.cancel()
            watcher.cancel()

    async def _flow(self, send: Send) -> None:
        await self._open(send)
        clock = asyncio.get_running_loop().time
        next_beat = clock() + self.heartbeat_seconds
        not_before = clock() + self.window if self.first else 0.0
        while not self.subscription.closed:
            await self.subscription.wait(next_beat - clock())
            await asyncio.sleep(max(min(not_before, next_beat) - clock(), 0.0))
            lines = b""
            if clock() >= not_before:
                lines = self.subscription.take()
                not_before = clock() + self.window if lines else 0.0
            else:
                self.subscription.ring()  # a heartbeat came first; what waits goes next
            if clock() >= next_beat:
                lines += self.heartbeat()
                next_beat = max(next_beat + self.heartbeat_seconds, clock())
            await _write(send, lines)

    async def _open(self, send: Send) -> None:
        headers = [(b"content-type", b"application/octet-stream")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await _write(send, self.first)


async def _write(send: Send, lines: bytes) -> None:
    if lines:
        await send({"type": "http.response.body", "body": lines, "more_body": True})


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
