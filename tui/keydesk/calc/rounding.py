"""Rounding as the trade wants it: units toward zero, prices to the side that is said aloud."""

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
