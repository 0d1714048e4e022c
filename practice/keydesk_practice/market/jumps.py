"""Jumps of currencies: how large the part of a daily move is that was a jump, and at which instant it happened.

A one-factor model gives each currency at most one parent (a tree):

    move = beta x move of the parent + residual

`beta` is the regression coefficient of the daily moves on those of the parent over the last 120 published days. The size of
the residual is the mean absolute residual of the last 40 days times sqrt(pi / 2), which for a normal variate is its standard
deviation; absolute, not squared, so that one jump does not inflate it for months. Without parents a Hong Kong dollar and a US
dollar would move independently against the euro by half a percent a day, and the peg between them would be lost.

A residual of more than four times the usual size is taken for a jump, all but one usual size of it: a step in the path at
one instant. The instant is the same for all currencies of a day, since it is one piece of news. It is drawn by the intraday
variance profile, unless `KNOWN_JUMPS` has it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import cache
from math import pi, sqrt

import numpy as np

from keydesk_practice.market.hours import (
    EPOCH,
    cells_in,
    first_cell,
    seconds_of,
    variance_profile,
    weekday,
)
from keydesk_practice.market.reference import Floats, Integers, ReferenceRates
from keydesk_practice.market.rng import Purpose, Rng

PARENTS = {
    "JPY": "USD",
    "GBP": "USD",
    "CAD": "USD",
    "AUD": "USD",
    "NZD": "AUD",
    "CNY": "USD",
    "HKD": "USD",
    "SGD": "USD",
    "THB": "USD",
    "INR": "USD",
    "MXN": "USD",
    "TRY": "USD",
    "ZAR": "USD",
    "NOK": "SEK",
    "CZK": "PLN",
    "HUF": "PLN",
}

_BETA_DAYS = 120
_RESIDUAL_DAYS = 40
_FIRST_DAYS = 20  # at the beginning, the first 20 known days are used for all of them
_MAX_BETA = 1.2
_MIN_RESIDUAL = 1e-5  # even a hard peg moves by a thousandth of a percent a day
_JUMP_THRESHOLD = 4.0  # usual sizes of a residual
Steps = tuple[tuple[int, float], ...]  # grid point of the market day, share of the jump


@dataclass(frozen=True, slots=True)
class FactorModel:
    """Beta and residual volatility of each currency on each published day, from rates up to that day."""

    parents: tuple[int, ...]  # column of the parent, -1 for none
    order: tuple[int, ...]  # columns, parents before their children
    beta: Floats  # [row, column]
    residual: Floats  # [row, column], daily volatility


@dataclass(frozen=True, slots=True)
class KnownJump:
    """A market day (the calendar day of its fixing) on which a currency jumped at known instants.

    Every other jump of that market day, of any currency, happens at the same instants.
    """

    fixing_before: date
    currency: str
    steps: tuple[tuple[datetime, float], ...]  # instant, share of the jump
    event: str
    source: str


KNOWN_JUMPS = (
    KnownJump(
        date(2011, 9, 5),
        "CHF",
        ((datetime(2011, 9, 6, 8, 0, tzinfo=UTC), 1.0),),
        "The Swiss National Bank sets a floor of 1.20 francs per euro (10:00 in Zurich)",
        "SNB press release, 6 September 2011: 'Swiss National Bank sets minimum exchange rate'",
    ),
    KnownJump(
        date(2015, 1, 14),
        "CHF",
        ((datetime(2015, 1, 15, 9, 30, tzinfo=UTC), 1.0),),
        "The Swiss National Bank gives up the floor of 1.20 (10:30 in Zurich)",
        "SNB press release, 15 January 2015: 'Swiss National Bank discontinues minimum exchange rate'",
    ),
    KnownJump(
        date(2015, 8, 10),
        "CNY",
        ((datetime(2015, 8, 11, 1, 15, tzinfo=UTC), 1.0),),
        "The People's Bank of China sets the yuan's midpoint 1.9 % lower (9:15 in Beijing)",
        "PBC announcement on the central parity, 11 August 2015; Reuters and Xinhua of that morning",
    ),
    KnownJump(
        date(2016, 6, 23),
        "GBP",
        (
            (datetime(2016, 6, 23, 23, 20, tzinfo=UTC), 0.35),
            (datetime(2016, 6, 24, 3, 40, tzinfo=UTC), 0.65),
        ),
        "Britain votes to leave: Sunderland declares at 00:20, the BBC calls the result at 04:40 British time",
        "The Guardian's and the Yorkshire Post's timelines of the night of 23 June 2016",
    ),
)


def fit_factor_model(currencies: Sequence[str], logs: Floats) -> FactorModel:
    """Fit the model to the log rates of all currencies; row k uses the rates up to row k and nothing later."""
    parents = tuple(
        currencies.index(PARENTS[name]) if name in PARENTS else -1 for name in currencies
    )
    daily = np.diff(logs, axis=0, prepend=np.nan)
    of_parent = np.where(np.array(parents) < 0, 0.0, daily[:, parents])
    beta = _beta(daily, of_parent)
    residual = np.abs(daily - beta * of_parent)
    size = np.maximum(_recent_mean(residual, _RESIDUAL_DAYS) * sqrt(pi / 2), _MIN_RESIDUAL)
    return FactorModel(parents, _parents_first(parents), beta, size)


def jumps_of(rates: ReferenceRates, model: FactorModel) -> Floats:
    """Return the log size of the jump of each currency from each published day to the next."""
    daily = np.diff(rates.logs, axis=0)
    jumps = np.zeros_like(daily)
    for column in model.order:
        parent = model.parents[column]
        beta, size = model.beta[:-1, column], model.residual[:-1, column]
        residual = daily[:, column] - (beta * daily[:, parent] if parent >= 0 else 0.0)
        is_jump = (np.abs(residual) > _JUMP_THRESHOLD * size) | _known_jump_rows(rates, column)
        jumps[:, column] = np.where(is_jump, residual - np.sign(residual) * size, 0.0)
        if parent >= 0:
            jumps[:, column] += beta * jumps[:, parent]
    return jumps


def steps_on(day: int, rng: Rng) -> Steps:
    """Return the grid points of a market day at which its jumps happen, and the share of them at each."""
    known_jump = _known_jumps_by_day().get(day)
    if known_jump is None:
        return ((_drawn_point(day, rng), 1.0),)
    start = first_cell(day)
    return tuple((seconds_of(moment) // 5 - start, share) for moment, share in known_jump.steps)


def _beta(daily: Floats, of_parent: Floats) -> Floats:
    known = np.isfinite(daily) & np.isfinite(of_parent)
    both = np.where(known, daily * of_parent, np.nan)
    alone = np.where(known, of_parent * of_parent, np.nan)
    variance = _recent_mean(alone, _BETA_DAYS)
    covariance = _recent_mean(both, _BETA_DAYS)
    ratio = np.divide(covariance, variance, out=np.zeros_like(variance), where=variance > 0)
    return np.asarray(np.clip(ratio, 0.0, _MAX_BETA))


def _recent_mean(values: Floats, window: int) -> Floats:
    """Return the mean of the known values among the last `window` rows."""
    known = np.isfinite(values)
    zero = np.zeros((1, values.shape[1]))
    sums = np.concatenate([zero, np.cumsum(np.where(known, values, 0.0), axis=0)])
    counts = np.concatenate([zero, np.cumsum(known, axis=0)])
    ends = _last_rows(known)
    starts = np.maximum(ends - window, 0)
    columns = np.arange(values.shape[1])
    count = counts[ends, columns] - counts[starts, columns]
    total = sums[ends, columns] - sums[starts, columns]
    return np.asarray(np.divide(total, count, out=np.zeros_like(total), where=count > 0))


def _last_rows(known: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> Integers:
    """Return the end of the window of each row: one past the row itself, or past the first 20 known ones."""
    rows = np.arange(1, len(known) + 1, dtype=np.int64)[:, None]
    first = np.argmax(known, axis=0) + _FIRST_DAYS
    return np.asarray(np.minimum(np.maximum(rows, first), len(known)))


def _parents_first(parents: tuple[int, ...]) -> tuple[int, ...]:
    def depth(column: int) -> int:
        return 0 if parents[column] < 0 else 1 + depth(parents[column])

    return tuple(sorted(range(len(parents)), key=depth))


def _drawn_point(day: int, rng: Rng) -> int:
    progress = variance_profile(weekday(day), cells_in(day)).progress
    drawn = rng.uniforms(Purpose.JUMP, "", day, 1)[0]
    return int(np.clip(np.searchsorted(progress, drawn), 1, len(progress) - 2))


def _known_jump_rows(
    rates: ReferenceRates, column: int
) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    days = [
        day
        for day, known_jump in _known_jumps_by_day().items()
        if known_jump.currency == rates.currencies[column]
    ]
    return np.isin(rates.days[:-1], days)


@cache
def _known_jumps_by_day() -> dict[int, KnownJump]:
    return {
        (known_jump.fixing_before - EPOCH.date()).days: known_jump for known_jump in KNOWN_JUMPS
    }
