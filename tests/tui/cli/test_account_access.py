"""Commands that look at an account, from a shell: status, export, chart, doctor."""

import asyncio
import csv
import json
import os
import pty
import re
import stat
import subprocess
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from keydesk.cli.reading.chart import colours_of_candles
from keydesk.cli.reading.chart import has_colours as chart_has_colours
from keydesk.settings import theme_data
from support.broker import PracticeServer, practice_server
from support.fakes.talking_server import talking_server
from support.signing_in import Home

BUY = {"type": "MARKET", "instrument": "EUR_USD", "units": "1000"}
COMMENTED = {"id": "=1+1", "tag": "plan", "comment": "@me \x1b[31m"}


@pytest.fixture
def home(tmp_path: Path, desk_of_my_own: PracticeServer) -> Home:
    """A home that is signed in to the broker as `main`."""
    home = Home(tmp_path / "home")
    home.signed_in("main", desk_of_my_own)
    return home


async def trade(practice: PracticeServer) -> None:
    """One trade with a stop and odd words, one closed, one entry order."""
    stop = {"stopLossOnFill": {"distance": "0.0100"}, "tradeClientExtensions": COMMENTED}
    opened = await practice.send("POST", "{a}/orders", {"order": BUY | stop})
    assert opened.status_code == 201, opened.text
    closed = await practice.send("POST", "{a}/orders", {"order": BUY | {"instrument": "USD_JPY"}})
    trade_id = closed.json()["orderFillTransaction"]["tradeOpened"]["tradeID"]
    await practice.send("PUT", f"{{a}}/trades/{trade_id}/close", {"units": "ALL"})
    limit = {"type": "LIMIT", "instrument": "EUR_USD", "units": "-500", "price": "9.00000"}
    await practice.send("POST", "{a}/orders", {"order": limit})


def in_zone(home: Home, name: str) -> None:
    """Set the trader's time zone."""
    path = home.folder / "config.toml"
    others = [line for line in path.read_text().splitlines() if not line.startswith("timezone")]
    path.write_text("\n".join([f'timezone = "{name}"', *others]) + "\n")


@pytest.mark.e2e
async def test_status_shows_the_account_in_one_screenful(
    desk_of_my_own: PracticeServer, home: Home
) -> None:
    await trade(desk_of_my_own)
    done = home.run_program("status", "--profile", "main", *home.unlocked)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith(f"LIVE  main  account {desk_of_my_own.account_id} Practice  USD")
    assert "1 trade" in lines
    assert "LONG 1,000 EUR/USD @ " in done.stdout
    assert " SL " in done.stdout
    assert "1 entry order" in lines
    assert "LIMIT SELL 500 EUR/USD @ 9.00000" in done.stdout
    assert len(lines) < 24


@pytest.mark.e2e
async def test_status_has_the_time_of_the_broker(practice_folder: Path, tmp_path: Path) -> None:
    start = ("--start", "2015-01-15T09:29:00Z", "--paused")
    async with practice_server(practice_folder, *start) as practice:
        home = Home(tmp_path / "home")
        home.signed_in("main", practice)
        done = home.run("status", "--profile", "main", *home.unlocked)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0].endswith("netting  2015-01-15 09:29:00 UTC")


@pytest.mark.e2e
async def test_status_as_json_has_every_number_exactly_as_the_broker_wrote_it(
    desk_of_my_own: PracticeServer, home: Home
) -> None:
    await trade(desk_of_my_own)
    done = home.run("status", "--profile", "main", "--json", *home.unlocked)
    said = json.loads(done.stdout)
    assert (said["profile"], said["environment"]) == ("main", "LIVE")
    there = (await desk_of_my_own.get("{a}")).json()["account"]
    assert said["account"]["balance"] == there["balance"]
    assert [each["price"] for each in said["account"]["trades"]] == [there["trades"][0]["price"]]


