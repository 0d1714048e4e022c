"""The conversion factors in force, as fills and financing state them."""

from decimal import Decimal

from keydesk_practice.engine.money import factor
from keydesk_practice.engine.quotes import Market, Specification
from keydesk_practice.engine.transactions import ConversionFactor, HomeConversionFactors


def conversion_factors(
    specification: Specification, market: Market, home_currency: str
) -> HomeConversionFactors:
    """Return the factors of an instrument; what is no currency has none for its base."""
    quote = market.conversion(specification.quote_currency, home_currency)
    of_quote = {"gain_quote_home": _wrapped(quote.gain), "loss_quote_home": _wrapped(quote.loss)}
    if specification.type != "CURRENCY":
        return HomeConversionFactors(**of_quote)
    base = market.conversion(specification.base, home_currency)
    return HomeConversionFactors(
        **of_quote, gain_base_home=_wrapped(base.gain), loss_base_home=_wrapped(base.loss)
    )


def _wrapped(value: Decimal) -> ConversionFactor:
    return ConversionFactor(factor=factor(value))
