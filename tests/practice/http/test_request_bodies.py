"""Members of a body are of the right type, or refused by their path."""

import contextlib
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keydesk_practice.http.errors import HttpError
from keydesk_practice.http.request_bodies import JsonReader


def test_numbers_may_be_texts_or_json_numbers() -> None:
    members = JsonReader({"a": "1.2300", "b": 100, "c": Decimal("0.5"), "d": "-7"}, "order")
    assert [str(members.decimal(name)) for name in "abcd"] == ["1.2300", "100", "0.5", "-7"]
    assert members.decimal("absent") is None


@pytest.mark.parametrize(
    "value",
    ["", "1e5", "NaN", "Infinity", "--1", "1.2.3", "1,5", "٣", True, [], {}, "9" * 50, 10**60],
)
def test_what_is_no_number_is_refused_with_its_path(value: object) -> None:
    with pytest.raises(HttpError, match=r"Invalid value specified for 'order.units'"):
        JsonReader({"units": value}, "order").decimal("units")


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists))
def test_no_value_breaks_the_reader(value: object) -> None:
    members = JsonReader({"x": value}, "order")
    for read in (members.text, members.decimal, members.time, members.flag, members.object):
        with contextlib.suppress(HttpError):
            read("x")


def test_inner_objects_carry_their_path() -> None:
    inner = (
        JsonReader({"order": {"stopLossOnFill": {"price": "x"}}})
        .required("order")
        .required("stopLossOnFill")
    )
    with pytest.raises(HttpError, match=r"'order\.stopLossOnFill\.price'"):
        inner.decimal("price")


def test_a_missing_object_is_said_to_be_missing() -> None:
    with pytest.raises(HttpError, match="missing required data: 'order'"):
        JsonReader({}).required("order")
