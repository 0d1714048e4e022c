"""Synchronous client for scripts and notebooks: the same calls without `await`, with the same types.

    with sync.Client(keydesk_client.Client(token=..., rest_url=..., stream_url=..., account_id=...)) as client:
        print(client.accounts.summary().account.nav)
        for trade in client.trades.iterate(state="ALL"): ...

The asynchronous client runs on an event loop in a thread of its own, which works inside a notebook, too; every call
waits for its result. `Sender` sends orders without duplicates:

    sender = sync.Sender(client, FileJournal("orders.jsonl"), lambda: newest, alarm=late.put)
    left_open = sender.recover()
    outcome = sender.create(MarketOrderRequest(instrument="EUR_USD", units=100))
"""

import time
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from keydesk_client import client as asynchronous
from keydesk_client._sync_bridge import (
    Calls,
    LoopThread,
    SyncIterator,
    SyncMethod,
    SyncResource,
    SyncStreamMethod,
    ThreadMethod,
)
from keydesk_client.auth.secret import Secret, as_secret
from keydesk_client.auth.token_store import Passphrase
from keydesk_client.http.caller import STANDARD_RETRIES, Retries
from keydesk_client.http.limiter import Limiter
from keydesk_client.http.messages import STANDARD_TIMEOUTS, Timeouts
from keydesk_client.models.instruments import Instrument
from keydesk_client.models.orders import Order
from keydesk_client.models.trades import Position, Trade
from keydesk_client.orders import sender as sending
from keydesk_client.orders.journal import Journal
from keydesk_client.orders.outcome import (
    Action,
    Outcome,
    Progress,
    SteadyTime,
    new_intent_id,
    steady_time,
)
from keydesk_client.orders.protocol import Alarm
from keydesk_client.orders.reconciler import PAUSES_S
from keydesk_client.resources import accounts, candles, orders, pricing, trades, transactions
from keydesk_client.resources import pricing as books
from keydesk_client.resources import trades as positions
from keydesk_client.resources.closing import ItemOutcome


class Accounts(SyncResource[accounts.Accounts]):
    """The accounts that the token may use."""

    list: Final = SyncMethod(accounts.Accounts.list)
    get: Final = SyncMethod(accounts.Accounts.get)
    summary: Final = SyncMethod(accounts.Accounts.summary)
    instruments: Final = SyncMethod(accounts.Accounts.instruments)
    configure: Final = SyncMethod(accounts.Accounts.configure)
    changes: Final = SyncMethod(accounts.Accounts.changes)


class Books(SyncResource[books.Books]):
    """Order and position books of the service's clients."""

    order: Final = SyncMethod(books.Books.order)
    position: Final = SyncMethod(books.Books.position)


class Candles(SyncResource[candles.Candles]):
    """The price history of instruments."""

    get: Final = SyncMethod(candles.Candles.get)
    get_for_account: Final = SyncMethod(candles.Candles.get_for_account)
    latest: Final = SyncMethod(candles.Candles.latest)
    iterate: Final = SyncIterator(candles.Candles.iterate)
    columns: Final = SyncMethod(candles.Candles.columns)


class Orders(SyncResource[orders.Orders]):
    """The orders of an account."""

    create: Final = SyncMethod(orders.Orders.create)
    list: Final = SyncMethod(orders.Orders.list)
    iterate: Final = SyncIterator(orders.Orders.iterate)
    pending: Final = SyncMethod(orders.Orders.pending)
    get: Final = SyncMethod(orders.Orders.get)
    replace: Final = SyncMethod(orders.Orders.replace)
    cancel: Final = SyncMethod(orders.Orders.cancel)
    set_client_extensions: Final = SyncMethod(orders.Orders.set_client_extensions)

    def cancel_all(
        self,
        sender: "Sender",
        *,
        instruments: Iterable[str | Instrument] | None = None,
        include_dependent: bool = False,
        account_id: str | None = None,
    ) -> tuple[ItemOutcome[Order, Outcome], ...]:
        """Cancel every pending order, or those for `instruments`; see the asynchronous method."""
        return self.calls.run(
            self.resource.cancel_all(
                sender.resource,
                instruments=instruments,
                include_dependent=include_dependent,
                account_id=account_id,
            )
        )


