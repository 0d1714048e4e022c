"""Sessions, rollover and the market's week, over weekends and changes of the clocks."""

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from keydesk.calc.market.sessions import (
    closed_text,
    is_friday_evening,
    overlap,
    sessions_at,
    week_at,
)
from keydesk.calc.market.trading_day import next_day_start


def ns(text: str, zone: str = "UTC") -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone)).timestamp()) * 10**9


def words_at(text: str) -> dict[str, str]:
    now = ns(text)
    return {each.name: each.text(now) for each in sessions_at(now)}


def test_london_and_new_york_overlap_on_a_winter_afternoon() -> None:
    assert words_at("2026-03-04T14:00") == {
        "Sydney": "closed, opens in 6h00",  # 07:00 there is 20:00 UTC
        "Tokyo": "closed, opens in 10h00",
        "London": "open, closes in 3h00",
        "New York": "open, closes in 8h00",
    }
    assert overlap(sessions_at(ns("2026-03-04T14:00"))) == "London and New York"
    assert overlap(sessions_at(ns("2026-03-04T18:00"))) == ""


def test_each_session_follows_the_clock_of_its_city() -> None:
    assert words_at("2026-07-01T07:30")["London"] == "open, closes in 8h30"  # summer: 07:00 UTC
    assert words_at("2026-03-09T12:00")["New York"] == "open, closes in 9h00"  # a day after spring


def test_over_the_weekend_every_session_opens_on_monday() -> None:
    words = words_at("2026-03-07T12:00")
    assert words["London"] == "closed, opens in 1d20h"
    assert words["Sydney"] == "closed, opens in 1d08h"  # Monday 07:00 there is Sunday 20:00 UTC


@pytest.mark.parametrize(
    ("at", "is_open", "changes"),
    [
        ("2026-03-06T16:58:59", True, "2026-03-06T16:59"),
        ("2026-03-06T16:59", False, "2026-03-08T17:05"),  # New York's clocks change meanwhile
        ("2026-03-08T17:04:59", False, "2026-03-08T17:05"),
        ("2026-03-08T17:05", True, "2026-03-13T16:59"),
        ("2026-11-01T12:00", False, "2026-11-01T17:05"),
    ],
)
def test_the_week_runs_from_sunday_to_friday_in_new_york(
    at: str, is_open: bool, changes: str
) -> None:
    week = week_at(ns(at, "America/New_York"))
    assert (week.is_open, week.changes_ns) == (is_open, ns(changes, "America/New_York"))


def test_the_rollover_is_at_the_end_of_the_trading_day() -> None:
    assert next_day_start(ns("2026-03-04T21:59")) == ns("2026-03-04T22:00")
    assert next_day_start(ns("2026-03-04T22:00")) == ns("2026-03-05T22:00")
    assert next_day_start(ns("2026-07-01T12:00")) == ns("2026-07-01T21:00")


@pytest.mark.parametrize(
    ("at", "text"),
    [
        ("2026-03-07T12:00", "opens in 1d09h, Sunday 17:05 New York"),
        ("2026-03-04T17:01", "for the rollover and opens in 4m, 17:05 New York"),
        ("2026-03-04T12:00", "the broker does not say until when"),
    ],
)
def test_a_closed_instrument_says_when_it_opens(at: str, text: str) -> None:
    zone = "UTC" if at.startswith("2026-03-07") else "America/New_York"
    assert closed_text(ns(at, zone)).endswith(text)


def test_the_last_hours_of_the_week_are_friday_evening() -> None:
    assert not is_friday_evening(ns("2026-03-06T13:58", "America/New_York"))
    assert is_friday_evening(ns("2026-03-06T13:59", "America/New_York"))
    assert not is_friday_evening(ns("2026-03-06T16:59", "America/New_York"))
    assert not is_friday_evening(ns("2026-03-05T15:00", "America/New_York"))
