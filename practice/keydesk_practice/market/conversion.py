"""Factors from one currency to another: the mid, and a half per cent worse for gains and losses alike.

The newer service converts at the mid plus or minus a charge, not at the bid and ask of some pair (SEMANTICS 12.11).
"""

from decimal import Decimal

from keydesk_practice.engine.quotes import Conversion

_CHARGE = Decimal("0.005")
_DECIMALS = Decimal("0.000000000001")
_ONE = Decimal(1)


def conversion_of(currency: str, home: str, mid: float) -> Conversion:
    """Return the factors for a mid of `home` per `currency`."""
    if currency == home:
        return Conversion(currency, _ONE, _ONE, _ONE)
    value = Decimal(mid).quantize(_DECIMALS)
    gain = (value * (_ONE - _CHARGE)).quantize(_DECIMALS)
    loss = (value * (_ONE + _CHARGE)).quantize(_DECIMALS)
    return Conversion(currency, gain, loss, value)
