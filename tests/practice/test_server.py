"""Connections that send nothing useful cost little and go; those of clients that talk stay, and answer at once."""

import asyncio
import contextlib
import json
import re
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from starlette.types import Receive, Scope, Send

from keydesk_practice.connections import RESERVED_DESCRIPTORS, ConnectionLimits, WholeWrites
from keydesk_practice.http.middleware import Application
from keydesk_practice.server import (
    Listener,
    Server,
    listen_on_path,
    listen_on_port,
    reachable_address,
)

pytestmark = pytest.mark.e2e

PATIENCE = 20.0
REQUEST = b"GET / HTTP/1.1\r\nHost: b\r\n\r\n"
POST = b"POST / HTTP/1.1\r\nHost: b\r\nContent-Length: 10\r\n\r\n"


async def answer(_scope: Scope, receive: Receive, send: Send) -> None:
    """Answer a request with `yes` once it is there."""
    while (message := await receive()).get("more_body"):
        pass
    if message["type"] == "http.disconnect":
        return
    headers = [(b"content-length", b"3")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b"yes"})


async def pour(_scope: Scope, _receive: Receive, send: Send) -> None:
    """Answer with far more than the buffers between two processes hold."""
    await send({"type": "http.response.start", "status": 200, "headers": []})
    for _ in range(200):
        await send({"type": "http.response.body", "body": b"x" * 250_000, "more_body": True})
    await send({"type": "http.response.body", "body": b""})


@contextlib.asynccontextmanager
async def serve(
    listener: Listener, limits: ConnectionLimits, application: Application = answer
) -> AsyncIterator[Server]:
    ready = asyncio.Event()
    server = Server(application, listener, ready.set, limits)
    running = asyncio.create_task(server.serve_listener())
    await ready.wait()
    try:
        yield server
    finally:
        server.stop()
        await running
        listener.remove()


def connected(listener: Listener) -> socket.socket:
    """Return the socket of a new connection, which does not block."""
    family = socket.AF_INET if listener.path is None else socket.AF_UNIX
    client = socket.socket(family)
    client.connect(
        ("127.0.0.1", port_of(listener)) if listener.path is None else str(listener.path)
    )
    client.setblocking(False)
    return client


def port_of(listener: Listener) -> int:
    return int(listener.url.rpartition(":")[2])


