"""The client of the control interface against the real one, and against what does not answer, lies or echoes the token."""

import asyncio
import json
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import httpx
import pytest

from keydesk.calc.market.market_state import ControlledMarket
from keydesk.feeds.market_control import (
    MAX_BYTES,
    ControlRefused,
    MarketControl,
    control_in,
    state_of,
)
from keydesk.parse.replay import PAUSE, parse_replay
from keydesk_client.auth.secret import Secret
from support.controlled_broker import (
    ACCOUNT,
    CONTROL_TOKEN,
    ControlledBroker,
    controlled_broker,
)
from support.data.hostile_answers import answer
from support.fakes.talking_server import talking_server

ID = ACCOUNT.rpartition("/")[2]
ANSWER = {"time": "2015-01-15T09:00:00.000000000Z", "running": False, "speed": "60", "seed": 1}


def control_of(market: ControlledBroker) -> MarketControl:
    transport = httpx.ASGITransport(market.application, client=("127.0.0.1", 1))
    return MarketControl("http://localhost", Secret(CONTROL_TOKEN), transport)


def answering(handler: Callable[[httpx.Request], httpx.Response]) -> MarketControl:
    return MarketControl("http://localhost", Secret(CONTROL_TOKEN), httpx.MockTransport(handler))


async def test_a_replay_is_begun_stepped_and_finished(tmp_path: Path) -> None:
    async with controlled_broker(tmp_path) as market, control_of(market) as control:
        offer = ControlledMarket(await control.state(), await control.scenarios())
        assert [each.name for each in offer.scenarios][:2] == ["franc", "brexit"]

        for line in ("blind franc", "step 2 m5", "deposit 500", "save here"):
            await control.send(parse_replay(line.split(), offer), ID)
        state = await control.state()
        assert state.replay is not None
        assert (state.replay.hides, state.replay.instrument) == (True, "")
        assert (state.running, state.ledger_number) == (False, 1)
        assert await control.checkpoints() == ("here",)
        summary = await market.v20("GET", "{a}/summary")
        assert summary["account"]["balance"].startswith("100500")

        await control.send(parse_replay(["finish"], offer.with_state(state)), ID)
        replay = (await control.state()).replay
        assert replay is not None
        assert (replay.hides, replay.instrument, replay.scenario) == (False, "EUR_CHF", "franc")
        assert replay.real_ns - replay.began_ns == 600_000_000_000


async def test_shocks_and_faults_are_told_in_words(tmp_path: Path) -> None:
    async with controlled_broker(tmp_path) as market, control_of(market) as control:
        offer = ControlledMarket(await control.state())
        for line in ("shock gap eurusd -1%", "faults bad-line"):
            await control.send(parse_replay(line.split(), offer), ID)
        state = await control.state()
        assert state.shocks[0].startswith("gap -0.01")
        assert any("latency" in each for each in state.faults)
        assert not state.is_usual


async def test_a_refusal_comes_in_the_brokers_words(tmp_path: Path) -> None:
    async with controlled_broker(tmp_path) as market, control_of(market) as control:
        offer = ControlledMarket(await control.state())
        with pytest.raises(ControlRefused, match="does not go back"):
            await control.send(parse_replay(["jump", "2001-01-01"], offer), ID)
        with pytest.raises(ControlRefused, match="no account x"):
            await control.send(parse_replay(["deposit", "5"], offer), "x")


def raising(error: Exception) -> Callable[[httpx.Request], httpx.Response]:
    def handler(_: httpx.Request) -> httpx.Response:
        raise error

    return handler


@pytest.mark.parametrize(
    ("handler", "said"),
    [
        (raising(httpx.ReadTimeout("")), "did not answer within 5 s"),
        (raising(httpx.ConnectError("no such socket")), "no such socket"),
        (raising(httpx.ReadError("")), "did not answer: the connection broke: read error"),
        (lambda _: httpx.Response(200, text="<html>"), "not a JSON object"),
        (lambda _: httpx.Response(200, json=[1]), "not a JSON object"),
        (lambda _: httpx.Response(502), "HTTP 502"),
        (
            lambda _: httpx.Response(200, content=b"{" + b" " * MAX_BYTES + b"}"),
            "not a JSON object",
        ),
        (lambda _: httpx.Response(200, json={"running": True}), "cannot be read"),
    ],
)
async def test_a_market_that_is_silent_gone_or_no_market_is_a_refusal(
    handler: Callable[[httpx.Request], httpx.Response], said: str
) -> None:
    async with answering(handler) as control:
        with pytest.raises(ControlRefused, match=said):
            await control.state()


async def test_an_address_where_nothing_listens_is_a_refusal(tmp_path: Path) -> None:
    control = MarketControl(f"http+unix://{tmp_path}/absent", Secret(CONTROL_TOKEN))
    async with control:
        with pytest.raises(ControlRefused, match="No such file or directory"):
            await control.state()


