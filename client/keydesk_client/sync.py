"""Synchronous client for scripts and notebooks: the same calls without `await`, with the same types.

    with sync.Client(keydesk_client.Client(token=..., rest_url=..., stream_url=..., account_id=...)) as client:
        print(client.accounts.summary().account.nav)
        for trade in client.trades.iterate(state="ALL"): ...

The asynchronous client runs on an event loop in a thread of its own, which works inside a notebook, too; every call
waits for its result. `Sender` sends orders without duplicates:

    sender = sync.Sender(client, FileJournal("orders.jsonl"), lambda: newest, alarm=late.put)
    left_open = sender.recover()
    outcome = sender.create(MarketOrderRequest(instrument="EUR_USD", units=100))

`Client.follow` keeps the account as it is now, in the thread of the client.
"""

from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Final, Self, Unpack

import keydesk_client.client as asynchronous
from keydesk_client._sync_account import AccountEvents, AccountState, Sender
from keydesk_client._sync_bridge import (
    Calls,
    LoopThread,
    SyncIterator,
    SyncMethod,
    SyncResource,
    SyncStreamMethod,
)
from keydesk_client.auth.secret import Secret, as_secret
from keydesk_client.auth.token_store import Passphrase
from keydesk_client.following.reporter import FollowSettings
from keydesk_client.following.state import STANDARD_FOLLOWING
from keydesk_client.http.timing import REAL_TIMING, Timing
from keydesk_client.models.instruments import Instrument
from keydesk_client.models.orders import Order
from keydesk_client.models.trades import Position, Trade
from keydesk_client.orders.journal import Journal
from keydesk_client.orders.outcome import Outcome
from keydesk_client.resources import accounts, candles, orders, pricing, trades, transactions
from keydesk_client.resources import pricing as books
from keydesk_client.resources import trades as positions
from keydesk_client.resources.closing import ItemOutcome
from keydesk_client.resources.resource_client import CallOptions, ConnectionOptions

__all__ = [
    "AccountEvents",
    "AccountState",
    "Accounts",
    "Books",
    "Candles",
    "Client",
    "Orders",
    "Positions",
    "Pricing",
    "Sender",
    "Trades",
    "Transactions",
]


def __dir__() -> list[str]:
    return sorted(__all__)


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
    last: Final = SyncMethod(candles.Candles.last)
    stream: Final = SyncStreamMethod(candles.Candles.stream)


