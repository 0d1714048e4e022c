import pickle
from datetime import UTC, date, datetime, timedelta, timezone
from random import Random

import pytest
from pydantic import TypeAdapter

from keydesk_client import DateTime
from keydesk_client.errors import InvalidRequest, InvalidTime
from keydesk_client.models import PricingHeartbeat, Reader, StopLossDetails
from keydesk_client.resources._base import time_text
from support.data.wire_samples import Samples

BEAT = Reader(PricingHeartbeat)


def unchanged(rounds: int) -> None:
    samples = Samples(Random(9))
    for _ in range(rounds):
        text = samples.moment()
        time = BEAT.read(f'{{"type":"HEARTBEAT","time":"{text}"}}').time
        assert time.text == text
        assert text in {DateTime.from_ns(time.ns).text, time.unix_text}


def test_times_keep_every_nanosecond_both_ways() -> None:
    unchanged(2_000)


@pytest.mark.soak
def test_a_hundred_thousand_times_keep_every_nanosecond() -> None:
    unchanged(100_000)


@pytest.mark.parametrize(
    ("text", "ns"),
    [
        ("1970-01-01T00:00:00.000000001Z", 1),
        ("2017-12-05T03:57:02.248676455Z", 1_512_446_222_248_676_455),
        ("1512446222.248676455", 1_512_446_222_248_676_455),
        ("2017-12-05T04:57:02.248676455+01:00", 1_512_446_222_248_676_455),
        ("2017-06-28T10:00:00Z", 1_498_644_000_000_000_000),
        ("1969-12-31T23:59:59.999999999Z", -1),
        ("-0.000000001", -1),
        ("5", 5_000_000_000),
    ],
)
def test_a_time_is_read_exactly(text: str, ns: int) -> None:
    assert DateTime(text).ns == ns


def test_the_two_forms_of_a_time_are_equal() -> None:
    one, other = DateTime("2017-12-05T03:57:02.248676455Z"), DateTime("1512446222.248676455")
    assert one == other
    assert hash(one) == hash(other)
    assert not one < other
    assert one < DateTime.from_ns(one.ns + 1)


def test_a_datetime_with_a_zone_becomes_a_time_and_comes_back() -> None:
    there = datetime(2025, 3, 1, 13, 0, 0, 123456, tzinfo=timezone(timedelta(hours=1)))
    assert DateTime.of(there).text == "2025-03-01T12:00:00.123456000Z"
    assert DateTime.of(there).datetime == there
    assert DateTime("2025-03-01T12:00:00.999999999Z").datetime.microsecond == 999_999


@pytest.mark.parametrize(
    "bad",
    [
        datetime(2025, 3, 1),  # noqa: DTZ001 - that is the point
        "2025-03-01",
        "2025-03-01T12:00:00",
        "2025-03-01T12:00:00Z\n",
        "2025-02-30T12:00:00Z",
        "now",
        "",
        "\u0661",
    ],
)
def test_an_invalid_time_is_refused(bad: datetime | str) -> None:
    with pytest.raises(ValueError, match=r"invalid time|no time zone|day|month"):
        DateTime.of(bad)


def test_a_time_can_be_pickled_and_shown() -> None:
    moment = DateTime.of(datetime(2025, 3, 1, tzinfo=UTC))
    assert pickle.loads(pickle.dumps(moment)) == moment
    assert repr(moment) == "DateTime('2025-03-01T00:00:00.000000000Z')"


@pytest.mark.parametrize(
    "text",
    [
        "9999-99-99T99:99:99+99:99",
        "2024-02-30T00:00:00Z",
        "0000-01-01T00:00:00Z",
        "2024-01-01T23:59:60Z",
        "999999999999",
    ],
)
def test_a_time_outside_the_calendar_raises_an_error_of_ours_when_it_is_used(text: str) -> None:
    sent = TypeAdapter(DateTime).validate_json(f'"{text}"')
    assert sent == TypeAdapter(DateTime).validate_json(f'"{text}"')
    assert str(sent) == text
    with pytest.raises(InvalidTime) as raised:
        _ = sent.datetime
    assert raised.value.__context__ is None
    assert str(pickle.loads(pickle.dumps(raised.value))) == str(raised.value)


