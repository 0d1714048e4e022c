"""Financing of open units: the worked numbers of `docs/formulas.md`, the days that rollovers charge, the end of the week."""

from datetime import datetime
from decimal import Decimal

import pytest
from msgspec.structs import replace

from keydesk.calc.market.trading_day import NEW_YORK
from keydesk.calc.risk.financing import (
    days_to_friday,
    financing_of,
    minutes_to_rollover,
    minutes_to_week_end,
    next_charge,
)
from keydesk.calc.risk.trading_context import TradingContext
from support.data.trading_contexts import example_facts

D = Decimal
DAYS = (1, 1, 3, 1, 1, 0, 0)  # Monday first


def with_rates(home: str) -> TradingContext:
    context = example_facts(home=home)
    rates = replace(context.rules, long_rate=D("-0.0215"), short_rate=D("0.0105"))
    return replace(context, rules=rates)


@pytest.mark.parametrize(
    ("home", "days", "cost"), [("USD", 1, "-3.21"), ("USD", 3, "-9.63"), ("EUR", 1, "-2.95")]
)
def test_fifty_thousand_euros_held_long(home: str, days: int, cost: str) -> None:
    found = financing_of(with_rates(home), D(50_000), days)
    assert found is not None
    assert found.quantize(D("0.01")) == D(cost)


def test_what_is_no_pair_of_currencies_is_charged_on_its_value() -> None:
    gold = example_facts("XAU_USD")
    rates = replace(gold.rules, long_rate=D("-0.0365"))
    found = financing_of(replace(gold, rules=rates), D(10), 1)
    assert found == -gold.mid * D("0.0001") * 10


def test_a_short_earns_what_its_rate_says() -> None:
    found = financing_of(with_rates("USD"), D(-50_000), 1)
    assert found is not None
    assert found > 0


def test_without_rates_nothing_is_claimed() -> None:
    assert financing_of(example_facts(), D(50_000), 1) is None
    assert days_to_friday(0, ()) is None
    assert next_charge(0, ()) is None
    assert next_charge(0, (0,) * 7) is None, "no rollover charges anything"


def at(day: int, hour: int, minute: int = 0) -> int:
    """A moment of the week of 2 March 2026, a Monday, in New York."""
    return int(datetime(2026, 3, day, hour, minute, tzinfo=NEW_YORK).timestamp()) * 1_000_000_000


@pytest.mark.parametrize(
    ("moment", "following", "to_friday"),
    [
        (at(2, 9), (1, ""), 7),  # Monday morning
        (at(2, 17), (1, ""), 6),  # Monday's rollover is over
        (at(4, 12), (3, ""), 5),  # Wednesday charges three days
        (at(4, 18), (1, ""), 2),
        (at(6, 16, 59), (1, ""), 1),
        (at(6, 17), (1, "Mon"), 7),  # over the weekend, which charges nothing, to the next Friday
    ],
)
def test_the_days_that_rollovers_charge(
    moment: int, following: tuple[int, str], to_friday: int
) -> None:
    assert next_charge(moment, DAYS) == following
    assert days_to_friday(moment, DAYS) == to_friday


def test_the_last_hour_of_the_week_is_told() -> None:
    assert minutes_to_week_end(at(6, 15, 59)) is None
    assert minutes_to_week_end(at(6, 16, 30)) == 30
    assert minutes_to_week_end(at(5, 16, 30)) is None


def test_rollover_is_at_five_in_new_york_in_winter_and_summer() -> None:
    assert minutes_to_rollover(1_772_056_740_000_000_000) == 1  # 2026-02-25 21:59 UTC
    assert minutes_to_rollover(1_783_976_340_000_000_000) == 1  # 2026-07-13 20:59 UTC
    assert minutes_to_rollover(1_772_000_000_000_000_000) is None
