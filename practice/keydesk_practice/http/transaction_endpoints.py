"""Transactions: list by time, one, a range, since an id, and the stream; the pages of the order and trade lists."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol, TypeVar
from urllib.parse import urlencode

from msgspec import Struct
from starlette.types import ASGIApp

from keydesk_practice.broker.account_session import AccountSession
from keydesk_practice.broker.background import WorkBudget
from keydesk_practice.engine.wire_form import rfc3339, unix
from keydesk_practice.http.endpoints import UNITS_PER_PORTION, Call
from keydesk_practice.http.error_responses import invalid_value, missing_value, not_found
from keydesk_practice.http.requests import Query, read_id
from keydesk_practice.http.responses import EncodedList, Response, json_bytes
from keydesk_practice.http.streaming import StreamResponse

DEFAULT_COUNT = 50
MAX_COUNT = 500
MAX_SINCE = 1000
DEFAULT_PAGE = 100
MAX_PAGE = 1000
MAX_PAGES = 20_000  # in one list
MAX_IN_RANGE = 5_000
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
_RETIRED = (  # accepted in filters, never sent
    "ONE_CANCELS_ALL_ORDER",
    "ONE_CANCELS_ALL_ORDER_REJECT",
    "ONE_CANCELS_ALL_ORDER_TRIGGERED",
)
_TYPES_OF_WORD = {
    **{type_: (type_,) for type_ in (*_ORDER, *_FUNDING, *_ADMIN, *_RETIRED)},
    **_FAMILIES,
}


class ListItem(Protocol):
    """An item of a list: an order or a trade."""

    @property
    def id(self) -> int: ...
    @property
    def instrument(self) -> str: ...


Item = TypeVar("Item", bound=ListItem)


class Page(Struct, frozen=True):
    """The filters of a list request; the list is newest first, `count` items a page."""

    state: str
    ids: frozenset[int] | None
    instrument: str | None
    count: int
    before: int | None

    def matches(self, item: ListItem) -> bool:
        """Return whether an item of the right state passes the other filters."""
        return (
            (self.before is None or item.id <= self.before)
            and (self.ids is None or item.id in self.ids)
            and (self.instrument is None or item.instrument == self.instrument)
        )


def read_page(call: Call, default_state: str, states: frozenset[str]) -> Page:
    """Return the filters of a list request; raise a 400 `HttpError` for an invalid one."""
    query = call.query
    ids, instrument = query.words("ids"), query.text("instrument")
    if instrument is not None and call.broker.board.specification(instrument) is None:
        raise invalid_value("instrument")
    return Page(
        state=query.choice("state", default_state, states),
        ids=None if ids is None else frozenset(read_id(id_, "ids") for id_ in ids),
        instrument=instrument,
        count=query.integer("count", DEFAULT_COUNT, 1, MAX_COUNT),
        before=query.id("beforeID"),
    )


async def take_page(
    budget: WorkBudget, page: Page, newest_first: Iterable[Sequence[Item]]
) -> tuple[list[Item], int | None]:
    """Return the items of a page, and the highest id of the next page, None on the last page."""
    items: list[Item] = []
    async for portion in budget.iterate(newest_first):
        await budget.spend(len(portion) // 2)  # already read, so spent afterwards
        for item in filter(page.matches, portion):
            if len(items) == page.count:
                return items, item.id
            items.append(item)
    return items, None


def link_to_next(call: Call, next_id: int | None) -> Mapping[str, str]:
    """Return the `Link` header to the next page: the same filters, from `next_id` down."""
    if next_id is None:
        return {}
    values = {**call.query.values, "beforeID": str(next_id)}
    path = call.scope["path"]
    return {"Link": f'<{call.base_url}{path}?{urlencode(values)}>; rel="next"'}


def read_type_text(query: Query) -> list[str]:
    """Return the words of the `type` filter as sent; raise a 400 `HttpError` for an unknown one."""
    words = query.words("type") or []
    if not all(word in _TYPES_OF_WORD for word in words):
        raise invalid_value("type")
    return words


def types_of(words: list[str]) -> list[str]:
    """Return the transaction types that filter words select; an empty list selects every type."""
    return sorted({type_ for word in words for type_ in _TYPES_OF_WORD[word]})


async def list_transactions(call: Call) -> Response:
    """Return the URLs of the pages with the transactions of a time range."""
    session = call.frozen_session()
    from_, to = call.query.time("from"), call.query.time("to")
    begin = session.state.created_time if from_ is None else from_
    end = call.broker.now() if to is None else to
    if begin > end:
        raise invalid_value("to")
    size = call.query.integer("pageSize", DEFAULT_PAGE, 1, MAX_PAGE)
    words = read_type_text(call.query)
    ids = await _ids(call, session.history.ids_between(begin, end), types_of(words))
    if len(ids) > MAX_PAGES * size:
        raise invalid_value("pageSize", f": more than {MAX_PAGES} pages, use a larger pageSize")
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
    portions = call.budget.iterate(call.session.history.ids_of_types(ids, types), UNITS_PER_PORTION)
    return [id_ async for portion in portions for id_ in portion]


def get_transaction(call: Call) -> Response:
    """Return one transaction."""
    session = call.session
    id_ = read_id(call.path("transactionID"), "transactionID")
    text = session.history.text(id_) if id_ <= session.committed_id else None
    if text is None:
        raise not_found("transaction", "NO_SUCH_TRANSACTION", str(session.committed_id))
    transaction = json.loads(text)
    return Response({"transaction": transaction, "lastTransactionID": str(session.committed_id)})


async def transactions_range(call: Call) -> Response:
    """Return the transactions from one id to another, both included."""
    session = call.frozen_session()
    first, last = _read_id(call, "from"), _read_id(call, "to")
    if first > last:
        raise invalid_value("to")
    if first < 1 or last > session.committed_id:
        raise not_found("transaction", "NO_SUCH_TRANSACTION")
    types = types_of(read_type_text(call.query))
    texts = await _texts(call, session.history.portions(first, last, types), MAX_IN_RANGE + 1)
    if len(texts) > MAX_IN_RANGE:
        raise invalid_value("to", f": a range holds {MAX_IN_RANGE} transactions at most")
    return _transactions(session, texts)


async def transactions_since(call: Call) -> Response:
    """Return the transactions after an id, oldest first, at most `MAX_SINCE`."""
    session = call.frozen_session()
    after = _read_id(call, "id")
    if after > session.committed_id:
        raise not_found("transaction", "NO_SUCH_TRANSACTION")
    types = types_of(read_type_text(call.query))
    portions = session.history.portions(after + 1, session.committed_id, types)
    return _transactions(session, await _texts(call, portions, MAX_SINCE))


def stream_transactions(call: Call) -> ASGIApp:
    """Stream every transaction from now on, with a heartbeat at once and every five seconds."""
    session, broker, unix_times = call.session, call.broker, call.response_format.unix_times
    format_time = unix if unix_times else rfc3339

    def heartbeat() -> bytes:
        beat = {
            "type": "HEARTBEAT",
            "lastTransactionID": str(session.committed_id),
            "time": format_time(broker.now()),
        }
        return json_bytes(beat) + b"\n"

    subscription = session.transactions.join(unix_times)
    return StreamResponse(
        subscription, heartbeat(), heartbeat, lambda: session.transactions.leave(subscription)
    )


async def _texts(call: Call, portions: Iterable[Sequence[str]], max_count: int) -> EncodedList:
    """Return the first `max_count` of the ledger's texts, in the client's date format."""
    texts = EncodedList()
    async for portion in call.budget.iterate(portions, UNITS_PER_PORTION):
        for text in portion[: max_count - len(texts)]:
            texts.append(await call.ledger_text(text))
        if len(texts) == max_count:
            break
    return texts


def _transactions(session: AccountSession, texts: EncodedList) -> Response:
    return Response({"transactions": texts, "lastTransactionID": str(session.committed_id)})


def _read_id(call: Call, name: str) -> int:
    id_ = call.query.id(name)
    if id_ is None:
        raise missing_value(name)
    return id_
