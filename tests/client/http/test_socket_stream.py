"""Connections by TCP, TLS and Unix socket: read by asyncio alone, ended by silence, and never used after bytes nobody asked for."""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import (
    AbstractAsyncContextManager,
    ExitStack,
    asynccontextmanager,
    contextmanager,
    suppress,
)
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from keydesk_client.auth.secret import Secret
from keydesk_client.http.carrier import ConnectionFailed, NotConnected, PhaseTimedOut, WriteFailed
from keydesk_client.http.connections import ssl_context, tcp_options
from keydesk_client.http.messages import Request
from keydesk_client.http.socket_stream import MAX_UNREAD, SocketConnection, SocketStream
from keydesk_client.http.transport import Transport
from support.data.hostile_answers import GOOD_BODY, answer, whole_request
from support.fakes.connections import Talk
from support.fakes.encrypted_server import Authority, encrypted_server
from support.fakes.talking_server import talking_server

SHORT_S = 0.01
LONG_S = 30.0
MUCH = 80 * MAX_UNREAD
"""More bytes than the system holds of a connection."""


@dataclass
class Way:
    """One way to connect: serves a talk, and connects to it."""

    serve: Callable[[Talk], AbstractAsyncContextManager[str]]
    connect: Callable[[str], Awaitable[SocketStream]]

    @asynccontextmanager
    async def to(self, talk: Talk) -> AsyncIterator[SocketStream]:
        async with self.serve(talk) as url:
            stream = await self.connect(url)
            try:
                yield stream
            finally:
                stream.close()


