"""The transport over real sockets: whatever the server does, the error is a KeydeskClientError."""

import asyncio
import gzip
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from keydesk_client import Timeouts
from keydesk_client.auth.secret import Secret
from keydesk_client.errors import (
    ClientClosed,
    ConnectionLost,
    Forbidden,
    HttpStatusError,
    KeydeskClientError,
    NotAllowed,
    NotFound,
    OutOfRange,
    RateLimited,
    Refused,
    ServerFailed,
    TimedOut,
    Unauthorized,
    Unreachable,
    UnreadableAnswer,
)
from keydesk_client.http.messages import HttpResponse, Request
from keydesk_client.http.session import Session
from keydesk_client.http.timing import STANDARD_TIMEOUTS
from support.fakes.connections import Talk
from support.fakes.talking_server import talking_server

ASK = Request("GET", "/v3/accounts", {"instruments": "EUR_USD,USD_JPY"})
WHOLE = b"HTTP/1.1 200 OK\r\nRequestID: 7\r\nContent-Length: 2\r\n\r\n{}"


@asynccontextmanager
async def session_to(talk: Talk, timeouts: Timeouts = STANDARD_TIMEOUTS) -> AsyncIterator[Session]:
    """A transport to a server that talks as told once a request's head has come."""

    async def after_the_head(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        await talk(reader, writer)

    async with talking_server(after_the_head) as url:
        session = Session(Secret("planted"), url, url, timeouts=timeouts)
        try:
            yield session
        finally:
            await session.close()


def saying(*pieces: bytes) -> Talk:
    async def talk(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for piece in pieces:
            writer.write(piece)
            await writer.drain()

    return talk


async def silence(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
    await reader.read()


def body(content: bytes, *headers: str) -> bytes:
    lines = ["HTTP/1.1 200 OK", f"Content-Length: {len(content)}", *headers, "", ""]
    return "\r\n".join(lines).encode() + content


async def failure(talk: Talk, timeouts: Timeouts = STANDARD_TIMEOUTS) -> KeydeskClientError:
    async with session_to(talk, timeouts) as session:
        with pytest.raises(KeydeskClientError) as raised:
            await session.request(ASK)
    assert raised.value.__cause__ is None
    assert raised.value.__context__ is None
    return raised.value


async def test_an_answer_comes_with_status_headers_and_body() -> None:
    async with session_to(saying(WHOLE)) as session:
        answer = await session.request(ASK)
    assert (answer.status, answer.body, answer.request_id) == (200, b"{}", "7")


async def test_a_body_is_unpacked() -> None:
    packed = gzip.compress(b'{"a":1}')
    async with session_to(saying(body(packed, "Content-Encoding: gzip"))) as session:
        assert (await session.request(ASK)).body == b'{"a":1}'


@pytest.mark.parametrize(
    "talk",
    [
        saying(body(gzip.compress(b"{}")[:-6], "Content-Encoding: gzip")),
        saying(body(b"no gzip at all", "Content-Encoding: gzip")),
        saying(body(b"x", "Content-Encoding: br")),
        saying(body(gzip.compress(bytes(80_000_000), 1), "Content-Encoding: gzip")),
    ],
)
async def test_a_body_that_can_not_be_unpacked_or_never_ends_is_unreadable(talk: Talk) -> None:
    error = await failure(talk)
    assert isinstance(error, UnreadableAnswer)
    assert error.sent


async def test_a_connection_cut_at_any_byte_of_the_answer_is_lost_and_may_have_been_acted_on() -> (
    None
):
    for cut in range(len(WHOLE)):
        error = await failure(saying(WHOLE[:cut]))
        assert isinstance(error, ConnectionLost)
        assert error.sent


async def test_an_answer_in_another_protocol_is_a_lost_connection() -> None:
    assert isinstance(await failure(saying(b"SSH-2.0-OpenSSH_9.2\r\n\r\n")), ConnectionLost)


async def test_silence_is_timed_out_as_read() -> None:
    error = await failure(silence, Timeouts(read=0.2))
    assert isinstance(error, TimedOut)
    assert (error.phase, error.sent) == ("read", True)


@pytest.mark.e2e
async def test_an_answer_that_trickles_is_timed_out_as_a_whole() -> None:
    async def trickle(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for byte in WHOLE * 20:
            writer.write(bytes([byte]))
            await asyncio.sleep(0.05)

    error = await failure(trickle, Timeouts(whole=0.5))
    assert isinstance(error, TimedOut)
    assert error.phase == "whole"


async def test_nobody_there_means_that_nothing_was_sent() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    session = Session(Secret("t"), f"http://127.0.0.1:{port}", f"http://127.0.0.1:{port}")
    with pytest.raises(Unreachable) as raised:
        await session.request(ASK)
    assert not raised.value.sent


async def test_a_host_without_an_address_is_unreachable() -> None:
    session = Session(Secret("t"), "https://no-such-host.invalid", "https://x.invalid")
    with pytest.raises(Unreachable):
        await session.request(ASK)


async def test_a_server_without_a_good_certificate_is_unreachable() -> None:
    async with talking_server(saying(WHOLE)) as url:
        session = Session(Secret("t"), url.replace("http", "https"), "https://x.invalid")
        with pytest.raises(Unreachable):
            await session.request(ASK)


async def test_a_certificate_that_is_not_trusted_is_named_as_the_reason() -> None:
    def refuse(_request: httpx.Request) -> httpx.Response:
        untrusted = ssl.SSLCertVerificationError(1, "[SSL: CERTIFICATE_VERIFY_FAILED]")
        untrusted.verify_message = "self-signed certificate"
        untrusted.verify_code = 18
        raise httpx.ConnectError(str(untrusted)) from untrusted

    transport = httpx.MockTransport(refuse)
    session = Session(Secret("t"), "https://r.test", "https://s.test", transport=transport)
    with pytest.raises(Unreachable, match="the certificate is not trusted: self-signed cert"):
        await session.request(ASK)


async def test_a_unix_socket_is_an_address(tmp_path: Path) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(WHOLE)

    async with talking_server(answer, tmp_path / "s") as url:
        session = Session(Secret("t"), url, url)
        assert (await session.request(ASK)).body == b"{}"
        await session.close()


async def test_a_redirect_is_not_followed() -> None:
    elsewhere = b"HTTP/1.1 302 Found\r\nLocation: https://evil.test/\r\nContent-Length: 0\r\n\r\n"
    async with session_to(saying(elsewhere)) as session:
        assert (await session.request(ASK)).status == 302


async def test_a_closed_transport_sends_nothing() -> None:
    async with session_to(saying(WHOLE)) as session:
        await session.close()
        with pytest.raises(ClientClosed):
            await session.request(ASK)


@pytest.mark.parametrize("kind", ["tcp", "unix"])
async def test_a_connection_that_opens_while_the_transport_is_closed_is_closed_too(
    tmp_path: Path, kind: str
) -> None:
    opened = ended = 0

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal opened, ended
        opened += 1
        try:
            writer.write(WHOLE)  # at once, so that a forgotten connection becomes an idle one
            await reader.read(-1)  # until the connection is closed
        finally:
            ended += 1

    async with talking_server(answer, tmp_path / "s" if kind == "unix" else None) as url:
        for turns in range(40):  # of the event loop, between the request and the closing
            session = Session(Secret("t"), url, url)
            asked = asyncio.ensure_future(session.request(ASK))
            for _ in range(turns):
                await asyncio.sleep(0)
            await session.close()
            [response] = await asyncio.gather(asked, return_exceptions=True)
            if not isinstance(response, HttpResponse):
                assert isinstance(response, ClientClosed | ConnectionLost | Unreachable)
        async with asyncio.timeout(60):
            while ended < opened:  # noqa: ASYNC110 - no event of the server tells
                await asyncio.sleep(0)
    assert opened


STATUSES: list[tuple[int, type[HttpStatusError]]] = [
    (400, Refused),
    (401, Unauthorized),
    (403, Forbidden),
    (404, NotFound),
    (405, NotAllowed),
    (416, OutOfRange),
    (418, Refused),
    (429, RateLimited),
    (302, ServerFailed),
    (500, ServerFailed),
    (504, ServerFailed),
]
BODIES = [
    b"",
    b"null",
    b"[]",
    b"<html>",
    b'{"errorMessage":null,"errorCode":7}',
    b'{"errorMessage":"no","lastTransactionID":[],"relatedTransactionIDs":"x"}',
    b'{"orderRejectTransaction":[1],"errorMessage":"no"}',
    b'{"orderRejectTransaction":{"type":7},"errorMessage":"no"}',
    b"[" * 10_000,
    b"\xff",
]


@pytest.mark.parametrize(("status", "kind"), STATUSES)
async def test_every_error_status_is_its_error_whatever_the_body(
    status: int, kind: type[HttpStatusError]
) -> None:
    contents = iter(BODIES)

    def answer(_: httpx.Request) -> httpx.Response:
        return httpx.Response(status, content=next(contents), headers={"RequestID": "9"})

    session = Session(
        Secret("t"), "https://r.test", "https://s.test", transport=httpx.MockTransport(answer)
    )
    for _ in BODIES:
        with pytest.raises(kind) as raised:
            async with session.open_stream(ASK):
                pass
        assert type(raised.value) is kind
        assert (raised.value.status, raised.value.request_id) == (status, "9")
        assert str(status) in str(raised.value)
        _ = raised.value.reject_reason


async def test_a_stream_hands_on_its_bytes_until_the_end() -> None:
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    talk = saying(head, b"2\r\na\n\r\n", b"3\r\nbc\n\r\n", b"0\r\n\r\n")
    async with session_to(talk) as session, session.open_stream(ASK) as pieces:
        assert b"".join([piece async for piece in pieces]) == b"a\nbc\n"


async def collect(pieces: AsyncIterator[bytes], received: list[bytes]) -> None:
    while True:
        received.append(await anext(pieces))


async def test_a_stream_that_breaks_says_so_in_our_words() -> None:
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\na\n\r\n5\r\nhal"
    received: list[bytes] = []
    async with session_to(saying(head)) as session, session.open_stream(ASK) as pieces:
        with pytest.raises(ConnectionLost, match="incomplete chunked read"):
            await collect(pieces, received)
    assert b"".join(received) == b"a\nhal"


async def test_a_stream_whose_framing_is_broken_gives_what_came_before() -> None:
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\na\n\r\n{}\r\n"
    received: list[bytes] = []
    async with session_to(saying(head)) as session, session.open_stream(ASK) as pieces:
        with pytest.raises(ConnectionLost, match="illegal chunk"):
            await collect(pieces, received)
    assert b"".join(received) == b"a\n"


@pytest.mark.parametrize(
    "head",
    [
        b"HTTP/1.1 200 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n",
    ],
)
async def test_a_stream_that_is_not_chunked_is_read_by_the_parser(head: bytes) -> None:
    async with (
        session_to(saying(head, b"a\nb\n")) as session,
        session.open_stream(ASK) as pieces,
    ):
        assert b"".join([piece async for piece in pieces]) == b"a\nb\n"


async def test_a_mute_stream_ends_after_the_silence_that_was_allowed() -> None:
    async def mute(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\na\n\r\n")
        await reader.read()

    async with session_to(mute) as session, session.open_stream(ASK, silence=0.1) as pieces:
        assert await anext(pieces) == b"a\n"
        with pytest.raises(TimedOut):
            await anext(pieces)


async def test_the_request_on_the_wire_is_as_small_as_it_can_be() -> None:
    heads: list[bytes] = []

    async def note(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append(await reader.readuntil(b"\r\n\r\n"))
        heads.append(await reader.readexactly(10))
        writer.write(WHOLE)

    asked = Request("POST", "/v3/a%2Fb", {"type": "A,B", "x": "ü &"}, body=b'{"a":"b"}\n')
    async with talking_server(note) as url:
        session = Session(Secret("planted"), url, url)
        await session.request(asked)
        await session.close()
    head = heads[0].decode()
    assert head.startswith("POST /v3/a%2Fb?type=A,B&x=%C3%BC+%26 HTTP/1.1\r\n")
    assert "authorization: bearer planted\r\n" in head.lower()
    assert "accept-encoding: identity\r\n" in head.lower()
    assert "cookie" not in head.lower()
