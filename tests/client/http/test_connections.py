"""The connections to a host: each carries one request at a time, and is used again only when nothing is left in it."""

import asyncio
from pathlib import Path

import httpx
import pytest

from keydesk_client.auth.secret import Secret
from keydesk_client.errors import ConnectionLost
from keydesk_client.http import connections
from keydesk_client.http.carrier import EncodedRequest, NotConnected, PhaseTimeouts, WriteFailed
from keydesk_client.http.endpoint import address_of
from keydesk_client.http.messages import Request
from keydesk_client.http.socket_stream import SocketConnection, SocketStream
from keydesk_client.http.transport import Transport
from support.data.hostile_answers import GOOD_BODY, answer, whole_request
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
        transport = Transport(Secret("t"), url, url)
        for _ in range(3):
            assert (await transport.request(Request("GET", "/v3"))).status == 200
        await transport.close()
    return server.connections


async def pieces_of_a_write() -> list[bytes]:
    pieces: list[bytes] = []

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while b"body" not in b"".join(pieces):
            pieces.append(await reader.read(65_536))
        writer.write(answer(GOOD_BODY))

    async with talking_server(talk) as url:
        transport = Transport(Secret("t"), url, url)
        assert (await transport.request(Request("PUT", "/v3", body=b"the body"))).status == 200
        await transport.close()
    return pieces


async def test_head_and_body_of_a_request_are_sent_in_one_piece() -> None:
    assert len(await pieces_of_a_write()) == 1


async def test_a_connection_is_reused_after_a_clean_response() -> None:
    assert await connections_of_three_requests() == 1


async def test_a_carrier_of_another_library_has_its_connection_closed_after_each_response() -> None:
    server = CountingServer()
    async with talking_server(server.talk) as url, httpx.AsyncHTTPTransport() as carrier:
        transport = Transport(Secret("t"), url, url, carrier=carrier)
        for _ in range(3):
            assert (await transport.request(Request("GET", "/v3"))).body == GOOD_BODY
    assert server.connections == 3


async def test_a_connection_that_its_peer_closed_while_idle_is_not_used_again() -> None:
    opened = 0

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal opened
        opened += 1
        await whole_request(reader)
        writer.write(answer(GOOD_BODY))

    async with talking_server(talk) as url:
        transport = Transport(Secret("t"), url, url)
        for _ in range(3):
            assert (await transport.request(Request("GET", "/v3"))).body == GOOD_BODY
            await asyncio.sleep(0.01)  # the end of the connection arrives
        await transport.close()
    assert opened == 3


async def test_connections_idle_for_too_long_are_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "IDLE_CONNECTION_S", -1.0)
    assert await connections_of_three_requests() == 3


async def test_requests_at_once_have_a_connection_each_and_leave_them_to_the_next() -> None:
    server = CountingServer()
    async with talking_server(server.talk) as url:
        transport = Transport(Secret("t"), url, url)
        for _ in range(2):
            ask = (transport.request(Request("GET", "/v3")) for _ in range(3))
            assert {each.status for each in await asyncio.gather(*ask)} == {200}
        await transport.close()
    assert server.connections == 3


@pytest.mark.parametrize("ending", [b"", b"\r\n"])
async def test_a_connection_that_ends_within_the_head_is_lost(ending: bytes) -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await whole_request(reader)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2" + ending)

    async with talking_server(talk) as url:
        transport = Transport(Secret("t"), url, url)
        with pytest.raises(ConnectionLost, match="without a response"):
            await transport.request(Request("GET", "/v3"))
        await transport.close()


