"""Who listens: bounded mailboxes between the broker and its stream connections.

A slow reader must cost neither memory nor anybody else's time. Prices conflate: a mailbox holds the last line of each
instrument, no more. Transactions may not be dropped: a reader that falls too far behind is closed, and fills the gap
from the ids when it comes back.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping

MOST_BYTES_BEHIND = 4 * 1024 * 1024


class Subscription:
    """A mailbox with a bell; `take` empties it."""

    def __init__(self) -> None:
        self.closed = False
        self.when_overrun: Callable[[], object] = self.close
        self._bell = asyncio.Event()

    def take(self) -> bytes:
        """Return what arrived since the last take, in order; empty when nothing did."""
        raise NotImplementedError

    def ring(self) -> None:
        """Wake the reader."""
        self._bell.set()

    def close(self) -> None:
        """End the stream: the reader stops at its next look."""
        self.closed = True
        self._bell.set()

    async def wait(self, seconds: float) -> None:
        """Return when something arrived, the mailbox closed, or the time is over."""
        try:
            async with asyncio.timeout(max(seconds, 0.0)):
                await self._bell.wait()
        except TimeoutError:
            return
        self._bell.clear()


class PriceSubscription(Subscription):
    """The newest price line of each instrument that the reader has not seen."""

    def __init__(self, instruments: Iterable[str], home: str | None, unix_times: bool) -> None:
        super().__init__()
        self.instruments = frozenset(instruments)
        self.form = (home, unix_times)  # readers of the same form share their lines
        self._latest: dict[str, bytes] = {}

    def offer(self, lines: Mapping[str, bytes]) -> None:
        """Put in the lines of the instruments asked for; older unread ones give way."""
        wanted = {name: line for name, line in lines.items() if name in self.instruments}
        if wanted:
            self._latest |= wanted
            self.ring()

    def take(self) -> bytes:
        """Return the unread lines, at most one for each instrument."""
        lines, self._latest = self._latest, {}
        return b"".join(lines.values())


class TransactionSubscription(Subscription):
    """Every transaction since the connection was made, in id order."""

    def __init__(self) -> None:
        super().__init__()
        self._lines: list[bytes] = []
        self._size = 0

    def offer(self, lines: bytes) -> None:
        """Put in a whole batch; a reader too far behind is closed instead."""
        self._size += len(lines)
        if self._size > MOST_BYTES_BEHIND:
            self._lines = []
            self.close()
            self.when_overrun()
            return
        self._lines.append(lines)
        self.ring()

    def take(self) -> bytes:
        """Return the unread batches."""
        lines, self._lines, self._size = self._lines, [], 0
        return b"".join(lines)
