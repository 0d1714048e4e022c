"""The log rate of every currency at every fixing instant: published ones exactly, those of days between by a bridge.

A published interval of one day needs nothing. Over a weekend or a holiday the path must pass through the fixing instants of
the days between; they are drawn by a coarse Brownian bridge (variance in proportion to the pace of each day, motion of
child and parent tied as in `moves`). A jump of the interval falls into its last day: for a weekend that is the day on which
the market opens again.
"""

from dataclasses import dataclass

import numpy as np

from keydesk_practice.market.chance import Chance, Purpose
from keydesk_practice.market.grid import CELLS_PER_DAY, weekday
from keydesk_practice.market.jumps import jumps_of
from keydesk_practice.market.moves import Moves, moves_of
from keydesk_practice.market.pace import pace_of
from keydesk_practice.market.reference import Floats, Integers, ReferenceRates


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
