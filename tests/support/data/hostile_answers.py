"""What a broken or hostile service, or something in between, may say to a request: whole heads and bodies, as bytes."""

import asyncio
import gzip
import json
import socket
import struct
import zlib
from collections.abc import Iterator
from typing import Final, NoReturn

from support.fakes.connections import Talk

GOOD: Final = {
    "lastTransactionID": "7",
    "orderCreateTransaction": {"type": "MARKET_ORDER", "clientExtensions": {"id": "mine"}},
    "orderFillTransaction": {"id": "7", "units": "5"},
}
"""The answer to an order with the client id "mine"."""
GOOD_BODY: Final = json.dumps(GOOD).encode()
REASONS: Final = {
    200: "OK",
    201: "Created",
    301: "Moved",
    307: "Moved",
    400: "Bad",
    429: "Slow",
    503: "Busy",
}


def answer(content: bytes, status: int = 200, *headers: str) -> bytes:
    """An answer with a true length."""
    line = f"HTTP/1.1 {status} {REASONS.get(status, 'Odd')}"
    lines = [line, "RequestID: 9", *headers, f"Content-Length: {len(content)}", "", ""]
    return "\r\n".join(lines).encode("latin-1") + content


def chunked(*chunks: bytes, ending: bytes = b"0\r\n\r\n") -> bytes:
    """An answer in chunks."""
    told = b"".join(b"%x\r\n%b\r\n" % (len(each), each) for each in chunks)
    return b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + told + ending


