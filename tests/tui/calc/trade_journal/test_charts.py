"""The cells of the heat maps and the figures of the pictures: every trade is in one, and their sums are the totals."""

import itertools
from datetime import UTC, date
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keydesk.calc.trade_journal.charts import (
    Bin,
    HeatCell,
    HourOfWeek,
    equity_curve,
    hours_of_week,
    largest_result,
    level,
    r_histogram,
    trading_days,
)
from keydesk.calc.trade_journal.statistics import statistics_of
from keydesk.calc.trade_journal.trades import JournalTrade
from support.data.journal_trades import HOUR, MONDAY, closed_trade, closed_trades

D = Decimal
RS = ["2", "-1", "-1", "3", "-0.5", "1.5", "-1", "0", "-1", "2.5"]
RESULTS = st.lists(
    st.tuples(
        st.decimals("-900", "900", places=2),
        st.integers(0, 60 * 24 * HOUR),
        st.integers(0, 40 * HOUR),
        st.booleans(),
    ),
    max_size=30,
)


def trades_of(results: list[tuple[Decimal, int, int, bool]]) -> list[JournalTrade]:
    return [
        closed_trade(
            result,
            number,
            opened_ns=MONDAY + later,
            hold_ns=hold,
            risk="100" if has_stop else None,
        )
        for number, (result, later, hold, has_stop) in enumerate(results)
    ]


@given(RESULTS)
def test_the_cells_of_either_map_add_up_to_the_totals(
    results: list[tuple[Decimal, int, int, bool]],
) -> None:
    trades = trades_of(results)
    found = statistics_of(trades)
    rs = sum((each.r for each in trades if each.r is not None), D(0))
    for cells in (
        hours_of_week(trades, ZoneInfo("Europe/Berlin")).values(),
        trading_days(trades).values(),
    ):
        assert sum(each.n for each in cells) == found.n
        assert sum(each.result for each in cells) == found.total.value
        assert sum(each.wins for each in cells) == sum(each.result > 0 for each in trades)
        assert sum(each.r or D(0) for each in cells) == rs


@given(RESULTS)
def test_the_curve_ends_at_the_total_and_its_deepest_place_is_the_drawdown(
    results: list[tuple[Decimal, int, int, bool]],
) -> None:
    trades = trades_of(results)
    curve, found = equity_curve(trades), statistics_of(trades)
    assert (curve[-1].total if curve else D(0)) == found.total.value
    assert -min((each.below for each in curve), default=D(0)) == found.drawdown.money


@given(st.lists(st.decimals("-40", "40", places=3)))
def test_the_bins_of_the_histogram_count_every_trade_once(rs: list[Decimal]) -> None:
    bins = r_histogram(rs)
    assert sum(each.n for each in bins) == len(rs)
    assert all(b.middle - a.middle == D("0.25") for a, b in itertools.pairwise(bins))


def test_the_worked_list_has_its_curve_and_histogram() -> None:
    trades = closed_trades(RS)
    assert [f"{each.total}" for each in equity_curve(trades)] == [
        *("200", "100", "0", "300", "250.0", "400.0", "300.0", "300.0", "200.0", "450.0")
    ]
    assert [f"{each.below}" for each in equity_curve(trades)[:5]] == [
        "0",
        "-100",
        "-200",
        "0",
        "-50.0",
    ]
    bins = {str(each.middle): each.n for each in r_histogram([D(r) for r in RS]) if each.n}
    assert bins == {
        "-1.00": 4,
        "-0.50": 1,
        "0.00": 1,
        "1.50": 1,
        "2.00": 1,
        "2.50": 1,
        "3.00": 1,
    }


def test_the_bar_around_zero_tells_losses_from_gains() -> None:
    [own] = r_histogram([D("-0.11"), D("-0.02"), D(0), D("0.05")])
    assert own == Bin(D(0), 4, losses=2, gains=1, total=D("-0.08"))


def test_a_stop_that_slipped_a_little_still_counts_as_minus_one() -> None:
    assert [each.middle for each in r_histogram([D("-1.02"), D("-0.98")])] == [D(-1)]


def test_a_far_result_is_in_the_last_bin_of_its_side() -> None:
    lows = [each.middle for each in r_histogram([D(-30), D(30)])]
    assert (lows[0], lows[-1]) == (D(-5), D(5))


def test_an_hour_is_that_of_the_entry_in_the_traders_zone_and_a_day_that_of_the_closing() -> None:
    late = closed_trade("5", opened_ns=MONDAY + 9 * HOUR, hold_ns=2 * HOUR)  # 21:00 UTC
    assert list(hours_of_week([late], UTC)) == [HourOfWeek(0, 21)]
    assert list(hours_of_week([late], ZoneInfo("Asia/Tokyo"))) == [HourOfWeek(1, 6)]
    assert list(trading_days([late])) == [date(2024, 3, 5)]  # after 17:00 New York


@pytest.mark.parametrize(
    ("result", "strength"), [("0", 0), ("1", 1), ("25", 2), ("-99", -4), ("100", 4), ("-1", -1)]
)
def test_a_cell_is_as_strong_as_its_share_of_the_largest(result: str, strength: int) -> None:
    assert level(D(result), largest_result({1: HeatCell(1, 0, D(-100)), 2: HeatCell()})) == strength
