"""Transactions: everything that ever happened on an account."""

from __future__ import annotations  # help() shows the names of types, not all that they are made of

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from typing import Final
from urllib.parse import parse_qs, urlsplit

from keydesk_client.errors import InvalidRequest, UnreadableAnswer
from keydesk_client.http.endpoint import listed, numeric_id, whole
from keydesk_client.http.messages import Request
from keydesk_client.http.pacing import REAL_TIMING, Timing
from keydesk_client.models._core.decoder import Reader
from keydesk_client.models._core.json import LIST, WRITE
from keydesk_client.models._core.scalars import TimeInput
from keydesk_client.models.enumerations import TransactionFilter
from keydesk_client.models.responses import (
    AccountSummaryResponse,
    TransactionPageIndex,
    TransactionResponse,
    TransactionsResponse,
)
from keydesk_client.models.transactions.unions import Transaction
from keydesk_client.resources._base import Area
from keydesk_client.streams.buffer import StreamSettings
from keydesk_client.streams.transactions import TransactionStream, last_id_of

INDEX = Reader(TransactionPageIndex, LIST)
ONE = Reader(TransactionResponse, WRITE)
SEVERAL = Reader(TransactionsResponse, LIST)
SUMMARY = Reader(AccountSummaryResponse)

STANDARD_STREAM: Final = StreamSettings()
MOST_ON_A_PAGE: Final = 1000
MOST_RECENT: Final = 500
MOST_SINCE: Final = 1000
"""Transactions that the service looks at for one answer of `since`."""

Types = Iterable[TransactionFilter]


class Transactions(Area):
    """Transactions of an account."""

    async def list(
        self,
        *,
        from_: TimeInput | None = None,
        to: TimeInput | None = None,
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
        """The newest `count` transactions (at most 500), ascending; `type_` keeps those of them that are of a kind.

        So `recent(10, type_=["ORDER_FILL"])` has the fills among the newest ten transactions: few, or none.
        """
        number = int(whole("count", count, 1, MOST_RECENT))
        last = await self._newest(account_id)
        return await self.range(max(1, last - number + 1), last, type_=type_, account_id=account_id)

    async def iterate(
        self,
        *,
        from_: TimeInput | None = None,
        to: TimeInput | None = None,
        type_: Types | None = None,
        page_size: int = MOST_ON_A_PAGE,
        account_id: str | None = None,
    ) -> AsyncIterator[Transaction]:
        """Every transaction of a period, ascending, however many; without `to`, up to now.

        Without `from_` the service chooses the beginning: the account's opening, as documented, but the live service is
        reported to go back a week. `iterate_since(0)` has all there is.
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
        """Every transaction after an id, ascending, up to the newest; Refused when the service does not know that id.

        With `type_`, those of some kinds; a stretch of the history that has none of them is passed over.
        """
        types = None if type_ is None else tuple(type_)
        last = int(numeric_id("transaction_id", transaction_id))
        while True:
            answer = await self.since(last, type_=types, account_id=account_id)
            fresh = [each for each in answer.transactions if int(each.id) > last]
            if not fresh and (last_id_of(answer) or 0) <= last + MOST_SINCE:
                return
            for transaction in fresh:
                yield transaction
            # An empty answer is no end: the service may count its thousand before it looks at their kinds.
            last = int(fresh[-1].id) if fresh else last + MOST_SINCE

    async def _newest(self, account_id: str | None) -> int:
        """Id of the newest transaction."""
        request = Request("GET", self._account(account_id, "summary"))
        told = last_id_of(await self._caller.ask(request, SUMMARY))
        if told is None:
            raise UnreadableAnswer("the account's summary does not tell its newest transaction")
        return told

    def stream(
        self,
        *,
        since: str | int | None = None,
        settings: StreamSettings = STANDARD_STREAM,
        timing: Timing = REAL_TIMING,
        account_id: str | None = None,
    ) -> TransactionStream:
        """Every transaction once, in order, as it happens; what a lost connection kept back is asked for.

        With `since`, those after that id come first. Without it the newest id is asked for while the block is entered, as
        often as it takes, and the stream has every transaction after that: what happens inside the block is never
        missed. An error that asking again can not mend is raised by the iteration.
        An item is a Transaction, a TransactionHeartbeat, a Reconnected, or a HistoryLost.
        """
        where = self._account(account_id, "transactions", "stream")
        request = Request("GET", where)
        return TransactionStream(
            lambda: self._caller.transport.open_stream(request),
            _History(self, account_id, self._newest),
            self._caller.stream_pace,
            settings,
            timing,
            since=None if since is None else int(numeric_id("since", since)),
        )


class _History:
    """The transactions of one account, as a stream asks for them."""

    def __init__(
        self,
        area: Transactions,
        account_id: str | None,
        newest: Callable[[str | None], Awaitable[int]],
    ) -> None:
        self._area, self._account_id, self._newest = area, account_id, newest

    async def newest(self) -> int:
        return await self._newest(self._account_id)

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
