"""Correlation of returns, and the risk of trades together."""

import math
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keydesk.calc.risk.exposure import (
    ENOUGH,
    Correlation,
    SignedRisk,
    correlation,
    correlations,
    effective_risk,
)

D = Decimal


def closes(values: list[float], start: int = 0) -> dict[int, float]:
    return {start + at: value for at, value in enumerate(values)}


WAVE = [1.1 + math.sin(at) / 100 for at in range(121)]


def test_the_same_path_is_one_and_its_inverse_minus_one() -> None:
    value, count = correlation(closes(WAVE), closes([2 * each for each in WAVE]))
    assert value == pytest.approx(1)
    assert count == 120
    value, _ = correlation(closes(WAVE), closes([1 / each for each in WAVE]))
    assert value == pytest.approx(-1)


def test_a_value_as_numpy_computes_it() -> None:
    first = [math.exp(each) for each in (0, 0.1, 0.3, 0.2, 0.6, 0.5)]
    second = [math.exp(each) for each in (0, 0.2, 0.3, 0.1, 0.4, 0.6)]
    value, count = correlation(closes(first), closes(second))
    assert count == 5
    assert value == pytest.approx(0.6126788517448)


def test_only_periods_that_both_have_count() -> None:
    value, count = correlation(closes(WAVE), closes(WAVE[60:], start=60))
    assert value == pytest.approx(1)
    assert count == 60


@pytest.mark.parametrize("other", [{}, {0: 1.0}, closes([1.1] * 121), closes([0.0] * 121)])
def test_too_few_or_still_prices_have_none(other: dict[int, float]) -> None:
    value, _ = correlation(closes(WAVE), other)
    assert value is None


def test_every_two_instruments_are_compared_once() -> None:
    found = correlations({"A": closes(WAVE), "B": closes(WAVE), "C": {}})
    assert [(each.first, each.second) for each in found] == [("A", "B"), ("A", "C"), ("B", "C")]
    assert [each.is_enough for each in found] == [True, False, False]
    assert not Correlation("A", "B", 0.9, ENOUGH - 1).is_enough


def test_the_worked_effective_risk() -> None:
    risks = [SignedRisk("A", D(100)), SignedRisk("B", D(80))]
    found = effective_risk(risks, [Correlation("A", "B", 0.82, 120)])
    assert round(found.together, 2) == D("171.81")
    assert found.added == 180


def test_opposite_sides_of_what_moves_together_offset() -> None:
    risks = [SignedRisk("A", D(100)), SignedRisk("B", D(-100))]
    assert effective_risk(risks, [Correlation("A", "B", 1.0, 120)]).together == 0


def test_an_unknown_pair_counts_as_if_both_lose() -> None:
    risks = [SignedRisk("A", D(100)), SignedRisk("B", D(-80))]
    found = effective_risk(risks, [Correlation("A", "B", None, 3)])
    assert found.together == 180
    assert found.unknown == 1


@given(
    st.lists(st.integers(-1000, 1000), min_size=1, max_size=5),
    st.lists(st.floats(-1, 1), min_size=10, max_size=10),
)
def test_together_is_never_more_than_the_sum(amounts: list[int], values: list[float]) -> None:
    names = "ABCDE"
    risks = [SignedRisk(names[at], D(amount)) for at, amount in enumerate(amounts)]
    known = [
        Correlation(one, other, values.pop(), 120)
        for at, one in enumerate(names)
        for other in names[at + 1 :]
    ]
    found = effective_risk(risks, known)
    assert 0 <= found.together <= found.added + D("0.0001")
