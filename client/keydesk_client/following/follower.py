"""What the feeds of a followed account share: the account as a `ValuedAccount`, settings, what is requested, and how failures are reported."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Final, TypeVar

from keydesk_client.account import fold
from keydesk_client.account.records import (
    AccountFigures,
    OpenPosition,
    OpenTrade,
    Part,
    PendingOrder,
    Unread,
)
from keydesk_client.account.synchronizer import Comparison, Continuity, Synchronizer
from keydesk_client.account.valuation import measure_order, revalue_account, revalue_position
from keydesk_client.account.values import FIRST_NS, LAST_NS, MAX_VALUE, try_to
from keydesk_client.account.values import price as checked_price
from keydesk_client.arithmetic.profit import currencies
from keydesk_client.errors import (
    ClientClosed,
    InvalidRequest,
    RateLimited,
    Refused,
    message_of,
)
from keydesk_client.following.events import (
    AccountEvent,
    LatestPrice,
    PriceUpdated,
    SnapshotReloaded,
    Source,
    StreamInterrupted,
    StreamRestored,
    TransactionApplied,
)
from keydesk_client.http.backoff import STREAM_BACKOFF
from keydesk_client.http.timing import Timing
from keydesk_client.models import ClientPrice, HomeConversions, Instrument, Transaction
from keydesk_client.resources._base import unknown_instrument
from keydesk_client.streams.prices import PriceStream
from keydesk_client.streams.settings import (
    FOLLOWED_STALL_S,
    OverflowPolicy,
    StreamHealth,
    StreamSettings,
)
from keydesk_client.streams.transactions import TransactionItem, TransactionStream

if TYPE_CHECKING:
    from keydesk_client.resources.resource_client import ResourceClient


HEALTH_EVERY_S: Final = 0.5
T = TypeVar("T")


class FollowedAccount:
    """Trades, positions, orders, totals and prices of one account."""

    def __init__(self) -> None:
        self.trades: dict[str, OpenTrade] = {}
        self.positions: dict[str, OpenPosition] = {}
        self.orders: dict[str, PendingOrder] = {}
        self.unread: Unread = Unread()
        self.account: AccountFigures | None = None
        self.instruments: dict[str, Instrument] = {}
        self.quotes: dict[str, LatestPrice] = {}
        self.conversions: dict[str, HomeConversions] = {}
        self.unreadable: int = 0
        """Records of the service that could not be read and were left out."""

    def set_figures(self, figures: AccountFigures) -> None:
        """Replace the totals."""
        self.account = figures

    def changed(self, part: Part, key: str | None = None) -> None:
        """Do nothing: the caller reports a change as an event."""

    def note_unreadable(self, text: str, count: int = 1) -> None:
        """Count unreadable records."""
        del text
        self.unreadable += count

    def printable(self, text: str) -> str:
        """Return text as the service sent it; clean it before it is written to a terminal."""
        return text

    def apply_price(self, price: ClientPrice, received: float) -> LatestPrice | None:
        """Take a price and value what it concerns; return None if it is older than the one that is held.

        Raises:
            ValueError, AttributeError: the price cannot be read, or is out of range.
        """
        latest = latest_price(price, received)
        held = self.quotes.get(latest.instrument)
        if held is not None and latest.time.ns < held.time.ns:
            return None
        self.quotes[latest.instrument] = latest
        for each in price.home_conversions or ():
            self.apply_conversion(each)
        for order in self.orders.values():
            if order.instrument == latest.instrument:
                measure_order(self, order)
        if latest.instrument in self.positions:
            self.revalue(latest.instrument)
        return latest

    def apply_conversion(self, conversion: HomeConversions) -> None:
        """Take the factors of a currency; raise ValueError if one is out of range."""
        factors = (conversion.account_gain, conversion.account_loss, conversion.position_value)
        for factor in factors:
            checked_price(factor)
        self.conversions[conversion.currency] = conversion

    def revalue(self, instrument: str = "") -> None:
        """Value one position, or all, and the totals at the latest prices."""
        for each in (instrument,) if instrument else tuple(self.positions):
            if each in self.positions:
                revalue_position(self, each)
        if self.account is not None:
            revalue_account(self, self.account)


def latest_price(price: ClientPrice, received: float) -> LatestPrice:
    """Return bid and ask of a price, without liquidity those for closing out; raise ValueError if out of range."""
    bid = price.bids[0].price if price.bids else price.closeout_bid
    ask = price.asks[0].price if price.asks else price.closeout_ask
    name, time = price.instrument, price.time
    if name is None or time is None:
        raise ValueError("a price without instrument or time")
    if not (0 < bid < MAX_VALUE and 0 < ask < MAX_VALUE and FIRST_NS <= time.ns < LAST_NS):
        raise ValueError(f"{name[:20]} at {bid:.5g} and {ask:.5g} is out of range for a price")
    return LatestPrice(name, bid, ask, time, price.tradeable is not False, received)


@dataclass(frozen=True, slots=True)
class FollowSettings:
    """Times of following an account, in seconds."""

    check_every_s: float = 5.0
    """From one comparison with the account's changes to the next."""
    stall_s: float = FOLLOWED_STALL_S
    """Without a line, heartbeats included, after which a stream is opened again; the service sends one every 5 s."""
    max_backoff_s: float = STREAM_BACKOFF.max_s
    """The longest pause before a stream is opened again, and before the account is requested again."""
    first_prices_s: float = 10.0
    """How long entering the block waits for the prices of the named instruments."""
    catch_up_s: float = 5.0
    """How long `sender` waits, after an outcome, until the account has its transactions."""


