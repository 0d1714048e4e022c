"""When a candle's period ends, from its start and its granularity.

Up to an hour periods have a fixed length. From two hours to a day they are counted from 17:00 New York,
so that on days when the clocks change the last one is shorter or the day ends late; weeks begin on
Friday 17:00 New York, months on the first day at that hour.
"""

from datetime import datetime, timedelta

from keydesk.calc.day import NEW_YORK, SECOND, next_day_start

HOUR = 3600 * SECOND
LENGTHS = {
    "S5": 5 * SECOND,
    "S10": 10 * SECOND,
    "S15": 15 * SECOND,
    "S30": 30 * SECOND,
    "M1": 60 * SECOND,
    "M2": 120 * SECOND,
    "M4": 240 * SECOND,
    "M5": 300 * SECOND,
    "M10": 600 * SECOND,
    "M15": 900 * SECOND,
    "M30": 1800 * SECOND,
    "H1": HOUR,
}
ALIGNED_TO_THE_DAY = {
    "H2": 2 * HOUR,
    "H3": 3 * HOUR,
    "H4": 4 * HOUR,
    "H6": 6 * HOUR,
    "H8": 8 * HOUR,
    "H12": 12 * HOUR,
}


def period_end(start_ns: int, granularity: str) -> int | None:
    """When the period that began at this instant ends; None for a granularity we have no name for."""
    if granularity in LENGTHS:
        return start_ns + LENGTHS[granularity]
    if granularity == "D":
        return next_day_start(start_ns)
    if granularity == "W":
        return _new_york(start_ns, timedelta(days=7))
    if granularity == "M":
        return _next_month(start_ns)
    hours = ALIGNED_TO_THE_DAY.get(granularity)
    return None if hours is None else min(start_ns + hours, next_day_start(start_ns))


def period_holding(start_ns: int, time_ns: int, granularity: str) -> int:
    """The start of the period that holds an instant, counted on from the start of an earlier one."""
    length = LENGTHS.get(granularity)
    if length is not None:
        return start_ns + (time_ns - start_ns) // length * length
    end = period_end(start_ns, granularity)
    while end is not None and end <= time_ns:
        start_ns, end = end, period_end(end, granularity)
    return start_ns


def _new_york(start_ns: int, later: timedelta) -> int:
    wall = (
        datetime.fromtimestamp(start_ns // SECOND, NEW_YORK) + later
    )  # wall time: 17:00 stays 17:00
    return int(wall.timestamp()) * SECOND


def _next_month(start_ns: int) -> int:
    """The first of the month, or the eve of it: whichever the service counts months from."""
    wall = datetime.fromtimestamp(start_ns // SECOND, NEW_YORK)
    first = (wall + timedelta(hours=7)).replace(day=1, hour=wall.hour)
    next_first = (first + timedelta(days=32)).replace(day=1)
    return int((next_first + (wall - first)).timestamp()) * SECOND
