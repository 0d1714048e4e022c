"""How restless each pair is against its own past year, which is what widens its spread beyond the hour of the day.

The variance of a pair on a day follows from what `moves` knows: each currency is a sum of own motions, its own and those it
follows, and a pair is the difference of two such sums.

What the rates do after the last published day: whole days of the past, drawn again.

Each coming weekday repeats the moves of one past day, all currencies together, so correlations and tails stay those of the
real market (the historical bootstrap). The past reaches back to where the youngest currency begins. A newer file of rates
changes what was once the future: then what was practised on drawn days has become a different history.
The log rate of every currency at every fixing instant: published ones exactly, those of days between by a bridge.

A published interval of one day needs nothing. Over a weekend or a holiday the path must pass through the fixing instants of
the days between; they are drawn by a coarse Brownian bridge (variance in proportion to the pace of each day, motion of
child and parent tied as in `moves`). A jump of the interval falls into its last day: for a weekend that is the day on which
the market opens again.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from keydesk_practice.market.hours import CELLS_PER_DAY, pace_of, weekday
from keydesk_practice.market.jumps import Moves, jumps_of, moves_of
from keydesk_practice.market.reference import Floats, Integers, ReferenceRates
from keydesk_practice.market.rng import Chance, Purpose, Recent

_SATURDAY = 5


def with_future(rates: ReferenceRates, chance: Chance, last_day: int) -> ReferenceRates:
    """Return the published rates, continued by drawn ones up to `last_day` at least."""
    days = _weekdays_after(int(rates.days[-1]), last_day)
    if not days.size:
        return rates
    moves = _complete_moves(rates.logs)
    drawn = chance.uniforms(Purpose.FUTURE, "", 0, days.size)
    logs = rates.logs[-1] + np.cumsum(moves[(drawn * len(moves)).astype(np.int64)], axis=0)
    return ReferenceRates(
        np.concatenate([rates.days, days]), rates.currencies, np.concatenate([rates.logs, logs])
    )


def _weekdays_after(day: int, last_day: int) -> Integers:
    coming = range(day + 1, max(last_day, day) + 3)
    return np.array([one for one in coming if weekday(one) < _SATURDAY], dtype=np.int64)


def _complete_moves(logs: Floats) -> Floats:
    moves = np.diff(logs, axis=0)
    return moves[np.isfinite(moves).all(axis=1)]


@dataclass(frozen=True, slots=True)
class Anchors:
    """Everything a market day needs to know of its currencies before its path is drawn."""

    currencies: tuple[str, ...]
    first_day: int
    last_day: int  # the last day with a market day after it
    logs: Floats  # [day, column] at the fixing instant, NaN before a currency's first rate
    jumps: Floats  # [day, column] the jump within the market day
    rows: Integers  # [day] the published day whose knowledge holds
    moves: Moves

    def follow(self, day: int, column: int) -> float:
        """Return how much of its parent's motion a currency makes on a market day."""
        return float(self.moves.follow[self.rows[day - self.first_day], column])

    def own(self, day: int, column: int) -> float:
        """Return a currency's own daily volatility on a market day."""
        return float(self.moves.own[self.rows[day - self.first_day], column])


def anchors_of(rates: ReferenceRates, chance: Chance) -> Anchors:
    """Lay the fixing instants of all calendar days from the first published one to the last."""
    first, last = int(rates.days[0]), int(rates.days[-1])
    days = np.arange(first, last + 1, dtype=np.int64)
    before = np.searchsorted(rates.days, days, side="right") - 1
    moves = moves_of(rates.currencies, rates.logs)
    jumps = jumps_of(rates, moves)
    logs = _bridged(rates, moves, jumps, chance, days, before)
    return Anchors(
        rates.currencies, first, last - 1, logs, _in_last_day(rates, jumps, days), before, moves
    )


