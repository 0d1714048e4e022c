"""Conversion factors in force at a transaction."""

from keydesk_client.models._core.record import Record
from keydesk_client.models._core.scalars import DecimalNumber


class ConversionFactor(Record):
    """One factor."""

    factor: DecimalNumber
    """Multiply by it."""


class HomeConversionFactors(Record):
    """Factors in force at a fill, financing or dividend."""

    gain_quote_home: ConversionFactor | None = None
    """May be null."""
    loss_quote_home: ConversionFactor | None = None
    """May be null."""
    gain_base_home: ConversionFactor | None = None
    """May be null."""
    loss_base_home: ConversionFactor | None = None
    """May be null."""
