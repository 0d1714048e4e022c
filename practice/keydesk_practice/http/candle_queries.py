"""The parameters of the candle endpoints, read into values."""

from dataclasses import dataclass
from decimal import Decimal
from zoneinfo import ZoneInfo

from keydesk_practice.http.members import decimal_of
from keydesk_practice.http.refusals import Refused, invalid
from keydesk_practice.http.requests import Query
from keydesk_practice.market.alignment import GRANULARITIES, WEEKDAYS, Alignment
from keydesk_practice.market.candles import Range

MOST = 5000
DEFAULT_COUNT = 500


@dataclass(frozen=True, slots=True)
class Shape:
    """How candles are cut and priced, apart from which ones."""

    alignment: Alignment
    smooth: bool
    units: Decimal


def read_shape(query: Query, with_units: bool) -> Shape:
    """Return the shape asked for, or refuse it."""
    weekday = query.choice("weeklyAlignment", "Friday", frozenset(WEEKDAYS))
    units = query.text("units") if with_units else None
    size = Decimal(1) if units is None else decimal_of(units, "units")
    if size <= 0:
        raise invalid("units")
    alignment = Alignment(
        hour=query.integer("dailyAlignment", 17, 0, 23),
        zone=read_zone(query.text("alignmentTimezone")),
        weekday=WEEKDAYS.index(weekday),
    )
    return Shape(alignment, query.flag("smooth", default=False), size)


def read_zone(name: str | None) -> ZoneInfo:
    """Return a time zone by its name."""
    try:
        return ZoneInfo("America/New_York" if name is None else name)
    except (ValueError, OSError, KeyError):
        raise invalid("alignmentTimezone") from None


def read_span(query: Query, now: int) -> Range:
    """Return which candles are asked for, or refuse them."""
    begin, end = query.time("from"), query.time("to")
    counted = query.text("count") is not None
    if begin is not None and end is not None and counted:
        raise Refused(400, "'count' cannot be specified when 'to' and 'from' parameters are set")
    count = query.integer("count", DEFAULT_COUNT, 1, MOST)
    for name, time in (("from", begin), ("to", end)):
        if time is not None and time > now:
            raise invalid(name, ". Time is in the future")
    if begin is not None and end is not None and begin > end:
        raise invalid("to")
    return Range(begin, end, count, query.flag("includeFirst", default=True))


def read_granularity(text: str, name: str) -> str:
    """Return a granularity."""
    if text not in GRANULARITIES:
        raise invalid(name)
    return text


def read_components(text: str, name: str) -> str:
    """Return which prices are asked for: any mix of M, B and A."""
    if not text or not set(text) <= set("MBA") or len(text) > len("MBA"):
        raise invalid(name)
    return text


def read_specification(text: str) -> tuple[str, str, str]:
    """Return instrument, granularity and components of one candle specification."""
    parts = text.split(":")
    if len(parts) != 3:  # noqa: PLR2004 - as the interface shapes it
        raise invalid("candleSpecifications")
    instrument, granularity, components = parts
    read_granularity(granularity, "candleSpecifications")
    return instrument, granularity, read_components(components, "candleSpecifications")
