"""Transactions: pages by time, one, a range, everything since, and the stream."""

import json

from starlette.types import ASGIApp

from keydesk_practice.datetimes import rfc3339, unix
from keydesk_practice.desks import AccountDesk
from keydesk_practice.face.answers import Answer, encode
from keydesk_practice.face.endpoints import Call
from keydesk_practice.face.refusals import absent, invalid, missing
from keydesk_practice.face.requests import whole_number
from keydesk_practice.face.streaming import LineStream
from keydesk_practice.face.transaction_filters import asked_types, types_of

MOST_SINCE = 1000
DEFAULT_PAGE = 100
LARGEST_PAGE = 1000


def list_transactions(call: Call) -> Answer:
    """Answer with the addresses of the pages that hold the transactions of a span of time."""
    desk = call.desk
    asked_begin, asked_end = call.query.time("from"), call.query.time("to")
    begin = desk.created_at if asked_begin is None else asked_begin
    end = call.broker.now() if asked_end is None else asked_end
    if begin > end:
        raise invalid("to")
    size = call.query.integer("pageSize", DEFAULT_PAGE, 1, LARGEST_PAGE)
    words = asked_types(call.query)
    ids = desk.history.ids_between(begin, end, types_of(words))
    suffix = f"&type={'%2C'.join(words)}" if words else ""
    base = f"{call.base_url}/v3/accounts/{desk.account.id}/transactions/idrange"
    body: dict[str, object] = {
        "from": rfc3339(begin),
        "to": rfc3339(end),
        "pageSize": size,
        **({"type": words} if words else {}),
        "count": len(ids),
        "pages": [
            f"{base}?from={ids[first]}&to={ids[min(first + size, len(ids)) - 1]}{suffix}"
            for first in range(0, len(ids), size)
        ],
        "lastTransactionID": str(desk.committed_id),
    }
    return Answer(body)


def get_transaction(call: Call) -> Answer:
    """Answer with one transaction."""
    desk = call.desk
    id_ = whole_number(call.path("transactionID"), "transactionID")
    found = desk.history.texts(id_, id_)
    if not found:
        raise absent("transaction", "NO_SUCH_TRANSACTION", str(desk.committed_id))
    transaction = json.loads(found[0])
    return Answer({"transaction": transaction, "lastTransactionID": str(desk.committed_id)})


def transactions_range(call: Call) -> Answer:
    """Answer with the transactions from one id to another, both included."""
    desk = call.desk
    first, last = _bound(call, "from"), _bound(call, "to")
    if first > last:
        raise invalid("to")
    if first < 1 or last > desk.committed_id:
        raise absent("transaction", "NO_SUCH_TRANSACTION")
    texts = desk.history.texts(first, last, types_of(asked_types(call.query)))
    return _transactions(desk, texts)


def transactions_since(call: Call) -> Answer:
    """Answer with the transactions after an id, at most a thousand, oldest first."""
    desk = call.desk
    after = _bound(call, "id")
    if not 0 <= after <= desk.committed_id:
        raise absent("transaction", "NO_SUCH_TRANSACTION")
    types = types_of(asked_types(call.query))
    return _transactions(desk, desk.history.texts(after + 1, desk.committed_id, types, MOST_SINCE))


def stream_transactions(call: Call) -> ASGIApp:
    """Answer with every transaction from now on, and a heartbeat at once and every five seconds."""
    desk, broker, unix_times = call.desk, call.broker, call.wishes.unix_times
    text_of = unix if unix_times else rfc3339

    def heartbeat() -> bytes:
        beat = {
            "type": "HEARTBEAT",
            "lastTransactionID": str(desk.committed_id),
            "time": text_of(broker.now()),
        }
        return encode(beat) + b"\n"

    subscription = desk.listeners.join(unix_times)
    return LineStream(
        subscription, heartbeat(), heartbeat, lambda: desk.listeners.leave(subscription)
    )


def _transactions(desk: AccountDesk, texts: list[str]) -> Answer:
    return Answer({"lastTransactionID": str(desk.committed_id)}, texts={"transactions": texts})


def _bound(call: Call, name: str) -> int:
    text = call.query.text(name)
    if text is None:
        raise missing(name)
    return whole_number(text, name)
