"""Single values of the wire: exact decimal numbers, times exact to the nanosecond, names and ids as text.

A number is decimal text on the wire. It becomes a Decimal with every digit kept, trailing zeros included, and is
written as the same text. Exponents, NaN and Infinity are refused: "1E+999999999" would fill the memory when printed.

A time keeps its text and is parsed on demand: most candle times serve as an index only, and a datetime would cut the
last three of nine decimals.
"""

import re
import time
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import lru_cache, total_ordering
from typing import Annotated, Any, Final, Protocol, Self, TypeAlias, overload, runtime_checkable

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from keydesk_client.arithmetic.constants import SECOND
from keydesk_client.errors import InvalidTime
from keydesk_client.transaction_id import TransactionID as TransactionID  # noqa: PLC0414 - exported

MAX_DIGITS: Final = 64
DECIMAL_PATTERN: Final = r"[+-]?[0-9]+(\.[0-9]+)?"
PLAIN_DECIMAL_PATTERN: Final = r"^-?(0|[1-9][0-9]*)(\.[0-9]+)?$"
"""Numbers that are written as they came; "+1.5" and "007.10" are read leniently, which keeps their text."""

_is_decimal_text = re.compile(DECIMAL_PATTERN).fullmatch


def decimal_of(value: object) -> Decimal:
    """Return a finite Decimal of at most 64 digits from a Decimal, an int or decimal text; raise ValueError otherwise."""
    if isinstance(value, Decimal):
        if (
            value.is_finite()
            and abs(value.adjusted()) < MAX_DIGITS
            and len(value.as_tuple().digits) <= MAX_DIGITS
        ):
            return value
    elif isinstance(value, int) and not isinstance(value, bool):
        if abs(value) < 10**MAX_DIGITS:
            return Decimal(value)
    elif isinstance(value, str) and len(value) <= MAX_DIGITS and _is_decimal_text(value):
        return Decimal(value)
    shown = (
        "a number of more than 64 digits"
        if isinstance(value, int) and abs(value) > 1
        else f"{str(value)[:MAX_DIGITS]!r}"
    )
    reason = (
        "a float, and floats are not exact" if isinstance(value, float) else "not a valid number"
    )
    raise ValueError(f"{shown} is {reason}: give a Decimal, an int or decimal text")


def decimal_text(value: Decimal) -> str:
    """Return the number as decimal text, without exponent."""
    return format(value, "f")


def _sent_text(value: Decimal | str) -> str:
    """Return the text of a number; one that was not converted yet is text still."""
    return value if isinstance(value, str) else decimal_text(value)


def _decimal_schema(convert: Callable[[str], Decimal]) -> core_schema.JsonOrPythonSchema:
    return core_schema.json_or_python_schema(
        json_schema=core_schema.no_info_after_validator_function(
            convert, core_schema.str_schema(max_length=MAX_DIGITS, pattern=PLAIN_DECIMAL_PATTERN)
        ),
        python_schema=core_schema.no_info_plain_validator_function(decimal_of),
        serialization=core_schema.plain_serializer_function_ser_schema(_sent_text),
    )


# Shared by all members: several hundred copies would take 3 kB each. Validating a number runs no Python code: pattern,
# Decimal and cache are Rust and C.
_DECIMAL_SCHEMA: Final = _decimal_schema(Decimal)
# Prices of candles and of the stream recur: the 20,000 of 5,000 candles are 2,000 Decimals of 104 bytes each. Other
# numbers seldom do, and a look-up in vain takes longer than making a Decimal.
_RECURRING_SCHEMA: Final = _decimal_schema(lru_cache(maxsize=1024)(Decimal))


class _DecimalOnTheWire:
    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: type[Any], handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return _DECIMAL_SCHEMA.copy()


class _RecurringOnTheWire:
    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: type[Any], handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return _RECURRING_SCHEMA.copy()


class _LiquidityOnTheWire:
    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: type[Any], handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        number = _DecimalOnTheWire.__get_pydantic_core_schema__(source, handler)
        whole = core_schema.int_schema(strict=True)
        return core_schema.union_schema([whole, number], mode="left_to_right")


