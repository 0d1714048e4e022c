"""The formulas of margin and margin closeout.

The service's margin figures are authoritative; these are used between two of its answers and for previews.
"""

from decimal import Decimal

from keydesk_client.arithmetic.constants import ZERO

CLOSEOUT = Decimal(1)
"""The closeout percent at which the service closes all trades."""
HALF = Decimal("0.5")
MARGIN_SHARE = Decimal("0.98")
"""The share of the margin available that an order may use, since the price can move before the fill."""


def effective_rate(instrument_rate: Decimal, account_rate: Decimal | None) -> Decimal:
    """Return the effective margin rate: the greater of the instrument's and the account's."""
    return instrument_rate if account_rate is None else max(instrument_rate, account_rate)


def required_margin(
    units: Decimal, rate: Decimal, mid: Decimal, position_value: Decimal
) -> Decimal:
    """Return the margin of signed units in home currency; `position_value` converts quote to home currency."""
    return abs(units) * rate * mid * position_value


def position_units(long_units: Decimal, short_units: Decimal) -> Decimal:
    """Return the units that need margin: of a long and a short side the larger."""
    return max(abs(long_units), abs(short_units))


def margin_available(nav: Decimal, used: Decimal) -> Decimal:
    """Return the margin for new positions, never negative."""
    return max(ZERO, nav - used)


def closeout_percent(used: Decimal, mid_nav: Decimal) -> Decimal:
    """Return the margin closeout fraction: at 1 the broker closes all trades.

    Args:
        used: The margin in use.
        mid_nav: The balance with open trades valued at mid prices; at 0 or less the account is closed out.
    """
    if not used:
        return ZERO
    return HALF * used / mid_nav if mid_nav > 0 else CLOSEOUT


def margin_cap(
    available: Decimal, margin_rate: Decimal, mid: Decimal, position_value: Decimal
) -> Decimal:
    """Return the exact units that 98 % of the available margin carries."""
    return available * MARGIN_SHARE / (margin_rate * mid * position_value)
