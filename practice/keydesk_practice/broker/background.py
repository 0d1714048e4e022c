"""Candles and books worked out beside the event loop, so that a long history holds up no stream.

It has a market of its own, equal to the broker's to the last digit: every price is a function of seed, instrument and
time. One thread works through the requests in turn; nothing is shared with the loop but the answers.

Shares the event loop: reading much is cut into portions, so that orders and heartbeats go on in between.

Work is counted in units of some 50 microseconds, such as one order shown as JSON. All requests together may do a bounded
number of units in one turn of the loop; who needs more waits for a later turn, first come, first served.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Literal, TypeVar

from keydesk_practice.errors import TimeOutsideRates
from keydesk_practice.market.books import Book, Books
from keydesk_practice.market.candles import Candle, CandleSpec, Range
from keydesk_practice.market.market import PracticeMarket

UNITS_PER_TURN = 40  # some 2 ms

Item = TypeVar("Item")


class Turns:
    """What may be done in this turn of the loop, and who waits for the next."""

    def __init__(self, units_per_turn: int = UNITS_PER_TURN) -> None:
        self._units_per_turn = units_per_turn
        self._left = units_per_turn
        self._waiting: deque[tuple[int, asyncio.Future[None]]] = deque()
        self._scheduled = False

    async def take(self, units: int = 1) -> None:
        """Return when `units` may be done; more than a turn has are paid for by the turns that follow."""
        if self._left > 0 and not self._waiting:
            self._left -= units
            self._schedule()
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append((units, turn))
        self._schedule()
        await turn

    async def over(self, items: Iterable[Item], units: int = 1) -> AsyncIterator[Item]:
        """Return the items of an iterator, each made when it may be."""
        iterator = iter(items)
        while True:
            await self.take(units)
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
            units, turn = self._waiting.popleft()
            if not turn.done():  # its request was cancelled
                self._left -= units
                turn.set_result(None)
        if self._waiting or self._left < self._units_per_turn:
            self._schedule()


BookKind = Literal["orderBook", "positionBook"]


class CandleDesk:
    """Answers requests for candles and books from its own thread."""

    def __init__(self, make_market: Callable[[], PracticeMarket]) -> None:
        self._make_market = make_market
        self._market: PracticeMarket | None = None
        self._books: Books | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="candles")

    async def candles(
        self, instrument: str, cut: CandleSpec, asked: Range, now: int
    ) -> list[Candle]:
        """Return the candles asked for, as they are known at `now`; raises `TooManyCandles`."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, self._work, instrument, cut, asked, now)

    async def book(self, kind: BookKind, instrument: str, time: int) -> Book | None:
        """Return the snapshot of a book as of a time, None if there is no such snapshot."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, self._snapshot, kind, instrument, time)

    def _own_market(self) -> PracticeMarket:
        if self._market is None:
            self._market = self._make_market()
        return self._market

    def _work(self, instrument: str, cut: CandleSpec, asked: Range, now: int) -> list[Candle]:
        return self._own_market().candles(instrument, cut, asked, now)

    def _snapshot(self, kind: BookKind, instrument: str, time: int) -> Book | None:
        if self._books is None:
            self._books = Books(self._own_market())
        read = {"orderBook": self._books.order_book, "positionBook": self._books.position_book}
        try:
            return read[kind](instrument, time)
        except TimeOutsideRates:
            return None

    def close(self) -> None:
        """Finish what is being worked on and end the thread."""
        self._thread.shutdown(cancel_futures=True)
