"""What may be asked of candles, and the query that says it."""

from collections.abc import Iterable
from typing import Final, Literal, TypedDict

from keydesk_client.errors import InvalidRequest
from keydesk_client.http.paths import TimeForm, listed, moment, plain_text, whole, yes_or_no
from keydesk_client.models._core.times import DateTime, Moment
from keydesk_client.models._core.words import known_word, words
from keydesk_client.models.enumerations import CandlestickGranularity, WeeklyAlignment
from keydesk_client.resources.options import refuse_unknown

MOST_CANDLES = 5000
LAST_HOUR = 23
COMPONENTS = frozenset("MBA")
GRANULARITIES: Final = words(CandlestickGranularity)
DAYS: Final = words(WeeklyAlignment)
SPECIFIED: Final = 2
"""Granularity and prices stand behind the instrument."""
ENDS: Final[tuple[Literal["from_"], Literal["to"]]] = ("from_", "to")


class CandleShape(TypedDict, total=False):
    """How candles are cut; what is left out is left to the service."""

    smooth: bool
    """Open at the previous candle's close."""
    daily_alignment: int
    """Hour, 0 to 23, at which days begin in `alignment_timezone`; 17 unless said."""
    alignment_timezone: str
    """America/New_York unless said; times in answers stay UTC."""
    weekly_alignment: WeeklyAlignment
    """Day that begins a week; Friday unless said."""


class CandleSeries(CandleShape, total=False):
    """Which candles of an instrument."""

    granularity: CandlestickGranularity
    """S5 unless said."""
    price: str
    """Any of M (mid), B (bid) and A (ask), together as in BA; M unless said."""


class CandleRange(CandleSeries, total=False):
    """Which candles, from when to when: a count, a range, or a count from one end."""

    count: int
    """At most 5,000; not together with both `from_` and `to`."""
    from_: Moment
    """Start of the first candle; a datetime needs a zone."""
    to: Moment
    """The last candle starts before it."""
    include_first: bool
    """Whether the candle that covers `from_` comes along; it does unless said."""


def range_query(options: CandleRange, form: TimeForm) -> dict[str, str]:
    """The query that asks for a range of candles."""
    refuse_unknown(options, CandleRange.__optional_keys__)
    if {"count", "from_", "to"} <= options.keys():
        raise InvalidRequest("count: not together with both from_ and to", field="count")
    if "include_first" in options and "from_" not in options:
        raise InvalidRequest(
            "include_first: means something only with from_", field="include_first"
        )
    query = series_query(options)
    if "count" in options:
        query["count"] = whole("count", options["count"], 1, MOST_CANDLES)
    if "from_" in options:
        query["from"] = moment("from_", options["from_"], form)
    if "to" in options:
        query["to"] = moment("to", options["to"], form)
    _refuse_backwards(options)
    if "include_first" in options:
        query["includeFirst"] = yes_or_no(value=options["include_first"])
    return query


def series_query(options: CandleSeries) -> dict[str, str]:
    """The part of it that names the series."""
    query = shape_query(options)
    if "granularity" in options:
        query["granularity"] = known_word("granularity", options["granularity"], GRANULARITIES)
    if "price" in options:
        query["price"] = components(options["price"])
    return query


def shape_query(options: CandleShape) -> dict[str, str]:
    """The part of it that cuts the candles."""
    query: dict[str, str] = {}
    if "smooth" in options:
        query["smooth"] = yes_or_no(value=options["smooth"])
    if "daily_alignment" in options:
        query["dailyAlignment"] = whole("daily_alignment", options["daily_alignment"], 0, LAST_HOUR)
    if "alignment_timezone" in options:
        query["alignmentTimezone"] = plain_text("alignment_timezone", options["alignment_timezone"])
    if "weekly_alignment" in options:
        query["weeklyAlignment"] = known_word("weekly_alignment", options["weekly_alignment"], DAYS)
    return query


def components(price: str) -> str:
    """Price components, checked."""
    if not _is_mix(price):
        raise InvalidRequest(f"price: {str(price)[:20]!r} is no mix of M, B and A", field="price")
    return price


def specification_list(asked: Iterable[str]) -> str:
    """Specifications of newest candles, checked."""
    together = listed("specifications", asked)
    for each in together.split(","):
        _refuse_other_specification(each)
    return together


def _refuse_other_specification(told: str) -> None:
    instrument, *rest = told.split(":")
    if not instrument or len(rest) != SPECIFIED or not _is_mix(rest[1]):
        raise InvalidRequest(
            f"specifications: {told[:60]!r} is no instrument, granularity and prices, as in"
            " 'EUR_USD:M1:BM'",
            field="specifications",
        )
    known_word("specifications", rest[0], GRANULARITIES)


def _is_mix(price: object) -> bool:
    if not isinstance(price, str):
        return False
    return bool(price) and len(set(price)) == len(price) and set(price) <= COMPONENTS


def _refuse_backwards(options: CandleRange) -> None:
    if "from_" in options and "to" in options:
        first, last = (DateTime.of(moment(end, options[end])) for end in ENDS)
        if first.ns > last.ns:
            raise InvalidRequest(
                f"from_: {first.text} is after to, {last.text}: swap them", field="from_"
            )
