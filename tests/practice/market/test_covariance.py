"""The noise between two fixings: the covariance of the fixings before it, and streams of numbers in common."""

import numpy as np
import pytest

from keydesk_practice.market.covariance import BLOCK, LIQUIDITY, NoiseModel, cholesky
from keydesk_practice.market.fixings import Fixings
from keydesk_practice.market.instruments import CURRENCIES
from keydesk_practice.market.jumps import fit_factor_model, jumps_of
from keydesk_practice.market.reference import ReferenceRates
from keydesk_practice.market.rng import STEP_DEVIATION, Purpose, Rng
from support.data.practice_market import practice_market

RNG = Rng(7)
BLOCKS = 5


def noise_of(rates: ReferenceRates) -> NoiseModel:
    model = fit_factor_model(rates.currencies, rates.logs)
    return NoiseModel(rates, model, jumps_of(rates, model), RNG)


def first_rates(count: int) -> ReferenceRates:
    rates = practice_market().rates
    return ReferenceRates(rates.days[:count], rates.currencies, rates.logs[:count])


def test_every_currency_has_a_stream() -> None:
    assert set(LIQUIDITY) == set(CURRENCIES)


def test_a_factor_times_itself_is_the_matrix() -> None:
    matrices = noise_of(first_rates(200)).covariances(2)
    factors = cholesky(matrices)
    assert np.einsum("nij,nkj->nik", factors, factors) == pytest.approx(matrices, rel=1e-9)
    assert (np.triu(factors, 1) == 0).all()


def test_the_covariance_knows_only_the_moves_before_it() -> None:
    count = 2 * BLOCK
    whole, part = noise_of(first_rates(count + 200)), noise_of(first_rates(count + 1))
    for block in range(2):
        assert (whole.covariances(block) == part.covariances(block)).all()
        assert (whole.factor(block * BLOCK) == part.factor(block * BLOCK)).all()


def test_blocks_go_on_where_the_one_before_ends() -> None:
    noise = noise_of(first_rates(BLOCKS * BLOCK))
    for block in range(1, BLOCKS - 1):
        last, first = noise.covariances(block - 1)[-1], noise.covariances(block)[0]
        assert np.abs(first - last).max() < 0.2 * np.abs(last).max()


def test_a_currency_without_rates_moves_with_its_parent() -> None:
    rates = first_rates(BLOCKS * BLOCK)
    covariance = noise_of(rates).covariances(2)[0]
    usd, yuan = (rates.currencies.index(one) for one in ("USD", "CNY"))
    assert np.isnan(rates.logs[:, yuan]).all()
    assert covariance[usd, yuan] == pytest.approx(covariance[usd, usd], rel=0.001)
    assert covariance[yuan, yuan] > covariance[usd, usd]


def test_the_size_of_an_interval_is_one_on_average() -> None:
    noise = practice_market()._pairs.fixings.noise
    sizes = np.concatenate([noise._sizes(block) for block in range(60, 80)])
    assert sizes.mean() == pytest.approx(1.0, abs=0.05)
    assert 0.4 < sizes.std() < 0.8


def test_the_noise_has_the_covariance_of_its_weights() -> None:
    fixings = practice_market()._pairs.fixings
    weights = fixings.interval(17_000).weights.astype(float) * STEP_DEVIATION
    streams = RNG.streams(Purpose.PATH, 17_000, 17_280)
    steps = streams.first(len(CURRENCIES)).astype(float) / STEP_DEVIATION
    found = np.cov(weights @ steps)
    assert found == pytest.approx(weights @ weights.T, abs=0.05 * np.abs(found).max())


def test_streams_drawn_one_by_one_are_those_drawn_at_once() -> None:
    at_once = RNG.streams(Purpose.PATH, 17_000, 2_070).first(9)
    one_by_one = RNG.streams(Purpose.PATH, 17_000, 2_070)
    for places in range(1, 10):
        assert (one_by_one.first(places) == at_once[:places]).all()
    weights = np.arange(-4, 5, dtype=np.float32)
    assert (one_by_one.weighted_sum(weights) == weights @ at_once.astype(float)).all()


def test_published_rates_are_kept_to_a_millionth_of_a_pip() -> None:
    rates = practice_market().rates
    fixings = Fixings(rates, RNG)
    for row in range(5_000, 5_020):
        interval = fixings.interval(int(rates.days[row]))
        assert np.abs(interval.logs[0] - rates.logs[row]).max() < 1e-11
        assert np.abs(interval.logs[-1] - rates.logs[row + 1]).max() < 1e-11
