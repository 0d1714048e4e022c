"""`Follower`: an account that the feeds keep current (`feeds`), and the listener to what they meet."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

from keydesk_client.account.synchronizer import (
    Comparison,
    Continuity,
    Synchronizer,
    TransactionGate,
)
from keydesk_client.account.valuation import ValuedAccount
from keydesk_client.following.events import Source
from keydesk_client.http.backoff import STREAM_BACKOFF
from keydesk_client.http.timing import REAL_TIMING, Timing
from keydesk_client.models import Transaction
from keydesk_client.streams.prices import PriceItem, PriceStream
from keydesk_client.streams.settings import (
    FOLLOWED_STALL_S,
    OverflowPolicy,
    StreamHealth,
    StreamSettings,
)
from keydesk_client.streams.transactions import TransactionItem, TransactionStream

if TYPE_CHECKING:
    from keydesk_client.resources.resource_client import ResourceClient

T = TypeVar("T")
FOLLOWED_STREAM: Final = StreamSettings(stall_s=FOLLOWED_STALL_S)


class FollowListener(Protocol):
    """Takes what a follower brings, and says what it needs: `EventReporter` of `client.follow()`, or a program's own."""

    async def prepare(self) -> None:
        """Read what has to be known before the account is."""
        ...

    async def request(self, call: Awaitable[T]) -> T:
        """Return the answer of a request."""
        ...

    def wanted(self) -> tuple[str, ...]:
        """Return the instruments whose prices are needed."""
        ...

    def take_price(self, item: PriceItem) -> None:
        """Take an item of the price stream."""
        ...

    def on_item(self, item: TransactionItem) -> None:
        """Note an item of the transaction stream before it is applied."""
        ...

    def interrupted(self, source: Source, error: Exception, what: str = "") -> None:
        """Report that a source does not answer; `what` could not be read. Raise an error that a retry cannot settle."""
        ...

    def restored(self, source: Source) -> None:
        """Report that a source answers."""
        ...

    def snapshot_requested(self, text: str) -> None:
        """Report why the account is read anew."""
        ...

    def snapshot_taken(self, continuity: Continuity) -> None:
        """Report that the account was read; nothing was applied after it yet that the streams did not bring."""
        ...

    async def compared(self, result: Comparison) -> None:
        """Report the result of a comparison with the account's changes."""
        ...


@dataclass(slots=True, kw_only=True)
class Follower:
    """An account that is kept current: its synchronizer, its streams, and what is requested of its feeds."""

    client: "ResourceClient"
    """Of the streams."""
    rest: "ResourceClient"
    """Of the requests; the feeds repeat those that fail."""
    book: ValuedAccount
    apply: Callable[[Transaction], bool]
    """Applies a transaction to the book; returns whether it was understood."""
    listener: FollowListener
    timing: Timing = REAL_TIMING
    check_every_s: float = 5.0
    """From one comparison with the account's changes to the next."""
    max_backoff_s: float = STREAM_BACKOFF.max_s
    """The ceiling of the pauses before a request is repeated, or a stream that ended is opened again."""
    stream_settings: StreamSettings = FOLLOWED_STREAM
    home_conversions: bool = False
    """Whether prices come with conversion factors."""
    read_interval_s: float = 0.0
    """Seconds between the starts of two reads of prices under load; meanwhile newer prices replace older ones."""
    snapshot_wanted: asyncio.Event = field(default_factory=asyncio.Event)
    check_wanted: asyncio.Event = field(default_factory=asyncio.Event)
    names_changed: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when other instruments may be needed than the price stream has."""
    ready: asyncio.Event = field(default_factory=asyncio.Event)
    """Set while the account was read."""
    streams: dict[Source, StreamHealth] = field(default_factory=dict[Source, StreamHealth])
    """The health of each stream that is open or being opened."""
    synchronizer: Synchronizer = field(init=False)

    def __post_init__(self) -> None:
        self.synchronizer = Synchronizer(self.book, self.apply, self.request_snapshot)

    @property
    def gate(self) -> TransactionGate:
        """Takes the transactions of every source, and has listeners to those that were applied."""
        return self.synchronizer.gate

    def request_snapshot(self, text: str) -> None:
        """Have the account read anew, and report why."""
        self.listener.snapshot_requested(text)
        self.snapshot_wanted.set()

    def open_prices(self, names: tuple[str, ...]) -> PriceStream:
        """Return a stream of these instruments' prices, current ones first, to be entered."""
        stream = self.client.pricing.stream(
            names,
            include_home_conversions=self.home_conversions,
            settings=replace(self.stream_settings, when_full=OverflowPolicy.KEEP_LAST),
            timing=self.timing,
        )
        self.streams["prices"] = stream.health
        return stream

    def open_transactions(self) -> TransactionStream:
        """Return a stream of every transaction from now on, to be entered."""
        stream = self.client.transactions.stream(settings=self.stream_settings, timing=self.timing)
        self.streams["transactions"] = stream.health
        return stream
