"""What the rates do after the last published day: whole days of the past, drawn again.

Each coming weekday repeats the moves of one past day, all currencies together, so correlations and tails stay those of the
real market (the historical bootstrap). The past reaches back to where the youngest currency begins. A newer file of rates
changes what was once the future: then what was practised on drawn days has become a different history.
"""

import numpy as np

from keydesk_practice.market.chance import Chance, Purpose
from keydesk_practice.market.grid import weekday
from keydesk_practice.market.reference import Floats, Integers, ReferenceRates

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
