"""`practice serve` as a program: its line, its files, its leaving, its coming back."""

import asyncio
import contextlib
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from keydesk_practice.__main__ import main
from support.broker import plain_client, practice_server, start_practice

SERVE = [sys.executable, "-m", "keydesk_practice.__main__"]


@pytest.mark.e2e
async def test_its_line_says_where_and_what(practice_folder: Path) -> None:
    async with practice_server(practice_folder) as practice:
        assert practice.rest_url == f"http+unix://{practice_folder}/s"
        assert practice.stream_url == practice.rest_url
        assert [(one.currency, one.hedging) for one in practice.accounts] == [
            ("USD", False),
            ("EUR", True),
        ]
        assert len(practice.token) == 64


@pytest.mark.e2e
async def test_its_line_lists_the_accounts_of_every_token(practice_folder: Path) -> None:
    (practice_folder / "tokens").write_text("second-token\n")
    words = ("--token", "first-token", "--token-file", str(practice_folder / "tokens"))
    async with practice_server(practice_folder, *words) as practice:
        assert [one["token"] for one in practice.tokens] == ["first-token", "second-token"]
        for one in practice.tokens:
            async with plain_client(practice.rest_url, one["token"]) as http:
                listed = (await http.get("/v3/accounts")).json()["accounts"]
            assert [account["id"] for account in one["accounts"]] == [own["id"] for own in listed]
        assert practice.tokens[0]["accounts"][0]["id"] == practice.account_id


def loaded_modules(code: str) -> set[str]:
    program = f"import sys, keydesk_practice.__main__; {code}; print('', *sys.modules)"
    command = [sys.executable, "-c", program]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return set(said.rpartition("\n ")[2].split())


@pytest.mark.e2e
def test_commands_to_a_running_broker_load_neither_market_nor_server() -> None:
    loaded = loaded_modules("keydesk_practice.__main__.main(['--help'])")
    assert "keydesk_practice.control.command_line" in loaded
    assert not {"numpy", "uvicorn", "keydesk_practice.broker.broker"}.intersection(loaded)


@pytest.mark.e2e
def test_a_broker_that_starts_loads_no_commands_to_a_running_one() -> None:
    loaded = loaded_modules("import keydesk_practice.server; print()")
    assert "keydesk_practice.broker.broker" in loaded
    assert not {f"keydesk_practice.control.{name}" for name in ("commands", "leaderboard")} & loaded


@pytest.mark.e2e
async def test_everything_it_makes_is_private(practice_folder: Path) -> None:
    async with practice_server(practice_folder) as practice:
        assert stat.S_IMODE((practice_folder / "s").stat().st_mode) == 0o600
        assert stat.S_IMODE(practice.data.stat().st_mode) == 0o700
        modes = {stat.S_IMODE(path.stat().st_mode) for path in practice.data.iterdir()}
        assert modes == {0o600}


@pytest.mark.e2e
async def test_it_leaves_cleanly_and_takes_its_socket_along(practice_folder: Path) -> None:
    async with practice_server(practice_folder) as practice:
        assert await practice.stop() == 0
        assert not (practice_folder / "s").exists()


@pytest.mark.e2e
async def test_it_comes_back_with_the_same_token_and_accounts(practice_folder: Path) -> None:
    async with practice_server(practice_folder) as first:
        await first.send("PATCH", "{a}/configuration", {"alias": "kept"})
        token, accounts = first.token, first.accounts
    async with practice_server(practice_folder) as again:
        assert (again.token, again.accounts) == (token, accounts)
        found = (await again.get("{a}/summary")).json()
        assert (found["account"]["alias"], found["lastTransactionID"]) == ("kept", "4")


@pytest.mark.e2e
async def test_a_killed_ones_socket_is_taken_over(practice_folder: Path) -> None:
    async with practice_server(practice_folder) as first:
        await first.kill()
        assert (practice_folder / "s").exists()
    async with practice_server(practice_folder) as again:
        assert (await again.get("/v3/accounts")).status_code == 200


@pytest.mark.e2e
async def test_a_second_one_on_the_same_ledger_says_so(practice_folder: Path) -> None:
    async with practice_server(practice_folder) as practice:
        second = await asyncio.create_subprocess_exec(
            *(*SERVE, "--data", str(practice.data), "--port", "0"), stderr=subprocess.PIPE
        )
        _, said = await second.communicate()
        assert second.returncode == 1
        assert b"is in use by another running practice broker" in said


@pytest.mark.e2e
async def test_an_address_in_use_is_refused(practice_folder: Path) -> None:
    async with practice_server(practice_folder) as practice:
        other = ["--data", str(practice_folder / "other"), "--uds", str(practice_folder / "s")]
        second = await asyncio.create_subprocess_exec(*SERVE, *other, stderr=subprocess.PIPE)
        _, said = await second.communicate()
        assert (second.returncode, b"is in use" in said) == (1, True)
        assert (await practice.get("/v3/accounts")).status_code == 200


