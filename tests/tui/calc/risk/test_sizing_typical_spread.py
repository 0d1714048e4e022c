"""A wide spread is known by what the instrument's spread usually is."""

from decimal import Decimal

from keydesk.calc.risk.sizing import EVERY, TypicalSpreads

D = Decimal


def an_hour(*spreads: str) -> TypicalSpreads:
    typical = TypicalSpreads()
    for i in range(360):
        typical.note("EUR_USD", D(spreads[i % len(spreads)]), i * EVERY)
    return typical


def test_more_than_twice_the_median_is_wide() -> None:
    typical = an_hour("0.8", "0.8", "3.0")
    assert not typical.is_wide("EUR_USD", D("1.6"))
    assert typical.is_wide("EUR_USD", D("1.7"))


def test_nothing_is_wide_before_two_minutes_are_known() -> None:
    typical = TypicalSpreads()
    for i in range(11):
        typical.note("EUR_USD", D("0.8"), i * EVERY)
    assert not typical.is_wide("EUR_USD", D(50))
    typical.note("EUR_USD", D("0.8"), 11 * EVERY)
    assert typical.is_wide("EUR_USD", D(50))


def test_a_burst_of_prices_is_one_sample() -> None:
    typical = an_hour("0.8")
    for i in range(1000):
        typical.note("EUR_USD", D(9), 3600 + i / 1000)
    assert typical.is_wide("EUR_USD", D("1.7"))


def test_instruments_are_apart() -> None:
    assert not an_hour("0.8").is_wide("GBP_USD", D(50))
