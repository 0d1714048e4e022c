"""An order that only reduces: on a netting account, one against what is held and no larger than it.

It opens no trade, so there is nothing for a stop or target of its own to protect; it is sent so that it can never open
one either, even when what it was to reduce is gone by the time its price comes.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from keydesk.calc.profit import Factors, profit

NOTHING = Decimal(0)


@dataclass(frozen=True, slots=True)
class Lot:
    """An open trade as far as reducing it goes."""

    units: Decimal  # signed
    entry: Decimal


def only_reduces(signed_units: Decimal, net_units: Decimal, *, hedging: bool) -> bool:
    """Whether an order of so many units can open nothing; a hedging account opens the other side instead."""
    against = signed_units * net_units < 0
    return not hedging and against and abs(signed_units) <= abs(net_units)


def realised(
    lots: Iterable[Lot], units: Decimal, price: Decimal, factors: Factors
) -> Decimal | None:
    """Return what reducing by so many units (their magnitude) at a price realises: the oldest trade goes first.

    None where the trades are not known that far.
    """
    left, won = units, NOTHING
    for lot in lots:
        part = min(left, abs(lot.units))
        won += profit(part.copy_sign(lot.units), lot.entry, price, factors)
        left -= part
        if not left:
            return won
    return None
