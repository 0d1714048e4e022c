"""Times are parsed in both forms and written in the requested one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keydesk_practice.engine.wire_form import in_unix_form, parse_time, rfc3339, unix

LATEST = 253_402_300_799_999_999_999


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [
        ("1970-01-01T00:00:00Z", 0),
        ("2017-12-05T04:30:46.248676455Z", 1_512_448_246_248_676_455),
        ("2017-12-05T04:30:46.2Z", 1_512_448_246_200_000_000),
        ("2017-12-05T05:30:46+01:00", 1_512_448_246_000_000_000),
        ("2017-12-05T05:30:46 01:00", 1_512_448_246_000_000_000),
        ("2017-12-05T03:30:46-01:00", 1_512_448_246_000_000_000),
        ("1512448246.248676455", 1_512_448_246_248_676_455),
        ("1512448246", 1_512_448_246_000_000_000),
        ("2017-12-05T04:30:46.2486764559999Z", 1_512_448_246_248_676_455),
        ("2017-12-05T05:30:46+0100", 1_512_448_246_000_000_000),
        ("2017-12-05T04:30:46.2", 1_512_448_246_200_000_000),
        ("2017-12-05 04:30:46", 1_512_448_246_000_000_000),
        ("2017-12-05T04:30", 1_512_448_200_000_000_000),
        ("2017-12-05", 1_512_432_000_000_000_000),
        ("20171305", 20_171_305_000_000_000),  # no date: there is no month 13
    ],
)
def test_both_forms_are_parsed(text: str, nanoseconds: int) -> None:
    assert parse_time(text) == nanoseconds


@pytest.mark.parametrize(
    "text",
    ["", "yesterday", "2017-13-05T04:30:46Z", "2017-12-05Z", "-5", "1e9", "2017-12-05T04", "٣",
     "9999999999999", "0001-01-01T00:00:00+23:59", "1969-12-31T23:59:59Z", "2017-12-05T04:30:61Z"],
)  # fmt: skip
def test_other_text_is_not_a_valid_time(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - the face names the member
        parse_time(text)


@given(st.integers(0, LATEST))
def test_written_times_are_parsed_back(nanoseconds: int) -> None:
    assert parse_time(rfc3339(nanoseconds)) == nanoseconds
    assert parse_time(unix(nanoseconds)) == nanoseconds


@pytest.mark.parametrize("text", ["20240102", "19991231"])
def test_a_date_without_hyphens_is_not_taken_for_a_second_of_1970(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - the face names the member
        parse_time(text)


def test_only_time_members_change_their_form() -> None:
    text = "2017-12-05T04:30:46.248676455Z"
    body = {"time": text, "comment": text, "trades": [{"openTime": text, "price": "1.1"}]}
    seconds = "1512448246.248676455"
    assert in_unix_form(body) == {
        "time": seconds,
        "comment": text,
        "trades": [{"openTime": seconds, "price": "1.1"}],
    }


def test_bounds_of_transaction_ids_are_not_times() -> None:
    assert in_unix_form({"from": "12", "to": "14"}) == {"from": "12", "to": "14"}