async def test_a_connection_that_ends_without_an_answer_is_a_refusal(tmp_path: Path) -> None:
    async def hang_up(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")

    async with (
        talking_server(hang_up, tmp_path / "socket") as url,
        MarketControl(url, Secret(CONTROL_TOKEN)) as control,
    ):
        with pytest.raises(
            ControlRefused, match="did not answer: the connection broke: Server disconnected"
        ):
            await control.state()


@pytest.mark.parametrize("place", ["", "socket"], ids=["TCP", "a unix socket"])
async def test_one_connection_carries_one_request_after_another(tmp_path: Path, place: str) -> None:
    connections: list[list[bytes]] = []

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connections.append([])
        with suppress(asyncio.IncompleteReadError):
            while True:
                connections[-1].append(await reader.readuntil(b"\r\n\r\n"))
                writer.write(answer(json.dumps(ANSWER).encode()))

    async with (
        talking_server(talk, tmp_path / place if place else None) as url,
        MarketControl(url, Secret(CONTROL_TOKEN)) as control,
    ):
        assert (await control.state()).speed == 60
        assert (await control.state()).speed == 60
    (heads,) = connections
    assert len(heads) == 2
    assert all(head.startswith(b"GET /control/v1/state HTTP/1.1\r\n") for head in heads)
    assert all(f"Bearer {CONTROL_TOKEN}".encode() in head for head in heads)


async def test_the_token_is_in_no_error_even_when_the_market_echoes_it() -> None:
    def echo(request: httpx.Request) -> httpx.Response:
        return httpx.Response(400, json={"errorMessage": str(dict(request.headers))})

    async with answering(echo) as control:
        assert CONTROL_TOKEN not in repr(vars(control))
        with pytest.raises(ControlRefused) as refused:
            await control.send(PAUSE, ID)
    assert CONTROL_TOKEN not in str(refused.value)
    assert "[token]" in str(refused.value)
    assert refused.value.__context__ is None


@pytest.mark.parametrize(
    "members",
    [
        {"speed": "nan"},
        {"speed": "-1"},
        {"speed": "1e99"},
        {"time": "0001-01-01T00:00:00Z"},
        {"time": "9999-01-01T00:00:00Z"},
        {"time": 7},
        {"shocks": [{}]},
        {"replay": {"began": "never"}},
    ],
)
def test_a_state_of_no_use_is_refused(members: dict[str, object]) -> None:
    with pytest.raises(ControlRefused, match="cannot be read"):
        state_of({**ANSWER, **members})


def test_hostile_texts_of_the_state_are_harmless() -> None:
    state = state_of(
        {
            **ANSWER,
            "faults": ["\x1b[2J" + "x" * 9_999] * 999,
            "replay": {"scenario": "\u202efranc\x07", "instrument": "\x1b]0;owned"},
        }
    )
    assert state.replay is not None
    told = (*state.faults, state.replay.scenario, state.replay.instrument)
    assert all(each.isprintable() and len(each) <= 201 for each in told)
    assert len(state.faults) == 50


async def test_a_scenario_that_could_not_be_typed_is_left_out() -> None:
    named = {"start": ANSWER["time"], "instrument": "EUR_USD", "facts": "\x1b[31m"}
    listed = [{"name": name, **named} for name in ("fine", "\x1b[2Jbad", "", "y" * 999)]
    listed += [{"name": "no start"}, {"name": "late", **named, "start": "9999-01-01T00:00:00Z"}]
    async with answering(lambda _: httpx.Response(200, json={"scenarios": listed})) as control:
        found = await control.scenarios()
    assert [each.name for each in found] == ["fine"]
    assert found[0].facts.isprintable()


def write(folder: Path, name: str, text: str, mode: int = 0o600) -> None:
    (folder / name).write_text(text)
    (folder / name).chmod(mode)


def test_only_the_broker_of_this_folder_is_controlled(tmp_path: Path) -> None:
    os.chmod(tmp_path, 0o700)  # noqa: PTH101
    url = "http+unix:///run/practice.sock"
    assert control_in(tmp_path, url) is None
    write(tmp_path, "control.json", json.dumps({"url": url, "pid": 1}))
    write(tmp_path, "control-token", "secret-of-control\n")
    found = control_in(tmp_path, url)
    assert found is not None
    assert (found[0], found[1].reveal()) == (url, "secret-of-control")
    assert control_in(tmp_path, "https://api.example.com") is None
    write(tmp_path, "control.json", "[]")
    assert control_in(tmp_path, url) is None


def test_a_control_token_that_others_may_read_is_not_used(tmp_path: Path) -> None:
    os.chmod(tmp_path, 0o700)  # noqa: PTH101
    write(tmp_path, "control.json", json.dumps({"url": "http://127.0.0.1:8020"}))
    write(tmp_path, "control-token", "secret-of-control", mode=0o644)
    assert control_in(tmp_path, "http://127.0.0.1:8020") is None
