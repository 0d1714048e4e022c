"""The practice market as the engine and the face see it: quotes of any instant, candles of any range.

It has no state but memory of what it computed: the same seed gives the same prices, whenever and in whatever order they are
asked for. The days after the last published one are drawn as far as they are needed.

Factors from one currency to another: the mid, and a half per cent worse for gains and losses alike.

The newer service converts at the mid plus or minus a charge, not at the bid and ask of some pair (SEMANTICS 12.11).
"""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import NamedTuple

import numpy as np

from keydesk_practice.engine.quotes import Conversion, Quote, Specification
from keydesk_practice.errors import TimeOutsideRates
from keydesk_practice.market.bars import PairBlocks, Stretches
from keydesk_practice.market.candles import Candle, CandleMaker, Cut, Range
from keydesk_practice.market.fixings import anchors_of, with_future
from keydesk_practice.market.hours import CELL, CELLS_PER_DAY, Hours, TradingHours
from keydesk_practice.market.instruments import CURRENCIES, LISTINGS, specification_of
from keydesk_practice.market.pairs import OwnPath, Pairs
from keydesk_practice.market.quotes import Quoting
from keydesk_practice.market.reference import Floats, ReferenceRates, read_reference_rates
from keydesk_practice.market.replay import Own
from keydesk_practice.market.rng import Chance
from keydesk_practice.market.spread import depth_of

_CHARGE = Decimal("0.005")
_DECIMALS = Decimal("0.000000000001")
_ONE = Decimal(1)


def conversion_of(currency: str, home: str, mid: float) -> Conversion:
    """Return the factors for a mid of `home` per `currency`."""
    if currency == home:
        return Conversion(currency, _ONE, _ONE, _ONE)
    value = Decimal(mid).quantize(_DECIMALS)
    gain = (value * (_ONE - _CHARGE)).quantize(_DECIMALS)
    loss = (value * (_ONE + _CHARGE)).quantize(_DECIMALS)
    return Conversion(currency, gain, loss, value)


_AHEAD = 90  # days drawn beyond the one that is asked for
_LATEST = 36_525  # days after the last published rate: a century


class PracticeMarket:
    """Everything about prices, for one seed and one kind of week."""

    def __init__(
        self,
        seed: int,
        hours: Hours | str = Hours.ALWAYS,
        own: Sequence[Own] = (),
        rates: ReferenceRates | None = None,
    ) -> None:
        self.chance = Chance(seed)
        self._hours = TradingHours(Hours(hours))
        self.rates = read_reference_rates(CURRENCIES) if rates is None else rates
        replaced = {one.listing.name for one in own}
        self._listings = (
            *(listing for listing in LISTINGS if listing.name not in replaced),
            *(one.listing for one in own),
        )
        self._own = own
        self.columns = {name: i for i, name in enumerate((*self.rates.currencies, "EUR"))}
        self.specifications = {one.name: specification_of(one) for one in self._listings}
        self._places = {listing.name: place for place, listing in enumerate(self._listings)}
        self._lay(int(self.rates.days[-1]))

    def at(self, now: int) -> "Instant":
        """Return the market as it stands at an instant.

        Raises:
            TimeOutsideRates: before the first published rate, or a century after the last.
        """
        self._reach(now)
        return Instant(self, self._quoting, self._places, now)

    def candles(self, instrument: str, cut: Cut, asked: Range, now: int) -> list[Candle]:
        """Return candles of an instrument as they are known at `now`; KeyError if it is not offered.

        Raises:
            TooManyCandles: more than 5,000 lie in the range.
        """
        self._reach(now)
        place = self._places[instrument]
        if place not in self._makers:
            precision = self.specifications[instrument].display_precision
            depth = depth_of(self._listings[place].group)
            blocks = PairBlocks(self._pairs, place, depth, precision)
            self._makers[place] = CandleMaker(blocks, self._stretches, self._hours)
        return self._makers[place].candles(cut, asked, now)

    def last_open(self, now: int) -> int:
        """Return an instant itself while the market is open, else the last one before it closed."""
        return self._hours.last_open(now)

    def is_replayed(self, place: int) -> bool:
        """Return whether the instrument at a place of the listing has a user's own history."""
        return place >= len(self._listings) - len(self._own)

    def _reach(self, now: int) -> None:
        day = now // CELL // CELLS_PER_DAY
        if not self.rates.days[0] < day < self.rates.days[-1] + _LATEST:
            raise TimeOutsideRates(
                "The market's time lies outside its rates: they begin in January 1999."
            )
        if day + 2 > self._last_day:
            self._lay(day)

    def _lay(self, day: int) -> None:
        """Lay the days up to some time after `day`; those that were there already come out the same."""
        rates = with_future(self.rates, self.chance, day + _AHEAD)
        anchors = anchors_of(rates, self.chance)
        self._last_day = anchors.last_day - 1
        first_own = len(self._listings) - len(self._own)
        own: Mapping[int, OwnPath] = {first_own + i: one.path for i, one in enumerate(self._own)}
        self._pairs = Pairs(
            listings=self._listings,
            typical=self._typical(),
            anchors=anchors,
            chance=self.chance,
            hours=self._hours,
            own=own,
        )
        self._quoting = Quoting(
            self._pairs,
            [depth_of(listing.group) for listing in self._listings],
            [self.specifications[one.name].display_precision for one in self._listings],
            [listing.name for listing in self._listings],
        )
        self._stretches = Stretches()
        self._makers: dict[int, CandleMaker] = {}

    def _typical(self) -> list[float]:
        """Half the usual spread of each instrument, as a share of its last published price."""
        last = dict(zip(self.rates.currencies, self.rates.logs[-1], strict=True)) | {"EUR": 0.0}
        own = {one.listing.name: one.last_price for one in self._own}
        return [
            0.5
            * listing.spread_pips
            * float(self.specifications[listing.name].pip)
            / own.get(
                listing.name,
                float(np.exp(last.get(listing.quote, 0.0) - last.get(listing.base, 0.0))),
            )
            for listing in self._listings
        ]