@dataclass(slots=True)
class Follower:
    """An account of `client.follow()`: its book and its synchronizer, and the listener to events."""

    client: "ResourceClient"
    names: tuple[str, ...]
    settings: FollowSettings
    timing: Timing
    tell: Callable[[AccountEvent | None], object]
    """Called after each change; with None when only figures moved."""
    book: FollowedAccount = field(default_factory=FollowedAccount)
    snapshot_wanted: asyncio.Event = field(default_factory=asyncio.Event)
    check_wanted: asyncio.Event = field(default_factory=asyncio.Event)
    names_changed: asyncio.Event = field(default_factory=asyncio.Event)
    ready: asyncio.Event = field(default_factory=asyncio.Event)
    snapshot_reason: str = ""
    down: dict[Source, str] = field(default_factory=dict[Source, str])
    """The sources that do not answer, each with the reason."""
    streams: dict[Source, StreamHealth] = field(default_factory=dict[Source, StreamHealth])
    synchronizer: Synchronizer = field(init=False)

    def __post_init__(self) -> None:
        self.synchronizer = Synchronizer(self.book, self.apply, self.request_snapshot)
        self.synchronizer.gate.listen(lambda each: self.tell(TransactionApplied(each)))

    @property
    def rest(self) -> "ResourceClient":
        """The client of the feeds' requests."""
        return self.client

    @property
    def check_every_s(self) -> float:
        """Seconds from one comparison with the account's changes to the next."""
        return self.settings.check_every_s

    @property
    def max_backoff_s(self) -> float:
        """The ceiling of every pause."""
        return self.settings.max_backoff_s

    def apply(self, transaction: Transaction) -> bool:
        """Fold one transaction into the book and value it."""
        held = self.book.positions.keys() - set(self.names)
        understood = fold.apply(self.book, transaction)
        self.book.revalue()
        if self.book.positions.keys() - set(self.names) != held:
            self.names_changed.set()
        return understood

    async def ask(self, call: Awaitable[T]) -> T:
        """Return the answer of a request."""
        return await call

    def request_snapshot(self, text: str) -> None:
        """Have the account read anew."""
        self.snapshot_reason = text
        self.snapshot_wanted.set()

    def interrupted(self, source: Source, error: Exception, what: str = "") -> None:
        """Report once that a source does not answer; raise an error that a retry cannot settle."""
        del what
        if isinstance(error, ClientClosed | InvalidRequest):
            raise error
        # An unknown name is reported with similar names, once the instruments are read.
        is_name_unchecked = source == "prices" and not self.book.instruments
        if not self.ready.is_set() and _is_final(error) and not is_name_unchecked:
            raise error
        if source not in self.down:
            self.down[source] = message_of(error)
            self.tell(StreamInterrupted(source, self.down[source]))

    def restored(self, source: Source) -> None:
        """Report that a source answers again."""
        if self.down.pop(source, None) is not None:
            self.tell(StreamRestored(source))

    async def prepare(self) -> None:
        """Read the terms of all instruments; raise InvalidRequest if the account lacks a named one."""
        if self.book.instruments:
            return
        terms = await self.client.accounts.instruments()
        instruments = {each.name: each for each in terms.instruments}
        self.book.instruments = instruments
        for name in self.names:
            self.check_name(name)

    def snapshot_taken(self, continuity: Continuity) -> None:
        """Report that the account was read."""
        del continuity
        reason, self.snapshot_reason = self.snapshot_reason, ""
        self.tell(SnapshotReloaded(reason))

    async def compared(self, result: Comparison) -> None:
        """Report new figures; read the conversion factors of positions for which no price has brought them."""
        if result in {Comparison.EQUAL, Comparison.UNREAD}:
            self.tell(None)
        home = "" if self.book.account is None else self.book.account.currency
        known = self.book.conversions.keys() | {home}
        names = [each for each in self.book.positions if currencies(each)[1] not in known]
        if names:
            answer = await self.client.pricing.get(names, include_home_conversions=True)
            for conversion in answer.home_conversions or ():
                try_to(self.book, partial(self.book.apply_conversion, conversion))
            self.book.revalue()

    def check_name(self, name: str) -> None:
        """Raise InvalidRequest if the account has no such instrument."""
        if name not in self.book.instruments:
            raise unknown_instrument("instruments", name, self.book.instruments)

    def add(self, name: str) -> None:
        """Want the prices of one more instrument."""
        self.check_name(name)
        if name not in self.names:
            self.names = (*self.names, name)
            self.names_changed.set()

    def remove(self, name: str) -> None:
        """Want the prices of an instrument no longer, unless it is held."""
        self.names = tuple(each for each in self.names if each != name)
        if name not in self.wanted():
            self.book.quotes.pop(name, None)

    def wanted(self) -> tuple[str, ...]:
        """Return the instruments whose prices are needed: the named ones and those that are held."""
        return tuple(dict.fromkeys((*self.names, *self.book.positions)))

    def open_prices(self, names: tuple[str, ...]) -> PriceStream:
        """Return a stream of these instruments' prices and of the conversion factors."""
        return self.client.pricing.stream(
            names,
            include_home_conversions=True,
            settings=replace(self._stream_settings(), when_full=OverflowPolicy.KEEP_LAST),
            timing=self.timing,
        )

    def open_transactions(self) -> TransactionStream:
        """Return a stream of the account's transactions."""
        return self.client.transactions.stream(settings=self._stream_settings(), timing=self.timing)

    def _stream_settings(self) -> StreamSettings:
        return StreamSettings(
            stall_s=self.settings.stall_s, max_backoff_s=self.settings.max_backoff_s
        )

    def opening(self, source: Source, health: StreamHealth) -> None:
        """Note the health of a stream."""
        self.streams[source] = health

    async def take_prices(self, items: PriceStream) -> None:
        """Value the account at each price."""
        async for item in items:
            if isinstance(item, ClientPrice) and item.instrument in self.wanted():
                try_to(self.book, partial(self._apply_price, item, self.timing.clock()))

    def _apply_price(self, price: ClientPrice, received: float) -> None:
        taken = self.book.apply_price(price, received)
        if taken is not None:
            self.tell(PriceUpdated(taken))

    def on_item(self, item: TransactionItem) -> None:
        """Do nothing: the gate reports what was applied."""

    async def watch_streams(self) -> None:
        """Report a stream whose connection is lost or silent, and its return."""
        while True:
            now = self.timing.clock()
            for source, health in self.streams.items():
                silent = (
                    health.heard_at is not None and now - health.heard_at > self.settings.stall_s
                )
                if health.connected and not silent:
                    self.restored(source)
                elif health.heard_at is not None or health.last_error is not None:
                    self.interrupted(source, health.last_error or TimeoutError("no line came"))
            await self.timing.sleep(HEALTH_EVERY_S)


def _is_final(error: Exception) -> bool:
    """Return whether the service itself refuses, so that trying again does not help."""
    return isinstance(error, Refused) and error.explained and not isinstance(error, RateLimited)