async def test_a_cancelled_request_closes_its_connection_and_frees_its_place() -> None:
    has_asked = asyncio.Event()
    has_ended = asyncio.Event()

    async def talk(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        await whole_request(reader)
        has_asked.set()
        await reader.read()
        has_ended.set()

    async with talking_server(talk) as url:
        pool = connections.ConnectionPool(address_of(url), 1)
        request = EncodedRequest("GET", url, "/v3", HEADERS, b"", TIMEOUTS)
        for _ in range(2):
            has_asked.clear()
            has_ended.clear()
            asking = asyncio.create_task(pool.send(request))
            await has_asked.wait()
            asking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking
            await has_ended.wait()
        await pool.aclose()


CHUNKS = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\na\n\r\n2\r\nb\n\r\n0\r\n\r\n"


async def pieces_of_a_stream() -> list[bytes]:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await whole_request(reader)
        writer.write(CHUNKS)

    async with talking_server(talk) as url:
        transport = Transport(Secret("t"), url, url)
        async with transport.open_stream(Request("GET", "/v3")) as stream:
            pieces = [piece async for piece in stream]
        await transport.close()
    return pieces


async def test_the_chunks_of_a_read_are_one_piece() -> None:
    assert await pieces_of_a_stream() == [b"a\nb\n"]


async def test_bytes_behind_a_response_are_noticed() -> None:
    server = CountingServer(trailing=answer(b'{"forged":1}'))
    async with talking_server(server.talk) as url:
        transport = Transport(Secret("t"), url, url)
        for _ in range(3):
            assert (await transport.request(Request("GET", "/v3"))).body == GOOD_BODY
        await transport.close()
    assert server.connections == 3


FORGED = answer(b'{"forged":1}')
READ_BY_ANYIO = 65_536
TIMEOUTS = PhaseTimeouts(connect=5.0, write=5.0, read=5.0, pool=5.0)
HEADERS = [(b"Host", b"localhost")]


def response_of(size: int) -> bytes:
    """Return a response that has so many bytes with its head."""
    body = size - len(answer(b" " * size)) + size
    return answer(b"{" + b" " * (body - 2) + b"}")


async def test_a_second_response_behind_all_that_one_read_returned_is_noticed() -> None:
    first = response_of(READ_BY_ANYIO)
    assert len(first) == READ_BY_ANYIO

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            head = await whole_request(reader)
            writer.write(first + FORGED if head.startswith(b"GET") else answer(GOOD_BODY))

    async with talking_server(talk) as url:
        transport = Transport(Secret("t"), url, url)
        await transport.request(Request("GET", "/v3"))
        assert (await transport.request(Request("POST", "/v3", body=b"{}"))).body == GOOD_BODY
        await transport.close()


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
        transport = Transport(Secret("t"), url, url, is_paced=False)
        await transport.request(Request("GET", "/v3"))
        assert (await transport.request(Request("POST", "/v3", body=b"{}"))).body == GOOD_BODY
        await transport.close()


async def test_an_encrypted_connection_is_reused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = CountingServer()
    authority = Authority(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.file))
    async with encrypted_server(server.talk, authority.certificate("localhost")) as url:
        transport = Transport(Secret("t"), url, url, is_paced=False)
        for _ in range(3):
            response = await transport.request(Request("POST", "/v3", body=b"{}"))
            assert response.body == GOOD_BODY
        await transport.close()
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
        transport = Transport(Secret("t"), url, url)
        await asyncio.gather(*(transport.request(Request("GET", "/v3")) for _ in range(3)))
        async with transport.open_stream(Request("GET", "/v3")):
            await transport.close()
            async with asyncio.timeout(5.0):
                await server.all_ended.wait()


async def test_a_request_that_waits_while_its_client_closes_connects_no_more() -> None:
    server = CountingServer()
    async with talking_server(server.talk) as url:
        pool = connections.ConnectionPool(address_of(url), 1)
        request = EncodedRequest("GET", url, "/v3", HEADERS, b"", TIMEOUTS)
        first = await pool.send(request)
        waiting = asyncio.create_task(pool.send(request))
        await asyncio.sleep(0)
        await pool.aclose()
        await first.body.aclose()
        with pytest.raises(NotConnected, match="closed"):
            await waiting
    assert server.connections == 1


async def test_a_response_that_came_before_the_request_was_sent_is_read() -> None:
    class Broken(SocketStream):
        async def write(self, _data: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109 - as it is
            raise WriteFailed(f"closed within {timeout} s")

    received = SocketConnection()
    received.data_received(b"HTTP/1.1 503 Service Unavailable\r\n\r\n")
    connection = connections.Connection(Broken(received))
    request = EncodedRequest("GET", "http://localhost", "/v3", HEADERS, b"", TIMEOUTS)
    assert (await connection.exchange(request, b"/v3")).status_code == 503
    assert not connection.renew()
