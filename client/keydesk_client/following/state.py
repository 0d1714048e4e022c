"""`AccountState`: one account as it is now.

async with client.follow(journal=FileJournal("private/orders.jsonl"), instruments=["EUR_USD"]) as account:
print(account.nav, account.positions)
outcome = await account.sender.create(MarketOrderRequest(instrument="EUR_USD", units=1000))
async for event in account.events(): ...
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from types import MappingProxyType, TracebackType
from typing import TYPE_CHECKING, Final, Self

from keydesk_client.account.records import (
    AccountFigures,
    OpenPosition,
    OpenTrade,
    PendingOrder,
    Unread,
)
from keydesk_client.account.valuation import factors_of
from keydesk_client.arithmetic.constants import ZERO
from keydesk_client.arithmetic.profit import Factors
from keydesk_client.errors import (
    InvalidSettings,
    KeydeskClientError,
    MissingMember,
    StreamNotOpen,
)
from keydesk_client.following.events import (
    AccountEvent,
    EventQueue,
    LateEffect,
    LatestPrice,
    Source,
    TransactionApplied,
)
from keydesk_client.following.feeds import FEEDS
from keydesk_client.following.reporter import EventReporter, FollowSettings
from keydesk_client.http.timing import REAL_TIMING, Timing
from keydesk_client.models import Instrument, TransactionID
from keydesk_client.orders.journal import Journal
from keydesk_client.orders.outcome import (
    Ambiguous,
    Done,
    NotSent,
    Outcome,
    Progress,
    Rejected,
    Unconfirmed,
)
from keydesk_client.orders.sender import Sender
from keydesk_client.resources._base import name_of

if TYPE_CHECKING:
    from keydesk_client.resources.resource_client import ResourceClient

STANDARD_FOLLOWING: Final = FollowSettings()
RECONCILE_EVERY_S: Final = 10.0


@dataclass(frozen=True, slots=True)
class Margin:
    """The margin of the account; amounts in home currency."""

    used: Decimal
    """At the latest prices; that of a trade whose instrument has no price yet (it was not followed) as of its fill."""
    available: Decimal
    """NAV at mid prices less `used`."""
    closeout_percent: Decimal
    """At 1 the service closes all trades."""


class AccountState:
    """One account as it is now: a snapshot, kept current by both streams and checked against the account's changes.

    Use it as `async with client.follow(...) as account:`. Entering reads the account, waits for the first prices of the
    named instruments, and looks up the orders that an earlier process left open (`recovered`). Inside the block every
    property is current without a request; the records behind `trades`, `positions` and `orders` are changed in place.
    Between two answers of the service, profit, margin and NAV follow the prices by the service's own formulas.

    After an outcome of `sender` the account has its transactions, unless the link is down for `catch_up_s`.
    """

    def __init__(
        self,
        client: "ResourceClient",
        journal: Journal | None = None,
        *,
        instruments: Iterable[str | Instrument] = (),
        settings: FollowSettings = STANDARD_FOLLOWING,
        timing: Timing = REAL_TIMING,
        client_ids: bool = True,
    ) -> None:
        if isinstance(instruments, str):
            raise InvalidSettings(f"instruments: give a list: [{instruments!r}]")
        names = tuple(dict.fromkeys(name_of(each) for each in instruments))
        self.settings: Final = settings
        self.recovered: tuple[Outcome, ...] = ()
        """The outcomes of requests that an earlier process left open."""
        self.revision: int = 0
        """The number of changes so far, prices included; the same number means the same account."""
        self._reporter = EventReporter(client, names, settings, timing, self._tell)
        self._book, self._follower = self._reporter.book, self._reporter.follower
        self._timing = timing
        self._queues: list[EventQueue] = []
        self._waiters: set[asyncio.Event] = set()
        self._tasks: tuple[asyncio.Task[None], ...] = ()
        self._failure: Exception | None = None
        self._sender: Sender | None = None
        if journal is not None:
            self._sender = Sender(
                client,
                journal,
                lambda: self.newest,
                self._apply_progress,
                lambda outcome: self._tell(LateEffect(outcome)),
                client_ids=client_ids,
                instrument_of=self._instrument_of,
                before_return=self._catch_up,
            )

    async def __aenter__(self) -> Self:
        """Follow the account; return once it was read.

        Raises:
            Refused: the service refuses the account.
            InvalidRequest: the account lacks a named instrument.
            StreamNotOpen: this state was entered before.
        """
        if self._tasks:
            raise StreamNotOpen("the account can be followed once: call client.follow(...) again")
        self._tasks = tuple(
            asyncio.create_task(
                self._run(feed(self._follower)), name=f"keydesk-client: {feed.__name__}"
            )
            for feed in FEEDS
        )
        watching = self._run(self._reporter.watch_streams())
        self._tasks += (asyncio.create_task(watching, name="keydesk-client: watch_streams"),)
        if self._sender is not None:
            self._tasks += (asyncio.create_task(self._run(self._reconcile(self._sender))),)
        try:
            await self.wait_for(self._follower.ready.is_set)
            await self.wait_for(self._has_first_prices, self.settings.first_prices_s)
            if self._sender is not None:
                self.recovered = await self._sender.recover()
        except BaseException:
            await self._stop()
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._stop()
        self._end(StopAsyncIteration())

    @property
    def figures(self) -> AccountFigures:
        """All totals: balance, NAV, margin, realized profit, financing; home currency."""
        figures = self._book.account
        if figures is None:
            raise StreamNotOpen(
                "the account is not followed: `async with client.follow(...) as account:`"
            )
        return figures

    @property
    def balance(self) -> Decimal:
        """The balance in home currency, exact to the newest transaction."""
        return self.figures.balance

    @property
    def nav(self) -> Decimal:
        """Balance plus unrealized profit at the latest prices, in home currency."""
        return self.figures.nav

    @property
    def margin(self) -> Margin:
        """Margin in use and available, at the latest prices."""
        figures = self.figures
        return Margin(
            figures.margin_used, figures.margin_available, figures.margin_closeout_percent
        )

    @property
    def trades(self) -> Mapping[str, OpenTrade]:
        """The open trades, by id."""
        return MappingProxyType(self._book.trades)

    @property
    def positions(self) -> Mapping[str, OpenPosition]:
        """The open positions, by instrument."""
        return MappingProxyType(self._book.positions)

    @property
    def orders(self) -> Mapping[str, PendingOrder]:
        """The pending orders, dependent ones included, by id."""
        return MappingProxyType(self._book.orders)

    @property
    def unread(self) -> Unread:
        """What the service answered about the account and could not be read; false when all was. A trade may be `unread` in part."""
        return self._book.unread

    @property
    def prices(self) -> Mapping[str, LatestPrice]:
        """The latest prices of the named and the held instruments, by name; see `received` for their age."""
        return MappingProxyType(self._book.quotes)

    @property
    def instruments(self) -> Mapping[str, Instrument]:
        """The instruments that the account may trade, by name, as of the start."""
        return MappingProxyType(self._book.instruments)

    @property
    def newest(self) -> TransactionID:
        """Id of the newest transaction that the account holds; "0" before it was read."""
        return TransactionID(self._applied)

    @property
    def _applied(self) -> int:
        return self._follower.gate.applied or 0

    @property
    def interrupted(self) -> Mapping[Source, str]:
        """The sources without an answer now, with the reason: `prices`, `transactions`, `account`. Empty when all is current."""
        return MappingProxyType(self._reporter.down)

    @property
    def sender(self) -> Sender:
        """Sends orders without duplicates; raise InvalidSettings when no journal was given."""
        if self._sender is None:
            raise InvalidSettings(
                "journal: give one to send orders: client.follow(journal=FileJournal('private/orders.jsonl'))"
            )
        return self._sender

    async def add(self, *instruments: str | Instrument) -> None:
        """Follow the prices of more instruments; return when they have come, or after `first_prices_s`.

        Raises:
            InvalidRequest: the account has no such instrument.
        """
        self.figures  # noqa: B018 - raises unless the account is followed
        names = {name_of(each) for each in instruments}
        for name in names:
            self._reporter.check_name(name)
        for name in names:
            self._reporter.add(name)
        await self.wait_for(lambda: names <= self._book.quotes.keys(), self.settings.first_prices_s)

    def remove(self, *instruments: str | Instrument) -> None:
        """Follow the prices of these instruments no longer, but of those that are held."""
        for instrument in instruments:
            self._reporter.remove(name_of(instrument))

    def units(self, instrument: str | Instrument) -> Decimal:
        """Return the net units that are held: positive long, negative short, 0 for none."""
        position = self._book.positions.get(name_of(instrument))
        return ZERO if position is None else position.units

    def conversion(self, currency: str) -> Factors:
        """Return the factors from a currency to home currency; raise MissingMember before the first price with them."""
        factors = factors_of(self._book, currency)
        if factors is None:
            raise MissingMember(
                f"no conversion of {currency} has come yet: name an instrument with this quote currency in `instruments`",
                record="AccountState",
                member="conversion",
            )
        return factors

    def events(self, *, prices: bool = False) -> EventQueue:
        """Iterate over the changes from now on: `async for event in account.events(): ...`.

        An event is TransactionApplied, SnapshotReloaded, StreamInterrupted, StreamRestored, LateEffect, or, with
        `prices`, PriceUpdated. The iteration ends with the block. It raises the error that ended the following, if one
        did.
        """
        queue = EventQueue(self._queues.remove, prices=prices)
        self._queues.append(queue)
        if self._failure is not None:
            queue.end(self._failure)
        return queue

    async def wait_for(self, condition: Callable[[], bool], timeout_s: float | None = None) -> bool:
        """Wait until `condition()` is true, checked after every change; return False after `timeout_s` seconds."""
        changed = asyncio.Event()
        self._waiters.add(changed)
        try:
            async with asyncio.timeout(timeout_s):
                while not condition():
                    if self._failure is not None:
                        raise self._failure
                    changed.clear()
                    await changed.wait()
        except TimeoutError:
            return condition()
        finally:
            self._waiters.discard(changed)
        return True

    def _has_first_prices(self) -> bool:
        return self._book.quotes.keys() >= set(self._reporter.names)

    def _tell(self, event: AccountEvent | None) -> None:
        self.revision += 1
        if isinstance(event, TransactionApplied) and self._sender is not None:
            self._sender.watch(event.transaction)
        if event is not None:
            for queue in self._queues:
                queue.put(event)
        for waiter in self._waiters:
            waiter.set()

    def _apply_progress(self, progress: Progress) -> None:
        """Take the transactions of an outcome; the stream may bring them later, or never."""
        if isinstance(progress, Done | Rejected | Ambiguous):
            gate = self._follower.gate
            if not isinstance(progress, Rejected):
                gate.offer_all(progress.transactions)
            gate.saw_last(progress.last_transaction_id)

    async def _catch_up(self, outcome: Outcome) -> None:
        """Wait until the account has the transactions of an outcome."""
        if not isinstance(outcome, NotSent | Unconfirmed):
            last = max(map(int, (outcome.last_transaction_id, *outcome.related_transaction_ids)))
            with suppress(KeydeskClientError):
                await self.wait_for(lambda: self._applied >= last, self.settings.catch_up_s)

    def _instrument_of(self, _action: object, target: str) -> str:
        """Return the instrument of a trade or an order, for the journal."""
        row = self._book.trades.get(target) or self._book.orders.get(target)
        return "" if row is None else row.instrument

    async def _reconcile(self, sender: Sender) -> None:
        """Compare Unconfirmed requests with the account's changes, which hold what a snapshot skipped."""
        while True:
            await self._timing.sleep(RECONCILE_EVERY_S)
            intents = sender.unconfirmed()
            if intents and self._follower.ready.is_set():
                with suppress(KeydeskClientError):
                    since = min(each.since for each in intents)
                    look_ups = self._reporter.client.for_look_ups()
                    answer = await look_ups.accounts.changes(since)
                    await sender.reconcile(answer.changes, since)

    async def _run(self, feed: Coroutine[None, None, None]) -> None:
        try:
            await feed
        except Exception as error:  # noqa: BLE001 - the edge of a task: raised again by `wait_for` and the iterators
            self._failure = self._failure or error
            self._end(self._failure)

    def _end(self, error: Exception) -> None:
        for queue in self._queues:
            queue.end(error)
        for waiter in self._waiters:
            waiter.set()

    async def _stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._failure = self._failure or StreamNotOpen("the account is not followed any more")
