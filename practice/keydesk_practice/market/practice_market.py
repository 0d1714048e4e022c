"""The practice market: quotes, conversion factors and candles of any instant, for one seed.

It has no state except caches: the same seed gives the same prices, whenever and in whatever order they are requested. Days
after the last published one are drawn as far as they are needed.

The v20 service converts to the home currency at the mid with a charge, not at bid and ask: gain factor = mid x (1 - charge),
loss factor = mid x (1 + charge); positions are valued at the mid. Source: the conversion factors in recorded v20 responses,
where the charge is 0.5 % in one division and 0.2 % in another. The practice broker charges 0.5 %.
"""

from collections.abc import Collection, Mapping, Sequence
from decimal import Decimal

import numpy as np

from keydesk_practice.engine.quotes import Conversion, Quote, Specification
from keydesk_practice.engine.wire_form import rfc3339
from keydesk_practice.errors import TimeOutsideRates
from keydesk_practice.market.bar_blocks import PairBarBlocks
from keydesk_practice.market.bar_builder import BarBuilder, CandleSpec, Range
from keydesk_practice.market.candle_files import ReplayedInstrument, ReplayedPath
from keydesk_practice.market.candles import Candle, CandleBuilder
from keydesk_practice.market.fixings import Fixings, with_future
from keydesk_practice.market.hours import CELL, CELLS_PER_DAY, Hours, TradingHours
from keydesk_practice.market.instruments import (
    CURRENCIES,
    LISTINGS,
    half_spread_at,
    specification_of,
    typical_half_spread,
)
from keydesk_practice.market.pairs import Pairs
from keydesk_practice.market.quoting import Quoting
from keydesk_practice.market.reference import ReferenceRates, read_reference_rates
from keydesk_practice.market.rng import Rng
from keydesk_practice.market.shocks import Shock, Shocks
from keydesk_practice.market.spread import depth_of

MARKET_MODEL = (
    2  # raised when the same seed and time give other prices than before; ledgers keep it
)
_AHEAD = 90  # days drawn beyond the requested one
_LATEST = 36_525  # days after the last published rate: a century
CHARGE = Decimal("0.005")
_STEP = Decimal("0.000000000001")
_ONE = Decimal(1)


def conversion_factors(currency: str, home: str, mid: float) -> Conversion:
    """Return the conversion factors for a mid of units of `home` per unit of `currency`."""
    if currency == home:
        return Conversion(currency, _ONE, _ONE, _ONE)
    value = Decimal(mid).quantize(_STEP)
    gain = (value * (_ONE - CHARGE)).quantize(_STEP)
    loss = (value * (_ONE + CHARGE)).quantize(_STEP)
    return Conversion(currency, gain, loss, value)


