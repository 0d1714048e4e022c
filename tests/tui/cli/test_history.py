"""`keydesk history`: candles as a file that the practice broker replays."""

import csv
import subprocess
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pytest

from keydesk.__main__ import main
from keydesk.cli.candle_file import PartialFile
from keydesk.cli.script_output import Refusal
from keydesk_client import DateTime
from keydesk_client.arithmetic.constants import HOUR
from keydesk_client.models.pricing import Candlestick, CandlestickData
from keydesk_practice.market.candle_files import read_candle_file
from support.broker import PracticeServer
from support.signing_in import Home

PERIOD = ("--from", "2024-03-04T00:00Z", "--to", "2024-03-05T00:00Z")


def candle(hour: int, price: str = "1.08500", **members: object) -> Candlestick:
    """Return the candle of an hour since Monday 2024-03-04."""
    bar = CandlestickData(*(Decimal(price),) * 4)
    time = DateTime.from_ns(DateTime("2024-03-04T00:00:00Z").ns + hour * HOUR)
    return Candlestick(time, 7, True, mid=bar, **members)  # type: ignore[arg-type]


def order(**members: str) -> dict[str, str | None]:
    return {"granularity": "H1", "instrument": "EUR_USD", "to": None, "now": "x", **members}


def lines_of(path: Path) -> list[str]:
    return path.read_text().splitlines()


def test_a_run_that_is_killed_five_times_writes_the_same_bytes_as_one(tmp_path: Path) -> None:
    candles = [candle(hour, f"1.0{8500 + hour}") for hour in range(60)]
    whole = PartialFile(tmp_path / "whole.csv", order())
    for each in candles:
        whole.writer.add(each)
    whole.complete()

    path, killed = tmp_path / "killed.csv", 0
    for end in (1, 11, 12, 30, 59, 60):
        part = PartialFile(path, order())
        last = part.writer.last_ns
        for each in candles[:end]:
            if last is None or each.time.ns > last:
                part.writer.add(each)
        if end == 60:
            part.complete()
            break
        part._file.write(b"2024-03-05T00:00:00.0000")  # the kill comes within a line
        part._file.close()
        killed += 1
    assert killed == 5
    assert path.read_bytes() == (tmp_path / "whole.csv").read_bytes()
    assert (part.writer.count, part.writer.missing.text) == (60, "")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["killed.csv", "whole.csv"]


def test_a_candle_that_comes_twice_is_refused(tmp_path: Path) -> None:
    part = PartialFile(tmp_path / "hours.csv", order())
    part.writer.add(candle(1))
    with pytest.raises(Refusal, match="after a later one"):
        part.writer.add(candle(1))
    part.close()


def test_what_is_missing_is_counted_by_why(tmp_path: Path) -> None:
    part = PartialFile(tmp_path / "hours.csv", order())
    for hour in (0, 3, 4, 116, 118, 168):  # Friday closes at 22:00 UTC, hour 118
        part.writer.add(candle(hour))
    assert part.writer.missing.no_ticks == 2 + 111 + 1 + 2
    assert part.writer.missing.closed == 47
    part.close()


def test_a_part_of_another_period_is_not_gone_on_with(tmp_path: Path) -> None:
    part = PartialFile(tmp_path / "hours.csv", order())
    part.writer.add(candle(1))
    part.close()
    with pytest.raises(Refusal, match="of another period, instrument or account: remove it"):
        PartialFile(tmp_path / "hours.csv", order(instrument="USD_JPY"))
    again = PartialFile(tmp_path / "hours.csv", order(now="later"))
    assert (again.order["now"], again.resumes) == ("x", True)
    again.close()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("eurusd!", *PERIOD), "is not an instrument such as EUR_USD"),
        (("EUR_USD", *PERIOD, "--price", "MM"), "'MM' is not a choice of M, B and A"),
        (("EUR_USD", *PERIOD, "--granularity", "1H"), "invalid choice: '1H'"),
        (("EUR_USD", "--from", "2024-03-05", "--to", "2024-03-04"), "--to must be later"),
        (("EUR_USD", "--from", "2999-03-05"), "--from is in the future"),
        (("EUR_USD", "--from", "0001-01-01"), "'0001-01-01' is not between 1970 and 9998"),
        (("EUR_USD", "--from", "1969-12-31"), "'1969-12-31' is not between 1970 and 9998"),
        (("EUR_USD", *PERIOD, "--to", "9999-12-31T23:00-05:00"), "is not between 1970 and 9998"),
        (("EUR_USD",), "--from"),
    ],
)
def test_a_wrong_argument_is_named(
    words: tuple[str, ...], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["history", *words, "--csv", "-", "--practice", "--data", str(tmp_path)])
    assert ended.value.code == 2
    assert said in capsys.readouterr().err


def test_a_folder_in_the_place_of_the_file_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["history", "EUR_USD", *PERIOD, "--csv", str(tmp_path), "--force", "--practice"]
    assert main([*words, "--data", str(tmp_path / "home")]) == 1
    assert f"--csv: {tmp_path} is a folder; name a file in it" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("typed", "run"),
    [
        ("eur/usd", Home.run_here),
        pytest.param("eurusd", Home.run_program, marks=pytest.mark.e2e),
    ],
    ids=["here", "program"],
)
def test_a_day_of_hours_is_written_and_can_be_replayed(
    desk_of_my_own: PracticeServer,
    tmp_path: Path,
    typed: str,
    run: "Callable[..., subprocess.CompletedProcess[str]]",
) -> None:
    home = Home(tmp_path / "home")
    home.signed_in("main", desk_of_my_own)
    path = tmp_path / "hours.csv"
    words = ("history", typed, *PERIOD, "--csv", str(path), "--profile", "main")
    done = run(home, *words, *home.unlocked)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"24 candles in {path}\n"
    rows = list(csv.DictReader(path.read_text().splitlines()))
    assert list(rows[0]) == ["time", "open", "high", "low", "close", "volume"]
    assert rows[0]["time"] == "2024-03-04T00:00:00.000000000Z"
    assert Decimal(rows[0]["low"]) <= Decimal(rows[0]["open"])
    assert path.stat().st_mode & 0o777 == 0o600
    assert read_candle_file("EUR_USD", path).first_price == float(rows[0]["open"])
