"""`keydesk journal` on an account of the practice broker."""

import asyncio
import csv
import json
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from datetime import timedelta
from decimal import Decimal
from itertools import accumulate
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from keydesk.__main__ import main
from keydesk.calc.market.trading_day import trading_date
from keydesk.calc.trade_journal.rebuild import Journal
from keydesk.cli.journal.command import last_day_hint, provisional_text
from keydesk.trade_journal.report import day_of
from keydesk_client.models import DateTime
from support.broker import PracticeServer, practice_server
from support.data.journal_trades import closed_trade
from support.proxies.proxy_door import proxy_door
from support.signing_in import Home

BUY = {"type": "MARKET", "instrument": "EUR_USD", "units": "1000"}


@pytest.fixture
def home(tmp_path: Path, desk_of_my_own: PracticeServer) -> Home:
    """A home that is signed in to the broker as `main`."""
    home = Home(tmp_path / "home")
    home.signed_in("main", desk_of_my_own)
    return home


def run(home: Home, *words: str) -> str:
    done = home.run("journal", *words, "--profile", "main", *home.unlocked)
    assert done.returncode == 0, done.stderr
    return done.stdout


async def trade_and_close(practice: PracticeServer) -> str:
    """Open a trade with a stop and an odd tag, close a part and the rest; return its id."""
    odd = {
        "stopLossOnFill": {"distance": "0.0100"},
        "tradeClientExtensions": {"tag": "=plan", "comment": "a|b \x1b[31m"},
    }
    opened = await practice.send("POST", "{a}/orders", {"order": BUY | odd})
    trade_id: str = opened.json()["orderFillTransaction"]["tradeOpened"]["tradeID"]
    for units in ("400", "ALL"):
        await practice.send("PUT", f"{{a}}/trades/{trade_id}/close", {"units": units})
    return trade_id


@pytest.mark.e2e
async def test_a_closed_trade_is_listed_noted_exported_and_the_same_without_its_records(
    desk_of_my_own: PracticeServer, home: Home, tmp_path: Path
) -> None:
    trade_id = await trade_and_close(desk_of_my_own)
    kept = run(home, "note", trade_id, "--tags", "News trend", "--rating", "4", "--note", "waited")
    assert f"trade {trade_id} is kept in " in kept
    [row] = json.loads(run(home, "--json", "--excursions"))["trades"]
    assert Decimal(row["maePips"]) > 0
    assert Decimal(row["maeR"]) > 0
    assert (row["id"], row["exits"], row["tags"]) == (trade_id, "2", "news trend")
    assert (row["brokerTag"], row["rating"]) == ("=plan", "4")
    assert row["R"]
    account = (await desk_of_my_own.get("{a}")).json()["account"]
    assert Decimal(row["result"]) == Decimal(account["pl"]) + Decimal(account["financing"])

    first = run(home, "--json")  # without excursions: the candle of this minute still changes
    for each in home.folder.rglob("*.sqlite*"):
        each.unlink()
    assert run(home, "--json") == first

    path = tmp_path / "trades.csv"
    run(home, "--csv", "--out", str(path))
    [cells] = csv.DictReader(path.read_text().splitlines())
    assert cells["brokerTag"] == "'=plan"
    assert cells["result"] == row["result"]
    assert "\x1b" not in path.read_text()


@asynccontextmanager
async def without_candles(practice: PracticeServer) -> AsyncIterator[str]:
    """A proxy that passes GETs on to the broker, and forbids those of candles."""
    upstream = urlsplit(practice.rest_url).path

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        if b"/candles" in head.split(b"\r\n")[0]:
            words = b'{"errorMessage": "no candles today"}'
            lines = b"HTTP/1.1 403 Forbidden\r\nConnection: close\r\nContent-Length: %d\r\n\r\n"
            writer.write(lines % len(words) + words)
        else:
            answer, request = await asyncio.open_unix_connection(upstream)
            request.write(head.replace(b"\r\n", b"\r\nConnection: close\r\n", 1))
            writer.write(await answer.read())
            request.close()
        await writer.drain()

    async with proxy_door(serve) as url:
        yield url


