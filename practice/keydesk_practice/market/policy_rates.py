"""What money costs in each currency a year: central-bank policy rates of mid 2025, rounded, as fractions.

Financing is what holding a position overnight earns or costs: the interest of what one holds less that of what one owes, less
the broker's charge. The table stands still; a practice account wants plausible signs and sizes, not a money market.
"""

from decimal import Decimal

_YEARLY = {
    "AUD": "0.0385", "CAD": "0.0275", "CHF": "0.0000", "CNY": "0.0140", "CZK": "0.0350", "DKK": "0.0160",
    "EUR": "0.0200", "GBP": "0.0425", "HKD": "0.0250", "HUF": "0.0650", "INR": "0.0550", "JPY": "0.0050",
    "MXN": "0.0800", "NOK": "0.0425", "NZD": "0.0325", "PLN": "0.0500", "SEK": "0.0200", "SGD": "0.0180",
    "THB": "0.0175", "TRY": "0.4300", "USD": "0.0425", "ZAR": "0.0700",
}  # fmt: skip
_CHARGE = Decimal("0.0100")
_UNKNOWN = Decimal("0.0000")  # metals and the like earn nothing


def financing_rates(base: str, quote: str) -> tuple[Decimal, Decimal]:
    """Return what a long and a short position earn a year, as fractions; minus costs the holder."""
    difference = _rate(base) - _rate(quote)
    return difference - _CHARGE, -difference - _CHARGE


def _rate(currency: str) -> Decimal:
    return Decimal(_YEARLY[currency]) if currency in _YEARLY else _UNKNOWN
