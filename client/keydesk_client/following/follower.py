"""What the feeds of a followed account share: its settings, the book, what is requested, and how failures are reported."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from keydesk_client.account import fold
from keydesk_client.account.synchronizer import Synchronizer
from keydesk_client.errors import (
    Answered,
    ClientClosed,
    InvalidRequest,
    RateLimited,
    Refused,
)
from keydesk_client.following.book import FollowedBook
from keydesk_client.following.events import (
    AccountEvent,
    Applied,
    Interrupted,
    Restored,
    Source,
)
from keydesk_client.http.timing import BackOff, Timing
from keydesk_client.models import Transaction
from keydesk_client.streams.buffer import (
    StreamHealth,
)

if TYPE_CHECKING:
    from keydesk_client.resources.resource_client import ResourceClient

FIRST_PAUSE_S: Final = 0.5
LONGEST_RETRY_AFTER_S: Final = 30.0
SHORTEST_PAUSE_S: Final = 0.25


@dataclass(frozen=True, slots=True)
class FollowSettings:
    """Times of following an account, in seconds."""

    check_every_s: float = 5.0
    """From one comparison with the account's changes to the next."""
    stall_s: float = 10.0
    """Without a line, heartbeats included, after which a stream is opened again; the service sends one every 5 s."""
    longest_pause_s: float = 4.0
    """The longest pause before a stream is opened again, and before the account is requested again."""
    first_prices_s: float = 10.0
    """How long entering the block waits for the prices of the named instruments."""
    catch_up_s: float = 5.0
    """How long `sender` waits, after an outcome, until the account has its transactions."""


@dataclass(slots=True)
class Follower:
    """The state shared by the feeds: the book, its synchronizer and the listener to events."""

    client: "ResourceClient"
    names: tuple[str, ...]
    settings: FollowSettings
    timing: Timing
    tell: Callable[[AccountEvent | None], object]
    """Called after each change; with None when only figures moved."""
    book: FollowedBook = field(default_factory=FollowedBook)
    snapshot_wanted: asyncio.Event = field(default_factory=asyncio.Event)
    check_wanted: asyncio.Event = field(default_factory=asyncio.Event)
    names_changed: asyncio.Event = field(default_factory=asyncio.Event)
    is_read: bool = False
    """Whether the account was read."""
    doubts: str = ""
    down: dict[Source, str] = field(default_factory=dict[Source, str])
    """The sources that do not answer, each with the reason."""
    streams: dict[Source, StreamHealth] = field(default_factory=dict[Source, StreamHealth])
    synchronizer: Synchronizer = field(init=False)

    def __post_init__(self) -> None:
        self.synchronizer = Synchronizer(self.book, self.apply, self.doubt)
        self.synchronizer.gate.listen(lambda each: self.tell(Applied(each)))

    def apply(self, transaction: Transaction) -> bool:
        """Fold one transaction into the book and value it."""
        held = self.book.positions.keys() - set(self.names)
        understood = fold.apply(self.book, transaction)
        self.book.revalue()
        if self.book.positions.keys() - set(self.names) != held:
            self.names_changed.set()
        return understood

    def doubt(self, words: str) -> None:
        """Have the account read anew."""
        self.doubts = words
        self.snapshot_wanted.set()

    def wanted(self) -> tuple[str, ...]:
        """Return the instruments whose prices are needed: the named ones and those that are held."""
        return tuple(dict.fromkeys((*self.names, *self.book.positions)))

    def interrupted(self, source: Source, error: Exception) -> None:
        """Report once that a source does not answer; raise an error that a retry cannot settle."""
        if isinstance(error, ClientClosed | InvalidRequest):
            raise error
        # An unknown name is reported with similar names, once the instruments are read.
        is_name_unchecked = source == "prices" and not self.book.instruments
        if not self.is_read and _is_final(error) and not is_name_unchecked:
            raise error
        if source not in self.down:
            self.down[source] = str(error) or type(error).__name__
            self.tell(Interrupted(source, self.down[source]))

    def restored(self, source: Source) -> None:
        """Report that a source answers again."""
        if self.down.pop(source, None) is not None:
            self.tell(Restored(source))

    async def back_off(self, failures: int, error: Exception | None = None) -> None:
        """Wait before the next attempt: full jitter under a ceiling that doubles."""
        retry_after = error.retry_after if isinstance(error, Answered) else None
        at_least = max(SHORTEST_PAUSE_S, min(retry_after or 0.0, LONGEST_RETRY_AFTER_S))
        back_off = BackOff(FIRST_PAUSE_S, self.settings.longest_pause_s)
        await self.timing.sleep(back_off.pause(failures, self.timing.chance, at_least_s=at_least))


def _is_final(error: Exception) -> bool:
    """Return whether the service itself refuses, so that trying again does not help."""
    return isinstance(error, Refused) and error.explained and not isinstance(error, RateLimited)
