"""The audit log of the open account: entries of the desk, and the page that shows it."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from pathlib import Path

from textual.app import App

from keydesk import forms
from keydesk.app.account_connection import DeskAccount
from keydesk.keys.guarded_app import NoticeLevel
from keydesk.store.store import Store

MOST_UNRECORDED = 100  # entries from before the account is known


class DeskAudit:
    """Writes entries of the desk to the audit log, and shows the log.

    Args:
        app: Shows the page.
        account: Has the log.
        store: Has the time zone of the page.
        tell: Shows one line to the trader.
    """

    def __init__(
        self,
        app: App[int],
        account: DeskAccount,
        store: Store,
        tell: Callable[[NoticeLevel, str], None],
    ) -> None:
        self._app, self._account, self._store, self._tell = app, account, store, tell
        self._unrecorded: deque[tuple[str, str]] = deque(maxlen=MOST_UNRECORDED)

    def record(self, what: str, words: str) -> None:
        """Write an entry to the audit log of the account; those from before it is open are written then."""
        connection = self._account.connection
        if connection is None:
            self._unrecorded.append((what, words))
            return
        for earlier in self._unrecorded:
            connection.commands.dispatcher.record(*earlier)
        self._unrecorded.clear()
        connection.commands.dispatcher.record(what, words)

    def show(self) -> None:
        """Read the audit log in a thread, then show it."""
        path = self._account.audit
        if path is not None:
            self._app.run_worker(self._read(path), "audit log", group="settings")

    async def _read(self, path: Path) -> None:
        from keydesk.trading.audit import try_to_read  # noqa: PLC0415 - loaded with the commands

        entries, trouble = await asyncio.to_thread(try_to_read, path)
        if trouble:
            self._tell("warn", f"The audit log cannot be read: {trouble}")
        else:
            self._app.push_screen(forms.AuditForm(entries, self._store.zone))
