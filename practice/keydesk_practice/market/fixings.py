"""The log rate of every currency at every fixing instant: published, drawn for the future, bridged for days between.

Future: the weekdays after the last published day repeat the moves of runs of 20 past days, all currencies together, so that
correlations, tails and clusters of volatility stay those of the real market (the block bootstrap). The past starts where the youngest currency
begins. A newer file of rates replaces days that were drawn before.

Days between two published ones (weekends, holidays): a coarse Brownian bridge in which each day has variance by its intraday
profile, and all currencies the covariance of the interval (see `covariance`). A jump of the interval falls into its last day:
for a weekend that is the day on which the market opens again.
"""

import numpy as np
from msgspec import Struct

from keydesk_practice.market.covariance import NoiseModel
from keydesk_practice.market.hours import cells_in, variance_profile, weekday
from keydesk_practice.market.jumps import fit_factor_model, jumps_of
from keydesk_practice.market.reference import Floats, Integers, ReferenceRates, SmallFloats
from keydesk_practice.market.rng import STEP_DEVIATION, Lru, Purpose, Rng

_SATURDAY = 5
_RUN = 20  # past days that the future repeats in a row
_CACHED_INTERVALS = 64

# Paths are added up in whole numbers, which double precision holds exactly: the weight of a stream, its steps and the volatility
# of a cell. So sums have the same bits in whatever order they are made, and a cross is exactly the difference of its sides.
GRID = 2.0**-38  # of log rates at fixings, jumps and walks
ROOT_SCALE = 2.0**16  # of the volatility of a cell; 500 on average


def with_future(rates: ReferenceRates, rng: Rng, last_day: int) -> ReferenceRates:
    """Return the published rates, continued by drawn ones at least up to `last_day`."""
    days = _weekdays_after(int(rates.days[-1]), last_day)
    if not days.size:
        return rates
    moves = _complete_moves(rates.logs)
    drawn = rng.uniforms(Purpose.FUTURE, "", 0, -(-days.size // _RUN))
    first = (drawn * len(moves)).astype(np.int64)
    rows = (first[:, None] + np.arange(_RUN)).ravel()[: days.size] % len(moves)
    logs = rates.logs[-1] + np.cumsum(moves[rows], axis=0)
    return ReferenceRates(
        np.concatenate([rates.days, days]),
        rates.currencies,
        np.concatenate([rates.logs, logs]),
        rates.published,
    )


def _weekdays_after(day: int, last_day: int) -> Integers:
    days = range(day + 1, max(last_day, day) + 3)
    return np.array([one for one in days if weekday(one) < _SATURDAY], dtype=np.int64)


def _complete_moves(logs: Floats) -> Floats:
    moves = np.diff(logs, axis=0)
    return moves[np.isfinite(moves).all(axis=1)]


class Interval(Struct, frozen=True):
    """The calendar days from one published day to the next, and the noise in between."""

    first_day: int
    logs: Floats  # [day, column] at the fixing instants, that of the next published day last
    weights: SmallFloats  # [column, stream] of the steps of the streams, whole numbers


class Fixings:
    """The rates, jumps and models from which the paths of each market day are drawn."""

    def __init__(self, rates: ReferenceRates, rng: Rng) -> None:
        self._rates, self._rng = rates, rng
        self.currencies, self.published = rates.currencies, rates.published
        self.first_day, last = int(rates.days[0]), int(rates.days[-1])
        self.last_day = last - 1  # the last day with a market day after it
        days = np.arange(self.first_day, last + 1, dtype=np.int64)
        self.rows: Integers = np.searchsorted(rates.days, days, side="right") - 1  # by day
        self.model = fit_factor_model(rates.currencies, rates.logs)
        jumps = jumps_of(rates, self.model)
        self.noise = NoiseModel(rates, self.model, jumps, rng)
        self._moves = np.diff(rates.logs, axis=0) - jumps
        self.jumps = on_grid(
            _jumps_by_day(rates, jumps, days)
        )  # [day, column] within the market day
        self._intervals = Lru(_CACHED_INTERVALS, self._lay_interval)

    def interval(self, day: int) -> Interval:
        """Return the interval to which a market day belongs."""
        row = int(self.rows[day - self.first_day])
        return self._intervals(min(row, len(self._moves) - 1))

    def beta(self, day: int, column: int) -> float:
        """Return the beta of a currency against its parent on a market day."""
        return float(self.model.beta[self.rows[day - self.first_day], column])

    def first_day_of(self, column: int) -> int:
        """Return the first day with a rate of a currency."""
        return int(self._rates.days[np.isfinite(self._rates.logs[:, column]).argmax()])

    def _lay_interval(self, row: int) -> Interval:
        rates = self._rates
        first, last = int(rates.days[row]), int(rates.days[row + 1])
        variance = np.array([_day_variance(day) for day in range(first, last)])
        weights = self.noise.factor(row) / np.sqrt(np.cumsum(variance)[-1])
        logs = rates.logs[row : row + 2]
        if last - first > 1:
            logs = self._bridged(row, variance, weights)
        whole = np.rint(weights / (STEP_DEVIATION * ROOT_SCALE * GRID))
        return Interval(first, on_grid(logs), whole.astype(np.float32))

    def _bridged(self, row: int, variance: Floats, weights: Floats) -> Floats:
        """Return log rates at the fixing instants of all days of an interval."""
        rates, count = self._rates, len(variance)
        steps = self._rng.normals(
            Purpose.FIXING, "", int(rates.days[row]), weights.shape[1] * count
        )
        steps = steps.reshape(-1, count) * np.sqrt(variance)
        walks = np.cumsum(steps, axis=1)
        walk = np.zeros((count + 1, weights.shape[0]))
        for place, drawn in enumerate(walks):  # no matrix product: its bits differ between machines
            walk[1:] += drawn[:, None] * weights[:, place]
        share = np.concatenate([[0.0], np.cumsum(variance)])[:, None]
        share /= share[-1]
        logs = rates.logs[row] + walk + share * (self._moves[row] - walk[-1])
        logs[0], logs[-1] = rates.logs[row], rates.logs[row + 1]
        return np.asarray(logs)


def on_grid(logs: Floats) -> Floats:
    """Return log rates rounded to the grid, by less than a hundred-thousandth of a pip."""
    return np.asarray(np.rint(logs / GRID) * GRID)


def _day_variance(day: int) -> float:
    return variance_profile(weekday(day), cells_in(day)).total


def _jumps_by_day(rates: ReferenceRates, jumps: Floats, days: Integers) -> Floats:
    by_day = np.zeros((len(days), jumps.shape[1]))
    by_day[rates.days[1:] - 1 - days[0]] = np.nan_to_num(jumps)
    return by_day