class Talk:
    """One connection of a client."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    @classmethod
    async def open(cls, listener: Listener) -> "Talk":
        if listener.path is not None:
            return cls(*await asyncio.open_unix_connection(listener.path))
        return cls(*await asyncio.open_connection("127.0.0.1", port_of(listener)))

    async def ask(self, request: bytes = REQUEST) -> bytes:
        self.writer.write(request)
        async with asyncio.timeout(PATIENCE):
            head = await self.reader.readuntil(b"\r\n\r\n")
            length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
            return head + await self.reader.readexactly(length)

    async def read_to_end(self) -> bytes:
        """Return what is left once the other side has closed."""
        async with asyncio.timeout(PATIENCE):
            with contextlib.suppress(ConnectionError):
                return await self.reader.read()
            return b""

    def close(self) -> None:
        self.writer.close()


async def answered(listener: Listener) -> Talk:
    """Return a connection whose first request was answered; a busy machine may need several, each sent in time."""
    while True:
        talk = await Talk.open(listener)
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            assert (await talk.ask()).endswith(b"yes")
            return talk
        talk.close()


@pytest.fixture(params=["tcp", "unix"])
def listener(request: pytest.FixtureRequest, practice_folder: Path) -> Listener:
    if request.param == "tcp":
        return listen_on_port("127.0.0.1", 0)
    return listen_on_path(practice_folder / "s")


async def test_a_listener_on_every_address_names_one_that_connects() -> None:
    listener = listen_on_port("0.0.0.0", 0)  # noqa: S104 - what is tested
    host = listener.url.removeprefix("http://").partition(":")[0]
    assert host != "0.0.0.0"  # noqa: S104
    async with serve(listener, ConnectionLimits()):
        talk = Talk(*await asyncio.open_connection(host, port_of(listener)))
        assert (await talk.ask()).endswith(b"yes")
        talk.close()


def test_without_a_route_that_address_is_the_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    assert reachable_address("192.0.2.7") == "192.0.2.7"

    class Unrouted(socket.socket):
        def connect(self, address: object) -> None:
            raise OSError(101, f"Network is unreachable: {address}")

    monkeypatch.setattr("keydesk_practice.server.socket.socket", Unrouted)
    assert reachable_address("0.0.0.0") == "127.0.0.1"  # noqa: S104
    assert reachable_address("::") == "::1"


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
async def test_a_connection_sends_its_answers_without_delay(host: str) -> None:
    try:
        listener = listen_on_port(host, 0)
    except Exception:  # noqa: BLE001 - a machine without this family
        pytest.skip(f"no {host} here")
    async with serve(listener, ConnectionLimits()) as server:
        reader, writer = await asyncio.open_connection(host, port_of(listener))
        talk = Talk(reader, writer)
        assert (await talk.ask()).endswith(b"yes")
        (connection,) = server.server_state.connections
        accepted = connection.transport.get_extra_info("socket")
        assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) == 1
        assert accepted.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
        talk.close()


@pytest.mark.parametrize("sent", [b"", b"\r\n", b"GET / HT", REQUEST[:-2], POST, POST + b"12345"])
async def test_half_a_request_is_not_waited_for(listener: Listener, sent: bytes) -> None:
    async with serve(listener, ConnectionLimits(request_seconds=0.05)):
        talk = await Talk.open(listener)
        talk.writer.write(sent)
        assert await talk.read_to_end() == b""
        talk.close()


@pytest.mark.parametrize("sent", [b"\r\n", b"GET / HT", POST + b"12345"])
async def test_nor_is_half_a_second_request(listener: Listener, sent: bytes) -> None:
    async with serve(listener, ConnectionLimits(request_seconds=0.05)):
        talk = await answered(listener)
        talk.writer.write(sent)
        assert await talk.read_to_end() == b""
        talk.close()


async def test_bytes_that_drip_in_do_not_put_it_off(listener: Listener) -> None:
    async with serve(listener, ConnectionLimits(request_seconds=0.05)):
        talk = await Talk.open(listener)

        async def drip() -> None:
            talk.writer.write(b"GET / HTTP/1.1\r\nX: ")
            while True:
                talk.writer.write(b"x")
                await asyncio.sleep(0)

        dripping = asyncio.create_task(drip())
        assert b"200" not in await talk.read_to_end()
        dripping.cancel()
        talk.close()


async def test_a_client_that_asks_now_and_then_is_not_closed(listener: Listener) -> None:
    async with serve(listener, ConnectionLimits(request_seconds=0.5)) as server:
        talk = await Talk.open(listener)
        for _ in range(3):
            assert (await talk.ask()).endswith(b"yes")
            silent = await Talk.open(listener)
            await silent.read_to_end()  # so more than the time of a request has passed
            silent.close()
        assert len(server.server_state.connections) == 1
        talk.close()


async def test_connections_that_send_nothing_give_way_to_others(listener: Listener) -> None:
    async with serve(listener, ConnectionLimits(max_connections=5)) as server:
        talking = await Talk.open(listener)
        await talking.ask()
        silent = [await Talk.open(listener) for _ in range(30)]
        late = await Talk.open(listener)
        assert (await late.ask()).endswith(b"yes")
        assert (await talking.ask()).endswith(b"yes")
        assert len(server.server_state.connections) <= 5
        for talk in (*silent, talking, late):
            talk.close()


async def test_when_all_talk_one_more_is_refused_in_words(listener: Listener) -> None:
    async with serve(listener, ConnectionLimits(max_connections=3)):
        talking = [await Talk.open(listener) for _ in range(3)]
        for talk in talking:
            await talk.ask()
        more = await Talk.open(listener)
        refused = await more.read_to_end()
        assert refused.startswith(b"HTTP/1.1 503 ")
        body = json.loads(refused.partition(b"\r\n\r\n")[2])
        assert "as many connections open as it accepts" in body["errorMessage"]
        assert (await talking[0].ask()).endswith(b"yes")
        for talk in (*talking, more):
            talk.close()


@pytest.mark.parametrize(
    ("sent", "status", "message"),
    [
        (b"FROBNICATE / HTTP/1.1\r\nHost: a\r\n\r\n", b"501", "use GET, POST, PUT or PATCH"),
        (b"get / HTTP/1.1\r\nHost: a\r\n\r\n", b"501", "The method is not known"),
        (b"GET /\x01 HTTP/1.1\r\n\r\n", b"400", "Invalid HTTP request"),
        (b"GET / HTTP/1.1\r\nA\x01: b\r\n\r\n", b"400", "Invalid HTTP request"),
    ],
)
async def test_what_is_no_request_is_answered_as_any_error_is(
    listener: Listener, sent: bytes, status: bytes, message: str
) -> None:
    async with serve(listener, ConnectionLimits()):
        talk = await Talk.open(listener)
        head, _, body = (await talk.ask(sent)).partition(b"\r\n\r\n")
        assert head.split()[1] == status
        assert b"content-type: application/json" in head
        assert re.search(rb"RequestID: \d+", head)
        assert message in json.loads(body)["errorMessage"]
        assert await talk.read_to_end() == b""
        talk.close()


async def test_a_head_without_end_is_cut_off(listener: Listener) -> None:
    async with serve(listener, ConnectionLimits()):
        talk = await Talk.open(listener)
        talk.writer.write(b"GET /" + b"x" * 200_000)
        assert b"200" not in (await talk.read_to_end())[:20]  # a 400, or a reset that overtook it
        talk.close()


async def test_a_large_body_is_no_large_head(listener: Listener) -> None:
    async with serve(listener, ConnectionLimits()):
        talk = await Talk.open(listener)
        body = b"x" * 250_000
        head = f"POST / HTTP/1.1\r\nHost: b\r\nContent-Length: {len(body)}\r\n\r\n".encode()
        assert (await talk.ask(head + body)).endswith(b"yes")
        assert (await talk.ask()).endswith(b"yes")
        talk.close()


async def test_a_client_that_takes_nothing_of_its_answer_is_closed(listener: Listener) -> None:
    async with serve(listener, ConnectionLimits(reader_seconds=0.05), pour) as server:
        talk = await Talk.open(listener)
        talk.writer.write(REQUEST)
        async with asyncio.timeout(PATIENCE):
            await talk.reader.readuntil(b"\r\n\r\n")
            while server.server_state.connections:  # noqa: ASYNC110 - a condition of the server's
                await asyncio.sleep(0)
        talk.close()


@pytest.mark.parametrize("iterations", [1, 2, 3])
async def test_a_connection_that_is_accepted_just_before_the_server_stops_is_closed_with_it(
    listener: Listener, iterations: int
) -> None:
    async with serve(listener, ConnectionLimits()) as server:
        await asyncio.sleep(0)
        with connected(listener) as client:
            for _ in range(iterations):
                await asyncio.sleep(0)
            await server.shutdown([])
            with contextlib.suppress(ConnectionResetError):  # it was not accepted, or not yet
                assert client.recv(1) == b""


def test_a_broker_takes_as_many_descriptors_as_the_system_allows() -> None:
    script = (
        "import resource; from keydesk_practice.connections import raise_descriptor_limit as most\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (64, 300))\n"
        "print(most(), resource.getrlimit(resource.RLIMIT_NOFILE)[0])"
    )
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True).stdout
    assert said.split() == [b"%d" % (300 - RESERVED_DESCRIPTORS), b"300"]


async def test_what_one_iteration_writes_is_sent_in_one_piece() -> None:
    sent: list[bytes] = []

    class Recording(asyncio.Transport):
        def write(self, data: bytes | bytearray | memoryview) -> None:
            sent.append(bytes(data))

        def close(self) -> None:
            sent.append(b"closed")

    whole = WholeWrites(Recording(), asyncio.get_running_loop())
    whole.write(b"head ")
    whole.write(b"body")
    assert sent == []
    await asyncio.sleep(0)
    assert sent == [b"head body"]
    whole.write(b"last")
    whole.close()
    assert sent == [b"head body", b"last", b"closed"]
