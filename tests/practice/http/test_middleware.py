"""What every request meets: the token, the account's owner, the method, the path, the rate, the body's size."""

import gzip
import json
from pathlib import Path

import pytest

from support.broker import PracticeServer, SharedPractice, plain_client, practice_server


async def test_without_a_token_nothing_is_shown(desk_of_my_own: PracticeServer) -> None:
    for header in ("", "Bearer", "Bearer wrong", "Basic token-1", "Bearer \xff\xfe"):
        answer = await desk_of_my_own.http.get(
            "/v3/accounts", headers={b"Authorization": header.encode("latin-1")}
        )
        assert answer.status_code == 401
        assert answer.json() == {"errorMessage": "Insufficient authorization to perform request."}
        assert answer.headers["RequestID"].isdecimal()


async def test_another_ones_account_is_forbidden(
    shared_practice: SharedPractice, desk_of_my_own: PracticeServer
) -> None:
    other = shared_practice.open_desk()
    answer = await desk_of_my_own.get(f"/v3/accounts/{other.account_id}/summary")
    assert answer.status_code == 403
    assert answer.json() == {"errorMessage": "The provided request was forbidden."}
    await other.close()


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/v3/accounts/101-001-9999999-001", 404),
        ("/v3/accounts/mine", 400),
        ("/v3/accounts/1-2-3-%D9%A3/summary", 400),
        ("/v3/nothing", 404),
        ("/", 404),
        ("/v3/accounts/", 404),
    ],
)
async def test_what_is_not_there_is_said_so(
    desk_of_my_own: PracticeServer, path: str, status: int
) -> None:
    answer = await desk_of_my_own.get(path)
    assert answer.status_code == status
    assert answer.json()["errorMessage"]
    assert answer.headers["RequestID"].isdecimal()


@pytest.mark.parametrize(
    ("path", "method", "allowed"),
    [
        ("/v3/accounts", "POST", "GET"),
        ("{a}", "DELETE", "GET"),
        ("{a}/orders", "PUT", "GET, POST"),
        ("{a}/orders/1", "PATCH", "GET, PUT"),
        ("{a}/configuration", "GET", "PATCH"),
        ("{a}/transactions/stream", "POST", "GET"),
        ("/v3/instruments/EUR_USD/orderBook", "HEAD", "GET"),
    ],
)
async def test_a_wrong_method_is_told_the_right_ones(
    desk_of_my_own: PracticeServer, path: str, method: str, allowed: str
) -> None:
    answer = await desk_of_my_own.send(method, path)
    assert answer.status_code == 405
    assert answer.headers["Allow"] == allowed


async def test_every_request_has_an_id_of_its_own(desk_of_my_own: PracticeServer) -> None:
    ids = [int((await desk_of_my_own.get("{a}")).headers["RequestID"]) for _ in range(5)]
    assert ids == sorted(set(ids))


@pytest.mark.e2e
async def test_requests_above_the_rate_are_told_to_wait(practice_folder: Path) -> None:
    async with practice_server(practice_folder, "--rate-limit", "5") as practice:
        answers = [await practice.get("/v3/accounts") for _ in range(40)]
    reject_response = [answer for answer in answers if answer.status_code == 429]
    assert reject_response
    assert reject_response[0].headers["Retry-After"] == "1"
    assert reject_response[0].json()["errorMessage"]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", "Missing JSON body"),
        (b"   ", "Missing JSON body"),
        (b"{", "Malformed JSON body"),
        (b'{"order": NaN}', "Malformed JSON body"),
        (b"\xff\xfe", "Malformed JSON body"),
        (b"[" * 100_000, "Malformed JSON body"),
        (b"[]", "The JSON body is not an object"),
        (b'{"order":{"units":' + b"9" * 5000 + b"}}", "Malformed JSON body"),
    ],
)
async def test_a_body_that_cannot_be_read_is_refused(
    desk_of_my_own: PracticeServer, body: bytes, message: str
) -> None:
    path = f"/v3/accounts/{desk_of_my_own.account_id}/orders"
    answer = await desk_of_my_own.http.post(path, content=body)
    assert (answer.status_code, answer.json()) == (400, {"errorMessage": message})


async def test_a_huge_body_is_refused_unread(desk_of_my_own: PracticeServer) -> None:
    path = f"/v3/accounts/{desk_of_my_own.account_id}/orders"
    answer = await desk_of_my_own.http.post(path, content=b" " * 10_000_000)
    assert answer.status_code == 400
    assert "larger than" in answer.json()["errorMessage"]
    assert (await desk_of_my_own.get("{a}")).status_code == 200


async def test_long_answers_are_zipped_for_those_who_take_it(
    desk_of_my_own: PracticeServer,
) -> None:
    path = f"/v3/accounts/{desk_of_my_own.account_id}/instruments"
    async with desk_of_my_own.http.stream("GET", path) as answer:
        assert answer.headers["Content-Encoding"] == "gzip"
        raw = b"".join([piece async for piece in answer.aiter_raw()])
    assert json.loads(gzip.decompress(raw))["instruments"]
    plain = await desk_of_my_own.http.get(path, headers={"Accept-Encoding": "identity"})
    assert "Content-Encoding" not in plain.headers


@pytest.mark.e2e
async def test_it_serves_a_port_as_well(practice_folder: Path) -> None:
    async with practice_server(practice_folder, "--port", "0", "--token", "mine-alone") as practice:
        assert practice.rest_url.startswith("http://127.0.0.1:")
        assert practice.token == "mine-alone"
        async with plain_client(practice.rest_url, "mine-alone") as http:
            assert (await http.get("/v3/accounts")).status_code == 200
