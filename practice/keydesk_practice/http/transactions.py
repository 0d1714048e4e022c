"""Transactions: pages by time, one, a range, everything since, and the stream.

The filters and pages of the order and trade lists: newest first, `count` at a time, a `Link` to what remains.
The `type` filter of the transaction endpoints: every transaction type, and the families that stand for several.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar
from urllib.parse import urlencode

from starlette.types import ASGIApp

from keydesk_practice.broker.account_session import AccountSession
from keydesk_practice.broker.background import WorkBudget
from keydesk_practice.engine.wire_form import rfc3339, unix
from keydesk_practice.http.endpoints import UNITS_OF_A_PORTION, Call, Query, whole_number
from keydesk_practice.http.errors import invalid_value, missing_value, not_found
from keydesk_practice.http.responses import EncodedList, Response, StreamResponse, json_bytes

DEFAULT_COUNT = 50
MOST = 500


class Listed(Protocol):
    """What a list holds: orders or trades."""

    @property
    def id(self) -> int: ...
    @property
    def instrument(self) -> str: ...


Item = TypeVar("Item", bound=Listed)


@dataclass(frozen=True, slots=True)
class Page:
    """What a list request asked for."""

    state: str
    ids: frozenset[int] | None
    instrument: str | None
    count: int
    before: int | None

    def wants(self, item: Listed) -> bool:
        """Return whether an item of the right state passes the other filters."""
        return (
            (self.before is None or item.id <= self.before)
            and (self.ids is None or item.id in self.ids)
            and (self.instrument is None or item.instrument == self.instrument)
        )


def read_page(call: Call, default_state: str, states: frozenset[str]) -> Page:
    """Return the filters of a list request, or refuse it."""
    query = call.query
    ids = query.words("ids")
    before = query.text("beforeID")
    return Page(
        state=query.choice("state", default_state, states),
        ids=None if ids is None else frozenset(whole_number(id_, "ids") for id_ in ids),
        instrument=query.text("instrument"),
        count=query.integer("count", DEFAULT_COUNT, 1, MOST),
        before=None if before is None else whole_number(before, "beforeID"),
    )


async def cut(
    budget: WorkBudget, page: Page, newest_first: Iterable[Sequence[Item]]
) -> tuple[list[Item], int | None]:
    """Return the items of a page, read portion by portion, and the highest id of the next page when more remain."""
    found: list[Item] = []
    async for portion in budget.over(newest_first):
        await budget.take(len(portion) // 2)  # it has been read; that much less may be done next
        for item in filter(page.wants, portion):
            if len(found) == page.count:
                return found, item.id
            found.append(item)
    return found, None


def link_to_next(call: Call, next_id: int | None) -> Mapping[str, str]:
    """Return the `Link` header to the rest of a list: the same filters, from the next id down."""
    if next_id is None:
        return {}
    values = {**call.query.values, "beforeID": str(next_id)}
    path = call.request.scope["path"]
    return {"Link": f'<{call.base_url}{path}?{urlencode(values)}>; rel="next"'}


_ORDER_KINDS = (
    "MARKET",
    "LIMIT",
    "STOP",
    "MARKET_IF_TOUCHED",
    "TAKE_PROFIT",
    "STOP_LOSS",
    "GUARANTEED_STOP_LOSS",
    "TRAILING_STOP_LOSS",
)
_ORDER = (
    *(f"{kind}_ORDER" for kind in _ORDER_KINDS),
    *(f"{kind}_ORDER_REJECT" for kind in _ORDER_KINDS),
    "FIXED_PRICE_ORDER",
    "ORDER_FILL",
    "ORDER_CANCEL",
    "ORDER_CANCEL_REJECT",
    "ORDER_CLIENT_EXTENSIONS_MODIFY",
    "ORDER_CLIENT_EXTENSIONS_MODIFY_REJECT",
    "TRADE_CLIENT_EXTENSIONS_MODIFY",
    "TRADE_CLIENT_EXTENSIONS_MODIFY_REJECT",
)
_FUNDING = (
    "TRANSFER_FUNDS",
    "TRANSFER_FUNDS_REJECT",
    "DAILY_FINANCING",
    "DIVIDEND_ADJUSTMENT",
    "RESET_RESETTABLE_PL",
)
_ADMIN = (
    "CREATE",
    "CLOSE",
    "REOPEN",
    "CLIENT_CONFIGURE",
    "CLIENT_CONFIGURE_REJECT",
    "MARGIN_CALL_ENTER",
    "MARGIN_CALL_EXTEND",
    "MARGIN_CALL_EXIT",
    "DELAYED_TRADE_CLOSURE",
)
_FAMILIES = {"ORDER": _ORDER, "FUNDING": _FUNDING, "ADMIN": _ADMIN}
_RETIRED = (  # accepted in filters; no service makes them any more
    "ONE_CANCELS_ALL_ORDER",
    "ONE_CANCELS_ALL_ORDER_REJECT",
    "ONE_CANCELS_ALL_ORDER_TRIGGERED",
)
_MEANING = {
    **{type_: (type_,) for type_ in (*_ORDER, *_FUNDING, *_ADMIN, *_RETIRED)},
    **_FAMILIES,
}


def asked_types(query: Query) -> list[str]:
    """Return the words of the `type` filter as they came, or refuse an unknown one."""
    words = query.words("type") or []
    if not all(word in _MEANING for word in words):
        raise invalid_value("type")
    return words


def types_of(words: list[str]) -> list[str]:
    """Return the transaction types that filter words stand for; empty means every type."""
    return sorted({type_ for word in words for type_ in _MEANING[word]})


MOST_SINCE = 1000
DEFAULT_PAGE = 100
LARGEST_PAGE = 1000
MOST_PAGES = 20_000  # in one list
MOST_IN_RANGE = 5_000


async def list_transactions(call: Call) -> Response:
    """Answer with the addresses of the pages that hold the transactions of a span of time."""
    session = await call.frozen_session()
    asked_begin, asked_end = call.query.time("from"), call.query.time("to")
    begin = session.created_at if asked_begin is None else asked_begin
    end = call.broker.now() if asked_end is None else asked_end
    if begin > end:
        raise invalid_value("to")
    size = call.query.integer("pageSize", DEFAULT_PAGE, 1, LARGEST_PAGE)
    words = asked_types(call.query)
    ids = await _ids(call, session.history.ids_between(begin, end), types_of(words))
    if len(ids) > MOST_PAGES * size:
        raise invalid_value("pageSize", f": more than {MOST_PAGES} pages, choose larger ones")
    suffix = f"&type={'%2C'.join(words)}" if words else ""
    base = f"{call.base_url}/v3/accounts/{session.account.id}/transactions/idrange"
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
        "lastTransactionID": str(session.committed_id),
    }
    return Response(body)


async def _ids(call: Call, ids: range, types: list[str]) -> Sequence[int]:
    if not types:
        return ids
    portions = call.budget.over(call.session.history.ids_of_types(ids, types), UNITS_OF_A_PORTION)
    return [id_ async for portion in portions for id_ in portion]


def get_transaction(call: Call) -> Response:
    """Answer with one transaction."""
    session = call.session
    id_ = whole_number(call.path("transactionID"), "transactionID")
    found = session.history.text(id_)
    if found is None:
        raise not_found("transaction", "NO_SUCH_TRANSACTION", str(session.committed_id))
    transaction = json.loads(found)
    return Response({"transaction": transaction, "lastTransactionID": str(session.committed_id)})


async def transactions_range(call: Call) -> Response:
    """Answer with the transactions from one id to another, both included."""
    session = await call.frozen_session()
    first, last = _bound(call, "from"), _bound(call, "to")
    if first > last:
        raise invalid_value("to")
    if first < 1 or last > session.committed_id:
        raise not_found("transaction", "NO_SUCH_TRANSACTION")
    types = types_of(asked_types(call.query))
    texts = await _texts(call, session.history.portions(first, last, types), MOST_IN_RANGE + 1)
    if len(texts) > MOST_IN_RANGE:
        raise invalid_value("to", f": a range holds {MOST_IN_RANGE} transactions at most")
    return _transactions(session, texts)


async def transactions_since(call: Call) -> Response:
    """Answer with the transactions after an id, at most a thousand, oldest first."""
    session = await call.frozen_session()
    after = _bound(call, "id")
    if not 0 <= after <= session.committed_id:
        raise not_found("transaction", "NO_SUCH_TRANSACTION")
    types = types_of(asked_types(call.query))
    portions = session.history.portions(after + 1, session.committed_id, types)
    return _transactions(session, await _texts(call, portions, MOST_SINCE))


def stream_transactions(call: Call) -> ASGIApp:
    """Answer with every transaction from now on, and a heartbeat at once and every five seconds."""
    session, broker, unix_times = call.session, call.broker, call.response_format.unix_times
    json_text = unix if unix_times else rfc3339

    def heartbeat() -> bytes:
        beat = {
            "type": "HEARTBEAT",
            "lastTransactionID": str(session.committed_id),
            "time": json_text(broker.now()),
        }
        return json_bytes(beat) + b"\n"

    subscription = session.listeners.join(unix_times)
    return StreamResponse(
        subscription, heartbeat(), heartbeat, lambda: session.listeners.leave(subscription)
    )


async def _texts(call: Call, portions: Iterable[Sequence[str]], most: int) -> EncodedList:
    """Return the first of the ledger's texts, in the form of times that the client asked for."""
    texts = EncodedList()
    async for portion in call.budget.over(portions, UNITS_OF_A_PORTION):
        for text in portion[: most - len(texts)]:
            texts.append(await call.ledger_text(text))
        if len(texts) == most:
            break
    return texts


def _transactions(session: AccountSession, texts: EncodedList) -> Response:
    return Response({"transactions": texts, "lastTransactionID": str(session.committed_id)})


def _bound(call: Call, name: str) -> int:
    text = call.query.text(name)
    if text is None:
        raise missing_value(name)
    return whole_number(text, name)
