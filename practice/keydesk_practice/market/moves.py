"""How much a currency moves of late, and how it follows its parent.

Drawn independently, a Hong Kong dollar and a US dollar would each wander against the euro and so against each other, half a
percent a day: a peg would not be one. So each currency has at most one parent (a tree), and its motion is

    motion = follow x motion of the parent + own motion

with `follow` the regression coefficient of its daily moves on those of the parent over the last 120 published days, and
the size of the own motion the mean absolute residual of the last 40, times sqrt(pi / 2), which for a normal variate is its
standard deviation. Absolute, not squared: a jump then counts once and is not multiplied into months of turmoil.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import pi, sqrt

import numpy as np

from keydesk_practice.market.reference import Floats, Integers

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

_FOLLOW_DAYS = 120
_MOVE_DAYS = 40
_FIRST_DAYS = 20  # before this many are known, the first ones known stand for them
_MOST_FOLLOWED = 1.2
_LEAST_MOVE = 1e-5  # a thousandth of a percent a day: even a hard peg breathes


@dataclass(frozen=True, slots=True)
class Moves:
    """For each published day and currency, what is known on that day of how the currency moves."""

    parents: tuple[int, ...]  # column of the parent, -1 for none
    order: tuple[int, ...]  # columns, parents before their children
    follow: Floats  # [row, column]
    own: Floats  # [row, column], daily


def moves_of(currencies: Sequence[str], logs: Floats) -> Moves:
    """Measure the moves of all currencies; row k knows the rates up to row k and nothing later."""
    parents = tuple(
        currencies.index(PARENTS[name]) if name in PARENTS else -1 for name in currencies
    )
    daily = np.diff(logs, axis=0, prepend=np.nan)
    of_parent = np.where(np.array(parents) < 0, 0.0, daily[:, parents])
    follow = _follow(daily, of_parent)
    residual = np.abs(daily - follow * of_parent)
    own = np.maximum(_recent_mean(residual, _MOVE_DAYS) * sqrt(pi / 2), _LEAST_MOVE)
    return Moves(parents, _parents_first(parents), follow, own)


def _follow(daily: Floats, of_parent: Floats) -> Floats:
    known = np.isfinite(daily) & np.isfinite(of_parent)
    both = np.where(known, daily * of_parent, np.nan)
    alone = np.where(known, of_parent * of_parent, np.nan)
    variance = _recent_mean(alone, _FOLLOW_DAYS)
    covariance = _recent_mean(both, _FOLLOW_DAYS)
    ratio = np.divide(covariance, variance, out=np.zeros_like(variance), where=variance > 0)
    return np.asarray(np.clip(ratio, 0.0, _MOST_FOLLOWED))


def _recent_mean(values: Floats, window: int) -> Floats:
    """Mean of the known values among the last `window` rows."""
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
    """One past the last row that counts for each row: at least the first 20 known ones."""
    rows = np.arange(1, len(known) + 1, dtype=np.int64)[:, None]
    first = np.argmax(known, axis=0) + _FIRST_DAYS
    return np.asarray(np.minimum(np.maximum(rows, first), len(known)))


def _parents_first(parents: tuple[int, ...]) -> tuple[int, ...]:
    def depth(column: int) -> int:
        return 0 if parents[column] < 0 else 1 + depth(parents[column])

    return tuple(sorted(range(len(parents)), key=depth))
