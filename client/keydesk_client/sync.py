"""The client for scripts and notebooks: the same calls without `await`, typed alike, and not written twice.

    with sync.Client(keydesk_client.Client(token=..., rest_url=..., stream_url=..., account_id=...)) as client:
        print(client.accounts.summary().account.nav)
        for trade in client.trades.iterate(state="ALL"): ...

The asynchronous client runs on a loop in a thread of its own; every call here waits for its result. That works inside
a notebook too, whose own loop is running already. Orders that are never doubled are sent by a `Sender` here as well:

    sender = sync.Sender(client, FileJournal("orders.jsonl"), lambda: newest, alarm=late.put)
    left_open = sender.recover()
    outcome = sender.create(MarketOrderRequest(instrument="EUR_USD", units=100))
"""

import time
from collections.abc import Callable
from types import TracebackType
from typing import Final, Self

from keydesk_client import client as asynchronous
from keydesk_client._sync_bridge import Called, CalledThere, Iterated, Loop, Streamed, Waiting
from keydesk_client.http.pacing import SteadyTime, steady_time
from keydesk_client.orders import sender as sending
from keydesk_client.orders.journal import Journal
from keydesk_client.orders.outcome import Action, Progress, new_intent_id
from keydesk_client.orders.protocol import Alarm
from keydesk_client.orders.reconciler import PAUSES_S
from keydesk_client.resources import accounts, candles, orders, pricing, trades, transactions
from keydesk_client.resources import pricing as books
from keydesk_client.resources import trades as positions


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
        self.asynchronous: Final = client
        """What does the work, in the thread of `loop`."""
        self.loop: Final = Loop()
        self.accounts: Final = Accounts(client.accounts, self.loop)
        self.books: Final = Books(client.books, self.loop)
        self.candles: Final = Candles(client.candles, self.loop)
        self.orders: Final = Orders(client.orders, self.loop)
        self.positions: Final = Positions(client.positions, self.loop)
        self.pricing: Final = Pricing(client.pricing, self.loop)
        self.trades: Final = Trades(client.trades, self.loop)
        self.transactions: Final = Transactions(client.transactions, self.loop)

    @property
    def account_id(self) -> str | None:
        """The account of every call that names none; another default is another client."""
        return self.asynchronous.account_id

    def close(self) -> None:
        """Close every connection and end the thread; a second time changes nothing."""
        if self.loop.is_over:
            return
        self.loop.run(self.asynchronous.close())
        self.loop.close()

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
        return f"sync.{self.asynchronous!r}"


class Sender(Waiting[sending.Sender]):
    """The order protocol without `await`: each request sent once, and every call waits for its outcome.

    `last_transaction_id`, `on_progress` and `alarm` are called in the client's own thread (`keydesk-client`), one at a
    time, while a call waits or, for the alarm, at any time. Let them hand over what they hear, to a `queue.Queue` for
    instance; they can not call this client or sender (InvalidRequest says so), which would wait for itself. Calls may
    come from several threads at once. An interrupt ends the waiting, not the order: `recover` then tells what it became.
    """

    def __init__(
        self,
        client: Client,
        journal: Journal,
        last_transaction_id: Callable[[], int],
        on_progress: Callable[[Progress], object] | None = None,
        alarm: Alarm | None = None,
        *,
        client_ids: bool = True,
        new_id: Callable[[], str] = new_intent_id,
        wall_ns: Callable[[], int] = time.time_ns,
        steady: Callable[[], SteadyTime] = steady_time,
        pauses: tuple[float, ...] = PAUSES_S,
        instrument_of: Callable[[Action, str], str] | None = None,
    ) -> None:
        sender = sending.Sender(
            client.asynchronous,
            journal,
            last_transaction_id,
            on_progress,
            alarm,
            client_ids=client_ids,
            new_id=new_id,
            wall_ns=wall_ns,
            steady=steady,
            pauses=pauses,
            instrument_of=instrument_of,
        )
        super().__init__(sender, client.loop)

    create: Final = Called(sending.Sender.create)
    replace: Final = Called(sending.Sender.replace)
    cancel: Final = Called(sending.Sender.cancel)
    close_trade: Final = Called(sending.Sender.close_trade)
    close_position: Final = Called(sending.Sender.close_position)
    set_dependent_orders: Final = Called(sending.Sender.set_dependent_orders)
    recover: Final = Called(sending.Sender.recover)
    resolve: Final = Called(sending.Sender.resolve)
    unconfirmed: Final = CalledThere(sending.Sender.unconfirmed)
    reconcile: Final = Called(sending.Sender.reconcile)
    watch: Final = CalledThere(sending.Sender.watch)
