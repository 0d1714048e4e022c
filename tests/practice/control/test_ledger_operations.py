"""A replay is a side trip: the way back to the accounts that were left; the kept ledgers, which can be listed, opened, named and deleted."""

import json
from pathlib import Path
from typing import Any

import pytest

from keydesk_practice.__main__ import main
from keydesk_practice.broker.startup import open_broker
from keydesk_practice.ledger.kept_ledgers import (
    end_change,
    home_path,
    set_ledger_aside,
    undo_change,
)
from keydesk_practice.ledger.ledger_file import FILE_NAME
from keydesk_practice.ledger.sqlite_ledger import SqliteLedger
from keydesk_practice.options import Options
from support.controlled_broker import ControlledBroker, controlled_broker
from support.data.practice_market import instant, store_rates

JUNE_5, JUNE_6, AUGUST_5 = "2019-06-05T10:00Z", "2019-06-06T10:00Z", "2019-08-05T10:00Z"
PROTECTED: dict[str, Any] = {
    "stopLossOnFill": {"distance": "0.0005"},
    "takeProfitOnFill": {"distance": "0.0005"},
}


async def there_and_back(market: ControlledBroker) -> Any:  # noqa: ANN401 - JSON
    await market.control("POST", "/replay", scenario="franc")
    await market.buy("EUR_CHF")
    return await market.control("POST", "/replay", present=True)


async def test_the_way_back_from_a_replay_leads_to_the_accounts_that_were_left(
    tmp_path: Path,
) -> None:
    async with controlled_broker(tmp_path, JUNE_5) as market:
        await market.buy("EUR_USD")
        left, lines = await market.control("GET", "/state"), market.ledger_lines()
        state = await there_and_back(market)
        assert market.ledger_lines() == lines
        assert state["accounts"] == left["accounts"]
        assert (state["running"], state["speed"], state.get("replay")) == (True, "1", None)
        await market.buy("EUR_USD")


async def test_on_the_way_back_orders_and_trades_fare_as_if_nobody_had_been_away(
    tmp_path: Path,
) -> None:
    async with controlled_broker(tmp_path / "away", JUNE_5) as market:
        await market.buy("EUR_USD", **PROTECTED)
        await market.control("POST", "/replay", scenario="franc")
    async with controlled_broker(tmp_path / "away", JUNE_6) as market:
        await market.control("POST", "/replay", present=True)
        away = market.ledger_lines()
    async with controlled_broker(tmp_path / "closed", JUNE_5) as market:
        await market.buy("EUR_USD", **PROTECTED)
    async with controlled_broker(tmp_path / "closed", JUNE_6) as market:
        closed = market.ledger_lines()
    assert without_request_ids(away) == without_request_ids(closed)
    assert "STOP_LOSS_ORDER" in away[-2] or "TAKE_PROFIT_ORDER" in away[-2]


def without_request_ids(lines: list[str]) -> list[dict[str, Any]]:
    return [{**json.loads(one), "requestID": ""} for one in lines]


@pytest.mark.soak  # the usual run has the month by itself: `test_market_clock`
async def test_months_in_a_replay_cost_the_steps_of_a_month(tmp_path: Path) -> None:
    async with controlled_broker(tmp_path, JUNE_5) as market:
        await market.buy("EUR_USD")
        await market.control("POST", "/replay", scenario="franc")
    async with controlled_broker(tmp_path, AUGUST_5) as market:
        await market.control("POST", "/replay", present=True)
        assert market.broker.now() >= instant(AUGUST_5)
        financed = [one for one in market.ledger_lines() if '"type":"DAILY_FINANCING"' in one]
        assert 20 <= len(financed) <= 31


async def test_the_way_back_stands_after_a_restart_within_the_replay(tmp_path: Path) -> None:
    async with controlled_broker(tmp_path, JUNE_5) as market:
        await market.buy("EUR_USD")
        lines = market.ledger_lines()
        await market.control("POST", "/replay", scenario="franc")
    async with controlled_broker(tmp_path, "") as market:
        home = (await market.control("GET", "/state"))["replay"]["home"]
        assert (home["left"], home["accounts"][0]["openTrades"]) == (
            "2019-06-05T10:00:00.000000000Z",
            1,
        )
        await market.control("POST", "/replay", scenario="brexit")  # from one replay to another
        await market.control("POST", "/clock/pause")
    async with controlled_broker(tmp_path, JUNE_5) as market:
        await market.control("POST", "/replay", present=True)
        assert market.ledger_lines() == lines


