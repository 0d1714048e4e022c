"""Days, weeks and months of trading days, which end at 17:00 New York."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from keydesk.calc.market.trading_day import day_start
from keydesk.calc.risk.period_profit import Booking, Period, period_start, profit_since

D = Decimal
SECOND = 1_000_000_000


def at(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()) * SECOND


@pytest.mark.parametrize(
    ("now", "period", "start"),
    [
        ("2026-03-04 12:00", "day", "2026-03-03 22:00"),  # Wednesday
        ("2026-03-04 12:00", "week", "2026-03-01 22:00"),  # Sunday 17:00
        ("2026-03-04 12:00", "month", "2026-02-28 22:00"),
        ("2026-03-01 22:30", "week", "2026-03-01 22:00"),  # just opened
        ("2026-03-01 21:30", "week", "2026-02-22 22:00"),  # the week before
        ("2026-02-28 22:30", "month", "2026-02-28 22:00"),  # Saturday evening is the first
        ("2026-03-10 12:00", "day", "2026-03-09 21:00"),  # the clocks changed
        ("2026-03-10 12:00", "month", "2026-02-28 22:00"),
        ("2026-01-01 12:00", "month", "2025-12-31 22:00"),
    ],
)
def test_periods_begin_at_five(now: str, period: Period, start: str) -> None:
    assert period_start(period, at(now)) == at(start)


def test_the_day_is_the_one_of_the_account_strip() -> None:
    for hour in range(0, 24 * 14, 5):
        now = at("2026-03-01 00:00") + hour * 3600 * SECOND
        assert period_start("day", now) == day_start(now)


def test_the_sum_has_profit_financing_and_fees_and_leaves_out_what_ended_the_day() -> None:
    bookings = [
        Booking(1, 100, D("5"), D("-1"), D("0.5")),
        Booking(2, 200, D("7")),
        Booking(3, 300, financing=D("-2")),
    ]
    found = profit_since(bookings, 100)
    parts = [found.realized, found.financing, found.fees, found.total]
    assert parts == [D(7), D(-2), D(0), D(5)]
    assert profit_since(bookings, 99).total == D("8.5")
    assert profit_since([], 0).total == 0
