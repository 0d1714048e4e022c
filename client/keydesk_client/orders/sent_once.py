"""One request on the wire: which answers say yes, which say no, and which say nothing at all."""

from collections.abc import Awaitable, Callable
from typing import Final

from keydesk_client.errors import (
    Answered,
    InvalidRequest,
    KeydeskClientError,
    MissingMember,
    Refused,
    UnreadableAnswer,
)
from keydesk_client.orders.became import WriteResponse, outcome_of
from keydesk_client.orders.intent import Intent
from keydesk_client.orders.outcome import Done, NotSent, Rejected, Unknown

REQUEST_TIMEOUT: Final = 408
"""Something in between gave up waiting: the one 4xx that refuses nothing."""


async def sent_once(
    intent: Intent, send: Callable[[], Awaitable[WriteResponse]]
) -> Done | Rejected | NotSent | Unknown:
    """Send it, and say what its answer, or the lack of one, means."""
    request_id = ""
    try:
        answer = await send()
        request_id = answer.request_id
        return outcome_of(intent, answer)
    except MissingMember as error:
        said = f"the answer lacks what it should tell: {error}"
        return Unknown(intent, said, request_id=request_id)
    except KeydeskClientError as error:
        return _failed(intent, error)


def _failed(intent: Intent, error: KeydeskClientError) -> Rejected | NotSent | Unknown:
    said = str(error) or type(error).__name__
    if not error.sent:
        field = error.field if isinstance(error, InvalidRequest) else ""
        after = error.retry_after if isinstance(error, Answered) else None
        return NotSent(intent, said, field, after)
    if isinstance(error, Refused) and _says_no(error):
        return Rejected(
            intent=intent,
            message=error.error_message,
            error_code=error.error_code,
            reject_reason=error.reject_reason,
            status=error.status,
            request_id=error.request_id,
            last_transaction_id=int(error.last_transaction_id or 0),
            related_transaction_ids=error.related_transaction_ids,
        )
    request_id = error.request_id if isinstance(error, Answered | UnreadableAnswer) else ""
    return Unknown(intent, said, request_id=request_id)


def _says_no(error: Refused) -> bool:
    """Whether nothing changed: the service says why, and made nothing but refusals."""
    refusals = len(error.reject_transactions)
    made_more = bool(refusals) and len(error.related_transaction_ids) > refusals
    return error.explained and error.status != REQUEST_TIMEOUT and not made_more
