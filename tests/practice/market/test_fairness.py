"""Prices between two fixings are as volatile as the fixings and do not give away where the next one is: a few pairs, one seed.

All pairs, five seeds and ten years are a bench: tests/bench/test_market_realism.py.
"""

from functools import cache

import numpy as np
import pytest

from keydesk_practice.market.bar_blocks import Component
from keydesk_practice.market.bar_builder import Range
from support.data.practice_market import candles, instant, practice_market
from support.realism import (
    HourlyRates,
    autocorrelation,
    deviation_t,
    drawn_rates,
    hourly_rates,
    kurtosis,
    pair_prices,
    published_ratio,
)
from support.strategies import STRATEGIES, profits, sharpe

HOUR = 3600 * 1_000_000_000
CROSSES = ("AUD_CAD", "NZD_CAD", "CHF_JPY", "USD_CHF", "EUR_USD", "USD_HKD")


@cache
def rates() -> HourlyRates:
    """Return the hourly rates of the currencies of the pairs for a year and a half."""
    currencies = {side for pair in CROSSES for side in pair.split("_")}
    return hourly_rates(practice_market(), "2021-01-01", "2022-07-01", currencies)


@pytest.mark.parametrize("pair", CROSSES)
def test_hourly_moves_are_as_volatile_as_those_from_fixing_to_fixing(pair: str) -> None:
    assert 0.85 < published_ratio(rates(), pair_prices(rates(), pair), pair) < 1.15


@pytest.mark.parametrize("pair", CROSSES)
def test_the_distance_from_the_last_fixing_predicts_nothing(pair: str) -> None:
    assert abs(deviation_t(pair_prices(rates(), pair))) < 3


@pytest.mark.parametrize("pair", ["AUD_CAD", "CHF_JPY"])
@pytest.mark.parametrize(
    "strategy", ["fade 1.5 sd of 12 h", "fade 1.5 sd of 24 h", "back to the last fixing"]
)
def test_fading_a_cross_earns_nothing(pair: str, strategy: str) -> None:
    prices = pair_prices(rates(), pair)
    assert sharpe(profits(prices, STRATEGIES[strategy](prices))) < 0.5


def test_volatility_comes_in_clusters_and_tails_are_fat() -> None:
    moves = np.diff(pair_prices(rates(), "EUR_USD").logs)
    assert abs(autocorrelation(moves, 1)) < 0.03
    assert autocorrelation(np.abs(moves), 24) > 0.1
    assert kurtosis(moves) > 5


def test_drawn_fixings_keep_the_sizes_of_the_moves() -> None:
    published = practice_market().rates
    drawn = drawn_rates(published, 1)
    moves, others = (np.abs(np.diff(one.logs[-500:], axis=0)) for one in (published, drawn))
    assert others == pytest.approx(moves, abs=1e-9)
    assert not np.allclose(published.logs[-1], drawn.logs[-1])


def test_the_hourly_rates_are_the_closes_of_the_candles() -> None:
    prices = pair_prices(rates(), "AUD_CAD")
    begin = instant("2021-03-25T00:00Z")
    hours = candles("AUD_CAD", "H1", "2021-03-31T00:00Z", Range(begin=begin, count=80))
    first = int(np.searchsorted(prices.hours, begin // HOUR))
    for place, hour in enumerate(hours):
        exact = float(np.exp(prices.logs[first + place + 1]))
        assert float(hour.prices[Component.MID].c) == pytest.approx(exact, abs=0.51e-5)
