"""Bodies are read within bounds, compressed or not; bytes after their end are ignored."""

import asyncio
import gzip
import tracemalloc
from collections.abc import AsyncGenerator
from contextlib import suppress

import pytest

from keydesk_client.errors import UnreadableAnswer
from keydesk_client.http.messages import OUTPUT_SLICE, SLICE, read_body

EMPTY_BLOCK = b"\x00\x00\x00\xff\xff"
GZIP_HEAD = gzip.compress(b"")[:10]


async def pieces(first: bytes, piece: bytes, most: int = 4000) -> AsyncGenerator[bytes]:
    """A beginning, and then the same again and again."""
    yield first
    for _ in range(most):
        yield piece


async def test_what_follows_a_compressed_body_is_neither_read_nor_kept() -> None:
    tracemalloc.start()
    body = await read_body(pieces(gzip.compress(b"{}"), b"x" * 10_000), "gzip", 100_000_000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert body == b"{}"
    assert peak < 1_000_000


async def test_a_compressed_body_that_unpacks_to_nothing_is_bounded_too() -> None:
    with pytest.raises(UnreadableAnswer, match="larger than 1000000"):
        await read_body(pieces(GZIP_HEAD, EMPTY_BLOCK * 1000), "gzip", 1_000_000)


@pytest.mark.parametrize("encoding", ["", "gzip"])
async def test_a_body_without_end_is_refused_at_its_bound(encoding: str) -> None:
    with pytest.raises(UnreadableAnswer, match="larger than 1000"):
        await read_body(pieces(gzip.compress(b"x" * 10_000), b"x" * 100), encoding, 1000)


class CountedTurns:
    """Counts the turns of the event loop from when it is made."""

    def __init__(self) -> None:
        self.count = 0
        self._next()

    def _next(self) -> None:
        self.count += 1
        self._handle = asyncio.get_running_loop().call_soon(self._next)

    def stop(self) -> int:
        self._handle.cancel()
        return self.count


async def one_piece(body: bytes) -> AsyncGenerator[bytes]:
    """A body of which all is there at once, as over a transport within this process."""
    yield body


async def turns_of(body: bytes) -> int:
    turns = CountedTurns()
    with suppress(UnreadableAnswer):
        await read_body(one_piece(body), "gzip", 6_000_000)
    return turns.stop()


async def test_other_tasks_run_while_a_bomb_is_decompressed() -> None:
    whole = gzip.compress(b" " * 5_000_000)
    endless = gzip.compress(b" " * 50_000_000)
    assert await turns_of(whole) >= 5_000_000 // OUTPUT_SLICE
    assert await turns_of(endless) >= 6_000_000 // OUTPUT_SLICE


async def test_other_tasks_run_while_blocks_of_nothing_are_decompressed() -> None:
    assert await turns_of(GZIP_HEAD + EMPTY_BLOCK * 1_000_000) >= 5_000_000 // SLICE
