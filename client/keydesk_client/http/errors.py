"""Turn error responses into exceptions: by status and body, with the reject transactions and Retry-After."""

import errno
import socket
import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from types import MappingProxyType
from typing import cast

from keydesk_client.errors import (
    AnswerTooLarge,
    ConnectFailure,
    Forbidden,
    HttpStatusError,
    NotAllowed,
    NotFound,
    OutOfRange,
    RateLimited,
    Refused,
    Rejection,
    ServerFailed,
    Unauthorized,
)
from keydesk_client.http.messages import HttpResponse
from keydesk_client.models._core.json import JsonObject, JsonValue, loads
from keydesk_client.transaction_id import MAX_ID_LENGTH, TransactionID

BY_STATUS: Mapping[int, type[HttpStatusError]] = {
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    405: NotAllowed,
    416: OutOfRange,
    429: RateLimited,
}

NO_WAY = frozenset({errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN, errno.EHOSTDOWN})
PROXY_SIGN_IN = "the proxy wants a sign-in: check the user and password of its URL"
NO_QUERY: Mapping[str, str] = MappingProxyType({})
MAX_MESSAGE_LENGTH = 500
MAX_CODE_LENGTH = 100
MAX_TRANSACTIONS = 1000
"""Transactions that an error may name; an intact response names a few."""


def connect_failure(error: BaseException) -> ConnectFailure:
    """Return why a connection could not be made, from the exceptions that led to `error`."""
    for each in causes_of(error):
        match each:
            case ssl.SSLCertVerificationError():
                return "certificate"
            case ssl.SSLError():
                return "tls"
            case socket.gaierror():
                return "name"
            case ConnectionRefusedError() | FileNotFoundError():  # the latter: a unix socket
                return "refused"
            case OSError(errno=number) if number in NO_WAY:
                return "network"
            case _:
                pass
    return ""


def causes_of(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an exception, those in it, and those that it came from."""
    while error is not None:
        yield error
        if isinstance(error, BaseExceptionGroup):
            for each in cast("BaseExceptionGroup[BaseException]", error).exceptions:
                yield from causes_of(each)
        error = error.__cause__ or error.__context__


def error_of(
    response: HttpResponse,
    query: Mapping[str, str] = NO_QUERY,
    wall: Callable[[], float] = time.time,
) -> HttpStatusError:
    """Return the error of a response without success; never raise, whatever its body holds."""
    members = _members(response.body)
    return error_class(response.status)(
        _message(members, response.status),
        status=response.status,
        error_code=_code(members),
        reject_transactions=_rejections(members),
        request_id=response.request_id,
        last_transaction_id=_id(members.get("lastTransactionID")),
        related_transaction_ids=_ids(members),
        retry_after=seconds_to_wait(response.headers, wall),
        named_parameters=_named_parameters(members, query),
        explained=_text(members, "errorMessage") is not None or "lastTransactionID" in members,
    )


def error_class(status: int) -> type[HttpStatusError]:
    """Return the error class of a status."""
    if status in BY_STATUS:
        return BY_STATUS[status]
    return Refused if status // 100 == 4 else ServerFailed  # noqa: PLR2004 - the 4xx class


def _members(body: bytes) -> JsonObject:
    try:
        value = loads(body)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _message(members: JsonObject, status: int) -> str:
    message = _text(members, "errorMessage")
    if message:
        return message[:MAX_MESSAGE_LENGTH]
    if status == HTTPStatus.PROXY_AUTHENTICATION_REQUIRED:
        return PROXY_SIGN_IN
    return f"the service responded with status {status} and no reason"


def _rejections(members: JsonObject) -> tuple[Rejection, ...]:
    """Return the reject transactions; an edit of a trade and a close of a position can have several."""
    values = (value for name, value in members.items() if name.endswith("RejectTransaction"))
    rejects = [value for value in values if isinstance(value, dict)][:MAX_TRANSACTIONS]
    return _read_rejections(rejects) if rejects else ()


def _read_rejections(rejects: list[JsonObject]) -> tuple[Rejection, ...]:
    from keydesk_client.models._core.decoder import SalvageBudget, read_value  # noqa: PLC0415 - most errors need no models
    from keydesk_client.models.transactions.unions import Transaction  # noqa: PLC0415 - same

    effort = SalvageBudget()
    with suppress(AnswerTooLarge):
        return tuple(read_value(Transaction, value, effort) for value in rejects)
    return ()


def _named_parameters(members: JsonObject, query: Mapping[str, str]) -> str:
    """Return the query parameters that the message names, with their values, which the message does not repeat."""
    message = (_text(members, "errorMessage") or "")[:MAX_MESSAGE_LENGTH]
    named = (each for each in query.items() if f"'{each[0]}'" in message)
    return ", ".join(f"{name}={value}" for name, value in named)[:MAX_MESSAGE_LENGTH]


def _text(members: JsonObject, name: str) -> str | None:
    value = members.get(name)
    return value if isinstance(value, str) else None


def _ids(members: JsonObject) -> tuple[TransactionID, ...]:
    value = members.get("relatedTransactionIDs")
    listed = value[:MAX_TRANSACTIONS] if isinstance(value, list) else ()
    return tuple(each for each in map(_id, listed) if each is not None)


def _id(value: JsonValue) -> TransactionID | None:
    """Return a transaction id, or None when it is not one."""
    text = str(value) if isinstance(value, int | str) else ""
    is_id = text.isascii() and text.isdecimal() and len(text) <= MAX_ID_LENGTH
    return TransactionID(text) if is_id else None


def _code(members: JsonObject) -> str | None:
    code = _text(members, "errorCode")
    return None if code is None else code[:MAX_CODE_LENGTH]


def seconds_to_wait(headers: Mapping[str, str], wall: Callable[[], float]) -> float | None:
    """Return the seconds of the Retry-After header, at least 0; None when it is missing or malformed.

    A date is compared with the Date of the same response, so that a wrong clock on this machine does not matter; `wall`
    is read only without one.
    """
    value = headers.get("retry-after", "").strip()
    if not value:
        return None
    if value.isascii() and value.isdecimal():
        return float(value[:9])
    until = _timestamp(value)
    if until is None:
        return None
    now = _timestamp(headers.get("date", ""))
    return max(0.0, until - (wall() if now is None else now))


def _timestamp(text: str) -> float | None:
    try:
        return parsedate_to_datetime(text).timestamp()
    except (ValueError, OverflowError):
        return None
