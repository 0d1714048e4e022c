"""Bodies are read within bounds, compressed or not; bytes after their end are ignored."""

import gzip
import tracemalloc
from collections.abc import AsyncGenerator

import pytest

from keydesk_client.errors import UnreadableAnswer
from keydesk_client.http.messages import read_body

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
