"""`sync.Sender` and `sync.AccountState`: the order protocol and one account as it is now, from ordinary code.

The account is kept in the thread of the client. Each property is read in that thread and returned as a copy, so that an
iteration over `trades` is not disturbed by a fill that comes meanwhile.
"""

import time
from collections.abc import Awaitable, Callable, Mapping
from copy import copy
from decimal import Decimal
from types import TracebackType
from typing import Final, Self, TypeVar

from keydesk_client._sync_bridge import (
    Calls,
    SyncClient,
    SyncMethod,
    SyncResource,
    ThreadMethod,
    limited,
)
from keydesk_client.account.records import (
    AccountFigures,
    OpenPosition,
    OpenTrade,
    PendingOrder,
    Unread,
)
from keydesk_client.arithmetic.profit import Factors
from keydesk_client.following import state
from keydesk_client.following.events import AccountEvent, EventQueue, LatestPrice, Source
from keydesk_client.models import Instrument, TransactionID
from keydesk_client.models._core.scalars import AnyTransactionID
from keydesk_client.orders import sender as sending
from keydesk_client.orders.journal import Journal
from keydesk_client.orders.outcome import (
    Action,
    MonotonicTime,
    Outcome,
    Progress,
    monotonic_time,
    new_intent_id,
)
from keydesk_client.orders.protocol import Alarm
from keydesk_client.orders.reconciler import PAUSES_S


class Sender(SyncResource[sending.Sender]):
    """The order protocol without `await`: each request is sent once, and every call waits for its outcome.

    `last_transaction_id`, `on_progress` and `alarm` are called in the thread of the client (`keydesk-client`), one at a
    time, while a call waits or, for the alarm, at any time. They should pass their arguments on, to a `queue.Queue` for
    instance; calling this client or sender would deadlock and raises InvalidRequest. Several threads may use a sender.
    An interrupt ends the waiting, not the order: `recover` then returns its outcome.
    """

    def __init__(
        self,
        client: SyncClient,
        journal: Journal,
        last_transaction_id: Callable[[], AnyTransactionID],
        on_progress: Callable[[Progress], object] | None = None,
        alarm: Alarm | None = None,
        *,
        client_ids: bool = True,
        new_id: Callable[[], str] = new_intent_id,
        wall_ns: Callable[[], int] = time.time_ns,
        monotonic: Callable[[], MonotonicTime] = monotonic_time,
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
            monotonic=monotonic,
            pauses=pauses,
            give_up_after=give_up_after,
            instrument_of=instrument_of,
            before_return=before_return,
        )
        super().__init__(sender, client.calls)

    create: Final = SyncMethod(sending.Sender.create)
    market: Final = SyncMethod(sending.Sender.market)
    limit: Final = SyncMethod(sending.Sender.limit)
    stop: Final = SyncMethod(sending.Sender.stop)
    replace: Final = SyncMethod(sending.Sender.replace)
    cancel: Final = SyncMethod(sending.Sender.cancel)
    close_trade: Final = SyncMethod(sending.Sender.close_trade)
    close_position: Final = SyncMethod(sending.Sender.close_position)
    set_dependent_orders: Final = SyncMethod(sending.Sender.set_dependent_orders)
    recover: Final = SyncMethod(sending.Sender.recover)
    resolve: Final = SyncMethod(sending.Sender.resolve)
    dismiss: Final = ThreadMethod(sending.Sender.dismiss)
    unconfirmed: Final = ThreadMethod(sending.Sender.unconfirmed)
    reconcile: Final = SyncMethod(sending.Sender.reconcile)
    watch: Final = ThreadMethod(sending.Sender.watch)


def view_of(sender: sending.Sender, calls: Calls) -> Sender:
    """Return a synchronous view of an asynchronous sender."""
    view = object.__new__(Sender)
    view.resource, view.calls = sender, calls
    return view


R = TypeVar("R")


