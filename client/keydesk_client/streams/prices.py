"""The price stream: prices and heartbeats as they come, and a Gap where prices were lost."""

from typing import TypeAlias

from keydesk_client.errors import UnreadableAnswer
from keydesk_client.models.pricing import ClientPrice, PricingHeartbeat, PricingStreamItem
from keydesk_client.models.reading import Reader
from keydesk_client.streams.buffer import Buffer, shelf_for
from keydesk_client.streams.connection import Connection, Opening
from keydesk_client.streams.health import Gap, Lost
from keydesk_client.streams.pace import ConnectPace
from keydesk_client.streams.settings import StreamSettings
from keydesk_client.streams.stream import Stream
from keydesk_client.timing import Timing

PriceItem: TypeAlias = ClientPrice | PricingHeartbeat | Gap

LINE: Reader[ClientPrice | PricingHeartbeat] = Reader(PricingStreamItem)


class PriceStream(Stream[PriceItem]):
    """`async with client.pricing.stream([...]) as prices: async for item in prices: ...`."""

    def __init__(
        self, opening: Opening, pace: ConnectPace, settings: StreamSettings, timing: Timing
    ) -> None:
        shelf = shelf_for(settings.when_full, settings.waiting_at_most, instrument_of)
        super().__init__(
            Connection(opening, pace, settings, timing),
            Buffer(shelf, settings.waiting_at_most),
            "prices",
        )

    async def connected(self, lost: Lost | None) -> None:
        """Mark the gap before the first new price."""
        if lost is not None:
            await self._buffer.put([Gap(lost.reason, lost.seconds)])

    async def take(self, lines: list[bytes]) -> None:
        """Read prices into the buffer; a line that is none is counted and left out."""
        items: list[PriceItem] = []
        for line in lines:
            try:
                items.append(LINE.read(line))
            except (
                UnreadableAnswer
            ):  # the next price of that instrument is a quarter of a second away
                self.health.unreadable += 1
        self.health.dropped += await self._buffer.put(items)


def instrument_of(item: PriceItem) -> str | None:
    """What a newer price replaces an older one by; heartbeats and gaps are never replaced."""
    return getattr(item, "instrument", None)
