"""Transactions: pages by time, one, a range, everything since, and the stream."""

import json
from collections.abc import Iterable, Sequence

from starlette.types import ASGIApp

from keydesk_practice.broker.desks import AccountDesk
from keydesk_practice.engine.datetimes import rfc3339, unix
from keydesk_practice.http.answers import Answer, EncodedList, encode
from keydesk_practice.http.endpoints import UNITS_OF_A_PORTION, Call
from keydesk_practice.http.refusals import absent, invalid, missing
from keydesk_practice.http.requests import whole_number
from keydesk_practice.http.streaming import LineStream
from keydesk_practice.http.transaction_filters import asked_types, types_of

MOST_SINCE = 1000
DEFAULT_PAGE = 100
LARGEST_PAGE = 1000
MOST_PAGES = 20_000  # in one list
MOST_IN_RANGE = 5_000


async def list_transactions(call: Call) -> Answer:
    """Answer with the addresses of the pages that hold the transactions of a span of time."""
    desk = await call.frozen_desk()
    asked_begin, asked_end = call.query.time("from"), call.query.time("to")
    begin = desk.created_at if asked_begin is None else asked_begin
    end = call.broker.now() if asked_end is None else asked_end
    if begin > end:
        raise invalid("to")
    size = call.query.integer("pageSize", DEFAULT_PAGE, 1, LARGEST_PAGE)
    words = asked_types(call.query)
    ids = await _ids(call, desk.history.ids_between(begin, end), types_of(words))
    if len(ids) > MOST_PAGES * size:
        raise invalid("pageSize", f": more than {MOST_PAGES} pages, choose larger ones")
    suffix = f"&type={'%2C'.join(words)}" if words else ""
    base = f"{call.base_url}/v3/accounts/{desk.account.id}/transactions/idrange"
    body: dict[str, object] = {
        "from": rfc3339(begin),
        "to": rfc3339(end),
        "pageSize": size,
        **({"type": words} if words else {}),
        "count": len(ids),
        "pages": await call.encoded(
            f"{base}?from={ids[first]}&to={ids[min(first + size, len(ids)) - 1]}{suffix}"
            for first in range(0, len(ids), size)
        ),
        "lastTransactionID": str(desk.committed_id),
    }
    return Answer(body)


async def _ids(call: Call, ids: range, types: list[str]) -> Sequence[int]:
    if not types:
        return ids
    portions = call.turns.over(call.desk.history.ids_of_types(ids, types), UNITS_OF_A_PORTION)
    return [id_ async for portion in portions for id_ in portion]


def get_transaction(call: Call) -> Answer:
    """Answer with one transaction."""
    desk = call.desk
    id_ = whole_number(call.path("transactionID"), "transactionID")
    found = desk.history.text(id_)
    if found is None:
        raise absent("transaction", "NO_SUCH_TRANSACTION", str(desk.committed_id))
    transaction = json.loads(found)
    return Answer({"transaction": transaction, "lastTransactionID": str(desk.committed_id)})


async def transactions_range(call: Call) -> Answer:
    """Answer with the transactions from one id to another, both included."""
    desk = await call.frozen_desk()
    first, last = _bound(call, "from"), _bound(call, "to")
    if first > last:
        raise invalid("to")
    if first < 1 or last > desk.committed_id:
        raise absent("transaction", "NO_SUCH_TRANSACTION")
    types = types_of(asked_types(call.query))
    texts = await _texts(call, desk.history.portions(first, last, types), MOST_IN_RANGE + 1)
    if len(texts) > MOST_IN_RANGE:
        raise invalid("to", f": a range holds {MOST_IN_RANGE} transactions at most")
    return _transactions(desk, texts)


async def transactions_since(call: Call) -> Answer:
    """Answer with the transactions after an id, at most a thousand, oldest first."""
    desk = await call.frozen_desk()
    after = _bound(call, "id")
    if not 0 <= after <= desk.committed_id:
        raise absent("transaction", "NO_SUCH_TRANSACTION")
    types = types_of(asked_types(call.query))
    portions = desk.history.portions(after + 1, desk.committed_id, types)
    return _transactions(desk, await _texts(call, portions, MOST_SINCE))


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


async def _texts(call: Call, portions: Iterable[Sequence[str]], most: int) -> EncodedList:
    """Return the first of the ledger's texts, in the form of times that the client asked for."""
    texts = EncodedList()
    async for portion in call.turns.over(portions, UNITS_OF_A_PORTION):
        for text in portion[: most - len(texts)]:
            texts.append(await call.ledger_text(text))
        if len(texts) == most:
            break
    return texts


def _transactions(desk: AccountDesk, texts: EncodedList) -> Answer:
    return Answer({"transactions": texts, "lastTransactionID": str(desk.committed_id)})


def _bound(call: Call, name: str) -> int:
    text = call.query.text(name)
    if text is None:
        raise missing(name)
    return whole_number(text, name)
