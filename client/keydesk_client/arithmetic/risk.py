"""Open risk, position size from risk, locked profit, R multiples and break-even prices of trades."""

from collections.abc import Iterable
from decimal import Decimal

from keydesk_client.arithmetic.constants import MINUTE, ZERO
from keydesk_client.arithmetic.profit import Factors, round_price_down, round_price_up

FIRST_STOP_WITHIN_NS = MINUTE  # a stop set this soon after the fill is the initial one


def nearest_stop(units: Decimal, stops: Iterable[Decimal | None]) -> Decimal | None:
    """Return the stop that the price meets first, None without a stop."""
    prices = [price for price in stops if price is not None]
    if not prices:
        return None
    return max(prices) if units > 0 else min(prices)


def stop_distance(units: Decimal, entry: Decimal, stop: Decimal) -> Decimal:
    """Return the distance from entry to stop on the losing side; negative if the stop is past the entry."""
    return entry - stop if units > 0 else stop - entry


def open_risk(units: Decimal, entry: Decimal, stop: Decimal, factors: Factors) -> Decimal:
    """Return the loss at the stop in home currency, 0 once the stop is past the entry."""
    return max(ZERO, stop_distance(units, entry, stop)) * abs(units) * factors.loss


def locked_profit(units: Decimal, entry: Decimal, stop: Decimal, factors: Factors) -> Decimal:
    """Return the profit at the stop in home currency, 0 while the stop is before the entry."""
    return max(ZERO, -stop_distance(units, entry, stop)) * abs(units) * factors.gain


def trailing_stop(units: Decimal, best: Decimal, distance: Decimal) -> Decimal:
    """Return the price of a trailing stop for the best closing price so far."""
    return best - distance if units > 0 else best + distance


def reward(units: Decimal, entry: Decimal, target: Decimal, factors: Factors) -> Decimal:
    """Return the profit at the target in home currency; negative if the target is a loss."""
    distance = target - entry if units > 0 else entry - target
    return distance * abs(units) * (factors.gain if distance >= 0 else factors.loss)


def units_for_risk(
    risk: Decimal, distance: Decimal, loss_factor: Decimal, premium: Decimal = Decimal(0)
) -> Decimal:
    """Return the exact units whose loss over the distance (plus a guarantee's premium) equals the risk."""
    return risk / ((distance + premium) * loss_factor)


def initial_risk(
    units: Decimal, entry: Decimal, stop: Decimal, premium: Decimal, loss_factor: Decimal
) -> Decimal | None:
    """Return what a trade risked at first, as its ticket counts it; None if the stop is past the entry.

    Args:
        units: Signed units opened.
        entry: The trade's price.
        stop: Where the initial stop began; a trailing one at its distance from the closing price at the fill.
        premium: Of a guaranteed stop, in price units.
        loss_factor: Quote currency to home at the fill.
    """
    distance = stop_distance(units, entry, stop)
    return (distance + premium) * abs(units) * loss_factor if distance > 0 else None


def r_multiple(result: Decimal, initial_risk: Decimal | None) -> Decimal | None:
    """Return a result in units of the initial risk, None without an initial stop."""
    return result / initial_risk if initial_risk else None


def exact_break_even(entry: Decimal, units: Decimal, costs: Decimal, factors: Factors) -> Decimal:
    """Return the closing price at which the result of the trade is zero.

    Costs are earned back by a gain; financing received is given back by a loss, which converts at its own factor.

    Args:
        entry: The trade's price.
        units: Signed units that are open.
        costs: Financing and fees so far in home currency, negative when they were paid.
        factors: Quote currency to home.
    """
    factor = factors.gain if costs < 0 else factors.loss
    return entry - costs / (units * factor)


def break_even_stop(
    *,
    entry: Decimal,
    units: Decimal,
    costs: Decimal,
    factors: Factors,
    precision: int,
    offset: Decimal = Decimal(0),
) -> Decimal:
    """Return the break-even stop, rounded to the protecting side.

    Args:
        entry: The trade's price.
        units: Signed units that are open.
        costs: Financing and fees so far in home currency, negative when they were paid.
        factors: Quote currency to home.
        precision: Decimals of the instrument's prices.
        offset: Price units of profit to secure beyond break-even.
    """
    exact = exact_break_even(entry, units, costs, factors)
    if units > 0:
        return round_price_up(exact + offset, precision)
    return round_price_down(exact - offset, precision)
