"""The log mid and the log half-spread of each pair, one market day at a time.

A pair is the difference of the log rates of its two currencies against the euro, so that crosses agree: log EUR_USD +
log USD_JPY is log EUR_JPY, to the last bit. A replayed instrument takes its mid from its file of candles.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np

from keydesk_practice.market.candle_files import ReplayedPath
from keydesk_practice.market.fixings import Fixings
from keydesk_practice.market.hours import Mask, TradingHours, cells_in, first_cell
from keydesk_practice.market.instruments import Listing
from keydesk_practice.market.jumps import steps_on
from keydesk_practice.market.known_events import events_on
from keydesk_practice.market.paths import CurrencyPaths, Curve
from keydesk_practice.market.reference import Floats, Integers
from keydesk_practice.market.rng import Lru, Rng
from keydesk_practice.market.shocks import Shocks
from keydesk_practice.market.spread import (
    Sessions,
    SpreadNoise,
    Steps,
    Volatility,
    half_spread,
    half_spread_of_day,
)

_CACHED_DAYS = 8
_DEFAULT_PAIR = ("EUR", "USD")  # whose volatility factor an instrument without rates gets


class Pairs:
    """The curves of every instrument, by its index in the listings."""

    def __init__(
        self,
        *,
        listings: Sequence[Listing],
        typical: Sequence[float],
        fixings: Fixings,
        rng: Rng,
        hours: TradingHours,
        replayed: Mapping[int, ReplayedPath],
        shocks: Shocks,
    ) -> None:
        self.fixings, self.hours, self.replayed = fixings, hours, replayed
        self.on_demand = shocks
        self.names = [listing.name for listing in listings]
        self.paths = shocks.paths(CurrencyPaths(fixings, rng), fixings.currencies)
        self.columns = [_columns(listing, fixings.currencies) for listing in listings]
        self.typical = np.array(typical)
        self.sessions = Sessions(hours.hours)
        self.spread_noise = SpreadNoise(rng)
        self.volatility = Volatility(
            fixings, [base for base, _ in self.columns], [quote for _, quote in self.columns]
        )
        self._steps_on: Lru[int, Steps] = Lru(_CACHED_DAYS, lambda day: steps_on(day, rng))
        self._has_jumps = np.asarray(fixings.jumps.any(axis=1))
        self._mid = Lru(_CACHED_DAYS, self._draw_mid)
        self._half = Lru(_CACHED_DAYS, self._draw_half)

    def first_day(self, pair: int) -> int:
        """Return the first market day on which a pair has prices."""
        if pair in self.replayed:
            return self.replayed[pair].first_day
        return max(
            self.fixings.first_day_of(column)
            for column in self.columns[pair]
            if column < len(self.fixings.currencies)
        )

    def mid(self, pair: int, day: int) -> Curve:
        """Return the log mid of a pair over a market day."""
        return self._mid((pair, day))

    def mid_and_half(self, pair: int, day: int) -> tuple[Curve, Callable[[], Curve]]:
        """Return the log mid of a pair over a market day, and what makes its half-spread; neither is kept."""
        return self._mid.once((pair, day)), partial(self._half.once, (pair, day))

    def half(self, pair: int, day: int) -> Curve:
        """Return the log half-spread of a pair over a market day."""
        return self._half((pair, day))

    def open_cells(self, pair: int, day: int) -> Mask | None:
        """Return which cells of a market day have prices; None when all of them have."""
        scheduled = self.hours.open_cells(day)
        if pair in self.replayed:
            known = self.replayed[pair].open_cells(day)
            scheduled = known if scheduled is None else np.asarray(known & scheduled)
        return self.on_demand.open_cells(self.names[pair], day, scheduled)

    def last_open(self, pair: int, now: int) -> int:
        """Return the last instant up to `now` at which a pair had prices."""
        at = self.hours.last_open(now)
        if pair in self.replayed:
            at = self.hours.last_open(self.replayed[pair].last_open(at))
        return self.on_demand.last_open(self.names[pair], at)

    def depth(self, pair: int, day: int) -> Floats:
        """Return the share of the full depth of a pair in each cell of a market day."""
        return self.on_demand.depth(self.names[pair], day, self.sessions.on(day).depth)

    def least_depth(self, pair: int, day: int) -> float:
        """Return the least share of the full depth of a pair within a market day."""
        session, share = self.sessions.on(day), self.depth(pair, day)
        return session.least_depth if share is session.depth else float(share.min())

    def any_known(self, pair: int, starts: Integers, ends: Integers) -> Mask:
        """Return which spans of cells have prices of a pair, opening hours aside."""
        if pair in self.replayed:
            known = self.replayed[pair].any_known(starts, ends)
        else:
            known = np.asarray(ends > first_cell(self.first_day(pair)))
        return self.on_demand.any_known(self.names[pair], starts, ends, known)

    def has_shocks(self, day: int) -> bool:
        """Return whether any currency jumps, or has a known extreme, within a market day."""
        return bool(self._has_jumps[day - self.fixings.first_day] or events_on(day))

    def shocks(self, pair: int, day: int) -> Steps:
        """Return the jumps and known extremes of a pair within a market day: grid point and log size."""
        if pair in self.replayed or not self.has_shocks(day):
            return ()
        sides = [column for column in self.columns[pair] if column < len(self.fixings.currencies)]
        extremes = [one for column in sides for one in self.paths.excursions(day, column)]
        base, quote = (self._jump_size(day, column) for column in self.columns[pair])
        if base == quote:
            return tuple(extremes)
        jumps = [(at, share * (quote - base)) for at, share in self._steps_on(day)]
        return (*jumps, *extremes)

    def _jump_size(self, day: int, column: int) -> float:
        return self.paths.jump_size(day, column) if column < len(self.fixings.currencies) else 0.0

    def _draw_mid(self, key: tuple[int, int]) -> Curve:
        pair, day = key
        if pair in self.replayed:
            return self.replayed[pair].curve(day)
        base, quote = self.columns[pair]
        euro = len(self.fixings.currencies)
        if base == euro:
            return self.paths.curve(day, quote)
        if quote == euro:
            return self.paths.curve(day, base).negated()
        return self.paths.cross(day, base, quote)

    def _draw_half(self, key: tuple[int, int]) -> Curve:
        pair, day = key
        count, typical = cells_in(day), float(self.typical[pair])
        start, end = (typical * float(factors[pair]) for factors in self.volatility.over(day))
        noise = self.spread_noise.of_day(pair, first_cell(day), count + 1)
        half = half_spread_of_day(self.sessions.on(day), noise, (start, end))
        usual = half_spread(half, self.shocks(pair, day))
        return self.on_demand.half(self.names[pair], day, usual)


def _columns(listing: Listing, currencies: Sequence[str]) -> tuple[int, int]:
    """Return the columns of base and quote; the euro, which has none, is one past the last."""
    known = {name: column for column, name in enumerate(currencies)} | {"EUR": len(currencies)}
    if listing.base in known and listing.quote in known:
        return known[listing.base], known[listing.quote]
    return known[_DEFAULT_PAIR[0]], known[_DEFAULT_PAIR[1]]
