"""The distance of a position to the margin closeout, with every other position as it is.

The margin moves with the price, too: the formula, worked, is in `docs/formulas.md`.
"""

from decimal import Decimal


def closeout_price(
    *,
    signed_units: Decimal,
    mid: Decimal,
    margin_rate: Decimal,
    position_value: Decimal,
    margin_used: Decimal,
    mid_nav: Decimal,
) -> Decimal | None:
    """Return the mid price at which the account is closed out; None where no price of this position does that.

    Args:
        signed_units: The net units of the position.
        mid: Its present mid price.
        margin_rate: The rate of its margin.
        position_value: Quote currency to home at mid.
        margin_used: The margin of the whole account.
        mid_nav: The account's NAV with trades valued at mid prices.
    """
    size = abs(signed_units) * position_value
    if not size:
        return None
    spare = mid_nav - margin_used / 2
    half = margin_rate / 2
    if signed_units > 0:
        price = mid - spare / (size * (1 - half))
        return price if price > 0 else None
    return mid + spare / (size * (1 + half))
