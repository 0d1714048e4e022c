"""What another margin rate of the account does to the margin of what is held."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from keydesk.calc.risk.trading_context import NOTHING
from keydesk_client.arithmetic.sizing import effective_rate


@dataclass(frozen=True, slots=True)
class HeldMargin:
    """The margin of a position, and its instrument's own rate."""

    used: Decimal
    instrument_rate: Decimal


@dataclass(frozen=True, slots=True)
class MarginFigures:
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
    more = NOTHING
    for each in held:
        old = effective_rate(each.instrument_rate, old_rate)
        new = effective_rate(each.instrument_rate, new_rate)
        more += each.used * (new / old - 1) if old else NOTHING
    used = now.used + more
    grown = used / now.used if now.used else Decimal(1)
    return MarginFigures(used, max(NOTHING, nav - used), now.closeout_percent * grown)
