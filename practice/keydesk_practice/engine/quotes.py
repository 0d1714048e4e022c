"""The market as the engine sees it: quotes with depth, specifications, conversion factors and the trading day."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import cached_property, lru_cache
from typing import Literal, Protocol
from zoneinfo import ZoneInfo

from msgspec import Struct

from keydesk_practice.engine.wire_form import SECOND, round_factor, round_money

ZERO = Decimal(0)
ZERO_MONEY = Decimal("0.0000")  # home money has four decimals on the wire
NEW_YORK = ZoneInfo("America/New_York")
DAY_END_HOUR = 17  # New York: the trading day ends, whatever the hour in UTC
GuaranteedMode = Literal["DISABLED", "ALLOWED", "REQUIRED"]


class Level(Struct, frozen=True):
    """Liquidity at one price."""

    price: Decimal
    liquidity: int  # units


class Quote(Struct, frozen=True):
    """The price of an instrument at an instant with its depth; both sides best first, a side may be empty."""

    instrument: str
    time: int  # nanoseconds since 1970 UTC
    bids: tuple[Level, ...]
    asks: tuple[Level, ...]
    closeout_bid: Decimal
    closeout_ask: Decimal
    tradeable: bool

    @property
    def bid(self) -> Decimal:
        """The best price to sell at."""
        return self.bids[0].price if self.bids else self.closeout_bid

    @property
    def ask(self) -> Decimal:
        """The best price to buy at."""
        return self.asks[0].price if self.asks else self.closeout_ask

    @property
    def mid(self) -> Decimal:
        """The exact middle of bid and ask, one decimal more than a price."""
        return (self.bid + self.ask) / 2


class Specification(Struct, frozen=True, dict=True):
    """An instrument and its trading limits; prices and distances in price units."""

    name: str
    display_name: str
    type: Literal["CURRENCY", "CFD", "METAL"]
    pip_location: int  # a pip is 10 to this power
    display_precision: int  # decimals of a price
    trade_units_precision: int  # decimals of units
    minimum_trade_size: Decimal
    maximum_trailing_stop_distance: Decimal
    minimum_trailing_stop_distance: Decimal
    maximum_position_size: Decimal  # units, 0: no limit
    maximum_order_units: Decimal
    margin_rate: Decimal  # fraction of the position's value
    long_rate: Decimal  # financing, a year's fraction; negative costs the holder
    short_rate: Decimal
    financing_days: tuple[int, ...]  # days charged on Monday .. Sunday
    guaranteed_mode: GuaranteedMode = "DISABLED"
    guaranteed_minimum_distance: Decimal = Decimal(0)
    guaranteed_premium: Decimal = Decimal(0)  # price units for a unit
    # Units with guaranteed stops in one window of prices; 0: no limit.
    guaranteed_level_volume: Decimal = Decimal(0)
    guaranteed_level_range: Decimal = Decimal(0)  # width of that window
    tags: tuple[tuple[str, str], ...] = ()  # (type, name)

    @cached_property
    def base(self) -> str:
        """The base currency or commodity: units count it."""
        return self.name.split("_")[0]

    @cached_property
    def quote_currency(self) -> str:
        """The quote currency: prices are in it."""
        return self.name.split("_")[1]

    @cached_property
    def price_step(self) -> Decimal:
        """The smallest difference of two prices."""
        return Decimal(1).scaleb(-self.display_precision)

    @cached_property
    def pip(self) -> Decimal:
        """One pip in price units."""
        return Decimal(1).scaleb(self.pip_location)


class Conversion(Struct, frozen=True):
    """The conversion factors from a currency to the account's home currency: home amount = amount x factor."""

    currency: str
    gain: Decimal  # for profits
    loss: Decimal  # for losses
    value: Decimal  # for the value and margin of positions: the mid


class ConversionFactor(Struct, frozen=True, kw_only=True):
    """A conversion factor to the home currency, as it stands on the wire."""

    factor: Decimal


class HomeConversionFactors(Struct, frozen=True, kw_only=True):
    """The conversion factors of an instrument, as fills and financing state them."""

    gain_quote_home: ConversionFactor | None = None
    loss_quote_home: ConversionFactor | None = None
    gain_base_home: ConversionFactor | None = None
    loss_base_home: ConversionFactor | None = None


class Market(Protocol):
    """The market at an instant, as the engine needs it."""

    @property
    def now(self) -> int:
        """Nanoseconds since 1970 UTC."""
        ...

    def quote(self, instrument: str) -> Quote:
        """Return the price in force; KeyError for an instrument that is not offered."""
        ...

    def specification(self, instrument: str) -> Specification | None:
        """Return the specification of an instrument, None when it is not offered."""
        ...

    def instruments(self) -> Sequence[str]:
        """Return the names of all instruments on offer."""
        ...

    def conversion(self, currency: str, home: str) -> Conversion:
        """Return the conversion factors from a currency to the home currency."""
        ...


def specification_of(market: Market, instrument: str) -> Specification:
    """Return the specification of an instrument on offer; KeyError for any other."""
    specification = market.specification(instrument)
    if specification is None:
        raise KeyError(instrument)
    return specification


def closing_price(quote: Quote, long: bool) -> Decimal:
    """Return the price at which a direction is closed: the bid for a long position, the ask for a short one."""
    return quote.bid if long else quote.ask


def convert_to_home(amount: Decimal, conversion: Conversion) -> Decimal:
    """Return a profit or loss in home currency: amount x gain factor if positive, x loss factor if negative.

    Source: v20 definition `HomeConversionFactors`.
    """
    return round_money(amount * (conversion.gain if amount > 0 else conversion.loss))


def conversion_factors(
    specification: Specification, market: Market, home_currency: str
) -> HomeConversionFactors:
    """Return the factors of an instrument as fills and financing state them; only currencies have base factors."""
    quote = market.conversion(specification.quote_currency, home_currency)
    of_quote = {
        "gain_quote_home": _wire_factor(quote.gain),
        "loss_quote_home": _wire_factor(quote.loss),
    }
    if specification.type != "CURRENCY":
        return HomeConversionFactors(**of_quote)
    base = market.conversion(specification.base, home_currency)
    return HomeConversionFactors(
        **of_quote, gain_base_home=_wire_factor(base.gain), loss_base_home=_wire_factor(base.loss)
    )


def _wire_factor(value: Decimal) -> ConversionFactor:
    return ConversionFactor(factor=round_factor(value))


def day_end_after(time: int) -> int:
    """Return the first 17:00 New York after a time, both in nanoseconds since 1970 UTC."""
    return _day_end_after_second(time // SECOND) * SECOND


def weekday(time: int) -> int:
    """Return the New York weekday of a time in nanoseconds since 1970 UTC; Monday is 0."""
    return datetime.fromtimestamp(time // SECOND, NEW_YORK).weekday()


@lru_cache(maxsize=1024)
def _day_end_after_second(second: int) -> int:
    local = datetime.fromtimestamp(second, NEW_YORK)
    end = local.replace(hour=DAY_END_HOUR, minute=0, second=0, microsecond=0)
    if end.astimezone(UTC) <= local.astimezone(UTC):
        end += timedelta(days=1)  # of wall time: the clocks may change in between
    return int(end.astimezone(UTC).timestamp())
