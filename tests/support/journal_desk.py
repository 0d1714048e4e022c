"""The journal and the statistics of a practised account, in an app of their own."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

from textual.app import App
from textual.worker import Worker

from keydesk.app.journal.desk import JournalDesk
from keydesk.app.journal.statistics import JournalStatistics
from keydesk.keys.keymap import KEYMAP
from keydesk.widgets import theme
from keydesk_client.models import Transaction
from support.data.desk_store import example_store
from support.data.journal_service import JournalService
from support.fakes.form_app import example_context
from support.journal_history import TERMS, Step, play

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from keydesk.app.account_connection import Connection, DeskAccount


class JournalDeskApp(App[int]):
    """An app with the statistics of a practised account, which has one closed trade."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.register_theme(theme.load("dark", "truecolor").textual())
        self.theme = "dark"
        steps = [Step(kind, "EUR_USD", Decimal(5000), 9, 0) for kind in ("market", "close")]
        self.service = JournalService(play(TERMS[0], steps))
        self.store = example_store()
        self.told: list[str] = []
        self.described: set[str] = set()  # the workers that ran
        self.heard: list[Callable[[Transaction], None]] = []
        account = cast("DeskAccount", SimpleNamespace(audit=folder / "orders" / "main.audit"))
        self.journal = JournalDesk(
            self,
            account,
            self.store,
            tell=lambda _level, words: self.told.append(words),
            keymap=KEYMAP,
            form_context=lambda: example_context(self.store),
            carry_out=lambda _: None,
        )
        self.statistics = JournalStatistics(
            self, account, self.store, self.journal, lambda _level, words: self.told.append(words)
        )

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """Note what ran."""
        self.described.add(event.worker.description)

    def open(self) -> None:
        gate = SimpleNamespace(listen=self.heard.append)
        connection = SimpleNamespace(
            link=SimpleNamespace(gate=gate), commands=SimpleNamespace(client=self.service.client)
        )
        self.journal.open(cast("Connection", connection))

    @property
    def words(self) -> str:
        strips = self.screen._compositor.render_strips()
        return "\n".join(strip.text.rstrip() for strip in strips)


async def settle(app: JournalDeskApp, pilot: Pilot[int]) -> None:
    await pilot.pause()
    while any(not each.is_finished for each in app.workers):
        await pilot.pause()
    await pilot.pause()
