"""Exposure by currency: what the open positions hold of each currency, and what that is worth.

A position is long its base currency and short its quote currency at the mid price, or the reverse. The base of an index
is not a currency: it has a row of its own, and only its value counts in the quote currency.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal

NOTHING = Decimal(0)


@dataclass(frozen=True, slots=True)
class Holding:
    """The net units of an instrument at the mid price."""

    instrument: str
    units: Decimal  # signed
    mid: Decimal

    @property
    def base(self) -> str:
        """The base currency."""
        return self.instrument.partition("_")[0]

    @property
    def quote(self) -> str:
        """The quote currency."""
        return self.instrument.rpartition("_")[2]


def exposure_of(holdings: Iterable[Holding]) -> Mapping[str, Decimal]:
    """Return the units held of each currency, signed; currencies that cancel out are left out."""
    held: dict[str, Decimal] = {}
    for each in holdings:
        held[each.base] = held.get(each.base, NOTHING) + each.units
        held[each.quote] = held.get(each.quote, NOTHING) - each.units * each.mid
    return {currency: amount for currency, amount in held.items() if amount}


@dataclass(frozen=True, slots=True)
class ExposureChange:
    """The units held of one currency before and after an order."""

    currency: str
    before: Decimal
    after: Decimal


def exposure_changes(
    held: Mapping[str, Decimal], change: Holding
) -> tuple[ExposureChange, ExposureChange]:
    """Return the exposure to both currencies of an instrument before and after its net units change."""
    base, quote = held.get(change.base, NOTHING), held.get(change.quote, NOTHING)
    return (
        ExposureChange(change.base, base, base + change.units),
        ExposureChange(change.quote, quote, quote - change.units * change.mid),
    )
