"""What a size costs in the visible book: levels are walked from the best, the price is the weighted average."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal

from keydesk_practice.engine.money import ZERO
from keydesk_practice.engine.quotes import Level, Quote, Specification


@dataclass(frozen=True, slots=True)
class Walk:
    """What the book gives for a size: how much of it, and what that costs."""

    units: Decimal  # unsigned
    value: Decimal  # units times prices


def walk(levels: Sequence[Level], units: Decimal) -> Walk:
    """Return what the levels give for a size, best first."""
    left, value = units, ZERO
    for level in levels:
        taken = min(left, Decimal(level.liquidity))
        value += taken * level.price
        left -= taken
        if not left:
            break
    return Walk(units - left, value)


def levels_of(quote: Quote, buys: bool) -> tuple[Level, ...]:
    """Return the levels that a buy or a sell meets."""
    return quote.asks if buys else quote.bids


def visible_units(quote: Quote, buys: bool, worst: Decimal | None = None) -> Decimal:
    """Return the size that the book shows, up to the worst price when there is one."""
    levels = levels_of(quote, buys)
    if worst is not None:
        levels = tuple(
            one for one in levels if (one.price <= worst if buys else one.price >= worst)
        )
    return Decimal(sum(level.liquidity for level in levels))


def average_price(quote: Quote, specification: Specification, units: Decimal) -> Decimal:
    """Return the price of a signed size; what the book does not show is had at the closeout price.

    Only closes come to that: an order that opens is never larger than the book.
    """
    buys, size = units > 0, abs(units)
    levels = levels_of(quote, buys)
    if levels and levels[0].liquidity >= size:
        return levels[0].price
    walked = walk(levels, size)
    last = quote.closeout_ask if buys else quote.closeout_bid
    value = walked.value + (size - walked.units) * last
    return (value / size).quantize(specification.price_step, ROUND_HALF_EVEN)
