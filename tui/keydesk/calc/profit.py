"""Profit in pips and home currency, and rounding of units and prices (TRADER.md 2.1, 2.2, 2.7).

Units are rounded toward zero.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_DOWN, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal

NOTHING = Decimal(0)


def whole_units(units: Decimal, precision: int) -> Decimal:
    """Return units rounded down to the instrument's precision."""
    return units.quantize(_step(precision), rounding=ROUND_DOWN)


def nearest_price(price: Decimal, precision: int) -> Decimal:
    """Return the price rounded to the instrument's precision."""
    return price.quantize(_step(precision), rounding=ROUND_HALF_EVEN)


def price_up(price: Decimal, precision: int) -> Decimal:
    """Return the price rounded up to the instrument's precision."""
    return price.quantize(_step(precision), rounding=ROUND_CEILING)


def price_down(price: Decimal, precision: int) -> Decimal:
    """Return the price rounded down to the instrument's precision."""
    return price.quantize(_step(precision), rounding=ROUND_FLOOR)


def pip(pip_location: int) -> Decimal:
    """Return one pip in price units."""
    return Decimal(1).scaleb(pip_location)


def _step(precision: int) -> Decimal:
    return Decimal(1).scaleb(-precision)


@dataclass(frozen=True, slots=True)
class Factors:
    """Conversion factors of a currency to home currency: for gains, for losses, and for valuation (mid)."""

    gain: Decimal
    loss: Decimal
    value: Decimal


HOME = Factors(Decimal(1), Decimal(1), Decimal(1))


def closing_price(units: Decimal, bid: Decimal, ask: Decimal) -> Decimal:
    """Return the price that closes signed units: the bid for a long, the ask for a short."""
    return bid if units > 0 else ask


def quote_profit(units: Decimal, entry: Decimal, close: Decimal) -> Decimal:
    """Return the profit of signed units in quote currency."""
    return units * (close - entry)


def home_profit(quote: Decimal, factors: Factors) -> Decimal:
    """Convert a profit in quote currency to home currency; gains and losses have their own factors."""
    return quote * (factors.gain if quote >= 0 else factors.loss)


def profit(units: Decimal, entry: Decimal, close: Decimal, factors: Factors) -> Decimal:
    """Return the profit of signed units in home currency."""
    return home_profit(quote_profit(units, entry, close), factors)


def profit_in_pips(units: Decimal, entry: Decimal, close: Decimal, pip: Decimal) -> Decimal:
    """Return the profit in pips; negative is a loss."""
    distance = close - entry if units > 0 else entry - close
    return distance / pip


def pip_value(units: Decimal, pip: Decimal, factors: Factors) -> Decimal:
    """Return the value of one pip in home currency."""
    return abs(units) * pip * factors.value


def notional(units: Decimal, mid: Decimal, factors: Factors) -> Decimal:
    """Return the absolute value of signed units in home currency."""
    return abs(units) * mid * factors.value


def average_price(parts: Iterable[tuple[Decimal, Decimal]]) -> Decimal | None:
    """Return the average of (units, price) pairs weighted by units, None without any."""
    total = value = NOTHING
    for units, price in parts:
        total += units
        value += units * price
    return value / total if total else None
