"""Which part of a day's move was a jump, and at which instant it happened.

What a currency moved beyond what it follows of its parent is its own move. More than four of its recent own moves cannot be
had by drifting: all but one of them is a jump, a step in the path at one instant. The instant is the same for all
currencies of a day, since it is one piece of news; it is drawn, busy hours first, unless `famous` knows it.
"""

from functools import cache

import numpy as np

from keydesk_practice.market.chance import Chance, Purpose
from keydesk_practice.market.famous import FAMOUS_DAYS, FamousDay
from keydesk_practice.market.grid import (
    EPOCH,
    cells_in,
    first_cell,
    seconds_of,
    weekday,
)
from keydesk_practice.market.moves import Moves
from keydesk_practice.market.pace import pace_of
from keydesk_practice.market.reference import Floats, ReferenceRates

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
