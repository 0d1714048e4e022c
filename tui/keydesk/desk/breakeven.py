"""Where a trade costs nothing, financing and fees included (TRADER.md 2.8)."""

from decimal import Decimal

from keydesk.desk.rounding import price_down, price_up


def exact_break_even(
    entry: Decimal, units: Decimal, costs: Decimal, gain_factor: Decimal
) -> Decimal:
    """Return the closing-side price at which the trade's result is nothing.

    Args:
        entry: The trade's price.
        units: Signed units that are open.
        costs: Financing and fees so far in home currency, negative when they were paid.
        gain_factor: Quote currency to home, for a gain.
    """
    return entry - costs / (units * gain_factor)


def break_even_stop(
    *,
    entry: Decimal,
    units: Decimal,
    costs: Decimal,
    gain_factor: Decimal,
    precision: int,
    offset: Decimal = Decimal(0),
) -> Decimal:
    """Return the stop that leaves nothing lost, rounded to the side that protects.

    Args:
        entry: The trade's price.
        units: Signed units that are open.
        costs: Financing and fees so far in home currency, negative when they were paid.
        gain_factor: Quote currency to home, for a gain.
        precision: Decimals of the instrument's prices.
        offset: Price units to lock in beyond nothing.
    """
    exact = exact_break_even(entry, units, costs, gain_factor)
    if units > 0:
        return price_up(exact + offset, precision)
    return price_down(exact - offset, precision)
