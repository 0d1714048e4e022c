"""Jumps of currencies: how large the part of a daily move is that was a jump, and at which instant it happened.

A one-factor model gives each currency at most one parent (a tree):

    move = beta x move of the parent + residual

`beta` is the regression coefficient of the daily moves on those of the parent over the last 120 published days. The size of
the residual is the mean absolute residual of the last 40 days times sqrt(pi / 2), which for a normal variate is its standard
deviation; absolute, not squared, so that one jump does not inflate it for months. Without parents a Hong Kong dollar and a US
dollar would move independently against the euro by half a percent a day, and the peg between them would be lost.

A residual of more than four times the usual size is taken for a jump, all but one usual size of it: a step in the path at
one instant. The instant is the same for all currencies of a day, since it is one piece of news. It is drawn by the intraday
variance profile, unless `known_events` has it.

A currency without 20 days of its own is taken to move with its parent, and by a usual size of its own.
"""

from collections.abc import Sequence
from math import pi, sqrt

import numpy as np
from msgspec import Struct

from keydesk_practice.market.hours import (
    cells_in,
    first_cell,
    seconds_of,
    variance_profile,
    weekday,
)
from keydesk_practice.market.known_events import days_of, events_on
from keydesk_practice.market.reference import Floats, ReferenceRates
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

# Usual daily volatility that the parent does not explain, before there are rates of one's own.
USUAL_RESIDUAL = {
    "USD": 0.006, "JPY": 0.006, "GBP": 0.004, "CHF": 0.002, "AUD": 0.006, "CAD": 0.004, "NZD": 0.004,
    "SEK": 0.004, "NOK": 0.003, "DKK": 0.0002, "SGD": 0.003, "HKD": 0.0003, "PLN": 0.006, "CZK": 0.004,
    "HUF": 0.004, "ZAR": 0.008, "CNY": 0.0003, "THB": 0.003, "TRY": 0.007, "MXN": 0.006, "INR": 0.003,
}  # fmt: skip

_USUAL_RESIDUAL_ELSE = 0.005
_BETA_DAYS = 120
_RESIDUAL_DAYS = 40
_FIRST_DAYS = 20  # with fewer known days, usual values replace the missing ones
_MAX_BETA = 1.2
_MIN_RESIDUAL = 1e-5  # even a hard peg moves by a thousandth of a percent a day
_JUMP_THRESHOLD = 4.0  # usual sizes of a residual
Steps = tuple[tuple[int, float], ...]  # grid point of the market day, share of the jump


class FactorModel(Struct, frozen=True):
    """Beta and residual volatility of each currency on each published day, from rates up to that day."""

    parents: tuple[int, ...]  # column of the parent, -1 for none
    order: tuple[int, ...]  # columns, parents before their children
    beta: Floats  # [row, column]
    residual: Floats  # [row, column], daily volatility


def fit_factor_model(currencies: Sequence[str], logs: Floats) -> FactorModel:
    """Fit the model to the log rates of all currencies; row k uses the rates up to row k and nothing later."""
    parents = tuple(
        currencies.index(PARENTS[name]) if name in PARENTS else -1 for name in currencies
    )
    daily = np.diff(logs, axis=0, prepend=np.nan)
    of_parent = np.where(np.array(parents) < 0, 0.0, daily[:, parents])
    usual = usual_residuals(currencies)
    has_parent = np.array(parents) >= 0
    beta = _beta(daily, of_parent, np.where(has_parent, usual[list(parents)] ** 2, 0.0))
    residual = np.abs(daily - beta * of_parent)
    mean = _recent_mean(residual, _RESIDUAL_DAYS, usual * sqrt(2 / pi))
    size = np.maximum(mean * sqrt(pi / 2), _MIN_RESIDUAL)
    return FactorModel(parents, _parents_first(parents), beta, size)


def usual_residuals(currencies: Sequence[str]) -> Floats:
    """Return the daily volatility of each currency that its parent does not explain, as far as nothing else is known."""
    return np.array([USUAL_RESIDUAL.get(name, _USUAL_RESIDUAL_ELSE) for name in currencies])


def jumps_of(rates: ReferenceRates, model: FactorModel) -> Floats:
    """Return the log size of the jump of each currency from each published day to the next."""
    daily = np.diff(rates.logs, axis=0)
    jumps = np.zeros_like(daily)
    for column in model.order:
        parent = model.parents[column]
        beta, size = model.beta[:-1, column], model.residual[:-1, column]
        residual = daily[:, column] - (beta * daily[:, parent] if parent >= 0 else 0.0)
        known = np.isin(rates.days[1:] - 1, days_of(rates.currencies[column]))
        is_jump = np.abs(residual) > np.where(known, 1.0, _JUMP_THRESHOLD) * size
        jumps[:, column] = np.where(is_jump, residual - np.sign(residual) * size, 0.0)
        if parent >= 0:
            jumps[:, column] += beta * jumps[:, parent]
    return jumps


def steps_on(day: int, rng: Rng) -> Steps:
    """Return the grid points of a market day at which its jumps happen, and the share of them at each."""
    events = events_on(day)
    if not events:
        return ((_drawn_point(day, rng), 1.0),)
    start = first_cell(day)
    return tuple((seconds_of(moment) // 5 - start, share) for moment, share in events[0].steps)


def _beta(daily: Floats, of_parent: Floats, usual: Floats) -> Floats:
    known = np.isfinite(daily) & np.isfinite(of_parent)
    both = np.where(known, daily * of_parent, np.nan)
    alone = np.where(known, of_parent * of_parent, np.nan)
    variance = _recent_mean(alone, _BETA_DAYS, usual)
    covariance = _recent_mean(both, _BETA_DAYS, usual)
    ratio = np.divide(covariance, variance, out=np.zeros_like(variance), where=variance > 0)
    return np.asarray(np.clip(ratio, 0.0, _MAX_BETA))


def _recent_mean(values: Floats, window: int, usual: Floats) -> Floats:
    """Return the mean of the known values among the last `window` rows, with `usual` in place of those missing among the first 20."""
    known = np.isfinite(values)
    zero = np.zeros((1, values.shape[1]))
    sums = np.concatenate([zero, np.cumsum(np.where(known, values, 0.0), axis=0)])
    counts = np.concatenate([zero, np.cumsum(known, axis=0)])
    ends = np.arange(1, len(values) + 1)
    starts = np.maximum(ends - window, 0)
    count = counts[ends] - counts[starts]
    total = sums[ends] - sums[starts]
    lacking = np.maximum(_FIRST_DAYS - count, 0)
    return np.asarray((total + lacking * usual) / (count + lacking))


def _parents_first(parents: tuple[int, ...]) -> tuple[int, ...]:
    def depth(column: int) -> int:
        return 0 if parents[column] < 0 else 1 + depth(parents[column])

    return tuple(sorted(range(len(parents)), key=depth))


def _drawn_point(day: int, rng: Rng) -> int:
    progress = variance_profile(weekday(day), cells_in(day)).progress
    drawn = rng.uniforms(Purpose.JUMP, "", day, 1)[0]
    return int(np.clip(np.searchsorted(progress, drawn), 1, len(progress) - 2))
