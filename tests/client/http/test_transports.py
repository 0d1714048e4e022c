"""Any transport of httpx carries a client: a function, an application, the usual mocks; certificates can be passed."""

import asyncio
import json
import ssl
from collections.abc import Awaitable, Callable, MutableMapping
from pathlib import Path
from typing import Any

import httpx
import pytest

from keydesk_client import Client
from keydesk_client.errors import NotFound, Unreachable
from support.data.hostile_answers import answer, whole_request
from support.fakes.encrypted_server import Authority, encrypted_server

URL = "https://rest.test"
PATH = f"{URL}/v3/accounts"
ACCOUNTS = {"accounts": [{"id": "001", "tags": []}]}

Message = MutableMapping[str, Any]


def client_of(transport: httpx.AsyncBaseTransport) -> Client:
    return Client(token="t", rest_url=URL, stream_url=URL, transport=transport)


async def ids_of(client: Client) -> list[str]:
    async with client:
        return [each.id for each in (await client.accounts.list()).accounts]


async def test_a_function_answers() -> None:
    transport = httpx.MockTransport(lambda _: httpx.Response(200, json=ACCOUNTS))
    assert await ids_of(client_of(transport)) == ["001"]


async def test_an_application_answers_requests_and_streams_in_this_process() -> None:
    async def app(
        scope: Message,
        receive: Callable[[], Awaitable[Message]],
        send: Callable[[Message], Awaitable[None]],
    ) -> None:
        await receive()
        is_stream = scope["path"].endswith("/stream")
        line = b'{"type":"HEARTBEAT","time":"2026-01-01T00:00:00Z"}\n'
        body = line if is_stream else json.dumps(ACCOUNTS).encode()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": body})

    assert await ids_of(client_of(httpx.ASGITransport(app=app))) == ["001"]
    async with (
        client_of(httpx.ASGITransport(app=app)).for_account("1") as client,
        client.pricing.stream(["EUR_USD"]) as prices,
    ):
        assert (await anext(prices)).time is not None  # type: ignore[union-attr]  # a heartbeat


async def test_a_router_of_respx_answers() -> None:
    respx = pytest.importorskip("respx")
    router = respx.Router()
    router.get(PATH).respond(200, json=ACCOUNTS)
    router.get(path__startswith="/v3/accounts/none").respond(404)
    assert await ids_of(client_of(httpx.MockTransport(router.async_handler))) == ["001"]
    async with client_of(httpx.MockTransport(router.async_handler)) as client:
        with pytest.raises(NotFound):
            await client.accounts.summary("none")


async def test_the_mock_of_pytest_httpx_answers(request: pytest.FixtureRequest) -> None:
    pytest.importorskip("pytest_httpx")
    httpx_mock = request.getfixturevalue("httpx_mock")
    httpx_mock.add_response(url=PATH, json=ACCOUNTS)
    assert await ids_of(client_of(httpx.AsyncHTTPTransport())) == ["001"]


async def test_certificates_are_those_of_the_context_that_is_passed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    authority = Authority(tmp_path)

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await whole_request(reader)
        writer.write(answer(json.dumps(ACCOUNTS).encode()))

    async with encrypted_server(talk, authority.certificate("localhost")) as url:
        trusting = ssl.create_default_context(cafile=authority.file)
        assert await ids_of(
            Client(token="t", rest_url=url, stream_url=url, ssl_context=trusting)
        ) == ["001"]
        with pytest.raises(Unreachable) as raised:
            await ids_of(Client(token="t", rest_url=url, stream_url=url))
        assert raised.value.cause == "certificate"
