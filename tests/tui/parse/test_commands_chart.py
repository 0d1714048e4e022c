"""Commands of the chart: timeframe, date, indicators."""

from datetime import datetime

import pytest

from keydesk.calc.market.granularity import SECONDS, find_granularity, longer, next_common
from keydesk.calc.market.indicator_specs import parse_indicators
from keydesk.parse.commands import parse_command
from keydesk.parse.parsed_commands import (
    ChooseIndicators,
    GoToDate,
    MakeAlert,
    ShowGranularity,
    ShowMessage,
)


def test_every_length_of_candles_can_be_typed() -> None:
    for name in SECONDS:
        assert parse_command(f"tf {name.lower()}", (), "EUR_USD") == ShowGranularity(name)


def test_lengths_are_found_as_people_write_them() -> None:
    typed = ("4h", "15m", "1m", "m", "1d", "D", "1w", "5s")
    found = [find_granularity(each) for each in typed]
    assert found == ["H4", "M15", "M1", "M", "D", "D", "W", "S5"]
    assert find_granularity("7h") is None


def test_the_key_goes_through_the_common_lengths_from_any_other_one() -> None:
    assert [next_common(each) for each in ("S5", "M5", "M30", "D", "W", "M")] == [
        *("M1", "M15", "H1", "W", "M1", "M1"),
    ]
    assert [longer(each) for each in ("S10", "M5", "M30", "H4", "D")] == [
        "M15",
        "H1",
        "D",
        "D",
        "W",
    ]


def test_a_date_is_one_of_the_trader_zone_with_or_without_a_time() -> None:
    day = GoToDate(datetime(2015, 1, 15))  # noqa: DTZ001
    assert parse_command(":date 2015-01-15", (), "EUR_USD") == day
    morning = GoToDate(datetime(2015, 1, 15, 9, 30))  # noqa: DTZ001
    assert parse_command("date 2015-01-15 09:30", (), "EUR_USD") == morning


@pytest.mark.parametrize("line", ["date 15.1.2015", "date", "tf 7h", "ind ema x", "ind"])
def test_what_cannot_be_read_says_how_to_write_it(line: str) -> None:
    answer = parse_command(line, (), "EUR_USD")
    assert isinstance(answer, ShowMessage)
    assert answer.level == "warn"


def test_indicators_are_listed_with_commas() -> None:
    specs = parse_indicators(("ema 20", "rsi 14"))
    assert parse_command("ind ema 20, rsi", (), "EUR_USD") == ChooseIndicators(specs)
    assert parse_command("ind none", (), "EUR_USD") == ChooseIndicators(())


def test_blanks_after_the_colon_change_nothing() -> None:
    typed = (":alert > 1.12", ": alert > 1.12", ":  date 2015-01-15", ":date 2015-01-15")
    alert, same_alert, same_date, date = (
        parse_command(each, ["EUR_USD"], "EUR_USD") for each in typed
    )
    assert isinstance(alert, MakeAlert)
    assert (same_alert, same_date) == (alert, date)
