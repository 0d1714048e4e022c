"""Quotes of all instruments at one instant.

Within a cell every log price is linear. So the prices at the two ends of a cell, computed once for all pairs together, give
every quote of its five seconds by a few array operations.
"""

from collections.abc import Sequence
from decimal import Decimal

import numpy as np
from msgspec import Struct

from keydesk_practice.engine.quotes import Level, Quote
from keydesk_practice.market.hours import CELL, cells_in, first_cell, market_day_of
from keydesk_practice.market.pairs import Pairs
from keydesk_practice.market.reference import Floats
from keydesk_practice.market.rng import Lru
from keydesk_practice.market.spread import DISTANCES, Depth, aftershock, base_half_spread


class CellPrices(Struct, frozen=True):
    """Log mid and log half-spread of each pair at the two ends of a cell."""

    mids: tuple[Floats, Floats]
    halves: tuple[Floats, Floats]
    rates: tuple[Floats, Floats]  # log rate of each currency against the euro, the euro's own last
    open: tuple[bool, ...]
    units: tuple[tuple[int, ...], ...]  # at each level of each pair

    def mids_at(self, part: float) -> Floats:
        """Return the log mids when a part of the cell has passed."""
        return self.mids[0] + (self.mids[1] - self.mids[0]) * part

    def halves_at(self, part: float) -> Floats:
        """Return the log half-spreads when a part of the cell has passed."""
        return self.halves[0] + (self.halves[1] - self.halves[0]) * part

    def rates_at(self, part: float) -> Floats:
        """Return the log rates of the currencies when a part of the cell has passed."""
        return self.rates[0] + (self.rates[1] - self.rates[0]) * part


