"""Crossings while nothing was watched, worked out from candles of the side that an alert watches."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from keydesk.calc.alerts.alert import Alert
from keydesk.calc.alerts.engine import Armed, has_expired, is_pausing


@dataclass(frozen=True, slots=True)
class PriceRange:
    """The prices of one period."""

    time_ns: int  # its start
    open: Decimal
    high: Decimal
    low: Decimal
    close: Decimal


@dataclass(frozen=True, slots=True)
class Missed:
    """The first crossing that was missed, and the side of the level on which the value was in the end."""

    time_ns: int | None  # start of the period of the first one; None: there was none
    side: int | None


def missed_crossing(
    alert: Alert, level: Decimal, periods: Iterable[PriceRange], side: int | None = None
) -> Missed:
    """Return the first fresh crossing in the periods, oldest first.

    Which of high and low came first within a period is not known: an alert fires if either order crosses its level,
    because a crossing that is reported by mistake is seen on the chart, and one that is missed is not.

    Args:
        alert: Periods that began before it was made or last fired are left out.
        level: What is crossed.
        periods: Of bid, ask or mid, as the alert watches.
        side: Of the level where the value was before, if that is known.
    """
    entry, first = Armed(alert, level, side), None
    for period in periods:
        if period.time_ns < max(alert.made_ns, alert.fired_ns):
            entry.take(period.close)
            continue
        crossed = _crosses(entry, period)
        is_blocked = has_expired(alert, period.time_ns) or is_pausing(alert, period.time_ns)
        if crossed and first is None and not is_blocked:
            first = period.time_ns
    return Missed(first, entry.side)


def _crosses(entry: Armed, period: PriceRange) -> bool:
    other = Armed(entry.alert, entry.level, entry.side)
    low_first = (period.open, period.low, period.high, period.close)
    high_first = (period.open, period.high, period.low, period.close)
    crossed = [entry.take(price) for price in low_first]
    return any([*crossed, *(other.take(price) for price in high_first)])
