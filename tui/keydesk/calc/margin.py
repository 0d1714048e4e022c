"""How much margin positions tie up and how far the closeout is (TRADER.md 2.2, 2.4).

The server's figures are the truth; these move them between two of its answers and preview orders.
"""

from decimal import Decimal

NOTHING = Decimal(0)
CLOSEOUT = Decimal(1)  # the closeout percent at which the broker closes everything
HALF = Decimal("0.5")


def effective_rate(instrument_rate: Decimal, account_rate: Decimal | None) -> Decimal:
    """The margin rate in force: the account's own choice can only lower the leverage."""
    return instrument_rate if account_rate is None else max(instrument_rate, account_rate)


def required_margin(
    units: Decimal, rate: Decimal, mid: Decimal, position_value: Decimal
) -> Decimal:
    """The margin of signed units, in home currency; `position_value` is quote currency to home."""
    return abs(units) * rate * mid * position_value


def position_units(long_units: Decimal, short_units: Decimal) -> Decimal:
    """The units of an instrument that need margin: of two sides held at once only the larger does."""
    return max(abs(long_units), abs(short_units))


def margin_available(nav: Decimal, used: Decimal) -> Decimal:
    """The margin left for new positions, never negative."""
    return max(NOTHING, nav - used)


def closeout_percent(used: Decimal, mid_nav: Decimal) -> Decimal:
    """How near the margin closeout is, as a fraction: at 1 the broker closes everything.

    Args:
        used: The margin in use.
        mid_nav: The balance with open trades valued at mid prices; with nothing left it is closeout.
    """
    if not used:
        return NOTHING
    return HALF * used / mid_nav if mid_nav > 0 else CLOSEOUT


def closeout_price(
    units: Decimal,
    mid: Decimal,
    *,
    rate: Decimal,
    position_value: Decimal,
    used: Decimal,
    mid_nav: Decimal,
) -> Decimal:
    """The mid price of an instrument at which the account would be closed out, all else standing still.

    Args:
        units: The position, signed, not zero.
        mid: Its mid price now.
        rate: Its effective margin rate.
        position_value: Quote currency to home.
        used: The account's margin in use.
        mid_nav: The account's balance with open trades valued at mid prices.
    """
    room = mid_nav - used * HALF
    if units > 0:
        return mid - room / (units * position_value * (1 - rate * HALF))
    return mid + room / (-units * position_value * (1 + rate * HALF))
