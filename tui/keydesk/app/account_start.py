"""Open the account once the first picture stands, and draw its first prices when they come."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import partial

from textual.app import App

from keydesk import forms
from keydesk.app.account_connection import Connection, DeskAccount, load_all
from keydesk.app.account_sources import AccountAddress, AccountSource, CannotOpen
from keydesk.app.memory import settle
from keydesk.keys.guarded_app import NoticeLevel

LONG_START = 5.0  # seconds after which a message names the reason for waiting


class AccountStart:
    """Opens the account and keeps it open.

    Args:
        app: Runs the workers.
        source: Finds the account, or starts the practice broker.
        account: Is opened.
        tell: Shows one line to the trader.
        opened: Is called with the open account.
        failed: Ends the desk with these words, as the account cannot be opened.
        draw_now: Draws a frame at once.
    """

    def __init__(
        self,
        app: App[int],
        source: AccountSource,
        account: DeskAccount,
        *,
        tell: Callable[[NoticeLevel, str], None],
        opened: Callable[[Connection], None],
        failed: Callable[[str], None],
        draw_now: Callable[[], object],
    ) -> None:
        self._app, self._source, self._account = app, source, account
        self._tell, self._opened, self._failed = tell, opened, failed
        self._draw_now = draw_now

    async def run(self, found: Callable[[AccountAddress], None]) -> None:
        """Find the account, call `found`, open it, and run its feeds until cancelled."""
        load_all()  # the practice broker is starting meanwhile
        try:
            target = await self._target()
        except CannotOpen as error:
            self._failed(str(error))
            return
        found(target)
        keeping = self._source.keep(partial(self._tell, "bad"))
        self._app.run_worker(keeping, "broker", group="feeds")
        await self._account.run(target, self._account_opened)

    async def _target(self) -> AccountAddress:
        words = "The broker is still starting: a large ledger takes a while to read"
        waiting = self._app.set_timer(LONG_START, partial(self._tell, "info", words))
        try:
            return await self._source.target()
        finally:
            waiting.stop()

    def _account_opened(self, connection: Connection) -> None:
        self._opened(connection)
        first = self._draw_first_prices(connection.link.priced)
        self._app.run_worker(first, "first prices", group="feeds")

    async def _draw_first_prices(self, priced: asyncio.Event) -> None:
        """Draw the first prices when they come, not with the next beat.

        The forms that trade are loaded before: keys that are typed at the sight of prices must not wait for that.
        """
        forms.load()
        with suppress(TimeoutError):
            async with asyncio.timeout(LONG_START):
                await priced.wait()
            self._draw_now()
        self._app.call_after_refresh(settle)
