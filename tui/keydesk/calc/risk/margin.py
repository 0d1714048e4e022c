"""Margin of the account: its figures at another margin rate, and the price at which a position is closed out."""

from collections.abc import Iterable
from decimal import Decimal

from msgspec import Struct

from keydesk_client.arithmetic.constants import ZERO
from keydesk_client.arithmetic.margin import effective_rate


class HeldMargin(Struct, frozen=True):
    """The margin of a position, and its instrument's own rate."""

    used: Decimal
    instrument_rate: Decimal


class MarginFigures(Struct, frozen=True):
    """Margin of an account at a margin rate; home currency."""

    used: Decimal
    available: Decimal
    closeout_percent: Decimal  # a share; at 1 all is closed


def with_margin_rate(
    now: MarginFigures,
    nav: Decimal,
    held: Iterable[HeldMargin],
    *,
    old_rate: Decimal | None,
    new_rate: Decimal,
) -> MarginFigures:
    """Return the figures at another rate: each position has the greater of its instrument's rate and the account's."""
    more = ZERO
    for each in held:
        old = effective_rate(each.instrument_rate, old_rate)
        new = effective_rate(each.instrument_rate, new_rate)
        more += each.used * (new / old - 1) if old else ZERO
    used = now.used + more
    grown = used / now.used if now.used else Decimal(1)
    return MarginFigures(used, max(ZERO, nav - used), now.closeout_percent * grown)


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

    Every other position stays as it is. The margin moves with the price, too: the formula, worked, is in `docs/formulas.md`.

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
