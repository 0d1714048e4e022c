"""Transaction streams of the real practice broker, cut repeatedly: each delivers the ledger in order and once.

Each listener is a client of its own that connects through a proxy of its own, with at most two connections a second.
With every connection and every cut the account gets transactions, so that some come before the catch-up, some during it
and some after. The catch-up goes through a bad network. Half of the listeners begin without an id: they must get
everything after the moment at which they entered the stream.
"""

import asyncio
import random
from collections import Counter
from collections.abc import Iterable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field

import pytest

from keydesk_client.client import Client
from keydesk_client.http.retry import Retries
from keydesk_client.models import (
    LimitOrderRequest,
    MarketOrderRequest,
    Transaction,
    TransactionHeartbeat,
)
from keydesk_client.streams.settings import HistoryLost, Reconnected, StreamSettings
from support.broker import PracticeServer, SharedPractice
from support.data.ledgers import ledger_of
from support.order_flow import FAR_AWAY
from support.proxies.chaos_proxy import Fate, chaos_proxy
from support.proxies.cutting_proxy import CuttingProxy, Place, cutting_proxy

HASTE = StreamSettings(first_backoff_s=0.01, max_backoff_s=0.05)
"""Pauses so short that only the pace of new connections delays a listener."""
CATCH_UP_FAULTS = (
    Fate.RESET_UNSENT,
    Fate.RESET_UNANSWERED,
    Fate.RESET_HALF,
    Fate.CLOSED_HALF,
    Fate.GARBAGE,
    Fate.DRIPPED,
)
MADE_GOOD_WITHIN_S = 30.0
"""Six heartbeats: each tells of the newest transaction."""
LogEntry = tuple[str, str, object]


def line(transaction: Transaction) -> LogEntry:
    """A line of the log."""
    return transaction.id, transaction.type, transaction.time


@dataclass
class Listener:
    """A client of the stream, and what was delivered to it."""

    desk: PracticeServer
    client: Client
    proxy: CuttingProxy
    since: int | None
    """The id to begin after; None for what happens from now on."""
    entered_at: int = 0
    """The newest transaction of the ledger when the stream was entered, read without the proxy."""
    entered: asyncio.Event = field(default_factory=asyncio.Event)
    log: list[LogEntry] = field(default_factory=list)
    heard: asyncio.Event = field(default_factory=asyncio.Event)

    async def listen(self) -> None:
        async with self.client.transactions.stream(
            since=self.since, settings=HASTE
        ) as transactions:
            if self.since is None:
                self.entered_at = await newest_of(self.desk)
            self.entered.set()
            async for item in transactions:
                assert not isinstance(item, HistoryLost)
                if not isinstance(item, TransactionHeartbeat | Reconnected):
                    self.log.append(line(item))
                    self.heard.set()

    async def has_heard(self, last: LogEntry) -> None:
        while self.log[-1:] != [last]:
            self.heard.clear()
            await self.heard.wait()

    def must_have(self, ledger: list[LogEntry]) -> list[LogEntry]:
        """What was to be delivered: all after the moment of entry, and of what was under way then, what came."""
        first = min(int(self.log[0][0]), self.entered_at + 1)
        return [each for each in ledger if int(each[0]) >= first]


async def newest_of(desk: PracticeServer) -> int:
    async with client_of(desk, desk.rest_url, desk.stream_url) as client:
        return int((await client.accounts.summary()).last_transaction_id)


class Cuts:
    """Counts the events of all listeners, and keeps their accounts busy."""

    def __init__(self, wanted: int) -> None:
        self.reached = asyncio.Event()
        self._wanted = wanted
        self._events: dict[str, asyncio.Semaphore] = {}
        self.proxies: list[CuttingProxy] = []

    def of_account(self, account_id: str) -> asyncio.Semaphore:
        return self._events.setdefault(account_id, asyncio.Semaphore(0))

    def happened(self, account_id: str) -> None:
        self.of_account(account_id).release()
        if sum(proxy.cuts.total() for proxy in self.proxies) >= self._wanted:
            self.reached.set()

    async def keep_busy(self, desk: PracticeServer, dice: random.Random) -> None:
        """Make transactions with each event, one at a time or two."""
        async with client_of(desk, desk.rest_url, desk.stream_url) as client:
            while not self.reached.is_set():
                await self.of_account(desk.account_id).acquire()
                units = dice.choice((-1, 1))
                if dice.random() < 0.3:
                    order = MarketOrderRequest(instrument="EUR_USD", units=units)
                    await client.orders.create(order)
                else:
                    limit = LimitOrderRequest(instrument="EUR_USD", units=1, price=FAR_AWAY)
                    made = await client.orders.create(limit)
                    await client.orders.cancel(made.order_create_transaction.id)


