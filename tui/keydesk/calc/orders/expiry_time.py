"""The typed expiry of an order: a duration such as `90m`, `4h` or `2d`, a time of day, or a date and a time.

A time of day is the next one after it was typed, in the trader's zone: it never moves on to the next day by itself.
"""

import re
from datetime import UTC, datetime, timedelta, tzinfo

from keydesk.calc.orders.ticket_draft import UnreadableText

SECOND_NS = 1_000_000_000
HOW = "write 18:30, 2026-11-25 18:30, 90m, 4h or 2d"
DURATION = re.compile(r"(\d{1,5})([mhdw])", re.ASCII)
UNIT_NS = {
    "m": 60 * SECOND_NS,
    "h": 3600 * SECOND_NS,
    "d": 86_400 * SECOND_NS,
    "w": 7 * 86_400 * SECOND_NS,
}
TIME_OF_DAY = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)", re.ASCII)
DATE_PATTERNS = ("%Y-%m-%d %H:%M", "%Y-%m-%dt%H:%M")
MAX_NS = 400 * 86_400 * SECOND_NS
"""Further away than a year, a date was typed wrong."""


def expiry_ns(text: str, typed_ns: int, now_ns: int, zone: tzinfo) -> int | UnreadableText | None:
    """Return the instant of a typed expiry in nanoseconds since 1970, None if nothing was typed.

    Args:
        text: The text as typed.
        typed_ns: When it was typed.
        now_ns: The broker's time: durations begin now.
        zone: The trader's time zone.
    """
    words = text.strip().lower()
    if not words:
        return None
    instant = _instant(words, typed_ns, now_ns, zone)
    if instant is None:
        return UnreadableText(text, f"is not an expiry; {HOW}")
    if instant <= now_ns:
        return UnreadableText(text, "is past")
    if instant - now_ns > MAX_NS:
        return UnreadableText(text, "is more than 400 days away")
    return instant


def _instant(text: str, typed_ns: int, now_ns: int, zone: tzinfo) -> int | None:
    if written := DURATION.fullmatch(text):
        return now_ns + int(written[1]) * UNIT_NS[written[2]]
    if written := TIME_OF_DAY.fullmatch(text):
        return _next_time(int(written[1]), int(written[2]), typed_ns, zone)
    for pattern in DATE_PATTERNS:
        try:
            moment = datetime.strptime(text, pattern).replace(tzinfo=zone)
            return int(moment.timestamp()) * SECOND_NS
        except (ValueError, OverflowError, OSError):
            continue
    return None


def _next_time(hour: int, minute: int, after_ns: int, zone: tzinfo) -> int:
    after = datetime.fromtimestamp(after_ns // SECOND_NS, zone)
    at = after.replace(hour=hour, minute=minute, second=0, microsecond=0)
    if at.astimezone(UTC) <= after.astimezone(UTC):
        at = (after + timedelta(days=1)).replace(hour=hour, minute=minute, second=0, microsecond=0)
    return int(at.timestamp()) * SECOND_NS
