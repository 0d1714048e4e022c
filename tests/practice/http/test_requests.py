"""Links lead back to the address that the client used, also through a proxy, if the broker was told to trust it.

And members of a body are of the right type, or refused by their path.
"""

import contextlib
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.types import Scope

from keydesk_practice.http.error_responses import HttpError
from keydesk_practice.http.requests import JsonReader, public_url
from support.broker import PracticeServer, practice_server


def request_with(**headers: str) -> Scope:
    fields = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    return {
        "type": "http",
        "scheme": "http",
        "server": ("127.0.0.1", 8020),
        "path": "/v3/accounts",
        "headers": [(b"host", b"broker:8020"), *fields],
    }


@pytest.mark.parametrize(
    ("headers", "url"),
    [
        ({}, "http://broker:8020"),
        ({"x_forwarded_proto": "https"}, "https://broker:8020"),
        ({"x_forwarded_proto": "https, http"}, "https://broker:8020"),
        ({"x_forwarded_proto": "https", "x_forwarded_host": "fx.example"}, "https://fx.example"),
        ({"forwarded": "for=1.2.3.4;proto=https;host=fx.example"}, "https://fx.example"),
        (
            {"forwarded": 'proto=HTTPS;host="fx.example:8443", proto=http'},
            "https://fx.example:8443",
        ),
        ({"forwarded": "proto=https", "x_forwarded_proto": "http"}, "https://broker:8020"),
        ({"x_forwarded_proto": "javascript", "x_forwarded_host": "a b\r\n"}, "http://broker:8020"),
        ({"forwarded": "host=[2001:db8::1]:443;proto=https"}, "https://[2001:db8::1]:443"),
    ],
)
def test_a_trusted_proxy_says_how_the_client_came(headers: dict[str, str], url: str) -> None:
    assert public_url(request_with(**headers), trusts_proxy=True) == url


def test_nobody_else_is_believed() -> None:
    request = request_with(x_forwarded_proto="https", forwarded="proto=https;host=evil.example")
    assert public_url(request, trusts_proxy=False) == "http://broker:8020"


async def links(practice: PracticeServer) -> tuple[str, str]:
    headers = {"X-Forwarded-Proto": "https", "X-Forwarded-Host": "fx.example"}
    path = f"/v3/accounts/{practice.account_id}"
    order = {"type": "LIMIT", "instrument": "EUR_USD", "units": "1", "price": "0.5"}
    made = await practice.http.post(f"{path}/orders", json={"order": order}, headers=headers)
    listed = await practice.http.get(f"{path}/transactions", headers=headers)
    return made.headers["Location"], listed.json()["pages"][0]


@pytest.mark.e2e
async def test_location_and_pages_follow_it(practice_folder: Path) -> None:
    async with practice_server(practice_folder, "--trust-proxy") as practice:
        location, page = await links(practice)
    assert location.startswith("https://fx.example/v3/accounts/")
    assert page.startswith("https://fx.example/v3/accounts/")


async def test_they_do_not_without_being_told_to(desk_of_my_own: PracticeServer) -> None:
    location, page = await links(desk_of_my_own)
    assert location.startswith("http://localhost/")
    assert page.startswith("http://localhost/")


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
