"""The forms of values on the wire: rounded decimals, points in time, and records as JSON objects.

A record's field types decide how its members are written. A Decimal is written with exactly the digits it carries, so
whoever makes one rounds it. An `Id` is an int here and text on the wire, a `Timestamp` is nanoseconds since 1970 UTC here
and RFC 3339 on the wire. Members that are None are left out.

Digits (recorded v20 responses): home money has 4 decimals, percentages 5, conversion factors at most 12; prices have the
instrument's `displayPrecision`.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from decimal import ROUND_HALF_EVEN, Context, Decimal
from functools import lru_cache, partial
from operator import attrgetter
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    TypeGuard,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from msgspec import Struct

Id = Annotated[int, "id"]
Timestamp = Annotated[int, "timestamp"]  # nanoseconds since 1970 UTC
SECOND = 1_000_000_000  # nanoseconds
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MAX_TIME = 253_402_300_799 * SECOND + SECOND - 1  # the end of the year 9999: RFC 3339 has no more
_MONEY_STEP = Decimal("0.0001")
_PERCENT_STEP = Decimal("0.00001")
_FACTOR_STEP = Decimal("0.000000000001")
_EXACT = Context(prec=100)  # more digits than any number that a client may send

_RFC3339 = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:\.(\d{1,30}))?(?:([Zz])|([+ -])(\d\d):(\d\d))",
    re.ASCII,
)
# As clients send it: seconds or the whole time of day may be missing, and the zone, which is UTC then.
_LENIENT_RFC3339 = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)"
    r"(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,30}))?)?(?:([Zz])|([+ -])(\d\d):?(\d\d))?)?",
    re.ASCII,
)
_UNIX = re.compile(r"(\d{1,12})(?:\.(\d{1,30}))?", re.ASCII)
_DATE_WITHOUT_HYPHENS = re.compile(r"[12]\d{3}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])", re.ASCII)
_TIME_MEMBERS = frozenset(
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

Convert = Callable[[Any], Any]
Members = tuple[tuple[str, str, Convert | None], ...]  # field, wire name, conversion of the value
Record = TypeVar("Record", bound=Struct)
Writers = tuple[tuple[str, Convert | None], ...]  # wire name, conversion of the value
Values = Callable[[Any], tuple[Any, ...]]
_WRITERS: dict[
    tuple[type, str | None], tuple[str | None, Values, Writers]
] = {}  # made once for each kind
_READERS: dict[type, Members] = {}
_WIRE_WORDS = {"id": "ID", "ids": "IDs", "pl": "PL", "vwap": "VWAP"}


def round_money(amount: Decimal) -> Decimal:
    """Return an amount of home currency with four decimals; half to even, so that many fills do not drift."""
    return amount.quantize(_MONEY_STEP, ROUND_HALF_EVEN)


def round_percent(fraction: Decimal) -> Decimal:
    """Return a fraction with five decimals, as the wire writes margin percentages."""
    return fraction.quantize(_PERCENT_STEP, ROUND_HALF_EVEN)


def round_factor(value: Decimal) -> Decimal:
    """Return a conversion factor with at most twelve decimals and no trailing zeros."""
    return strip_zeros(value.quantize(_FACTOR_STEP, ROUND_HALF_EVEN))


def strip_zeros(number: Decimal) -> Decimal:
    """Return a number without trailing zeros and without exponent, as the wire writes units: 100, 0.5."""
    whole = number.to_integral_value()
    return whole if number == whole else number.normalize(_EXACT)


def decimal_places(number: Decimal) -> int:
    """Return how many decimals a number needs, trailing zeros aside: 1.10 needs one."""
    exponent = number.normalize(_EXACT).as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0


def plain(number: Decimal) -> str:
    """Return a number as text without exponent, with all the digits that it carries."""
    text = str(number)
    return format(number, "f") if "E" in text else text


def parse_time(text: str) -> int:
    """Return the nanoseconds since 1970 UTC of RFC 3339 text or UNIX seconds; both may carry up to 30 decimals.

    A time without a zone is UTC and a date is its midnight: clients send both. Eight digits that read as a date, such as
    20240102, are refused: as UNIX seconds they would be a day in 1970.

    Raises:
        ValueError: the text has neither form, or lies outside 1970 to 9999.
    """
    if _DATE_WITHOUT_HYPHENS.fullmatch(text):
        raise ValueError(text)
    if match := _UNIX.fullmatch(text):
        return _in_range(int(match[1]) * SECOND + _nanoseconds(match[2]))
    match = _LENIENT_RFC3339.fullmatch(text)
    if match is None:
        raise ValueError(text)
    try:
        year, month, day, hour, minute, second = map(int, match.groups("0")[:6])
        time = datetime(year, month, day, hour, minute, second, tzinfo=UTC) - _utc_offset(match)
    except OverflowError:
        raise ValueError(text) from None
    since = time - _EPOCH
    seconds = since.days * 86_400 + since.seconds
    return _in_range(seconds * SECOND + _nanoseconds(match[7]))


def rfc3339(nanoseconds: int) -> str:
    """Return a time as RFC 3339 text: UTC, nine decimals, Z."""
    seconds, rest = divmod(nanoseconds, SECOND)
    return f"{_date_and_time(seconds)}.{rest:09d}Z"


def unix(nanoseconds: int) -> str:
    """Return a time as text of seconds since 1970 UTC with nine decimals."""
    seconds, rest = divmod(nanoseconds, SECOND)
    return f"{seconds}.{rest:09d}"


def in_unix_form(value: Any) -> Any:  # noqa: ANN401 - any JSON value goes in and out
    """Return a JSON value with every time written as UNIX seconds (header `Accept-Datetime-Format: UNIX`).

    Times are recognized by the name of the member, so that a comment that looks like a time stays as it is.
    """
    if isinstance(value, dict):
        return {name: _member_in_unix_form(name, inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [in_unix_form(inner) for inner in value]
    return value


def wire_name(field: str) -> str:
    """Return a field's name as the wire spells it: `trade_ids` is `tradeIDs`."""
    first, *rest = field.split("_")
    return first + "".join(_WIRE_WORDS.get(word, word.capitalize()) for word in rest)


