"""The price stream: prices and heartbeats as they come, and a Gap where prices were lost.

Lines wait unread: most of a price's cost is making a record of it (20 µs of 25), and with KEEP_LAST a reader that
looks ten times a second pays for the prices that it sees only.
"""

import re
from typing import TypeAlias

from keydesk_client.errors import UnreadableAnswer
from keydesk_client.http.pacing import ConnectPace, Timing
from keydesk_client.models._core.decoder import Reader
from keydesk_client.models._core.json import PRICE_LINE
from keydesk_client.models.pricing import ClientPrice, PricingHeartbeat, PricingStreamItem
from keydesk_client.streams.buffer import Buffer, Gap, Lost, StreamSettings, shelf_for
from keydesk_client.streams.connection import Connection, Opening, Stream

PriceItem: TypeAlias = ClientPrice | PricingHeartbeat | Gap

LINE: Reader[ClientPrice | PricingHeartbeat] = Reader(PricingStreamItem, PRICE_LINE)


_instrument = re.compile(rb'"instrument"\s*:\s*"([^"\\]+)"').search

Waiting: TypeAlias = bytes | Gap
"""What waits for the reader: lines as they came, and markers."""


class PriceStream(Stream[PriceItem, Waiting]):
    """`async with client.pricing.stream([...]) as prices: async for item in prices: ...`."""

    def __init__(
        self, opening: Opening, pace: ConnectPace, settings: StreamSettings, timing: Timing
    ) -> None:
        shelf = shelf_for(settings.when_full, settings.waiting_at_most, instrument_of)
        super().__init__(
            Connection(opening, pace, settings, timing),
            Buffer(shelf, settings.waiting_at_most),
            area="pricing",
            name="prices",
        )

    async def connected(self, lost: Lost | None) -> None:
        """Mark the gap before the first new price."""
        if lost is not None:
            await self._buffer.put([Gap(lost.reason, lost.seconds)])

    async def take(self, lines: list[bytes]) -> None:
        """Put lines into the buffer, unread."""
        self.health.dropped += await self._buffer.put(lines)

    async def __anext__(self) -> PriceItem:
        """The next item; a line that is none is counted and left out."""
        self._refuse_unentered()
        while True:
            waiting = await self._buffer.take()
            if isinstance(waiting, Gap):
                return waiting
            try:
                return LINE.read(waiting)
            except UnreadableAnswer:  # its next price is a quarter of a second away
                self.health.unreadable += 1


def instrument_of(waiting: Waiting) -> str | None:
    """What a newer price replaces an older one by; heartbeats and gaps are never replaced."""
    found = None if isinstance(waiting, Gap) else _instrument(waiting)
    return None if found is None else found[1].decode(errors="replace")
