"""The average true range to the digit, the line of the day by time, and the centres that are open."""

from datetime import UTC, datetime

import pytest

from keydesk.calc.day_shape import (
    CELLS,
    average_true_range,
    cell_at,
    open_sessions,
    path_of,
    sessions_of,
    sparkline,
)
from keydesk.calc.trading_day import day_start

HIGHS = (10.2, 10.5, 10.9, 10.8, 11.2, 11.5, 11.4, 11.1, 11.3, 11.8, 12.0, 11.9)
LOWS = (9.8, 10.0, 10.4, 10.3, 10.7, 11.0, 10.9, 10.6, 10.8, 11.2, 11.5, 11.3)
CLOSES = (10.0, 10.4, 10.6, 10.5, 11.1, 11.2, 11.0, 10.8, 11.2, 11.7, 11.6, 11.4)
BARS = list(zip(HIGHS, LOWS, CLOSES, strict=True))
HOUR = 3_600_000_000_000
MONDAY = 1_772_409_600_000_000_000  # 2026-03-02 00:00 UTC


def test_the_average_true_range_is_the_published_one() -> None:
    found = [average_true_range(BARS[:count], 5) for count in range(6, 13)]
    rounded = [None if each is None else round(each, 4) for each in found]
    assert rounded == [0.54, 0.532, 0.5256, 0.5205, 0.5364, 0.5291, 0.5433]


def test_too_few_candles_have_no_average() -> None:
    assert average_true_range(BARS[:5], 5) is None
    assert average_true_range([]) is None


def test_each_price_of_the_day_has_its_cell_and_the_future_has_none() -> None:
    start = day_start(MONDAY)
    closes = [(start - HOUR, 9.0), (start, 1.0), (start + 2 * HOUR, 2.0), (start + 7 * HOUR, 3.0)]
    assert path_of(closes, start) == (2.0, None, 3.0, None, None, None, None)


@pytest.mark.parametrize("day", ["2026-03-08", "2026-11-01", "2026-06-10"])
def test_a_day_of_23_or_25_hours_fills_its_cells(day: str) -> None:
    noon = int(datetime.fromisoformat(f"{day}T12:00").replace(tzinfo=UTC).timestamp()) * 10**9
    start = day_start(noon)
    assert cell_at(start, start) == 0
    assert cell_at(noon, start) in range(CELLS)
    assert cell_at(start + 30 * HOUR, start) == CELLS - 1


def test_the_line_is_as_high_as_its_prices() -> None:
    assert sparkline((1.0, 2.0, 3.0, None, 1.0)) == "▁▅█ ▁"
    assert sparkline((1.0, 1.0, None)) == "▄▄ "
    assert sparkline((None, None)) == ""
    assert sparkline((1e-12, 9e14)) == "▁█"


@pytest.mark.parametrize(
    ("hours", "centres"),
    [(0.5, ("SYD", "TYO")), (9, ("LDN",)), (14, ("LDN", "NY")), (20, ("NY",)), (-12, ())],
)
def test_the_centres_open_and_close_in_their_own_time(
    hours: float, centres: tuple[str, ...]
) -> None:
    assert open_sessions(MONDAY + int(hours * HOUR)) == centres


def test_an_instrument_is_dealt_where_its_currencies_are() -> None:
    afternoon = MONDAY + 14 * HOUR
    assert sessions_of("EUR_USD", afternoon) == "LDN NY"
    assert sessions_of("USD_JPY", afternoon) == "NY"
    assert sessions_of("XAU_AUD", afternoon) == ""
    assert sessions_of("\x1b[2J", afternoon) == ""
