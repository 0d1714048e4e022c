"""Exit plans: what they do at a price and a time. A stop is only moved nearer to the price: never away, never taken off."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as some
from msgspec.structs import replace

from keydesk.calc.orders.field_draft import Entry, UnreadableText
from keydesk.calc.orders.plans.exit_plans import (
    NO_RULES,
    ExitPlan,
    ExitRules,
    PlanStep,
    Units,
    effective_stop,
    initial_risk_of,
    next_step,
    problem_of,
    resolved,
    with_break_even_done,
)
from keydesk.values import DependentOrder, TradeRow
from support.data.desk_store import long_euro

D = Decimal
PIP = D("0.0001")
HOUR_NS = 3_600_000_000_000


def trade_of(*, long: bool = True, stop: str | None = "1.08240") -> TradeRow:
    """20,000 at 1.08440, its stop 20 pips away."""
    trade = long_euro()
    trade.stop_loss = None if stop is None else DependentOrder("6412", D(stop))
    trade.initial_stop = None if stop is None else D(stop)
    if not long:
        trade.units = -trade.units
        trade.stop_loss = DependentOrder("6412", D("1.08640"))
        trade.initial_stop = D("1.08640")
    return trade


def step(plan: ExitPlan, trade: TradeRow, price: str, now_ns: int = 0) -> PlanStep | None:
    entry = trade.price
    offset = plan.break_even_offset * (1 if trade.units > 0 else -1)
    return next_step(
        plan,
        trade,
        close=D(price),
        break_even=entry + offset,
        precision=5,
        now_ns=now_ns,
    )


EVEN = ExitPlan(break_even_after=20 * PIP)
TRAIL = ExitPlan(trail_after=20 * PIP, trail_distance=15 * PIP, trail_step=5 * PIP)


def test_at_the_profit_the_stop_goes_to_break_even_and_not_a_pip_before() -> None:
    assert step(EVEN, trade_of(), "1.08639") is None
    assert step(EVEN, trade_of(), "1.08640") == PlanStep("break-even", D("1.08440"))


def test_of_a_short_trade_profit_is_below_the_entry() -> None:
    short = trade_of(long=False)
    assert step(EVEN, short, "1.08241") is None
    assert step(EVEN, short, "1.08240") == PlanStep("break-even", D("1.08440"))


def test_the_offset_locks_some_pips_in() -> None:
    plan = replace(EVEN, break_even_offset=2 * PIP)
    assert step(plan, trade_of(), "1.08650") == PlanStep("break-even", D("1.08460"))
    assert step(plan, trade_of(long=False), "1.08230") == PlanStep("break-even", D("1.08420"))


def test_break_even_is_done_once_even_if_financing_moves_it_later() -> None:
    trade = trade_of(stop="1.08440")
    done = with_break_even_done(EVEN, trade, D("1.08440"))
    assert done.break_even_done
    assert step(done, trade, "1.08700") is None
    assert not with_break_even_done(EVEN, trade, D("1.08441")).break_even_done


def test_a_nearer_stop_of_any_kind_is_left_alone() -> None:
    for name in ("stop_loss", "trailing_stop", "guaranteed_stop"):
        trade = trade_of()
        setattr(trade, name, DependentOrder("1", D("1.08500")))
        assert step(EVEN, trade, "1.08700") is None


def test_the_stop_follows_in_steps() -> None:
    trade = trade_of()
    assert step(TRAIL, trade, "1.08639") is None
    for price, stop in (("1.08640", "1.08490"), ("1.08689", "1.08490"), ("1.08690", "1.08540")):
        assert step(TRAIL, trade, price) == PlanStep("step trail", D(stop))
    trade.stop_loss = DependentOrder("6412", D("1.08540"))
    assert step(TRAIL, trade, "1.08650") is None, "it never goes back"


def test_where_both_move_it_the_nearer_one_counts() -> None:
    both = replace(TRAIL, break_even_after=20 * PIP)
    assert step(both, trade_of(), "1.08640") == PlanStep("step trail", D("1.08490"))


def test_a_stop_that_would_fire_now_is_not_sent() -> None:
    plan = replace(EVEN, break_even_offset=30 * PIP)
    assert step(plan, trade_of(), "1.08650") is None


def test_of_a_trade_without_a_stop_it_is_the_first_one() -> None:
    assert step(EVEN, trade_of(stop=None), "1.08640") == PlanStep("break-even", D("1.08440"))


def test_a_guaranteed_stop_is_moved_itself_and_keeps_its_least_distance() -> None:
    trade = trade_of()
    trade.stop_loss, trade.guaranteed_stop = None, trade.stop_loss
    assert step(EVEN, trade, "1.08650") == PlanStep("break-even", D("1.08440"), guaranteed=True)
    near = next_step(
        EVEN,
        trade,
        close=D("1.08650"),
        break_even=D("1.08440"),
        precision=5,
        now_ns=0,
        room=30 * PIP,
    )
    assert near is None


def test_at_its_time_the_trade_is_closed_whatever_the_price() -> None:
    plan = replace(EVEN, close_at_ns=HOUR_NS)
    assert step(plan, trade_of(), "1.08700", HOUR_NS - 1) == PlanStep("break-even", D("1.08440"))
    assert step(plan, trade_of(), "1.08700", HOUR_NS) == PlanStep("time stop")


UNITS = Units(PIP, 20 * PIP, 12 * PIP)


def test_rules_in_r_pips_and_atr_become_distances() -> None:
    rules = ExitRules(
        break_even_at=Entry("1", "R"),
        break_even_offset_pips=D(1),
        trail_from=Entry("1.5", "R"),
        trail_behind=Entry("1", "ATR"),
        trail_step=Entry("5", "pips"),
        close_after_minutes=D(90),
    )
    assert resolved(rules, UNITS, 7) == ExitPlan(
        break_even_after=20 * PIP,
        break_even_offset=PIP,
        trail_after=30 * PIP,
        trail_distance=12 * PIP,
        trail_step=5 * PIP,
        close_at_ns=7 + 90 * 60_000_000_000,
    )
    assert rules.text == (
        "break-even +1p at 1R, trail from 1.5R 1a behind in steps of 5p, close after 90 min"
    )


def test_a_trail_left_without_distance_and_step_follows_one_r_behind_pip_by_pip() -> None:
    plan = resolved(ExitRules(trail_from=Entry("1", "R")), UNITS, 0)
    assert plan == ExitPlan(trail_after=20 * PIP, trail_distance=20 * PIP, trail_step=PIP)


@pytest.mark.parametrize(
    ("rules", "reason"),
    [
        (ExitRules(break_even_at=Entry("1,5", "R")), "has a comma"),
        (ExitRules(break_even_at=Entry("-1", "pips")), "is below 0"),
        (ExitRules(trail_from=Entry("1", "R")), "is not known"),
        (ExitRules(trail_behind=Entry("1", "ATR")), "is not known"),
    ],
)
def test_rules_that_cannot_be_counted_say_why(rules: ExitRules, reason: str) -> None:
    plan = resolved(rules, Units(PIP, None, None), 0)
    assert isinstance(plan, UnreadableText)
    assert reason in plan.reason


def test_nonsense_is_named() -> None:
    assert "no profit" in problem_of(ExitPlan(break_even_after=D(0)))
    assert "offset" in problem_of(ExitPlan(break_even_after=PIP, break_even_offset=PIP))
    assert "distance above 0" in problem_of(ExitPlan(trail_after=PIP, trail_step=PIP))
    assert problem_of(EVEN) == problem_of(TRAIL) == ""
    assert NO_RULES.is_empty
    assert ExitPlan().is_empty


def test_r_is_what_the_trade_began_with() -> None:
    trade = trade_of()
    trade.stop_loss = DependentOrder("6412", D("1.08500"))
    assert initial_risk_of(trade) == 20 * PIP
    trade.initial_stop = None
    assert initial_risk_of(trade) is None, "a stop past the entry is no risk"


distances = some.integers(1, 60).map(lambda pips: pips * PIP)
plans = some.builds(
    ExitPlan,
    break_even_after=some.none() | distances,
    break_even_offset=some.integers(0, 40).map(lambda pips: pips * PIP),
    trail_after=some.none() | some.integers(0, 60).map(lambda pips: pips * PIP),
    trail_distance=distances,
    trail_step=distances,
    close_at_ns=some.none() | some.integers(0, 200),
)
moves = some.lists(some.integers(-150, 150), max_size=60)


@given(plan=plans, path=moves, long=some.booleans(), unprotected=some.booleans())
def test_over_any_path_a_stop_only_comes_nearer_and_never_fires_by_being_set(
    plan: ExitPlan, path: list[int], long: bool, unprotected: bool
) -> None:
    trade = trade_of(long=long)
    if unprotected:
        trade.stop_loss = None
    direction = 1 if long else -1
    price = trade.price
    for now_ns, moved in enumerate(path):
        price += moved * PIP / 10
        before = effective_stop(trade)
        if before is not None and direction * (price - before) <= 0:
            return  # the stop was hit
        does = step(plan, trade, f"{price}", now_ns)
        if does is None:
            continue
        if does.stop is None:
            assert plan.close_at_ns is not None
            assert now_ns >= plan.close_at_ns
            return
        assert before is None or direction * (does.stop - before) > 0
        assert direction * (price - does.stop) > 0
        trade.stop_loss = DependentOrder("6412", does.stop)
        again = step(plan, trade, f"{price}", now_ns)
        assert again is None, "done once: the same price asks for nothing more"
