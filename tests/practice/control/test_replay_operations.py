"""Replays and checkpoints: fresh accounts at another time, and the way back."""

import errno
import os
import shutil
import time
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from keydesk_practice.broker.replay_facts import SCENARIOS
from keydesk_practice.ledger.sqlite_ledger import SqliteLedger
from keydesk_practice.market.bar_blocks import Component
from keydesk_practice.market.bar_builder import CandleSpec, Range
from keydesk_practice.options import nanoseconds
from support.controlled_broker import ControlledBroker, controlled_broker
from support.data.practice_market import practice_market

DAY = 86_400_000_000_000  # nanoseconds
NEW = "/v3/accounts/101-001-1000001-001"


async def test_every_scenario_begins_where_it_says(tmp_path: Path) -> None:
    async with controlled_broker(tmp_path) as market:
        listed = (await market.control("GET", "/scenarios"))["scenarios"]
        assert {one["name"] for one in listed} == set(SCENARIOS)
        for one in listed:
            state = await market.control("POST", "/replay", scenario=one["name"], keepLedger=False)
            assert state["time"] == one["start"]
            assert state["replay"]["scenario"] == one["name"]
            path = "{a}/pricing"
            price = await market.v20("GET", path, instruments=one["instrument"])
            assert price["time"] == one["start"]


@pytest.mark.parametrize("name", list(SCENARIOS))
def test_a_scenario_says_about_how_far_its_price_goes(name: str) -> None:
    scenario, market = SCENARIOS[name], practice_market()
    begin = nanoseconds(scenario.start)
    end = begin + scenario.days * DAY
    candles = market.candles(
        scenario.instrument, CandleSpec("H1"), Range(begin=begin, end=end, count=5000), end
    )
    prices = [each.prices[Component.MID] for each in candles]
    went = max(Decimal(each.h) for each in prices) - min(Decimal(each.l) for each in prices)
    pip = Decimal("0.01") if "JPY" in scenario.instrument else Decimal("0.0001")
    assert went / pip == pytest.approx(scenario.range_pips, rel=0.1)  # another seed, another path


async def test_a_replay_begins_with_fresh_accounts_and_keeps_the_old_ledger(
    tmp_path: Path,
) -> None:
    async with controlled_broker(tmp_path) as market:
        await market.buy("EUR_USD")
        state = await market.control("POST", "/replay", start="2016-06-23T20:00Z", balance="5000")
        assert [one["balance"] for one in state["accounts"]] == ["5000.0000", "5000.0000"]
        assert [one["lastTransaction"] for one in state["accounts"]] == ["3", "3"]
        assert (state["running"], state["accounts"][0]["openTrades"]) == (False, 0)
        await market.buy("GBP_USD")
    assert (tmp_path / "data" / "home.sqlite3").exists()


async def test_a_restart_goes_on_in_the_replay(tmp_path: Path) -> None:
    async with controlled_broker(tmp_path) as market:
        await market.control("POST", "/replay", random=True, draw=3, blind=True)
        await market.control("POST", "/shocks", kind="gap", instrument="ABC_XYZ", size="0.02")
        await market.control("POST", "/clock/step", candles=3)
        before = await market.control("GET", "/state")
        prices = await market.v20("GET", "{a}/pricing", instruments="ABC_XYZ")
    async with controlled_broker(tmp_path, "") as market:
        assert await market.control("GET", "/state") == before | {"ledgerNumber": 0}
        assert await market.v20("GET", "{a}/pricing", instruments="ABC_XYZ") == prices


async def test_a_restart_waits_where_a_replay_was_left_and_does_not_run_to_the_present(
    tmp_path: Path,
) -> None:
    async with controlled_broker(tmp_path) as market:
        await market.control("POST", "/replay", scenario="franc")
        await market.buy("EUR_CHF")
        left = await market.control("GET", "/state")
    async with controlled_broker(tmp_path, "", paused=False) as market:
        found = await market.control("GET", "/state")
    assert (found["time"], found["running"]) == (left["time"], False)
    assert found["accounts"] == left["accounts"]


