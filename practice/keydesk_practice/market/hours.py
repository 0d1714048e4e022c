"""The 5-second grid, its market days, the opening hours, and how volatility is spread over a day.

A cell is five seconds, counted from 1970 UTC. A market day runs from one fixing instant, 14:15 in Frankfurt, to that of the
next calendar day, Saturdays and Sundays included, and is named by the calendar day on which it starts. It has 17,280 cells,
on the two days of a clock change 16,560 or 18,000.

Opening hours are either always, or those of the currency market: Sunday 17:05 to Friday 16:59 New York, with a break from
16:59 to 17:05 on the other days. While the market is closed nothing trades, no candle has prices and the last prices stand;
the path continues unseen, so that a Monday opens with a gap.

The variance profile is relative volatility by the hour of Frankfurt's clock (London's and, except for a few weeks a year, New
York's keep step with it). Its shape follows Andersen and Bollerslev, "Intraday periodicity and volatility persistence in
financial markets" (1997): a rise at the European open, a dip at noon, the peak in the overlap of London and New York, a fall
after it. From Friday 17:00 to Sunday 17:00 New York volatility is a third of its size. The profile only divides the variance
between two fixings; `covariance` determines how large it is.
"""

from datetime import UTC, datetime, time, timedelta
from enum import StrEnum
from functools import cache, lru_cache
from zoneinfo import ZoneInfo

import numpy as np
from msgspec import Struct

from keydesk_practice.engine.quotes import NEW_YORK
from keydesk_practice.engine.wire_form import SECOND
from keydesk_practice.market.reference import Floats, Integers
from keydesk_practice.market.rng import Lru

CELL = 5 * SECOND  # nanoseconds
CELLS_PER_DAY = 17_280
DAY_SECONDS = 86_400
FRANKFURT = ZoneInfo("Europe/Berlin")
EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - a wall clock without a zone, so that days can be counted
Mask = np.ndarray[tuple[int], np.dtype[np.bool_]]
_FIXING = time(14, 15)
_FRIDAY = 4
_WEEKEND_DAYS = 2

_VOLATILITY_BY_HOUR = (
    *(0.55, 0.75, 0.80, 0.70, 0.60, 0.55, 0.60, 0.85, 1.20, 1.50, 1.35, 1.15),
    *(1.05, 1.20, 1.70, 1.75, 1.70, 1.35, 1.00, 0.90, 0.80, 0.70, 0.50, 0.40),
)

_WEEKEND_VOLATILITY = 0.35
_FIXING_SECOND = 14 * 3600 + 15 * 60

# 17:00 New York on Frankfurt's clock, seconds since Monday midnight.
_FRIDAY_EVENING = 4 * DAY_SECONDS + 23 * 3600
_SUNDAY_EVENING = 6 * DAY_SECONDS + 23 * 3600
_CLOCKS_FORWARD = 11 * 3600 + 45 * 60  # from Saturday 14:15 to 02:00, which becomes 03:00
_CLOCKS_BACK = 12 * 3600 + 45 * 60  # from Saturday 14:15 to 03:00, which becomes 02:00


@lru_cache(maxsize=16_384)
def first_cell(day: int) -> int:
    """Return the cell that starts at the fixing instant of calendar `day`."""
    return wall_seconds(FRANKFURT, day, _FIXING.hour, _FIXING.minute) // 5


def cells_in(day: int) -> int:
    """Return how many cells the market day has."""
    return first_cell(day + 1) - first_cell(day)


def cell_at(time_ns: int) -> int:
    """Return the cell that covers an instant."""
    return time_ns // CELL


def market_day_of(cell: int) -> int:
    """Return the market day to which a cell belongs."""
    day = cell // CELLS_PER_DAY
    return day if cell >= first_cell(day) else day - 1


def weekday(day: int) -> int:
    """Return 0 for Monday to 6 for Sunday of a calendar day."""
    return (day + 3) % 7


def seconds_of(moment: datetime) -> int:
    """Return whole seconds since 1970 UTC of an aware datetime."""
    difference = moment.astimezone(UTC).replace(tzinfo=None) - EPOCH
    return difference.days * DAY_SECONDS + difference.seconds


@lru_cache(maxsize=1_024)
def utc_offset(zone: ZoneInfo, seconds: int) -> int:
    """Return how many seconds the wall clock of `zone` is ahead of UTC at `seconds` since 1970."""
    offset = datetime.fromtimestamp(seconds, zone).utcoffset() or timedelta()
    return offset.days * DAY_SECONDS + offset.seconds


def wall_seconds(zone: ZoneInfo, day: int, hour: int, minute: int = 0) -> int:
    """Return seconds since 1970 UTC at which the clocks of `zone` show `hour`:`minute` of calendar `day`."""
    wall = EPOCH + timedelta(days=day, hours=hour, minutes=minute)
    return seconds_of(wall.replace(tzinfo=zone))


class Hours(StrEnum):
    """The two kinds of week."""

    ALWAYS = "always"
    FX = "fx"


