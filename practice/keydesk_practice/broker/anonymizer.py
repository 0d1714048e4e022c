"""A blind replay: one instrument under another name, at prices around one, on other dates.

The trader cannot tell which pair it is, nor when. Prices are multiplied by a factor and dates are moved by whole weeks, so
moves in percent, hours and weekdays stay what they were. Amounts in the quote currency are worth as many times less when
they are converted to the home currency, so profit and margin of a position are those of the real pair.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from keydesk_practice.engine.quotes import Conversion, Level, Market, Quote, Specification
from keydesk_practice.engine.wire_form import SECOND
from keydesk_practice.market.bar_blocks import Component
from keydesk_practice.market.bar_builder import CandleSpec, Range
from keydesk_practice.market.candles import Candle, Prices
from keydesk_practice.market.practice_market import PracticeMarket

ALIAS = "ABC_XYZ"
_SHOWN_YEAR = 2090
_WEEK = 7 * 86_400 * SECOND
_STEP = Decimal("0.00001")
_FACTOR_STEP = Decimal("0.000000000001")
_ROUNDING = {
    Component.MID: ROUND_HALF_EVEN,
    Component.BID: ROUND_FLOOR,
    Component.ASK: ROUND_CEILING,
}


class MarketView(Protocol):
    """What the broker reads of a market."""

    def at(self, now: int) -> Market:
        """Return the market at an instant."""

    def candles(self, instrument: str, spec: CandleSpec, range_: Range, now: int) -> list[Candle]:
        """Return candles of an instrument as known at `now`."""


class Anonymizer(Struct, frozen=True):
    """The real instrument, what its prices are multiplied by, and the nanoseconds that are added to its times."""

    instrument: str
    factor: Decimal
    delta: int

    def real_time(self, shown: int) -> int:
        """Return the real time behind a shown one."""
        return shown - self.delta


def anonymizer_of(instrument: str, start: int, market: MarketView) -> Anonymizer:
    """Return the anonymizer of an instrument whose replay begins at a real time: its price begins at one."""
    year = datetime.fromtimestamp(start // SECOND, UTC).year
    weeks = round((_SHOWN_YEAR - year) * 365.2425 / 7)
    mid = market.at(start).quote(instrument).mid
    return Anonymizer(instrument, (1 / mid).quantize(Decimal("0.00000001")), weeks * _WEEK)


class AnonymizedMarket:
    """A market that offers the anonymized instrument only."""

    def __init__(self, market: PracticeMarket, anonymizer: Anonymizer) -> None:
        self._market, self._anonymizer = market, anonymizer

    def at(self, now: int) -> "AnonymizedInstant":
        """Return the market at a shown instant."""
        quotes = self._market.at(self._anonymizer.real_time(now))
        return AnonymizedInstant(quotes, self._anonymizer, now)

    def candles(self, instrument: str, spec: CandleSpec, range_: Range, now: int) -> list[Candle]:
        """Return candles at shown times and prices; KeyError for any other instrument."""
        if instrument != ALIAS:
            raise KeyError(instrument)
        hidden = self._anonymizer
        span = replace(
            range_,
            begin=None if range_.begin is None else hidden.real_time(range_.begin),
            end=None if range_.end is None else hidden.real_time(range_.end),
        )
        candles = self._market.candles(hidden.instrument, spec, span, hidden.real_time(now))
        return [self._shown(candle) for candle in candles]

    def _shown(self, candle: Candle) -> Candle:
        prices = {
            component: Prices(*(self._price(text, component) for text in one))
            for component, one in candle.prices.items()
        }
        return replace(candle, time=candle.time + self._anonymizer.delta, prices=prices)

    def _price(self, text: str, component: Component) -> str:
        scaled = Decimal(text) * self._anonymizer.factor
        return str(scaled.quantize(_STEP, _ROUNDING[component]))


class AnonymizedInstant:
    """The anonymized market at one instant."""

    def __init__(self, market: Market, anonymizer: Anonymizer, now: int) -> None:
        self.now = now
        self._market, self._anonymizer = market, anonymizer

    def quote(self, instrument: str) -> Quote:
        """Return the price in force; KeyError for any other instrument."""
        if instrument != ALIAS:
            raise KeyError(instrument)
        real, factor = self._market.quote(self._anonymizer.instrument), self._anonymizer.factor
        bids = tuple(_scaled(level, factor, ROUND_FLOOR) for level in real.bids)
        asks = tuple(_scaled(level, factor, ROUND_CEILING) for level in real.asks)
        return replace(
            real,
            instrument=ALIAS,
            time=real.time + self._anonymizer.delta,
            bids=bids,
            asks=asks,
            closeout_bid=(real.closeout_bid * factor).quantize(_STEP, ROUND_FLOOR),
            closeout_ask=(real.closeout_ask * factor).quantize(_STEP, ROUND_CEILING),
        )

    def specification(self, instrument: str) -> Specification | None:
        """Return the specification of the anonymized instrument."""
        if instrument != ALIAS:
            return None
        real = self._market.specification(self._anonymizer.instrument)
        if real is None:
            return None
        factor = self._anonymizer.factor
        return replace(
            real,
            name=ALIAS,
            display_name="Hidden until the end",
            pip_location=-4,
            display_precision=5,
            minimum_trailing_stop_distance=Decimal("0.00050"),
            maximum_trailing_stop_distance=Decimal("1.00000"),
            guaranteed_minimum_distance=(real.guaranteed_minimum_distance * factor).quantize(_STEP),
            guaranteed_premium=(real.guaranteed_premium * factor).quantize(_STEP, ROUND_CEILING),
            guaranteed_level_range=(real.guaranteed_level_range * factor).quantize(_STEP),
        )

    def instruments(self) -> Sequence[str]:
        """Return the one name."""
        return [ALIAS]

    def conversion(self, currency: str, home: str) -> Conversion:
        """Return the conversion factors of one of the two anonymized currencies, or of a real one."""
        base, quote = ALIAS.split("_")
        if currency not in {base, quote}:
            return self._market.conversion(currency, home)
        real_base, _, real_quote = self._anonymizer.instrument.partition("_")
        real = self._market.conversion(real_base if currency == base else real_quote, home)
        divisor = Decimal(1) if currency == base else self._anonymizer.factor
        gain, loss, value = (
            (one / divisor).quantize(_FACTOR_STEP) for one in (real.gain, real.loss, real.value)
        )
        return Conversion(currency, gain, loss, value)


def _scaled(level: Level, factor: Decimal, rounding: str) -> Level:
    return Level((level.price * factor).quantize(_STEP, rounding), level.liquidity)