async def test_the_present_ends_a_replay_and_runs(tmp_path: Path) -> None:
    async with controlled_broker(tmp_path, "") as market:
        await market.control("POST", "/replay", scenario="franc")
        state = await market.control("POST", "/replay", present=True)
        assert (state["running"], state["speed"], state.get("replay")) == (True, "1", None)
        assert abs(market.broker.now() - time.time_ns()) < 60_000_000_000
        refused = await market.control("POST", "/replay", 400, present=True, blind=True)
        assert "blind" in refused["errorMessage"]


async def test_the_same_draw_is_the_same_start(tmp_path: Path) -> None:
    async with controlled_broker(tmp_path) as market:
        times = [
            (await market.control("POST", "/replay", random=True, draw=draw))["time"][:19]
            for draw in (5, 5, 6)
        ]
    assert times[0] == times[1] != times[2]


async def everything(market: ControlledBroker) -> str:
    """Return all that a client can ask for, as text."""
    questions: tuple[tuple[str, dict[str, Any]], ...] = (
        ("/v3/accounts", {}),
        ("{a}", {}),
        ("{a}/instruments", {}),
        ("{a}/pricing", {"instruments": "ABC_XYZ", "includeHomeConversions": "true"}),
        ("{a}/transactions/sinceid", {"id": "0"}),
        ("/v3/instruments/ABC_XYZ/candles", {"granularity": "D", "price": "MBA", "count": "50"}),
        ("/v3/instruments/ABC_XYZ/orderBook", {}),
    )
    answers = [await market.v20("GET", path, **query) for path, query in questions]
    return str([*answers, await market.control("GET", "/state")])


async def test_a_blind_replay_shows_neither_instrument_nor_date(tmp_path: Path) -> None:
    async with controlled_broker(tmp_path) as market:
        scenario: dict[str, Any] = {"scenario": "franc", "blind": True}
        state = await market.control("POST", "/replay", **scenario)
        assert state["replay"].keys() == {"blind", "finished", "home"}
        await market.buy("ABC_XYZ", "10000", stopLossOnFill={"distance": "0.0100"})
        await market.control("POST", "/clock/step", granularity="M5", candles=7)
        seen = await everything(market)
        assert [word for word in ("CHF", "2015-", "franc") if word in seen] == []
        for hidden in ("EUR_CHF", "EUR_USD"):
            await market.v20("GET", f"/v3/instruments/{hidden}/candles", expect=404)
        shown = await market.control("POST", "/replay/finish")
    assert shown["replay"]["instrument"] == "EUR_CHF"
    assert shown["replay"]["realTime"] == "2015-01-15T09:35:00.000000000Z"
    assert shown["accounts"][0]["openTrades"] == 0  # the stop was filled at 09:30


async def test_a_blind_trade_earns_what_the_real_one_does(tmp_path: Path) -> None:
    results = []
    for blind, name in ((False, "USD_JPY"), (True, "ABC_XYZ")):
        async with controlled_broker(tmp_path / str(blind)) as market:
            await market.control("POST", "/replay", scenario="yen-2022", blind=blind)
            await market.buy(name, "10000")
            state = await market.control("POST", "/clock/jump", time=_later(market, minutes=15))
            results.append(Decimal(state["accounts"][0]["nav"]) - 100_000)
    assert abs(results[0]) > 1
    assert results[1] == pytest.approx(results[0], abs=Decimal("0.5"))


def _later(market: ControlledBroker, minutes: int) -> str:
    return f"{market.broker.now() // 1_000_000_000 + minutes * 60}"


async def test_a_blind_candle_closes_at_the_blind_price(tmp_path: Path) -> None:
    async with controlled_broker(tmp_path) as market:
        await market.control("POST", "/replay", random=True, draw=9, blind=True)
        query: dict[str, Any] = {"granularity": "M1", "price": "BA", "count": "1"}
        for _ in range(5):
            await market.control("POST", "/clock/step", granularity="S30")
            candle = (await market.v20("GET", "/v3/instruments/ABC_XYZ/candles", **query))[
                "candles"
            ][0]
            price = (await market.v20("GET", "{a}/pricing", instruments="ABC_XYZ"))["prices"][0]
            assert (candle["bid"]["c"], candle["ask"]["c"]) == (
                price["bids"][0]["price"],
                price["asks"][0]["price"],
            ) or not candle["complete"]


async def test_only_a_replay_can_be_finished(tmp_path: Path) -> None:
    async with controlled_broker(tmp_path) as market:
        refused = await market.control("POST", "/replay/finish", 409)
        assert "no replay" in refused["errorMessage"]


