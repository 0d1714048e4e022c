"""When candle periods end."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keydesk.store.candles import ALIGNED_TO_THE_DAY, LENGTHS, period_end, period_holding

SECOND = 1_000_000_000


def ns(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()) * SECOND


@pytest.mark.parametrize(
    ("granularity", "start", "end"),
    [
        ("S5", "2026-03-02T10:00:00", "2026-03-02T10:00:05"),
        ("M30", "2026-03-02T10:00:00", "2026-03-02T10:30:00"),
        ("H1", "2026-03-02T10:00:00", "2026-03-02T11:00:00"),
        ("H4", "2026-03-01T22:00:00", "2026-03-02T02:00:00"),
        ("D", "2026-03-01T22:00:00", "2026-03-02T22:00:00"),
        ("D", "2026-03-07T22:00:00", "2026-03-08T21:00:00"),  # 23 hours: clocks go on
        ("H4", "2026-03-08T18:00:00", "2026-03-08T21:00:00"),  # the last of that day is short
        ("W", "2026-02-27T22:00:00", "2026-03-06T22:00:00"),
        ("W", "2026-03-06T22:00:00", "2026-03-13T21:00:00"),  # Friday 17:00 stays Friday 17:00
        ("M", "2026-03-01T22:00:00", "2026-04-01T21:00:00"),
        ("M", "2026-01-31T22:00:00", "2026-02-28T22:00:00"),  # a service that counts from the eve
        ("M", "2026-11-30T22:00:00", "2026-12-31T22:00:00"),
    ],
)
def test_a_period_ends(granularity: str, start: str, end: str) -> None:
    assert period_end(ns(start), granularity) == ns(end)


def test_a_granularity_without_a_name_has_no_end() -> None:
    assert period_end(ns("2026-03-02T10:00:00"), "Y") is None


@given(
    st.sampled_from([*LENGTHS, *ALIGNED_TO_THE_DAY, "D", "W"]),
    st.integers(0, 40 * 86_400),
)
def test_an_instant_lies_in_the_period_that_holds_it(granularity: str, seconds: int) -> None:
    start = ns("2026-02-27T22:00:00")
    instant = start + seconds * SECOND
    held_from = period_holding(start, instant, granularity)
    end = period_end(held_from, granularity)
    assert end is not None
    assert held_from <= instant < end
