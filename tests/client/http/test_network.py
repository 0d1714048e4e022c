"""The connections to a host: each carries one request at a time, and is used again only when nothing is left in it."""

import asyncio
import socket
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import httpcore
import httpx
import pytest

from keydesk_client.auth.secret import Secret
from keydesk_client.errors import ConnectionLost
from keydesk_client.http import transport
from keydesk_client.http.messages import Request
from keydesk_client.http.network import SLICE, WatchedStream, tcp_options
from keydesk_client.http.session import Session
from support.data.hostile_answers import GOOD_BODY, answer, whole_request
from support.fakes.connections import Talk
from support.fakes.encrypted_server import Authority, encrypted_server
from support.fakes.talking_server import talking_server


class CountingServer:
    """Answers every request, and counts the connections."""

    def __init__(self, trailing: bytes = b"") -> None:
        self.connections = 0
        self._trailing = trailing

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        while True:
            await whole_request(reader)
            writer.write(answer(GOOD_BODY) + self._trailing)


async def connections_of_three_requests() -> int:
    server = CountingServer()
    async with talking_server(server.talk) as url:
        session = Session(Secret("t"), url, url)
        for _ in range(3):
            assert (await session.request(Request("GET", "/v3"))).status == 200
        await session.close()
    return server.connections


async def test_a_connection_is_reused_after_a_clean_response() -> None:
    assert await connections_of_three_requests() == 1


async def test_a_transport_that_is_passed_keeps_its_connections() -> None:
    server = CountingServer()
    async with talking_server(server.talk) as url:
        session = Session(Secret("t"), url, url, transport=httpx.AsyncHTTPTransport())
        for _ in range(3):
            assert (await session.request(Request("GET", "/v3"))).body == GOOD_BODY
        await session.close()
    assert server.connections == 1


async def test_a_connection_that_its_peer_closed_while_idle_is_not_used_again() -> None:
    opened = 0

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal opened
        opened += 1
        await whole_request(reader)
        writer.write(answer(GOOD_BODY))

    async with talking_server(talk) as url:
        session = Session(Secret("t"), url, url)
        for _ in range(3):
            assert (await session.request(Request("GET", "/v3"))).body == GOOD_BODY
            await asyncio.sleep(0.01)  # the end of the connection arrives
        await session.close()
    assert opened == 3


async def test_connections_idle_for_too_long_are_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "IDLE_CONNECTION_S", -1.0)
    assert await connections_of_three_requests() == 3


async def test_requests_at_once_have_a_connection_each_and_leave_them_to_the_next() -> None:
    server = CountingServer()
    async with talking_server(server.talk) as url:
        session = Session(Secret("t"), url, url)
        for _ in range(2):
            ask = (session.request(Request("GET", "/v3")) for _ in range(3))
            assert {each.status for each in await asyncio.gather(*ask)} == {200}
        await session.close()
    assert server.connections == 3


@pytest.mark.parametrize("ending", [b"", b"\r\n"])
async def test_a_connection_that_ends_within_the_head_is_lost(ending: bytes) -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await whole_request(reader)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2" + ending)

    async with talking_server(talk) as url:
        session = Session(Secret("t"), url, url)
        with pytest.raises(ConnectionLost, match="without sending a response"):
            await session.request(Request("GET", "/v3"))
        await session.close()


async def test_bytes_behind_a_response_are_noticed() -> None:
    server = CountingServer(trailing=answer(b'{"forged":1}'))
    async with talking_server(server.talk) as url:
        session = Session(Secret("t"), url, url)
        for _ in range(3):
            assert (await session.request(Request("GET", "/v3"))).body == GOOD_BODY
        await session.close()
    assert server.connections == 3


class Flood(httpcore.AsyncNetworkStream):
    """A connection on which something is always there."""

    def __init__(self, received: bytes) -> None:
        self._received = received

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ARG002, ASYNC109 - as in the base class
        await asyncio.sleep(0)
        piece, self._received = self._received[:max_bytes], self._received[max_bytes:]
        return piece

    def get_extra_info(self, info: str) -> object:  # noqa: ARG002 - same
        return None


async def test_other_tasks_run_while_all_that_came_at_once_is_parsed() -> None:
    turn, read_in = 0, Counter[int]()

    def note_turn() -> None:
        nonlocal turn
        turn += 1
        loop.call_soon(note_turn)

    loop = asyncio.get_running_loop()
    loop.call_soon(note_turn)
    stream = WatchedStream(Flood(b"HTTP/1.1 100 Continue\r\n\r\n" * 50_000))
    while piece := await stream.read(65_536):
        read_in[turn] += len(piece)
    assert sum(read_in.values()) == 1_250_000
    assert max(read_in.values()) <= SLICE + 1


