"""Transactions: the history of an account, read and streamed."""

from __future__ import annotations  # help() shows the names of types instead of their members

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Sequence
from typing import Final, TypeAlias
from urllib.parse import parse_qs, urlsplit

from keydesk_client.errors import InvalidRequest, UnreadableAnswer
from keydesk_client.http.messages import Request
from keydesk_client.http.timing import REAL_TIMING, Timing
from keydesk_client.models._core.decoder import Reader
from keydesk_client.models._core.json import LIST, WRITE
from keydesk_client.models._core.record import validate_choice
from keydesk_client.models._core.scalars import AnyTransactionID, TimeOrDate
from keydesk_client.models._core.wire_names import enum_values
from keydesk_client.models.enumerations import TransactionFilter
from keydesk_client.models.responses import (
    AccountSummaryResponse,
    TransactionPageIndex,
    TransactionResponse,
    TransactionsResponse,
)
from keydesk_client.models.transactions.unions import Transaction
from keydesk_client.resources._base import Resource, join_names, numeric_id, whole
from keydesk_client.resources._paging import Paged
from keydesk_client.streams.settings import StreamSettings
from keydesk_client.streams.transactions import TransactionStream, last_id_of

INDEX = Reader(TransactionPageIndex, LIST)
ONE = Reader(TransactionResponse, WRITE)
SEVERAL = Reader(TransactionsResponse, LIST)
SUMMARY = Reader(AccountSummaryResponse)

STANDARD_STREAM: Final = StreamSettings()
MAX_ON_A_PAGE: Final = 1000
MAX_RECENT: Final = 500
MAX_SINCE: Final = 1000
"""Transactions that the service scans for one response of `since`."""

TYPES: Final = enum_values(TransactionFilter)

Types: TypeAlias = TransactionFilter | Iterable[TransactionFilter]
"""One type of transactions, or several."""


