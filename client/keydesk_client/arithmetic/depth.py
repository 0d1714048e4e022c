"""What a market order costs beyond the first price level: its average price, and the size from risk through the depth.

Levels are those that the order trades against, the asks of a buy and the bids of a sell, best first. Units beyond all of them
count at the last one. The average is rounded to the price's precision, half to even, as the fill's is.
"""

from collections.abc import Sequence
from decimal import ROUND_HALF_EVEN, Decimal
from typing import NamedTuple, Protocol

from keydesk_client.arithmetic.constants import ZERO
from keydesk_client.arithmetic.risk import units_for_risk


class OfferedLevel(Protocol):
    """A level of a price as it comes, such as a `PriceBucket`."""

    @property
    def price(self) -> Decimal: ...
    @property
    def liquidity(self) -> int | Decimal: ...


class DepthLevel(NamedTuple):
    """The units on offer at a price."""

    price: Decimal
    units: Decimal


def average_fill_price(levels: Sequence[DepthLevel], units: Decimal, precision: int) -> Decimal:
    """Return the average price of units (a magnitude) through at least one level."""
    first, left, value = levels[0], units, ZERO
    if units <= first.units:
        return first.price
    for level in levels:
        taken = min(left, level.units)
        value += taken * level.price
        left -= taken
    value += left * levels[-1].price
    return (value / units).quantize(Decimal(1).scaleb(-precision), ROUND_HALF_EVEN)


def units_for_risk_through(
    levels: Sequence[DepthLevel],
    *,
    risk: Decimal,
    distance: Decimal,
    premium: Decimal,
    loss_factor: Decimal,
    precision: int,
) -> Decimal:
    """Return the exact units that lose no more than the risk at the stop when they are filled through the levels.

    Args:
        levels: The depth; () where it is not known.
        risk: Home currency.
        distance: From the first level's price to the stop.
        premium: Of a guaranteed stop, in price units.
        loss_factor: Quote currency to home.
        precision: Decimals of the average price.
    """
    at_first = units_for_risk(risk, distance, loss_factor, premium)
    if not levels or at_first <= levels[0].units:
        return at_first
    units, left, lost = ZERO, risk / loss_factor, distance + premium
    for level in levels:
        lost = distance + premium + abs(level.price - levels[0].price)
        taken = min(level.units, left / lost)
        units, left = units + taken, left - taken * lost
    units += left / lost  # beyond the depth: at the last level
    depth_cost = abs(average_fill_price(levels, units, precision) - levels[0].price)
    # The rounded average may be worse than the exact one by half a step; of fewer units it is never worse still.
    return min(units, units_for_risk(risk, distance + depth_cost, loss_factor, premium))