async def test_a_checkpoint_brings_back_time_accounts_and_shocks(tmp_path: Path) -> None:
    async with controlled_broker(tmp_path) as market:
        await market.buy("EUR_USD")
        await market.control("POST", "/shocks", kind="gap", instrument="EUR_USD", size="-0.01")
        await market.control("POST", "/clock/step")
        saved, lines = await market.control("GET", "/state"), market.ledger_lines()
        assert await market.control("POST", "/checkpoints", name="before") == {
            "checkpoints": ["before"]
        }
        await market.control("POST", "/clock/step", granularity="M5")
        await market.buy("EUR_USD", "-500")
        assert await market.control("POST", "/checkpoints/restore", name="before") == saved | {
            "ledgerNumber": 1
        }
        assert market.ledger_lines() == lines
        missing = await market.control("POST", "/checkpoints/restore", 404, name="never")
        assert "before" in missing["errorMessage"]


async def test_a_damaged_checkpoint_is_refused_and_the_market_goes_on(tmp_path: Path) -> None:
    async with controlled_broker(tmp_path) as market:
        await market.buy("EUR_USD")
        for name in ("flipped", "garbage"):
            await market.control("POST", "/checkpoints", name=name)
        folder = next(tmp_path.rglob("checkpoints"))
        flipped = (
            (folder / "flipped.sqlite3").read_bytes().replace(b"CLIENT_ORDER", b"CLIENT_0RDER")
        )
        (folder / "flipped.sqlite3").write_bytes(flipped)
        (folder / "garbage.sqlite3").write_bytes(b"no ledger" * 1_000)
        before = market.ledger_lines(), sorted(folder.parent.iterdir())
        for name in ("flipped", "garbage"):
            refused = await market.control("POST", "/checkpoints/restore", 409, name=name)
            assert f"'{name}' is damaged" in refused["errorMessage"]
        assert (market.ledger_lines(), sorted(folder.parent.iterdir())) == before
        await market.buy("EUR_USD")
        assert market.stopped == []


@pytest.mark.parametrize("request_body", [{"scenario": "franc"}, {"name": "saved"}])
async def test_a_replay_or_checkpoint_that_cannot_begin_leaves_the_market_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request_body: dict[str, Any]
) -> None:
    async with controlled_broker(tmp_path) as market:
        await market.buy("EUR_USD")
        await market.control("POST", "/checkpoints", name="saved")
        await market.buy("EUR_USD")
        before = market.ledger_lines(), await market.control("GET", "/state")
        path = "/checkpoints/restore" if "name" in request_body else "/replay"
        with monkeypatch.context() as full_disk:
            full_disk.setattr(shutil, "copyfile", _no_space)
            full_disk.setattr(SqliteLedger, "create_account", _no_space)
            refused = await market.control("POST", path, 503, **request_body)
        assert "No space left" in refused["errorMessage"]
        assert before[0] == market.ledger_lines()
        assert await market.control("GET", "/state") | {"ledgerNumber": 0} == before[1]
        await market.buy("EUR_USD")
        await market.control("POST", path, **request_body)
        assert market.stopped == []


def _no_space(*_: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


async def test_streams_end_when_another_replay_begins(tmp_path: Path) -> None:
    async with controlled_broker(tmp_path) as market:
        session = next(iter(market.broker.sessions.values()))
        stream = session.transactions.join(unix_times=False)
        prices = market.broker.prices.join(["EUR_USD"], None, unix_times=False)
        await market.control("POST", "/replay", scenario="brexit")
        assert stream.closed
        assert prices.closed


async def test_a_price_stream_of_the_market_before_neither_stops_nor_sees_the_one_after(
    tmp_path: Path,
) -> None:
    async with controlled_broker(tmp_path) as market:
        prices = market.broker.prices.join(["EUR_USD", "EUR_SEK"], None, unix_times=False)
        await market.control("POST", "/replay", scenario="franc", blind=True)
        await market.control("POST", "/clock/step", candles=2)
        assert (market.broker.prices.snapshot(prices), prices.take()) == (b"", b"")
        market.broker.prices.leave(prices)
        again = market.broker.prices.join(["ABC_XYZ"], None, unix_times=False)
        await market.control("POST", "/clock/step", candles=2)
        assert b"ABC_XYZ" in again.take()
