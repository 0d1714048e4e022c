"""What was booked in the day, the week and the month, counted in trading days of 17:00 to 17:00 New York."""

from collections.abc import Iterable
from datetime import timedelta
from decimal import Decimal
from typing import Literal

from msgspec import Struct

from keydesk.calc.market.trading_day import start_of, trading_date
from keydesk_client.arithmetic.constants import ZERO

Period = Literal["day", "week", "month"]
PERIODS: tuple[Period, ...] = ("day", "week", "month")


class Booking(Struct, frozen=True):
    """What one transaction added to the balance, transfers left out; home currency."""

    transaction_id: int
    time_ns: int
    realized: Decimal = ZERO
    financing: Decimal = ZERO  # and dividends
    fees: Decimal = ZERO  # commission and guarantees, positive amounts were paid


class PeriodProfit(Struct, frozen=True):
    """The sum of bookings."""

    realized: Decimal
    financing: Decimal
    fees: Decimal

    @property
    def total(self) -> Decimal:
        """Return what the balance changed by."""
        return self.realized + self.financing - self.fees


def period_start(period: Period, now_ns: int) -> int:
    """Return the start of the day, week or month of trading days that contains an instant.

    A trading day has the date on which it ends. A week begins on Sunday at 17:00, a month with the trading day of its first.
    """
    day = trading_date(now_ns)
    match period:
        case "day":
            first = day
        case "week":
            first = day - timedelta(days=day.weekday())
        case "month":
            first = day.replace(day=1)
    return start_of(first)


def profit_since(bookings: Iterable[Booking], start_ns: int) -> PeriodProfit:
    """Return what was booked after an instant: what is stamped exactly 17:00 belongs to the day that ended."""
    since = [each for each in bookings if each.time_ns > start_ns]
    return PeriodProfit(
        sum((each.realized for each in since), ZERO),
        sum((each.financing for each in since), ZERO),
        sum((each.fees for each in since), ZERO),
    )
