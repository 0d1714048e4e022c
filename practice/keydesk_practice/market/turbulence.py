"""How restless each pair is against its own past year, which is what widens its spread beyond the hour of the day.

The variance of a pair on a day follows from what `moves` knows: each currency is a sum of own motions, its own and those it
follows, and a pair is the difference of two such sums.
"""

from collections.abc import Sequence

import numpy as np

from keydesk_practice.market.anchors import Anchors
from keydesk_practice.market.recent import Recent
from keydesk_practice.market.reference import Floats, Integers

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
