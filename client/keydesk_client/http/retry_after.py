"""When to come back: the Retry-After header in its two forms."""

from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime


def seconds_to_wait(headers: Mapping[str, str], wall: Callable[[], float]) -> float | None:
    """Seconds that the service asks to wait, not negative; None when it asks for nothing readable.

    A date is measured against the answer's own Date, so that a wrong clock on this machine does not matter.
    """
    asked = headers.get("retry-after", "").strip()
    if not asked:
        return None
    if asked.isascii() and asked.isdecimal():
        return float(asked[:9])
    until = _moment(asked)
    if until is None:
        return None
    now = _moment(headers.get("date", ""))
    return max(0.0, until - (wall() if now is None else now))


def _moment(text: str) -> float | None:
    try:
        return parsedate_to_datetime(text).timestamp()
    except (ValueError, OverflowError):
        return None
