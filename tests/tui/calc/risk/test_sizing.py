"""Units from risk, caps, and parts of a position."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keydesk.calc.risk.sizing import Caps, part, size, slippage_allowed
from keydesk_client.arithmetic.margin import margin_cap
from keydesk_client.arithmetic.profit import spread_cost
from keydesk_client.arithmetic.risk import units_for_risk

D = Decimal


def test_units_are_what_the_risk_buys_over_the_distance() -> None:
    assert units_for_risk(D(100), D("0.00200"), D(1)) == 50_000


def test_a_guarantee_costs_units() -> None:
    exact = units_for_risk(D(100), D("0.00200"), D(1), premium=D("0.00012"))
    assert size(exact, 0, Caps()).units == 47_169


def test_the_margin_available_caps_the_size() -> None:
    assert int(margin_cap(D(10_000), D("0.0333"), D("1.08495"), D(1))) == 271_251


@pytest.mark.parametrize(
    ("caps", "units", "name"),
    [
        (Caps(), 500, ""),
        (Caps(order=D(400)), 400, "order limit"),
        (Caps(position=D(300), order=D(400)), 300, "position limit"),
        (Caps(own=D(10), margin=D(20)), 10, "own limit"),
        (Caps(margin=D(-5)), 0, "margin"),
    ],
)
def test_the_tightest_cap_binds_and_is_named(caps: Caps, units: int, name: str) -> None:
    sized = size(D(500), 0, caps)
    assert sized.units == units
    assert sized.bound_by == name


@pytest.mark.parametrize(
    ("units", "percent", "precision", "left"),
    [
        ("3", "25", 0, "0"),
        ("0.9", "50", 1, "0.4"),
        ("-50000", "50", 0, "25000"),
        ("10001", "75", 0, "7500"),
    ],
)
def test_a_part_is_rounded_down(units: str, percent: str, precision: int, left: str) -> None:
    assert part(D(units), D(percent), precision) == D(left)


@given(st.decimals("0", "1000000000", places=6), st.integers(min_value=0, max_value=4))
def test_units_are_never_rounded_up(units: Decimal, precision: int) -> None:
    sized = size(units, precision, Caps()).units
    assert sized <= units
    assert units - sized < D(1).scaleb(-precision)


def test_the_cost_of_the_spread_in_home_currency() -> None:
    assert spread_cost(D(50_000), D("1.08490"), D("1.08500"), D(1)) == 5


def test_a_fill_may_slip_two_spreads_and_at_least_a_pip() -> None:
    assert slippage_allowed(D("1.08490"), D("1.08500"), D("0.0001")) == D("0.0002")
    assert slippage_allowed(D("1.08499"), D("1.08500"), D("0.0001")) == D("0.0001")
