"""Every operation refuses alike: no token, another's account, no such account, a wrong method, too many requests."""

import asyncio
from pathlib import Path
from typing import Any

import httpx
import pytest

from support.broker import PracticeServer, SharedPractice, practice_server
from support.wire import wire
from support.wire_record import WireRecord

ENDPOINTS: dict[str, Any] = dict(wire().endpoints)
OF_ACCOUNTS = [name for name, one in ENDPOINTS.items() if "{accountID}" in one["path"]]
SAMPLES = {
    "instrument": "EUR_USD",
    "orderSpecifier": "1",
    "tradeSpecifier": "1",
    "transactionID": "1",
}


def address(name: str, account: str) -> str:
    path = str(ENDPOINTS[name]["path"]).replace("{accountID}", account)
    for member, value in SAMPLES.items():
        path = path.replace(f"{{{member}}}", value)
    return path


def check(record: WireRecord, name: str, answer: httpx.Response, status: int) -> None:
    assert answer.status_code == status, answer.text
    assert wire().problems(name, status, answer.json()) == []
    assert answer.headers["RequestID"].isdecimal()
    record.note(name, status, answer.json())


async def test_401_without_a_token(desk_of_my_own: PracticeServer, wire_record: WireRecord) -> None:
    for name in ENDPOINTS:
        answer = await desk_of_my_own.http.request(
            ENDPOINTS[name]["method"],
            address(name, desk_of_my_own.account_id),
            headers={"Authorization": "Bearer nobody"},
        )
        check(wire_record, name, answer, 401)


async def test_405_for_a_wrong_method(
    desk_of_my_own: PracticeServer, wire_record: WireRecord
) -> None:
    for name in ENDPOINTS:
        path = address(name, desk_of_my_own.account_id)
        answer = await desk_of_my_own.http.request("DELETE", path)
        check(wire_record, name, answer, 405)
        assert ENDPOINTS[name]["method"] in answer.headers["Allow"].split(", ")


async def test_403_on_another_ones_account_and_404_on_none(
    shared_practice: SharedPractice, desk_of_my_own: PracticeServer, wire_record: WireRecord
) -> None:
    other = shared_practice.open_desk()
    for name in OF_ACCOUNTS:
        method = ENDPOINTS[name]["method"]
        for account, status in ((other.account_id, 403), ("101-001-1-001", 404), ("me", 400)):
            answer = await desk_of_my_own.http.request(method, address(name, account), json={})
            check(wire_record, name, answer, status)


async def refused(practice: PracticeServer, method: str, path: str) -> httpx.Response:
    """Return the 429 among requests that are sent at once; on a slow machine all of them may be let through."""

    async def ask() -> httpx.Response:
        async with practice.http.stream(method, path, json={}) as answer:
            if answer.status_code == 429:  # the body of a stream that is let through does not end
                await answer.aread()
            return answer

    while True:
        answers = await asyncio.gather(*(ask() for _ in range(4)))
        for answer in answers:
            if answer.status_code == 429:
                return answer


@pytest.mark.e2e
async def test_429_above_the_rate(practice_folder: Path, wire_record: WireRecord) -> None:
    async with practice_server(practice_folder, "--rate-limit", "1") as practice:
        for name in ENDPOINTS:
            path = address(name, practice.account_id)
            answer = await refused(practice, ENDPOINTS[name]["method"], path)
            check(wire_record, name, answer, 429)
            assert int(answer.headers["Retry-After"]) >= 1


def test_every_operation_of_the_reference_is_served() -> None:
    from keydesk_practice.http.routes import PATHS  # noqa: PLC0415 - only this test needs it

    served = {(method, path) for path, methods in PATHS.items() for method in methods}
    assert {(one["method"], one["path"]) for one in ENDPOINTS.values()} == served


NO_ID = ("x", "-3", "1.5", "1e3", "0x1f", "٣", "1" * 40)
NO_INSTRUMENT = ("x", "1", "EUR-USD", "eur_usd", "EUR_XXX", "EUR/USD", "\x00")
NO_DATE = ("x", "2024-13-01", "2024-03-05T25:00:00Z", "1e9", "\x00")
INVALID: dict[str, tuple[str, ...]] = {  # values of no parameter of the type
    "integer": ("x", "-3", "1.5", "1e3", "1" * 40, "٣"),
    "boolean": ("x", "1", "yes"),
    "string": ("Mars/Olympus", "../etc/passwd", "\x00"),  # a time zone
    "$DateTime": NO_DATE,
    "$TransactionID": NO_ID,
    "$OrderID": NO_ID,
    "$TradeID": NO_ID,
    "list<$OrderID>": (*NO_ID, "1,x", "1,-3", ","),
    "list<$TradeID>": (*NO_ID, "1,x", "1,-3", ","),
    "$InstrumentName": NO_INSTRUMENT,
    "list<$InstrumentName>": (*NO_INSTRUMENT, "EUR_USD,x", ","),
    "list<$CandleSpecification>": ("x", "EUR_USD:H1", "EUR_USD:x:M", "EUR_USD:H1:x", "1:H1:M", ","),
    "list<$TransactionFilter>": ("x", "1", "ORDER,x", "order_fill", ","),
    "$DecimalNumber": ("x", "-1", "0", "1e3", "1" * 60, "NaN"),
    "$PriceComponent": ("x", "m", "MX", "MM", "MBAM"),
    "$CandlestickGranularity": ("x", "H7", "h1", "1"),
    "$WeeklyAlignment": ("x", "monday", "1"),
    "$OrderStateFilter": ("x", "pending", "OPEN", "1"),
    "$TradeStateFilter": ("x", "open", "PENDING", "1"),
}
VALID = {  # of the required parameters
    "instruments": "EUR_USD",
    "candleSpecifications": "EUR_USD:H1:M",
    "sinceTransactionID": "1",
    "id": "1",
    "from": "1",
    "to": "1",
}


def query_parameters() -> list[tuple[str, str]]:
    return [
        (operation, parameter["name"])
        for operation, endpoint in ENDPOINTS.items()
        for parameter in endpoint["params"]
        if parameter["in"] == "query"
    ]


def outside(limit: str | None) -> list[str]:
    """Return the numbers beside a range such as `1-500`."""
    if limit is None:
        return []
    low, high = map(int, limit.split("-"))
    return [str(low - 1), str(high + 1)]


@pytest.mark.parametrize(("operation", "name"), query_parameters())
async def test_400_names_the_parameter_of_an_invalid_value(
    desk_of_my_own: PracticeServer, wire_record: WireRecord, operation: str, name: str
) -> None:
    parameters = ENDPOINTS[operation]["params"]
    (parameter,) = (one for one in parameters if one["in"] == "query" and one["name"] == name)
    required = {
        one["name"]: VALID[one["name"]]
        for one in parameters
        if one["in"] == "query" and one["required"]
    }
    path = address(operation, desk_of_my_own.account_id)
    accepted = []
    for value in (*INVALID[parameter["type"]], *outside(parameter.get("limit"))):
        answer = await desk_of_my_own.http.get(path, params={**required, name: value})
        if answer.status_code != 400:
            accepted.append((value, answer.status_code))
            continue
        check(wire_record, operation, answer, 400)
        assert f"'{name}'" in answer.json()["errorMessage"], value
    assert accepted == []
