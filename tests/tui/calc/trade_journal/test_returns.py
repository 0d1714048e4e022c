from datetime import datetime
from decimal import Decimal
from typing import Protocol
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from keydesk.calc.trade_journal.rebuild import BalancePoint
from keydesk.calc.trade_journal.returns import (
    Day,
    days_of,
    drawdown,
    drawdown_of_days,
    mean,
    sample_deviation,
    sharpe,
    sortino,
)
from keydesk.calc.trade_journal.statistics import daily_statistics_of

D = Decimal
Floats = NDArray[np.float64]
GOLDEN = [
    D(each) / 100 for each in [".4", "-.2", ".3", "-.1", ".5", "-.3", ".2", ".1", "-.2", ".4"]
]
NEW_YORK = ZoneInfo("America/New_York")


def at(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=NEW_YORK).timestamp()) * 1_000_000_000


def test_the_worked_returns_have_the_ratios_of_the_definition() -> None:
    deviation = sample_deviation(GOLDEN)
    assert deviation is not None
    assert (mean(GOLDEN) / deviation).quantize(D("0.0001")) == D("0.3763")
    assert (sharpe(GOLDEN) or D(0)).quantize(D("0.01")) == D("5.97")
    assert (sortino(GOLDEN) or D(0)).quantize(D("0.01")) == D("13.02")


def test_ratios_of_fewer_than_60_days_are_called_meaningless() -> None:
    days = [Day(i, i + 1, D(100), D(100) * (1 + each)) for i, each in enumerate(GOLDEN)]
    assert daily_statistics_of(days).sharpe.doubt == "n=10, meaningless"
    assert daily_statistics_of(days * 6).sharpe.doubt == ""


def test_returns_that_do_not_vary_or_lose_have_no_ratio() -> None:
    assert sharpe([D(1), D(1)]) is None
    assert sharpe([D("-0.01000"), D("-0.01001")] * 40) is None
    assert sortino([D(1), D(2)]) is None
    assert (sharpe([]), sortino([])) == (None, None)
    assert (sharpe([D(-1)]), sortino([D(-1)])) == (None, None)


def test_the_drawdown_in_money_and_as_a_share_of_the_peak() -> None:
    found = drawdown([(D(200), D(10_000)), (D(-200), D(10_200)), (D(300), D(10_000))])
    assert found.money == 200
    assert (found.share or D(0)).quantize(D("0.0001")) == D("0.0196")


def test_a_transfer_is_no_profit_and_no_loss() -> None:
    points = [
        BalancePoint(at("2024-03-04T10:00"), D(1000), D(1000)),
        BalancePoint(at("2024-03-04T11:00"), D(1100)),
        BalancePoint(at("2024-03-05T11:00"), D(600), D(-500)),
        BalancePoint(at("2024-03-05T12:00"), D(540)),
        BalancePoint(at("2024-03-06T12:00"), D(10_540), D(10_000)),
    ]
    days = days_of(points)
    whole = drawdown_of_days(days)
    assert whole.money == 60
    assert (whole.share or D(0)).quantize(D("0.0001")) == D("0.0545")  # of 1,100, the day's capital
    assert [each.profit for each in days] == [100, -60, 0]
    assert [each.capital for each in days] == [1000, 1100, 10_540]


def test_days_end_at_17_new_york_and_quiet_weekends_are_left_out() -> None:
    points = [
        BalancePoint(at("2024-03-08T16:59"), D(110), D(100)),
        BalancePoint(at("2024-03-12T18:00"), D(120)),
    ]
    days = days_of(points)
    ends = [datetime.fromtimestamp(each.end_ns // 10**9, NEW_YORK) for each in days]
    assert [f"{end:%a %H}" for end in ends] == ["Fri 17", "Mon 17", "Tue 17", "Wed 17"]
    assert [each.profit for each in days] == [10, 0, 0, 10]


def test_what_is_booked_at_17_exactly_belongs_to_the_day_that_ends() -> None:
    points = [
        BalancePoint(at("2024-03-07T17:00"), D(100), D(100)),
        BalancePoint(at("2024-03-08T12:00"), D(110)),
        BalancePoint(at("2024-03-08T17:00"), D(109)),  # financing of a Friday makes no Saturday
        BalancePoint(at("2024-03-11T12:00"), D(119)),
    ]
    days = days_of(points)
    ends = [datetime.fromtimestamp(each.end_ns // 10**9, NEW_YORK) for each in days]
    assert [f"{end:%a %H}" for end in ends] == ["Thu 17", "Fri 17", "Mon 17"]
    assert [each.profit for each in days] == [0, 9, 10]


def test_the_day_that_is_not_over_counts_the_open_profit_of_now() -> None:
    points = [
        BalancePoint(at("2024-03-04T10:00"), D(1000), D(1000)),
        BalancePoint(at("2024-03-04T17:00"), D(999)),
    ]
    profits = {at("2024-03-04T17:00"): D(50), at("2024-03-05T17:00"): D(70)}
    days = days_of(points, unrealized=profits)
    assert [each.profit for each in days] == [49, 20]
    assert drawdown_of_days(days).money == 0


def test_net_asset_values_count_open_profit_at_the_end_of_the_day() -> None:
    points = [
        BalancePoint(at("2024-03-04T10:00"), D(1000), D(1000)),
        BalancePoint(at("2024-03-05T10:00"), D(1020)),
    ]
    days = days_of(points, unrealized={at("2024-03-04T17:00"): D(-50)})
    assert [each.profit for each in days] == [-50, 70]
    assert drawdown_of_days(days).money == 50


class Oracle(Protocol):
    """The functions of another library that ours are compared with."""

    def sharpe_ratio(self, returns: Floats) -> float: ...
    def sortino_ratio(self, returns: Floats) -> float: ...
    def max_drawdown(self, returns: Floats) -> float: ...


@pytest.fixture(scope="module")
def oracle() -> Oracle:
    found: Oracle = pytest.importorskip("empyrical", reason="pip install '.[oracle]' has it")
    return found


changes = st.lists(
    st.integers(-900, 900).map(lambda each: D(each) / 10_000), min_size=3, max_size=80
)


@given(found=changes)
def test_another_library_agrees_on_sharpe_sortino_and_drawdown(
    oracle: Oracle, found: list[Decimal]
) -> None:
    theirs = np.array([float(each) for each in found])
    ours = sharpe(found)
    if ours is not None:
        assert float(ours) == pytest.approx(oracle.sharpe_ratio(theirs), abs=1e-9, rel=1e-9)
    below = sortino(found)
    if below is not None:
        assert float(below) == pytest.approx(oracle.sortino_ratio(theirs), abs=1e-9, rel=1e-9)
    fall = drawdown((each, D(1)) for each in found).share
    assert float(-(fall or D(0))) == pytest.approx(oracle.max_drawdown(theirs), abs=1e-9)
