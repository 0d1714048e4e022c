"""Where a trade costs nothing, financing and fees included (TRADER.md 2.8)."""

from decimal import Decimal

from keydesk.calc.profit import Factors
from keydesk.calc.rounding import price_down, price_up


def exact_break_even(entry: Decimal, units: Decimal, costs: Decimal, factors: Factors) -> Decimal:
    """Return the closing-side price at which the trade's result is nothing.

    Costs are earned back by a gain; financing received is given back by a loss, which converts at its own factor.

    Args:
        entry: The trade's price.
        units: Signed units that are open.
        costs: Financing and fees so far in home currency, negative when they were paid.
        factors: Quote currency to home.
    """
    factor = factors.gain if costs < 0 else factors.loss
    return entry - costs / (units * factor)


def break_even_stop(
    *,
    entry: Decimal,
    units: Decimal,
    costs: Decimal,
    factors: Factors,
    precision: int,
    offset: Decimal = Decimal(0),
) -> Decimal:
    """Return the stop that leaves nothing lost, rounded to the side that protects.

    Args:
        entry: The trade's price.
        units: Signed units that are open.
        costs: Financing and fees so far in home currency, negative when they were paid.
        factors: Quote currency to home.
        precision: Decimals of the instrument's prices.
        offset: Price units to lock in beyond nothing.
    """
    exact = exact_break_even(entry, units, costs, factors)
    if units > 0:
        return price_up(exact + offset, precision)
    return price_down(exact - offset, precision)
