"""What is at risk down to the stops, and how a trade did in units of its first risk (TRADER.md 2.5)."""

from collections.abc import Iterable
from decimal import Decimal

from keydesk.calc.profit import Factors

NOTHING = Decimal(0)
FIRST_STOP_WITHIN_NS = 60_000_000_000  # a stop set this soon after the fill is the initial one


def nearest_stop(units: Decimal, stops: Iterable[Decimal | None]) -> Decimal | None:
    """Of several stops of a trade the one the price meets first; None: it has no stop."""
    prices = [price for price in stops if price is not None]
    if not prices:
        return None
    return max(prices) if units > 0 else min(prices)


def stop_distance(units: Decimal, entry: Decimal, stop: Decimal) -> Decimal:
    """How far the stop is from the entry on the losing side; negative: it is past the entry."""
    return entry - stop if units > 0 else stop - entry


def open_risk(units: Decimal, entry: Decimal, stop: Decimal, factors: Factors) -> Decimal:
    """What the trade loses when the stop fills at its price, in home currency; 0 once it is past the entry."""
    return max(NOTHING, stop_distance(units, entry, stop)) * abs(units) * factors.loss


def locked_profit(units: Decimal, entry: Decimal, stop: Decimal, factors: Factors) -> Decimal:
    """What the trade still wins when the stop fills at its price, in home currency."""
    return max(NOTHING, -stop_distance(units, entry, stop)) * abs(units) * factors.gain


def give_back(units: Decimal, now: Decimal, stop: Decimal, factors: Factors) -> Decimal:
    """What of today's value goes if the price falls from `now` to the stop, in home currency."""
    return stop_distance(units, now, stop) * abs(units) * factors.loss


def trailing_stop(units: Decimal, best: Decimal, distance: Decimal) -> Decimal:
    """Where a trailing stop stands once the closing side has been at its best."""
    return best - distance if units > 0 else best + distance


def reward(units: Decimal, entry: Decimal, target: Decimal, factors: Factors) -> Decimal:
    """What the trade wins at its target, in home currency; negative: the target is a loss."""
    distance = target - entry if units > 0 else entry - target
    return distance * abs(units) * (factors.gain if distance >= 0 else factors.loss)


def r_multiple(result: Decimal, initial_risk: Decimal | None) -> Decimal | None:
    """A result in units of the trade's initial risk; None when it had no stop to measure by."""
    return result / initial_risk if initial_risk else None
