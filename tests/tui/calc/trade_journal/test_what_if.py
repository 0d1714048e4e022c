"""Another stop, target or break-even applied to the same trades."""

import itertools
from collections.abc import Sequence
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from keydesk.calc.trade_journal.excursions import CELL
from keydesk.calc.trade_journal.price_paths import PricePath, PriceStep, path_of, path_plan, step_of
from keydesk.calc.trade_journal.trades import Costs, JournalTrade
from keydesk.calc.trade_journal.what_if import WhatIf, WhatIfResult, what_if
from keydesk_client.arithmetic.constants import MINUTE
from support.data.journal_trades import HOUR, MONDAY, closed_trade

D = Decimal
PIP = D("0.0001")
LAST = 7 * PIP  # the gain at the last price of every path
STOP, TARGET, BY_HAND = "STOP_LOSS_ORDER", "TAKE_PROFIT_ORDER", "MARKET_ORDER_TRADE_CLOSE"


def trade(
    pips: str = "10", reason: str = BY_HAND, *, cells: int = 4, late: int = 0
) -> JournalTrade:
    """A long trade with a stop of 10 pips and a risk of 100, closed so many pips from its entry after so many cells."""
    one = closed_trade(
        D(pips) * 10, opened_ns=MONDAY + late, hold_ns=cells * CELL - 1 - late, units=100_000
    )
    exit_ = replace(one.exits[0], price=one.entry_price + D(pips) * PIP, reason=reason)
    return replace(one, exits=(exit_,), initial_stop=one.entry_price - 10 * PIP, home_factor=D(1))


def steps(*ranges: tuple[int, int]) -> list[PriceStep]:
    """Candles of 5 seconds one after another, by their best and worst price in pips from the entry."""
    return [
        PriceStep(MONDAY + n * CELL, MONDAY + (n + 1) * CELL, best * PIP, -worst * PIP)
        for n, (best, worst) in enumerate(ranges)
    ]


def result(one: JournalTrade, way: Sequence[PriceStep], **rule: str) -> WhatIfResult:
    found = path_of(one, way, LAST)
    return what_if([one], {one.id: found}, WhatIf(**{name: D(r) for name, r in rule.items()}))


def r_of(found: WhatIfResult) -> str:
    r = found.trades[0].r
    assert r is not None
    return f"{r.normalize():f}"


UP = steps((2, -1), (6, 1), (12, 4), (31, 10))
DOWN_AND_UP = steps((2, -1), (3, -6), (8, -2), (12, 3))


@pytest.mark.parametrize(
    ("way", "rule", "r"),
    [
        (UP, {"target": "0.5"}, "0.5"),
        (UP, {"target": "3"}, "1"),  # first met in the candle of the closing, perhaps after it
        (UP, {"target": "4"}, "1"),
        (DOWN_AND_UP, {"stop": "0.5"}, "-0.5"),
        (DOWN_AND_UP, {"stop": "0.5", "target": "1"}, "-0.5"),
        (DOWN_AND_UP, {"stop": "0.7"}, "1"),
        (steps((2, -1), (6, 1), (5, -1), (12, 4)), {"break_even": "0.5"}, "0"),
        (steps((2, 1), (6, 1), (5, 1), (12, 4)), {"break_even": "0.5"}, "1"),
        (steps((2, -1), (-12, -15), (3, -9), (12, 4)), {"stop": "0.5"}, "-1.2"),  # over a gap
    ],
)
def test_the_first_level_that_the_price_met_ends_the_trade(
    way: list[PriceStep], rule: dict[str, str], r: str
) -> None:
    assert r_of(result(trade(), way, **rule)) == r


def test_a_stopped_trade_goes_on_with_another_stop_until_a_level_is_met() -> None:
    stopped = trade("-10", STOP, cells=2)
    way = steps((2, -1), (1, -10), (3, -12), (21, -2))
    assert r_of(result(stopped, way, stop="1.5", target="2")) == "2"
    assert r_of(result(stopped, way, stop="1.1", target="2")) == "-1.1"
    assert r_of(result(stopped, way, target="2")) == "-1"  # its own stop stays


def test_a_target_farther_away_leaves_the_first_stop_where_the_rule_names_none() -> None:
    taken = trade("20", TARGET, cells=2)
    way = steps((2, -1), (20, 3), (25, 5), (6, -10), (40, 2))
    assert r_of(result(taken, way, target="3")) == "-1"
    assert r_of(result(taken, way, target="2.5")) == "2.5"


def test_without_a_level_within_a_day_the_last_price_ends_it_and_that_is_counted() -> None:
    found = result(trade("-10", STOP, cells=2), steps((2, -1), (1, -10), (9, -9)), stop="3")
    assert (r_of(found), found.last_price) == ("0.7", 1)


@pytest.mark.parametrize(
    ("way", "rule", "r"),
    [
        (steps((2, -1), (12, -11), (3, 1), (12, 4)), {"stop": "1", "target": "1"}, "-1"),
        (steps((2, -1), (8, -3), (9, 2), (12, 4)), {"break_even": "0.5"}, "0"),
        (steps((2, -1), (8, -11), (9, 2), (12, 4)), {"stop": "1", "break_even": "0.5"}, "-1"),
        (steps((2, -1), (3, 1), (3, 1), (12, -7)), {"stop": "0.5"}, "-0.5"),
        (steps((2, -1), (3, 1), (3, 1), (12, 1)), {"target": "1.1"}, "1"),
    ],
)
def test_where_the_order_in_a_candle_is_not_known_the_worse_is_taken_and_counted(
    way: list[PriceStep], rule: dict[str, str], r: str
) -> None:
    found = result(trade(), way, **rule)
    assert (r_of(found), found.ambiguous) == (r, 1)


