import json
import ssl
from collections.abc import Callable
from random import Random

import httpx
import pytest

from keydesk_client.auth.secret import Secret
from keydesk_client.client import Client
from keydesk_client.errors import (
    ConnectionLost,
    KeydeskClientError,
    RateLimited,
    Refused,
    ServerFailed,
    TimedOut,
    Unreachable,
    UnreadableAnswer,
)
from keydesk_client.http.caller import Caller
from keydesk_client.http.messages import Method, Request
from keydesk_client.http.retry import Retries
from keydesk_client.http.session import Session
from keydesk_client.resources.accounts import ACCOUNTS
from support.fakes.fake_time import FakeTimers

GOOD = httpx.Response(200, json={"accounts": []})

Step = httpx.Response | Exception


def untrusted() -> httpx.ConnectError:
    error = httpx.ConnectError("not trusted")
    refusal = ssl.SSLCertVerificationError()
    refusal.verify_message, refusal.verify_code = "self-signed certificate", 18
    error.__cause__ = refusal
    return error


async def ask(
    steps: list[Step],
    *,
    method: Method = "GET",
    retries: Retries = Retries(),  # noqa: B008 - it is frozen
    rng: Callable[[], float] = lambda: 1.0,
) -> tuple[object, list[float], int]:
    """What came of it, the pauses, and how often the service was asked."""
    timers = FakeTimers()
    left = list(steps)

    def answer(_: httpx.Request) -> httpx.Response:
        step = left.pop(0)
        if isinstance(step, Exception):
            raise step
        return httpx.Response(step.status_code, headers=step.headers, content=step.content)

    transport = httpx.MockTransport(answer)
    session = Session(Secret("t"), "https://r.test", "https://s.test", transport=transport)
    caller = Caller(session, retries, clock=timers.time, rng=rng, sleep=timers.sleep)
    try:
        outcome: object = await caller.call(Request(method, "/v3/accounts"), ACCOUNTS)
    except KeydeskClientError as error:
        outcome = error
    return outcome, timers.slept, len(steps) - len(left)


@pytest.mark.parametrize(
    "step",
    [
        httpx.ConnectError("refused"),
        httpx.ConnectTimeout("slow"),
        httpx.ReadError("reset"),
        httpx.ReadTimeout("slow"),
        httpx.RemoteProtocolError("gone"),
        httpx.Response(500),
        httpx.Response(503, json={"errorMessage": "busy"}),
        httpx.Response(429, headers={"Retry-After": "1"}),
        httpx.Response(200, text="<html>"),
    ],
)
async def test_a_read_is_asked_again_after_a_passing_failure(step: Step) -> None:
    outcome, pauses, asked = await ask([step, GOOD])
    assert not isinstance(outcome, Exception)
    assert (len(pauses), asked) == (1, 2)


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH"])
@pytest.mark.parametrize(
    ("step", "kind"),
    [
        (httpx.ConnectError("refused"), Unreachable),
        (httpx.ReadError("reset"), ConnectionLost),
        (httpx.ReadTimeout("slow"), TimedOut),
        (httpx.Response(503), ServerFailed),
        (httpx.Response(429), RateLimited),
        (httpx.Response(200, text="<html>"), UnreadableAnswer),
    ],
)
async def test_a_write_is_sent_once_whatever_happens(
    method: Method, step: Step, kind: type[Exception]
) -> None:
    outcome, pauses, asked = await ask([step, GOOD], method=method)
    assert isinstance(outcome, kind)
    assert (pauses, asked) == ([], 1)


@pytest.mark.parametrize(("status", "kind"), [(400, Refused), (404, Refused), (501, ServerFailed)])
async def test_a_refusal_is_final(status: int, kind: type[Exception]) -> None:
    outcome, _, asked = await ask([httpx.Response(status), GOOD])
    assert isinstance(outcome, kind)
    assert asked == 1


async def test_pauses_double_to_a_ceiling_and_end() -> None:
    patient = Retries(max_retries=8, max_backoff_s=2.0)
    outcome, pauses, asked = await ask([httpx.ConnectError("no")] * 20, retries=patient)
    assert isinstance(outcome, Unreachable)
    assert pauses == [0.25, 0.5, 1.0, 2.0, 2.0, 2.0, 2.0, 2.0]
    assert asked == 9


