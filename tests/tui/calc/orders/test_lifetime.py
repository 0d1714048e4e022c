"""The typed expiry: durations, times of day in the trader's zone, dates; everything else refuses with words."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from keydesk.calc.orders.field_draft import UnreadableText
from keydesk.calc.orders.lifetime import expiry_ns

BERLIN = ZoneInfo("Europe/Berlin")
SECOND = 1_000_000_000
NOON = int(datetime(2026, 3, 2, 12, 0, tzinfo=UTC).timestamp()) * SECOND


def moment(text: str, typed: int = NOON, now: int = NOON) -> str:
    found = expiry_ns(text, typed, now, BERLIN)
    assert isinstance(found, int), found
    return f"{datetime.fromtimestamp(found // SECOND, UTC):%Y-%m-%d %H:%M}"


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("90m", "2026-03-02 13:30"),
        ("4h", "2026-03-02 16:00"),
        ("2d", "2026-03-04 12:00"),
        ("1w", "2026-03-09 12:00"),
        ("18:30", "2026-03-02 17:30"),
        ("9:05", "2026-03-03 08:05"),
        ("2026-03-06 17:00", "2026-03-06 16:00"),
        ("2026-03-06T17:00", "2026-03-06 16:00"),
        (" 4H ", "2026-03-02 16:00"),
    ],
)
def test_a_typed_expiry(text: str, at: str) -> None:
    assert moment(text) == at


def test_a_time_of_day_stays_that_of_the_day_when_it_was_typed() -> None:
    later = NOON + 5 * 3600 * SECOND
    assert moment("18:30", typed=NOON, now=later) == "2026-03-02 17:30"
    found = expiry_ns("18:30", NOON, NOON + 6 * 3600 * SECOND, BERLIN)
    assert isinstance(found, UnreadableText)
    assert found.reason == "is past"


def test_a_time_of_day_over_the_change_of_the_clocks_is_the_one_on_the_wall() -> None:
    saturday = int(datetime(2026, 3, 28, 20, 0, tzinfo=UTC).timestamp()) * SECOND
    assert moment("18:30", typed=saturday, now=saturday) == "2026-03-29 16:30"


def test_nothing_typed_is_no_expiry() -> None:
    assert expiry_ns("", NOON, NOON, BERLIN) is None


@pytest.mark.parametrize("text", ["25:00", "18", "4", "h", "tomorrow", "2026-13-01 10:00", "-4h"])
def test_what_is_no_time_says_how_to_write_one(text: str) -> None:
    found = expiry_ns(text, NOON, NOON, BERLIN)
    assert isinstance(found, UnreadableText)
    assert "write 18:30" in found.reason


@pytest.mark.parametrize(
    ("text", "reason"),
    [("2026-03-01 10:00", "is past"), ("0m", "is past"), ("99999w", "is more than 400 days away")],
)
def test_a_time_that_no_order_can_have(text: str, reason: str) -> None:
    found = expiry_ns(text, NOON, NOON, BERLIN)
    assert isinstance(found, UnreadableText)
    assert found.reason == reason