class Positions(SyncResource[positions.Positions]):
    """The positions of an account."""

    list: Final = SyncMethod(positions.Positions.list)
    open: Final = SyncMethod(positions.Positions.open)
    get: Final = SyncMethod(positions.Positions.get)
    close: Final = SyncMethod(positions.Positions.close)

    def close_all(
        self,
        sender: "Sender",
        *,
        instruments: Iterable[str | Instrument] | None = None,
        account_id: str | None = None,
    ) -> tuple[ItemOutcome[Position, Outcome], ...]:
        """Close every open position, or those in `instruments`; see the asynchronous method."""
        return self.calls.run(
            self.resource.close_all(
                sender.resource,
                instruments=instruments,
                account_id=account_id,
            )
        )


class Pricing(SyncResource[pricing.Pricing]):
    """Prices, current and streamed."""

    get: Final = SyncMethod(pricing.Pricing.get)
    stream: Final = SyncStreamMethod(pricing.Pricing.stream)


class Trades(SyncResource[trades.Trades]):
    """The trades of an account."""

    list: Final = SyncMethod(trades.Trades.list)
    iterate: Final = SyncIterator(trades.Trades.iterate)
    open: Final = SyncMethod(trades.Trades.open)
    get: Final = SyncMethod(trades.Trades.get)
    close: Final = SyncMethod(trades.Trades.close)
    set_client_extensions: Final = SyncMethod(trades.Trades.set_client_extensions)
    set_dependent_orders: Final = SyncMethod(trades.Trades.set_dependent_orders)

    def close_all(
        self,
        sender: "Sender",
        *,
        instruments: Iterable[str | Instrument] | None = None,
        account_id: str | None = None,
    ) -> tuple[ItemOutcome[Trade, Outcome], ...]:
        """Close every open trade, or those of `instruments`; see the asynchronous method."""
        return self.calls.run(
            self.resource.close_all(
                sender.resource,
                instruments=instruments,
                account_id=account_id,
            )
        )


class Transactions(SyncResource[transactions.Transactions]):
    """The history of an account."""

    list: Final = SyncMethod(transactions.Transactions.list)
    get: Final = SyncMethod(transactions.Transactions.get)
    since: Final = SyncMethod(transactions.Transactions.since)
    range: Final = SyncMethod(transactions.Transactions.range)
    recent: Final = SyncMethod(transactions.Transactions.recent)
    iterate: Final = SyncIterator(transactions.Transactions.iterate)
    iterate_since: Final = SyncIterator(transactions.Transactions.iterate_since)
    stream: Final = SyncStreamMethod(transactions.Transactions.stream)


