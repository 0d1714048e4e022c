"""A relay between a desk and a broker, in a thread of its own, that holds answers to orders back and revokes tokens.

with gate_relay(practice.rest_url, practice.token) as relay:
    Terminal(...)                  # a desk whose addresses are relay.url
    relay.holds_orders = True      # orders reach the broker, and their answers wait until this is False again
    relay.accept("a-new-token")    # the broker's own token is refused from now on, and its connections end
"""

import asyncio
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from support.fakes.talking_server import talking_server

PIECE = 65536
LOOK_EVERY = 0.02  # seconds
BEARER = re.compile(rb"(?i)(\r\nauthorization: *bearer +)([^\r]+)")
WRITES = (b"POST ", b"PUT ")
REFUSED = b'{"errorMessage":"Insufficient authorization to perform request."}'
REFUSAL = (
    b"HTTP/1.1 401 -\r\nContent-Type: application/json\r\nRequestID: 7001\r\n"
    + f"Content-Length: {len(REFUSED)}\r\n\r\n".encode()
    + REFUSED
)


@dataclass
class GateRelay:
    """What it is told to do, by any thread; its broker knows `token` alone."""

    upstream: str
    token: str
    accepted: str = ""
    url: str = ""
    holds_orders: bool = False
    orders: int = 0  # that reached the broker
    _open: set[asyncio.StreamWriter] = field(default_factory=set[asyncio.StreamWriter])
    _loop: asyncio.AbstractEventLoop | None = None

    def __post_init__(self) -> None:
        self.accepted = self.accepted or self.token

    def accept(self, token: str) -> None:
        """Refuse every token but this one, and end the connections that are open."""
        self.accepted = token
        assert self._loop is not None
        self._loop.call_soon_threadsafe(self._end_connections)

    def _end_connections(self) -> None:
        for writer in self._open:
            writer.close()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection; a request is one piece."""
        self._loop = asyncio.get_running_loop()
        broker, to_broker = await asyncio.open_unix_connection(urlsplit(self.upstream).path)
        kinds: list[bool] = [False]  # whether the last request was a write
        back = asyncio.create_task(self._answer(broker, writer, kinds))
        self._open.add(writer)
        try:
            while piece := await reader.read(PIECE):
                sent = BEARER.search(piece)
                if sent is not None and sent[2] != self.accepted.encode():
                    writer.write(REFUSAL)
                    continue
                if sent is not None:
                    kinds[0] = piece.startswith(WRITES)
                    self.orders += kinds[0]
                to_broker.write(BEARER.sub(rb"\1" + self.token.encode(), piece))
        finally:
            self._open.discard(writer)
            back.cancel()
            to_broker.close()

    async def _answer(
        self, broker: asyncio.StreamReader, writer: asyncio.StreamWriter, kinds: list[bool]
    ) -> None:
        while piece := await broker.read(PIECE):
            while self.holds_orders and kinds[0]:  # noqa: ASYNC110 - another thread changes it
                await asyncio.sleep(LOOK_EVERY)
            writer.write(piece)


@contextmanager
def gate_relay(upstream: str, token: str) -> Iterator[GateRelay]:
    """A relay for the length of the block."""
    relay = GateRelay(upstream, token)
    listening, over = threading.Event(), threading.Event()

    async def run() -> None:
        async with talking_server(relay.serve) as relay.url:
            listening.set()
            await asyncio.to_thread(over.wait)

    thread = threading.Thread(target=lambda: asyncio.run(run()))
    thread.start()
    listening.wait()
    try:
        yield relay
    finally:
        over.set()
        thread.join()
