"""How long the client holds its event loop with hostile answers: CPU time of the longest turn; figures are printed.

pytest -m bench tests/bench/test_client_holds.py -s
"""

import asyncio
import gzip
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from keydesk_client import Client, Retries
from keydesk_client.errors import KeydeskClientError
from support.fakes.talking_server import talking_server
from support.loop_turns import LoopTurns

pytestmark = pytest.mark.bench
MAX_HOLD_MS = 50
OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
NOTHING = bytes.fromhex(
    "ecdd810800000000207fea2799247b77200200000000c89ffa4926c9de1d880000000000f2a77e9249b27707220000000080fca99f6492"
)  # four blocks of deflate that hold nothing, each with the largest tables
GZIP_HEAD = gzip.compress(b"")[:10]


def compressed(body: bytes) -> bytes:
    head = f"Content-Encoding: gzip\r\nContent-Length: {len(body)}\r\n\r\n"
    return OK + head.encode() + body


HOSTILE: dict[str, Callable[[], bytes]] = {
    "warm up": lambda: OK + b"\r\n{}",
    "a bomb": lambda: compressed(gzip.compress(b" " * 80_000_000)),
    "blocks of nothing": lambda: compressed(GZIP_HEAD + NOTHING * 100_000),
    "chunks of one byte": lambda: CHUNKED + b"1\r\n \r\n" * 300_000,
    "a flood of 1xx": lambda: b"HTTP/1.1 100 Continue\r\n\r\n" * 100_000,
    "1xx with headers": lambda: (b"HTTP/1.1 103 -\r\n" + b"a: b\r\n" * 100 + b"\r\n") * 3_000,
    "headers": lambda: OK + b"a: b\r\n" * 16_000 + b"\r\n",
    "blanks": lambda: OK + b"Content-Length: 5900002\r\n\r\n[" + b" " * 5_900_000 + b"]",
}


@contextmanager
def serving(content: bytes) -> Iterator[str]:
    """Serve it from another thread, so that only the client works in the loop that is measured."""
    url: list[str] = []
    is_ready, loop = threading.Event(), asyncio.new_event_loop()
    is_over = asyncio.Event()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(content)
        await writer.drain()
        writer.close()

    async def serve() -> None:
        async with talking_server(talk) as here:
            url.append(here)
            is_ready.set()
            await is_over.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),))
    thread.start()
    is_ready.wait()
    try:
        yield url[0]
    finally:
        loop.call_soon_threadsafe(is_over.set)
        thread.join()
        loop.close()


async def longest_turn_ms(url: str) -> float:
    client = Client(
        token="t", rest_url=url, stream_url=url, account_id="1", retries=Retries(max_retries=0)
    )
    async with client:
        with LoopTurns() as turns:
            try:
                await client.trades.open()
            except KeydeskClientError as error:
                print(f"    {error}"[:100], file=sys.stderr)  # noqa: T201 - a bench speaks
        return turns.longest_ms


def test_no_answer_holds_the_loop_of_the_client() -> None:
    held = {}
    for name, content in HOSTILE.items():
        with serving(content()) as url:
            held[name] = asyncio.run(longest_turn_ms(url))
        print(f"{name}: {held[name]:.1f} ms [load {os.getloadavg()[0]:.1f}]", file=sys.stderr)  # noqa: T201 - same
    del held["warm up"]
    assert max(held.values()) < MAX_HOLD_MS, held
