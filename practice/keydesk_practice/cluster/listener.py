"""The notifications of the database: which account has new transactions, that accounts moved, that the control changed."""

import asyncio
import logging
import threading
from collections.abc import Callable
from typing import cast

from psycopg.abc import Query

from keydesk_practice.errors import LedgerAway
from keydesk_practice.ledger.postgres_connection import BoundedConnection, away_errors, connect
from keydesk_practice.ledger.postgres_tables import (
    CONTROL_CHANNEL,
    OWNERS_CHANNEL,
    TRANSACTIONS_CHANNEL,
)

CHANNELS = (TRANSACTIONS_CHANNEL, OWNERS_CHANNEL, CONTROL_CHANNEL)
RETRY_SECONDS = 0.5
Heard = Callable[[str, str], None]  # channel, payload; an empty channel: some may have been missed
log = logging.getLogger("keydesk.practice.cluster")


class Listener:
    """Listens in a thread, and calls `heard` in the event loop; what is missed is found by the node's polls."""

    def __init__(self, text: str, heard: Heard) -> None:
        self._text = text
        self._heard = heard
        self._loop = asyncio.get_running_loop()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="listen", daemon=True)

    def start(self) -> None:
        """Begin to listen."""
        self._thread.start()

    async def stop(self) -> None:
        """End the thread."""
        self._stopping.set()
        await self._loop.run_in_executor(None, self._thread.join)

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                connection = connect(self._text)
                with connection, away_errors():
                    self._listen(connection)
            except LedgerAway:
                self._stopping.wait(RETRY_SECONDS)

    def _listen(self, connection: BoundedConnection) -> None:
        for channel in CHANNELS:
            connection.execute(cast(Query, f"LISTEN {channel}"))
        self._tell("", "")
        while not self._stopping.is_set():
            for one in connection.notifies(timeout=RETRY_SECONDS):
                self._tell(one.channel, one.payload)

    def _tell(self, channel: str, payload: str) -> None:
        if not self._stopping.is_set():
            self._loop.call_soon_threadsafe(self._heard, channel, payload)
