"""The covariance of the noise between two fixings: that of the fixings before it, times the size of its own move.

Between two published fixings all currencies move together,

    X(t) = X(0) + u(t) * move + sqrt(w) * L * (W(t) - u(t) * W(1)),      u(t) the share of the interval's variance up to t,

W being as many independent random walks as there are currencies and L the Cholesky factor of their covariance S. A bridge to an
end that is fixed has no foreseeable drift only if move * move' is on average w * S: with too much noise prices return towards
the end, with too little they run to it. Therefore

- S is an exponential mean of the earlier move * move' with jumps removed, nothing shrunk or truncated, so that it fits every
  pair at once and pegs stay pegs. It does not contain the interval's own move: the size of the noise would reveal that of the
  move before it is over.
- w, the size of the interval, is common to all currencies. Moves are taken for Student's t with 12 degrees of freedom, and w is
  drawn from its law given the moves of the listed pairs. Drawn, not estimated: given a drawn w the move is normal.

Before a currency has rates it is counted as its parent's move plus noise of a usual size (`jumps.USUAL_RESIDUAL`), so that S
is a covariance from the first day on. No linear algebra library is used: its bits differ between machines.
"""

from collections.abc import Sequence

import numpy as np

from keydesk_practice.market.instruments import LISTINGS
from keydesk_practice.market.jumps import FactorModel, usual_residuals
from keydesk_practice.market.reference import Floats, Integers, ReferenceRates
from keydesk_practice.market.rng import Lru, Purpose, Rng

# The streams of random numbers of a day, one for each currency, in this order; the liquid ones need few of them.
LIQUIDITY = (
    *("USD", "GBP", "JPY", "CHF", "AUD", "CAD", "NZD", "SEK", "NOK", "DKK", "SGD"),
    *("HKD", "PLN", "CZK", "HUF", "ZAR", "CNY", "THB", "TRY", "MXN", "INR"),
)

_KEPT = (
    0.95  # weight kept from one published day to the next: half of the mean is younger than 14 days
)
_WINDOW = 300  # moves in the mean; older ones weigh less than 0.0000003
BLOCK = 64  # rows computed at once
_CACHED_BLOCKS = 8
_WEEKEND_DAYS = (
    3  # from Friday's fixing to Monday's; the variance of such an interval is that of a day
)
_HOLIDAY_VARIANCE = 1.15  # of a longer interval
_DEGREES = (
    12  # of freedom of the law of the moves; the moves of a day are worth as many observations
)
_MAX_RATIO = 9.0  # of a pair's squared move to its variance
_LEAST = 1e-5  # daily volatility added to every currency, so that a factor always exists
Pairs = Sequence[tuple[int, int]]  # columns of base and quote; the euro's is one past the last


