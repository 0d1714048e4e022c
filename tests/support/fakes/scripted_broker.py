"""A broker of a few lines for feed tests: it answers what the test put into it and streams what the test says.

broker = ScriptedBroker()
async with running(broker, stream_transactions, keep_account) as link: ...
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Container, Coroutine, Iterable, Sequence
from dataclasses import dataclass, field
from typing import cast

import httpx

from keydesk.feeds.account_feed import AccountFeed
from keydesk.feeds.session import Feed
from keydesk.store.store import Store
from keydesk_client.client import Client
from keydesk_client.errors import KeydeskClientError
from keydesk_client.following import feeds as following
from keydesk_client.http.retry import Retries
from keydesk_client.http.timing import Timing
from keydesk_client.models import Instrument, Transaction
from keydesk_client.resources.pricing import Pricing
from keydesk_client.resources.transactions import Transactions
from keydesk_client.streams.prices import PriceStream
from keydesk_client.streams.settings import StreamHealth
from keydesk_client.streams.transactions import TransactionStream
from support.data.account_history import account, changes, instrument, state

FOLLOWING: Container[object] = frozenset(following.FEEDS)
SECONDS = 60.0  # a busy machine starts a broker and opens its streams within them


@dataclass
class Line:
    """One stream: what is put in comes out; an error is raised, `None` ends it."""

    items: asyncio.Queue[object] = field(default_factory=asyncio.Queue)
    opened: list[tuple[str, ...]] = field(default_factory=list)
    health: StreamHealth = field(default_factory=StreamHealth)
    answers: asyncio.Event = field(default_factory=asyncio.Event)  # the broker, to who opens it

    def __post_init__(self) -> None:
        self.answers.set()

    def open(self, names: Sequence[str] = ()) -> "Opening":
        return Opening(self, tuple(names))

    def say(self, *items: object) -> None:
        for item in items:
            self.items.put_nowait(item)


@dataclass
class Opening:
    """A stream that is not entered yet; entering it waits for as long as the test likes."""

    line: Line
    names: tuple[str, ...]

    @property
    def health(self) -> StreamHealth:
        return self.line.health

    async def __aenter__(self) -> "Listening":
        self.line.opened.append(self.names)
        await self.line.answers.wait()
        self.line.health.connected = True
        return Listening(self.line.items, self.line.health)

    async def __aexit__(self, *_: object) -> None:
        """Nothing to close."""


@dataclass
class Listening:
    """The open end of a line."""

    items: asyncio.Queue[object]
    health: StreamHealth

    def __aiter__(self) -> AsyncIterator[object]:
        return self

    async def __anext__(self) -> object:
        item = await self.items.get()
        if item is None:
            raise StopAsyncIteration
        if isinstance(item, KeydeskClientError):
            raise item
        return item


@dataclass
class ScriptedBroker:
    """What it answers; change it while it runs."""

    members: dict[str, object] = field(default_factory=dict)  # of the account
    history: dict[int, Transaction] = field(default_factory=dict)
    last_id: int = 3
    changed: dict[str, object] = field(default_factory=dict)
    now: dict[str, object] = field(default_factory=dict)  # the state of a poll
    statuses: dict[str, int] = field(default_factory=dict)  # endings of paths that fail
    answers: dict[str, object] = field(default_factory=dict)  # endings of paths, bodies
    asked: list[str] = field(default_factory=list)
    changes_since: list[int] = field(
        default_factory=list
    )  # the ids after which changes were asked for
    price_line: Line = field(default_factory=Line)
    event_line: Line = field(default_factory=Line)

    def happens(self, *transactions: Transaction) -> None:
        """Transactions exist at the broker from now on."""
        for each in transactions:
            self.history[int(each.id)] = each
            self.last_id = max(self.last_id, int(each.id))

    def answer(self, request: httpx.Request) -> httpx.Response:
        path = request.url.path
        self.asked.append(path.rpartition("/")[2])
        for ending, status in self.statuses.items():
            if path.endswith(ending):
                return httpx.Response(status, json={"errorMessage": "scripted"})
        return httpx.Response(200, json=self._body(path, request.url.params))

    def _body(self, path: str, query: httpx.QueryParams) -> object:
        for ending, body in self.answers.items():
            if path.endswith(ending):
                return body
        last = {"lastTransactionID": str(self.last_id)}
        if path.endswith("/idrange"):
            wanted = range(int(query["from"]), int(query["to"]) + 1)
            found = [self.history[each].to_wire() for each in wanted if each in self.history]
            return {"transactions": found} | last
        if path.endswith("/changes"):
            return self._changes(int(query["sinceTransactionID"])) | last
        if path.endswith("/instruments"):
            names = ("EUR_USD", "USD_JPY", "EUR_GBP", "AUD_NZD")
            return {"instruments": [instrument(name).to_wire() for name in names]} | last
        whole = account(**({"lastTransactionID": str(self.last_id)} | self.members))
        return {"account": whole.to_wire()} | last

    def _changes(self, since: int) -> dict[str, object]:
        self.changes_since.append(since)
        new = [each.to_wire() for id_, each in sorted(self.history.items()) if id_ > since]
        changed = changes(**({"transactions": new} | self.changed))
        return {"changes": changed.to_wire(), "state": state(**self.now).to_wire()}


@dataclass
class Clock:
    """A clock that waiting moves: nobody waits for real."""

    seconds: float = 1000.0

    def now(self) -> float:
        return self.seconds

    async def pause(self, seconds: float) -> None:
        self.seconds += seconds
        await asyncio.sleep(0)


class ScriptedPricing(Pricing):
    """Prices whose stream is a line."""

    def __init__(self, real: Pricing, line: Line) -> None:
        super().__init__(real._caller, real._defaults)
        self._line = line

    def stream(self, instruments: Iterable[str | Instrument], **_: object) -> PriceStream:
        return cast("PriceStream", self._line.open([str(each) for each in instruments]))


class ScriptedTransactions(Transactions):
    """Transactions whose stream is a line."""

    def __init__(self, real: Transactions, line: Line) -> None:
        super().__init__(real._caller, real._defaults)
        self._line = line

    def stream(self, **_: object) -> TransactionStream:
        return cast("TransactionStream", self._line.open())


def scripted(client: Client, broker: ScriptedBroker) -> Client:
    """Return the client with the streams of a scripted broker."""
    client.pricing = ScriptedPricing(client.pricing, broker.price_line)
    client.transactions = ScriptedTransactions(client.transactions, broker.event_line)
    return client


def link_to(
    broker: ScriptedBroker, store: Store | None = None, clock: Clock | None = None
) -> AccountFeed:
    """A link whose REST calls and streams end at the scripted broker."""
    client = Client(
        token="t",
        rest_url="https://r.test",
        stream_url="https://s.test",
        account_id="101-001-1-001",
        transport=httpx.MockTransport(broker.answer),
        retries=Retries(max_retries=0),
    )
    time = clock or Clock()
    return AccountFeed(
        client=scripted(client, broker),
        store=store or Store(),
        check_every_s=0.005,
        timing=Timing(
            clock=time.now,
            wall_ns=lambda: 1_772_445_600_000_000_000,  # 2026-03-02 10:00 UTC
            sleep=time.pause,
            rng=lambda: 0.5,
        ),
    )


def start(feed: AccountFeed, worker: Feed | following.Feed) -> Coroutine[None, None, None]:
    """Start a feed of the desk, or one of the client's follower."""
    if worker in FOLLOWING:
        return cast("following.Feed", worker)(feed.follower)
    return cast("Feed", worker)(feed)


@contextlib.asynccontextmanager
async def running(feed: AccountFeed, *feeds: Feed | following.Feed) -> AsyncIterator[AccountFeed]:
    """Run feeds for the length of the block; a failing one fails the test."""
    tasks = [asyncio.create_task(start(feed, worker)) for worker in feeds]
    try:
        yield feed
    finally:
        for task in tasks:
            task.cancel()
        results = await asyncio.gather(*tasks, return_exceptions=True)
        await feed.client.close()
    for result in results:
        if isinstance(result, Exception):
            raise result


async def until(condition: Callable[[], object]) -> None:
    """Wait for a condition; a test that waits too long fails."""
    async with asyncio.timeout(SECONDS):
        while not condition():  # noqa: ASYNC110  a store calls nobody back
            await asyncio.sleep(0.001)
