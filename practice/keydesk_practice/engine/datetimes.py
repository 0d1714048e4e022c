"""Points in time on the wire: read in either form, written in the form the client asked for.

Answers are built with RFC 3339 texts. A client that asked for UNIX gets the same body with the date members rewritten;
members are known by name, so that a comment which looks like a date stays what it is.
"""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

NANOSECONDS = 1_000_000_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LATEST = 253_402_300_799 * NANOSECONDS + NANOSECONDS - 1  # the year 9999 ends; no text above it
_RFC3339 = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:\.(\d{1,30}))?(?:([Zz])|([+ -])(\d\d):(\d\d))",
    re.ASCII,
)
_UNIX = re.compile(r"(\d{1,12})(?:\.(\d{1,30}))?", re.ASCII)
_DATE_MEMBERS = frozenset(
    {
        "cancelledTime",
        "closeTime",
        "createTime",
        "createdTime",
        "filledTime",
        "from",
        "gtdTime",
        "lastMarginCallExtensionTime",
        "lastOrderFillTimestamp",
        "marginCallEnterTime",
        "openTime",
        "resettablePLTime",
        "time",
        "timestamp",
        "to",
    }
)


def parse_time(text: str) -> int:
    """Return the nanoseconds since 1970 of a text in either form; `ValueError` for anything else."""
    if found := _UNIX.fullmatch(text):
        return _within(int(found[1]) * NANOSECONDS + _fraction(found[2]))
    found = _RFC3339.fullmatch(text)
    if found is None:
        raise ValueError(text)
    try:
        year, month, day, hour, minute, second = map(int, found.group(1, 2, 3, 4, 5, 6))
        moment = datetime(year, month, day, hour, minute, second, tzinfo=UTC) - _offset(found)
    except OverflowError:
        raise ValueError(text) from None
    since = moment - _EPOCH
    seconds = since.days * 86_400 + since.seconds
    return _within(seconds * NANOSECONDS + _fraction(found[7]))


def _offset(found: re.Match[str]) -> timedelta:
    if found[8]:
        return timedelta()
    size = timedelta(hours=int(found[10]), minutes=int(found[11]))
    return -size if found[9] == "-" else size  # an unescaped plus arrives as a blank


def _fraction(digits: str | None) -> int:
    return int((digits or "").ljust(9, "0")[:9])


def _within(nanoseconds: int) -> int:
    if not 0 <= nanoseconds <= _LATEST:
        raise ValueError(nanoseconds)
    return nanoseconds


def rfc3339(nanoseconds: int) -> str:
    """Return the text of a time: UTC, nine decimals, Z."""
    seconds, rest = divmod(nanoseconds, NANOSECONDS)
    moment = _EPOCH + timedelta(seconds=seconds)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{rest:09d}Z"


def unix(nanoseconds: int) -> str:
    """Return the text of a time as seconds since 1970 with nine decimals."""
    seconds, rest = divmod(nanoseconds, NANOSECONDS)
    return f"{seconds}.{rest:09d}"


def in_unix_form(value: Any) -> Any:  # noqa: ANN401 - any JSON value goes in and out
    """Return the same JSON value with every date member as UNIX seconds."""
    if isinstance(value, dict):
        return {name: _member(name, inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [in_unix_form(inner) for inner in value]
    return value


def _member(name: str, value: Any) -> Any:  # noqa: ANN401
    if name in _DATE_MEMBERS and isinstance(value, str) and _RFC3339.fullmatch(value):
        return unix(parse_time(value))
    return in_unix_form(value)
