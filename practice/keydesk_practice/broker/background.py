"""Keeping the event loop responsive: a work budget for each of its iterations, and a thread for candles and books."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Literal, TypeVar

from keydesk_practice.broker.anonymizer import AnonymizedMarket, Anonymizer, MarketView
from keydesk_practice.errors import TimeOutsideRates
from keydesk_practice.market.bar_builder import CandleSpec, Range
from keydesk_practice.market.books import Book, Books
from keydesk_practice.market.candles import Candle
from keydesk_practice.market.practice_market import PracticeMarket
from keydesk_practice.market.shocks import Shock

UNITS_PER_TURN = 40  # some 2 ms

BookKind = Literal["orderBook", "positionBook"]
Item = TypeVar("Item")


class WorkBudget:
    """Limits the work of all requests together in one iteration of the event loop, so that orders and heartbeats go on.

    Work is counted in units of some 50 microseconds, such as one order encoded as JSON. A request that needs more waits
    for a later iteration, first come, first served.
    """

    def __init__(self, units_per_turn: int = UNITS_PER_TURN) -> None:
        self._units_per_turn = units_per_turn
        self._left = units_per_turn
        self._waiting: deque[tuple[int, asyncio.Future[None]]] = deque()
        self._scheduled = False

    async def spend(self, units: int = 1) -> None:
        """Return when `units` may be done; units above the budget of one iteration are taken from the next ones."""
        if self._left > 0 and not self._waiting:
            self._left -= units
            self._schedule()
            return
        permit = asyncio.get_running_loop().create_future()
        self._waiting.append((units, permit))
        self._schedule()
        await permit

    async def iterate(self, items: Iterable[Item], units: int = 1) -> AsyncIterator[Item]:
        """Yield the items of an iterator; each is made after its `units` are spent."""
        iterator = iter(items)
        while True:
            await self.spend(units)
            try:
                item = next(iterator)
            except StopIteration:
                return
            yield item

    def _schedule(self) -> None:
        if not self._scheduled:
            self._scheduled = True
            asyncio.get_running_loop().call_soon(self._next_turn)

    def _next_turn(self) -> None:
        self._scheduled = False
        self._left = min(self._left + self._units_per_turn, self._units_per_turn)
        while self._waiting and self._left > 0:
            units, permit = self._waiting.popleft()
            if not permit.done():  # its request was cancelled
                self._left -= units
                permit.set_result(None)
        if self._waiting or self._left < self._units_per_turn:
            self._schedule()


class CandleWorker:
    """Computes candles and books in one thread, one request after the other.

    The thread has a market of its own, equal to the broker's in every digit: a price is a function of seed, instrument and
    time. So the thread and the event loop share no state but the published rates, which nobody changes.
    """

    def __init__(self, make_market: Callable[[], PracticeMarket]) -> None:
        self._make_market = make_market
        self._market: PracticeMarket | None = None
        self._shocks: tuple[Shock, ...] = ()
        self._anonymizer: Anonymizer | None = None
        self._books: Books | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="candles")

    async def candles(
        self, instrument: str, cut: CandleSpec, span: Range, now: int
    ) -> list[Candle]:
        """Return the candles of a range as they are at `now`; raise `TooManyCandles` above the limit."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, self._candles, instrument, cut, span, now)

    async def book(self, kind: BookKind, instrument: str, time: int) -> Book | None:
        """Return the snapshot of a book at a time, None if there is none."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, self._book, kind, instrument, time)

    def overlay(self, shocks: Sequence[Shock], anonymizer: Anonymizer | None) -> None:
        """Show the market with these shocks and this anonymizer from the next request on."""
        self._shocks, self._anonymizer = tuple(shocks), anonymizer

    def close(self) -> None:
        """Finish the current request, cancel the waiting ones and end the thread."""
        self._thread.shutdown(cancel_futures=True)

    def _own_market(self) -> PracticeMarket:
        if self._market is None:
            self._market = self._make_market()
        if self._market.set_shocks(self._shocks):
            self._books = None
        return self._market

    def _candles(self, instrument: str, cut: CandleSpec, span: Range, now: int) -> list[Candle]:
        market: MarketView = self._own_market()
        if self._anonymizer is not None:
            market = AnonymizedMarket(self._own_market(), self._anonymizer)
        return market.candles(instrument, cut, span, now)

    def _book(self, kind: BookKind, instrument: str, time: int) -> Book | None:
        if self._anonymizer is not None:
            return None
        market = self._own_market()
        if self._books is None:
            self._books = Books(market)
        read = {"orderBook": self._books.order_book, "positionBook": self._books.position_book}
        try:
            return read[kind](instrument, time)
        except TimeOutsideRates:
            return None
