"""What every grammar reads: words of a line, numbers with their unit, durations, times."""

from datetime import datetime, time
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keydesk.text.typed import (
    Quantity,
    clock_time,
    date_time,
    distance,
    duration_s,
    quantity,
    tokens,
)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("B EURUSD 50k @1.0830", ["b", "eurusd", "50k", "@", "1.0830"]),
        ("eurusd >=1.12 once", ["eurusd", ">=", "1.12", "once"]),
        ("spread > 2p", ["spread", ">", "2p"]),
        ("a>b", ["a>b"]),
        ("  ", []),
    ],
)
def test_a_sign_stands_apart_from_what_follows_it(line: str, words: list[str]) -> None:
    assert tokens(line) == words


def test_a_number_has_the_units_signs_and_decimals_that_the_grammar_takes() -> None:
    assert quantity("1.0830") == Quantity("1.0830")
    assert quantity(".5%", "%") == Quantity(".5", "%")
    assert quantity("-20p", "ap", signs="-") == Quantity("-20", "p")
    refused = [
        quantity("20p"),
        quantity("20p", "a"),
        quantity("-20"),
        quantity("+20", signs="-"),
        quantity("1.1234", decimals=3),
        quantity("1.", "p"),
        quantity("1e9", "e"),
        quantity("٣"),
        quantity("p", "p"),
    ]
    assert refused == [None] * len(refused)


@pytest.mark.parametrize("word", ["20", "0p", "-20p", "20x", "", 20, None])
def test_a_distance_is_above_nothing_and_has_its_unit(word: object) -> None:
    assert distance("1.5a", "ap") == Quantity("1.5", "a")
    assert distance(word, "ap") is None


@pytest.mark.parametrize(
    ("word", "seconds"),
    [("30s", 30), ("90m", 5400), ("4h", 14_400), ("2d", 172_800), ("1w", 604_800)],
)
def test_a_duration_is_counted_in_seconds(word: str, seconds: int) -> None:
    assert duration_s(word) == seconds


def test_a_time_of_day_and_a_date_exist_or_are_none() -> None:
    assert (clock_time("9:05"), clock_time("18:30")) == (time(9, 5), time(18, 30))
    assert [clock_time(each) for each in ("25:00", "18:5", "18", "noon")] == [None] * 4
    assert date_time("2015-01-15") == datetime(2015, 1, 15)  # noqa: DTZ001 - the caller's zone
    assert date_time("2015-01-15t09:30:15") == date_time("2015-01-15 09:30:15")
    assert [date_time(each) for each in ("2015-13-01", "tomorrow", "")] == [None] * 3


@given(st.text(max_size=30))
def test_no_text_at_all_breaks_a_reader(text: str) -> None:
    assert all(word.strip() for word in tokens(text))
    typed = quantity(text, "kmpar%", signs="+-")
    assert typed is None or Decimal(text.rstrip("kmpar%")) == typed.number
    duration_s(text)
    clock_time(text)
    date_time(text)