class Orders(SyncResource[orders.Orders]):
    """The orders of an account."""

    create: Final = SyncMethod(orders.Orders.create)
    market: Final = SyncMethod(orders.Orders.market)
    limit: Final = SyncMethod(orders.Orders.limit)
    stop: Final = SyncMethod(orders.Orders.stop)
    list: Final = SyncMethod(orders.Orders.list)
    iterate: Final = SyncIterator(orders.Orders.iterate)
    pending: Final = SyncMethod(orders.Orders.pending)
    get: Final = SyncMethod(orders.Orders.get)
    replace: Final = SyncMethod(orders.Orders.replace)
    cancel: Final = SyncMethod(orders.Orders.cancel)
    set_client_extensions: Final = SyncMethod(orders.Orders.set_client_extensions)

    def cancel_all(
        self,
        sender: Sender,
        *,
        instruments: Iterable[str | Instrument] | None = None,
        include_dependent: bool = False,
        account_id: str | None = None,
    ) -> tuple[ItemOutcome[Order, Outcome], ...]:
        """Cancel every pending order, or those for `instruments`; return an outcome for each.

        Orders that protect a trade (stop-loss, take-profit, trailing and guaranteed stop) stay, unless
        `include_dependent`; they name no instrument, so that `instruments` leaves them out. Each request follows the order
        protocol of `sender` (`Sender`, or `account.sender`); one that was filled meanwhile is Rejected.

        Raises:
            KeydeskClientError: the pending orders could not be read; nothing was sent.
        """
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
        sender: Sender,
        *,
        instruments: Iterable[str | Instrument] | None = None,
        account_id: str | None = None,
    ) -> tuple[ItemOutcome[Position, Outcome], ...]:
        """Close every open position, or those in `instruments`; return an outcome for each.

        Pending orders stay, and may open positions again: cancel them first with `orders.cancel_all`. Each request follows
        the order protocol of `sender` (`Sender`, or `account.sender`), so that none is sent twice and each has an outcome.

        Raises:
            KeydeskClientError: the open positions could not be read; nothing was sent.
        """
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
        sender: Sender,
        *,
        instruments: Iterable[str | Instrument] | None = None,
        account_id: str | None = None,
    ) -> tuple[ItemOutcome[Trade, Outcome], ...]:
        """Close every open trade, or those of `instruments`; return an outcome for each.

        In each instrument the oldest is closed first, one after the other, as accounts under the FIFO rule demand;
        `positions.close_all` needs fewer requests. Each request follows the order protocol of `sender` (`Sender`, or
        `account.sender`), so that none is sent twice and each has an outcome.

        Raises:
            KeydeskClientError: the open trades could not be read; nothing was sent.
        """
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
        timeout: float | None = None,
        **options: Unpack[ConnectionOptions],
    ) -> Self:
        """Return a client of the broker's practice environment; a `limiter` must not be shared."""
        token = as_secret(token)
        return cls(asynchronous.Client.practice(token, account_id, **options), timeout=timeout)

    @classmethod
    def live(
        cls,
        token: str | Secret,
        account_id: str | None = None,
        *,
        timeout: float | None = None,
        **options: Unpack[ConnectionOptions],
    ) -> Self:
        """Return a client of the live environment: real money; a `limiter` must not be shared."""
        token = as_secret(token)
        return cls(asynchronous.Client.live(token, account_id, **options), timeout=timeout)

    @classmethod
    def from_profile(
        cls,
        name: str,
        *,
        passphrase: Passphrase | None = None,
        data: str | Path | None = None,
        timeout: float | None = None,
        **options: Unpack[CallOptions],
    ) -> Self:
        """Return a client of an account that `keydesk login NAME` has stored, with the token that it stored.

        Args:
            name: of the profile.
            passphrase: returns the passphrase of the vault, as `passphrase_from_file(path)` does; asked for at the
                terminal by default, and only if the token is in the vault.
            data: the folder of `--data`; by default the user's, or `KEYDESK_HOME`.
            timeout: the longest time of each call, in seconds.
            options: `timeouts`, `retries` and `limiter` of `keydesk_client.Client`; a limiter must not be shared.

        Raises:
            InvalidSettings: there is no such profile, or its file cannot be read.
            TokenStoreError: the store is locked, the passphrase is wrong, or there is no token.
        """
        client = asynchronous.Client.from_profile(name, passphrase=passphrase, data=data, **options)
        return cls(client, timeout=timeout)

    def follow(
        self,
        journal: Journal | None = None,
        *,
        instruments: Iterable[str | Instrument] = (),
        account_id: str | None = None,
        settings: FollowSettings = STANDARD_FOLLOWING,
        timing: Timing = REAL_TIMING,
        client_ids: bool = True,
    ) -> AccountState:
        """Follow an account: `with client.follow(journal, instruments=["EUR_USD"]) as account: ...`.

        Args:
            journal: where `account.sender` writes requests before they are sent; None to send none.
            instruments: whose prices are streamed, beside those that are held.
            account_id: the account, if it is not the default of the client; each needs a journal of its own.
            settings: times, see `FollowSettings`.
            timing: clock, sleep and chance; for tests.
            client_ids: False for an account that is linked to a third-party platform (`mt4_account_id`).
        """
        state = self.asynchronous.follow(
            journal,
            instruments=instruments,
            account_id=account_id,
            settings=settings,
            timing=timing,
            client_ids=client_ids,
        )
        return AccountState(state, self.calls)

    def instrument(self, name: str | Instrument) -> Instrument:
        """Return an instrument of the account: its terms, and its arithmetic (`units_for_risk`, `pips`, `margin`).

        The first call reads all instruments of the account; later ones need no request. An Instrument is accepted
        wherever the name of one is.

        Raises:
            InvalidRequest: the account has no such instrument.
        """
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
