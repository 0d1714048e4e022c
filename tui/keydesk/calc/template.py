"""What a ticket starts with: size presets, bracket, bound; and the trader's own limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # needed by forms, and this before the first picture
    from keydesk.calc.facts import Facts

RISK_PRESET = 0


def _usual_sizes() -> Mapping[int, Decimal]:
    thousands = (1, 5, 10, 25, 50, 100, 250, 500, 1000)
    return {number: Decimal(size * 1000) for number, size in enumerate(thousands, start=1)}


@dataclass(frozen=True, slots=True)
class Template:
    """One way of opening a trade."""

    name: str = "standard"
    sizes: Mapping[int, Decimal] = field(default_factory=_usual_sizes)  # presets 1 to 9
    risk_percent: Decimal = Decimal(1)  # preset 0, of NAV
    stop_pips: Decimal | None = Decimal(20)
    stop_spreads: Decimal = Decimal(5)  # the stop is at least so many spreads away
    target_r: Decimal | None = Decimal(2)
    trail_pips: Decimal | None = None
    break_even_offset_pips: Decimal = Decimal(0)

    def stop_distance_pips(self, facts: Facts) -> Decimal | None:
        """Return the bracket's stop in whole pips, wide enough for the instrument's spread."""
        return self.stop_at_spread((facts.ask - facts.bid) / facts.rules.pip)

    def stop_at_spread(self, spread_pips: Decimal) -> Decimal | None:
        """Return the bracket's stop where the spread is so many pips."""
        if self.stop_pips is None:
            return None
        by_spread = self.stop_spreads * spread_pips
        return max(self.stop_pips, by_spread.to_integral_value(rounding="ROUND_CEILING"))

    def trail_distance_pips(self, facts: Facts) -> Decimal | None:
        """Return the trailing distance in pips: its own, else the stop's, never below the broker's least."""
        wanted = self.trail_pips if self.trail_pips is not None else self.stop_distance_pips(facts)
        if wanted is None:
            return None
        least = facts.rules.minimum_trail / facts.rules.pip
        return max(wanted, least.to_integral_value(rounding="ROUND_CEILING"))


@dataclass(frozen=True, slots=True)
class Limits:
    """What the trader allows the trader; hard refuses, soft asks for a letter. Exits are exempt."""

    hard_units: Decimal | None = None
    hard_risk_percent: Decimal | None = None
    soft_risk_percent: Decimal = Decimal(2)
    soft_spread_of_stop: Decimal = Decimal("0.25")
    soft_leverage: Decimal = Decimal(20)
    slow_ms: float = 400.0
