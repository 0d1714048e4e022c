"""The trading day, 17:00 to 17:00 New York time, and the result of the account in it.

A price at exactly 17:00 is the first of the day that begins. A booking at exactly 17:00, as of financing, belongs to the day
that ends: the functions for bookings say so in their names.
"""

from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo

from keydesk_client.arithmetic.constants import SECOND

NEW_YORK = ZoneInfo("America/New_York")
DAY_ENDS = time(17)
DAY_END_TEXT: Final = "17:00 New York"
"""The end of the day as the screen says it."""
DAY_END_SHORT: Final = "17:00 NY"
DAY_SPAN_TEXT: Final = f"17:00 to {DAY_END_TEXT}"


def day_start(now_ns: int) -> int:
    """Return the start of the trading day that contains an instant, in nanoseconds since 1970."""
    local = datetime.fromtimestamp(now_ns // SECOND, NEW_YORK)
    day = local.date() if local.time() >= DAY_ENDS else local.date() - timedelta(days=1)
    return _at_five(day.toordinal())


def next_day_start(now_ns: int) -> int:
    """Return the start of the next trading day: a day has 23 or 25 hours when the clocks change."""
    local = datetime.fromtimestamp(now_ns // SECOND, NEW_YORK)
    day = local.date() if local.time() < DAY_ENDS else local.date() + timedelta(days=1)
    return _at_five(day.toordinal())


def trading_date(time_ns: int) -> date:
    """Return the date of the trading day that contains an instant: that of its end."""
    return datetime.fromtimestamp(next_day_start(time_ns) // SECOND, NEW_YORK).date()


def booking_day_start(time_ns: int) -> int:
    """Return the start of the trading day to which a booking belongs."""
    return day_start(time_ns - 1)


def booking_day_end(time_ns: int) -> int:
    """Return the end of the trading day to which a booking belongs."""
    return next_day_start(time_ns - 1)


def booking_date(time_ns: int) -> date:
    """Return the date of the trading day to which a booking belongs: that of its end."""
    return trading_date(time_ns - 1)


def start_of(day: date) -> int:
    """Return the start of the trading day of a date: 17:00 New York of the day before."""
    return _at_five(day.toordinal() - 1)


@lru_cache(maxsize=64)
def _at_five(ordinal: int) -> int:
    day = datetime.fromordinal(ordinal).date()
    instant = datetime.combine(day, DAY_ENDS, NEW_YORK).astimezone(UTC)
    return int(instant.timestamp()) * SECOND


def day_profit(nav: Decimal, nav_at_start: Decimal, transfers: Decimal) -> Decimal:
    """Return the profit since the start of the day, without transfers."""
    return nav - nav_at_start - transfers


def nav_at_start(
    balance: Decimal, booked_since: Decimal, transfers: Decimal, unrealized_then: Decimal
) -> Decimal:
    """Return the net asset value at the start of the day, computed back from today's balance.

    Args:
        balance: The balance now.
        booked_since: Realized profit, financing and fees booked since the day began.
        transfers: Money paid in (positive) or out since then.
        unrealized_then: The profit of the trades open at the start, at that instant's prices.
    """
    return balance - booked_since - transfers + unrealized_then