class Transactions(Resource):
    """Transactions of an account."""

    async def list(
        self,
        *,
        from_: TimeOrDate | None = None,
        to: TimeOrDate | None = None,
        page_size: int | None = None,
        type_: Types | None = None,
        account_id: str | None = None,
    ) -> TransactionPageIndex:
        """Return an index of pages, not the records; `iterate` reads those."""
        query = _type_query(type_)
        if from_ is not None:
            query["from"] = self._moment("from_", from_)
        if to is not None:
            query["to"] = self._moment("to", to)
        if page_size is not None:
            query["pageSize"] = whole("page_size", page_size, 1, MAX_ON_A_PAGE)
        request = Request("GET", self._account(account_id, "transactions"), query, self._headers())
        return await self._caller.call(request, INDEX)

    async def get(
        self, transaction_id: AnyTransactionID, *, account_id: str | None = None
    ) -> TransactionResponse:
        """Return a transaction; raise NotFound when there is none with that id."""
        number = numeric_id("transaction_id", transaction_id)
        one_path = self._account(account_id, "transactions", number)
        return await self._caller.call(Request("GET", one_path, headers=self._headers()), ONE)

    async def since(
        self,
        transaction_id: AnyTransactionID,
        *,
        type_: Types | None = None,
        account_id: str | None = None,
    ) -> TransactionsResponse:
        """Return transactions after an id, ascending; the service may stop at 1,000: continue after the last one."""
        query = {"id": numeric_id("transaction_id", transaction_id)} | _type_query(type_)
        since_path = self._account(account_id, "transactions", "sinceid")
        request = Request("GET", since_path, query, self._headers())
        return await self._caller.call(request, SEVERAL)

    async def range(
        self,
        from_id: AnyTransactionID,
        to_id: AnyTransactionID,
        *,
        type_: Types | None = None,
        account_id: str | None = None,
    ) -> TransactionsResponse:
        """Return the transactions from one id to another, both included, ascending."""
        first, last = numeric_id("from_id", from_id), numeric_id("to_id", to_id)
        if int(first) > int(last):
            raise InvalidRequest(
                f"from_id: {first} is after to_id, {last}: swap them", field="from_id"
            )
        query = {"from": first, "to": last} | _type_query(type_)
        range_path = self._account(account_id, "transactions", "idrange")
        request = Request("GET", range_path, query, self._headers())
        return await self._caller.call(request, SEVERAL)

    async def recent(
        self, count: int = 50, *, type_: Types | None = None, account_id: str | None = None
    ) -> TransactionsResponse:
        """Return the newest `count` transactions (at most 500), ascending.

        `type_` filters those: `recent(10, type_=["ORDER_FILL"])` returns the fills among the newest ten transactions.
        """
        number = int(whole("count", count, 1, MAX_RECENT))
        last = await self._last_id(account_id)
        return await self.range(max(1, last - number + 1), last, type_=type_, account_id=account_id)

    def iterate(
        self,
        *,
        from_: TimeOrDate | None = None,
        to: TimeOrDate | None = None,
        type_: Types | None = None,
        page_size: int = MAX_ON_A_PAGE,
        account_id: str | None = None,
    ) -> Paged[Transaction]:
        """Yield every transaction of a period, ascending, over as many pages as there are; without `to`, up to now.

        Without `from_` the service chooses the beginning: documented as the opening of the account, but the live service
        is reported to go back one week only; `iterate_since(0)` yields everything. `type_` filters, as in
        `["ORDER_FILL"]`. For a table: `[each.row() async for each in ...]`.
        """
        return Paged(self._pages_of_period(from_, to, type_, page_size, account_id))

    async def _pages_of_period(
        self,
        from_: TimeOrDate | None,
        to: TimeOrDate | None,
        type_: Types | None,
        page_size: int,
        account_id: str | None,
    ) -> AsyncGenerator[Sequence[Transaction], None]:
        types = None if type_ is None else types_of(type_)
        index = await self.list(
            from_=from_, to=to, type_=types, page_size=page_size, account_id=account_id
        )
        for page in index.pages:
            first, last = _bounds(page)
            response = await self.range(first, last, type_=types, account_id=account_id)
            yield response.transactions

    def iterate_since(
        self,
        transaction_id: AnyTransactionID,
        *,
        type_: Types | None = None,
        account_id: str | None = None,
    ) -> Paged[Transaction]:
        """Yield every transaction after an id, ascending, up to the newest; `type_` filters.

        Raises:
            Refused: the service does not know that id.
            UnreadableAnswer: the service names a newest transaction that it does not have.
        """
        return Paged(self._pages_since(transaction_id, type_, account_id))

    async def _pages_since(
        self, transaction_id: AnyTransactionID, type_: Types | None, account_id: str | None
    ) -> AsyncGenerator[Sequence[Transaction], None]:
        types = None if type_ is None else types_of(type_)
        last, existing = int(numeric_id("transaction_id", transaction_id)), 0
        while True:
            response = await self.since(last, type_=types, account_id=account_id)
            later = [each for each in response.transactions if int(each.id) > last]
            newest = last_id_of(response) or 0
            if not later and newest <= last + MAX_SINCE:
                return
            if not later and newest > existing:
                await self._check_exists(newest, account_id)
                existing = newest
            yield later
            # An empty response is not the end: the service may apply its limit of 1,000 before the filter.
            last = int(later[-1].id) if later else last + MAX_SINCE
            if 0 < newest <= last and len(response.transactions) < MAX_SINCE:
                return

    async def _check_exists(self, newest: int, account_id: str | None) -> None:
        """Raise UnreadableAnswer if there is no such transaction: as many pages as a made-up id takes would never end."""
        if not (await self.range(newest, newest, account_id=account_id)).transactions:
            raise UnreadableAnswer(
                f"the account has no transaction {newest}, its lastTransactionID"
            )

    async def _last_id(self, account_id: str | None) -> int:
        """Return the id of the newest transaction."""
        request = Request("GET", self._account(account_id, "summary"))
        last = last_id_of(await self._caller.call(request, SUMMARY))
        if last is None:
            raise UnreadableAnswer("the account summary has no lastTransactionID")
        return last

    def stream(
        self,
        *,
        since: AnyTransactionID | None = None,
        settings: StreamSettings = STANDARD_STREAM,
        timing: Timing = REAL_TIMING,
        account_id: str | None = None,
    ) -> TransactionStream:
        """Stream every transaction once, in order; after a reconnect, those missed are requested first.

        With `since`, the stream begins after that id. Without it, entering the block reads the newest id, with retries,
        and the stream begins after that: transactions made inside the block are never missed. The iteration raises errors
        that a retry cannot fix. An item is a Transaction, a TransactionHeartbeat, a Reconnected or a HistoryLost.
        """
        request = Request("GET", self._account(account_id, "transactions", "stream"))
        return TransactionStream(
            lambda: self._caller.session.open_stream(request),
            _History(self, account_id, self._last_id),
            self._caller.session.rate_limiter,
            settings,
            timing,
            since=None if since is None else int(numeric_id("since", since)),
        )


class _History:
    """The transactions of one account, as a stream reads them."""

    def __init__(
        self,
        transactions: Transactions,
        account_id: str | None,
        last_id: Callable[[str | None], Awaitable[int]],
    ) -> None:
        self._transactions, self._account_id, self._last_id = transactions, account_id, last_id

    async def newest(self) -> int:
        return await self._last_id(self._account_id)

    async def since(self, transaction_id: int) -> TransactionsResponse:
        return await self._transactions.since(transaction_id, account_id=self._account_id)

    async def range(self, from_id: int, to_id: int) -> TransactionsResponse:
        return await self._transactions.range(from_id, to_id, account_id=self._account_id)


def types_of(type_: Types) -> tuple[TransactionFilter, ...]:
    """Return types of transactions, also of a single one; InvalidRequest for an unknown one."""
    given: tuple[TransactionFilter, ...] = (type_,) if isinstance(type_, str) else tuple(type_)
    for each in given:
        validate_choice("type_", each, TYPES)
    return given


def _type_query(type_: Types | None) -> dict[str, str]:
    return {} if type_ is None else {"type": join_names("type_", types_of(type_))}


def _bounds(page: str) -> tuple[str, str]:
    """Return the ids in the URL of a page; the URL is not followed: it may name a host that must not get the token."""
    query = parse_qs(urlsplit(page).query)
    try:
        return query["from"][0], query["to"][0]
    except KeyError:
        failure = UnreadableAnswer("the URL of a page of transactions has no from and to")
    raise failure
