"""Transactions: everything that ever happened on an account."""

from __future__ import annotations  # help() shows the names of types, not all that they are made of

from collections.abc import AsyncIterator, Iterable
from typing import Final
from urllib.parse import parse_qs, urlsplit

from keydesk_client.areas.area import Area
from keydesk_client.errors import InvalidRequest, UnreadableAnswer
from keydesk_client.exchange import Request
from keydesk_client.models.enumerations import TransactionFilter
from keydesk_client.models.reading import Reader
from keydesk_client.models.responses.accounts import AccountSummaryResponse
from keydesk_client.models.responses.transactions import (
    TransactionPageIndex,
    TransactionResponse,
    TransactionsResponse,
)
from keydesk_client.models.times import Moment
from keydesk_client.models.transactions.unions import Transaction
from keydesk_client.paths import listed, numeric_id, whole
from keydesk_client.streams.settings import StreamSettings
from keydesk_client.streams.transactions import TransactionStream
from keydesk_client.timing import REAL_TIMING, Timing

INDEX = Reader(TransactionPageIndex)
ONE = Reader(TransactionResponse)
SEVERAL = Reader(TransactionsResponse)
SUMMARY = Reader(AccountSummaryResponse)

STANDARD_STREAM: Final = StreamSettings()
MOST_ON_A_PAGE: Final = 1000
MOST_RECENT: Final = 500

Types = Iterable[TransactionFilter]


class Transactions(Area):
    """Transactions of an account."""

    async def list(
        self,
        *,
        from_: Moment | None = None,
        to: Moment | None = None,
        page_size: int | None = None,
        type_: Types | None = None,
        account_id: str | None = None,
    ) -> TransactionPageIndex:
        """An index of pages, not the records; `iterate` reads them."""
        query = _types(type_)
        if from_ is not None:
            query["from"] = self._moment("from_", from_)
        if to is not None:
            query["to"] = self._moment("to", to)
        if page_size is not None:
            query["pageSize"] = whole("page_size", page_size, 1, MOST_ON_A_PAGE)
        request = Request("GET", self._account(account_id, "transactions"), query, self._headers())
        return await self._caller.ask(request, INDEX)

    async def get(
        self, transaction_id: str | int, *, account_id: str | None = None
    ) -> TransactionResponse:
        """One transaction; NotFound when there is none of that id."""
        which = numeric_id("transaction_id", transaction_id)
        where = self._account(account_id, "transactions", which)
        return await self._caller.ask(Request("GET", where, headers=self._headers()), ONE)

    async def since(
        self,
        transaction_id: str | int,
        *,
        type_: Types | None = None,
        account_id: str | None = None,
    ) -> TransactionsResponse:
        """Transactions after an id, ascending; the service may stop at 1,000, so ask again from the last one."""
        query = {"id": numeric_id("transaction_id", transaction_id)} | _types(type_)
        where = self._account(account_id, "transactions", "sinceid")
        return await self._caller.ask(Request("GET", where, query, self._headers()), SEVERAL)

    async def range(
        self,
        from_id: str | int,
        to_id: str | int,
        *,
        type_: Types | None = None,
        account_id: str | None = None,
    ) -> TransactionsResponse:
        """Transactions from one id to another, both included, ascending."""
        first, last = numeric_id("from_id", from_id), numeric_id("to_id", to_id)
        if int(first) > int(last):
            raise InvalidRequest(f"from_id: {first} is after {last}", field="from_id")
        query = {"from": first, "to": last} | _types(type_)
        where = self._account(account_id, "transactions", "idrange")
        return await self._caller.ask(Request("GET", where, query, self._headers()), SEVERAL)

    async def recent(
        self, count: int = 50, *, type_: Types | None = None, account_id: str | None = None
    ) -> TransactionsResponse:
        """The newest `count` transactions (at most 500), ascending."""
        number = int(whole("count", count, 1, MOST_RECENT))
        where = self._account(account_id, "summary")
        summary = await self._caller.ask(Request("GET", where), SUMMARY)
        last = int(summary.last_transaction_id)
        return await self.range(max(1, last - number + 1), last, type_=type_, account_id=account_id)

    async def iterate(
        self,
        *,
        from_: Moment | None = None,
        to: Moment | None = None,
        type_: Types | None = None,
        page_size: int = MOST_ON_A_PAGE,
        account_id: str | None = None,
    ) -> AsyncIterator[Transaction]:
        """Every transaction of a period, ascending, however many; without `from_`, since the account was opened.

        `type_` takes kinds as in `["ORDER_FILL"]`. For a table: `[each.row() async for each in ...]`.
        """
        types = None if type_ is None else tuple(type_)
        index = await self.list(
            from_=from_, to=to, type_=types, page_size=page_size, account_id=account_id
        )
        for page in index.pages:
            first, last = _bounds(page)
            answer = await self.range(first, last, type_=types, account_id=account_id)
            for transaction in answer.transactions:
                yield transaction

    async def iterate_since(
        self,
        transaction_id: str | int,
        *,
        type_: Types | None = None,
        account_id: str | None = None,
    ) -> AsyncIterator[Transaction]:
        """Every transaction after an id, ascending, up to the newest; Refused when the service does not know that id."""
        types = None if type_ is None else tuple(type_)
        last = int(numeric_id("transaction_id", transaction_id))
        while True:
            answer = await self.since(last, type_=types, account_id=account_id)
            fresh = [each for each in answer.transactions if int(each.id) > last]
            if not fresh:
                return
            for transaction in fresh:
                yield transaction
            last = int(fresh[-1].id)

    def stream(
        self,
        *,
        since: str | int | None = None,
        settings: StreamSettings = STANDARD_STREAM,
        timing: Timing = REAL_TIMING,
        account_id: str | None = None,
    ) -> TransactionStream:
        """Every transaction once, in order, as it happens; what a lost connection kept back is asked for.

        With `since`, those after that id come first; without it, the stream begins with what happens from now on.
        An item is a Transaction, a TransactionHeartbeat, a Reconnected, or a HistoryLost.
        """
        where = self._account(account_id, "transactions", "stream")
        request = Request("GET", where)
        return TransactionStream(
            lambda: self._caller.transport.open_stream(request),
            _History(self, account_id),
            self._caller.stream_pace,
            settings,
            timing,
            since=None if since is None else int(numeric_id("since", since)),
        )


class _History:
    """The transactions of one account, as a stream asks for them."""

    def __init__(self, area: Transactions, account_id: str | None) -> None:
        self._area, self._account_id = area, account_id

    async def since(self, transaction_id: int) -> TransactionsResponse:
        return await self._area.since(transaction_id, account_id=self._account_id)

    async def range(self, from_id: int, to_id: int) -> TransactionsResponse:
        return await self._area.range(from_id, to_id, account_id=self._account_id)


def _types(type_: Types | None) -> dict[str, str]:
    return {} if type_ is None else {"type": listed("type_", type_)}


def _bounds(page: str) -> tuple[str, str]:
    """The ids of a page's address. The address itself is not followed: the token stays with the host it is for."""
    query = parse_qs(urlsplit(page).query)
    try:
        return query["from"][0], query["to"][0]
    except KeyError:
        failure = UnreadableAnswer("a page of transactions has no bounds in its address")
    raise failure
