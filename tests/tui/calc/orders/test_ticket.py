"""The ticket's arithmetic: every worked number of `docs/formulas.md` and more, to the digit."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from keydesk.calc.orders.field_draft import Entry
from keydesk.calc.orders.ticket import Plan, margin_added, work_out
from keydesk.calc.orders.ticket_draft import Draft, Side
from keydesk.calc.orders.ticket_settings import Limits
from support.data.trading_contexts import example_facts

D = Decimal
LIMITS = Limits()

WORKED = """
USD BUY EUR_USD 1.08300 1.08900 | 50000 5.0000 100.00 200.00 2.00 54247.50 1806.44 5.0
USD SELL USD_JPY 155.600 154.400 | 38608 2.4875 100.00 198.01 1.98 38608.00 1285.65 3.5
USD BUY EUR_GBP 0.85414 0.86014 | 39255 4.9750 100.00 198.01 1.98 42589.67 1418.24 7.0
USD BUY XAU_USD 2335.60 2365.60 | 10 0.1000 100.00 200.00 2.00 23454.00 1172.70 4.0
USD SELL SPX500_USD 5320.2 5260.2 | 5.0 5.0000 100.00 200.00 2.00 26502.50 1325.12 3.0
USD BUY DE30_EUR 18401.2 18701.2 | 0.9 0.9765 98.13 194.31 1.98 18065.00 903.25 1.2
EUR BUY EUR_USD 1.08300 1.08900 | 53977 4.9751 100.00 198.01 1.98 53977.00 1797.43 5.0
EUR SELL USD_JPY 155.600 154.400 | 41889 2.4875 100.00 198.01 1.98 38608.43 1285.66 3.5
EUR BUY EUR_GBP 0.85414 0.86014 | 42590 4.9751 100.00 198.01 1.98 42590.00 1418.25 7.0
EUR BUY XAU_USD 2335.60 2365.60 | 10 0.0922 92.63 183.42 1.98 21617.59 1080.88 4.0
EUR SELL SPX500_USD 5320.2 5260.2 | 5.3 4.8850 98.19 194.42 1.98 25893.04 1294.65 3.0
EUR BUY DE30_EUR 18401.2 18701.2 | 1.0 1.0000 100.00 200.00 2.00 18500.60 925.03 1.2
"""


def risk_draft(side: Side, instrument: str, stop: str, target: str = "") -> Draft:
    return Draft(
        side=side,
        instrument=instrument,
        size=Entry("1", "risk %"),
        stop=Entry(stop, "price"),
        target=Entry(target, "price"),
    )


def to(value: Decimal | None, places: str) -> Decimal:
    assert value is not None
    return value.quantize(D(places))


@pytest.mark.parametrize("row", WORKED.strip().splitlines())
def test_the_worked_sizing_table(row: str) -> None:
    left, _, right = row.partition("|")
    home, side, instrument, stop, target = left.split()
    units, pip, risk, reward, ratio, notional, margin, share = right.split()
    draft = risk_draft("BUY" if side == "BUY" else "SELL", instrument, stop, target)
    plan = work_out(draft, example_facts(instrument, home), LIMITS)
    assert plan.units == D(units)
    assert plan.bound_by == ""
    assert to(plan.pip_value, "0.0001") == D(pip)
    assert to(plan.risk, "0.01") == D(risk)
    assert to(plan.reward, "0.01") == D(reward)
    assert to(plan.ratio, "0.01") == D(ratio)
    # The table was made from exact conversion rates, ours are rounded to eight decimals.
    assert abs(plan.notional - D(notional)) <= D("0.02")
    assert abs(plan.margin - D(margin)) <= D("0.01")
    assert plan.distance is not None
    assert to(100 * plan.spread / plan.distance, "0.1") == D(share)


def test_a_two_pip_stop_is_capped_by_margin() -> None:
    plan = work_out(risk_draft("BUY", "EUR_USD", "1.08480"), example_facts(), LIMITS)
    assert (plan.units, plan.bound_by) == (D(271_251), "margin")
    assert to(plan.risk, "0.01") == D("54.25")


def test_a_market_order_is_bounded_by_two_spreads() -> None:
    buy = work_out(risk_draft("BUY", "EUR_USD", "1.08300"), example_facts(), LIMITS)
    sell = work_out(risk_draft("SELL", "EUR_USD", "1.08700"), example_facts(), LIMITS)
    assert buy.levels.bound == D("1.08520")
    assert sell.levels.bound == D("1.08470")


def test_fifteen_under_the_market_is_typed_as_minus_fifteen() -> None:
    draft = replace(
        risk_draft("BUY", "EUR_USD", "1.08100"), kind="LIMIT", price=Entry("-15", "price")
    )
    assert work_out(draft, example_facts(), LIMITS).levels.entry == D("1.08350")


@pytest.mark.parametrize(
    ("side", "kind", "entry"),
    [
        ("BUY", "LIMIT", "1.08350"),
        ("BUY", "STOP", "1.08650"),
        ("SELL", "LIMIT", "1.08640"),
        ("SELL", "STOP", "1.08340"),
    ],
)
def test_pips_of_a_pending_order_go_to_its_own_side(side: Side, kind: str, entry: str) -> None:
    draft = Draft(
        side=side,
        instrument="EUR_USD",
        kind="LIMIT" if kind == "LIMIT" else "STOP",
        price=Entry("15", "pips"),
    )
    assert work_out(draft, example_facts(), LIMITS).levels.entry == D(entry)


def test_a_target_in_r_is_a_multiple_of_the_stop() -> None:
    draft = replace(
        risk_draft("BUY", "EUR_USD", "20"), stop=Entry("20", "pips"), target=Entry("2", "R")
    )
    levels = work_out(draft, example_facts(), LIMITS).levels
    assert (levels.stop, levels.target) == (D("1.08300"), D("1.08900"))


def test_the_position_after_is_shown_netted() -> None:
    plan = work_out(
        risk_draft("BUY", "EUR_USD", "1.08300"), example_facts(net_units="20000"), LIMITS
    )
    assert (plan.position_before, plan.position_after) == (D(20_000), D(70_000))


def test_reducing_a_netted_position_frees_margin() -> None:
    context = example_facts(net_units="50000")
    assert margin_added(context, D(-20_000)) < 0
    assert margin_added(context, D(-100_000)) == 0


def test_a_hedging_account_pays_for_the_larger_side() -> None:
    context = example_facts(net_units="50000", hedging=True)
    assert margin_added(context, D(-20_000)) == 0
    assert margin_added(context, D(-60_000)) == 10_000 * D("0.0333") * D("1.08495")


def test_nothing_typed_is_no_units_and_no_risk() -> None:
    plan = work_out(Draft("BUY", "EUR_USD"), example_facts(), LIMITS)
    assert plan.units == 0
    assert plan.risk is None


@given(
    risk=st.decimals("0.01", "5", places=2),
    stop=st.integers(min_value=2, max_value=500),
    instrument=st.sampled_from(["EUR_USD", "USD_JPY", "EUR_GBP", "DE30_EUR"]),
    home=st.sampled_from(["USD", "EUR"]),
)
def test_a_size_by_risk_never_risks_more_than_asked(
    risk: Decimal, stop: int, instrument: str, home: str
) -> None:
    context = example_facts(instrument, home)
    draft = Draft("BUY", instrument, size=Entry(f"{risk}", "risk %"), stop=Entry(str(stop), "pips"))
    plan: Plan = work_out(draft, context, LIMITS)
    assert plan.risk is not None
    assert plan.risk <= context.funds.nav * risk / 100
    assert plan.margin <= context.funds.margin_available


@given(stop=st.integers(min_value=1, max_value=900), side=st.sampled_from(["BUY", "SELL"]))
def test_the_bound_is_never_better_than_the_touch(stop: int, side: str) -> None:
    context = example_facts("USD_JPY")
    draft = Draft("BUY" if side == "BUY" else "SELL", "USD_JPY", bound=Entry(str(stop), "pips"))
    bound = work_out(draft, context, LIMITS).levels.bound
    assert isinstance(bound, Decimal)
    assert bound >= context.ask if side == "BUY" else bound <= context.bid


@pytest.mark.parametrize("mid_nav", [None, D("9990.00")])
def test_the_closeout_after_a_ticket_is_of_nav_at_mid_prices(mid_nav: Decimal | None) -> None:
    context = example_facts()
    context = replace(context, funds=replace(context.funds, mid_nav=mid_nav))
    draft = Draft(side="BUY", instrument="EUR_USD", size=Entry("50000", "units"))
    plan = work_out(draft, context, LIMITS)
    after = (mid_nav or D(10_000)) - D("2.50")  # 50,000 at half a spread of one pip
    assert to(plan.closeout_after, "1e-9") == to(D("1806.44175") / 2 / after, "1e-9")
    if mid_nav is None:
        assert to(plan.closeout_after * 100, "0.01") == D("9.03")
