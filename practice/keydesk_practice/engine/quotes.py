"""What the engine is told about the market: prices with depth, instrument specifications, conversions.

How amounts are rounded and written: a Decimal carries exactly the digits that the wire shows.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Context, Decimal
from functools import cached_property
from typing import Literal, Protocol

ZERO = Decimal(0)
NOTHING = Decimal("0.0000")  # no money
_CENT_OF_CENT = Decimal("0.0001")
_PERCENT_STEP = Decimal("0.00001")
_FACTOR_STEP = Decimal("0.000000000001")
_EXACT = Context(
    prec=100
)  # wider than any number that comes in: what a client wrote is judged as it is, unrounded


def home(amount: Decimal) -> Decimal:
    """Return an amount of home currency with four decimals; half to even, so that many fills do not drift."""
    return amount.quantize(_CENT_OF_CENT, ROUND_HALF_EVEN)


def percent(fraction: Decimal) -> Decimal:
    """Return a fraction with five decimals, as margin percentages are written."""
    return fraction.quantize(_PERCENT_STEP, ROUND_HALF_EVEN)


def factor(value: Decimal) -> Decimal:
    """Return a conversion factor with at most twelve decimals and no idle zeros."""
    return bare(value.quantize(_FACTOR_STEP, ROUND_HALF_EVEN))


def bare(number: Decimal) -> Decimal:
    """Return a number without idle zeros, as units are written: 100, 0.5."""
    return (
        number.to_integral_value()
        if number == number.to_integral_value()
        else number.normalize(_EXACT)
    )


def decimals(number: Decimal) -> int:
    """Return how many decimals a number needs, idle zeros aside: 1.10 has one."""
    exponent = number.normalize(_EXACT).as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0


def text(number: Decimal) -> str:
    """Return a number in plain digits."""
    return format(number, "f")


GuaranteedMode = Literal["DISABLED", "ALLOWED", "REQUIRED"]


@dataclass(frozen=True, slots=True)
class Level:
    """Liquidity at one price."""

    price: Decimal
    liquidity: int  # units


@dataclass(frozen=True, slots=True)
class Quote:
    """One instrument's price at one instant; both sides best first, a side may be empty."""

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


@dataclass(frozen=True)
class Specification:
    """What an instrument is and what may be done with it; prices and distances in price units."""

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
    guaranteed_level_volume: Decimal = Decimal(
        0
    )  # units with guaranteed stops in one window; 0: no cap
    guaranteed_level_range: Decimal = Decimal(0)  # width of that window
    tags: tuple[tuple[str, str], ...] = ()  # (type, name)

    @cached_property
    def base(self) -> str:
        """The currency (or thing) that units count."""
        return self.name.split("_")[0]

    @cached_property
    def quote_currency(self) -> str:
        """The currency that prices are in."""
        return self.name.split("_")[1]

    @cached_property
    def price_step(self) -> Decimal:
        """The smallest difference of two prices."""
        return Decimal(1).scaleb(-self.display_precision)

    @cached_property
    def pip(self) -> Decimal:
        """One pip in price units."""
        return Decimal(1).scaleb(self.pip_location)


@dataclass(frozen=True, slots=True)
class Conversion:
    """Factors from one currency to the account's home currency."""

    currency: str
    gain: Decimal  # for what is earned
    loss: Decimal  # for what is lost
    value: Decimal  # for valuing positions, mid


class Market(Protocol):
    """The market at one instant."""

    @property
    def now(self) -> int:
        """Nanoseconds since 1970 UTC."""
        ...

    def quote(self, instrument: str) -> Quote:
        """The price in force; KeyError for an instrument that is not offered."""
        ...

    def specification(self, instrument: str) -> Specification | None:
        """What the instrument is; None when it is not offered."""
        ...

    def instruments(self) -> Sequence[str]:
        """Every instrument on offer."""
        ...

    def conversion(self, currency: str, home: str) -> Conversion:
        """Factors from a currency to the home currency."""
        ...
