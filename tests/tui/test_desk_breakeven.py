"""Break-even with financing and fees, rounded to the side that protects."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keydesk.desk.breakeven import break_even_stop, exact_break_even

D = Decimal


USD_HOME = (D("1.08500"), D(50_000), D("-12.78"), D(1), 5)
EUR_HOME = (D("1.08500"), D(50_000), D("-11.84"), D("0.91709295"), 5)
SHORT_YEN = (D("155.200"), D(-39_850), D("-6.40"), D("0.00641079"), 3)
Case = tuple[Decimal, Decimal, Decimal, Decimal, int]


@pytest.mark.parametrize(
    ("case", "exact", "stop"),
    [
        (USD_HOME, "1.0852556", "1.08526"),
        (EUR_HOME, "1.0852582", "1.08526"),
        (SHORT_YEN, "155.174948", "155.174"),
    ],
)
def test_the_worked_break_evens(case: Case, exact: str, stop: str) -> None:
    entry, units, costs, gain, precision = case
    worked = exact_break_even(entry, units, costs, gain)
    assert worked.quantize(D(exact)) == D(exact)
    found = break_even_stop(
        entry=entry, units=units, costs=costs, gain_factor=gain, precision=precision
    )
    assert found == D(stop)


def test_an_offset_locks_something_in() -> None:
    found = break_even_stop(
        entry=D("1.08500"),
        units=D(-1000),
        costs=D(0),
        gain_factor=D(1),
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
    stop = break_even_stop(entry=entry, units=D(units), costs=costs, gain_factor=D(1), precision=5)
    # The quotient has 28 digits: allow for its last one.
    assert units * (stop - entry) + costs >= D("-0.000001")