class Quoting:
    """The quotes of all pairs, from the prices of one cell at a time."""

    def __init__(
        self, pairs: Pairs, depths: Sequence[Depth], precisions: Sequence[int], names: Sequence[str]
    ) -> None:
        self._pairs, self._depths, self.names = pairs, depths, names
        self._bases = np.array([base for base, _ in pairs.columns])
        self._quotes = np.array([quote for _, quote in pairs.columns])
        self._scales = 10.0 ** np.array(precisions)[:, None]
        self._exponents = [-precision for precision in precisions]
        self._first_cells = np.array([first_cell(pairs.first_day(p)) for p in range(len(names))])
        self.cell_prices = Lru(64, self._prices_of)

    def levels(self, now: int) -> tuple[list[list[int]], list[list[int]]]:
        """Return bid and ask prices of all pairs and levels, as whole numbers of their last decimal."""
        prices, part = self.cell_prices(now // CELL), now % CELL / CELL
        mids = prices.mids_at(part)[:, None]
        halves = prices.halves_at(part)[:, None] * DISTANCES
        known = np.isfinite(mids)
        bids = np.floor(np.exp(np.where(known, mids - halves, 0.0)) * self._scales)
        asks = np.ceil(np.exp(np.where(known, mids + halves, 0.0)) * self._scales)
        for level in range(
            1, len(DISTANCES)
        ):  # each level at least one step worse than the one before
            np.minimum(bids[:, level], bids[:, level - 1] - 1, out=bids[:, level])
            np.maximum(asks[:, level], asks[:, level - 1] + 1, out=asks[:, level])
        return bids.astype(np.int64).tolist(), asks.astype(np.int64).tolist()

    def quote(self, pair: int, now: int, at: int, bids: list[int], asks: list[int]) -> Quote:
        """Return the quote of a pair from its prices at the instant `at`."""
        exponent = self._exponents[pair]
        units = self.cell_prices(at // CELL).units[pair]
        bid_prices = [Decimal(price).scaleb(exponent) for price in bids]
        ask_prices = [Decimal(price).scaleb(exponent) for price in asks]
        return Quote(
            self.names[pair],
            now,
            tuple(map(Level, bid_prices, units)),
            tuple(map(Level, ask_prices, units)),
            bid_prices[-1],
            ask_prices[-1],
            self.cell_prices(now // CELL).open[pair],
        )

    def last_open(self, pair: int, now: int) -> int:
        """Return the instant whose prices are in force: `now`, or the last one before the pair closed."""
        return self._pairs.last_open(pair, now)

    def is_offered(self, pair: int, now: int) -> bool:
        """Return whether the history of a pair has begun at an instant."""
        return bool(self._first_cells[pair] <= now // CELL)

    def _prices_of(self, cell: int) -> CellPrices:
        day = market_day_of(cell)
        point = cell - first_cell(day)
        rates = self._rates(day, point)
        mids = self._mids(rates, day, point)
        depth = float(self._pairs.sessions.on(day).depth[point])
        return CellPrices(
            mids,
            (self._halves(day, point, cell, 0), self._halves(day, point + 1, cell + 1, 1)),
            rates,
            self._open(day, point),
            self._units(depth, cell),
        )

    def _rates(self, day: int, point: int) -> tuple[Floats, Floats]:
        count = len(self._pairs.fixings.currencies)
        curves = [self._pairs.paths.curve(day, column) for column in range(count)]
        starts = [float(curve.points[point]) for curve in curves]
        ends = [curve.just_before(point + 1) for curve in curves]
        return np.array([*starts, 0.0]), np.array([*ends, 0.0])

    def _mids(self, rates: tuple[Floats, Floats], day: int, point: int) -> tuple[Floats, Floats]:
        start, end = (one[self._quotes] - one[self._bases] for one in rates)
        for pair in self._pairs.replayed:
            curve = self._pairs.mid(pair, day)
            start[pair] = curve.points[point]
            end[pair] = curve.just_before(point + 1)
        return start, end

    def _halves(self, day: int, point: int, cell: int, from_left: int) -> Floats:
        """Return the half-spreads at a grid point; with `from_left` 1 without a step that happens there."""
        pairs, count = self._pairs, cells_in(day)
        start, end = (pairs.typical * factors for factors in pairs.volatility.over(day))
        half = base_half_spread(
            float(pairs.sessions.on(day).spread[point]),
            pairs.spread_noise.of_cell(len(pairs.typical), cell),
            (start, end),
            point / count,
        )
        if pairs.on_demand.all:
            factors = [pairs.on_demand.half_factor(name, cell, from_left) for name in self.names]
            half = np.asarray(half * factors)
        if not pairs.has_shocks(day):
            return half
        return np.asarray(half * self._aftershock_factors(day, point, from_left))

    def _aftershock_factors(self, day: int, point: int, from_left: int) -> Floats:
        factors = np.ones(len(self.names))
        for pair in range(len(self.names)):
            for at, size in self._pairs.shocks(pair, day):
                if point - at >= from_left:
                    factors[pair] += float(aftershock(size, float(point - at)))
        return factors

    def _open(self, day: int, point: int) -> tuple[bool, ...]:
        scheduled = self._pairs.hours.open_cells(day)
        is_open = scheduled is None or bool(scheduled[point])
        cell = first_cell(day) + point
        known = (self._first_cells <= cell).tolist()
        for pair, path in self._pairs.replayed.items():
            known[pair] = known[pair] and bool(path.open_cells(day)[point])
        shocks = self._pairs.on_demand
        if shocks.all:
            halted = [shocks.is_halted(name, cell) for name in self.names]
            known = [one and not off for one, off in zip(known, halted, strict=True)]
        return tuple(is_open and one for one in known)

    def _units(self, depth: float, cell: int) -> tuple[tuple[int, ...], ...]:
        shocks = self._pairs.on_demand
        if not shocks.all:
            return tuple(one.at(depth) for one in self._depths)
        factors = [shocks.depth_factor(name, cell) for name in self.names]
        return tuple(
            one.at(depth * factor) for one, factor in zip(self._depths, factors, strict=True)
        )
