"""The page of order outcomes of the open account, whose files are read in a thread."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from textual.app import App

from keydesk import forms
from keydesk.app.account_connection import DeskAccount
from keydesk.store.store import Store

if TYPE_CHECKING:
    from keydesk.forms.account.order_life import Take
    from keydesk.trading.order_life import OrderLife


class OrderOutcomes:
    """Shows what became of the account's orders.

    Args:
        app: Shows the page.
        account: Has the journal, the audit log and the executions.
        store: Has the orders in flight.
    """

    def __init__(self, app: App[int], account: DeskAccount, store: Store) -> None:
        self._app, self._account, self._store = app, account, store

    def show(self) -> None:
        """Show the page."""
        self._app.push_screen(forms.OrderLifeForm(self._store, self._read, self._acknowledge))

    def _acknowledge(self, life: OrderLife) -> None:
        """Write it to the audit log, from which every desk reads it."""
        if (connection := self._account.connection) is not None:
            words = f"{life.id} compared by the trader: {life.words}"
            connection.commands.dispatcher.record("acknowledged", words)

    def _read(self, take: Take) -> None:
        """Read the files, and hand what they say to the page; without an account there are none."""
        audit = self._account.audit
        if audit is None:
            take((), ())
        else:
            reading = _read(audit, take)
            self._app.run_worker(
                reading, "order outcomes", group="outcomes", exclusive=True, exit_on_error=False
            )


async def _read(audit: Path, take: Callable[..., None]) -> None:
    from keydesk.trading.executions import figures_of, read_executions  # noqa: PLC0415
    from keydesk.trading.order_life import read_order_lives  # noqa: PLC0415 - loaded with the commands

    lives = await asyncio.to_thread(read_order_lives, audit.with_suffix(".journal"), audit)
    executions = await asyncio.to_thread(read_executions, audit.with_suffix(".executions"))
    take(lives, figures_of(executions))
