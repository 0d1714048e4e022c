"""The client for scripts and notebooks: the same calls without `await`, typed alike, and not written twice.

    with sync.Client(keydesk_client.Client(token=..., rest_url=..., stream_url=..., account_id=...)) as client:
        print(client.accounts.summary().account.nav)
        for trade in client.trades.iterate(state="ALL"): ...

The asynchronous client runs on a loop in a thread of its own; every call here waits for its result. That works inside
a notebook too, whose own loop is running already.
"""

from types import TracebackType
from typing import Final, Self

from keydesk_client import client as asynchronous
from keydesk_client.areas import (
    accounts,
    books,
    candles,
    orders,
    positions,
    pricing,
    trades,
    transactions,
)
from keydesk_client.waiting import Called, Iterated, Loop, Streamed, Waiting


class Accounts(Waiting[accounts.Accounts]):
    """The accounts that the token may use."""

    list: Final = Called(accounts.Accounts.list)
    get: Final = Called(accounts.Accounts.get)
    summary: Final = Called(accounts.Accounts.summary)
    instruments: Final = Called(accounts.Accounts.instruments)
    configure: Final = Called(accounts.Accounts.configure)
    changes: Final = Called(accounts.Accounts.changes)


class Books(Waiting[books.Books]):
    """How the service's clients are positioned."""

    order: Final = Called(books.Books.order)
    position: Final = Called(books.Books.position)


class Candles(Waiting[candles.Candles]):
    """History of an instrument."""

    get: Final = Called(candles.Candles.get)
    get_for_account: Final = Called(candles.Candles.get_for_account)
    latest: Final = Called(candles.Candles.latest)
    iterate: Final = Iterated(candles.Candles.iterate)


class Orders(Waiting[orders.Orders]):
    """Orders of an account."""

    create: Final = Called(orders.Orders.create)
    list: Final = Called(orders.Orders.list)
    iterate: Final = Iterated(orders.Orders.iterate)
    pending: Final = Called(orders.Orders.pending)
    get: Final = Called(orders.Orders.get)
    replace: Final = Called(orders.Orders.replace)
    cancel: Final = Called(orders.Orders.cancel)
    set_client_extensions: Final = Called(orders.Orders.set_client_extensions)


class Positions(Waiting[positions.Positions]):
    """Positions of an account."""

    list: Final = Called(positions.Positions.list)
    open: Final = Called(positions.Positions.open)
    get: Final = Called(positions.Positions.get)
    close: Final = Called(positions.Positions.close)


class Pricing(Waiting[pricing.Pricing]):
    """Prices, now and as they move."""

    get: Final = Called(pricing.Pricing.get)
    stream: Final = Streamed(pricing.Pricing.stream)


class Trades(Waiting[trades.Trades]):
    """Trades of an account."""

    list: Final = Called(trades.Trades.list)
    iterate: Final = Iterated(trades.Trades.iterate)
    open: Final = Called(trades.Trades.open)
    get: Final = Called(trades.Trades.get)
    close: Final = Called(trades.Trades.close)
    set_client_extensions: Final = Called(trades.Trades.set_client_extensions)
    set_dependent_orders: Final = Called(trades.Trades.set_dependent_orders)


class Transactions(Waiting[transactions.Transactions]):
    """Everything that ever happened on an account."""

    list: Final = Called(transactions.Transactions.list)
    get: Final = Called(transactions.Transactions.get)
    since: Final = Called(transactions.Transactions.since)
    range: Final = Called(transactions.Transactions.range)
    recent: Final = Called(transactions.Transactions.recent)
    iterate: Final = Iterated(transactions.Transactions.iterate)
    iterate_since: Final = Iterated(transactions.Transactions.iterate_since)
    stream: Final = Streamed(transactions.Transactions.stream)


class Client:
    """The areas of an asynchronous client, each call waiting for its result."""

    def __init__(self, client: asynchronous.Client) -> None:
        self._client, self._loop = client, Loop()
        self.accounts: Final = Accounts(client.accounts, self._loop)
        self.books: Final = Books(client.books, self._loop)
        self.candles: Final = Candles(client.candles, self._loop)
        self.orders: Final = Orders(client.orders, self._loop)
        self.positions: Final = Positions(client.positions, self._loop)
        self.pricing: Final = Pricing(client.pricing, self._loop)
        self.trades: Final = Trades(client.trades, self._loop)
        self.transactions: Final = Transactions(client.transactions, self._loop)

    def close(self) -> None:
        """Close every connection and end the thread."""
        self._loop.run(self._client.close())
        self._loop.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"sync.{self._client!r}"
