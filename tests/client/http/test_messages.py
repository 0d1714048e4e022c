"""Bodies are read within bounds, compressed or not; bytes after their end are ignored. Chunks are read as h11 reads them."""

import gzip
import tracemalloc
from collections.abc import AsyncGenerator
from itertools import pairwise

import h11
import pytest
from hypothesis import given
from hypothesis import strategies as st

from keydesk_client.errors import UnreadableAnswer
from keydesk_client.http.messages import MAX_CHUNK_HEADER_LENGTH, ChunkedDecoder, read_body

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


CHUNK_HEADERS = ("%x", "%X", "%04x", "%x;name=value", "%x ")


@st.composite
def chunked_bodies(draw: st.DrawFn) -> bytes:
    """A body in chunks, whole, cut off, or with something wrong in its framing."""
    parts = draw(st.lists(st.binary(min_size=1, max_size=40), max_size=6))
    headers = [draw(st.sampled_from(CHUNK_HEADERS)) % len(part) for part in parts]
    framed = [
        header.encode() + b"\r\n" + part + b"\r\n"
        for header, part in zip(headers, parts, strict=True)
    ]
    ends = (
        b"",
        b"0\r\n\r\n",
        b"00\r\nTrailer: x\r\n\r\n",
        b"-1\r\n",
        b"\n",
        b"0x1\r\na\r\n",
        b"1\r\nab\r\n",
    )
    body = b"".join(framed) + draw(st.sampled_from(ends))
    return body[: draw(st.integers(0, len(body)))] if draw(st.booleans()) else body


def in_pieces(body: bytes, cuts: list[int]) -> list[bytes]:
    edges = [0, *sorted(cut % (len(body) + 1) for cut in cuts), len(body)]
    return [body[begin:end] for begin, end in pairwise(edges)]


def read_by_h11(received: list[bytes]) -> tuple[bytes, bool, bool]:
    """Return the body, and whether it ended and whether it was broken."""
    parser = h11.Connection(h11.CLIENT)
    parser.send(h11.Request(method="GET", target="/", headers=[("Host", "x")]))
    parser.send(h11.EndOfMessage())
    parser.receive_data(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    parser.next_event()
    body = b""
    for piece in filter(None, received):
        parser.receive_data(piece)
        try:
            while isinstance(event := parser.next_event(), h11.Data):
                body += event.data
        except h11.RemoteProtocolError:
            return body, False, True
        if isinstance(event, h11.EndOfMessage):
            return body, True, False
    return body, False, False


@given(body=chunked_bodies(), cuts=st.lists(st.integers(0, 500), max_size=8))
def test_chunks_are_read_as_h11_reads_them_wherever_they_are_cut(
    body: bytes, cuts: list[int]
) -> None:
    received = in_pieces(body, cuts)
    theirs, ended, broken = read_by_h11(received)
    decoder = ChunkedDecoder()
    ours = b""
    for piece in received:
        ours += decoder.feed(piece)
        if decoder.ended or decoder.broken:
            break
    assert ours == theirs
    assert decoder.ended >= ended  # h11 waits for the trailers as well
    assert not (broken and decoder.ended)


def test_the_beginning_of_a_chunk_is_returned_before_its_end_came() -> None:
    decoder = ChunkedDecoder()
    assert [decoder.feed(piece) for piece in (b"5\r\nab", b"cd", b"e\r", b"\n1\r\nf")] == [
        b"ab",
        b"cd",
        b"e",
        b"f",
    ]


@pytest.mark.parametrize(
    "wrong", [b"+5\r\nabcde\r\n", b"\r\n", b"5_0\r\n", b"{\n", b"1\r\nabc\r\n"]
)
def test_what_is_not_a_chunk_is_noticed_with_its_line(wrong: bytes) -> None:
    decoder = ChunkedDecoder()
    decoder.feed(wrong)
    assert decoder.broken


def test_the_length_of_a_chunk_header_is_bounded() -> None:
    decoder = ChunkedDecoder()
    decoder.feed(b"5;" + b"x" * MAX_CHUNK_HEADER_LENGTH)
    assert decoder.broken