class CurrencyConverter:
    """The conversion factors between all currencies of the market.

    The mid comes, in this order, from a replayed pair of the two currencies (so that it agrees with the pair's own price),
    from the reference rates, or from a replayed instrument whose base is the currency, such as XAU from XAU_USD.
    """

    def __init__(
        self,
        quoting: Quoting,
        indexes: Mapping[str, int],
        replayed: Collection[str],
        columns: Mapping[str, int],
        hours: TradingHours,
    ) -> None:
        self._quoting, self._indexes, self._replayed = quoting, indexes, replayed
        self._columns, self._hours = columns, hours

    def factors(self, currency: str, home: str, now: int) -> Conversion:
        """Return the conversion factors at an instant; KeyError for an unknown currency."""
        return conversion_factors(currency, home, float(np.exp(self._log_mid(currency, home, now))))

    def _log_mid(self, currency: str, home: str, now: int) -> float:
        if currency == home:
            return 0.0
        for name, sign in ((f"{currency}_{home}", 1), (f"{home}_{currency}", -1)):
            index = self._indexes.get(name)
            if index is None or name not in self._replayed:
                continue
            if self._quoting.is_offered(index, now):
                return sign * self._instrument_log_mid(index, now)
        if currency in self._columns and home in self._columns:
            at = self._hours.last_open(now)
            rates = self._quoting.cell_prices(at // CELL).rates_at(at % CELL / CELL)
            return float(rates[self._columns[home]] - rates[self._columns[currency]])
        for name, index in self._indexes.items():
            base, _, quote = name.partition("_")
            if base == currency:
                return self._instrument_log_mid(index, now) + self._log_mid(quote, home, now)
        raise KeyError(currency)

    def _instrument_log_mid(self, index: int, now: int) -> float:
        at = self._quoting.last_open(index, now)
        return float(self._quoting.cell_prices(at // CELL).mids_at(at % CELL / CELL)[index])


class PracticeMarket:
    """The market for one seed, one kind of opening hours, and the instruments replayed from candle files."""

    def __init__(
        self,
        seed: int,
        hours: Hours | str = Hours.ALWAYS,
        replayed: Sequence[ReplayedInstrument] = (),
        rates: ReferenceRates | None = None,
        shocks: Sequence[Shock] = (),
    ) -> None:
        self.rng = Rng(seed)
        self._hours = TradingHours(Hours(hours))
        self.rates = read_reference_rates(CURRENCIES) if rates is None else rates
        replaced_names = {one.listing.name for one in replayed}
        self._listings = (
            *(listing for listing in LISTINGS if listing.name not in replaced_names),
            *(one.listing for one in replayed),
        )
        self._replayed = replayed
        self._shocks = Shocks(shocks)
        self.specifications = {one.name: specification_of(one) for one in self._listings}
        self._indexes = {listing.name: index for index, listing in enumerate(self._listings)}
        self._build(int(self.rates.days[-1]))

    def at(self, now: int) -> "Instant":
        """Return the market at an instant.

        Raises:
            TimeOutsideRates: before the first published rate, or a century after the last.
        """
        self._extend_to(now)
        return Instant(self.specifications, self._quoting, self._converter, self._indexes, now)

    def candles(self, instrument: str, spec: CandleSpec, range_: Range, now: int) -> list[Candle]:
        """Return candles of an instrument as known at `now`; KeyError if it is not offered.

        Raises:
            TooManyCandles: more than 5,000 lie in the range.
        """
        self._extend_to(now)
        index = self._indexes[instrument]
        if index not in self._builders:
            precision = self.specifications[instrument].display_precision
            depth = depth_of(self._listings[index].group)
            blocks = PairBarBlocks(self._pairs, index, depth, precision)
            self._builders[index] = CandleBuilder(blocks, self._bars, self._hours)
        return self._builders[index].candles(spec, range_, now)

    def set_shocks(self, shocks: Sequence[Shock]) -> bool:
        """Replace the shocks and return whether they differ; prices before the first that does stay the same."""
        if tuple(shocks) == self._shocks.all:
            return False
        self._shocks = Shocks(shocks)
        self._build(self._last_day - 1)
        return True

    def _extend_to(self, now: int) -> None:
        day = now // CELL // CELLS_PER_DAY
        if not self.rates.days[0] < day < self.rates.days[-1] + _LATEST:
            raise TimeOutsideRates(
                f"market time {rfc3339(now)} is outside the rates: use a time from January 1999 on"
            )
        if day + 2 > self._last_day:
            self._build(day)

    def _build(self, day: int) -> None:
        """Build paths and quotes up to some time after `day`; earlier days come out the same."""
        rates = with_future(self.rates, self.rng, day + _AHEAD)
        fixings = Fixings(rates, self.rng)
        self._last_day = fixings.last_day - 1
        first = len(self._listings) - len(self._replayed)
        replayed: Mapping[int, ReplayedPath] = {
            first + i: one.path for i, one in enumerate(self._replayed)
        }
        self._pairs = Pairs(
            listings=self._listings,
            typical=self._typical_half_spreads(),
            fixings=fixings,
            rng=self.rng,
            hours=self._hours,
            replayed=replayed,
            shocks=self._shocks,
        )
        self._quoting = Quoting(
            self._pairs,
            [depth_of(listing.group) for listing in self._listings],
            [self.specifications[one.name].display_precision for one in self._listings],
            [listing.name for listing in self._listings],
        )
        self._converter = CurrencyConverter(
            self._quoting,
            self._indexes,
            {one.listing.name for one in self._replayed},
            {name: i for i, name in enumerate((*self.rates.currencies, "EUR"))},
            self._hours,
        )
        self._bars = BarBuilder()
        self._builders: dict[int, CandleBuilder] = {}

    def _typical_half_spreads(self) -> list[float]:
        """Return half the usual spread of each instrument, as a fraction of its price."""
        replayed = {one.listing.name: one.first_price for one in self._replayed}
        return [
            half_spread_at(listing, replayed[listing.name])
            if listing.name in replayed
            else typical_half_spread(listing)
            for listing in self._listings
        ]


class Instant:
    """The market at one instant, as the engine needs it (`engine.quotes.Market`)."""

    def __init__(
        self,
        specifications: Mapping[str, Specification],
        quoting: Quoting,
        converter: CurrencyConverter,
        indexes: Mapping[str, int],
        now: int,
    ) -> None:
        self.now = now
        self._specifications, self._quoting = specifications, quoting
        self._converter, self._indexes = converter, indexes
        self._levels: dict[int, tuple[list[list[int]], list[list[int]]]] = {}

    def quote(self, instrument: str) -> Quote:
        """Return the price in force; KeyError for an instrument that is not offered."""
        index = self._indexes[instrument]
        at = self._quoting.last_open(index, self.now)
        if at not in self._levels:
            self._levels[at] = self._quoting.levels(at)
        bids, asks = self._levels[at]
        return self._quoting.quote(index, self.now, at, bids[index], asks[index])

    def specification(self, instrument: str) -> Specification | None:
        """Return the specification of an instrument, None when it is not offered."""
        index = self._indexes.get(instrument)
        if index is None or not self._quoting.is_offered(index, self.now):
            return None
        return self._specifications[instrument]

    def instruments(self) -> Sequence[str]:
        """Return the names of all instruments whose history has begun."""
        return [
            name
            for name, index in self._indexes.items()
            if self._quoting.is_offered(index, self.now)
        ]

    def conversion(self, currency: str, home: str) -> Conversion:
        """Return the conversion factors from a currency to the home currency."""
        return self._converter.factors(currency, home, self.now)
