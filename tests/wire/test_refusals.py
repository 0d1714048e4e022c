"""Every operation refuses alike: no token, another's account, no such account, a wrong method, too many requests."""

import asyncio
from pathlib import Path
from typing import Any

import httpx

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


async def test_429_above_the_rate(practice_folder: Path, wire_record: WireRecord) -> None:
    async with practice_server(practice_folder, "--rate-limit", "1") as practice:
        for name in ENDPOINTS:
            path = address(name, practice.account_id)
            answer = await refused(practice, ENDPOINTS[name]["method"], path)
            check(wire_record, name, answer, 429)
            assert int(answer.headers["Retry-After"]) >= 1


def test_every_operation_of_the_reference_is_served() -> None:
    from keydesk_practice.http.application import PATHS  # noqa: PLC0415 - only this test needs it

    served = {(method, path) for path, methods in PATHS.items() for method in methods}
    assert {(one["method"], one["path"]) for one in ENDPOINTS.values()} == served
