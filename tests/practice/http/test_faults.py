"""Faults on demand: each fault happens when it is on, is reported, and is gone when it is off."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from keydesk_practice.control.client import ControlClient
from keydesk_practice.control.fault_files import read_profile
from keydesk_practice.errors import FaultFileError
from keydesk_practice.http.faults import PROFILES, FaultProfile, Faults
from support.broker import PracticeServer, practice_server
from support.controlled_broker import ACCOUNT, CONTROL_TOKEN, ControlledBroker, controlled_broker

ORDER = {"order": {"type": "MARKET", "instrument": "EUR_USD", "units": "100"}}


async def statuses(market: ControlledBroker, count: int = 40) -> set[int]:
    async with market.client() as http:
        return {(await http.get("/v3/accounts")).status_code for _ in range(count)}


async def use(market: ControlledBroker, **profile: Any) -> Any:  # noqa: ANN401 - JSON
    return await market.control("PUT", "/faults", profile=profile)


async def test_errors_come_as_often_as_told_and_are_reported(tmp_path: Path) -> None:
    async with controlled_broker(tmp_path) as market:
        assert "faults" not in (await market.control("GET", "/state")) or not (
            await market.control("GET", "/state"))["faults"]  # fmt: skip
        state = await use(market, error429=0.2, error502=0.2, error503=0.2)
        assert state["faults"] == ["error 429 20%", "error 502 20%", "error 503 20%"]
        assert await statuses(market) == {200, 429, 502, 503}
        state = await market.control("DELETE", "/faults")
        assert state["faults"] == []
        assert await statuses(market) == {200}


async def test_maintenance_answers_nothing_but_the_control(tmp_path: Path) -> None:
    async with controlled_broker(tmp_path) as market:
        await market.control("PUT", "/faults", name="maintenance")
        async with market.client() as http:
            answer = await http.get("/v3/accounts")
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
        assert (await market.control("GET", "/state"))["faults"] == ["maintenance"]


async def test_latency_is_waited_for(tmp_path: Path) -> None:
    async with controlled_broker(tmp_path) as market:
        await use(market, latencyMs=30, jitterMs=5)
        began = time.monotonic()
        await market.v20("GET", "/v3/accounts", expect=200)
        assert time.monotonic() - began >= 0.03


async def test_a_read_just_after_a_write_does_not_know_of_it(tmp_path: Path) -> None:
    async with controlled_broker(tmp_path) as market:
        await use(market, readLagMs=60_000)
        fill = await market.buy("EUR_USD")
        resting = {"type": "LIMIT", "instrument": "EUR_USD", "units": "1", "price": "0.5"}
        order = await market.v20("POST", "{a}/orders", {"order": resting}, expect=201)
        created = order["orderCreateTransaction"]["id"]
        await market.v20("GET", f"{{a}}/orders/{created}", expect=404)
        await market.v20("GET", f"{{a}}/orders/{fill['orderID']}", expect=404)
        await market.v20("GET", f"{{a}}/transactions/{fill['id']}", expect=404)
        account = (await market.v20("GET", "{a}"))["account"]
        assert (account["openTradeCount"], account["lastTransactionID"]) == (0, "3")
        await market.control("DELETE", "/faults")
        await market.v20("GET", f"{{a}}/orders/{created}", expect=200)


async def test_a_requoted_order_is_cancelled_for_want_of_liquidity(tmp_path: Path) -> None:
    async with controlled_broker(tmp_path) as market:
        await use(market, requotes=1)
        made = await market.v20("POST", "{a}/orders", ORDER, expect=201)
        assert made["orderCancelTransaction"]["reason"] == "INSUFFICIENT_LIQUIDITY"
        await market.control("DELETE", "/faults")
        assert "orderFillTransaction" in await market.v20("POST", "{a}/orders", ORDER)


async def test_the_same_requests_meet_the_same_faults(tmp_path: Path) -> None:
    async with controlled_broker(tmp_path) as market, market.client() as http:
        runs = []
        for _ in range(2):
            await use(market, error502=0.3, error503=0.3, seed=7)
            runs.append([(await http.get("/v3/accounts")).status_code for _ in range(30)])
    assert runs[0] == runs[1]


@pytest.mark.parametrize(
    "body", [{}, {"name": "flood"}, {"profile": {"lost": 2}}, {"profile": {"latencyMs": -1}},
             {"name": "bad-day", "profile": {}}, {"profile": {"lots": 1}}]
)  # fmt: skip
async def test_a_profile_out_of_range_changes_nothing(tmp_path: Path, body: dict[str, Any]) -> None:
    async with controlled_broker(tmp_path) as market:
        async with market.client(CONTROL_TOKEN) as http:
            assert (await http.put("/control/v1/faults", json=body)).status_code == 400
        assert await statuses(market, 5) == {200}


@pytest.mark.e2e
async def test_a_lost_answer_leaves_its_order_and_a_refused_request_does_not(
    practice_folder: Path,
) -> None:
    async with practice_server(practice_folder) as practice:
        control = ControlClient.of_data_folder(practice.data)
        for profile, left in (({"refused": 1}, "3"), ({"lost": 1}, "5")):
            control.call("PUT", "/faults", {"profile": profile})
            with pytest.raises(httpx.TransportError):
                await practice.send("POST", "{a}/orders", ORDER)
            control.call("DELETE", "/faults")
            account = (await practice.get("{a}")).json()["account"]
            assert account["lastTransactionID"] == left
        await streams_are_cut_repeated_and_muted(practice, control)


async def streams_are_cut_repeated_and_muted(
    practice: PracticeServer, control: ControlClient
) -> None:
    path = f"/v3/accounts/{practice.account_id}/transactions/stream"
    control.call("PUT", "/faults", {"profile": {"duplicates": 1, "lateMs": 1}})
    async with practice.http.stream("GET", path) as answer:
        lines = answer.aiter_lines()
        assert json.loads(await anext(lines))["type"] == "HEARTBEAT"
        await practice.send("POST", "{a}/orders", ORDER)
        ids = [json.loads(await anext(lines))["id"] for _ in range(4)]
    assert ids == ["6", "6", "7", "7"]
    prices = f"/v3/accounts/{practice.account_id}/pricing/stream?instruments=EUR_USD"
    control.call("PUT", "/faults", {"profile": {"cutStreamsS": 0.01}})
    with pytest.raises(httpx.TransportError):
        await read_on(practice, prices)
    control.call("PUT", "/faults", {"profile": {"muteStreamsS": 0.01}})
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(read_on(practice, prices), 0.5)
    await an_open_stream_is_cut_and_muted_too(practice, control)


async def an_open_stream_is_cut_and_muted_too(
    practice: PracticeServer, control: ControlClient
) -> None:
    control.call("DELETE", "/faults")
    prices = f"/v3/accounts/{practice.account_id}/pricing/stream?instruments=EUR_USD"
    async with practice.http.stream("GET", prices) as answer:
        lines = answer.aiter_lines()
        await anext(lines)
        control.call("PUT", "/faults", {"profile": {"muteStreamsS": 0.01}})
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(_read_all(lines), 0.5)
        control.call("DELETE", "/faults")
    async with practice.http.stream("GET", prices) as answer:
        lines = answer.aiter_lines()
        await anext(lines)
        control.call("PUT", "/faults", {"profile": {"cutStreamsS": 0.01}})
        with pytest.raises(httpx.TransportError):
            await _read_all(lines)


async def _read_all(lines: AsyncIterator[str]) -> None:
    async for _ in lines:
        pass


async def read_on(practice: PracticeServer, path: str) -> None:
    """Read a stream for as long as it lasts."""
    async with practice.http.stream("GET", path) as answer:
        async for _ in answer.aiter_lines():
            pass


def test_profiles_are_read_by_name_or_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "slow.toml"
    file.write_text("latency-ms = 250\nlost = 0.5\nerror_503 = 0.1\n")
    assert read_profile("bad-day") is PROFILES["bad-day"]
    assert read_profile(str(file)) == FaultProfile(latency_ms=250, lost=0.5, error_503=0.1)


@pytest.mark.parametrize("content", ["lost = 2", "lots = 1", "lost = ", None])
def test_a_wrong_profile_file_is_refused(tmp_path: Path, content: str | None) -> None:
    file = tmp_path / "wrong.toml"
    if content is not None:
        file.write_text(content)
    with pytest.raises(FaultFileError, match=r"wrong\.toml"):
        read_profile(str(file))


def test_a_profile_is_told_in_words() -> None:
    told = FaultProfile(mute_streams_s=2, late_ms=30, error_503=0.5).texts()
    assert told == ("error 503 50%", "mute streams 2 s", "late 30 ms")


def test_nothing_is_on_by_default() -> None:
    assert not Faults().active
    assert FaultProfile().texts() == ()
    assert all(one.problem() is None and one.texts() for one in PROFILES.values())
    assert ACCOUNT