@pytest.fixture(params=["unix", "tcp", "tls"])
def way(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Way:
    async def connect(url: str) -> SocketStream:
        parts = urlsplit(url)
        if request.param == "unix":
            return await SocketStream.connect_unix(parts.path, LONG_S)
        encryption = ssl_context() if request.param == "tls" else None
        host, port = parts.hostname or "", parts.port or 0
        return await SocketStream.connect_tcp(host, port, LONG_S, encryption=encryption)

    if request.param == "tls":
        authority = Authority(tmp_path)
        monkeypatch.setenv("SSL_CERT_FILE", str(authority.file))
        certificate = authority.certificate("localhost")
        return Way(lambda talk: encrypted_server(talk, certificate), connect)
    path = tmp_path / "s" if request.param == "unix" else None
    return Way(lambda talk: talking_server(talk, path), connect)


async def greeting(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"a")
    await reader.read()


async def silence(_reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
    await asyncio.Event().wait()


async def test_a_connection_is_read_up_to_its_end(way: Way) -> None:
    async def talk(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"abcdef")

    async with way.to(talk) as stream:
        assert await stream.read(4, LONG_S) == b"abcd"
        assert stream.has_received
        assert await stream.read(4, LONG_S) == b"ef"
        assert await stream.read(4, LONG_S) == b""
        assert stream.is_readable, "its end"


async def test_what_is_written_arrives(way: Way) -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(await reader.readexactly(MAX_UNREAD))

    async with way.to(talk) as stream:
        await stream.write(b"x" * MAX_UNREAD, LONG_S)
        received = b""
        while len(received) < MAX_UNREAD:
            received += await stream.read(MAX_UNREAD, LONG_S)


async def test_silence_ends_a_read(way: Way) -> None:
    async with way.to(greeting) as stream:
        assert await stream.read(1, LONG_S) == b"a"
        assert not stream.has_received
        with pytest.raises(PhaseTimedOut, match="read"):
            await stream.read(1, SHORT_S)


@pytest.mark.parametrize("way", ["unix", "tcp"], indirect=True)  # asyncio keeps what TLS sends
async def test_a_peer_that_does_not_read_ends_a_write(way: Way) -> None:
    async with way.to(silence) as stream:
        with pytest.raises(PhaseTimedOut, match="write"):
            await stream.write(b"x" * MUCH, SHORT_S)


async def test_a_reader_that_is_slow_holds_the_other_side_back(way: Way) -> None:
    async def talk(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"x" * MUCH)
        await asyncio.Event().wait()

    async with way.to(talk) as stream:
        size = len(await stream.read(1, LONG_S))
        for _ in range(1000):  # turns of the loop: as much as the connection takes is transferred
            await asyncio.sleep(0)
        assert MAX_UNREAD < len(stream._connection._unread) <= 2 * MAX_UNREAD
        while size < MUCH:
            size += len(await stream.read(MUCH, LONG_S))
        assert size == MUCH


async def test_a_closed_connection_is_not_written_to(way: Way) -> None:
    async with way.to(greeting) as stream:
        assert await stream.read(1, LONG_S) == b"a"
        stream.close()
        with pytest.raises(WriteFailed):
            await stream.write(b"a", LONG_S)


async def test_what_came_before_a_connection_broke_is_read_first(way: Way) -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"a")
        await reader.read(1)
        writer.transport.abort()

    async with way.to(talk) as stream:
        await stream.write(b"b" * MUCH, LONG_S)
        assert await stream.read(1, LONG_S) == b"a"
        for _ in range(2):  # its end, or how it broke: again and again
            with suppress(ConnectionFailed):
                assert await stream.read(1, LONG_S) == b""


async def test_what_the_system_calls_a_timeout_is_a_connection_that_broke() -> None:
    connection = SocketConnection()
    connection.connection_lost(TimeoutError(110, "Connection timed out"))
    with pytest.raises(ConnectionFailed, match=r"^Connection timed out$") as failed:
        await SocketStream(connection).read(1, LONG_S)
    assert not isinstance(failed.value, PhaseTimedOut)


async def test_a_peer_that_leaves_in_the_handshake_is_named() -> None:
    async def leave(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        await reader.read(1)

    async with talking_server(leave) as url:
        port, context = urlsplit(url).port or 0, ssl.create_default_context()
        with pytest.raises(NotConnected, match=r"[a-z]"):
            await SocketStream.connect_tcp("127.0.0.1", port, LONG_S, encryption=context)


async def test_a_socket_that_nobody_serves_is_not_connected_to(tmp_path: Path) -> None:
    with pytest.raises(NotConnected, match="No such file or directory"):
        await SocketStream.connect_unix(str(tmp_path / "missing"), LONG_S)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
async def test_a_port_where_nobody_listens_is_named_in_words(host: str) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        with pytest.raises(NotConnected) as failed:
            await SocketStream.connect_tcp(host, port, LONG_S)
    assert str(failed.value) == "Connection refused"


@contextmanager
def silent_port() -> Iterator[int]:
    """A port whose queue is full: whoever connects waits."""
    with socket.socket() as full, ExitStack() as waiting:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        for _ in range(3):
            one = waiting.enter_context(socket.socket())
            one.setblocking(False)
            with suppress(BlockingIOError):
                one.connect(full.getsockname())
        yield full.getsockname()[1]


@pytest.mark.parametrize("first", ["silent", "closed", "of a family that is not there"])
async def test_another_address_is_tried_while_the_first_one_does_not_answer(first: str) -> None:
    async with talking_server(greeting) as url:
        with silent_port() as silent:
            family = (
                38 if first.startswith("of") else socket.AF_INET
            )  # AF_ALG: no addresses of hosts
            port = silent if first == "silent" else 1
            found = [
                (family, socket.SOCK_STREAM, 0, "", ("127.0.0.1", port)),
                (socket.AF_INET, socket.SOCK_STREAM, 0, "", ("127.0.0.1", urlsplit(url).port)),
            ]

            async def addresses(*_: object, **__: object) -> list[object]:
                return list(found)

            loop = asyncio.get_running_loop()
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(loop, "getaddrinfo", addresses)
                stream = await SocketStream.connect_tcp("two.test", 1, LONG_S)
            assert await stream.read(1, LONG_S) == b"a"
            stream.close()


async def test_a_name_that_no_host_has_is_not_connected_to() -> None:
    with pytest.raises(NotConnected, match=r"[Nn]ame|resolution|known"):
        await SocketStream.connect_tcp("no-such-host.invalid", 443, LONG_S)


async def test_a_handshake_without_an_answer_ends_in_time() -> None:
    async with talking_server(silence) as url:
        port = urlsplit(url).port or 0
        with pytest.raises(PhaseTimedOut, match="connect"):
            await SocketStream.connect_tcp(
                "127.0.0.1", port, SHORT_S, encryption=ssl.create_default_context()
            )


async def test_the_options_of_a_host_reach_its_socket() -> None:
    async with talking_server(silence) as url:
        stream = await SocketStream.connect_tcp(
            "127.0.0.1", urlsplit(url).port or 0, LONG_S, options=tcp_options()
        )
        transport = stream._connection._transport
        assert transport is not None
        held = transport.get_extra_info("socket")
        for level, name, value in tcp_options():
            assert bool(held.getsockopt(level, name)) == bool(value)
        stream.close()


async def test_bytes_that_nobody_asked_for_close_an_idle_connection(way: Way) -> None:
    """They would be read as the response to the next request."""
    connections = 0
    may_forge, has_forged = asyncio.Event(), asyncio.Event()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        await whole_request(reader)
        writer.write(answer(GOOD_BODY))
        await may_forge.wait()
        writer.write(answer(b'{"forged":1}'))
        await writer.drain()
        has_forged.set()
        await reader.read()

    async with way.serve(talk) as url:
        transport = Transport(Secret("t"), url, url, is_paced=False)
        assert (await transport.request(Request("GET", "/v3"))).body == GOOD_BODY
        may_forge.set()
        await has_forged.wait()
        assert (await transport.request(Request("GET", "/v3"))).body == GOOD_BODY
        await transport.close()
    assert connections == 2
