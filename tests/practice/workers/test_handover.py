"""A connection goes to the worker of the account in its first request, with nothing of that request read."""

import asyncio
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from keydesk_practice.workers.handover import Acceptor, FirstRequest, Receiver, hand_over

HEAD = (
    b"GET /v3/accounts/101-001-1000001-002/orders?count=1 HTTP/1.1\r\nHost: x\r\n"
    b"authorization: bearer  a-token-of-one \r\n\r\n"
)


@pytest.mark.parametrize(
    ("head", "path", "account", "token"),
    [
        (HEAD, "/v3/accounts/101-001-1000001-002/orders", "101-001-1000001-002", b"a-token-of-one"),
        (b"GET /v3/accounts HTTP/1.1\r\n\r\n", "/v3/accounts", "", b""),
        (b"GET http://host:1/v3/accounts/a-1/x HTTP/1.1\r\n\r\n", "/v3/accounts/a-1/x", "a-1", b""),
        (b"GET /control/v1/state HTTP/1.1\r\n\r\n", "/control/v1/state", "", b""),
        (b"\x16\x03\x01\x00\xff nonsense", "", "", b""),
        (b"GET /x HTTP/1.1\r\nX: GET /v3/accounts/1-1-1-1/a\r\n\r\n", "/x", "", b""),
    ],
)
def test_the_first_request_names_path_account_and_token(
    head: bytes, path: str, account: str, token: bytes
) -> None:
    first = FirstRequest(head)
    assert (first.path, first.account, first.token) == (path, account, token)


@contextmanager
def accepting(
    take: Callable[[FirstRequest, socket.socket], None], seconds: float = 60.0
) -> Iterator[tuple[str, int]]:
    listening = socket.create_server(("127.0.0.1", 0))
    acceptor = Acceptor(listening, lambda first: lambda one: take(first, one), seconds)
    acceptor.start(8)
    address = listening.getsockname()
    try:
        yield address
    finally:
        acceptor.stop()


async def test_a_head_that_comes_in_pieces_is_awaited_and_left_to_be_read() -> None:
    taken: asyncio.Queue[tuple[FirstRequest, socket.socket]] = asyncio.Queue()
    with accepting(lambda *both: taken.put_nowait(both)) as address:
        _, writer = await asyncio.open_connection(*address)
        for piece in (HEAD[:9], HEAD[9:60], HEAD[60:]):
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(0)
        first, connection = await taken.get()
        assert first.account == "101-001-1000001-002"
        assert connection.recv(10_000) == HEAD
        connection.close()
        writer.close()


async def test_a_client_that_says_nothing_is_closed_in_time() -> None:
    with accepting(lambda *_: pytest.fail("it was handed over"), seconds=0.01) as address:
        reader, writer = await asyncio.open_connection(*address)
        assert await reader.read() == b""
        writer.close()


async def test_a_client_that_leaves_before_its_request_is_forgotten() -> None:
    taken: asyncio.Queue[FirstRequest] = asyncio.Queue()

    def take(first: FirstRequest, connection: socket.socket) -> None:
        taken.put_nowait(first)
        connection.close()

    with accepting(take) as address:
        socket.create_connection(address).close()
        _, writer = await asyncio.open_connection(*address)
        writer.write(HEAD)
        assert (await taken.get()).account
        writer.close()


async def test_a_worker_adopts_what_is_handed_over_until_the_supervisor_has_gone() -> None:
    ours, theirs = socket.socketpair()
    client, served = socket.socketpair()
    adopted: asyncio.Queue[socket.socket] = asyncio.Queue()
    ended = asyncio.Event()
    receiver = Receiver(theirs, adopted.put_nowait, ended.set)
    client.send(b"hello")
    hand_over(ours, served)
    assert served.fileno() == -1
    connection = await adopted.get()
    assert connection.recv(10) == b"hello"
    ours.close()
    await ended.wait()
    receiver.close()
    connection.close()
    client.close()


def test_a_worker_that_is_gone_takes_nothing() -> None:
    ours, theirs = socket.socketpair()
    client, served = socket.socketpair()
    theirs.close()
    with pytest.raises(OSError, match="pipe"):
        hand_over(ours, served)
    assert served.fileno() != -1
    for one in (ours, client, served):
        one.close()
