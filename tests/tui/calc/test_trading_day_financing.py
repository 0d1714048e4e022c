"""Financing and spread: the worked numbers."""

from decimal import Decimal

from keydesk.calc.sizing import share_of_stop, slippage_allowed, spread_cost, spread_pips
from keydesk.calc.trading_day import financing, financing_in_quote

D = Decimal
CENT = D("0.01")


def test_the_published_example_of_a_charge() -> None:
    charge = financing_in_quote(D(100_000), D("1.15826"), D("-0.03"))
    assert charge.quantize(CENT) == D("-9.52")


def test_a_long_euro_over_night_and_over_wednesday() -> None:
    one = financing_in_quote(D(50_000), D("1.08495"), D("-0.0215"))
    three = financing_in_quote(D(50_000), D("1.08495"), D("-0.0215"), days=3)
    assert (one.quantize(CENT), three.quantize(CENT)) == (D("-3.20"), D("-9.59"))


def test_a_charge_converts_by_the_loss_factor() -> None:
    charge = financing(
        units=D(50_000),
        price=D("1.08495"),
        yearly_rate=D("-0.0215"),
        days=1,
        gain_factor=D("0.91709295"),
        loss_factor=D("0.92630997"),
    )
    assert charge.quantize(CENT) == D("-2.96")


def test_a_credit_converts_by_the_gain_factor() -> None:
    credit = financing(
        units=D(50_000),
        price=D(1),
        yearly_rate=D("0.0365"),
        days=1,
        gain_factor=D("0.5"),
        loss_factor=D(2),
    )
    assert credit == D("2.5")


def test_the_spread_in_pips_in_cash_and_of_the_stop() -> None:
    bid, ask = D("1.08490"), D("1.08500")
    assert spread_pips(bid, ask, D("0.0001")) == 1
    assert spread_cost(D(50_000), bid, ask, D(1)) == 5
    assert share_of_stop(bid, ask, D("0.00200")) == D("0.05")


def test_a_fill_may_slip_two_spreads_and_at_least_a_pip() -> None:
    assert slippage_allowed(D("1.08490"), D("1.08500"), D("0.0001")) == D("0.0002")
    assert slippage_allowed(D("1.08499"), D("1.08500"), D("0.0001")) == D("0.0001")