@pytest.mark.e2e
async def test_where_only_candles_fail_the_list_is_printed_and_says_what_is_missing(
    desk_of_my_own: PracticeServer, tmp_path: Path
) -> None:
    trade_id = await trade_and_close(desk_of_my_own)
    home = Home(tmp_path / "home")
    async with without_candles(desk_of_my_own) as url:
        home.signed_in("main", desk_of_my_own, rest_url=url)
        words = ("journal", "--json", "--excursions", "--profile", "main", *home.unlocked)
        done = await asyncio.to_thread(home.run, *words)
    assert done.returncode == 1, done.stderr
    [row] = json.loads(done.stdout)["trades"]
    assert (row["id"], row["maePips"], row["maeMfe"]) == (trade_id, None, None)
    assert row["result"]
    assert "MAE and MFE are incomplete: " in done.stderr
    assert "no candles today" in done.stderr
    assert "run this again" in done.stderr


@pytest.mark.e2e
async def test_the_week_page_and_the_statistics_say_what_they_rest_on(
    desk_of_my_own: PracticeServer, home: Home
) -> None:
    trade_id = await trade_and_close(desk_of_my_own)
    trade = (await desk_of_my_own.get(f"{{a}}/trades/{trade_id}")).json()["trade"]
    closed = DateTime(trade["closeTime"])
    day = trading_date(
        closed.ns
    )  # from 17:00 New York on the day after, on a Sunday the week after
    shown = run(home, "report", "--week", "--markdown", "--date", str(day))
    assert shown.startswith("# Week ")
    assert "## Trades" in shown
    assert f"| {trade_id} |" in shown
    assert "expectancy" not in shown, "no ratio rests on a trade"
    figures = run(home, "stats")
    assert "n=1, under 20" in figures
    assert "Sharpe, daily NAV" in figures


async def net_asset_values(practice: PracticeServer, entry: Decimal) -> list[Decimal]:
    """Return the values of a long of 100,000 EUR_USD at its day ends and now, from candles and bookings."""
    query = {"granularity": "D", "price": "B", "count": "3"}
    candles = (await practice.get("/v3/instruments/EUR_USD/candles", **query)).json()["candles"]
    bids = [Decimal(each["bid"]["c"]) for each in candles]
    answer = await practice.get("{a}/transactions/sinceid", id="1")
    charged = [Decimal(each.get("financing", 0)) for each in answer.json()["transactions"]]
    financing = [each for each in charged if each]
    booked = [sum(financing[:count], Decimal(100_000)) for count in (1, 2, 2)]
    return [balance + 100_000 * (bid - entry) for balance, bid in zip(booked, bids, strict=True)]


