"""Which part of a day's move was a jump, and at which instant it happened.

What a currency moved beyond what it follows of its parent is its own move. More than four of its recent own moves cannot be
had by drifting: all but one of them is a jump, a step in the path at one instant. The instant is the same for all
currencies of a day, since it is one piece of news; it is drawn, busy hours first, unless `famous` knows it.

How much a currency moves of late, and how it follows its parent.

Drawn independently, a Hong Kong dollar and a US dollar would each wander against the euro and so against each other, half a
percent a day: a peg would not be one. So each currency has at most one parent (a tree), and its motion is

    motion = follow x motion of the parent + own motion

with `follow` the regression coefficient of its daily moves on those of the parent over the last 120 published days, and
the size of the own motion the mean absolute residual of the last 40, times sqrt(pi / 2), which for a normal variate is its
standard deviation. Absolute, not squared: a jump then counts once and is not multiplied into months of turmoil.
The few days whose jump has a known instant, with the sources for that instant.

Each entry names the market day (the calendar day of the fixing before the event), the currency, and at which instants which
share of its jump happened. All other jumps of that market day, of whatever currency, happen at the same instants.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import cache
from math import pi, sqrt

import numpy as np

from keydesk_practice.market.hours import EPOCH, cells_in, first_cell, pace_of, seconds_of, weekday
from keydesk_practice.market.reference import Floats, Integers, ReferenceRates
from keydesk_practice.market.rng import Chance, Purpose

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


@dataclass(frozen=True, slots=True)
class FamousDay:
    """A market day on which a currency jumped at known instants."""

    fixing_before: date
    currency: str
    steps: tuple[tuple[datetime, float], ...]  # instant, share of the jump
    what: str
    source: str


FAMOUS_DAYS = (
    FamousDay(
        date(2011, 9, 5),
        "CHF",
        ((datetime(2011, 9, 6, 8, 0, tzinfo=UTC), 1.0),),
        "The Swiss National Bank sets a floor of 1.20 francs per euro (10:00 in Zurich)",
        "SNB press release, 6 September 2011: 'Swiss National Bank sets minimum exchange rate'",
    ),
    FamousDay(
        date(2015, 1, 14),
        "CHF",
        ((datetime(2015, 1, 15, 9, 30, tzinfo=UTC), 1.0),),
        "The Swiss National Bank gives up the floor of 1.20 (10:30 in Zurich)",
        "SNB press release, 15 January 2015: 'Swiss National Bank discontinues minimum exchange rate'",
    ),
    FamousDay(
        date(2015, 8, 10),
        "CNY",
        ((datetime(2015, 8, 11, 1, 15, tzinfo=UTC), 1.0),),
        "The People's Bank of China sets the yuan's midpoint 1.9 % lower (9:15 in Beijing)",
        "PBC announcement on the central parity, 11 August 2015; Reuters and Xinhua of that morning",
    ),
    FamousDay(
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


_BEYOND = 4.0

Steps = tuple[tuple[int, float], ...]  # grid point of the market day, share of the jump


def jumps_of(rates: ReferenceRates, moves: Moves) -> Floats:
    """Return the log size of the jump of each currency on the way from each published day to the next."""
    daily = np.diff(rates.logs, axis=0)
    jumps = np.zeros_like(daily)
    for column in moves.order:
        parent = moves.parents[column]
        follow, size = moves.follow[:-1, column], moves.own[:-1, column]
        own = daily[:, column] - (follow * daily[:, parent] if parent >= 0 else 0.0)
        beyond = (np.abs(own) > _BEYOND * size) | _famous_rows(rates, column)
        jumps[:, column] = np.where(beyond, own - np.sign(own) * size, 0.0)
        if parent >= 0:
            jumps[:, column] += follow * jumps[:, parent]
    return jumps


def steps_on(day: int, chance: Chance) -> Steps:
    """Return at which grid points of a market day its jumps happen, and how much of them at each."""
    famous = _famous_by_day().get(day)
    if famous is None:
        return ((_drawn_point(day, chance), 1.0),)
    start = first_cell(day)
    return tuple((seconds_of(moment) // 5 - start, share) for moment, share in famous.steps)


def _drawn_point(day: int, chance: Chance) -> int:
    progress = pace_of(weekday(day), cells_in(day)).progress
    drawn = chance.uniforms(Purpose.JUMP, "", day, 1)[0]
    return int(np.clip(np.searchsorted(progress, drawn), 1, len(progress) - 2))


def _famous_rows(rates: ReferenceRates, column: int) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    days = [
        day
        for day, famous in _famous_by_day().items()
        if famous.currency == rates.currencies[column]
    ]
    return np.isin(rates.days[:-1], days)


@cache
def _famous_by_day() -> dict[int, FamousDay]:
    return {(famous.fixing_before - EPOCH.date()).days: famous for famous in FAMOUS_DAYS}
