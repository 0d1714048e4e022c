"""Which error an error answer is: statuses and bodies in, one of `errors` out.

When to come back: the Retry-After header in its two forms.
"""

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from email.utils import parsedate_to_datetime
from types import MappingProxyType

from keydesk_client.errors import (
    Answered,
    AnswerTooLarge,
    Forbidden,
    NotAllowed,
    NotFound,
    OutOfRange,
    RateLimited,
    Refused,
    Rejection,
    ServerFailed,
    Unauthorized,
)
from keydesk_client.http.messages import Answer
from keydesk_client.models._core.json import JsonObject, JsonValue, loads


def seconds_to_wait(headers: Mapping[str, str], wall: Callable[[], float]) -> float | None:
    """Seconds that the service asks to wait, not negative; None when it asks for nothing readable.

    A date is measured against the answer's own Date, so that a wrong clock on this machine does not matter.
    """
    asked = headers.get("retry-after", "").strip()
    if not asked:
        return None
    if asked.isascii() and asked.isdecimal():
        return float(asked[:9])
    until = _moment(asked)
    if until is None:
        return None
    now = _moment(headers.get("date", ""))
    return max(0.0, until - (wall() if now is None else now))


def _moment(text: str) -> float | None:
    try:
        return parsedate_to_datetime(text).timestamp()
    except (ValueError, OverflowError):
        return None


BY_STATUS: Mapping[int, type[Answered]] = {
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    405: NotAllowed,
    416: OutOfRange,
    429: RateLimited,
}

NOTHING: Mapping[str, str] = MappingProxyType({})
LONGEST_MESSAGE = 500
LONGEST_CODE = 100
LONGEST_ID = 20
MOST_NAMED = 1000
"""Transactions that an error may name: a service that is not broken names a handful."""


def error_of(
    answer: Answer, query: Mapping[str, str] = NOTHING, wall: Callable[[], float] = time.time
) -> Answered:
    """The error that an answer without success is; never raises, whatever the body holds."""
    members = _members(answer.body)
    return kind_of(answer.status)(
        _message(members, answer),
        status=answer.status,
        error_code=_code(members),
        reject_transactions=_rejections(members),
        request_id=answer.request_id,
        last_transaction_id=_id(members.get("lastTransactionID")),
        related_transaction_ids=_ids(members),
        retry_after=seconds_to_wait(answer.headers, wall),
        asked=_asked(members, query),
        explained=_text(members, "errorMessage") is not None or "lastTransactionID" in members,
    )


def kind_of(status: int) -> type[Answered]:
    """The error class of a status."""
    if status in BY_STATUS:
        return BY_STATUS[status]
    return Refused if status // 100 == 4 else ServerFailed  # noqa: PLR2004 - the 4xx class


def _members(body: bytes) -> JsonObject:
    try:
        found = loads(body)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _message(members: JsonObject, answer: Answer) -> str:
    said = _text(members, "errorMessage")
    if said:
        return said[:LONGEST_MESSAGE]
    return f"the service answered {answer.status} and gave no reason"


def _rejections(members: JsonObject) -> tuple[Rejection, ...]:
    """The transactions that record the refusal; a trade's edit and a position's close can have several."""
    named = (value for name, value in members.items() if name.endswith("RejectTransaction"))
    found = [value for value in named if isinstance(value, dict)][:MOST_NAMED]
    return _read_rejections(found) if found else ()


def _read_rejections(found: list[JsonObject]) -> tuple[Rejection, ...]:
    from keydesk_client.models._core.decoder import SalvageBudget, read_value  # noqa: PLC0415 - most errors need no models
    from keydesk_client.models.transactions.unions import Transaction  # noqa: PLC0415 - same

    effort = SalvageBudget()
    with suppress(AnswerTooLarge):
        return tuple(read_value(Transaction, value, effort) for value in found)
    return ()


def _asked(members: JsonObject, query: Mapping[str, str]) -> str:
    """What was sent for the parameter that the service names: of ten instruments it does not say which."""
    said = (_text(members, "errorMessage") or "")[:LONGEST_MESSAGE]
    named = (each for each in query.items() if f"'{each[0]}'" in said)
    return ", ".join(f"{name}={value}" for name, value in named)[:LONGEST_MESSAGE]


def _text(members: JsonObject, name: str) -> str | None:
    value = members.get(name)
    return value if isinstance(value, str) else None


def _ids(members: JsonObject) -> tuple[str, ...]:
    value = members.get("relatedTransactionIDs")
    named = value[:MOST_NAMED] if isinstance(value, list) else ()
    return tuple(found for found in map(_id, named) if found is not None)


def _id(value: JsonValue) -> str | None:
    """A transaction's id: callers take it for a number."""
    text = str(value) if isinstance(value, int | str) else ""
    return text if text.isascii() and text.isdecimal() and len(text) <= LONGEST_ID else None


def _code(members: JsonObject) -> str | None:
    said = _text(members, "errorCode")
    return None if said is None else said[:LONGEST_CODE]
