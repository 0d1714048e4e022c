"""Each private attribute of httpx and httpcore exists in the installed version; without one, no response is trusted.

Streams are read from the connection, chunk framing removed, or by httpx where the parser cannot be reached.
"""

import asyncio
import re
from pathlib import Path

import httpcore
import httpx
import pytest

from keydesk_client.auth.secret import Secret
from keydesk_client.http import _httpcore_private
from keydesk_client.http._httpcore_private import (
    BACKEND,
    PARSER_PATH,
    POOL,
    may_have_trailing_data,
    unread_bytes,
)
from keydesk_client.http.messages import Request
from keydesk_client.http.transport import Transport
from support.data.hostile_answers import GOOD_BODY, answer, whole_request
from support.fakes.talking_server import talking_server

CLIENT = Path(_httpcore_private.__file__).parents[1]


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


async def test_the_installed_version_has_every_attribute() -> None:
    async with talking_server(CountingServer().talk) as url, httpx.AsyncHTTPTransport() as carrier:
        response = await carrier.handle_async_request(httpx.Request("GET", url))
        step: object = response.stream
        for name in PARSER_PATH:
            assert hasattr(step, name), f"{type(step).__name__} has no {name} any more"
            step = getattr(step, name)
        await response.aread()
        assert step.trailing_data == (b"", False)  # type: ignore[attr-defined]
        assert not may_have_trailing_data(response.stream)
        await response.aclose()


async def test_the_installed_version_has_a_pool_with_a_backend() -> None:
    async with httpx.AsyncHTTPTransport() as carrier:
        assert isinstance(getattr(getattr(carrier, POOL), BACKEND), httpcore.AsyncNetworkBackend)


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


@pytest.mark.parametrize("name", ["POOL", "BACKEND"])
async def test_without_a_backend_requests_are_sent_all_the_same(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(_httpcore_private, name, "_renamed")
    assert b"".join(await pieces_of_a_write()).endswith(b"\r\n\r\nthe body")


async def test_an_answer_that_came_before_the_request_was_sent_is_read() -> None:
    class Broken(httpcore.AsyncMockStream):
        async def write(self, _buffer: bytes, _timeout: float | None = None) -> None:
            raise httpcore.WriteError("closed")

    answered = Broken([b"HTTP/1.1 503 Service Unavailable\r\n\r\n"])
    backend = _httpcore_private.WholeRequestBackend(httpcore.AsyncMockBackend([]))
    stream = await backend.opened(answered)
    await stream.write(b"GET / HTTP/1.1\r\n\r\n")
    assert (await stream.read(100)).startswith(b"HTTP/1.1 503")


async def test_a_connection_is_reused_after_a_clean_response() -> None:
    assert await connections_of_three_requests() == 1


@pytest.mark.parametrize("place", range(len(PARSER_PATH)))
async def test_without_an_attribute_every_response_closes_its_connection(
    monkeypatch: pytest.MonkeyPatch, place: int
) -> None:
    path = (*PARSER_PATH[:place], "_renamed", *PARSER_PATH[place + 1 :])
    monkeypatch.setattr(_httpcore_private, "PARSER_PATH", path)
    assert await connections_of_three_requests() == 3


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


@pytest.mark.parametrize("place", range(len(PARSER_PATH)))
async def test_without_an_attribute_httpx_reads_the_chunks(
    monkeypatch: pytest.MonkeyPatch, place: int
) -> None:
    path = (*PARSER_PATH[:place], "_renamed", *PARSER_PATH[place + 1 :])
    monkeypatch.setattr(_httpcore_private, "PARSER_PATH", path)
    assert await pieces_of_a_stream() == [b"a\n", b"b\n"]


@pytest.mark.parametrize("stream", [object(), httpx.ByteStream(b"a")])
def test_a_stream_without_a_parser_has_no_unread_bytes(stream: object) -> None:
    assert unread_bytes(stream) is None


async def test_bytes_behind_a_response_are_noticed() -> None:
    server = CountingServer(trailing=answer(b'{"forged":1}'))
    async with talking_server(server.talk) as url:
        transport = Transport(Secret("t"), url, url)
        for _ in range(3):
            assert (await transport.request(Request("GET", "/v3"))).body == GOOD_BODY
        await transport.close()
    assert server.connections == 3


def test_no_other_module_of_the_client_reads_them() -> None:
    readers = {
        path.name
        for path in CLIENT.rglob("*.py")
        if re.search(r"_httpcore_stream|_h11_state|[^_]trailing_data", path.read_text())
    }
    assert readers == {"_httpcore_private.py"}
