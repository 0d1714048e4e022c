"""The two streams as the desk wants them: dead after 10 s of silence, of many prices only the newest."""

from collections.abc import Sequence

from keydesk.feeds.link import Stream
from keydesk_client.client import Client
from keydesk_client.streams.settings import StreamSettings, WhenFull

DEAD_AFTER = 10.0  # seconds without a line; heartbeats come every five

PRICES = StreamSettings(stall_s=DEAD_AFTER, when_full=WhenFull.KEEP_LAST)
TRANSACTIONS = StreamSettings(stall_s=DEAD_AFTER)


class WireStreams:
    """The streams of a client's account."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def prices(self, instruments: Sequence[str]) -> Stream:
        """Prices of these instruments, the present ones first; conversions are asked for by themselves."""
        return self._client.pricing.stream(instruments, settings=PRICES)

    def transactions(self) -> Stream:
        """Every transaction from now on."""
        return self._client.transactions.stream(settings=TRANSACTIONS)
