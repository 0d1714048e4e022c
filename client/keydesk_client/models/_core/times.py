"""Moments, exact to the nanosecond, in both forms of the wire.

The text is kept as it came and read when somebody asks: most candle times are only ever drawn as an index, and a
datetime would cut the last three of nine decimals.
"""

import re
from datetime import UTC, datetime, timedelta
from functools import total_ordering
from typing import Any, Final, Self, TypeAlias

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from keydesk_client.errors import NoSuchMoment

SECOND_NS: Final = 1_000_000_000
LONGEST_REASON: Final = 100
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
MOMENT_TEXT: Final = (
    r"^([0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?([Zz]|[+-][0-9]{2}:?[0-9]{2})"
    r"|-?[0-9]{1,12}(\.[0-9]{1,9})?)$"
)

_moment_text = re.compile(MOMENT_TEXT).fullmatch


@total_ordering
class DateTime:
    """A moment: RFC 3339 with a zone, or seconds since 1970 as decimal text."""

    __slots__ = ("_ns", "text")

    def __init__(self, text: str) -> None:
        self.text: str = text
        """As on the wire."""

    @classmethod
    def of(cls, moment: "DateTime | datetime | str") -> Self:
        """From a datetime with a zone, or from text; what is no moment is refused, a naive datetime too."""
        if isinstance(moment, datetime):
            return cls.from_ns(_nanoseconds(moment))
        made = cls(moment.text if isinstance(moment, DateTime) else moment)
        _ = made.ns  # raises now rather than when it is sent
        return made

    @classmethod
    def from_ns(cls, ns: int) -> Self:
        """From nanoseconds since 1970 UTC."""
        seconds, fraction = divmod(ns, SECOND_NS)
        whole = _after_epoch(timedelta(seconds=seconds))
        return cls(f"{whole:%Y-%m-%dT%H:%M:%S}.{fraction:09d}Z")

    @property
    def ns(self) -> int:
        """Nanoseconds since 1970 UTC, exact."""
        try:
            return self._ns
        except AttributeError:
            pass
        self._ns: int = _known(self.text)
        return self._ns

    @property
    def datetime(self) -> datetime:
        """In UTC, cut to microseconds."""
        return _after_epoch(timedelta(microseconds=self.ns // 1000))

    @property
    def unix_text(self) -> str:
        """Seconds since 1970 with nine decimals."""
        seconds, fraction = divmod(abs(self.ns), SECOND_NS)
        return f"{'-' if self.ns < 0 else ''}{seconds}.{fraction:09d}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DateTime) and (self.text == other.text or self.ns == other.ns)

    def __lt__(self, other: "DateTime") -> bool:
        return self.ns < other.ns

    def __hash__(self) -> int:
        return hash(self.ns)

    def __repr__(self) -> str:
        return f"DateTime({self.text!r})"

    def __str__(self) -> str:
        return self.text

    def __reduce__(self) -> tuple[type[Self], tuple[str]]:
        return type(self), (self.text,)

    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: type[Any], handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return _MOMENT_SCHEMA.copy()


# One for all members: several hundred of them would hold 3 kB each of their own.
_MOMENT_SCHEMA: Final = core_schema.json_or_python_schema(
    json_schema=core_schema.no_info_after_validator_function(
        DateTime, core_schema.str_schema(pattern=MOMENT_TEXT)
    ),
    python_schema=core_schema.no_info_plain_validator_function(DateTime.of),
    serialization=core_schema.plain_serializer_function_ser_schema(str),
)

Moment: TypeAlias = DateTime | datetime | str
"""What a moment is made from: ours, a datetime with a zone, or wire text."""


def _known(text: object) -> int:
    try:
        return read_moment(text)
    except ValueError as error:
        reason = str(error)
    raise NoSuchMoment(f"{str(text)[:40]!r} is no moment: {reason[:LONGEST_REASON]}")


def _after_epoch(since: timedelta) -> datetime:
    try:
        return EPOCH + since
    except OverflowError:
        pass
    raise NoSuchMoment("the moment lies beyond the years that a calendar has")


def read_moment(text: object) -> int:
    """Nanoseconds since 1970 UTC of either wire form; ValueError when it is neither."""
    if not isinstance(text, str) or not _moment_text(text):
        raise ValueError(f"{str(text)[:40]!r} is not a moment with a zone")
    if "-" not in text[1:]:
        return _unix_ns(text)
    date, _, rest = text[:19], text[19], text[19:]
    digits = re.match(r"\.([0-9]+)", rest)
    fraction = digits[1] if digits else ""
    zone = rest[len(fraction) + 1 :] if digits else rest
    whole = datetime.fromisoformat(date.replace("t", "T") + _plain_zone(zone))
    return _nanoseconds(whole) + int(fraction.ljust(9, "0"))


def _unix_ns(text: str) -> int:
    seconds, _, fraction = text.lstrip("-").partition(".")
    ns = int(seconds) * SECOND_NS + int(fraction.ljust(9, "0"))
    return -ns if text.startswith("-") else ns


def _plain_zone(zone: str) -> str:
    return "+00:00" if zone in {"Z", "z"} else zone


def _nanoseconds(moment: datetime) -> int:
    if moment.tzinfo is None or moment.utcoffset() is None:
        raise ValueError("a datetime without a zone is no moment: give it tzinfo")
    since = moment - EPOCH
    return (since.days * 86_400 + since.seconds) * SECOND_NS + since.microseconds * 1000