class Client:
    """The resources of an asynchronous client, with synchronous methods.

    `timeout` is the longest time of each call, of each page of an iteration, and of entering a stream, in seconds: TimedOut
    is raised then. A write that was sent may still be executed; a Sender keeps it in its journal. Without it a call takes
    as long as its phases (`Timeouts`), its place in the queue and its retries.
    """

    def __init__(self, client: asynchronous.Client, *, timeout: float | None = None) -> None:
        self._open(client, LoopThread(), timeout)

    def _open(self, client: asynchronous.Client, thread: LoopThread, timeout: float | None) -> None:
        self.asynchronous: asynchronous.Client = client
        """The client that runs in the thread of `loop`."""
        self.loop: LoopThread = thread
        """The thread of the client."""
        self.calls: Calls = Calls(thread, timeout)
        """How calls are made: in that thread, with this time limit."""
        self.accounts: Accounts = Accounts(client.accounts, self.calls)
        self.books: Books = Books(client.books, self.calls)
        self.candles: Candles = Candles(client.candles, self.calls)
        self.orders: Orders = Orders(client.orders, self.calls)
        self.positions: Positions = Positions(client.positions, self.calls)
        self.pricing: Pricing = Pricing(client.pricing, self.calls)
        self.trades: Trades = Trades(client.trades, self.calls)
        self.transactions: Transactions = Transactions(client.transactions, self.calls)

    def with_timeout(self, timeout: float | None) -> Self:
        """Return a view of this client whose calls take at most `timeout` seconds, in the same thread.

        `client.with_timeout(5).orders.create(order)`; None for no limit. It is closed with this client.
        """
        view = object.__new__(type(self))
        view._open(self.asynchronous, self.loop, timeout)
        return view

    @classmethod
    def practice(
        cls,
        token: str | Secret,
        account_id: str | None = None,
        *,
        timeouts: Timeouts = STANDARD_TIMEOUTS,
        retries: Retries = STANDARD_RETRIES,
        limiter: Limiter | None = None,
        timeout: float | None = None,
    ) -> Self:
        """Return a client of the broker's practice environment; a `limiter` must not be shared."""
        token = as_secret(token)
        client = asynchronous.Client.practice(
            token, account_id, timeouts=timeouts, retries=retries, limiter=limiter
        )
        return cls(client, timeout=timeout)

    @classmethod
    def live(
        cls,
        token: str | Secret,
        account_id: str | None = None,
        *,
        timeouts: Timeouts = STANDARD_TIMEOUTS,
        retries: Retries = STANDARD_RETRIES,
        limiter: Limiter | None = None,
        timeout: float | None = None,
    ) -> Self:
        """Return a client of the live environment: real money; a `limiter` must not be shared."""
        token = as_secret(token)
        client = asynchronous.Client.live(
            token, account_id, timeouts=timeouts, retries=retries, limiter=limiter
        )
        return cls(client, timeout=timeout)

    @classmethod
    def from_profile(
        cls,
        name: str,
        *,
        passphrase: Passphrase | None = None,
        data: str | Path | None = None,
        timeouts: Timeouts = STANDARD_TIMEOUTS,
        retries: Retries = STANDARD_RETRIES,
        limiter: Limiter | None = None,
        timeout: float | None = None,
    ) -> Self:
        """Return a client of an account that `keydesk login NAME` has stored; see the asynchronous client."""
        client = asynchronous.Client.from_profile(
            name,
            passphrase=passphrase,
            data=data,
            timeouts=timeouts,
            retries=retries,
            limiter=limiter,
        )
        return cls(client, timeout=timeout)

    def instrument(self, name: str | Instrument) -> Instrument:
        """Return an instrument of the account, read once; see the asynchronous client."""
        return self.calls.run(self.asynchronous.instrument(name))

    @property
    def account_id(self) -> str | None:
        """The default account; use another client for another default."""
        return self.asynchronous.account_id

    def close(self) -> None:
        """Close every connection and end the thread; do nothing when called again."""
        if self.loop.has_ended:
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


class Sender(SyncResource[sending.Sender]):
    """The order protocol without `await`: each request is sent once, and every call waits for its outcome.

    `last_transaction_id`, `on_progress` and `alarm` are called in the thread of the client (`keydesk-client`), one at a
    time, while a call waits or, for the alarm, at any time. They should pass their arguments on, to a `queue.Queue` for
    instance; calling this client or sender would deadlock and raises InvalidRequest. Several threads may use a sender.
    An interrupt ends the waiting, not the order: `recover` then returns its outcome.
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
        give_up_after: float | None = None,
        instrument_of: Callable[[Action, str], str] | None = None,
        before_return: Callable[[Outcome], Awaitable[object]] | None = None,
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
            give_up_after=give_up_after,
            instrument_of=instrument_of,
            before_return=before_return,
        )
        super().__init__(sender, client.calls)

    create: Final = SyncMethod(sending.Sender.create)
    replace: Final = SyncMethod(sending.Sender.replace)
    cancel: Final = SyncMethod(sending.Sender.cancel)
    close_trade: Final = SyncMethod(sending.Sender.close_trade)
    close_position: Final = SyncMethod(sending.Sender.close_position)
    set_dependent_orders: Final = SyncMethod(sending.Sender.set_dependent_orders)
    recover: Final = SyncMethod(sending.Sender.recover)
    resolve: Final = SyncMethod(sending.Sender.resolve)
    unconfirmed: Final = ThreadMethod(sending.Sender.unconfirmed)
    reconcile: Final = SyncMethod(sending.Sender.reconcile)
    watch: Final = ThreadMethod(sending.Sender.watch)
