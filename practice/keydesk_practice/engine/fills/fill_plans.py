"""Which trades a fill closes and what it opens: position fill modes, netting and hedging."""

from dataclasses import dataclass
from decimal import Decimal

from keydesk_practice.engine.money import ZERO
from keydesk_practice.engine.state.account import Account
from keydesk_practice.engine.state.records import Trade


@dataclass(frozen=True, slots=True)
class Reduction:
    """How much of a trade a fill takes away; signed like the fill."""

    trade: Trade
    units: Decimal


@dataclass(frozen=True, slots=True)
class FillPlan:
    """What a fill does to the position."""

    reductions: tuple[Reduction, ...]
    opens: Decimal  # signed like the fill

    @property
    def units(self) -> Decimal:
        """The whole fill, signed."""
        return sum((part.units for part in self.reductions), self.opens)


def effective_mode(account: Account, position_fill: str) -> str:
    """Return what DEFAULT means for the account."""
    if position_fill != "DEFAULT":
        return position_fill
    return "OPEN_ONLY" if account.terms.hedging else "REDUCE_FIRST"


def opposite_trades(account: Account, instrument: str, units: Decimal) -> list[Trade]:
    """Return the trades that a fill of these units could reduce, oldest first."""
    position = account.position(instrument)
    side = position.short if units > 0 else position.long
    return [account.trades[trade_id] for trade_id in side.trade_ids]


def plan_fill(account: Account, instrument: str, units: Decimal, mode: str) -> FillPlan:
    """Return what a fill does under a mode; REDUCE_ONLY leaves what there is nothing to reduce with."""
    if mode == "OPEN_ONLY":
        return FillPlan((), units)
    reductions = []
    left = units
    for trade in opposite_trades(account, instrument, units):
        if not left:
            break
        taken = _smaller(left, -trade.current_units)
        reductions.append(Reduction(trade, taken))
        left -= taken
    return FillPlan(tuple(reductions), ZERO if mode == "REDUCE_ONLY" else left)


def plan_close(trade: Trade, units: Decimal) -> FillPlan:
    """Return the plan of closing some of one trade; the units are signed like the fill."""
    return FillPlan((Reduction(trade, units),), ZERO)


def _smaller(one: Decimal, other: Decimal) -> Decimal:
    """Return the smaller of two sizes of the same sign."""
    return one if abs(one) <= abs(other) else other
