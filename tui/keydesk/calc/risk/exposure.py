"""Exposure by currency: what the open positions hold of each currency, and what that is worth.

A position is long its base currency and short its quote currency at the mid price, or the reverse. The base of an index
is not a currency: it has a row of its own, and only its value counts in the quote currency.

Correlation and the risk of open trades together: Pearson's correlation of log returns over periods that both instruments have.
"""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from itertools import combinations, pairwise
from math import isfinite, log, sqrt

from msgspec import Struct

from keydesk_client.arithmetic.constants import ZERO


class Holding(Struct, frozen=True):
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
        held[each.base] = held.get(each.base, ZERO) + each.units
        held[each.quote] = held.get(each.quote, ZERO) - each.units * each.mid
    return {currency: amount for currency, amount in held.items() if amount}


class ExposureChange(Struct, frozen=True):
    """The units held of one currency before and after an order."""

    currency: str
    before: Decimal
    after: Decimal


def exposure_changes(
    held: Mapping[str, Decimal], change: Holding
) -> tuple[ExposureChange, ExposureChange]:
    """Return the exposure to both currencies of an instrument before and after its net units change."""
    base, quote = held.get(change.base, ZERO), held.get(change.quote, ZERO)
    return (
        ExposureChange(change.base, base, base + change.units),
        ExposureChange(change.quote, quote, quote - change.units * change.mid),
    )


ENOUGH = 60  # returns in common; with fewer a correlation says little
LEAST = 5  # with fewer, no correlation is computed
STRONG = 0.8  # of a correlation

Closes = Mapping[int, float]  # close by the time of its period


class Correlation(Struct, frozen=True):
    """The correlation of two instruments, and how many returns it was computed from."""

    first: str
    second: str
    value: float | None  # None: too few returns, or one of them did not move
    returns: int

    @property
    def is_enough(self) -> bool:
        """Whether there were enough returns to rely on it."""
        return self.value is not None and self.returns >= ENOUGH


def correlation(first: Closes, second: Closes) -> tuple[float | None, int]:
    """Return the correlation of log returns between periods that both have, and their number."""
    times = sorted(first.keys() & second.keys())
    pairs = [
        (log(first[now] / first[before]), log(second[now] / second[before]))
        for before, now in pairwise(times)
        if min(first[before], first[now], second[before], second[now]) > 0
    ]
    count = len(pairs)
    if count < LEAST:
        return None, count
    mean_x, mean_y = (sum(each) / count for each in zip(*pairs, strict=True))
    xy = sum((x - mean_x) * (y - mean_y) for x, y in pairs)
    xx = sum((x - mean_x) ** 2 for x, _ in pairs)
    yy = sum((y - mean_y) ** 2 for _, y in pairs)
    if xx <= 0 or yy <= 0:
        return None, count
    value = xy / sqrt(xx * yy)
    return (max(-1.0, min(1.0, value)) if isfinite(value) else None), count


def correlations(closes: Mapping[str, Closes]) -> list[Correlation]:
    """Return the correlation of every two instruments, in the given order."""
    return [
        Correlation(one, other, *correlation(closes[one], closes[other]))
        for one, other in combinations(closes, 2)
    ]


class SignedRisk(Struct, frozen=True):
    """What trades of an instrument lose at their stops, positive for longs, negative for shorts; home currency."""

    instrument: str
    amount: Decimal


class EffectiveRisk(Struct, frozen=True):
    """The risk of all positions together."""

    together: Decimal
    added: Decimal  # the plain sum
    unknown: int  # pairs whose correlation is not known: counted as if they lose together


def effective_risk(risks: Sequence[SignedRisk], known: Sequence[Correlation]) -> EffectiveRisk:
    """Return the square root of the sum of s_i s_j rho_ij r_i r_j over all pairs."""
    values = {frozenset((each.first, each.second)): each.value for each in known}
    total, unknown = sum(float(each.amount) ** 2 for each in risks), 0
    for one, other in combinations(risks, 2):
        product = 2 * float(one.amount) * float(other.amount)
        if one.instrument == other.instrument:
            total += product
            continue
        value = values.get(frozenset((one.instrument, other.instrument)))
        if value is None:
            unknown += 1
            total += abs(product)
        else:
            total += value * product
    added = sum((abs(each.amount) for each in risks), Decimal(0))
    return EffectiveRisk(Decimal(sqrt(max(0.0, total))), added, unknown)
