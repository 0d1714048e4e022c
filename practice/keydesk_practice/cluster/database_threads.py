"""Database connections in threads of their own: one that runs statements, one that listens to notifications."""

import asyncio
import logging
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Concatenate, ParamSpec, TypeVar, cast

from psycopg.abc import Query

from keydesk_practice.errors import LedgerUnreachable
from keydesk_practice.ledger.postgres_connection import (
    CONTROL_CHANNEL,
    OWNERS_CHANNEL,
    TRANSACTIONS_CHANNEL,
    BoundedConnection,
    away_errors,
    connect,
)

P = ParamSpec("P")
Result = TypeVar("Result")
CHANNELS = (TRANSACTIONS_CHANNEL, OWNERS_CHANNEL, CONTROL_CHANNEL)
RETRY_SECONDS = 0.5
OnNotification = Callable[
    [str, str], None
]  # channel, payload; an empty channel: some may have been missed
log = logging.getLogger("keydesk.practice.cluster")


class DatabaseWorker:
    """Runs functions of a connection one after the other; after a lost connection the next one opens another."""

    def __init__(self, text: str, name: str) -> None:
        self._text = text
        self._connection: BoundedConnection | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=name)

    async def run(
        self,
        function: Callable[Concatenate[BoundedConnection, P], Result],
        *arguments: P.args,
        **keywords: P.kwargs,
    ) -> Result:
        """Return what a function of the connection returns.

        Raises:
            LedgerUnreachable: the connection could not be opened, or was lost: the statement may have been executed.
        """

        def call() -> Result:
            with away_errors():
                return function(self._open(), *arguments, **keywords)

        return await asyncio.get_running_loop().run_in_executor(self._thread, call)

    async def call(self, function: Callable[[], Result]) -> Result:
        """Run a function without the connection in the thread."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, function)

    def close(self) -> None:
        """Finish the statement in progress, close the connection and end the thread."""
        self._thread.shutdown(cancel_futures=True)
        if self._connection is not None:
            self._connection.close()

    def _open(self) -> BoundedConnection:
        if self._connection is None or self._connection.closed:
            self._connection = None
            try:
                self._connection = connect(self._text)
            except LedgerUnreachable as error:
                raise LedgerUnreachable(str(error)) from None
        return self._connection


class Listener:
    """Listens in a thread and calls `on_notification` in the event loop; the node's polls find what was missed."""

    def __init__(self, text: str, on_notification: OnNotification) -> None:
        self._text = text
        self._on_notification = on_notification
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
            except LedgerUnreachable:
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
            self._loop.call_soon_threadsafe(self._on_notification, channel, payload)