def saying(content: bytes, *, reset: bool = False) -> Talk:
    """Say it once the whole request has come, then close, or reset, the connection."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await whole_request(reader)
        writer.write(content)
        await writer.drain()
        if reset:
            abort(writer)

    return talk


def pouring(head: bytes, piece: bytes, most: int = 300_000_000) -> Talk:
    """Say a head, then the same piece again and again: without end, as far as the client can tell."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await whole_request(reader)
        writer.write(head)
        for _ in range(most // len(piece)):
            writer.write(piece)
            await writer.drain()

    return talk


def dripping(content: bytes, pause_s: float = 0.02) -> Talk:
    """A byte at a time: each comes in time, the whole does not."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await whole_request(reader)
        for place in range(len(content)):
            writer.write(content[place : place + 1])
            await asyncio.sleep(pause_s)

    return talk


async def whole_request(reader: asyncio.StreamReader) -> bytes:
    """The head and body of a request."""
    head = await reader.readuntil(b"\r\n\r\n")
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            return head + await reader.readexactly(int(line.partition(b":")[2]))
    return head


def abort(writer: asyncio.StreamWriter) -> None:
    """End the connection by a reset instead of a farewell."""
    held = writer.get_extra_info("socket")
    held.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


async def silence(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
    """Take the request and say nothing."""
    await reader.read()


async def deafness(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> NoReturn:
    """Take not a byte."""
    transport = writer.transport
    assert isinstance(transport, asyncio.Transport)
    transport.pause_reading()
    await asyncio.Event().wait()
    raise AssertionError


def _zipped_twice(size: int) -> bytes:
    return gzip.compress(gzip.compress(b"\0" * size))


BODIES: Final[dict[str, tuple[bytes, tuple[str, ...]]]] = {
    "an object": (GOOD_BODY, ()),
    "an empty object": (b"{}", ()),
    "a list": (b"[1,2]", ()),
    "null": (b"null", ()),
    "text": (b'"text"', ()),
    "a page": (b"<html><body>502 Bad Gateway</body></html>", ("Content-Type: text/html",)),
    "nothing": (b"", ()),
    "half an object": (GOOD_BODY[:-20], ()),
    "compressed": (gzip.compress(GOOD_BODY), ("Content-Encoding: gzip",)),
    "half of it compressed": (gzip.compress(GOOD_BODY)[:-12], ("Content-Encoding: gzip",)),
    "compressed wrongly": (gzip.compress(GOOD_BODY)[:20] + b"\0" * 40, ("Content-Encoding: gzip",)),
    "not compressed": (GOOD_BODY, ("Content-Encoding: gzip",)),
    "compressed to nothing": (b"", ("Content-Encoding: gzip",)),
    "twice compressed": (_zipped_twice(1000), ("Content-Encoding: gzip, gzip",)),
    "deflated": (zlib.compress(GOOD_BODY), ("Content-Encoding: deflate",)),
    "brotli": (GOOD_BODY, ("Content-Encoding: br",)),
    "zstandard": (GOOD_BODY, ("Content-Encoding: zstd",)),
    "an odd encoding": (GOOD_BODY, ("Content-Encoding: " + "x" * 3000,)),
    "a bomb": (gzip.compress(b" " * 80_000_000), ("Content-Encoding: gzip",)),
    "another charset": (GOOD_BODY.decode().encode("utf-16"), ("Content-Type: a/b; charset=x",)),
    "a byte order mark": (b"\xef\xbb\xbf" + GOOD_BODY, ()),
    "a NUL": (GOOD_BODY[:-1] + b',"a":"\0"}', ()),
    "a NUL behind": (GOOD_BODY + b"\0", ()),
    "bad UTF-8": (GOOD_BODY[:-1] + b',"a":"\xff\xc0\xed\xa0\x80"}', ()),
    "deep lists": (b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}", ()),
    "deep objects": (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, ()),
    "lists somewhat deep": (GOOD_BODY[:-1] + b',"a":' + b"[" * 400 + b"]" * 400 + b"}", ()),
    "lists less deep": (GOOD_BODY[:-1] + b',"a":' + b"[" * 190 + b"]" * 190 + b"}", ()),
    "a long integer": (GOOD_BODY[:-1] + b',"a":' + b"9" * 10_000 + b"}", ()),
    "a long id": (b'{"lastTransactionID":' + b"9" * 10_000 + b"}", ()),
    "a huge decimal": (GOOD_BODY.replace(b'"5"', b"1e999999999"), ()),
    "a huge decimal text": (GOOD_BODY.replace(b'"5"', b'"1e999999999"'), ()),
    "no number": (GOOD_BODY.replace(b'"5"', b"NaN"), ()),
    "endless number": (GOOD_BODY.replace(b'"5"', b"-Infinity"), ()),
    "members twice": (GOOD_BODY[:-1] + b',"lastTransactionID":"8"}', ()),
    "half a surrogate": (GOOD_BODY[:-1] + b',"errorMessage":"\\ud800","a":"\\udfff"}', ()),
    "line separators": (GOOD_BODY[:-1] + ',"a":"\u2028\u0085\u2029"}'.encode(), ()),
    "members of other types": (
        b'{"errorMessage":[],"errorCode":{},"lastTransactionID":[1],"relatedTransactionIDs":{"a":1},"orderRejectTransaction":{"type":[],"id":{}},"orderFillTransaction":[{}]}',
        (),
    ),
    "odd times": (b'{"orderFillTransaction":{"time":"9999-99-99T99:99:99+99:99"}}', ()),
    "a link that takes for ever": (GOOD_BODY, ("Link: " + "<>;" * 20_000,)),
    "a link of blanks": (GOOD_BODY, ("Link: <>" + " " * 60_000,)),
    "odd waits": (GOOD_BODY, ("Retry-After: Mon, 99 Foo -1 99:99:99 +9999999999", "Date: " + "9" * 400)),
    "a cookie": (GOOD_BODY, ("Set-Cookie: a=b; Path=/", "Set-Cookie: c=d")),
    "headers in Latin": (GOOD_BODY, ("X-Odd: \xe9\xff", "Location: \xe9")),
}  # fmt: skip
"""A body and the headers that go with it."""

STATUSES: Final = (200, 201, 204, 301, 307, 400, 401, 404, 408, 416, 429, 500, 503, 999)


def answers() -> Iterator[tuple[str, bytes]]:
    """Every body under every status."""
    for name, (content, headers) in BODIES.items():
        for status in STATUSES:
            yield f"{status} with {name}", answer(content, status, *headers)


BROKEN: Final[dict[str, bytes]] = {
    "nothing at all": b"",
    "an older protocol": GOOD_BODY,
    "a newer protocol": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\x12\x04\0\0\0\0\0",
    "frames": b"\0\0\x12\x04\0\0\0\0\0" * 20,
    "another protocol": b"SSH-2.0-OpenSSH_9.2\r\n\r\n",
    "encryption": b"\x15\x03\x03\x00\x02\x02\x28",
    "too short": b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n" + GOOD_BODY[:50],
    "too long": b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}" + GOOD_BODY,
    "a negative length": b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n{}",
    "an odd length": b"HTTP/1.1 200 OK\r\nContent-Length: 0x2\r\n\r\n{}",
    "an endless length": b"HTTP/1.1 200 OK\r\nContent-Length: " + b"9" * 5000 + b"\r\n\r\n{}",
    "two lengths": b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 9\r\n\r\n{}",
    "the same length twice": b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\n{}",
    "a length and chunks": b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    "no length": b"HTTP/1.1 200 OK\r\n\r\n" + GOOD_BODY,
    "an old version": b"HTTP/1.0 200 OK\r\n\r\n" + GOOD_BODY,
    "a future version": b"HTTP/9.9 200 OK\r\n\r\n" + GOOD_BODY,
    "lines without returns": b"HTTP/1.1 200 OK\nContent-Length: 2\n\n{}",
    "lines of returns": b"HTTP/1.1 200 OK\r\rContent-Length: 2\r\r\r\r{}",
    "a folded header": b"HTTP/1.1 200 OK\r\nX: a\r\n b\r\nContent-Length: 2\r\n\r\n{}",
    "a header without a name": b"HTTP/1.1 200 OK\r\n: a\r\nContent-Length: 2\r\n\r\n{}",
    "a header without a colon": b"HTTP/1.1 200 OK\r\nabc\r\nContent-Length: 2\r\n\r\n{}",
    "a NUL in a header": b"HTTP/1.1 200 OK\r\nX: a\0b\r\nContent-Length: 2\r\n\r\n{}",
    "no reason": b"HTTP/1.1 200\r\nContent-Length: 2\r\n\r\n{}",
    "no status": b"HTTP/1.1 \r\nContent-Length: 2\r\n\r\n{}",
    "status nought": b"HTTP/1.1 000 Odd\r\nContent-Length: 2\r\n\r\n{}",
    "a long status": b"HTTP/1.1 2000 Odd\r\nContent-Length: 2\r\n\r\n{}",
    "hints before": b"HTTP/1.1 103 Hints\r\nLink: </x>\r\n\r\n" * 5 + answer(GOOD_BODY),
    "only hints": b"HTTP/1.1 100 Continue\r\n\r\n" * 5,
    "another protocol agreed": b"HTTP/1.1 101 Switch\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nabc",
    "chunks of odd size": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n",
    "a chunk of endless size": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"f" * 40 + b"\r\n{}",
    "a chunk that is too long": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}abc\r\n0\r\n\r\n",
    "chunks without an end": chunked(GOOD_BODY, ending=b""),
    "a trailer": chunked(GOOD_BODY, ending=b"0\r\nX: a\r\nContent-Length: 5\r\n\r\n"),
    "a broken trailer": chunked(GOOD_BODY, ending=b"0\r\nnonsense\r\n\r\n"),
    "chunks of a byte": chunked(*(bytes([each]) for each in GOOD_BODY)),
    "an encoding of the way": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n" + gzip.compress(GOOD_BODY),
}  # fmt: skip
"""Answers that are no good HTTP, or odd HTTP."""

POURING: Final[dict[str, Talk]] = {
    "an endless body": pouring(b"HTTP/1.1 200 OK\r\n\r\n", b" " * 65_536),
    "an endless error": pouring(b"HTTP/1.1 503 Busy\r\n\r\n", b" " * 65_536),
    "a body of 100 MB": pouring(b"HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n", b"x" * 65_536),
    "endless chunks": pouring(chunked(ending=b""), b"1000\r\n" + b" " * 4096 + b"\r\n"),
    "endless empty space": pouring(
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n", gzip.compress(b"")
    ),
    "endless headers": pouring(b"HTTP/1.1 200 OK\r\n", b"X-Odd: abcdefgh\r\n" * 1000),
    "an endless header": pouring(b"HTTP/1.1 200 OK\r\nX-Odd: ", b"a" * 4096),
    "an endless first line": pouring(b"HTTP/1.1 200 ", b"a" * 4096),
    "endless hints": pouring(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 100),
    "an endless trailer": pouring(chunked(GOOD_BODY, ending=b"0\r\n"), b"X-Odd: abcdefgh\r\n" * 100),
    "an endless chunk extension": pouring(chunked(ending=b"5;x="), b"a" * 4096),
}  # fmt: skip
"""Answers without an end."""
