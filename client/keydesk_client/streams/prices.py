"""The price stream: prices and heartbeats as they come, and a Gap where prices were lost.

Lines wait undecoded: half of the cost of a price is making its record (5 µs of 9), and with KEEP_LAST an iteration that
takes ten times a second decodes only the prices that it takes.
"""

import re
from typing import TypeAlias

from keydesk_client.errors import InvalidTime, UnreadableAnswer
from keydesk_client.http.limits import ConnectRateLimiter
from keydesk_client.http.timing import Timing
from keydesk_client.models._core.decoder import Reader
from keydesk_client.models._core.json import PRICE_LINE
from keydesk_client.models._core.record import VALUES_SELDOM_RECUR
from keydesk_client.models._core.scalars import DateTime
from keydesk_client.models.pricing import ClientPrice, PricingHeartbeat, PricingStreamItem
from keydesk_client.streams.buffer import Buffer, queue_for
from keydesk_client.streams.connection import Connection, OpenStream, Stream
from keydesk_client.streams.settings import Gap, Interruption, StreamSettings

PriceItem: TypeAlias = ClientPrice | PricingHeartbeat | Gap

Waiting: TypeAlias = bytes | Gap
"""An undecoded line or a marker, waiting for the iteration."""

LINE: Reader[ClientPrice | PricingHeartbeat] = Reader(
    PricingStreamItem, PRICE_LINE, config=VALUES_SELDOM_RECUR
)

_find_time = re.compile(rb'"time"\s*:\s*"([^"\\]+)"').search
_find_instrument = re.compile(rb'"instrument"\s*:\s*"([^"\\]+)"').search


class PriceStream(Stream[PriceItem, Waiting]):
    """`async with client.pricing.stream([...]) as prices: async for item in prices: ...`."""

    def __init__(
        self,
        open_stream: OpenStream,
        rate_limiter: ConnectRateLimiter,
        settings: StreamSettings,
        timing: Timing,
    ) -> None:
        queue = queue_for(settings.when_full, settings.waiting_at_most, instrument_of)
        super().__init__(
            Connection(open_stream, rate_limiter, settings, timing, "prices"),
            Buffer(queue, settings.waiting_at_most),
            area="pricing",
            name="prices",
        )
        self._newest_line = b""

    async def connected(self, lost: Interruption | None) -> None:
        """Put a Gap before the first new price."""
        if lost is not None:
            began = _time_of(self._newest_line)
            await self._buffer.put([Gap(lost.reason, lost.seconds, began)])

    async def receive_lines(self, lines: list[bytes]) -> None:
        """Put lines into the buffer, undecoded."""
        self._newest_line = lines[-1]
        self.health.dropped += await self._buffer.put(lines)

    async def __anext__(self) -> PriceItem:
        """Return the next item; count and skip unreadable lines."""
        self._check_entered()
        while True:
            waiting = await self._buffer.take()
            if isinstance(waiting, Gap):
                return waiting
            try:
                return LINE.read(waiting)
            except (
                UnreadableAnswer
            ):  # the instrument's next price comes within a quarter of a second
                self.health.unreadable += 1


def _time_of(line: bytes) -> DateTime | None:
    match = _find_time(line)
    if match is None:
        return None
    time = DateTime(match[1].decode(errors="replace"))
    try:
        _ = time.ns  # parses it
    except InvalidTime:
        return None
    return time


def instrument_of(waiting: Waiting) -> str | None:
    """Return the instrument of a price line; None for heartbeats and gaps, which are never dropped."""
    match = None if isinstance(waiting, Gap) else _find_instrument(waiting)
    return None if match is None else match[1].decode(errors="replace")
