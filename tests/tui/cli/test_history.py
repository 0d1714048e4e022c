"""`keydesk history`: candles as a file that the practice broker replays."""

import csv
from decimal import Decimal
from pathlib import Path

import pytest

from keydesk.__main__ import main
from keydesk.cli.history import complete_candles, rows_of
from keydesk_client import Columns, DateTime
from keydesk_practice.market.replay import read_candle_file
from support.broker import PracticeServer
from support.signing_in import Home

PERIOD = ("--from", "2024-03-04T00:00Z", "--to", "2024-03-05T00:00Z")


def test_forming_candles_are_left_out_and_prices_keep_their_digits() -> None:
    columns = Columns(
        time=[DateTime("2024-03-04T00:00:00Z"), DateTime("2024-03-04T01:00:00Z")],
        open=[Decimal("1.08500"), Decimal("1.08510")],
        volume=[7, None],
        complete=[True, False],
    )
    [row] = rows_of(complete_candles(columns))
    assert row == {"time": "2024-03-04T00:00:00Z", "open": "1.08500", "volume": "7"}


def test_what_is_missing_is_an_empty_cell() -> None:
    [row] = rows_of(Columns({"bid.open": [None], "volume": [3]}))
    assert row == {"bid.open": "", "volume": "3"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("eurusd!", *PERIOD), "is not an instrument such as EUR_USD"),
        (("EUR_USD", *PERIOD, "--price", "MM"), "'MM' is not a choice of M, B and A"),
        (("EUR_USD", *PERIOD, "--granularity", "1H"), "invalid choice: '1H'"),
        (("EUR_USD", "--from", "2024-03-05", "--to", "2024-03-04"), "--to must be later"),
        (("EUR_USD", "--from", "2999-03-05"), "--from lies in the future"),
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


@pytest.mark.parametrize("typed", ["eur/usd", "eurusd"])
def test_a_day_of_hours_is_written_and_can_be_replayed(
    desk_of_my_own: PracticeServer, tmp_path: Path, typed: str
) -> None:
    home = Home(tmp_path / "home")
    home.signed_in("main", desk_of_my_own)
    path = tmp_path / "hours.csv"
    words = ("history", typed, *PERIOD, "--csv", str(path), "--profile", "main")
    done = home.run_program(*words, *home.unlocked)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"24 candles in {path}\n"
    rows = list(csv.DictReader(path.read_text().splitlines()))
    assert list(rows[0]) == ["time", "open", "high", "low", "close", "volume"]
    assert rows[0]["time"] == "2024-03-04T00:00:00.000000000Z"
    assert Decimal(rows[0]["low"]) <= Decimal(rows[0]["open"])
    assert path.stat().st_mode & 0o777 == 0o600
    assert read_candle_file("EUR_USD", path).first_price == float(rows[0]["open"])
