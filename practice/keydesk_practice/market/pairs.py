"""The log mid and the log half-spread of each pair, one market day at a time.

A pair is the difference of its two currencies' log rates against the euro, so crosses cannot disagree: log EUR_USD + log
USD_JPY is log EUR_JPY, to the last bit but one. An instrument with a user's own history takes its mid from there.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np

from keydesk_practice.market.fixings import Anchors, Turbulence
from keydesk_practice.market.hours import Mask, TradingHours, cells_in, first_cell
from keydesk_practice.market.instruments import Listing
from keydesk_practice.market.jumps import steps_on
from keydesk_practice.market.paths import CurrencyPaths, Curve
from keydesk_practice.market.reference import Floats, Integers
from keydesk_practice.market.rng import Chance, Recent
from keydesk_practice.market.spread import Flicker, Sessions, Steps, half_spread

_KEPT = 8
_RESTLESS_LIKE = ("EUR", "USD")  # an instrument that the rates lack is as restless as this pair


class OwnPath(Protocol):
    """A mid that does not come from the reference rates."""

    first_day: int

    def curve(self, day: int) -> Curve:
        """Return the log mid over a market day."""

    def open_cells(self, day: int) -> Mask:
        """Return which cells of a market day have prices."""

    def any_known(self, starts: Integers, ends: Integers) -> Mask:
        """Return which stretches of cells have prices."""

    def last_open(self, now: int) -> int:
        """Return the last instant up to `now` at which there were prices."""


class Pairs:
    """Curves of every instrument, by its place in the listing."""

    def __init__(
        self,
        *,
        listings: Sequence[Listing],
        typical: Sequence[float],
        anchors: Anchors,
        chance: Chance,
        hours: TradingHours,
        own: Mapping[int, OwnPath],
    ) -> None:
        self.anchors, self.hours, self.own = anchors, hours, own
        self.paths = CurrencyPaths(anchors, chance)
        self.columns = [_columns(listing, anchors.currencies) for listing in listings]
        self.typical = np.array(typical)
        self.sessions = Sessions()
        self.flicker = Flicker(chance)
        self.turbulence = Turbulence(
            anchors, [base for base, _ in self.columns], [quote for _, quote in self.columns]
        )
        self._steps_on: Recent[int, Steps] = Recent(_KEPT, lambda day: steps_on(day, chance))
        self._mid = Recent(_KEPT, self._draw_mid)
        self._half = Recent(_KEPT, self._draw_half)

    def first_day(self, pair: int) -> int:
        """Return the first market day on which a pair has prices."""
        if pair in self.own:
            return self.own[pair].first_day
        known = [
            np.isfinite(self.anchors.logs[:, column]).argmax()
            for column in self.columns[pair]
            if column < len(self.anchors.currencies)
        ]
        return self.anchors.first_day + int(max(known))

    def mid(self, pair: int, day: int) -> Curve:
        """Return the log mid of a pair over a market day."""
        return self._mid((pair, day))

    def half(self, pair: int, day: int) -> Curve:
        """Return the log half-spread of a pair over a market day."""
        return self._half((pair, day))

    def open_cells(self, pair: int, day: int) -> Mask | None:
        """Return which cells of a market day have prices; None when all of them have."""
        scheduled = self.hours.open_cells(day)
        if pair not in self.own:
            return scheduled
        known = self.own[pair].open_cells(day)
        return known if scheduled is None else np.asarray(known & scheduled)

    def last_open(self, pair: int, now: int) -> int:
        """Return the last instant up to `now` at which a pair had prices; they stand until it has others."""
        at = self.hours.last_open(now)
        if pair in self.own:
            at = self.hours.last_open(self.own[pair].last_open(at))
        return at

    def any_known(self, pair: int, starts: Integers, ends: Integers) -> Mask:
        """Return which stretches of cells the history of a pair touches, opening hours aside."""
        if pair in self.own:
            return self.own[pair].any_known(starts, ends)
        return np.asarray(ends > first_cell(self.first_day(pair)))

    def steps(self, pair: int, day: int) -> Steps:
        """Return the jumps of a pair within a market day: grid point and log size."""
        if pair in self.own:
            return ()
        base, quote = (self._jumped(day, column) for column in self.columns[pair])
        if base == quote:
            return ()
        return tuple((at, share * (quote - base)) for at, share in self._steps_on(day))

    def _jumped(self, day: int, column: int) -> float:
        return self.paths.jumped(day, column) if column < len(self.anchors.currencies) else 0.0

    def _draw_mid(self, key: tuple[int, int]) -> Curve:
        pair, day = key
        if pair in self.own:
            return self.own[pair].curve(day)
        base, quote = self.columns[pair]
        euro = len(self.anchors.currencies)
        if base == euro:
            return self.paths.curve(day, quote)
        if quote == euro:
            return self.paths.curve(day, base).negated()
        return self.paths.curve(day, quote).minus(self.paths.curve(day, base))

    def _draw_half(self, key: tuple[int, int]) -> Curve:
        pair, day = key
        count = cells_in(day) + 1
        start, end = self.turbulence.factors(day)[pair], self.turbulence.factors(day + 1)[pair]
        half = half_before_shock(
            self.typical[pair],
            self.sessions.on(day).spread,
            self.flicker.of_day(pair, first_cell(day), count),
            start + (end - start) * (np.arange(count) / (count - 1)),
        )
        return half_spread(half, self.steps(pair, day))


def half_before_shock(
    typical: Floats | float, session: Floats | float, flicker: Floats, turbulence: Floats
) -> Floats:
    """Return the half-spread but for aftershocks; for grid points of a day or for pairs at an instant."""
    return np.asarray(typical * session * flicker * turbulence)


def _columns(listing: Listing, currencies: Sequence[str]) -> tuple[int, int]:
    """Columns of base and quote; the euro, which has none, is one past the last."""
    known = {name: column for column, name in enumerate(currencies)} | {"EUR": len(currencies)}
    if listing.base in known and listing.quote in known:
        return known[listing.base], known[listing.quote]
    return known[_RESTLESS_LIKE[0]], known[_RESTLESS_LIKE[1]]
