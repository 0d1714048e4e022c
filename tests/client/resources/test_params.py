from collections.abc import Callable
from datetime import datetime

import pytest

from keydesk_client.errors import InvalidRequest
from keydesk_client.resources._base import (
    header_text,
    join_names,
    number,
    numeric_id,
    path,
    quoted,
    time_text,
    whole,
)
from keydesk_client.resources._paging import list_query


def test_a_path_quotes_what_the_caller_gave_and_nothing_else() -> None:
    assert path("accounts", ("account_id", "1"), "orders", ("specifier", "@a/b?c#d e%41")) == (
        "/v3/accounts/1/orders/@a%2Fb%3Fc%23d%20e%2541"
    )


@pytest.mark.parametrize(
    ("refused", "field"),
    [
        (lambda: quoted("specifier", ""), "specifier"),
        (lambda: quoted("specifier", ".."), "specifier"),
        (lambda: quoted("specifier", "."), "specifier"),
        (lambda: quoted("specifier", "a\nb"), "specifier"),
        (lambda: numeric_id("since", "last"), "since"),
        (lambda: numeric_id("since", -1), "since"),
        (lambda: numeric_id("since", "٣"), "since"),
        (lambda: list_query({"before_id": "@a/b c"}, None, ()), "before_id"),
        (lambda: join_names("names", []), "names"),
        (lambda: join_names("names", ["EUR_USD,USD_JPY"]), "names"),
        (lambda: time_text("since", datetime(2025, 1, 1)), "since"),  # noqa: DTZ001 - that is the point
        (lambda: time_text("since", "yesterday"), "since"),
        (lambda: number("units", "1e5"), "units"),
        (lambda: number("units", 0, above_zero=True), "units"),
        (lambda: whole("count", 5001, 1, 5000), "count"),
        (lambda: whole("count", True, 0, 5000), "count"),
        (lambda: header_text("client_request_id", "a\r\nb"), "client_request_id"),
    ],
)
def test_what_can_not_be_sent_is_refused_by_its_name(
    refused: Callable[[], object], field: str
) -> None:
    with pytest.raises(InvalidRequest) as raised:
        refused()
    assert raised.value.field == field
