"""Profit in pips and home currency, the cost of the spread, conversion to home currency, and rounding of units and prices.

Units are rounded toward zero. Home currency is the account's.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_DOWN, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from typing import Protocol

from keydesk_client.arithmetic.constants import ZERO


def whole_units(units: Decimal, precision: int) -> Decimal:
    """Return units rounded down to the instrument's precision."""
    return units.quantize(_step(precision), rounding=ROUND_DOWN)


def round_price(price: Decimal, precision: int) -> Decimal:
    """Return the price rounded to the instrument's precision."""
    return price.quantize(_step(precision), rounding=ROUND_HALF_EVEN)


def round_price_up(price: Decimal, precision: int) -> Decimal:
    """Return the price rounded up to the instrument's precision."""
    return price.quantize(_step(precision), rounding=ROUND_CEILING)


def round_price_down(price: Decimal, precision: int) -> Decimal:
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
"""The factors of home currency itself."""


class Conversion(Protocol):
    """The conversion factors of a currency as the service sends them, such as `HomeConversions`."""

    @property
    def account_gain(self) -> Decimal: ...
    @property
    def account_loss(self) -> Decimal: ...
    @property
    def position_value(self) -> Decimal: ...


def factors_from(conversion: Conversion | Factors) -> Factors:
    """Return conversion factors as sent by the service, or unchanged if they are `Factors`."""
    if isinstance(conversion, Factors):
        return conversion
    return Factors(conversion.account_gain, conversion.account_loss, conversion.position_value)


def mid_price(bid: Decimal, ask: Decimal) -> Decimal:
    """Return the mean of bid and ask, unrounded."""
    return (bid + ask) / 2


def currencies(instrument: str) -> tuple[str, str]:
    """Return base and quote currency of an instrument's name: EUR and USD of EUR_USD."""
    base, _, quote = instrument.rpartition("_")
    return base, quote


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


def spread_cost(units: Decimal, bid: Decimal, ask: Decimal, loss_factor: Decimal) -> Decimal:
    """Return the cost of opening and closing `units` at the same quote, in home currency."""
    return abs(units) * (ask - bid) * loss_factor


def notional(units: Decimal, mid: Decimal, factors: Factors) -> Decimal:
    """Return the absolute value of signed units in home currency."""
    return abs(units) * mid * factors.value


def total(parts: Iterable[Decimal | None]) -> Decimal | None:
    """Return the sum, or None if a part is unknown."""
    sum_so_far = ZERO
    for part in parts:
        if part is None:
            return None
        sum_so_far += part
    return sum_so_far


def average_price(parts: Iterable[tuple[Decimal, Decimal]]) -> Decimal | None:
    """Return the average of (units, price) pairs weighted by units, None without any."""
    total = value = ZERO
    for units, price in parts:
        total += units
        value += units * price
    return value / total if total else None


def slippage(
    units: Decimal, filled: Decimal, order_price: Decimal | None, best: Decimal | None
) -> Decimal | None:
    """Return how much worse than expected a fill was, in price units; negative is better, None without a price to compare.

    Args:
        units: Signed units of the fill.
        filled: Its average price.
        order_price: Of an order that names one: limit, stop, target.
        best: For any other, the best price of its side at the moment of the fill.
    """
    expected = best if order_price is None else order_price
    if expected is None:
        return None
    return filled - expected if units > 0 else expected - filled