def test_a_time_outside_the_calendar_is_refused_in_a_request() -> None:
    with pytest.raises(InvalidTime):
        time_text("from_time", "999999999999")


@pytest.mark.parametrize("text", ["nonsense", "", "2024-02-30T00:00:00Z"])
def test_an_invalid_time_is_refused_as_its_text_is(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        DateTime.of(DateTime(text))
    with pytest.raises(InvalidRequest, match="from_"):
        time_text("from_", DateTime(text))


def test_a_time_made_from_another_is_equal() -> None:
    made = DateTime.of(DateTime("1517587200.000000001"))
    assert (made.text, made.ns) == ("1517587200.000000001", 1_517_587_200_000_000_001)


NOON = DateTime("2025-03-01T12:00:00.000000001Z")
NOON_HERE = datetime(2025, 3, 1, 13, tzinfo=timezone(timedelta(hours=1)))
NAIVE = datetime(2025, 3, 1, 12)  # noqa: DTZ001 - that is the point


def test_times_and_datetimes_are_compared_exactly() -> None:
    assert NOON > NOON_HERE
    assert NOON_HERE < NOON
    assert NOON >= NOON_HERE
    assert NOON != NOON_HERE
    equal = DateTime("2025-03-01T12:00:00Z")
    assert equal == NOON_HERE
    assert equal == NOON_HERE
    assert {equal: 1}[NOON_HERE] == 1  # type: ignore[index]  # equal keys, as for 1 and 1.0
    assert sorted([NOON, equal]) == [equal, NOON]


def test_a_time_is_not_compared_with_a_datetime_without_a_zone() -> None:
    assert DateTime("2025-03-01T12:00:00Z") != NAIVE
    for call in (lambda: NOON < NAIVE, lambda: NOON - NAIVE, lambda: DateTime.of(NAIVE)):
        with pytest.raises(InvalidTime, match=r"no time zone.*tzinfo") as raised:
            call()
        assert isinstance(raised.value, ValueError)
    with pytest.raises(TypeError):
        _ = NOON < 5  # type: ignore[operator]  # that is the point


def test_times_are_subtracted_and_moved_by_spans() -> None:
    assert timedelta(0) == NOON - NOON_HERE
    assert timedelta(0) == NOON_HERE - NOON
    assert NOON + timedelta(hours=1) - NOON == timedelta(hours=1)
    assert (NOON + timedelta(microseconds=1)).ns == NOON.ns + 1000
    assert timedelta(days=1) + NOON == NOON - timedelta(days=-1)
    with pytest.raises(TypeError):
        _ = NOON + 5  # type: ignore[operator]  # that is the point


def test_the_current_time_has_nanoseconds() -> None:
    assert DateTime.now(lambda: 1_740_830_400_000_000_001) == NOON
    assert abs(DateTime.now() - datetime.now(UTC)) < timedelta(minutes=1)


def test_a_time_is_formatted_as_a_datetime_is() -> None:
    assert f"{NOON:%d.%m.%Y %H:%M}" == "01.03.2025 12:00"
    assert f"{NOON}" == NOON.text
    assert f"{NOON:>32}" == NOON.text.rjust(32)


def test_a_date_is_its_first_moment_in_utc() -> None:
    assert DateTime.of(date(2025, 3, 1)) == DateTime("2025-03-01T00:00:00Z")
    assert time_text("from_", date(2025, 3, 1)) == "2025-03-01T00:00:00.000000000Z"


def test_an_expiry_is_no_date() -> None:
    """The order would expire as the day begins, and a reader may expect that it ends with the day."""
    with pytest.raises(InvalidRequest) as refused:
        StopLossDetails(price=1, time_in_force="GTD", gtd_time=date(2030, 1, 1))  # type: ignore[arg-type]  # that is refused
    assert refused.value.field == "gtd_time"


class Timestamp(datetime):
    """A datetime with nanoseconds, as that of pandas."""

    nanosecond = 789


def test_the_nanoseconds_of_a_pandas_timestamp_are_kept() -> None:
    stamp = Timestamp(2025, 3, 1, 12, 0, 0, 123456, tzinfo=UTC)
    assert DateTime.of(stamp).text == "2025-03-01T12:00:00.123456789Z"
