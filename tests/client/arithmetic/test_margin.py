"""The worked numbers of margin and closeout."""

from decimal import Decimal

import pytest

from keydesk_client.arithmetic.margin import (
    CLOSEOUT,
    closeout_percent,
    effective_rate,
    margin_available,
    position_units,
    required_margin,
)

RATE = Decimal("0.0333")
MID = Decimal("1.08495")


def test_the_accounts_own_rate_only_raises_the_margin() -> None:
    assert effective_rate(Decimal("0.0333"), None) == Decimal("0.0333")
    assert effective_rate(Decimal("0.0333"), Decimal("0.02")) == Decimal("0.0333")
    assert effective_rate(Decimal("0.0333"), Decimal("0.05")) == Decimal("0.05")


@pytest.mark.parametrize(
    ("units", "rate", "mid", "value", "margin"),
    [
        ("50000", "0.0333", "1.08495", Decimal(1), "1806.44"),
        ("-38608", "0.0333", "155.207", 1 / Decimal("155.207"), "1285.65"),
        ("39255", "0.0333", "0.85607", Decimal("1.26736"), "1418.24"),
        ("10", "0.05", "2345.40", Decimal(1), "1172.70"),
        ("5.3", "0.05", "5300.5", 1 / Decimal("1.08495"), "1294.65"),
        ("1.0", "0.05", "18500.6", Decimal(1), "925.03"),
    ],
)
def test_margin_is_rate_times_size(
    units: str, rate: str, mid: str, value: Decimal, margin: str
) -> None:
    required = required_margin(Decimal(units), Decimal(rate), Decimal(mid), value)
    assert required.quantize(Decimal("0.01")) == Decimal(margin)


def test_of_two_sides_only_the_larger_needs_margin() -> None:
    assert position_units(Decimal(30000), Decimal(-20000)) == Decimal(30000)
    assert position_units(Decimal(10000), Decimal(-20000)) == Decimal(20000)


def test_margin_available_is_never_negative() -> None:
    assert margin_available(Decimal(100), Decimal(40)) == Decimal(60)
    assert margin_available(Decimal(100), Decimal(140)) == Decimal(0)


def test_the_closeout_percent_of_the_brokers_example() -> None:
    assert closeout_percent(Decimal("28556.64"), Decimal(49900)).quantize(
        Decimal("0.0001")
    ) == Decimal("0.2861")


def test_an_account_without_positions_is_far_from_closeout() -> None:
    assert closeout_percent(Decimal(0), Decimal(0)) == 0


def test_an_account_with_nothing_left_is_at_closeout() -> None:
    assert closeout_percent(Decimal(10), Decimal(-1)) == CLOSEOUT
