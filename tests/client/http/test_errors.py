"""Retry-After in both forms, malformed values and a wrong local clock included; causes of failed connections."""

import errno
import socket
import ssl
from email.utils import format_datetime
from random import Random

import pytest

from keydesk_client import DateTime
from keydesk_client.http.errors import connect_failure, seconds_to_wait

NOON = DateTime("2025-03-01T12:00:00Z").datetime
NOON_S = NOON.timestamp()
LATER = format_datetime(NOON, usegmt=True).replace("12:00:00", "12:00:05")


@pytest.mark.parametrize("clock_is_off_by", [0.0, -86_400.0 * 365, 86_400.0 * 365])
def test_a_date_is_measured_against_the_answer_s_own(clock_is_off_by: float) -> None:
    headers = {"retry-after": LATER, "date": format_datetime(NOON, usegmt=True)}
    assert seconds_to_wait(headers, lambda: NOON_S + clock_is_off_by) == 5.0


def test_without_one_it_is_measured_by_the_clock_of_this_machine() -> None:
    assert seconds_to_wait({"retry-after": LATER}, lambda: NOON_S) == 5.0


def test_a_date_that_is_past_asks_for_no_wait() -> None:
    assert seconds_to_wait({"retry-after": LATER}, lambda: NOON_S + 6) == 0.0


PIECES = ["Sat,", "01", "Mar", "2025", "12:00:05", "GMT", "-0000", "+9999", "-", ":", "99999999999"]


def test_no_text_makes_it_fail_or_wait_for_less_than_nothing() -> None:
    rng = Random(5)
    for _ in range(20_000):
        pieces = [rng.choice(PIECES) for _ in range(rng.randrange(9))]
        pieces += [chr(rng.randrange(256)) for _ in range(rng.randrange(3))]
        rng.shuffle(pieces)
        text = rng.choice(["", " "]).join(pieces)
        wait = seconds_to_wait({"retry-after": text, "date": text[::-1]}, lambda: NOON_S)
        assert wait is None or 0.0 <= wait < 1e12, text


def raised_from(cause: BaseException) -> Exception:
    error = ConnectionError("cannot connect")
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("cause", "failure"),
    [
        (ConnectionRefusedError(), "refused"),
        (FileNotFoundError(), "refused"),
        (socket.gaierror(socket.EAI_NONAME, "unknown"), "name"),
        (OSError(errno.ENETUNREACH, "no way"), "network"),
        (ssl.SSLCertVerificationError(), "certificate"),
        (ssl.SSLError(), "tls"),
        (ExceptionGroup("all addresses", [ConnectionRefusedError()]), "refused"),
        (OSError("something else"), ""),
    ],
    ids=repr,
)
def test_the_cause_of_a_failed_connection_is_found_behind_its_error(
    cause: BaseException, failure: str
) -> None:
    assert connect_failure(raised_from(cause)) == failure
