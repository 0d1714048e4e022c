"""A request may be cancelled, or its client closed, at any moment: no place, connection or socket is lost by it."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from ssl import SSLContext

import httpx
import pytest

from keydesk_client.auth.secret import Secret
from keydesk_client.errors import Unreachable
from keydesk_client.http.endpoint import address_of
from keydesk_client.http.messages import Request
from keydesk_client.http.session import Session
from keydesk_client.http.transport import DefaultTransport, ssl_context
from support.data.hostile_answers import whole_request
from support.fakes.encrypted_server import Authority, encrypted_server
from support.fakes.talking_server import talking_server

PASSES = 45
"""More passes of the event loop than a request of these tests takes on any connection."""
TIMEOUTS = {"connect": 5.0, "write": 5.0, "read": 5.0, "pool": 5.0}
IN_TIME_S = 10.0


class HesitantServer:
    """Answers in three pieces, and counts its open connections."""

    def __init__(self) -> None:
        self.open = 0
        self._has_ended = asyncio.Event()

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.open += 1
        try:
            while True:
                await whole_request(reader)
                for piece in (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n", b"{", b"}"):
                    writer.write(piece)
                    await asyncio.sleep(0)
                    await asyncio.sleep(0)
        finally:
            self.open -= 1
            self._has_ended.set()

    async def wait_until_left(self) -> None:
        async with asyncio.timeout(IN_TIME_S):
            while self.open:
                self._has_ended.clear()
                await self._has_ended.wait()


async def body_of_a_response(pool: DefaultTransport, url: str) -> bytes:
    extensions = {"timeout": TIMEOUTS}

    host = address_of(url).base
    request = httpx.Request("GET", host, extensions=extensions)
    response = await pool.handle_async_request(request)
    try:
        return await response.aread()
    finally:
        await response.aclose()


@pytest.fixture(params=[pytest.param("tcp", marks=pytest.mark.e2e), "unix", "tls"])
async def address(
    request: pytest.FixtureRequest,
    server: HesitantServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> AsyncIterator[tuple[str, SSLContext | None]]:
    """The address of the server, and what encrypts a connection to it."""
    serving: AbstractAsyncContextManager[str]
    encryption = None
    if request.param == "tls":
        authority = Authority(tmp_path)
        monkeypatch.setenv("SSL_CERT_FILE", str(authority.file))
        encryption = ssl_context()
        serving = encrypted_server(server.talk, authority.certificate("localhost"))
    else:
        serving = talking_server(server.talk, tmp_path / "s" if request.param == "unix" else None)
    async with serving as url:
        yield url, encryption


@pytest.fixture
def server() -> HesitantServer:
    return HesitantServer()


@pytest.mark.parametrize("is_new", [True, False], ids=["new", "kept"])
async def test_a_request_that_is_cancelled_at_any_moment_leaves_its_place_and_nothing_open(
    address: tuple[str, SSLContext | None], server: HesitantServer, *, is_new: bool
) -> None:
    url, encryption = address
    pool = DefaultTransport(address_of(url), 1, encryption)
    for passes in range(PASSES):
        if is_new:
            await pool.aclose()
            pool = DefaultTransport(address_of(url), 1, encryption)
        asking = asyncio.create_task(body_of_a_response(pool, url))
        for _ in range(passes):
            await asyncio.sleep(0)
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        assert await body_of_a_response(pool, url) == b"{}"
    await pool.aclose()
    await server.wait_until_left()


async def test_a_pool_that_is_closed_at_any_moment_ends_its_requests_and_leaves_nothing_open(
    address: tuple[str, SSLContext | None], server: HesitantServer
) -> None:
    url, encryption = address
    for passes in range(PASSES):
        pool = DefaultTransport(address_of(url), 2, encryption)
        asking = [asyncio.create_task(body_of_a_response(pool, url)) for _ in range(3)]
        for _ in range(passes):
            await asyncio.sleep(0)
        await pool.aclose()
        async with asyncio.timeout(IN_TIME_S):
            await asyncio.gather(*asking, return_exceptions=True)
    await server.wait_until_left()


async def test_bytes_that_arrive_as_their_reader_is_cancelled_raise_nothing_in_the_event_loop(
    tmp_path: Path,
) -> None:
    """asyncio prints what is raised there: over a terminal that the desk has just given back."""
    loop = asyncio.get_running_loop()
    raised: list[dict[str, object]] = []
    loop.set_exception_handler(lambda _, context: raised.append(context))
    path = tmp_path / "s"
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listening:
        listening.setblocking(False)
        listening.bind(str(path))
        listening.listen()
        url = f"http+unix://{path}"
        pool = DefaultTransport(address_of(url), 1, None)
        asking = asyncio.create_task(body_of_a_response(pool, url))
        peer, _ = await loop.sock_accept(listening)
        with peer:
            await loop.sock_recv(peer, 65_536)
            for _ in range(PASSES):  # until it waits for the response
                await asyncio.sleep(0)
            loop.call_soon(asking.cancel)  # in the next turn, before its bytes are announced
            peer.send(b"HTTP/1.1 200 OK\r\n")
            await asyncio.gather(asking, return_exceptions=True)
            await pool.aclose()
    assert asking.cancelled()
    assert raised == []


async def test_closing_does_not_wait_for_a_peer_that_is_silent_in_the_handshake() -> None:
    is_greeted = asyncio.Event()
    may_end = asyncio.Event()

    async def talk(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        await reader.read(1)
        is_greeted.set()
        await may_end.wait()

    async with talking_server(talk) as url:
        encrypted = url.replace("http:", "https:")
        session = Session(Secret("t"), encrypted, encrypted)
        asking = asyncio.create_task(session.request(Request("POST", "/v3", body=b"{}")))
        await is_greeted.wait()
        await session.close()
        assert not asking.done()
        may_end.set()
        with pytest.raises(Unreachable) as raised:
            await asking
    assert not raised.value.sent
