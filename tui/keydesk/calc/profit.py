"""Profit in pips and home currency, and rounding of units and prices (TRADER.md 2.1, 2.2, 2.7).

Units are rounded toward zero.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_DOWN, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal


def whole_units(units: Decimal, precision: int) -> Decimal:
    """Units at the instrument's precision, never more than asked for."""
    return units.quantize(_step(precision), rounding=ROUND_DOWN)


def nearest_price(price: Decimal, precision: int) -> Decimal:
    """The price at the instrument's precision."""
    return price.quantize(_step(precision), rounding=ROUND_HALF_EVEN)


def price_up(price: Decimal, precision: int) -> Decimal:
    """The price at the instrument's precision, never lower."""
    return price.quantize(_step(precision), rounding=ROUND_CEILING)


def price_down(price: Decimal, precision: int) -> Decimal:
    """The price at the instrument's precision, never higher."""
    return price.quantize(_step(precision), rounding=ROUND_FLOOR)


def pip(pip_location: int) -> Decimal:
    """One pip in price units."""
    return Decimal(1).scaleb(pip_location)


def _step(precision: int) -> Decimal:
    return Decimal(1).scaleb(-precision)


NOTHING = Decimal(0)


@dataclass(frozen=True, slots=True)
class Factors:
    """What one unit of a currency is in home currency: for gains, for losses, for valuing (mid)."""

    gain: Decimal
    loss: Decimal
    value: Decimal


HOME = Factors(Decimal(1), Decimal(1), Decimal(1))


def closing_price(units: Decimal, bid: Decimal, ask: Decimal) -> Decimal:
    """The price at which signed units would be closed: a long at the bid, a short at the ask."""
    return bid if units > 0 else ask


def quote_profit(units: Decimal, entry: Decimal, close: Decimal) -> Decimal:
    """The result of signed units in the quote currency."""
    return units * (close - entry)


def home_profit(quote: Decimal, factors: Factors) -> Decimal:
    """A result in the quote currency as home currency: gains and losses convert at their own factor."""
    return quote * (factors.gain if quote >= 0 else factors.loss)


def profit(units: Decimal, entry: Decimal, close: Decimal, factors: Factors) -> Decimal:
    """The result of signed units in home currency."""
    return home_profit(quote_profit(units, entry, close), factors)


def profit_in_pips(units: Decimal, entry: Decimal, close: Decimal, pip: Decimal) -> Decimal:
    """How far the price went the trade's way, in pips; negative: against it."""
    distance = close - entry if units > 0 else entry - close
    return distance / pip


def pip_value(units: Decimal, pip: Decimal, factors: Factors) -> Decimal:
    """What one pip is worth, in home currency."""
    return abs(units) * pip * factors.value


def notional(units: Decimal, mid: Decimal, factors: Factors) -> Decimal:
    """The size of signed units in home currency, without sign."""
    return abs(units) * mid * factors.value


def average_price(parts: Iterable[tuple[Decimal, Decimal]]) -> Decimal | None:
    """The price of several (units, price) together, weighted by units; None without any."""
    total = value = NOTHING
    for units, price in parts:
        total += units
        value += units * price
    return value / total if total else None
