"""The price at which a single position closes the account out: the worked numbers of `docs/formulas.md`."""

from decimal import Decimal

import pytest

from keydesk.calc.risk.margin import closeout_price

D = Decimal


@pytest.mark.parametrize(("units", "at"), [(50_000, "0.89998"), (-50_000, "1.26386")])
def test_the_worked_example(units: int, at: str) -> None:
    found = closeout_price(
        signed_units=D(units),
        mid=D("1.08495"),
        margin_rate=D("0.0333"),
        position_value=D(1),
        margin_used=D("1806.44"),
        mid_nav=D("9997.50"),
    )
    assert found is not None
    assert found.quantize(D("0.00001")) == D(at)


def test_a_small_long_position_never_closes_the_account_out() -> None:
    found = closeout_price(
        signed_units=D(1_000),
        mid=D("1.08495"),
        margin_rate=D("0.0333"),
        position_value=D(1),
        margin_used=D("36.13"),
        mid_nav=D(10_000),
    )
    assert found is None
