"""When a trading day begins, and what it made."""

from datetime import UTC, date, datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keydesk.calc.market.trading_day import (
    booking_date,
    booking_day_end,
    booking_day_start,
    day_profit,
    day_start,
    nav_at_start,
    next_day_start,
)

HOUR = 3600 * 1_000_000_000


def ns(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()) * 1_000_000_000


@pytest.mark.parametrize(
    ("now", "start", "following"),
    [
        ("2026-07-01T20:59:59", "2026-06-30T21:00:00", "2026-07-01T21:00:00"),
        ("2026-07-01T21:00:00", "2026-07-01T21:00:00", "2026-07-02T21:00:00"),
        ("2026-01-05T03:00:00", "2026-01-04T22:00:00", "2026-01-05T22:00:00"),
        ("2026-03-08T12:00:00", "2026-03-07T22:00:00", "2026-03-08T21:00:00"),  # clocks go on
        ("2026-11-01T12:00:00", "2026-10-31T21:00:00", "2026-11-01T22:00:00"),  # clocks go back
    ],
)
def test_a_day_begins_at_five_in_new_york(now: str, start: str, following: str) -> None:
    assert day_start(ns(now)) == ns(start)
    assert next_day_start(ns(now)) == ns(following)


@given(st.integers(0, 4_000_000_000).map(lambda seconds: seconds * 1_000_000_000))
def test_every_instant_lies_in_its_day_of_23_to_25_hours(now: int) -> None:
    start, end = day_start(now), next_day_start(now)
    assert start <= now < end
    assert end - start in {23 * HOUR, 24 * HOUR, 25 * HOUR}
    assert day_start(end) == end


@pytest.mark.parametrize("end", ["2026-07-01T21:00:00", "2026-03-08T21:00:00"])  # clocks go on
def test_what_is_booked_at_five_exactly_belongs_to_the_day_that_ends(end: str) -> None:
    assert booking_day_start(ns(end)) == day_start(ns(end) - HOUR)
    assert booking_day_end(ns(end)) == booking_day_start(ns(end) + 1) == ns(end)
    assert booking_date(ns(end)) == date.fromisoformat(end[:10])


def test_money_paid_in_is_no_profit() -> None:
    assert day_profit(Decimal(10650), Decimal(10000), Decimal(500)) == Decimal(150)


def test_the_start_is_counted_back_from_the_balance() -> None:
    start = nav_at_start(
        Decimal(10620),
        booked_since=Decimal(120),
        transfers=Decimal(500),
        unrealized_then=Decimal(30),
    )
    assert start == Decimal(10030)