def _bridged(  # noqa: PLR0917  the parts of one formula
    rates: ReferenceRates,
    moves: Moves,
    jumps: Floats,
    chance: Chance,
    days: Integers,
    before: Integers,
) -> Floats:
    spent = _spent_variance(days)
    motion = _motion(rates, moves, chance, np.diff(spent), before)
    rows = np.minimum(before, len(rates.days) - 2)
    start = rates.days[rows] - days[0]
    end = rates.days[rows + 1] - days[0]
    share = ((spent[:-1] - spent[start]) / (spent[end] - spent[start]))[:, None]
    smooth = rates.logs[rows + 1] - rates.logs[rows] - jumps[rows]
    wander = motion - motion[start] - share * (motion[end] - motion[start])
    between = rates.logs[rows] + share * smooth + wander
    between[rates.days - days[0]] = rates.logs  # published rates to the last bit
    return np.asarray(between)


def _spent_variance(days: Integers) -> Floats:
    per_weekday = np.array([pace_of(day, CELLS_PER_DAY).total for day in range(7)])
    return np.concatenate([[0.0], np.cumsum(per_weekday[(days + weekday(0)) % 7])])


def _motion(
    rates: ReferenceRates, moves: Moves, chance: Chance, variance: Floats, before: Integers
) -> Floats:
    """A free walk of every currency over the days, child tied to parent; the bridge pins it down."""
    steps = np.zeros((len(variance), len(rates.currencies)))
    root = np.sqrt(variance)
    for column in moves.order:
        drawn = chance.normals(Purpose.ANCHOR, rates.currencies[column], 0, len(variance))
        steps[:, column] = drawn * root * moves.own[before, column]
        parent = moves.parents[column]
        if parent >= 0:
            steps[:, column] += moves.follow[before, column] * steps[:, parent]
    return np.concatenate([np.zeros((1, steps.shape[1])), np.cumsum(steps, axis=0)[:-1]])


def _in_last_day(rates: ReferenceRates, jumps: Floats, days: Integers) -> Floats:
    by_day = np.zeros((len(days), jumps.shape[1]))
    by_day[rates.days[1:] - 1 - days[0]] = np.nan_to_num(jumps)
    return by_day


_BLOCK = 64
_YEAR = 250
_CALMEST, _WILDEST = 0.8, 3.0
_RESPONSE = 0.7


class Turbulence:
    """The widening factor of every pair on every day, computed for 64 days at once."""

    def __init__(self, anchors: Anchors, bases: Sequence[int], quotes: Sequence[int]) -> None:
        self._anchors = anchors
        self._bases, self._quotes = list(bases), list(quotes)
        self._block = Recent(16, self._factors_of_block)

    def factors(self, day: int) -> Floats:
        """Return the factor of each pair at the start of a market day."""
        row = day - self._anchors.first_day
        return np.asarray(self._block(row // _BLOCK)[row % _BLOCK])

    def volatility(self, days: Integers) -> Floats:
        """Return the daily volatility of each pair, [day, pair]."""
        moves = self._anchors.moves
        rows = self._anchors.rows[np.clip(days - self._anchors.first_day, 0, None)]
        parts = np.zeros((len(days), len(moves.parents) + 1, len(moves.parents)))
        for column in moves.order:
            parts[:, column, column] = moves.own[rows, column]
            parent = moves.parents[column]
            if parent >= 0:
                parts[:, column] += moves.follow[rows, column, None] * parts[:, parent]
        difference = parts[:, self._quotes] - parts[:, self._bases]
        return np.asarray(np.sqrt((difference**2).sum(axis=2)))

    def _factors_of_block(self, block: int) -> Floats:
        first = block * _BLOCK + self._anchors.first_day
        volatility = self.volatility(np.arange(first - _YEAR, first + _BLOCK, dtype=np.int64))
        sums = np.cumsum(volatility, axis=0)
        usual = (sums[_YEAR:] - sums[:-_YEAR]) / _YEAR
        ratio = (volatility[_YEAR:] / usual) ** _RESPONSE
        return np.clip(ratio, _CALMEST, _WILDEST)
