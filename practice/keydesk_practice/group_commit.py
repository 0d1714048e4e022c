"""Group commit: whoever decides in one turn of the event loop shares one fsync at its end.

The broker decides and applies at once, in memory. The batch is written in the next turn, together with all that came
meanwhile; only then is it published to the streams and answered. When the disk refuses, nothing was acknowledged, and
the process must end: the ledger is the truth and memory is ahead of it.
"""

import asyncio
from collections.abc import Callable, Sequence
from decimal import Decimal

from keydesk_practice.errors import LedgerWriteFailed
from keydesk_practice.ledger import Entry, Ledger

Publish = Callable[[str, Sequence[Entry]], None]


class GroupCommit:
    """The way from a decided batch to the ledger and then to its listeners."""

    def __init__(self, ledger: Ledger, publish: Publish) -> None:
        self._ledger = ledger
        self._publish = publish
        self._waiting: list[tuple[str, Sequence[Entry]]] = []
        self._done: asyncio.Future[None] | None = None
        self.failure: LedgerWriteFailed | None = None
        self.when_failed: Callable[[], None] = lambda: None

    def add(self, account: str, batch: Sequence[Entry]) -> None:
        """Write a batch at the end of this turn of the loop."""
        self._ledger.stage(account, batch)
        self._waiting.append((account, batch))
        self._flush_soon()

    def add_mark(self, account: str, order_id: int, level: Decimal) -> None:
        """Write what the market showed an order, with whatever else is written at the end of this turn."""
        self._ledger.stage_mark(account, order_id, level)
        self._flush_soon()

    def _flush_soon(self) -> None:
        if self._done is None:
            loop = asyncio.get_running_loop()
            self._done = loop.create_future()
            loop.call_soon(self.flush)

    async def settled(self) -> None:
        """Return when everything added so far is on disk.

        Raises:
            LedgerWriteFailed: the disk refused, now or earlier.
        """
        if self._done is not None:
            await asyncio.shield(self._done)
        if self.failure is not None:
            raise self.failure

    def flush(self) -> None:
        """Write what waits, tell the listeners, release those who wait for it."""
        done, self._done = self._done, None
        waiting, self._waiting = self._waiting, []
        try:
            self._ledger.commit()
        except LedgerWriteFailed as error:
            self.failure = self.failure or error
            self.when_failed()
        else:
            for account, batch in waiting:
                self._publish(account, batch)
        if done is not None and not done.done():
            done.set_result(None)