@pytest.mark.e2e
async def test_it_leaves_when_its_parent_is_gone(practice_folder: Path) -> None:
    theirs, ours = os.pipe()
    child = await asyncio.create_subprocess_exec(
        *(*SERVE, "--data", str(practice_folder / "data"), "--uds", str(practice_folder / "s")),
        *("--parent-fd", str(theirs)),
        stdout=subprocess.PIPE,
        pass_fds=(theirs,),
    )
    os.close(theirs)
    assert child.stdout is not None
    await child.stdout.readline()
    os.close(ours)
    assert await asyncio.wait_for(child.wait(), 10) == 0


@pytest.mark.e2e
async def test_reset_begins_anew_and_keeps_the_old(practice_folder: Path) -> None:
    async with practice_server(practice_folder) as practice:
        data = practice.data
        await practice.send("PATCH", "{a}/configuration", {"alias": "old"})
        busy = await _reset(data)
        assert busy.returncode == 1
    done = await _reset(data)
    assert done.returncode == 0
    assert len(list(data.glob("ledger-*.sqlite3"))) == 1
    async with practice_server(practice_folder) as fresh:
        assert (await fresh.get("{a}/summary")).json()["lastTransactionID"] == "3"


async def _reset(data: Path) -> asyncio.subprocess.Process:
    command = [*SERVE, "reset", "--data", str(data)]
    process = await asyncio.create_subprocess_exec(
        *command, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    await process.communicate()
    return process


@pytest.mark.e2e
async def test_another_seed_is_another_market_and_needs_another_ledger(
    practice_folder: Path,
) -> None:
    async with practice_server(practice_folder, "--seed", "7"):
        pass
    async with practice_server(practice_folder, "--seed", "7"):
        pass
    with contextlib.suppress(AssertionError):
        server = await start_practice(practice_folder, "--seed", "8")
        await server.close()
        raise RuntimeError("started on a ledger of another market")


@pytest.mark.e2e
async def test_time_goes_on_from_where_the_ledger_is(practice_folder: Path) -> None:
    travel = ("--start", "2015-01-15T08:00Z", "--speed", "1000")
    async with practice_server(practice_folder, *travel) as practice:
        first = (await practice.get("{a}/pricing", instruments="EUR_USD")).json()["time"]
    assert first.startswith("2015-01-15T08:")
    async with practice_server(practice_folder, *travel) as practice:
        again = (await practice.get("{a}/pricing", instruments="EUR_USD")).json()["time"]
    assert again > first


@pytest.mark.e2e
async def test_own_candles_are_replayed_and_stay_needed(practice_folder: Path) -> None:
    file = practice_folder / "gold.csv"
    file.write_text(
        "".join(f"2020-03-0{day}T00:00Z,1500,1520,1490,151{day}\n" for day in range(2, 7))
    )
    gold = ("--candles", f"XAU_USD={file}", "--start", "2020-03-03T12:00Z")
    buy = {"order": {"type": "MARKET", "instrument": "XAU_USD", "units": "1"}}
    async with practice_server(practice_folder, *gold) as practice:
        quote = (await practice.get("{a}/pricing", instruments="XAU_USD")).json()["prices"][0]
        assert 1490 <= float(quote["closeoutBid"]) <= 1520
        assert "orderFillTransaction" in (await practice.send("POST", "{a}/orders", buy)).json()
    refused = await asyncio.create_subprocess_exec(
        *SERVE, "--data", str(practice_folder / "data"), "--port", "0", stderr=subprocess.PIPE
    )
    _, said = await refused.communicate()
    assert (refused.returncode, b"--candles XAU_USD=FILE" in said) == (1, True)
    async with practice_server(practice_folder, *gold) as practice:
        assert len((await practice.get("{a}/openTrades")).json()["trades"]) == 1


@pytest.mark.e2e
def test_without_a_ledger_on_a_server_nothing_of_postgresql_is_imported() -> None:
    code = (
        "import sys, keydesk_practice.__main__, keydesk_practice.server, keydesk_practice.control.command_line;"
        "print([name for name in sys.modules if 'psycopg' in name or 'postgres' in name])"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "[]"


@pytest.mark.parametrize("words", [["--help"], ["serve", "--help"]])
def test_help_that_the_disk_does_not_take_ends_with_1_and_a_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        monkeypatch.setattr(sys, "stdout", full)
        assert main(words) == 1
    assert capsys.readouterr().err == "keydesk practice: No space left on device\n"
