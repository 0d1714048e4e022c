"""The worked numbers of risk to the stops and of R."""

from decimal import Decimal

from keydesk_client.arithmetic.profit import HOME
from keydesk_client.arithmetic.risk import (
    locked_profit,
    nearest_stop,
    open_risk,
    r_multiple,
    reward,
    trailing_stop,
)
from support.data.trading_contexts import estimated_factors

LONG = Decimal(50000)
ENTRY = Decimal("1.08500")
YEN = estimated_factors(1 / Decimal("155.207"), Decimal("0.005"))


def test_the_risk_of_a_twenty_pip_stop() -> None:
    assert open_risk(LONG, ENTRY, Decimal("1.08300"), HOME) == Decimal(100)


def test_the_risk_of_a_short_converts_at_the_loss_factor() -> None:
    risk = open_risk(Decimal(-38608), Decimal("155.200"), Decimal("155.600"), YEN)
    assert risk.quantize(Decimal("0.01")) == Decimal("100.00")


def test_the_reward_converts_at_the_gain_factor() -> None:
    gain = reward(Decimal(-38608), Decimal("155.200"), Decimal("154.400"), YEN)
    assert gain.quantize(Decimal("0.01")) == Decimal("198.01")


def test_a_target_on_the_losing_side_is_a_loss() -> None:
    assert reward(LONG, ENTRY, Decimal("1.08400"), HOME) == Decimal(-50)


def test_a_stop_past_the_entry_risks_nothing_and_locks_a_profit() -> None:
    stop = trailing_stop(LONG, Decimal("1.08720"), Decimal("0.00150"))
    assert stop == Decimal("1.08570")
    assert open_risk(LONG, ENTRY, stop, HOME) == 0
    assert locked_profit(LONG, ENTRY, stop, HOME) == Decimal("35.00")


def test_a_shorts_trailing_stop_stands_above_its_best() -> None:
    assert trailing_stop(Decimal(-1), Decimal("1.08000"), Decimal("0.00150")) == Decimal("1.08150")


def test_a_stop_before_the_entry_locks_nothing() -> None:
    assert locked_profit(LONG, ENTRY, Decimal("1.08300"), HOME) == 0


def test_the_nearest_of_several_stops_counts() -> None:
    assert nearest_stop(LONG, [Decimal("1.08"), None, Decimal("1.083")]) == Decimal("1.083")
    assert nearest_stop(-LONG, [Decimal("1.09"), Decimal("1.0875")]) == Decimal("1.0875")
    assert nearest_stop(LONG, [None, None]) is None


def test_r_is_the_result_over_the_first_risk() -> None:
    result = r_multiple(Decimal("61.30"), Decimal(100))
    assert result is not None
    assert result.quantize(Decimal("0.01")) == Decimal("0.61")


def test_without_a_first_stop_there_is_no_r() -> None:
    assert r_multiple(Decimal("61.30"), None) is None
