"""Financing of open units: what a rollover at 17:00 New York charges, and what all of them until Friday do.

A rollover charges units x rate / 365 x days, in the base currency of a pair, otherwise x mid in the quote currency;
worked numbers: `docs/formulas.md`.
"""

from calendar import day_abbr
from collections.abc import Iterator, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import NamedTuple

from keydesk.calc.market.trading_day import DAY_ENDS, NEW_YORK, next_day_start
from keydesk.calc.risk.trading_context import TradingContext
from keydesk_client.arithmetic.constants import SECOND

FRIDAY = 4
ROLLOVER_NEAR = timedelta(minutes=10)
DAYS_PER_YEAR = Decimal(365)


def financing_of(context: TradingContext, signed_units: Decimal, days: int) -> Decimal | None:
    """Return the financing of signed units for so many days in home currency, negative is a cost; None: not known."""
    rate = context.rules.long_rate if signed_units > 0 else context.rules.short_rate
    if rate is None:
        return None
    amount, factors = abs(signed_units) * rate / DAYS_PER_YEAR * days, context.base_factors
    if factors is None:
        amount, factors = amount * context.mid, context.factors
    return amount * (factors.gain if amount >= 0 else factors.loss)


def next_rollover(wall_ns: int) -> datetime:
    """Return the next 17:00 in New York."""
    return datetime.fromtimestamp(next_day_start(wall_ns) // SECOND, NEW_YORK)


class NextCharge(NamedTuple):
    """The next rollover that charges financing."""

    days: int
    weekday: str = ""  # "Mon"; "" for the very next rollover


def next_charge(wall_ns: int, charged: Sequence[int]) -> NextCharge | None:
    """Return the next rollover that charges anything: at the weekend Monday's; None where none does, or it is not known.

    Args:
        wall_ns: The broker's time.
        charged: The days that each weekday's rollover charges, Monday first.
    """
    first = next_rollover(wall_ns).weekday()
    for ahead in range(len(charged)):
        weekday = (first + ahead) % len(charged)
        if charged[weekday]:
            return NextCharge(charged[weekday], day_abbr[weekday] if ahead else "")
    return None


def days_to_friday(wall_ns: int, charged: Sequence[int]) -> int | None:
    """Return the days that all rollovers up to Friday's charge, None while the broker has not said."""
    if not charged:
        return None
    return sum(charged[day.weekday()] for day in _rollovers(next_rollover(wall_ns).date()))


def _rollovers(first: date) -> Iterator[date]:
    day = first
    yield day
    while day.weekday() != FRIDAY:
        day += timedelta(days=1)
        yield day


def minutes_to_week_end(wall_ns: int) -> int | None:
    """Return the minutes to the market's end of week, Friday 17:00 in New York, if at most 60, else None."""
    at = next_rollover(wall_ns)
    left = at - datetime.fromtimestamp(wall_ns // SECOND, NEW_YORK)
    near = at.weekday() == FRIDAY and left <= timedelta(hours=1)
    return int(left.total_seconds() // 60) if near else None


def minutes_to_rollover(wall_ns: int) -> int | None:
    """Return the minutes to 17:00 New York if at most ten, else None."""
    moment = datetime.fromtimestamp(wall_ns // SECOND, NEW_YORK)
    rollover = moment.replace(hour=DAY_ENDS.hour, minute=0, second=0, microsecond=0)
    left = rollover - moment
    if timedelta(0) <= left <= ROLLOVER_NEAR:
        return int(left.total_seconds() // 60)
    return None
