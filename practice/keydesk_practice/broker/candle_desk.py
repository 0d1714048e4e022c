"""Candles and books worked out beside the event loop, so that a long history holds up no stream.

It has a market of its own, equal to the broker's to the last digit: every price is a function of seed, instrument and
time. One thread works through the requests in turn; nothing is shared with the loop but the answers.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Literal

from keydesk_practice.errors import TimeOutsideRates
from keydesk_practice.market.books import Book, Books
from keydesk_practice.market.candles import Candle, Cut, Range
from keydesk_practice.market.market import PracticeMarket

BookKind = Literal["orderBook", "positionBook"]


class CandleDesk:
    """Answers requests for candles and books from its own thread."""

    def __init__(self, make_market: Callable[[], PracticeMarket]) -> None:
        self._make_market = make_market
        self._market: PracticeMarket | None = None
        self._books: Books | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="candles")

    async def candles(self, instrument: str, cut: Cut, asked: Range, now: int) -> list[Candle]:
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

    def _work(self, instrument: str, cut: Cut, asked: Range, now: int) -> list[Candle]:
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
