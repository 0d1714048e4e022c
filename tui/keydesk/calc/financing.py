"""What holding a position over 17:00 New York costs or pays (TRADER.md 2.6)."""

from decimal import Decimal

DAYS_A_YEAR = 365


def financing_in_quote(
    units: Decimal, price: Decimal, yearly_rate: Decimal, days: int = 1
) -> Decimal:
    """Return the charge (negative) or credit of that many days, in the quote currency."""
    return abs(units) * price * yearly_rate / DAYS_A_YEAR * days


def financing(
    *,
    units: Decimal,
    price: Decimal,
    yearly_rate: Decimal,
    days: int,
    gain_factor: Decimal,
    loss_factor: Decimal,
) -> Decimal:
    """Return the charge (negative) or credit of that many days, in home currency."""
    quote = financing_in_quote(units, price, yearly_rate, days)
    return quote * (gain_factor if quote >= 0 else loss_factor)
