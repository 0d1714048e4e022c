"""The worked numbers of conversion, profit and averages."""

from decimal import Decimal

import pytest

from keydesk_client.arithmetic.profit import (
    HOME,
    average_price,
    closing_price,
    home_profit,
    notional,
    pip_value,
    profit,
    profit_in_pips,
)
from support.data.trading_contexts import estimated_factors

FEE = Decimal("0.005")
PIP = Decimal("0.0001")


@pytest.mark.parametrize(
    ("value", "gain", "loss"),
    [
        (Decimal("1.08495"), "1.07952525", "1.09037475"),
        (Decimal("1.26736"), "1.26102320", "1.27369680"),
        (1 / Decimal("155.207"), "0.00641079", "0.00647522"),
        (1 / Decimal("1.08495"), "0.91709295", "0.92630997"),
        (1 / Decimal("0.85607"), "1.16228813", "1.17396942"),
        (1 / Decimal("168.395"), "0.00590873", "0.00596811"),
    ],
)
def test_a_conversion_costs_half_a_percent_both_ways(value: Decimal, gain: str, loss: str) -> None:
    factors = estimated_factors(value, FEE)
    assert factors.gain.quantize(Decimal("1e-8")) == Decimal(gain)
    assert factors.loss.quantize(Decimal("1e-8")) == Decimal(loss)
    assert factors.value == value


def test_a_hundred_dollars_of_gain_become_pounds_as_the_broker_says() -> None:
    factors = estimated_factors(Decimal("0.770025"), FEE)
    assert factors.gain == Decimal("0.766174875")
    assert home_profit(Decimal(100), factors) == Decimal("76.6174875")


def test_a_gain_and_a_loss_convert_at_their_own_factor() -> None:
    yen = estimated_factors(1 / Decimal("155.207"), FEE)
    gain = profit(Decimal(-39850), Decimal("155.200"), Decimal("154.400"), yen)
    loss = profit(Decimal(-39850), Decimal("155.200"), Decimal("155.600"), yen)
    assert gain.quantize(Decimal("0.01")) == Decimal("204.38")
    assert loss.quantize(Decimal("0.01")) == Decimal("-103.22")


def test_a_long_closes_at_the_bid_and_a_short_at_the_ask() -> None:
    assert closing_price(Decimal(1), Decimal("1.1"), Decimal("1.2")) == Decimal("1.1")
    assert closing_price(Decimal(-1), Decimal("1.1"), Decimal("1.2")) == Decimal("1.2")


def test_profit_in_pips_counts_the_trades_own_way() -> None:
    assert profit_in_pips(Decimal(5), Decimal("1.08500"), Decimal("1.08620"), PIP) == Decimal(12)
    assert profit_in_pips(Decimal(-5), Decimal("1.08500"), Decimal("1.08620"), PIP) == Decimal(-12)


@pytest.mark.parametrize(
    ("units", "pip", "value", "worth"),
    [
        (50000, "0.0001", Decimal(1), "5.0000"),
        (-38608, "0.01", 1 / Decimal("155.207"), "2.4875"),
        (39255, "0.0001", Decimal("1.26736"), "4.9750"),
    ],
)
def test_what_a_pip_is_worth(units: int, pip: str, value: Decimal, worth: str) -> None:
    factors = estimated_factors(value, FEE)
    assert pip_value(Decimal(units), Decimal(pip), factors).quantize(Decimal("0.0001")) == Decimal(
        worth
    )


def test_the_size_of_a_position_in_home_currency() -> None:
    assert notional(Decimal(50000), Decimal("1.08495"), HOME) == Decimal("54247.50")


def test_a_position_stands_at_the_average_of_its_trades() -> None:
    parts = [(Decimal(30000), Decimal("1.0850")), (Decimal(20000), Decimal("1.0830"))]
    assert average_price(parts) == Decimal("1.08420")


def test_the_average_of_shorts_is_weighted_the_same() -> None:
    assert average_price([(Decimal(-1), Decimal(2)), (Decimal(-3), Decimal(4))]) == Decimal("3.5")


def test_nothing_has_no_average() -> None:
    assert average_price([]) is None
