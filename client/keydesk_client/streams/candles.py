"""Finished candles as their periods end: the prices of the stream tell when, the service's candles tell what.

A candle is asked for when the service's time, in a price or a heartbeat, has passed the end of its period. Each request
begins behind the last candle that was delivered, so that those which ended while the link was down are read as well.
"""

from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Final, Self, TypeAlias

from keydesk_client.arithmetic.constants import HOUR, MINUTE, SECOND
from keydesk_client.errors import KeydeskClientError, MissingMember
from keydesk_client.http.backoff import CANDLE_BACKOFF
from keydesk_client.http.timing import Timing
from keydesk_client.models._core.scalars import DateTime
from keydesk_client.models.pricing import Candlestick
from keydesk_client.streams.connection import is_retriable
from keydesk_client.streams.prices import PriceStream
from keydesk_client.streams.settings import Gap, StreamHealth

ReadCandles: TypeAlias = Callable[[DateTime | None], Awaitable[Sequence[Candlestick]]]
"""Returns the candles from a time on, the forming one included; from None the newest ones."""

CHECK_NS: Final = 5 * MINUTE
"""How long a period may be over unnoticed where its end is not known: the alignment of days to a zone moves it twice a year."""


@dataclass(frozen=True, slots=True)
class Period:
    """The length of a candle's period."""

    ns: int
    is_aligned: bool
    """Whether every period begins at a multiple of its length since 1970."""

    def end_after(self, now_ns: int, forming: DateTime | None) -> int:
        """Return when to look for the next finished candle."""
        if self.is_aligned:
            return now_ns - now_ns % self.ns + self.ns
        end = now_ns + self.ns if forming is None else forming.ns + self.ns
        return min(end, now_ns + CHECK_NS)


class CandleStream:
    """`async with client.candles.stream("EUR_USD", granularity="M1") as candles: async for candle in candles: ...`.

    Each finished candle comes once, in order; none that the service has is left out, also after an interruption. It goes on
    until the block is left, and raises only what the service refuses.

    Args:
        prices: The price stream of the instrument.
        read: Reads the candles of the service.
        period: Of the candles.
        after_ns: Candles that begin later are delivered; None for those that end from now on.
        timing: Sleep and chance.
    """

    def __init__(
        self,
        prices: PriceStream,
        read: ReadCandles,
        period: Period,
        after_ns: int | None,
        timing: Timing,
    ) -> None:
        self._prices, self._read, self._period, self._timing = prices, read, period, timing
        self._after_ns = after_ns
        self._ready: deque[Candlestick] = deque()
        self._now_ns = self._due_ns = 0
        self._failures = 0

    @property
    def health(self) -> StreamHealth:
        """Counts and state of the price stream."""
        return self._prices.health

    @property
    def pending(self) -> int:
        """How many newer finished candles are there already: above 0 while what an interruption left out is delivered.

        So it is, too, after the clock of a practice market jumped. A program that trades acts on a candle when this is 0.
        """
        return len(self._ready)

    async def __aenter__(self) -> Self:
        await self._prices.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._prices.__aexit__(kind, error, traceback)

    def __aiter__(self) -> Self:
        aiter(self._prices)  # raises unless the stream is open
        return self

    async def __anext__(self) -> Candlestick:
        """Return the next finished candle."""
        while not self._ready:
            if self._failures:
                await self._timing.sleep(CANDLE_BACKOFF.pause(self._failures - 1, self._timing.rng))
            else:
                await self._wait_for_time()
            if self._now_ns >= self._due_ns:
                await self._look()
        return self._ready.popleft()

    async def _wait_for_time(self) -> None:
        """Take the next item of the price stream for its time."""
        item = await anext(self._prices)
        if isinstance(item, Gap):
            self._due_ns = 0
            return
        try:
            time = item.time
        except MissingMember:
            return
        if time is not None:
            self._now_ns = max(self._now_ns, time.ns)

    async def _look(self) -> None:
        """Read the candles since the last one, and note when to look again."""
        try:
            after = None if self._after_ns is None else DateTime.from_ns(self._after_ns + 1)
            candles = await self._read(after)
        except KeydeskClientError as error:
            if not is_retriable(error):
                raise
            self._failures += 1
            return
        finished = [each for each in candles if each.complete]
        if self._after_ns is not None:
            after_ns = self._after_ns
            self._ready.extend(each for each in finished if each.time.ns > after_ns)
        elif not finished:
            self._after_ns = self._now_ns - self._period.ns
        if finished:
            self._after_ns = max(self._after_ns or 0, finished[-1].time.ns)
        forming = next((each.time for each in candles if not each.complete), None)
        is_late = forming is not None and forming.ns + self._period.ns <= self._now_ns
        self._failures = self._failures + 1 if is_late else 0
        self._due_ns = 0 if is_late else self._period.end_after(self._now_ns, forming)


def period_of(granularity: str) -> Period:
    """Return the period of a granularity: S5, M1, H4, D, W or M."""
    if granularity in LONG_PERIODS_H:
        return Period(LONG_PERIODS_H[granularity] * HOUR, is_aligned=False)
    length = int(granularity[1:]) * {"S": SECOND, "M": MINUTE, "H": HOUR}[granularity[0]]
    return Period(length, is_aligned=length <= HOUR)


LONG_PERIODS_H: Final = {"D": 24, "W": 7 * 24, "M": 28 * 24}
"""Hours that a period has at least, but for the change to summer time."""
