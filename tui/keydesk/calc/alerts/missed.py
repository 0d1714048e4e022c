"""Crossings while nothing was watched, worked out from candles of the side that an alert watches.

Hundreds of alerts look at the same thousands of candles: blocks of them whose prices are all on one side of a level are passed over.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from keydesk.calc.alerts.alert import Alert
from keydesk.calc.alerts.engine import WatchedAlert, has_expired, is_pausing


@dataclass(frozen=True, slots=True)
class PriceRange:
    """The prices of one period."""

    time_ns: int  # its start
    end_ns: int
    open: Decimal
    high: Decimal
    low: Decimal
    close: Decimal


IN_A_BLOCK = 64  # periods


@dataclass(frozen=True, slots=True)
class PriceHistory:
    """Periods, oldest first, and the range of prices of each block of them."""

    blocks: Sequence[tuple[Decimal, Decimal, Sequence[PriceRange]]] = ()  # low, high, periods

    @classmethod
    def of(cls, periods: Sequence[PriceRange]) -> "PriceHistory":
        """Return the history of periods."""
        parts = [periods[at : at + IN_A_BLOCK] for at in range(0, len(periods), IN_A_BLOCK)]
        return cls(
            [
                (min(each.low for each in part), max(each.high for each in part), part)
                for part in parts
            ]
        )

    @property
    def last_ns(self) -> int:
        """The start of the last period, 0 without any."""
        return self.blocks[-1][2][-1].time_ns if self.blocks else 0

    def around(self, entry: WatchedAlert) -> Iterator[PriceRange]:
        """Yield the periods that may change the state of `entry`; the caller applies each one before it takes the next."""
        for low, high, part in self.blocks:
            if not _is_settled(entry, low, high):
                yield from (each for each in part if not _is_settled(entry, each.low, each.high))


def _is_settled(entry: WatchedAlert, low: Decimal, high: Decimal) -> bool:
    """Return whether prices of this range, all on one side of the level, leave the alert as it is."""
    if low > entry.level:
        return entry.side == (0 if entry.alert.condition.direction == "up" else 1)
    if high < entry.level:
        return entry.side == (0 if entry.alert.condition.direction == "down" else -1)
    return False


@dataclass(frozen=True, slots=True)
class MissedCrossing:
    """The first crossing that was missed, and the side of the level on which the value was in the end."""

    period: PriceRange | None  # of the first one; None: there was none
    side: int | None


def missed_crossing(
    alert: Alert, level: Decimal, history: PriceHistory, side: int | None = None
) -> MissedCrossing:
    """Return the first fresh crossing in the periods, oldest first.

    Which of high and low came first within a period is not known: an alert fires if either order crosses its level,
    because a crossing that is reported by mistake is seen on the chart, and one that is missed is not.

    Args:
        alert: Periods that began before it was made or last fired are left out.
        level: What is crossed.
        history: Of bid, ask or mid, as the alert watches.
        side: Of the level where the value was before, if that is known.
    """
    entry = WatchedAlert(alert, level, side)
    first: PriceRange | None = None
    for period in history.around(entry):
        if period.time_ns < max(alert.made_ns, alert.fired_ns):
            entry.crosses(period.close)
            continue
        crossed = _crosses(entry, period)
        is_blocked = has_expired(alert, period.time_ns) or is_pausing(alert, period.time_ns)
        if crossed and first is None and not is_blocked:
            first = period
    return MissedCrossing(first, entry.side)


def _crosses(entry: WatchedAlert, period: PriceRange) -> bool:
    other = WatchedAlert(entry.alert, entry.level, entry.side)
    low_first = (period.open, period.low, period.high, period.close)
    high_first = (period.open, period.high, period.low, period.close)
    crossed = [entry.crosses(price) for price in low_first]
    return any([*crossed, *(other.crosses(price) for price in high_first)])
