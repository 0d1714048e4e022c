"""Each script of client/examples runs as it stands, its broker's JSON line on standard input."""

import asyncio
import json
import subprocess
import sys
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest

from keydesk_client import sync
from keydesk_client._sync_bridge import SyncResource
from support.broker import PracticeServer
from support.forked import is_coverage_measured, run_script_forked

FOLDER = Path(__file__).parents[2] / "client" / "examples"

TOLD = {
    "accounts": ": ['CLIENT_CONFIGURE']",
    "books": "% of the positions are long",
    "bot": '"held": ',
    "candle_file": " candles after ",
    "candles": " minutes between ",
    "close_everything": "0 left",
    "orders": "not sent, because of price: price: 1.123456 has more than the 5 decimals of EUR_USD",
    "positions": "closed for ",
    "price_log": "EUR_USD,1.",
    "pricing": "EUR_USD: ",
    "recorder": "recorded 2, up to transaction 2",
    "reporter": "  difference 0.0000",
    "sending": "filled, trade ",
    "streams": "filled: 100 at ",
    "tables": "365 rows",
    "trades": " earned ",
    "trading": "full_vwap,pl,account_balance\n",
    "transactions": "True",
    "without_async": "filled, trade ",
}
"""What a script says when it went well."""


def test_each_area_has_its_script() -> None:
    kinds = (kind for kind in vars(sync).values() if isinstance(kind, type))
    waiting = {kind for kind in kinds if SyncResource in kind.__bases__}
    areas = {kind.__name__.lower() for kind in waiting - {sync.Sender}}
    scripts = {path.stem for path in FOLDER.iterdir() if path.suffix == ".py"}
    assert scripts == TOLD.keys()
    assert areas <= scripts


@pytest.mark.e2e
async def test_a_script_runs_as_a_program(desk_of_my_own: PracticeServer) -> None:
    assert TOLD["trading"] in await output_of(desk_of_my_own, "trading", is_program=True)


@pytest.mark.e2e
@pytest.mark.parametrize("name", sorted(TOLD.keys() - {"trading"}))
async def test_the_script_runs(
    name: str, desk_of_my_own: PracticeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert TOLD[name] in await output_of(desk_of_my_own, name)


@pytest.mark.e2e
async def test_the_recorder_continues_after_the_last_whole_line(
    desk_of_my_own: PracticeServer, tmp_path: Path
) -> None:
    record = tmp_path / "transactions.jsonl"
    record.write_bytes(b'{"id":"1"}\n{"id":"2","ty')  # killed while it wrote
    assert "continues after transaction 1" in await output_of(
        desk_of_my_own, "recorder", str(record), "1"
    )
    assert [json.loads(line)["id"] for line in record.read_text().splitlines()] == ["1", "2"]


@pytest.mark.e2e
async def test_a_file_of_candles_is_continued_behind_its_last_whole_line(
    desk_of_my_own: PracticeServer, tmp_path: Path
) -> None:
    file = tmp_path / "candles.csv"
    begin = (datetime.now(UTC) - timedelta(minutes=90)).isoformat()
    await output_of(desk_of_my_own, "candle_file", str(file), begin)
    lines = file.read_bytes().decode().splitlines(keepends=True)
    assert lines[0] == "time,open,high,low,close,volume,complete\r\n"
    assert len(lines) >= 80
    file.write_bytes(("".join(lines[:50]) + lines[50][:20]).encode())
    told = await output_of(desk_of_my_own, "candle_file", str(file), begin)
    assert lines[49].partition(",")[0] in told
    again = file.read_bytes().decode().splitlines(keepends=True)
    assert again[: len(lines)] == lines
    times = [line.partition(",")[0] for line in again]
    assert len(set(times)) == len(times)


async def output_of(
    desk: PracticeServer, name: str, *arguments: str, is_program: bool = False
) -> str:
    """Run a script until it ends, as a program with its own start of Python or without; return what it said."""
    place = {
        "rest_url": desk.rest_url,
        "stream_url": desk.stream_url,
        "token": desk.token,
        "accounts": [asdict(account) for account in desk.accounts],
    }
    script, stdin = FOLDER / f"{name}.py", json.dumps(place) + "\n"
    if is_program or is_coverage_measured():
        command = [sys.executable, "-W", "error", str(script), *arguments]
        run = partial(subprocess.run, command, input=stdin, capture_output=True, text=True)
        done = await asyncio.to_thread(run, check=False)
    else:
        done = await asyncio.to_thread(run_script_forked, script, arguments, stdin)
    assert done.stderr == ""
    assert done.returncode == 0
    return done.stdout