async def delivered_through_cuts(
    desks: list[PracticeServer], listeners_each: int, cuts: int
) -> list[CuttingProxy]:
    """Cut this many streams; fail when a log differs from its ledger."""
    wanted = Cuts(cuts)
    async with AsyncExitStack() as stack:
        bad = await stack.enter_async_context(
            chaos_proxy(desks[0].rest_url, seed=cuts, faulty=0.2, faults=CATCH_UP_FAULTS)
        )
        listeners = [
            await listener_of(stack, wanted, desk, bad.url, seed)
            for seed, desk in enumerate(desks * listeners_each)
        ]
        listening = [asyncio.create_task(each.listen()) for each in listeners]
        await asyncio.gather(*(each.entered.wait() for each in listeners))
        writers = (wanted.keep_busy(desk, random.Random(desk.account_id)) for desk in desks)
        await asyncio.gather(*writers)
        for proxy in wanted.proxies:
            proxy.is_cutting = False
        for desk in desks:
            ledger = [line(each) for each in await ledger_of(desk)]
            for each in listeners:
                if each.desk is desk:
                    async with asyncio.timeout(MADE_GOOD_WITHIN_S):
                        await each.has_heard(ledger[-1])
                    assert each.log == each.must_have(ledger)
        for task in listening:
            task.cancel()
        assert all(
            isinstance(each, asyncio.CancelledError)
            for each in await asyncio.gather(*listening, return_exceptions=True)
        )
    return wanted.proxies


async def listener_of(
    stack: AsyncExitStack, cuts: Cuts, desk: PracticeServer, rest_url: str, seed: int
) -> Listener:
    proxy = await stack.enter_async_context(
        cutting_proxy(desk.stream_url, seed=seed, on_event=lambda: cuts.happened(desk.account_id))
    )
    cuts.proxies.append(proxy)
    client = await stack.enter_async_context(client_of(desk, rest_url, proxy.url))
    return Listener(desk, client, proxy, since=0 if len(cuts.proxies) % 2 else None)


def client_of(desk: PracticeServer, rest_url: str, stream_url: str) -> Client:
    return Client(
        token=desk.token,
        rest_url=rest_url,
        stream_url=stream_url,
        account_id=desk.account_id,
        retries=Retries(max_retries=3, first_backoff_s=0.02, max_backoff_s=0.1),
    )


def places(proxies: Iterable[CuttingProxy]) -> Counter[Place]:
    return sum((proxy.cuts for proxy in proxies), Counter())


async def test_streams_that_are_cut_again_and_again_deliver_the_ledger_once_and_connect_twice_a_second_at_most(
    shared_practice: SharedPractice,
) -> None:
    desks = [shared_practice.open_desk() for _ in range(2)]
    proxies = await delivered_through_cuts(desks, listeners_each=5, cuts=60)
    assert len(places(proxies)) == len(Place)
    assert max(proxy.most_in_a_second for proxy in proxies) == 2


@pytest.mark.soak
async def test_ten_thousand_cuts(shared_practice: SharedPractice) -> None:
    desks = [shared_practice.open_desk() for _ in range(4)]
    proxies = await delivered_through_cuts(desks, listeners_each=10, cuts=10_000)
    busiest = [proxy.most_in_a_second for proxy in proxies]
    print(f"\n{places(proxies)}\nmost connections in a second: {Counter(busiest)}")  # noqa: T201
    assert places(proxies).total() >= 10_000
    assert max(busiest) == 2