async def test_without_a_replay_the_present_is_that_of_the_same_accounts(tmp_path: Path) -> None:
    async with controlled_broker(tmp_path, JUNE_5) as market:
        await market.buy("EUR_USD")
        lines = market.ledger_lines()
    async with controlled_broker(tmp_path, JUNE_5) as market:
        state = await market.control("POST", "/replay", present=True)
        assert (state["running"], state["ledgerNumber"], market.ledger_lines()) == (True, 0, lines)


async def test_accounts_of_two_replays_of_the_same_scenario_are_told_apart(tmp_path: Path) -> None:
    async with controlled_broker(tmp_path, JUNE_5) as market:
        created = []
        for _ in range(2):
            await market.control("POST", "/replay", scenario="franc")
            created.append((await market.v20("GET", "{a}"))["account"]["createdTime"])
            await market.control("POST", "/replay", present=True)
        assert created[0] != created[1]


async def test_kept_ledgers_are_listed_named_opened_and_deleted(tmp_path: Path) -> None:
    async with controlled_broker(tmp_path, JUNE_5) as market:
        await market.buy("EUR_USD")
        home_lines = market.ledger_lines()
        await market.control("POST", "/replay", scenario="franc", balance="5000")
        await market.buy("EUR_CHF")
        replay_lines = market.ledger_lines()
        await market.control("POST", "/replay", present=True)
        (kept,) = (await market.control("GET", "/ledgers"))["ledgers"]
        assert (kept["what"], kept["left"]) == ("replay franc", "2015-01-15T09:00:00.000000000Z")
        assert kept["accounts"][0]["openTrades"] == 1

        named = {"name": kept["name"], "newName": "first-franc"}
        (renamed,) = (await market.control("POST", "/ledgers/name", **named))["ledgers"]
        assert renamed["name"] == "first-franc"
        state = await market.control("POST", "/ledgers/open", name="first-franc")
        assert (state["running"], state["replay"]["scenario"]) == (False, "franc")
        assert market.ledger_lines() == replay_lines
        await market.control("POST", "/replay", present=True)
        assert market.ledger_lines() == home_lines

        (kept,) = (await market.control("GET", "/ledgers"))["ledgers"]
        assert await market.control("DELETE", f"/ledgers/{kept['name']}") == {"ledgers": []}
    assert not list((tmp_path / "data").glob("ledger-*"))


async def test_what_cannot_be_done_with_a_kept_ledger_is_refused_with_the_reason(
    tmp_path: Path,
) -> None:
    async with controlled_broker(tmp_path, JUNE_5) as market:
        await market.control("POST", "/replay", scenario="franc")
        await market.control("POST", "/replay", scenario="brexit")
        (kept,) = (
            one["name"]
            for one in (await market.control("GET", "/ledgers"))["ledgers"]
            if one["name"] != "home"
        )
        cases: tuple[tuple[str, str, int, dict[str, str], str], ...] = (
            ("POST", "/ledgers/open", 404, {"name": "x"}, "there is no kept ledger 'x'; kept are: home, "),
            ("POST", "/ledgers/name", 409, {"name": "home", "newName": "x"}, "cannot be renamed"),
            ("POST", "/ledgers/name", 409, {"name": kept, "newName": "../x"}, "use 1 to 64 letters"),
            ("POST", "/ledgers/name", 409, {"name": kept, "newName": "home"}, "other than 'home'"),
            ("POST", "/ledgers/name", 409, {"name": kept, "newName": kept}, "already"),
            ("DELETE", "/ledgers/home", 409, {}, "what this replay goes back to"),
            ("DELETE", "/ledgers/x", 404, {}, "no kept ledger 'x'"),
        )  # fmt: skip
        for method, path, status, members, reason in cases:
            refused = await market.control(method, path, status, **members)
            assert reason in refused["errorMessage"]
        file = next((tmp_path / "data").glob("ledger-*.sqlite3"))
        file.write_bytes(file.read_bytes().replace(b"CREATE", b"CR3ATE"))
        refused = await market.control("POST", "/ledgers/open", 409, name=kept)
        assert "damaged" in refused["errorMessage"]
        assert (await market.control("GET", "/state"))["replay"]["scenario"] == "brexit"