def to_wire(record: Any, without: str | None = None) -> dict[str, Any]:  # noqa: ANN401 - any of the engine's records
    """Return the JSON object of a record, `without` a field that the caller writes itself.

    A transaction's `type`, which is the same for all of its class, comes first.
    """
    kind, values_of, writers = _writers_of(type(record), without)
    written = {} if kind is None else {"type": kind}
    for value, (wire, write) in zip(values_of(record), writers, strict=True):
        if value is not None:
            written[wire] = value if write is None else write(value)
    return written


def read_record(kind: type[Record], members: Mapping[str, Any], **given: object) -> Record:
    """Return the record of a JSON object, ignoring members that the record does not have.

    The keyword arguments are values of fields that are not read from the JSON object.
    """
    values = {
        name: members[wire] if read is None else read(members[wire])
        for name, wire, read in _readers_of(kind)
        if wire in members and name not in given
    }
    return kind(**values, **given)


def _utc_offset(match: re.Match[str]) -> timedelta:
    if match[9] is None:  # Z, or no zone at all
        return timedelta()
    size = timedelta(hours=int(match[10]), minutes=int(match[11]))
    return -size if match[9] == "-" else size  # an unescaped plus arrives as a blank


def _nanoseconds(decimals: str | None) -> int:
    return int((decimals or "").ljust(9, "0")[:9])


def _in_range(nanoseconds: int) -> int:
    if not 0 <= nanoseconds <= _MAX_TIME:
        raise ValueError(nanoseconds)
    return nanoseconds


def _member_in_unix_form(name: str, value: Any) -> Any:  # noqa: ANN401
    if name in _TIME_MEMBERS and isinstance(value, str) and _RFC3339.fullmatch(value):
        return unix(parse_time(value))
    return in_unix_form(value)


@lru_cache(maxsize=1024)
def _date_and_time(seconds: int) -> str:
    return (_EPOCH + timedelta(seconds=seconds)).isoformat()[:19]


_timestamp_text = lru_cache(maxsize=4096)(rfc3339)


def _writers_of(kind: type, without: str | None) -> tuple[str | None, Values, Writers]:
    """Return the `type` of a class of transactions, None for other records; what reads its fields, and their writers."""
    found = _WRITERS.get((kind, without))
    if found is not None:
        return found
    hints = _hints(kind)
    own_type = None if any(name == "type" for name, _ in hints) else getattr(kind, "type", None)
    written = [(name, hint) for name, hint in hints if name != without]
    writers = tuple((wire_name(name), _writer(hint)) for name, hint in written)
    found = own_type, _values_of([name for name, _ in written]), writers
    _WRITERS[kind, without] = found
    return found


def _values_of(names: Sequence[str]) -> Values:
    """Return a function that returns the values of a record's fields."""
    if len(names) == 1:
        return lambda record: (getattr(record, names[0]),)
    return attrgetter(*names) if names else lambda _: ()


def _readers_of(kind: type) -> Members:
    readers = _READERS.get(kind)
    if readers is None:
        readers = tuple((name, wire_name(name), _reader(hint)) for name, hint in _hints(kind))
        _READERS[kind] = readers
    return readers


def _hints(kind: type[Struct]) -> list[tuple[str, Any]]:
    hints = get_type_hints(kind, include_extras=True)
    return [(name, _without_none(hints[name])) for name in kind.__struct_fields__]


def _without_none(hint: Any) -> Any:  # noqa: ANN401 - a type hint
    """Return the hint without its `| None`."""
    if get_origin(hint) in {Union, UnionType}:
        return next(part for part in get_args(hint) if part is not NoneType)
    return hint


def _writer(hint: Any) -> Convert | None:  # noqa: ANN401 - a type hint
    if hint == Id:
        return str
    if hint == Timestamp:
        return _timestamp_text
    if hint is Decimal:
        return plain
    if get_origin(hint) is tuple:
        return _list_writer(_writer(get_args(hint)[0]))
    return to_wire if _is_record(hint) else None


def _list_writer(write: Convert | None) -> Convert:
    return list if write is None else lambda values: [write(value) for value in values]


def _reader(hint: Any) -> Convert | None:  # noqa: ANN401 - a type hint
    if hint == Id:
        return int
    if hint == Timestamp:
        return parse_time
    if hint is Decimal:
        return Decimal
    if get_origin(hint) is tuple:
        return _tuple_reader(_reader(get_args(hint)[0]))
    if get_origin(hint) is Literal:
        return None
    return partial(read_record, hint) if _is_record(hint) else None


def _is_record(hint: Any) -> TypeGuard[type[Struct]]:  # noqa: ANN401 - a type hint
    return isinstance(hint, type) and issubclass(hint, Struct)


def _tuple_reader(read: Convert | None) -> Convert:
    return tuple if read is None else lambda values: tuple(read(value) for value in values)
