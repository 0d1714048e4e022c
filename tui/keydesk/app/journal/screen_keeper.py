"""Keep the text of the screen when a fill opens or closes a trade while the desk runs."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from functools import partial
from time import time_ns
from typing import TYPE_CHECKING, Any

from textual.app import App
from textual.worker import Worker

from keydesk.screens.desk import DeskScreen
from keydesk.store.store import Store
from keydesk.terminal._textual_private import lines_of_screen
from keydesk.text.sanitize import clean, clean_name

if TYPE_CHECKING:
    from pathlib import Path

    from keydesk.trade_journal.screens import Moment
    from keydesk_client.models import Transaction

SHOWN_AFTER = 0.5  # seconds until the fill is on the screen
FRESH_NS = 15_000_000_000  # a fill that is older was missed: the screen of now is not its own


class ScreenKeeper:
    """Keeps screens.

    Args:
        app: Has the desk's screen; a form over it is left out.
        store: Has the account's number and the broker's time.
    """

    def __init__(self, app: App[Any], store: Store) -> None:
        self._app, self._store = app, store
        self.folder: Path | None = None
        self.trades_with_screen: frozenset[str] = frozenset()  # trades of which a screen is kept

    def open(self, folder: Path) -> None:
        """Keep screens in a folder from now on."""
        self.folder = folder
        _: Worker[None] = self._app.run_worker(
            self._look, "kept screens", group="journal screens", exit_on_error=False
        )

    async def _look(self) -> None:
        from keydesk.trade_journal.screens import trades_with_screens  # noqa: PLC0415 - see `open`

        if self.folder is not None:
            self.trades_with_screen = await asyncio.to_thread(trades_with_screens, self.folder)

    def on_transaction(self, transaction: Transaction) -> None:
        """Keep the screen a moment after a fill that opened or closed a trade just now."""
        now = self._store.clock_ns or time_ns()
        for trade_id, moment in moments_of(transaction):
            if abs(now - transaction.time.ns) < FRESH_NS:
                keep = partial(self.save, trade_id, moment, transaction.time.ns)
                self._app.set_timer(SHOWN_AFTER, keep)

    def save(self, trade_id: str, moment: Moment, at_ns: int) -> None:
        """Keep the desk's screen as it is."""
        screen = next(
            (each for each in self._app.screen_stack if isinstance(each, DeskScreen)), None
        )
        account = self._store.account
        if screen is None or account is None or self.folder is None:
            return
        size = self._app.size
        strips = lines_of_screen(screen, size, range(size.height))
        texts = [strip.text.rstrip() for strip in strips]
        _: Worker[None] = self._app.run_worker(
            partial(self._write, self.folder, trade_id, moment, at_ns, texts, account.id),
            "keeping a screen",
            group="journal screens",
            exit_on_error=False,
        )

    async def _write(  # noqa: PLR0917 - of `save` alone
        self,
        folder: Path,
        trade_id: str,
        moment: Moment,
        at_ns: int,
        texts: list[str],
        account: str,
    ) -> None:
        from keydesk.trade_journal.screens import KeptScreen, write_screen  # noqa: PLC0415

        lines = tuple(clean(each, len(each) + 1) for each in texts)
        screen = KeptScreen(trade_id, moment, at_ns, lines)
        await asyncio.to_thread(write_screen, folder, screen, account)
        self.trades_with_screen |= {trade_id}


def moments_of(transaction: Transaction) -> Iterator[tuple[str, Moment]]:
    """Yield the trades that a fill opened or closed."""
    from keydesk_client.models import OrderFillTransaction  # noqa: PLC0415 - with the account

    if isinstance(transaction, OrderFillTransaction):
        if transaction.trade_opened is not None:
            yield clean_name(transaction.trade_opened.trade_id), "entry"
        for each in transaction.trades_closed or ():
            yield clean_name(each.trade_id), "exit"