FORGED = answer(b'{"forged":1}')
READ_AT_ONCE = (65_536, 131_072, 262_144)
"""What httpcore reads at once, more than that, and what asyncio receives at once."""


def response_of(size: int) -> bytes:
    """Return a response that has so many bytes with its head."""
    body = size - len(answer(b" " * size)) + size
    return answer(b"{" + b" " * (body - 2) + b"}")


@pytest.mark.parametrize("size", READ_AT_ONCE)
async def test_a_second_response_behind_all_that_one_read_returned_is_noticed(size: int) -> None:
    first = response_of(size)
    assert len(first) == size

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            head = await whole_request(reader)
            writer.write(first + FORGED if head.startswith(b"GET") else answer(GOOD_BODY))

    async with talking_server(talk) as url:
        session = Session(Secret("t"), url, url)
        await session.request(Request("GET", "/v3"))
        assert (await session.request(Request("POST", "/v3", body=b"{}"))).body == GOOD_BODY
        await session.close()


async def test_a_second_response_in_another_record_of_tls_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            is_order = (await whole_request(reader)).startswith(b"POST")
            writer.write(answer(GOOD_BODY))
            if not is_order:
                writer.write(FORGED)  # a record of its own, received with the first

    authority = Authority(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.file))
    async with encrypted_server(talk, authority.certificate("localhost")) as url:
        session = Session(Secret("t"), url, url, is_paced=False)
        await session.request(Request("GET", "/v3"))
        assert (await session.request(Request("POST", "/v3", body=b"{}"))).body == GOOD_BODY
        await session.close()


async def test_an_encrypted_connection_is_reused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = CountingServer()
    authority = Authority(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.file))
    async with encrypted_server(server.talk, authority.certificate("localhost")) as url:
        session = Session(Secret("t"), url, url, is_paced=False)
        for _ in range(3):
            response = await session.request(Request("POST", "/v3", body=b"{}"))
            assert response.body == GOOD_BODY
        await session.close()
    assert server.connections == 1


class Lasting:
    """Answers each connection once, and counts those that ended afterwards."""

    def __init__(self) -> None:
        self.left = 0
        self.all_ended = asyncio.Event()

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await whole_request(reader)
        self.left += 1
        writer.write(answer(GOOD_BODY))
        await reader.read()
        self.left -= 1
        if not self.left:
            self.all_ended.set()


async def test_closing_closes_every_connection_that_of_an_open_stream_too() -> None:
    server = Lasting()
    async with talking_server(server.talk) as url:
        session = Session(Secret("t"), url, url)
        await asyncio.gather(*(session.request(Request("GET", "/v3")) for _ in range(3)))
        async with session.open_stream(Request("GET", "/v3")):
            await session.close()
            async with asyncio.timeout(5.0):
                await server.all_ended.wait()


Serve = Callable[[Talk], AbstractAsyncContextManager[str]]


@pytest.fixture(params=["unix", "tcp", "tls"])
def serve(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Serve:
    """Each way to connect to a server."""
    if request.param == "tls":
        authority = Authority(tmp_path)
        monkeypatch.setenv("SSL_CERT_FILE", str(authority.file))
        certificate = authority.certificate("localhost")
        return lambda talk: encrypted_server(talk, certificate)
    path = tmp_path / "s" if request.param == "unix" else None
    return lambda talk: talking_server(talk, path)


async def test_bytes_that_nobody_asked_for_close_an_idle_connection(serve: Serve) -> None:
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

    async with serve(talk) as url:
        session = Session(Secret("t"), url, url, is_paced=False)
        assert (await session.request(Request("GET", "/v3"))).body == GOOD_BODY
        may_forge.set()
        await has_forged.wait()
        assert (await session.request(Request("GET", "/v3"))).body == GOOD_BODY
        await session.close()
    assert connections == 2


async def test_an_idle_connection_that_broke_costs_no_order(serve: Serve) -> None:
    heads: list[bytes] = []

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append(await whole_request(reader))
        writer.write(answer(GOOD_BODY))
        if len(heads) == 1:
            await writer.drain()
            writer.transport.abort()
        else:
            await reader.read()

    async with serve(talk) as url:
        session = Session(Secret("t"), url, url, is_paced=False)
        await session.request(Request("GET", "/v3"))
        for _ in range(10):  # turns of the loop, until the end of the connection has come
            await asyncio.sleep(0)
        order = Request("POST", "/v3/orders", body=b"{}")
        assert (await session.request(order)).body == GOOD_BODY
        await session.close()
    assert [head.split()[0] for head in heads] == [b"GET", b"POST"]


def test_the_options_of_a_connection_are_those_of_this_system() -> None:
    with socket.socket() as one:
        for option in tcp_options():
            one.setsockopt(*option)
            assert one.getsockopt(*option[:2])