class TradingHours:
    """The opening hours, for instants and for spans of cells."""

    def __init__(self, hours: Hours) -> None:
        self.hours = hours
        self._open_cells = Lru(16, self._mask_of)

    def open_cells(self, day: int) -> Mask | None:
        """Return which cells of a market day are open; None when all of them are."""
        if self.hours is Hours.ALWAYS:
            return None
        mask = self._open_cells(day)
        return None if mask.all() else mask

    def last_open(self, now: int) -> int:
        """Return `now` while the market is open, else the last instant before it closed."""
        cell = now // CELL
        for closing, opening in self._closed(cell, cell + 1):
            if closing <= cell < opening:
                return closing * CELL - 1
        return now

    def any_open(self, starts: Integers, ends: Integers) -> Mask:
        """Return which of the spans [start, end) of cells have an open cell."""
        spans = self._closed(int(starts.min()), int(ends.max())) if starts.size else []
        if not spans:
            return np.ones(len(starts), dtype=np.bool_)
        closing, opening = np.array(spans, dtype=np.int64).T
        last = np.searchsorted(closing, starts, side="right") - 1
        inside = (last >= 0) & (ends <= opening[last])
        return np.asarray(~inside)

    def _mask_of(self, day: int) -> Mask:
        start, count = first_cell(day), cells_in(day)
        mask = np.ones(count, dtype=np.bool_)
        for closing, opening in self._closed(start, start + count):
            mask[max(closing - start, 0) : max(opening - start, 0)] = False
        return mask

    def _closed(self, start: int, end: int) -> list[tuple[int, int]]:
        """Return the closed spans of cells that touch [start, end), in order."""
        if self.hours is Hours.ALWAYS:
            return []
        first, last = start * 5 // DAY_SECONDS - 3, end * 5 // DAY_SECONDS + 1
        spans = (_closed_from(day) for day in range(first, last + 1))
        return [span for span in spans if span and span[0] < end and span[1] > start]


class VarianceProfile(Struct, frozen=True):
    """The variance of each cell of a market day."""

    variance: Floats  # of each cell; a day from Monday to Tuesday sums to 1
    root: Floats  # its square root
    progress: Floats  # cumulative share at each grid point, 0 to 1
    total: float  # variance of the whole day


def variance_profile(weekday: int, cells: int) -> VarianceProfile:
    """Return the profile of a market day that starts on `weekday` (Monday is 0) and has `cells` cells."""
    return _variance_profile(first_alike(weekday), cells)


def first_alike(weekday: int) -> int:
    """Return the first weekday whose market days are like those of `weekday`: the days from Monday to Thursday are alike.

    They share their arrays, which then stay in the processor's cache.
    """
    return 0 if weekday < _FRIDAY else weekday


@cache
def _variance_profile(weekday: int, cells: int) -> VarianceProfile:
    variance = _relative(weekday, cells) ** 2 / _weekday_variance()
    cumulative = np.concatenate([[0.0], np.cumsum(variance)])
    total = float(cumulative[-1])
    progress = cumulative / total
    return VarianceProfile(variance, np.sqrt(variance), progress, total)


@lru_cache(maxsize=16_384)
def _closed_from(day: int) -> tuple[int, int] | None:
    """Return the span of closed cells that begins on a New York calendar day, if any."""
    if weekday(day) > _FRIDAY:
        return None
    reopening = day + _WEEKEND_DAYS if weekday(day) == _FRIDAY else day
    return (
        wall_seconds(NEW_YORK, day, 16, 59) // 5,
        wall_seconds(NEW_YORK, reopening, 17, 5) // 5,
    )


@cache
def _weekday_variance() -> float:
    """Return the variance of a day from Monday to Tuesday, to which all profiles are relative."""
    return float((_relative(0, CELLS_PER_DAY) ** 2).sum())


def _relative(weekday: int, cells: int) -> Floats:
    """Return the relative volatility of each cell, by hour and weekend."""
    wall = weekday * DAY_SECONDS + _wall_seconds(cells)
    hours = np.arange(-1, 25) + 0.5
    by_hour = np.array([_VOLATILITY_BY_HOUR[-1], *_VOLATILITY_BY_HOUR, _VOLATILITY_BY_HOUR[0]])
    profile = np.interp(wall % DAY_SECONDS / 3600, hours, by_hour)
    in_week = wall % (7 * DAY_SECONDS)
    weekend = (in_week >= _FRIDAY_EVENING) & (in_week < _SUNDAY_EVENING)
    return np.asarray(np.where(weekend, _WEEKEND_VOLATILITY * profile, profile), dtype=np.float64)


def _wall_seconds(cells: int) -> Floats:
    """Return seconds since midnight of the starting day on Frankfurt's clock, which may change during the day."""
    elapsed = np.arange(cells, dtype=np.float64) * 5
    if cells < CELLS_PER_DAY:
        elapsed += np.where(elapsed >= _CLOCKS_FORWARD, 3600.0, 0.0)
    elif cells > CELLS_PER_DAY:
        elapsed -= np.where(elapsed >= _CLOCKS_BACK, 3600.0, 0.0)
    return _FIXING_SECOND + elapsed
