"""What is held net in every currency, over all positions (TRADER.md 2.11)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal

from keydesk.calc.profit import Factors

NOTHING = Decimal(0)


@dataclass(frozen=True, slots=True)
class Holding:
    """One instrument held: signed units at the mid price; only currency pairs split in two legs."""

    instrument: str
    units: Decimal
    mid: Decimal
    is_pair: bool = True

    @property
    def base(self) -> str:
        """The currency (or thing) that is held."""
        return self.instrument.partition("_")[0]

    @property
    def quote(self) -> str:
        """The currency it is paid in."""
        return self.instrument.partition("_")[2]


@dataclass(frozen=True, slots=True)
class Exposure:
    """What is held net of one currency, in its own units and in home currency; plus is long."""

    name: str
    units: Decimal
    home: Decimal | None  # None: its conversion is not known yet


def exposures(holdings: Iterable[Holding], factors: Mapping[str, Factors]) -> list[Exposure]:
    """The net exposure by currency, largest first; what is no currency pair stands by its own name."""
    net: dict[str, Decimal] = {}
    alone: list[Exposure] = []
    for holding in holdings:
        if holding.is_pair:
            net[holding.base] = net.get(holding.base, NOTHING) + holding.units
            paid = holding.units * holding.mid
            net[holding.quote] = net.get(holding.quote, NOTHING) - paid
        else:
            alone.append(_by_itself(holding, factors.get(holding.quote)))
    rows = [_exposure(name, units, factors.get(name)) for name, units in net.items() if units]
    return sorted(rows + alone, key=lambda each: abs(each.home or NOTHING), reverse=True)


def gross(rows: Iterable[Exposure]) -> Decimal:
    """The sum of all exposures without sign, halved: each position is counted once."""
    return sum((abs(each.home or NOTHING) for each in rows), NOTHING) / 2


def _exposure(name: str, units: Decimal, factors: Factors | None) -> Exposure:
    return Exposure(name, units, None if factors is None else units * factors.value)


def _by_itself(holding: Holding, factors: Factors | None) -> Exposure:
    home = None if factors is None else holding.units * holding.mid * factors.value
    return Exposure(holding.instrument, holding.units, home)
