"""Streams: lines of JSON as they come, with a heartbeat at fixed intervals."""

import asyncio
from collections.abc import Callable

from msgspec import Struct
from starlette.types import Receive, Scope, Send

from keydesk_practice.broker.feeds import Subscription

HEARTBEAT_SECONDS = 5.0


class StreamResponse(Struct, frozen=True):
    """An ASGI response with one JSON object a line and a heartbeat every five seconds.

    The connection's write buffer is the only queue besides the subscription's: while the client does not read, `send`
    does not return, and the subscription conflates its lines or closes. `release` is called however the stream ends;
    `window` is the least number of seconds between two sends.
    """

    subscription: Subscription
    first: bytes
    heartbeat: Callable[[], bytes]
    release: Callable[[], None]
    window: float = 0.0
    heartbeat_seconds: float = HEARTBEAT_SECONDS

    async def __call__(self, _scope: Scope, receive: Receive, send: Send) -> None:
        """Send lines until the client disconnects or the subscription closes."""
        watcher = asyncio.ensure_future(_wait_for_disconnect(receive))
        watcher.add_done_callback(lambda _: self.subscription.close())
        sending = asyncio.ensure_future(self._send_lines(send))
        self.subscription.on_overrun = sending.cancel
        try:
            await asyncio.wait({sending})
            if not sending.cancelled():  # else the client was too slow: the connection is dropped
                sending.result()
                await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            self.release()
            sending.cancel()
            watcher.cancel()

    async def _send_lines(self, send: Send) -> None:
        headers = [(b"content-type", b"application/octet-stream")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await _send_body(send, self.first)
        clock = asyncio.get_running_loop().time
        next_heartbeat = clock() + self.heartbeat_seconds
        not_before = clock() + self.window if self.first else 0.0
        while not self.subscription.closed:
            await self.subscription.wait(next_heartbeat - clock())
            await asyncio.sleep(max(min(not_before, next_heartbeat) - clock(), 0.0))
            lines = b""
            if clock() >= not_before:
                lines = self.subscription.take()
                not_before = clock() + self.window if lines else 0.0
            else:
                self.subscription.notify()  # the heartbeat is due first; the lines go next
            if clock() >= next_heartbeat:
                lines += self.heartbeat()
                next_heartbeat = max(next_heartbeat + self.heartbeat_seconds, clock())
            await _send_body(send, lines)


async def _send_body(send: Send, lines: bytes) -> None:
    if lines:
        await send({"type": "http.response.body", "body": lines, "more_body": True})


async def _wait_for_disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