class _Open:
    """Mark an enumeration as open: its known values are for type checkers, any text is accepted at run time."""

    def __get_pydantic_core_schema__(
        self, source: type[Any], handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.str_schema()


OPEN: Final = _Open()

Number: TypeAlias = Decimal | int | str
"""Accepted where an exact number is needed; floats are not exact."""
DecimalNumber: TypeAlias = Annotated[Decimal, _DecimalOnTheWire]
AccountUnits: TypeAlias = DecimalNumber
"""Money in the account's home currency."""
PriceValue: TypeAlias = DecimalNumber
"""A price, in quote currency for one unit of base currency."""
RecurringPrice: TypeAlias = Annotated[Decimal, _RecurringOnTheWire]
"""A price whose value often recurs in an answer: equal prices share one Decimal."""
Liquidity: TypeAlias = Annotated[int | Decimal, _LiquidityOnTheWire]
"""Units on offer: a whole number in prices, a Decimal inside the full price of a fill."""

AccountID: TypeAlias = str
AnyTransactionID: TypeAlias = str | int
"""Accepted where a transaction id is needed; what the client returns is a TransactionID."""
OrderID: TypeAlias = str
"""The id of the transaction that created the order."""
TradeID: TypeAlias = str
"""The id of the fill that opened the trade."""
ClientID: TypeAlias = str
ClientTag: TypeAlias = str
ClientComment: TypeAlias = str
RequestID: TypeAlias = str


@runtime_checkable
class InstrumentTerms(Protocol):
    """An `Instrument`, which is accepted wherever the name of one is."""

    @property
    def name(self) -> str: ...
    @property
    def pip_location(self) -> int: ...


InstrumentName: TypeAlias = str
"""BASE_QUOTE, as in EUR_USD."""
Currency: TypeAlias = str
"""A three-letter ISO code."""


PythonDatetime: TypeAlias = datetime
"""The class, inside of DateTime, where `datetime` is a property."""
MAX_REASON_LENGTH: Final = 100
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
TIME_PATTERN: Final = (
    r"^([0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?([Zz]|[+-][0-9]{2}:?[0-9]{2})"
    r"|-?[0-9]{1,12}(\.[0-9]{1,9})?)$"
)

_is_time_text = re.compile(TIME_PATTERN).fullmatch


@total_ordering
class DateTime:
    """A time: RFC 3339 with a zone, or seconds since 1970 as decimal text.

    Compare it with another DateTime or with a datetime that has a zone, exactly to the nanosecond; subtract one, or add a
    timedelta. `f"{time:%H:%M}"` formats it, in UTC, as a datetime is.
    """

    __slots__ = ("_ns", "text")

    def __init__(self, text: str) -> None:
        self.text: str = text
        """As on the wire."""

    @classmethod
    def of(cls, value: "DateTime | date | str") -> Self:
        """Return the time of a datetime with a zone, of a date (its beginning in UTC), or of text.

        A pandas Timestamp is a datetime; its nanoseconds are kept. Raise InvalidTime if it is invalid or has no zone.
        """
        if isinstance(value, datetime):
            return cls.from_ns(_nanoseconds(value))
        if isinstance(value, date):
            return cls(f"{value:%Y-%m-%d}T00:00:00.000000000Z")
        time = cls(value.text if isinstance(value, DateTime) else value)
        _ = time.ns  # raises if the text is invalid
        return time

    @classmethod
    def from_ns(cls, ns: int) -> Self:
        """Return the time that is `ns` nanoseconds after 1970 UTC."""
        seconds, fraction = divmod(ns, SECOND)
        whole = _after_epoch(timedelta(seconds=seconds))
        return cls(f"{whole:%Y-%m-%dT%H:%M:%S}.{fraction:09d}Z")

    @classmethod
    def now(cls, wall_ns: Callable[[], int] = time.time_ns) -> Self:
        """Return the time of this machine's clock."""
        return cls.from_ns(wall_ns())

    @property
    def ns(self) -> int:
        """Nanoseconds since 1970 UTC, exact."""
        try:
            return self._ns
        except AttributeError:
            pass
        self._ns: int = _parse_or_raise(self.text)
        return self._ns

    @property
    def datetime(self) -> datetime:
        """The time in UTC, truncated to microseconds."""
        return _after_epoch(timedelta(microseconds=self.ns // 1000))

    @property
    def unix_text(self) -> str:
        """Seconds since 1970 with nine decimals."""
        seconds, fraction = divmod(abs(self.ns), SECOND)
        return f"{'-' if self.ns < 0 else ''}{seconds}.{fraction:09d}"

    def __eq__(self, other: object) -> bool:
        if isinstance(other, DateTime):
            return self.text == other.text or self.ns == other.ns
        if isinstance(other, PythonDatetime):
            return other.utcoffset() is not None and self.ns == _nanoseconds(other)
        return NotImplemented

    def __lt__(self, other: "DateTime | PythonDatetime") -> bool:
        other_ns = _ns_of(other)
        return NotImplemented if other_ns is None else self.ns < other_ns

    def __hash__(self) -> int:
        """Return the hash of an equal datetime."""
        ns = self.ns
        try:
            return hash(self.datetime)
        except InvalidTime:
            return hash(ns)

    def __add__(self, span: timedelta) -> Self:
        added = _added_ns(span)
        if added is None:
            return NotImplemented
        return type(self).from_ns(self.ns + added)

    __radd__ = __add__

    @overload
    def __sub__(self, other: timedelta) -> Self: ...
    @overload
    def __sub__(self, other: "DateTime | PythonDatetime") -> timedelta: ...
    def __sub__(self, other: "timedelta | DateTime | PythonDatetime") -> "Self | timedelta":
        """Return the time before, or the span since another time, truncated to microseconds: subtract `ns` for all."""
        if isinstance(other, timedelta):
            return type(self).from_ns(self.ns - _span_ns(other))
        other_ns = _ns_of(other)
        return NotImplemented if other_ns is None else _span(self.ns - other_ns)

    def __rsub__(self, other: "PythonDatetime") -> timedelta:
        other_ns = _ns_of(other)
        return NotImplemented if other_ns is None else _span(other_ns - self.ns)

    def __format__(self, form: str) -> str:
        """Return the time in a form of `strftime`, in UTC; without a `%`, the text in a form of text."""
        return format(self.datetime if "%" in form else self.text, form)

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
        return _TIME_SCHEMA.copy()


def _time_of(value: DateTime | date | str) -> DateTime:
    """Return a time; refuse a date, which may mean its beginning or its end."""
    if isinstance(value, date) and not isinstance(value, datetime):
        raise InvalidTime(f"{value} is a date: give a time with a zone, as in 2025-01-31T12:00:00Z")
    return DateTime.of(value)


# Shared by all members, as above.
_TIME_SCHEMA: Final = core_schema.json_or_python_schema(
    json_schema=core_schema.no_info_after_validator_function(
        DateTime, core_schema.str_schema(pattern=TIME_PATTERN)
    ),
    python_schema=core_schema.no_info_plain_validator_function(_time_of),
    serialization=core_schema.plain_serializer_function_ser_schema(str),
)

TimeInput: TypeAlias = DateTime | datetime | str
"""Accepted where a time is needed: a DateTime, a datetime with a zone, or wire text."""
TimeOrDate: TypeAlias = TimeInput | date
"""Accepted for the ends of a period: a date is its beginning in UTC."""


def _parse_or_raise(text: object) -> int:
    try:
        return parse_time(text)
    except ValueError as error:
        reason = str(error)
    raise InvalidTime(f"invalid time {str(text)[:40]!r}: {reason[:MAX_REASON_LENGTH]}")


def _after_epoch(since: timedelta) -> datetime:
    try:
        return EPOCH + since
    except OverflowError:
        pass
    raise InvalidTime("the time is outside the years 1 to 9999, which a datetime can hold")


def parse_time(text: object) -> int:
    """Return nanoseconds since 1970 UTC of either wire form; raise ValueError if it is neither."""
    if not isinstance(text, str) or not _is_time_text(text):
        raise ValueError(
            f"{str(text)[:40]!r} is not a time with a zone: write it as 2025-01-31T12:00:00Z"
        )
    if "-" not in text[1:]:
        return _unix_ns(text)
    date, rest = text[:19], text[19:]
    digits = re.match(r"\.([0-9]+)", rest)
    fraction = digits[1] if digits else ""
    zone = rest[len(fraction) + 1 :] if digits else rest
    seconds = datetime.fromisoformat(date.replace("t", "T") + _plain_zone(zone))
    return _nanoseconds(seconds) + int(fraction.ljust(9, "0"))


def _unix_ns(text: str) -> int:
    seconds, _, fraction = text.lstrip("-").partition(".")
    ns = int(seconds) * SECOND + int(fraction.ljust(9, "0"))
    return -ns if text.startswith("-") else ns


def _plain_zone(zone: str) -> str:
    return "+00:00" if zone in {"Z", "z"} else zone


def _nanoseconds(value: datetime) -> int:
    if value.tzinfo is None or value.utcoffset() is None:
        raise InvalidTime(
            f"{value.isoformat()} has no time zone: give the datetime a tzinfo, such as datetime.UTC"
        )
    since = value - EPOCH
    nanosecond: int = getattr(value, "nanosecond", 0)  # of a pandas Timestamp
    return _span_ns(since) + nanosecond


def _ns_of(value: object) -> int | None:
    """Return the nanoseconds of a time or of a datetime with a zone; None for anything else."""
    if isinstance(value, DateTime):
        return value.ns
    return _nanoseconds(value) if isinstance(value, datetime) else None


def _added_ns(span: object) -> int | None:
    return _span_ns(span) if isinstance(span, timedelta) else None


def _span_ns(span: timedelta) -> int:
    return (span.days * 86_400 + span.seconds) * SECOND + span.microseconds * 1000


def _span(ns: int) -> timedelta:
    size = timedelta(microseconds=abs(ns) // 1000)
    return size if ns > 0 else -size
