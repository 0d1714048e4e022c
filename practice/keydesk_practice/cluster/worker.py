"""A database connection in a thread of its own, so that the event loop goes on while a statement runs."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Concatenate, ParamSpec, TypeVar

from keydesk_practice.errors import LedgerAway
from keydesk_practice.ledger.postgres_connection import BoundedConnection, away_errors, connect

P = ParamSpec("P")
Result = TypeVar("Result")


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
            LedgerAway: the connection could not be opened, or was lost: the statement may have been executed.
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
            except LedgerAway as error:
                raise LedgerAway(str(error)) from None
        return self._connection
