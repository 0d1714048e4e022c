"""Candles worked out beside the event loop, so that a long history holds up no stream.

It has a market of its own, equal to the broker's to the last digit: every price is a function of seed, instrument and
time. One thread works through the requests in turn; nothing is shared with the loop but the answers.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from keydesk_practice.market.candles import Candle, Cut, Range
from keydesk_practice.market.market import PracticeMarket


class CandleDesk:
    """Answers candle requests from its own thread."""

    def __init__(self, make_market: Callable[[], PracticeMarket]) -> None:
        self._make_market = make_market
        self._market: PracticeMarket | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="candles")

    async def candles(self, instrument: str, cut: Cut, asked: Range, now: int) -> list[Candle]:
        """Return the candles asked for, as they are known at `now`; raises `TooManyCandles`."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, self._work, instrument, cut, asked, now)

    def _work(self, instrument: str, cut: Cut, asked: Range, now: int) -> list[Candle]:
        if self._market is None:
            self._market = self._make_market()
        return self._market.candles(instrument, cut, asked, now)

    def close(self) -> None:
        """Finish what is being worked on and end the thread."""
        self._thread.shutdown(cancel_futures=True)