def test_gains_of_the_candle_in_which_it_was_opened_do_not_count() -> None:
    way = steps((30, -6), (3, 1), (3, 1), (12, 4))
    assert r_of(result(trade(late=1), way, target="2")) == "1"
    found = result(trade(late=1), way, stop="0.5", target="2")
    assert (r_of(found), found.ambiguous) == ("-0.5", 1)


def test_parts_closed_before_the_level_keep_what_they_booked() -> None:
    whole = trade()
    half = whole.exits[0].units / 2
    early = replace(
        whole.exits[0], units=half, time_ns=MONDAY + CELL, price=whole.entry_price + 4 * PIP
    )
    late = replace(whole.exits[0], units=half, profit=D(50))
    parts = replace(
        whole, exits=(replace(early, profit=D("20.01")), late), costs=Costs(financing=D("-0.03"))
    )
    [after] = result(parts, UP, target="0.9").trades
    assert after.result == D("20.01") + D(45) - D("0.03")


def test_trades_without_a_first_stop_or_without_candles_are_left_out_and_counted() -> None:
    found = what_if([trade(), closed_trade("5", risk=None)], {}, WhatIf(stop=D(1)))
    assert (found.before.n, found.without_stop, found.without_candles) == (0, 1, 1)


def test_the_candles_after_a_stop_follow_for_a_day_and_after_a_close_by_hand_not_at_all() -> None:
    assert path_plan(trade())[-1].end_ns == MONDAY + 4 * CELL
    plan = path_plan(trade("-10", STOP))
    assert plan[-1].granularity == "M1"
    assert plan[-1].end_ns == MONDAY + 4 * CELL + 24 * HOUR
    assert all(a.end_ns == b.start_ns for a, b in itertools.pairwise(plan))
    assert plan[-1].start_ns % MINUTE == 0


def test_a_short_trade_gains_where_the_price_falls() -> None:
    short = closed_trade("0", units=-1000)
    step = step_of(short, MONDAY, CELL, (D("1.0860"), D("1.0830")))
    assert (step.gain, step.loss) == (D("0.0020"), D("0.0010"))


CANDLES = st.lists(
    st.tuples(st.integers(-25, 25), st.integers(0, 18)).map(lambda c: (c[0], c[0] - c[1])),
    min_size=1,
    max_size=40,
)
LEVEL = st.sampled_from([None, *(D(r) for r in ("0", "0.3", "0.5", "1", "1.4", "2"))])
RULES = st.builds(WhatIf, stop=LEVEL.filter(lambda r: r != 0), target=LEVEL, break_even=LEVEL)


@given(
    CANDLES, RULES, st.sampled_from([STOP, TARGET, BY_HAND]), st.integers(1, 40), st.integers(0, 1)
)
def test_the_steps_that_are_kept_end_every_rule_as_all_candles_do(
    ranges: list[tuple[int, int]], rule: WhatIf, reason: str, cells: int, late: int
) -> None:
    one, way = trade("4", reason, cells=cells, late=late), steps(*ranges)
    kept = path_of(one, way, D(0))
    whole = PricePath(tuple(way), way[-1].end_ns, D(0))
    assert what_if([one], {one.id: kept}, rule) == what_if([one], {one.id: whole}, rule)


@given(CANDLES, st.lists(st.sampled_from(["5", "-3", "0"]), max_size=6))
def test_a_rule_that_changes_nothing_leaves_the_sum(
    ranges: list[tuple[int, int]], results: list[str]
) -> None:
    trades = [replace(trade(each), id=str(n)) for n, each in enumerate(results)]
    paths = {each.id: path_of(each, steps(*ranges), D(0)) for each in trades}
    found = what_if(trades, paths, WhatIf())
    assert found.trades == tuple(trades)
    assert found.before == found.after


@given(CANDLES, RULES)
def test_no_rule_ends_a_trade_closed_by_hand_beyond_its_target_or_better_than_its_best_price(
    ranges: list[tuple[int, int]], rule: WhatIf
) -> None:
    one, way = trade(cells=99), steps(*ranges)
    [after] = what_if([one], {one.id: path_of(one, way, D(0))}, rule).trades
    best = max([D(1), *(each.gain / (10 * PIP) for each in way)])
    assert (after.r or D(0)) <= max(best, D(1))


def test_a_premium_is_part_of_r_and_not_of_the_way_to_the_stop() -> None:
    guaranteed = replace(trade(), initial_risk=D(125))  # 10 pips are 100, the premium is 25
    way = steps((0, -5))
    path = PricePath(tuple(way), way[-1].end_ns, D(0))
    found = what_if([guaranteed], {guaranteed.id: path}, WhatIf(stop=D("0.5")))
    assert found.trades[0].profit == -50
    assert found.trades[0].r == D("-0.4")
