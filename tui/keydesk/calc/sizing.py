"""How many units a risk buys, and which cap makes them fewer (TRADER.md 2.2, feature 1)."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from keydesk.calc.rounding import whole_units

MARGIN_SHARE = Decimal("0.98")  # of the margin available: the price moves before the fill

CapName = Literal["", "margin", "order limit", "position limit", "own limit"]


@dataclass(frozen=True, slots=True)
class Caps:
    """What units may not go over; None: no such limit."""

    margin: Decimal | None = None
    order: Decimal | None = None
    position: Decimal | None = None  # room that is left
    own: Decimal | None = None


@dataclass(frozen=True, slots=True)
class Size:
    """The units to send, and the cap that bound them."""

    units: Decimal
    bound_by: CapName = ""


def units_for_risk(
    risk: Decimal, distance: Decimal, loss_factor: Decimal, premium: Decimal = Decimal(0)
) -> Decimal:
    """Return the exact units whose loss over the distance (and a guarantee's premium) is the risk."""
    return risk / ((distance + premium) * loss_factor)


def margin_cap(
    available: Decimal, margin_rate: Decimal, mid: Decimal, position_value: Decimal
) -> Decimal:
    """Return the exact units that the margin available carries, a little left over."""
    return available * MARGIN_SHARE / (margin_rate * mid * position_value)


def size(units: Decimal, precision: int, caps: Caps) -> Size:
    """Round down, after the tightest cap; never up."""
    limits: list[tuple[Decimal, CapName]] = [(units, "")]
    for limit, name in _limits(caps):
        if limit is not None:
            limits.append((max(limit, Decimal(0)), name))
    least, bound_by = min(limits, key=lambda each: each[0])
    return Size(whole_units(least, precision), bound_by)


def _limits(caps: Caps) -> tuple[tuple[Decimal | None, CapName], ...]:
    return (
        (caps.margin, "margin"),
        (caps.order, "order limit"),
        (caps.position, "position limit"),
        (caps.own, "own limit"),
    )


def part(units: Decimal, percent: Decimal, precision: int) -> Decimal:
    """Return a part of open units (their magnitude), rounded down; 0 when there is no whole unit in it."""
    return whole_units(abs(units) * percent / 100, precision)