class Instant:
    """The market at one instant: what the engine is given."""

    def __init__(
        self, market: PracticeMarket, quoting: Quoting, places: Mapping[str, int], now: int
    ) -> None:
        self.now = now
        self._market, self._quoting, self._places = market, quoting, places
        self._levels: dict[int, tuple[list[list[int]], list[list[int]]]] = {}

    def quote(self, instrument: str) -> Quote:
        """Return the price in force; KeyError for an instrument that is not offered."""
        place = self._places[instrument]
        at = self._quoting.last_open(place, self.now)
        if at not in self._levels:
            self._levels[at] = self._quoting.levels(at)
        bids, asks = self._levels[at]
        return self._quoting.quote(place, self.now, at, bids[place], asks[place])

    def specification(self, instrument: str) -> Specification | None:
        """Return what the instrument is; None when it is not offered."""
        place = self._places.get(instrument)
        if place is None or not self._quoting.is_offered(place, self.now):
            return None
        return self._market.specifications[instrument]

    def instruments(self) -> Sequence[str]:
        """Return every instrument that has begun by now."""
        return [
            name
            for name, place in self._places.items()
            if self._quoting.is_offered(place, self.now)
        ]

    def conversion(self, currency: str, home: str) -> Conversion:
        """Return the factors from a currency to the home currency."""
        return conversion_of(currency, home, float(np.exp(self._log_value(currency, home))))

    def _log_value(self, currency: str, home: str) -> float:
        """Return the log of how much of the home currency one of a currency is worth.

        What is replayed for the pair of the two counts before the reference rates, as it does in the pair's own price.
        """
        if currency == home:
            return 0.0
        for name, sign in ((f"{currency}_{home}", 1), (f"{home}_{currency}", -1)):
            if self._is_replayed(name):
                return sign * self._log_mid(self._places[name])
        columns = self._market.columns
        if currency in columns and home in columns:
            rates = self._lines(self._market.last_open(self.now)).rates
            return float(rates[columns[home]] - rates[columns[currency]])
        for name, place in self._places.items():  # such as XAU, known by a user's XAU_USD
            base, _, quote = name.partition("_")
            if base == currency:
                return self._log_mid(place) + self._log_value(quote, home)
        raise KeyError(currency)

    def _is_replayed(self, name: str) -> bool:
        place = self._places.get(name)
        if place is None or not self._market.is_replayed(place):
            return False
        return self._quoting.is_offered(place, self.now)

    def _log_mid(self, place: int) -> float:
        return float(self._lines(self._quoting.last_open(place, self.now)).mids[place])

    def _lines(self, at: int) -> "_Lines":
        lines, part = self._quoting.lines(at // CELL), at % CELL / CELL
        return _Lines(lines.mids_at(part), lines.rates_at(part))


class _Lines(NamedTuple):
    """The log mids of the instruments and the log rates of the currencies at an instant."""

    mids: Floats
    rates: Floats