@pytest.mark.e2e
async def test_daily_figures_count_the_open_profit_of_the_brokers_present_day(
    practice_folder: Path, tmp_path: Path
) -> None:
    home = Home(tmp_path / "home")
    buy = {"order": BUY | {"units": "100000"}}
    async with practice_server(practice_folder, "--start", "2024-03-04T15:00:00Z") as practice:
        opened = await practice.send("POST", "{a}/orders", buy)
        entry = Decimal(opened.json()["orderFillTransaction"]["tradeOpened"]["price"])
    async with practice_server(practice_folder, "--start", "2024-03-06T15:00:00Z") as practice:
        home.signed_in("main", practice)
        daily = json.loads(await asyncio.to_thread(run, home, "stats", "--json"))["daily"]
        values = await net_asset_values(practice, entry)
    assert daily["sharpe"]["n"] == 3
    peaks = list(accumulate([Decimal(100_000), *values], max))[1:]
    falls = [peak - value for peak, value in zip(peaks, values, strict=True)]
    assert (
        abs(Decimal(daily["max_drawdown"]) - max(falls)) < 1
    )  # the present price moves on between the two


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["note"], "TRADE goes with note"),
        (["list", "5"], "TRADE goes with note"),
        (["--week"], "--week and --date go with report"),
        (["report", "--date", "soon"], "'soon' is not a date"),
        (["report", "--date", "0001-01-01"], "is not a date"),
        (["stats", "--excursions"], "--excursions goes with the list"),
        (["--csv", "--markdown"], "not allowed with argument"),
    ],
)
def test_wrong_usage_ends_with_2_before_the_account_is_opened(
    words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:

    with pytest.raises(SystemExit) as left:
        main(["journal", *words])
    assert left.value.code == 2
    assert sentence in capsys.readouterr().err


@pytest.mark.e2e
async def test_what_if_applies_a_rule_to_the_candles_of_closed_trades(
    desk_of_my_own: PracticeServer, home: Home
) -> None:
    trade_id = await trade_and_close(desk_of_my_own)
    words = ("journal", "what-if", "--stop", "0.5R", "--target", "3R", "--json")
    done = home.run_program(*words, "--profile", "main", *home.unlocked)
    answer = json.loads(done.stdout)
    assert answer["before"]["trades"] == answer["after"]["trades"] == 1
    assert answer["rule"] == "stop at 0.5 R, target at 3 R"
    assert "of 1 trade at another price" in answer["doubts"][0]
    trade = (await desk_of_my_own.get(f"{{a}}/trades/{trade_id}")).json()["trade"]
    row = (trade_id, *(DateTime(trade[name]).ns for name in ("openTime", "closeTime")), "x")
    [records] = home.folder.rglob("*.sqlite")
    with closing(sqlite3.connect(records)) as connection, connection:
        connection.execute("INSERT OR REPLACE INTO price_paths VALUES (?, ?, ?, ?)", row)
    damaged = home.run(*words, "--profile", "main", *home.unlocked)
    assert damaged.returncode == 1
    said = json.loads(damaged.stdout)["message"]
    assert f"cannot be read: {records}: the price path of trade {trade_id}; remove" in said
    assert "Traceback" not in damaged.stderr


@pytest.mark.parametrize(
    ("words", "refusal"),
    [
        (("what-if",), "what-if goes with --stop, --target or --break-even"),
        (("list", "--target", "3R"), "what-if goes with --stop"),
        (("what-if", "--stop", "-1"), "type a distance in R, such as 0.5R"),
        (("what-if", "--stop", "1R", "--positions"), "without --positions"),
        (("list", "--day"), "--day, --week and --date go with report"),
        (("list", "--by", "setup"), "--by goes with stats"),
        (("list", "--mistake", "chased"), "--tag and --with-text choose trades"),
        (("stats", "--tags", "news"), "--tag and --with-text choose trades"),
        (("note", "5", "--tag", "news"), "--tags and --note write a note"),
        (("note", "5"), "note goes with --tags, --setup, --rating"),
    ],
)
def test_options_that_do_not_go_together_are_refused_with_the_remedy(
    words: tuple[str, ...], refusal: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["journal", *words])
    assert refusal in capsys.readouterr().err


def test_trades_whose_excursion_may_still_grow_are_named() -> None:
    assert "MAE and MFE of 2 trades (7, 9) may still grow" in provisional_text(["7", "9"])


def test_a_report_of_a_day_without_trades_names_the_last_day_with_one() -> None:
    """A travelling practice market, or a wrong clock, is on another day."""
    whole = Journal((closed_trade("1", 1),))
    last = trading_date(whole.closed[0].closed_ns or 0)
    assert last_day_hint(whole, day_of(last)) == ""
    assert last_day_hint(Journal(), day_of(last)) == ""
    hint = last_day_hint(whole, day_of(last + timedelta(days=1)))
    assert hint == f"The last trade was closed on another day: --date {last}"
