"""Break-even with financing and fees, rounded to the side that protects."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keydesk_client.arithmetic.profit import HOME, Factors, profit
from keydesk_client.arithmetic.risk import break_even_stop, exact_break_even
from support.data.trading_contexts import estimated_factors

D = Decimal


EUR_FACTORS = Factors(D("0.91709295"), D("0.92630997"), D("0.92170146"))
YEN_FACTORS = Factors(D("0.00641079"), D("0.00647522"), D("0.00644301"))
USD_HOME = (D("1.08500"), D(50_000), D("-12.78"), HOME, 5)
EUR_HOME = (D("1.08500"), D(50_000), D("-11.84"), EUR_FACTORS, 5)
SHORT_YEN = (D("155.200"), D(-39_850), D("-6.40"), YEN_FACTORS, 3)
# Financing was paid to it, so that the stop lies on the losing side.
PAID_YEN = (D("169.626"), D(-214), D("6.2278"), estimated_factors(1 / D("169.626"), D("0.005")), 3)
Case = tuple[Decimal, Decimal, Decimal, Factors, int]


@pytest.mark.parametrize(
    ("case", "exact", "stop"),
    [
        (USD_HOME, "1.0852556", "1.08526"),
        (EUR_HOME, "1.0852582", "1.08526"),
        (SHORT_YEN, "155.174948", "155.174"),
    ],
)
def test_the_worked_break_evens(case: Case, exact: str, stop: str) -> None:
    entry, units, costs, factors, precision = case
    worked = exact_break_even(entry, units, costs, factors)
    assert worked.quantize(D(exact)) == D(exact)
    found = break_even_stop(
        entry=entry, units=units, costs=costs, factors=factors, precision=precision
    )
    assert found == D(stop)


def test_an_offset_locks_something_in() -> None:
    found = break_even_stop(
        entry=D("1.08500"),
        units=D(-1000),
        costs=D(0),
        factors=HOME,
        precision=5,
        offset=D("0.0002"),
    )
    assert found == D("1.08480")


@given(
    st.decimals("0.5", "200", places=5),
    st.integers(min_value=-1_000_000, max_value=1_000_000).filter(bool),
    st.decimals("-50", "50", places=4),
)
def test_a_break_even_stop_never_leaves_a_loss(entry: Decimal, units: int, costs: Decimal) -> None:
    for factors in (HOME, YEN_FACTORS, EUR_FACTORS):
        stop = break_even_stop(
            entry=entry, units=D(units), costs=costs, factors=factors, precision=5
        )
        # The quotient has 28 digits: allow for its last one.
        assert profit(D(units), entry, stop, factors) + costs >= D("-0.000001")


def test_financing_received_is_given_back_at_the_loss_factor() -> None:
    entry, units, costs, factors, precision = PAID_YEN
    exact = exact_break_even(entry, units, costs, factors)
    assert exact > entry, "the losing side of a short"
    assert abs(profit(units, entry, exact, factors) + costs) < D("1e-20")
    stop = break_even_stop(
        entry=entry, units=units, costs=costs, factors=factors, precision=precision
    )
    left = profit(units, entry, stop, factors) + costs
    assert D(0) <= left < D("0.01"), "with the gain factor 0.06 would be lost"
