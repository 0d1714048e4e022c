"""Connections to Unix sockets, read by asyncio alone."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpcore
import pytest

from keydesk_client.auth.secret import Secret
from keydesk_client.http.messages import Request
from keydesk_client.http.transport import Transport
from keydesk_client.http.unix_stream import MAX_UNREAD, UnixStream
from support.data.hostile_answers import GOOD_BODY, answer, whole_request
from support.fakes.connections import Talk
from support.fakes.talking_server import talking_server

SHORT_S = 0.01
LONG_S = 30.0


@asynccontextmanager
async def unix_stream(talk: Talk, folder: Path) -> AsyncIterator[UnixStream]:
    path = folder / "s"
    async with talking_server(talk, path):
        stream = await UnixStream.connect(str(path), LONG_S)
        try:
            yield stream
        finally:
            await stream.aclose()


async def greeting(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"a")
    await reader.read()


async def test_a_unix_socket_is_read_up_to_its_end(tmp_path: Path) -> None:
    async def talk(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"abcdef")

    async with unix_stream(talk, tmp_path) as stream:
        assert await stream.read(4, LONG_S) == b"abcd"
        assert await stream.read(4, LONG_S) == b"ef"
        assert await stream.read(4, LONG_S) == b""


async def test_what_is_written_arrives(tmp_path: Path) -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(await reader.readexactly(MAX_UNREAD))

    async with unix_stream(talk, tmp_path) as stream:
        await stream.write(b"x" * MAX_UNREAD, LONG_S)
        received = b""
        while len(received) < MAX_UNREAD:
            received += await stream.read(MAX_UNREAD, LONG_S)


async def test_silence_ends_a_read(tmp_path: Path) -> None:
    async with unix_stream(greeting, tmp_path) as stream:
        assert await stream.read(1, LONG_S) == b"a"
        with pytest.raises(httpcore.ReadTimeout):
            await stream.read(1, SHORT_S)


async def test_a_peer_that_does_not_read_ends_a_write(tmp_path: Path) -> None:
    async def talk(_reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
        await asyncio.Event().wait()

    async with unix_stream(talk, tmp_path) as stream:
        with pytest.raises(httpcore.WriteTimeout):
            await stream.write(b"x" * 10_000_000, SHORT_S)


async def test_a_reader_that_is_slow_holds_the_other_side_back(tmp_path: Path) -> None:
    size = 20 * MAX_UNREAD
    has_sent = asyncio.Event()

    async def talk(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"x" * size)
        await writer.drain()
        has_sent.set()
        await asyncio.Event().wait()

    async with unix_stream(talk, tmp_path) as stream:
        received = await stream.read(1, LONG_S)
        for _ in range(1000):  # turns of the loop: as much as the sockets take is transferred
            await asyncio.sleep(0)
        assert not has_sent.is_set()
        while len(received) < size:
            received += await stream.read(size, LONG_S)
        assert received == b"x" * size


async def test_a_socket_that_nobody_serves_is_not_connected_to(tmp_path: Path) -> None:
    with pytest.raises(httpcore.ConnectError):
        await UnixStream.connect(str(tmp_path / "missing"), LONG_S)


async def test_a_closed_connection_is_not_written_to(tmp_path: Path) -> None:
    async with unix_stream(greeting, tmp_path) as stream:
        assert await stream.read(1, LONG_S) == b"a"
        await stream.aclose()
        with pytest.raises(httpcore.WriteError):
            await stream.write(b"a", LONG_S)


async def test_bytes_that_nobody_asked_for_close_an_idle_connection(tmp_path: Path) -> None:
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

    async with talking_server(talk, tmp_path / "s") as url:
        transport = Transport(Secret("t"), url, url)
        assert (await transport.request(Request("GET", "/v3"))).body == GOOD_BODY
        may_forge.set()
        await has_forged.wait()
        assert (await transport.request(Request("GET", "/v3"))).body == GOOD_BODY
        await transport.close()
    assert connections == 2
