"""Random numbers, the factor model, paths, market days and the future of the practice market."""

from statistics import stdev

import numpy as np
import pytest

from keydesk_practice.market.fixings import GRID, ROOT_SCALE, Fixings, with_future
from keydesk_practice.market.hours import (
    cell_at,
    cells_in,
    first_cell,
    market_day_of,
    variance_profile,
    weekday,
)
from keydesk_practice.market.jumps import fit_factor_model
from keydesk_practice.market.paths import CurrencyPaths
from keydesk_practice.market.reference import ReferenceRates
from keydesk_practice.market.rng import STEP_DEVIATION, Purpose, Rng
from support.data.practice_market import instant, practice_market

RNG = Rng(7)
NAMES = ("HKD", "USD")


def synthetic_rates(days: int = 300) -> ReferenceRates:
    """Return rates of a dollar that moves half a percent a day and a currency pegged to it."""
    steps = RNG.normals(Purpose.BOOK, "USD", 1, days) * 0.005
    small = RNG.normals(Purpose.BOOK, "HKD", 1, days) * 0.0002
    usd = np.cumsum(steps)
    logs = np.stack([usd + 2.0 + np.cumsum(small), usd], axis=1)
    weekdays = [day for day in range(15_000, 16_000) if weekday(day) < 5][:days]
    return ReferenceRates(np.array(weekdays), NAMES, logs)


def test_the_same_key_gives_the_same_numbers_and_fewer_are_the_first_ones() -> None:
    many = RNG.normals(Purpose.PATH, "USD", 19_000, 1000)
    assert (RNG.normals(Purpose.PATH, "USD", 19_000, 10) == many[:10]).all()
    assert (Rng(7).normals(Purpose.PATH, "USD", 19_000, 1000) == many).all()
    assert (RNG.normals(Purpose.PATH, "USD", 19_001, 1000) != many).any()
    assert (RNG.normals(Purpose.PATH, "JPY", 19_000, 1000) != many).any()
    assert (RNG.normals(Purpose.FIXING, "USD", 19_000, 1000) != many).any()


def test_normal_numbers_are_normal() -> None:
    drawn = RNG.normals(Purpose.PATH, "USD", 1, 200_000)
    assert drawn.mean() == pytest.approx(0, abs=0.01)
    assert drawn.std() == pytest.approx(1, abs=0.01)
    assert (np.abs(drawn) > 2).mean() == pytest.approx(0.0455, abs=0.003)


def test_volatility_is_the_recent_one() -> None:
    rates = synthetic_rates()
    moves = fit_factor_model(NAMES, rates.logs)
    assert moves.residual[-1, 1] == pytest.approx(0.005, rel=0.3)
    assert moves.residual[-1, 0] == pytest.approx(0.0002, rel=0.3)
    assert moves.beta[-1, 0] == pytest.approx(1.0, abs=0.02)


def test_the_factor_model_never_uses_later_rates() -> None:
    rates = synthetic_rates()
    whole, part = fit_factor_model(NAMES, rates.logs), fit_factor_model(NAMES, rates.logs[:200])
    assert (whole.residual[:200] == part.residual).all()
    assert (whole.beta[:200] == part.beta).all()


def test_the_path_ends_each_day_where_the_next_begins() -> None:
    fixings = Fixings(synthetic_rates(), RNG)
    paths = CurrencyPaths(fixings, RNG)
    for day in range(15_050, 15_064):
        for column in range(2):
            today, tomorrow = paths.curve(day, column), paths.curve(day + 1, column)
            assert today.points[-1] == tomorrow.points[0]


def test_a_pegged_currency_moves_with_its_parent() -> None:
    paths = CurrencyPaths(Fixings(synthetic_rates(), RNG), RNG)
    peg, dollar = (paths.curve(15_100, column).points for column in range(2))
    assert np.ptp(dollar) > 0.002
    assert np.ptp(peg - dollar) < 0.0015


def test_a_day_s_path_has_its_volatility() -> None:
    fixings = Fixings(synthetic_rates(), RNG)
    paths = CurrencyPaths(fixings, RNG)
    ratios = []
    for day in range(15_050, 15_090):
        if weekday(day) < 4 and not paths.jump_size(day, 1):
            steps = np.diff(paths.curve(day, 1).points)
            weights = fixings.interval(day).weights[1] * (STEP_DEVIATION * ROOT_SCALE * GRID)
            ratios.append(float(np.sqrt((steps**2).sum() / (weights**2).sum())))
    assert sum(ratios) / len(ratios) == pytest.approx(1, abs=0.02)
    assert stdev(ratios) < 0.05


def test_weekends_move_less_and_the_overlap_most() -> None:
    monday, saturday = variance_profile(0, 17_280), variance_profile(5, 17_280)
    assert monday.total == pytest.approx(1)
    assert saturday.total < 0.2
    hours = monday.root.reshape(24, 720).mean(axis=1)
    assert hours.argmax() in {0, 1, 2}  # from 14:15 in Frankfurt on
    assert hours.max() > 3 * hours.min()


def test_a_market_day_runs_from_fixing_to_fixing() -> None:
    summer, winter = cell_at(instant("2024-07-02T12:15Z")), cell_at(instant("2024-01-02T13:15Z"))
    assert first_cell(market_day_of(summer)) == summer
    assert first_cell(market_day_of(winter)) == winter
    assert market_day_of(summer - 1) == market_day_of(summer) - 1


def test_days_of_a_clock_change_are_an_hour_shorter_or_longer() -> None:
    march, october = (
        market_day_of(cell_at(instant(day))) for day in ("2024-03-30T18:00Z", "2024-10-26T18:00Z")
    )
    assert cells_in(march) == 17_280 - 720
    assert cells_in(october) == 17_280 + 720


def test_days_after_the_last_one_repeat_days_of_the_past() -> None:
    rates = synthetic_rates()
    longer = with_future(rates, RNG, int(rates.days[-1]) + 60)
    assert (longer.logs[: len(rates.days)] == rates.logs).all()
    past = np.diff(rates.logs, axis=0)
    for move in np.diff(longer.logs[len(rates.days) - 1 :], axis=0):
        assert np.abs(past - move).sum(axis=1).min() < 1e-12
    assert all(weekday(int(day)) < 5 for day in longer.days)


def test_a_longer_future_begins_like_a_shorter_one() -> None:
    rates = synthetic_rates()
    shorter = with_future(rates, RNG, int(rates.days[-1]) + 30)
    longer = with_future(rates, RNG, int(rates.days[-1]) + 300)
    assert (longer.logs[: len(shorter.logs)] == shorter.logs).all()


def test_the_installed_file_has_rates_from_1999_on() -> None:
    rates = practice_market().rates
    assert str(np.datetime64(int(rates.days[0]), "D")) == "1999-01-04"
    usd = rates.currencies.index("USD")
    assert np.exp(rates.logs[0, usd]) == pytest.approx(1.1789)
    assert len(rates.days) > 6_900
    assert (np.diff(rates.days) > 0).all()
    assert np.isfinite(rates.logs[-1]).all()
