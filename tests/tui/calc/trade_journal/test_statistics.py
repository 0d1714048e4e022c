from decimal import Decimal

import pytest

from keydesk.calc.trade_journal.statistics import (
    INFINITE,
    longest_streak,
    statistics_of,
    system_quality,
    time_in_market,
)
from support.data.journal_trades import HOUR, MONDAY, closed_trade, closed_trades

D = Decimal
GOLDEN = ["2", "-1", "-1", "3", "-.5", "1.5", "-1", "0", "-1", "2.5"]


def rounded(value: Decimal | None, step: str) -> Decimal:
    assert value is not None
    return value.quantize(D(step))


def test_the_worked_list_of_ten_results_has_the_figures_of_the_definition() -> None:
    found = statistics_of(closed_trades(GOLDEN), start=D(10_000))
    assert (found.n, found.total.value) == (10, D(450))
    assert found.win_rate.value == D("0.4")
    assert (found.average_win.value, found.average_win.n) == (D(225), 4)
    assert (found.average_loss.value, found.average_loss.n) == (D(-90), 5)
    assert found.payoff.value == D("2.5")
    assert found.expectancy.value == 45
    assert found.expectancy_r.value == D("0.45")
    assert found.profit_factor.value == 2
    assert rounded(found.sqn.value, "0.01") == D("0.88")
    assert found.drawdown.money == 200
    assert rounded(found.drawdown.share, "0.0001") == D("0.0196")
    assert found.recovery.value == D("2.25")
    assert (found.longest_wins, found.longest_losses) == (1, 2)


def test_a_figure_on_fewer_than_20_trades_says_so() -> None:
    few, enough = statistics_of(closed_trades(GOLDEN)), statistics_of(closed_trades(GOLDEN * 2))
    assert few.win_rate.doubt == "n=10, under 20"
    assert enough.win_rate.doubt == ""
    assert enough.average_win.doubt == "n=8, under 20"


def test_without_a_loss_the_profit_factor_is_infinite() -> None:
    assert statistics_of(closed_trades(["1", "2"])).profit_factor.value == INFINITE
    assert statistics_of(closed_trades(["0"])).profit_factor.value is None


def test_nothing_has_no_figures() -> None:
    found = statistics_of([])
    assert (found.n, found.win_rate.value, found.expectancy.value) == (0, None, None)


def test_r_figures_rest_on_the_trades_with_a_stop_alone() -> None:
    found = statistics_of([closed_trade("50", 1), closed_trade("-500", 2, risk=None)])
    assert (found.expectancy_r.value, found.expectancy_r.n) == (D("0.5"), 1)
    assert found.expectancy.value == -225


def test_the_system_quality_counts_at_most_100_trades() -> None:
    rs = [D(1), D("-0.5")] * 100
    assert system_quality(rs[:100]) != system_quality(rs)
    hundred = rounded(system_quality(rs), "0.01")
    assert hundred == D("3.32")  # 10 x 0.25 / 0.7519


def test_results_that_differ_by_rounding_only_do_not_vary() -> None:
    rs = [D(-1) / 3, D(-1) / 3 + D("1E-28")] * 9
    assert system_quality(rs) is None
    assert system_quality([D("-1.0000"), D("-1.0001")] * 12) is None
    assert system_quality([D(-1), D("-1.05")] * 12) is not None


def test_a_result_of_zero_ends_a_streak() -> None:
    assert longest_streak([True, True, False, True]) == 2
    assert statistics_of(closed_trades(["1", "0", "1"])).longest_wins == 1


@pytest.mark.parametrize(
    ("starts", "share"),
    [([0, 3], "0.5"), ([0, 0], "1"), ([0, 1], "1"), ([0, 7], "0.25")],
)
def test_time_in_market_counts_overlapping_trades_once(starts: list[int], share: str) -> None:
    trades = [
        closed_trade("1", number, opened_ns=MONDAY + start * HOUR)
        for number, start in enumerate(starts)
    ]
    assert time_in_market(trades) == D(share)