@pytest.mark.e2e
async def test_a_loss_keeps_its_minus_where_there_is_only_ascii(
    desk_of_my_own: PracticeServer, home: Home
) -> None:
    await trade(desk_of_my_own)
    words = ["status", "--profile", "main", *home.unlocked]
    done = home.run(*words, PYTHONIOENCODING="ascii")
    assert done.returncode == 0, done.stderr
    assert "open P/L -" in done.stdout
    assert "?" not in done.stdout


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def export(home: Home, what: str, path: Path, *more: str) -> list[dict[str, str]]:
    done = home.run("export", what, "--profile", "main", "--csv", str(path), *more, *home.unlocked)
    assert done.returncode == 0, done.stderr
    return rows_of(path)


@pytest.mark.e2e
async def test_trades_are_exported_open_and_closed_and_no_cell_is_a_formula(
    desk_of_my_own: PracticeServer, home: Home, tmp_path: Path
) -> None:
    await trade(desk_of_my_own)
    path = tmp_path / "trades.csv"
    first, second = export(home, "trades", path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert (first["state"], second["state"]) == ("OPEN", "CLOSED")
    assert first["clientID"] == "'=1+1"
    assert first["comment"].startswith("'@me ")
    assert "\x1b" not in path.read_text()
    there = (await desk_of_my_own.get("{a}/trades", state="CLOSED")).json()["trades"][0]
    assert second["realizedPL"] == there["realizedPL"]
    assert second["closeTime"] == there["closeTime"]


@pytest.mark.e2e
async def test_transactions_are_exported_in_order_and_within_their_time(
    desk_of_my_own: PracticeServer, home: Home, tmp_path: Path
) -> None:
    await trade(desk_of_my_own)
    every = export(home, "transactions", tmp_path / "all.csv")
    assert [row["id"] for row in every] == [str(number + 1) for number in range(len(every))]
    later = every[4]["time"]
    from_then = export(home, "transactions", tmp_path / "later.csv", "--from", later)
    before = export(home, "transactions", tmp_path / "before.csv", "--to", later)
    assert from_then[0]["time"] == later
    assert [*before, *from_then] == every


@pytest.mark.e2e
async def test_a_typed_time_is_in_the_zone_of_the_trader_and_the_file_is_in_utc(
    desk_of_my_own: PracticeServer, home: Home, tmp_path: Path
) -> None:
    await trade(desk_of_my_own)
    in_zone(home, "Asia/Tokyo")
    every = export(home, "transactions", tmp_path / "all.csv")
    assert {row["time"][-1] for row in every} == {"Z"}
    later = datetime.fromisoformat(every[4]["time"][:19] + "+00:00")
    local = later.astimezone(ZoneInfo("Asia/Tokyo")).replace(tzinfo=None)
    ways = [later.isoformat(), local.isoformat()]
    first, second = (
        export(home, "transactions", tmp_path / f"{n}.csv", "--from", way)
        for n, way in enumerate(ways)
    )
    assert first == second
    assert len(first) >= len(every) - 4
    day = [local.date() + timedelta(days=n) for n in (0, 1)]
    between = ("--from", str(day[0]), "--to", str(day[1]))
    assert export(home, "transactions", tmp_path / "day.csv", *between)[-1] == every[-1]


@pytest.mark.e2e
async def test_daily_balances_add_up(
    desk_of_my_own: PracticeServer, home: Home, tmp_path: Path
) -> None:
    await trade(desk_of_my_own)
    days = export(home, "equity", tmp_path / "equity.csv")
    balance = Decimal(0)
    for day in days:
        raised = sum(Decimal(day[name]) for name in ("realizedPL", "financing", "transfers"))
        lowered = Decimal(day["commission"]) + Decimal(day["guaranteedExecutionFee"])
        balance += raised - lowered + Decimal(day["other"])
        assert Decimal(day["balance"]) == balance
        assert Decimal(day["other"]) == 0
    there = (await desk_of_my_own.get("{a}/summary")).json()["account"]
    assert days[-1]["balance"] == there["balance"]


@pytest.mark.e2e
def test_an_export_writes_over_nothing_without_being_told(home: Home, tmp_path: Path) -> None:
    path = tmp_path / "trades.csv"
    path.write_text("mine")
    words = ["export", "trades", "--profile", "main", "--csv", str(path), *home.unlocked]
    done = home.run(*words)
    assert (done.returncode, "is there already" in done.stderr) == (1, True)
    assert path.read_text() == "mine"
    assert home.run(*words, "--force").returncode == 0
    assert path.read_text().startswith("id,instrument,")
    assert "there is no folder" in home.run(*words[:-3], "/no/where.csv", *home.unlocked).stderr


@pytest.mark.e2e
def test_a_dash_is_standard_output(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = home.run_program("export", "trades", "--profile", "main", "--csv", "-", *home.unlocked)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("id,instrument,")
    assert "rows" in done.stderr
    assert not (tmp_path / "-").exists()


@pytest.mark.e2e
@pytest.mark.parametrize("more", [[], ["--force"]])
def test_a_pipe_is_written_to_and_stays_a_pipe(home: Home, tmp_path: Path, more: list[str]) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    words = ["export", "trades", "--profile", "main", "--csv", str(pipe), *more]
    reading = subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE, text=True)
    done = home.run(*words, *home.unlocked)
    out, _ = reading.communicate(timeout=300)
    assert done.returncode == 0, done.stderr
    assert out.startswith("id,instrument,")
    assert pipe.is_fifo()


@pytest.mark.e2e
def test_a_time_that_is_none_ends_with_2(home: Home, tmp_path: Path) -> None:
    words = ["export", "trades", "--profile", "main", "--csv", str(tmp_path / "x.csv")]
    assert "'soon' is not a time" in home.run(*words, "--from", "soon").stderr
    both = home.run(*words, "--from", "2026-01-02", "--to", "2026-01-01")
    assert (both.returncode, "--to must be later" in both.stderr) == (2, True)


@pytest.mark.e2e
def test_a_chart_is_printed_without_colours_where_there_is_no_terminal(home: Home) -> None:
    words = ["chart", "eur/usd", "--granularity", "D", "--count", "30", "--profile", "main"]
    done = home.run_program(*words, *home.unlocked)
    assert done.returncode == 0, done.stderr
    assert "EUR/USD D " in done.stdout.splitlines()[0]
    assert "\x1b" not in done.stdout
    assert "█" in done.stdout


@pytest.mark.parametrize(
    ("environment", "has_colours"),
    [
        ({"TERM": "xterm"}, True),
        ({"TERM": "dumb"}, False),
        ({}, False),
        ({"TERM": "xterm", "NO_COLOR": "1"}, False),
    ],
)
def test_a_chart_has_colours_where_the_terminal_shows_them(
    environment: dict[str, str], has_colours: bool
) -> None:
    ours, theirs = pty.openpty()
    with os.fdopen(theirs, "w") as terminal:
        assert chart_has_colours(terminal, environment) == has_colours
    os.close(ours)


def test_a_chart_has_the_colours_of_the_theme() -> None:
    assert colours_of_candles("dark", "truecolor") == ((0x5F, 0xBF, 0x83), (0xC2, 0x50, 0x4F))
    assert colours_of_candles("colour-blind", "truecolor") != colours_of_candles(
        "dark", "truecolor"
    )
    own = theme_data.read("dark").changed("mine", {"rise": "#010203"}, {}, {}, {})
    assert colours_of_candles("mine", "truecolor", {"mine": own})[0] == (1, 2, 3)
    assert colours_of_candles("dark", "16") == ("green+", "red")
    assert colours_of_candles("no-such-theme", "truecolor") == ("green+", "red")


@pytest.mark.e2e
@pytest.mark.parametrize("typed", ["eurusd", "EURUSD", "eur/usd", "eur_usd"])
def test_a_chart_takes_a_name_as_it_is_written_on_the_desk(home: Home, typed: str) -> None:
    done = home.run("chart", typed, "--profile", "main", *home.unlocked)
    assert done.returncode == 0, done.stderr
    assert "EUR/USD H1" in done.stdout.splitlines()[0]


@pytest.mark.e2e
@pytest.mark.parametrize("granularity", ["H1", "D"])
def test_a_chart_has_its_times_in_the_zone_of_the_trader_which_is_named(
    home: Home, granularity: str
) -> None:
    words = ["chart", "EUR_USD", "--granularity", granularity, "--count", "30"]
    drawn = []
    for zone in ("UTC", "Asia/Tokyo"):
        in_zone(home, zone)
        done = home.run(*words, "--profile", "main", *home.unlocked)
        assert done.returncode == 0, done.stderr
        drawn.append(done.stdout.splitlines())
    utc, tokyo = drawn
    assert utc[0].rstrip().endswith(" UTC")
    assert tokyo[0].rstrip().endswith(" JST")
    hours = [re.findall(r" (\d\d):00", "\n".join(lines)) for lines in drawn]
    assert [(int(hour) + 9) % 24 for hour in hours[0]] == [int(hour) for hour in hours[1]]
    assert bool(hours[0]) is (granularity == "H1")


@pytest.mark.e2e
@pytest.mark.parametrize(
    ("text", "code", "sentence"),
    [
        ("chart FOO_BAR", 2, "FOO_BAR is not an instrument of this account"),
        ("chart EUR-USD", 2, "is not an instrument such as EUR_USD"),
        ("chart ZZZZZ", 2, "ZZZZZ is not an instrument of this account"),
        ("chart EUR_USD --granularity M7", 2, "invalid choice"),
        ("chart EUR_USD --count 0", 2, "whole number from 1 to 5000"),
    ],
)
def test_a_chart_that_cannot_be_is_refused(home: Home, text: str, code: int, sentence: str) -> None:
    done = home.run(*text.split(), "--profile", "main", *home.unlocked)
    assert (done.returncode, sentence in done.stderr) == (code, True)


@pytest.mark.e2e
def test_the_doctor_finds_a_broker_that_answers(home: Home) -> None:
    done = home.run_program("doctor", "--profile", "main", "--json", *home.unlocked)
    said = json.loads(done.stdout)
    assert (done.returncode, said["ok"]) == (0, True)
    assert all(set(check) == {"name", "verdict", "words"} for check in said["checks"])
    found = {check["name"]: check["verdict"] for check in said["checks"]}
    assert found["broker"] == found["clock"] == found["disk"] == found["settings"] == "ok"


@pytest.mark.e2e
def test_the_doctor_ends_with_1_when_the_broker_is_away(home: Home) -> None:
    settings = home.folder / "config.toml"
    url = json.dumps("http://127.0.0.1:1")
    lines = [
        f"rest_url = {url}" if line.startswith("rest_url") else line
        for line in settings.read_text().splitlines()
    ]
    settings.write_text("\n".join(lines))
    done = home.run("doctor", "--profile", "main", *home.unlocked)
    assert done.returncode == 1
    assert "BAD  broker" in done.stdout


@pytest.mark.e2e  # the client asks again after pauses
@pytest.mark.parametrize(
    "command", [("status",), ("journal",), ("export", "trades", "--csv", "{out}")]
)
async def test_a_broker_that_fails_is_named_with_a_remedy_and_leaves_no_file(
    tmp_path: Path, desk_of_my_own: PracticeServer, command: tuple[str, ...]
) -> None:
    home, out = Home(tmp_path / "home"), tmp_path / "out.csv"
    words = [word.format(out=out) for word in command]
    async with talking_server(overloaded) as url:
        home.signed_in("main", desk_of_my_own, rest_url=url)
        done = await asyncio.to_thread(home.run, *words, "--profile", "main", *home.unlocked)
    assert done.returncode == 4
    assert f"the broker at {url} failed: 503: overloaded; again, or" in done.stderr
    assert done.stdout == ""
    assert not out.exists()


async def overloaded(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer every request with 503."""
    body = b'{"errorMessage":"overloaded"}'
    head = b"HTTP/1.1 503 Busy\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
    while await reader.readuntil(b"\r\n\r\n"):
        writer.write(head % len(body) + body)


@pytest.mark.e2e
def test_a_wrong_passphrase_says_what_is_lost_and_how_to_begin_again(home: Home) -> None:
    home.passphrase_file.write_text("something else\n")
    done = home.run("status", "--profile", "main", *home.unlocked)
    assert done.returncode == 3
    assert done.stderr.startswith("keydesk: the passphrase does not open the vault. If it is")
    assert done.stderr.count("\n") == 1