@pytest.mark.parametrize(
    "killed_after", ["the old one was moved", "a kept one was opened", "a new one was begun"]
)
def test_a_kill_while_ledgers_change_leaves_the_one_that_was_in_use(
    tmp_path: Path, killed_after: str
) -> None:
    store_rates(tmp_path)
    options = Options("serve", tmp_path, start=instant(JUNE_5), paused=True)
    open_broker(options, owners=1).close()
    kept = tmp_path / "ledger-kept.sqlite3"
    (tmp_path / FILE_NAME).rename(kept)
    content = kept.read_bytes()
    open_broker(options, owners=2).close()
    if killed_after == "a kept one was opened":
        set_ledger_aside(tmp_path, opened=kept)
    else:
        set_ledger_aside(tmp_path, as_home=True)
        if killed_after == "a new one was begun":
            SqliteLedger.open(tmp_path).close()
    broker = open_broker(options, owners=2)
    try:
        assert len(broker.sessions) == 4
    finally:
        broker.close()
    assert kept.read_bytes() == content
    assert not home_path(tmp_path).exists()
    assert undo_change(tmp_path) is False


def test_a_former_home_makes_room_and_is_kept(tmp_path: Path) -> None:
    store_rates(tmp_path)
    options = Options("serve", tmp_path, start=instant(JUNE_5), paused=True)
    for _ in range(2):
        open_broker(options, owners=1).close()
        set_ledger_aside(tmp_path, as_home=True)
        end_change(tmp_path)
    assert home_path(tmp_path).exists()
    assert len(list(tmp_path.glob("ledger-*.sqlite3"))) == 1


def test_kept_ledgers_are_handled_from_the_shell_while_no_broker_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store_rates(tmp_path)
    options = Options("serve", tmp_path, start=instant(JUNE_5), paused=True)
    open_broker(options, owners=1).close()

    def run(*words: str) -> str:
        assert main([*words, "--data", str(tmp_path)]) == 0
        return capsys.readouterr().out

    def said(*words: str) -> str:
        return run("ledgers", *words)

    assert said() == "No ledger is kept beside the one in use.\n"
    assert "kept as" in run("reset")
    kept = json.loads(said("--json"))["ledgers"][0]["name"]
    assert said("name", kept, "before").startswith("before ")
    listed = said("list")
    assert "account" in listed
    assert "left at 2019-06-05T10:00:00Z" in listed
    assert "101-001-1000001-001  USD balance 100000.0000  0 trades  0 orders" in listed
    content = (tmp_path / "ledger-before.sqlite3").read_bytes()
    said("open", "before")
    assert (tmp_path / FILE_NAME).read_bytes() == content
    open_broker(options, owners=1).close()
    assert "kept as" in run("reset")
    (again,) = (one["name"] for one in json.loads(said("--json"))["ledgers"])
    assert said("delete", again, "--yes") == "No ledger is kept beside the one in use.\n"


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["open"], "'open' lacks NAME: write ledgers open NAME"),
        (["name", "a"], "'name' lacks NEW: write ledgers name NAME NEW"),
        (["name"], "'name' lacks NAME and NEW: write ledgers name NAME NEW"),
        (["open", "a", "b"], "'open' takes no further 'b': write ledgers open NAME"),
        (["list", "a"], "'list' takes no further 'a': write ledgers list"),
        (["delete", "a"], "removes 'a' with its accounts for ever: add --yes"),
    ],
)
def test_a_command_about_ledgers_that_lacks_a_word_says_what_to_write(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], reason: str
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["ledgers", *words, "--data", str(tmp_path)])
    assert ended.value.code == 2
    assert reason in capsys.readouterr().err


def test_a_ledger_that_is_not_kept_is_refused_with_those_that_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["ledgers", "open", "x", "--data", str(tmp_path)]) == 1
    assert "there is no kept ledger 'x'; none is kept" in capsys.readouterr().err


async def test_what_a_replay_goes_back_to_is_not_deleted_while_no_broker_runs_either(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with controlled_broker(tmp_path, JUNE_5) as market:
        await market.control("POST", "/replay", scenario="franc")
    data = tmp_path / "data"
    assert main(["ledgers", "delete", "home", "--yes", "--data", str(data)]) == 1
    assert "what this replay goes back to: go back first" in capsys.readouterr().err
    assert (data / "home.sqlite3").exists()
