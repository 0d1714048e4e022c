"""Where an instant lies on the 5-second grid, and in which market day.

A cell is five seconds, counted from 1970 UTC. A market day runs from one fixing instant, 14:15 in Frankfurt, to that of the
next calendar day, Saturdays and Sundays included, and is named by the calendar day on which it starts. Between two clock
changes it has 17,280 cells; on the two days of the change 16,560 or 18,000.
"""

from datetime import UTC, datetime, time, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

SECOND = 1_000_000_000
CELL = 5 * SECOND
CELLS_PER_MINUTE = 12
CELLS_PER_DAY = 17_280
DAY_SECONDS = 86_400

FRANKFURT = ZoneInfo("Europe/Berlin")
NEW_YORK = ZoneInfo("America/New_York")
EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001  a wall clock without a zone, so that days can be counted

_FIXING = time(14, 15)


def seconds_of(moment: datetime) -> int:
    """Return whole seconds since 1970 UTC of an aware datetime."""
    difference = moment.astimezone(UTC).replace(tzinfo=None) - EPOCH
    return difference.days * DAY_SECONDS + difference.seconds


def utc_offset(zone: ZoneInfo, seconds: int) -> int:
    """Return how many seconds the wall clock of `zone` is ahead of UTC at `seconds` since 1970."""
    offset = datetime.fromtimestamp(seconds, zone).utcoffset() or timedelta()
    return offset.days * DAY_SECONDS + offset.seconds


def wall_seconds(zone: ZoneInfo, day: int, hour: int, minute: int = 0) -> int:
    """Return seconds since 1970 UTC at which the clocks of `zone` show `hour`:`minute` of calendar `day`."""
    wall = EPOCH + timedelta(days=day, hours=hour, minutes=minute)
    return seconds_of(wall.replace(tzinfo=zone))


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