@pytest.mark.parametrize("rng", [lambda: 1.0, Random(2).random])
async def test_reads_go_on_for_twenty_seconds_however_many_attempts_that_are(
    rng: Callable[[], float],
) -> None:
    outcome, pauses, asked = await ask([httpx.ConnectError("no")] * 100, rng=rng)
    assert isinstance(outcome, Unreachable)
    assert sum(pauses) == pytest.approx(20.0)
    assert asked == len(pauses) + 1
    assert max(pauses) <= 5.0


@pytest.mark.parametrize(
    ("step", "text"),
    [
        (httpx.ProxyError("407 Proxy Authentication Required"), "the proxy wants a sign-in"),
        (httpx.Response(407), "the proxy wants a sign-in"),
        (untrusted(), "cannot connect"),
    ],
)
async def test_what_a_person_has_to_settle_is_raised_at_once(step: Step, text: str) -> None:
    outcome, pauses, _ = await ask([step, GOOD])
    assert text in str(outcome)
    assert pauses == []


async def test_pauses_are_drawn_between_nothing_and_the_ceiling() -> None:
    _, pauses, _ = await ask(
        [httpx.ConnectError("no")] * 4, retries=Retries(max_retries=3), rng=Random(1).random
    )
    assert all(
        0 <= pause <= ceiling for pause, ceiling in zip(pauses, (0.25, 0.5, 1.0), strict=True)
    )


@pytest.mark.parametrize(
    "headers",
    [
        {"Retry-After": "3"},
        {"Retry-After": "Sat, 01 Mar 2025 12:00:03 GMT", "Date": "Sat, 01 Mar 2025 12:00:00 GMT"},
    ],
)
async def test_the_service_says_when_to_come_back_in_either_form(headers: dict[str, str]) -> None:
    _, pauses, _ = await ask([httpx.Response(429, headers=headers), GOOD])
    assert pauses == [3.0]


@pytest.mark.parametrize("asked", ["3600", "Sat, 01 Mar 2125 12:00:00 GMT", "9" * 400])
async def test_an_hour_is_not_slept_out_but_told(asked: str) -> None:
    outcome, pauses, _ = await ask([httpx.Response(429, headers={"Retry-After": asked}), GOOD])
    assert isinstance(outcome, RateLimited)
    assert outcome.retry_after is not None
    assert outcome.retry_after >= 3600
    assert pauses == []


@pytest.mark.parametrize("asked", ["soon", "-5", "1.5", "Sat, 99 Foo", "٣"])
async def test_a_retry_after_that_says_nothing_is_passed_over(asked: str) -> None:
    headers = {"Retry-After": asked.encode()}
    response = httpx.Response(429, headers=[(b"Retry-After", headers["Retry-After"])])
    _, pauses, _ = await ask([response, GOOD])
    assert pauses == [0.25]


async def test_patience_ends_whatever_number_of_tries_is_left() -> None:
    hasty = Retries(max_retries=100, patience_s=1.0)
    _, pauses, _ = await ask([httpx.ConnectError("no")] * 100, retries=hasty)
    assert sum(pauses) <= 1.0


async def test_a_body_of_the_wrong_shape_is_told_with_its_request_id() -> None:
    broken = httpx.Response(200, content=json.dumps([1]), headers={"RequestID": "77"})
    outcome, _, _ = await ask([broken], retries=Retries(max_retries=0))
    assert isinstance(outcome, UnreadableAnswer)
    assert (outcome.status, outcome.request_id) == (200, "77")


async def test_a_429_that_was_asked_again_is_counted_all_the_same() -> None:
    answers = [httpx.Response(429, headers={"Retry-After": "0"}), GOOD]
    transport = httpx.MockTransport(lambda _: answers.pop(0))
    async with Client(
        token="t", rest_url="https://r.test", stream_url="https://s.test", transport=transport
    ) as client:
        await client.accounts.list()
        assert client.throttled == 1


@pytest.mark.parametrize(
    ("step", "text"),
    [
        (httpx.ConnectError("refused"), "cannot connect: refused"),
        (httpx.ReadError("reset"), "the connection broke: reset"),
        (httpx.ReadError(""), "the connection broke: read error"),
        (httpx.RemoteProtocolError("gone"), "the connection broke: gone"),
        (ConnectionResetError(104, "reset"), "the connection broke: Connection reset by peer"),
    ],
)
async def test_a_failure_is_told_without_the_class_of_its_exception(step: Step, text: str) -> None:
    outcome, _, _ = await ask([step], method="POST")
    assert str(outcome) == text
