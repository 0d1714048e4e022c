"""The client for scripts and notebooks: the same calls without `await`, typed alike, and not written twice.

    with sync.Client(keydesk_client.Client(token=..., rest_url=..., stream_url=..., account_id=...)) as client:
        print(client.accounts.summary().account.nav)
        for trade in client.trades.iterate(state="ALL"): ...

The asynchronous client runs on a loop in a thread of its own; every call here waits for its result. That works inside
a notebook too, whose own loop is running already.
"""

from types import TracebackType
from typing import Self

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

    list = Called(accounts.Accounts.list)
    get = Called(accounts.Accounts.get)
    summary = Called(accounts.Accounts.summary)
    instruments = Called(accounts.Accounts.instruments)
    configure = Called(accounts.Accounts.configure)
    changes = Called(accounts.Accounts.changes)


class Books(Waiting[books.Books]):
    """How the service's clients are positioned."""

    order = Called(books.Books.order)
    position = Called(books.Books.position)


class Candles(Waiting[candles.Candles]):
    """History of an instrument."""

    get = Called(candles.Candles.get)
    get_for_account = Called(candles.Candles.get_for_account)
    latest = Called(candles.Candles.latest)
    iterate = Iterated(candles.Candles.iterate)


class Orders(Waiting[orders.Orders]):
    """Orders of an account."""

    create = Called(orders.Orders.create)
    list = Called(orders.Orders.list)
    iterate = Iterated(orders.Orders.iterate)
    pending = Called(orders.Orders.pending)
    get = Called(orders.Orders.get)
    replace = Called(orders.Orders.replace)
    cancel = Called(orders.Orders.cancel)
    set_client_extensions = Called(orders.Orders.set_client_extensions)


class Positions(Waiting[positions.Positions]):
    """Positions of an account."""

    list = Called(positions.Positions.list)
    open = Called(positions.Positions.open)
    get = Called(positions.Positions.get)
    close = Called(positions.Positions.close)


class Pricing(Waiting[pricing.Pricing]):
    """Prices, now and as they move."""

    get = Called(pricing.Pricing.get)
    stream = Streamed(pricing.Pricing.stream)


class Trades(Waiting[trades.Trades]):
    """Trades of an account."""

    list = Called(trades.Trades.list)
    iterate = Iterated(trades.Trades.iterate)
    open = Called(trades.Trades.open)
    get = Called(trades.Trades.get)
    close = Called(trades.Trades.close)
    set_client_extensions = Called(trades.Trades.set_client_extensions)
    set_dependent_orders = Called(trades.Trades.set_dependent_orders)


class Transactions(Waiting[transactions.Transactions]):
    """Everything that ever happened on an account."""

    list = Called(transactions.Transactions.list)
    get = Called(transactions.Transactions.get)
    since = Called(transactions.Transactions.since)
    range = Called(transactions.Transactions.range)
    recent = Called(transactions.Transactions.recent)
    iterate = Iterated(transactions.Transactions.iterate)
    iterate_since = Iterated(transactions.Transactions.iterate_since)
    stream = Streamed(transactions.Transactions.stream)


class Client:
    """The areas of an asynchronous client, each call waiting for its result."""

    def __init__(self, client: asynchronous.Client) -> None:
        self._client, self._loop = client, Loop()
        self.accounts = Accounts(client.accounts, self._loop)
        self.books = Books(client.books, self._loop)
        self.candles = Candles(client.candles, self._loop)
        self.orders = Orders(client.orders, self._loop)
        self.positions = Positions(client.positions, self._loop)
        self.pricing = Pricing(client.pricing, self._loop)
        self.trades = Trades(client.trades, self._loop)
        self.transactions = Transactions(client.transactions, self._loop)

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
