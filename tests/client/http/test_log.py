"""What the logger `keydesk_client` says of connections and requests, and that it never says a token."""

import asyncio
import logging
import re

import httpx
import pytest

from keydesk_client import Client
from keydesk_client.errors import KeydeskClientError, Unreachable
from support.broker import PracticeServer
from support.fakes.talking_server import talking_server

LOGGER = "keydesk_client"
HOSTILE = (
    "planted-token-of-a-test",
    "percent%2Fslash/plus+equals=",
    "%s%d%(name)s{0}{token}",
    "quote\"back\\slash'angle<>",
)
"""Tokens that an encoding, a format or a quoting might let through."""


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    caplog.set_level(logging.DEBUG, LOGGER)
    return caplog


async def test_a_request_is_a_line_and_a_connection_is_a_line(
    desk_of_my_own: PracticeServer, log: pytest.LogCaptureFixture
) -> None:
    desk = desk_of_my_own
    async with Client(
        token=desk.token,
        rest_url=desk.rest_url,
        stream_url=desk.stream_url,
        account_id=desk.account_id,
    ) as client:
        await client.accounts.summary()
        summary = await client.accounts.summary()
        async with client.pricing.stream(["EUR_USD"]) as prices:
            await anext(aiter(prices))
    lines = [(each.levelname, each.getMessage()) for each in log.records if each.name == LOGGER]
    path = f"/v3/accounts/{desk.account_id}"
    assert [level for level, _ in lines] == ["INFO", "DEBUG", "DEBUG", "INFO", "DEBUG"]
    assert re.fullmatch(r"connected to /\S+ in \d+ ms", lines[0][1])
    said = rf"GET {path}/summary 200 in \d+ ms, request {summary.request_id}"
    assert re.fullmatch(said, lines[2][1])
    assert re.match(rf"GET {path}/pricing/stream 200 in \d+ ms", lines[4][1])
    assert desk.token not in log.text


async def test_a_request_without_an_answer_says_what_kind_of_error_it_met(
    log: pytest.LogCaptureFixture,
) -> None:
    url = "http://127.0.0.1:9"
    async with Client(token="planted", rest_url=url, stream_url=url) as client:
        with pytest.raises(Unreachable):
            await client.for_look_ups().accounts.configure(alias="a", account_id="1")
    (line,) = [each.getMessage() for each in log.records if each.name == LOGGER]
    assert re.fullmatch(r"PATCH /v3/accounts/1/configuration failed in \d+ ms: Unreachable", line)


@pytest.mark.parametrize("token", HOSTILE)
async def test_a_token_is_never_logged_wherever_it_turns_up(
    token: str, log: pytest.LogCaptureFixture
) -> None:
    def echo(request: httpx.Request) -> httpx.Response:
        headers = {"RequestID": f"1 {request.headers['authorization']}"}
        return httpx.Response(404, json={"errorMessage": token}, headers=headers)

    url = "https://r.test"
    async with Client(
        token=token,
        rest_url=url,
        stream_url=url,
        account_id=token.replace("/", "_"),
        transport=httpx.MockTransport(echo),
    ) as client:
        for call in (
            client.candles.get(token),
            client.accounts.get(account_id=token),
            client.pricing.get([token]),
        ):
            with pytest.raises(KeydeskClientError):
                await call
    assert len([each for each in log.records if each.name == LOGGER]) == 3
    assert token not in log.text
    assert "[token]" in log.text
    assert all(token not in str(vars(each)) for each in log.records)


async def test_a_request_id_cannot_forge_a_line(log: pytest.LogCaptureFixture) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        head = b"HTTP/1.1 200 OK\r\nContent-Length: 15\r\nRequestID: 7\x85\xa0" + b"9" * 500
        writer.write(head + b'\r\n\r\n{"accounts":[]}')

    async with (
        talking_server(answer) as url,
        Client(token="planted", rest_url=url, stream_url=url) as client,
    ):
        await client.accounts.list()
    line = log.records[-1].getMessage()
    assert line.isprintable()
    assert len(line) < 200


async def test_nothing_is_logged_unless_asked_for(
    desk_of_my_own: PracticeServer, caplog: pytest.LogCaptureFixture
) -> None:
    desk = desk_of_my_own
    url = desk.rest_url
    async with Client(token=desk.token, rest_url=url, stream_url=url) as client:
        await client.accounts.list()
    assert not [each for each in caplog.records if each.name == LOGGER]
