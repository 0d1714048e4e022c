"""The trading day: it ends at 17:00 in New York, whatever the hour in UTC."""

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

SECOND = 1_000_000_000
DAY_ENDS_AT = 17
NEW_YORK = ZoneInfo("America/New_York")


def day_end_after(moment: int) -> int:
    """Return the first 17:00 New York after a moment, in nanoseconds since 1970."""
    return _day_end_after_second(moment // SECOND) * SECOND


def weekday(moment: int) -> int:
    """Return the New York weekday of a moment, Monday 0."""
    return datetime.fromtimestamp(moment // SECOND, NEW_YORK).weekday()


@lru_cache(maxsize=1024)
def _day_end_after_second(second: int) -> int:
    local = datetime.fromtimestamp(second, NEW_YORK)
    end = local.replace(hour=DAY_ENDS_AT, minute=0, second=0, microsecond=0)
    if end.astimezone(UTC) <= local.astimezone(UTC):
        end += timedelta(days=1)  # of wall time: the clocks may change in between
    return int(end.astimezone(UTC).timestamp())
