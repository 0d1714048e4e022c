"""A relay between a desk and a broker's REST interface, in a thread of its own, that can fall silent and speak again.

with silent_relay(practice.rest_url) as relay:
    Terminal(...)             # a desk whose --rest-url is relay.url
    relay.is_silent = True    # requests are taken and never answered
"""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

from support.fakes.talking_server import talking_server

PIECE = 65536


@dataclass
class SilentRelay:
    """What it is told to do, by any thread."""

    upstream: str
    url: str = ""
    is_silent: bool = False

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection; what comes in a silence gets no answer, and no later one on this connection either."""
        broker, to_broker = await asyncio.open_unix_connection(urlsplit(self.upstream).path)
        back = asyncio.create_task(self._answer(broker, writer))
        try:
            while piece := await reader.read(PIECE):
                if not self.is_silent:
                    to_broker.write(piece)
        finally:
            back.cancel()
            to_broker.close()

    async def _answer(self, broker: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while piece := await broker.read(PIECE):
            writer.write(piece)


@contextmanager
def silent_relay(upstream: str) -> Iterator[SilentRelay]:
    """A relay for the length of the block."""
    relay, listening, over = SilentRelay(upstream), threading.Event(), threading.Event()

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