class NoiseModel:
    """The factors of all intervals between published days, computed on demand for 64 intervals at once.

    Row k is the interval from published day k to the next. Its factor depends on the rates up to its end, its covariance on
    those up to its start.
    """

    def __init__(self, rates: ReferenceRates, model: FactorModel, jumps: Floats, rng: Rng) -> None:
        self._rng, self._days = rng, rates.days
        self.order = stream_order(rates.currencies)
        self._variance = _interval_variance(np.diff(rates.days))
        moves = (np.diff(rates.logs, axis=0) - jumps) / np.sqrt(self._variance)[:, None]
        self._moves = moves  # per square root of variance, jumps removed; NaN if unknown
        self._parents, self._parents_first = model.parents, model.order
        self._usual = usual_residuals(rates.currencies) ** 2
        self._pairs = _listed_pairs(rates.currencies)
        self.rows = len(moves)
        self.covariances = Lru(_CACHED_BLOCKS, self._covariances_of_block)  # [row, column, column]
        self._factors = Lru(_CACHED_BLOCKS, self._factors_of_block)

    def factor(self, row: int) -> Floats:
        """Return the weights of the streams in the noise of an interval, [column, stream]; the squares sum to its variance."""
        return np.asarray(self._factors(row // BLOCK)[row % BLOCK])

    def pair_variances(self, block: int, bases: Sequence[int], quotes: Sequence[int]) -> Floats:
        """Return the daily variances of pairs in a block of rows, from the moves before each, [row, pair]."""
        padded = np.pad(self.covariances(block), ((0, 0), (0, 1), (0, 1)))
        return np.asarray(
            padded[:, bases, bases] + padded[:, quotes, quotes] - 2 * padded[:, bases, quotes]
        )

    def _factors_of_block(self, block: int) -> Floats:
        first = block * BLOCK
        covariances = self.covariances(block)
        sizes = self._sizes(block)
        last = first + len(sizes)
        ordered = covariances[:, self.order][:, :, self.order]
        factors = np.empty_like(ordered)
        factors[:, self.order] = cholesky(ordered)
        return np.asarray(factors * np.sqrt(sizes * self._variance[first:last])[:, None, None])

    def _covariances_of_block(self, block: int) -> Floats:
        first = block * BLOCK
        last = min(first + BLOCK, self.rows)
        start = max(first - _WINDOW, 0)
        known, unknown = self._filled(start, last - 1)
        count = first - start
        weights = (1 - _KEPT) * _KEPT ** np.arange(count - 1, -1, -1)
        products = known[:count, :, None] * known[:count, None, :]
        products *= weights[:, None, None]
        present = products.sum(axis=0) + _KEPT**count * self._prior()
        present += np.diag((weights[:, None] * unknown[:count]).sum(axis=0))
        moves, noise = known[count:], unknown[count:]
        steps = moves[:, :, None] * moves[:, None, :]
        lacking = np.zeros_like(steps)
        np.einsum("kii->ki", lacking)[:] = noise  # a view of the diagonals
        steps += lacking
        steps *= 1 - _KEPT
        covariances = np.empty((last - first, *present.shape))
        covariances[0] = present
        for k, step in enumerate(steps, 1):
            np.multiply(covariances[k - 1], _KEPT, out=covariances[k])
            covariances[k] += step
        return covariances + _LEAST**2 * np.eye(covariances.shape[1])

    def _filled(self, first: int, last: int) -> tuple[Floats, Floats]:
        """Return the moves of rows, unknown ones replaced by those of the parent, and the variance that they lack."""
        moves = self._moves[first : max(last, first)].copy()
        lacking = np.where(np.isfinite(moves), 0.0, self._usual)
        for column in self._parents_first:
            parent = self._parents[column]
            of_parent = moves[:, parent] if parent >= 0 else np.zeros(len(moves))
            moves[:, column] = np.where(lacking[:, column] > 0, of_parent, moves[:, column])
        return moves, lacking

    def _prior(self) -> Floats:
        """Return the covariance before the first rates: each currency moves with its parent, and by its usual residual."""
        count = len(self._parents)
        prior = np.zeros((count, count))
        for column in self._parents_first:
            parent = self._parents[column]
            if parent >= 0:
                prior[column] = prior[parent]
                prior[:, column] = prior[:, parent]
                prior[column, column] = prior[parent, parent]
            prior[column, column] += self._usual[column]
        return prior

    def _sizes(self, block: int) -> Floats:
        """Return the size of each interval, drawn from its law given the moves; its mean over time is one."""
        ratio = self._mean_ratio(block)
        first, count = block * BLOCK, 2 * _DEGREES
        days = self._days[first : first + len(ratio)].tolist()
        drawn = np.array([self._rng.normals(Purpose.SIZE, "", day, count) for day in days])
        chi_squared = np.cumsum(drawn**2, axis=1)[:, -1]
        return np.asarray((_DEGREES - 2 + _DEGREES * ratio) / chi_squared)

    def _mean_ratio(self, block: int) -> Floats:
        """Return the mean over the listed pairs of squared move over variance, [row]."""
        bases, quotes = ([pair[side] for pair in self._pairs] for side in (0, 1))
        variance = self.pair_variances(block, bases, quotes)
        first = block * BLOCK
        moves = np.pad(self._moves[first : first + len(variance)], ((0, 0), (0, 1)))
        ratio = np.minimum((moves[:, quotes] - moves[:, bases]) ** 2 / variance, _MAX_RATIO).T
        known = np.isfinite(ratio)
        count = known.sum(axis=0)
        total = np.where(known, ratio, 0.0).sum(axis=0)  # row by row
        return np.asarray(np.where(count > 0, total / np.maximum(count, 1), 1.0))


def cholesky(matrices: Floats) -> Floats:
    """Return the lower factor of each positive definite matrix, [matrix, row, column]."""
    rest = matrices.copy()
    factors = np.zeros_like(rest)
    for k in range(rest.shape[1]):
        column = rest[:, k:, k] / np.sqrt(rest[:, k, k])[:, None]
        factors[:, k:, k] = column
        rest[:, k:, k:] -= column[:, :, None] * column[:, None, :]
    return factors


def stream_order(currencies: Sequence[str]) -> Integers:
    """Return the columns in the order of their streams."""
    places = {name: place for place, name in enumerate(LIQUIDITY)}
    columns = range(len(currencies))
    return np.array(sorted(columns, key=lambda i: places.get(currencies[i], len(places))))


def _interval_variance(gaps: Integers) -> Floats:
    return np.where(gaps <= _WEEKEND_DAYS, 1.0, _HOLIDAY_VARIANCE)


def _listed_pairs(currencies: Sequence[str]) -> Pairs:
    known = {name: column for column, name in enumerate(currencies)} | {"EUR": len(currencies)}
    return [
        (known[row.base], known[row.quote])
        for row in LISTINGS
        if row.base in known and row.quote in known
    ]
