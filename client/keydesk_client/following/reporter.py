"""`EventReporter`: reports as events what a follower meets, for `client.follow()`."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Final, TypeVar

from keydesk_client.account import fold
from keydesk_client.account.synchronizer import Comparison, Continuity
from keydesk_client.account.values import try_to
from keydesk_client.arithmetic.profit import currencies
from keydesk_client.errors import (
    ClientClosed,
    InvalidRequest,
    RateLimited,
    Refused,
    message_of,
)
from keydesk_client.following.book import FollowedAccount
from keydesk_client.following.events import (
    AccountEvent,
    PriceUpdated,
    SnapshotReloaded,
    Source,
    StreamInterrupted,
    StreamRestored,
    TransactionApplied,
)
from keydesk_client.following.follower import Follower
from keydesk_client.http.backoff import STREAM_BACKOFF
from keydesk_client.http.timing import Timing
from keydesk_client.models import ClientPrice, Transaction
from keydesk_client.resources._base import unknown_instrument
from keydesk_client.streams.prices import PriceItem
from keydesk_client.streams.settings import FOLLOWED_STALL_S, StreamSettings
from keydesk_client.streams.transactions import TransactionItem

if TYPE_CHECKING:
    from keydesk_client.resources.resource_client import ResourceClient


HEALTH_EVERY_S: Final = 0.5
T = TypeVar("T")


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
class EventReporter:
    """Has the account of `client.follow()` kept current, and reports as events what its follower meets."""

    client: "ResourceClient"
    names: tuple[str, ...]
    settings: FollowSettings
    timing: Timing
    report: Callable[[AccountEvent | None], object]
    """Called after each change; with None when only figures moved."""
    book: FollowedAccount = field(default_factory=FollowedAccount)
    snapshot_reason: str = ""
    down: dict[Source, str] = field(default_factory=dict[Source, str])
    """The sources that do not answer, each with the reason."""
    follower: Follower = field(init=False)

    def __post_init__(self) -> None:
        settings = self.settings
        self.follower = Follower(
            client=self.client,
            rest=self.client,
            book=self.book,
            apply=self.apply,
            listener=self,
            timing=self.timing,
            check_every_s=settings.check_every_s,
            max_backoff_s=settings.max_backoff_s,
            stream_settings=StreamSettings(
                stall_s=settings.stall_s, max_backoff_s=settings.max_backoff_s
            ),
            home_conversions=True,
        )
        self.follower.gate.listen(lambda each: self.report(TransactionApplied(each)))

    def apply(self, transaction: Transaction) -> bool:
        """Fold one transaction into the book and value it."""
        held = self.book.positions.keys() - set(self.names)
        understood = fold.apply(self.book, transaction)
        self.book.revalue()
        if self.book.positions.keys() - set(self.names) != held:
            self.follower.names_changed.set()
        return understood

    async def request(self, call: Awaitable[T]) -> T:
        """Return the answer of a request."""
        return await call

    def snapshot_requested(self, text: str) -> None:
        """Note why the account is read anew."""
        self.snapshot_reason = text

    def interrupted(self, source: Source, error: Exception, what: str = "") -> None:
        """Report once that a source does not answer; raise an error that a retry cannot settle."""
        del what
        if isinstance(error, ClientClosed | InvalidRequest):
            raise error
        # An unknown name is reported with similar names, once the instruments are read.
        is_name_unchecked = source == "prices" and not self.book.instruments
        if not self.follower.ready.is_set() and _is_final(error) and not is_name_unchecked:
            raise error
        if source not in self.down:
            self.down[source] = message_of(error)
            self.report(StreamInterrupted(source, self.down[source]))

    def restored(self, source: Source) -> None:
        """Report that a source answers again."""
        if self.down.pop(source, None) is not None:
            self.report(StreamRestored(source))

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
        self.report(SnapshotReloaded(reason))

    async def compared(self, result: Comparison) -> None:
        """Report new figures; read the conversion factors of positions for which no price has brought them."""
        if result in {Comparison.EQUAL, Comparison.UNREAD}:
            self.report(None)
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
            self.follower.names_changed.set()

    def remove(self, name: str) -> None:
        """Want the prices of an instrument no longer, unless it is held."""
        self.names = tuple(each for each in self.names if each != name)
        if name not in self.wanted():
            self.book.quotes.pop(name, None)

    def wanted(self) -> tuple[str, ...]:
        """Return the instruments whose prices are needed: the named ones and those that are held."""
        return tuple(dict.fromkeys((*self.names, *self.book.positions)))

    def take_price(self, item: PriceItem) -> None:
        """Value the account at a price."""
        if isinstance(item, ClientPrice) and item.instrument in self.wanted():
            try_to(self.book, partial(self._apply_price, item, self.timing.clock()))

    def _apply_price(self, price: ClientPrice, received: float) -> None:
        taken = self.book.apply_price(price, received)
        if taken is not None:
            self.report(PriceUpdated(taken))

    def on_item(self, item: TransactionItem) -> None:
        """Do nothing: the gate reports what was applied."""

    async def watch_streams(self) -> None:
        """Report a stream whose connection is lost or silent, and its return."""
        while True:
            now = self.timing.clock()
            for source, health in self.follower.streams.items():
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
