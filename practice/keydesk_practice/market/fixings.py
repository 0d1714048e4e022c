"""The log rate of every currency at every fixing instant: published, drawn for the future, bridged for days between.

Future: each weekday after the last published day repeats the moves of one past day, all currencies together, so that
correlations and tails stay those of the real market (the historical bootstrap). The past starts where the youngest currency
begins. A newer file of rates replaces days that were drawn before.

Days between two published ones (weekends, holidays): a coarse Brownian bridge in which each day has variance by its intraday
profile, and a child currency moves with its parent (see `jumps.FactorModel`). A jump of the interval falls into its last
day: for a weekend that is the day on which the market opens again.
"""

from dataclasses import dataclass

import numpy as np

from keydesk_practice.market.hours import CELLS_PER_DAY, variance_profile, weekday
from keydesk_practice.market.jumps import FactorModel, fit_factor_model, jumps_of
from keydesk_practice.market.reference import Floats, Integers, ReferenceRates
from keydesk_practice.market.rng import Purpose, Rng

_SATURDAY = 5


def with_future(rates: ReferenceRates, rng: Rng, last_day: int) -> ReferenceRates:
    """Return the published rates, continued by drawn ones at least up to `last_day`."""
    days = _weekdays_after(int(rates.days[-1]), last_day)
    if not days.size:
        return rates
    moves = _complete_moves(rates.logs)
    drawn = rng.uniforms(Purpose.FUTURE, "", 0, days.size)
    logs = rates.logs[-1] + np.cumsum(moves[(drawn * len(moves)).astype(np.int64)], axis=0)
    return ReferenceRates(
        np.concatenate([rates.days, days]), rates.currencies, np.concatenate([rates.logs, logs])
    )


def _weekdays_after(day: int, last_day: int) -> Integers:
    days = range(day + 1, max(last_day, day) + 3)
    return np.array([one for one in days if weekday(one) < _SATURDAY], dtype=np.int64)


def _complete_moves(logs: Floats) -> Floats:
    moves = np.diff(logs, axis=0)
    return moves[np.isfinite(moves).all(axis=1)]


@dataclass(frozen=True, slots=True)
class Fixings:
    """The rates, jumps and factor model from which the paths of each market day are drawn."""

    currencies: tuple[str, ...]
    first_day: int
    last_day: int  # the last day with a market day after it
    logs: Floats  # [day, column] at the fixing instant, NaN before a currency's first rate
    jumps: Floats  # [day, column] the jump within the market day
    rows: Integers  # [day] row of the factor model: the last published day
    model: FactorModel

    def beta(self, day: int, column: int) -> float:
        """Return the beta of a currency against its parent on a market day."""
        return float(self.model.beta[self.rows[day - self.first_day], column])

    def residual(self, day: int, column: int) -> float:
        """Return a currency's residual daily volatility on a market day."""
        return float(self.model.residual[self.rows[day - self.first_day], column])


def fixings_of(rates: ReferenceRates, rng: Rng) -> Fixings:
    """Return the fixings of all calendar days from the first published one to the last."""
    first, last = int(rates.days[0]), int(rates.days[-1])
    days = np.arange(first, last + 1, dtype=np.int64)
    before = np.searchsorted(rates.days, days, side="right") - 1
    model = fit_factor_model(rates.currencies, rates.logs)
    jumps = jumps_of(rates, model)
    logs = _bridged(rates, model, jumps, rng, days, before)
    return Fixings(
        rates.currencies, first, last - 1, logs, _jumps_by_day(rates, jumps, days), before, model
    )


def _bridged(  # noqa: PLR0917 - the terms of one formula
    rates: ReferenceRates,
    model: FactorModel,
    jumps: Floats,
    rng: Rng,
    days: Integers,
    before: Integers,
) -> Floats:
    spent = _cumulative_variance(days)
    walk = _random_walk(rates, model, rng, np.diff(spent), before)
    rows = np.minimum(before, len(rates.days) - 2)
    start = rates.days[rows] - days[0]
    end = rates.days[rows + 1] - days[0]
    share = ((spent[:-1] - spent[start]) / (spent[end] - spent[start]))[:, None]
    smooth = rates.logs[rows + 1] - rates.logs[rows] - jumps[rows]
    bridge = walk - walk[start] - share * (walk[end] - walk[start])
    between = rates.logs[rows] + share * smooth + bridge
    between[rates.days - days[0]] = rates.logs  # published rates to the last bit
    return np.asarray(between)


def _cumulative_variance(days: Integers) -> Floats:
    per_weekday = np.array([variance_profile(day, CELLS_PER_DAY).total for day in range(7)])
    return np.concatenate([[0.0], np.cumsum(per_weekday[(days + weekday(0)) % 7])])


def _random_walk(
    rates: ReferenceRates, model: FactorModel, rng: Rng, variance: Floats, before: Integers
) -> Floats:
    """Return a random walk of every currency over the days; a child adds beta times the steps of its parent."""
    steps = np.zeros((len(variance), len(rates.currencies)))
    root = np.sqrt(variance)
    for column in model.order:
        drawn = rng.normals(Purpose.FIXING, rates.currencies[column], 0, len(variance))
        steps[:, column] = drawn * root * model.residual[before, column]
        parent = model.parents[column]
        if parent >= 0:
            steps[:, column] += model.beta[before, column] * steps[:, parent]
    return np.concatenate([np.zeros((1, steps.shape[1])), np.cumsum(steps, axis=0)[:-1]])


def _jumps_by_day(rates: ReferenceRates, jumps: Floats, days: Integers) -> Floats:
    by_day = np.zeros((len(days), jumps.shape[1]))
    by_day[rates.days[1:] - 1 - days[0]] = np.nan_to_num(jumps)
    return by_day
