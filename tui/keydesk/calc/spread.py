"""What the spread costs, and how far from the price a market order may fill (TRADER.md 2.2, feature 14)."""

from decimal import Decimal


def spread_pips(bid: Decimal, ask: Decimal, pip: Decimal) -> Decimal:
    """Return the spread in pips."""
    return (ask - bid) / pip


def spread_cost(units: Decimal, bid: Decimal, ask: Decimal, loss_factor: Decimal) -> Decimal:
    """Return what going in and out at once costs, in home currency."""
    return abs(units) * (ask - bid) * loss_factor


def share_of_stop(bid: Decimal, ask: Decimal, distance: Decimal) -> Decimal:
    """Return the spread as a fraction of the distance to the stop."""
    return (ask - bid) / distance


def slippage_allowed(bid: Decimal, ask: Decimal, pip: Decimal) -> Decimal:
    """Return how far a market order may fill from the price seen: two spreads, at least one pip."""
    return max(2 * (ask - bid), pip)
