"""The line of the day spread over its cells, and the centres that are open."""

from itertools import pairwise

import pytest

from keydesk.calc.market.day_shape import (
    CELLS,
    open_sessions,
    path_of,
    sessions_of,
    sparkline,
)
from keydesk.calc.market.trading_day import day_start

HOUR = 3_600_000_000_000
MONDAY = 1_772_409_600_000_000_000  # 2026-03-02 00:00 UTC


def test_the_line_begins_with_the_day_and_leaves_the_last_candle_to_the_price() -> None:
    start = day_start(MONDAY)
    closes = [(start - HOUR, 9.0), (start, 1.0), (start + HOUR, 2.0), (start + 2 * HOUR, 3.0)]
    assert path_of(closes, start) == (1.0, 2.0)
    assert path_of(closes[:2], start) == path_of([], start) == ()


@pytest.mark.parametrize("count", [6, 7, 8, 13, 46, 48, 50])
def test_a_day_of_any_length_is_spread_evenly_over_the_cells(count: int) -> None:
    start = day_start(MONDAY)
    closes = [(start + number * HOUR // 2, float(number)) for number in range(count + 1)]
    path = path_of(closes, start)
    assert len(path) == CELLS - 1
    assert (path[0], path[-1]) == (0.0, count - 1)
    steps = [later - earlier for earlier, later in pairwise(path)]
    assert max(steps) - min(steps) <= 1


def test_the_line_is_as_high_as_its_prices() -> None:
    assert sparkline((1.0, 2.0, 3.0, 1.0)) == "▁▄▇▁"
    assert sparkline((1.0, 1.0)) == "▄▄"
    assert sparkline(()) == ""
    assert sparkline((1e-12, 9e14)) == "▁▇"


@pytest.mark.parametrize(
    ("hours", "centres"),
    [(0.5, ("SYD", "TYO")), (9, ("LDN",)), (14, ("LDN", "NY")), (20, ("SYD", "NY")), (-12, ())],
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