class AccountState:
    """One account as it is now: `with client.follow(journal, instruments=["EUR_USD"]) as account: ...`.

    Entering reads the account, waits for the first prices of the named instruments, and looks up the orders that an
    earlier process left open (`recovered`). Inside the block every property is current without a request. What it returns
    is a copy, which does not change: read the property again. Several properties that must belong to one moment are read
    by `figures`, or between two prices by comparing `revision`. Several threads may use one account.

    After an outcome of `sender` the account has its transactions, unless the link is down for `catch_up_s`.
    """

    def __init__(self, account: state.AccountState, calls: Calls) -> None:
        self._account, self._calls = account, calls

    def __enter__(self) -> Self:
        """Follow the account; return once it was read.

        Raises:
            Refused: the service refuses the account.
            InvalidRequest: the account lacks a named instrument.
            StreamNotOpen: this state was entered before.
            TimedOut: the account was not read within the `timeout` of the client.
        """
        self._calls.run(_enter(self._account))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the following and every iteration over its events; do nothing when called again."""
        if not self._calls.thread.has_ended:
            self._calls.thread.run(_leave(self._account))

    @property
    def recovered(self) -> tuple[Outcome, ...]:
        """The outcomes of requests that an earlier process left open."""
        return self._account.recovered

    @property
    def revision(self) -> int:
        """The number of changes so far, prices included; the same number means the same account."""
        return self._read(lambda: self._account.revision)

    @property
    def figures(self) -> AccountFigures:
        """All totals: balance, NAV, margin, realized profit, financing; home currency."""
        return self._read(lambda: copy(self._account.figures))

    @property
    def balance(self) -> Decimal:
        """The balance in home currency, exact to the newest transaction."""
        return self._read(lambda: self._account.balance)

    @property
    def nav(self) -> Decimal:
        """Balance plus unrealized profit at the latest prices, in home currency."""
        return self._read(lambda: self._account.nav)

    @property
    def margin(self) -> state.Margin:
        """Margin in use and available at the latest prices."""
        return self._read(lambda: self._account.margin)

    @property
    def trades(self) -> Mapping[str, OpenTrade]:
        """The open trades, by id."""
        return self._read(lambda: _copied(self._account.trades))

    @property
    def positions(self) -> Mapping[str, OpenPosition]:
        """The open positions, by instrument."""
        return self._read(lambda: _copied(self._account.positions))

    @property
    def orders(self) -> Mapping[str, PendingOrder]:
        """The pending orders, dependent ones included, by id."""
        return self._read(lambda: _copied(self._account.orders))

    @property
    def unread(self) -> Unread:
        """What the service answered about the account and could not be read; false when all was. A trade may be `unread` in part."""
        return self._read(lambda: self._account.unread)

    @property
    def prices(self) -> Mapping[str, LatestPrice]:
        """The latest prices of the named and the held instruments, by name; see `received` for their age."""
        return self._read(lambda: dict(self._account.prices))

    @property
    def instruments(self) -> Mapping[str, Instrument]:
        """The instruments that the account may trade, by name, as of the start."""
        return self._read(lambda: self._account.instruments)

    @property
    def newest(self) -> TransactionID:
        """Id of the newest transaction that the account holds; "0" before it was read."""
        return self._read(lambda: self._account.newest)

    @property
    def interrupted(self) -> Mapping[Source, str]:
        """The sources without an answer now, with the reason: `prices`, `transactions`, `account`. Empty when all is current."""
        return self._read(lambda: dict(self._account.interrupted))

    @property
    def sender(self) -> Sender:
        """Sends orders without duplicates; raise InvalidSettings when no journal was given."""
        return view_of(self._account.sender, self._calls)

    def add(self, *instruments: str | Instrument) -> None:
        """Follow the prices of more instruments; return when they have come, or after `first_prices_s`.

        Raises:
            InvalidRequest: the account has no such instrument.
        """
        self._calls.run(self._account.add(*instruments))

    def remove(self, *instruments: str | Instrument) -> None:
        """Follow the prices of these instruments no longer, but of those that are held."""
        self._read(lambda: self._account.remove(*instruments))

    def units(self, instrument: str | Instrument) -> Decimal:
        """Return the net units that are held: positive long, negative short, 0 for none."""
        return self._read(lambda: self._account.units(instrument))

    def conversion(self, currency: str) -> Factors:
        """Return the factors from a currency to home currency; raise MissingMember before the first price with them."""
        return self._read(lambda: self._account.conversion(currency))

    def events(self, *, prices: bool = False) -> "AccountEvents":
        """Iterate over the changes from now on: `for event in account.events(): ...`.

        An event is TransactionApplied, SnapshotReloaded, StreamInterrupted, StreamRestored, LateEffect, or, with
        `prices`, PriceUpdated. The iteration ends with the block. It raises the error that ended the following, if one
        did.
        """
        return AccountEvents(self._read(lambda: self._account.events(prices=prices)), self._calls)

    def wait_for(self, condition: Callable[[], bool], timeout_s: float | None = None) -> bool:
        """Wait until `condition()` is true, checked after every change; return False after `timeout_s` seconds.

        The condition is called in the thread of the caller, so that it may read the account.
        """
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        while True:
            seen = self.revision
            if condition():
                return True
            left = None if deadline is None else deadline - time.monotonic()
            if not self._calls.thread.run(_changed(self._account, seen, left)):
                return condition()

    def _read(self, get: Callable[[], R]) -> R:
        return self._calls.thread.run(_call(get))


class AccountEvents:
    """The events of a followed account from now on: `for event in account.events(): ...`."""

    def __init__(self, events: EventQueue, calls: Calls) -> None:
        self._events, self._calls = events, calls

    def next(self, timeout: float | None = None) -> AccountEvent:
        """Return the next event, also after an earlier call that timed out: none is lost.

        Raises:
            TimedOut: none came within `timeout` seconds.
            StopIteration: the account is not followed any more.
        """
        event = _next(self._events)
        try:
            return self._calls.thread.run(
                event if timeout is None else limited(event, timeout, sent=False)
            )
        except StopAsyncIteration:
            raise StopIteration from None

    def close(self) -> None:
        """Collect no more events; do nothing when called again."""
        if not self._calls.thread.has_ended:
            self._calls.thread.run(_call(self._events.close))

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> AccountEvent:
        return self.next()


def _copied(rows: Mapping[str, R]) -> dict[str, R]:
    return {key: copy(row) for key, row in rows.items()}


async def _enter(account: state.AccountState) -> None:
    await account.__aenter__()


async def _leave(account: state.AccountState) -> None:
    await account.__aexit__(None, None, None)


async def _call(function: Callable[[], R]) -> R:
    return function()


async def _next(events: EventQueue) -> AccountEvent:
    return await anext(events)


async def _changed(account: state.AccountState, seen: int, timeout_s: float | None) -> bool:
    """Wait until the account has changed since a revision; return False after `timeout_s` seconds."""
    return await account.wait_for(lambda: account.revision != seen, timeout_s)
