"""An app with the journal of an account that has one closed trade.

app = JournalApp(tmp_path)
async with app.run_test() as pilot:
    app.open()                  # the account; app.heard[0] gives a transaction to the journal
    app.journal.show()
    await settle(app, pilot)
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

from textual import on
from textual.worker import Worker

from keydesk.app.journal.account_journal import AccountJournal
from keydesk.app.journal.statistics import JournalStatistics
from keydesk.forms.requests import LabelsWanted
from keydesk.forms.trades.labels import LabelsForm
from keydesk.keys.keymap import KEYMAP
from keydesk.trade_journal.newest_part import Portions
from keydesk.trading.commands import Instruction
from keydesk.widgets import theme
from keydesk_client.models import Transaction
from support.data.desk_store import example_store
from support.data.journal_service import JournalService
from support.fakes.form_app import example_context
from support.fakes.quick_pilot import QuickTests
from support.journal_history import TERMS, Step, play

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from keydesk.app.account_connection import Connection
    from keydesk.app.desk_account import DeskAccount


class JournalApp(QuickTests[int]):
    """The journal and its statistics; `told` and `sent` hold what they asked the desk to say and to send."""

    def __init__(self, folder: Path, portions: Portions | None = None) -> None:
        super().__init__()
        self.register_theme(theme.load("dark", "truecolor").textual())
        self.theme = "dark"
        steps = [Step(kind, "EUR_USD", Decimal(5000), 9, 0) for kind in ("market", "close")]
        self.service = JournalService(play(TERMS[0], steps))
        self.store = example_store()
        self.described: set[str] = set()  # the workers that ran
        self.sent: list[Instruction | None] = []
        self.heard: list[Callable[[Transaction], None]] = []
        account = cast("DeskAccount", SimpleNamespace(audit=folder / "orders" / "main.audit"))
        self.journal = AccountJournal(
            self,
            account,
            self.store,
            keymap=KEYMAP,
            portions=portions,
        )
        self.statistics = JournalStatistics(self, account, self.store, self.journal)

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """Note what ran."""
        self.described.add(event.worker.description)

    @on(LabelsWanted)
    def show_labels(self, message: LabelsWanted) -> None:
        """Show the form of labels, and keep what it sends."""
        form = LabelsForm(example_context(self.store), message.trade_id)
        form.begin_with(message.tag, message.comment)
        self.push_screen(form, self.sent.append)

    @property
    def told(self) -> list[tuple[str, str]]:
        """What the trader was told, with its level."""
        return [(each.level, str(each.text)) for each in self.store.notices]

    def open(self) -> None:
        """Open the account."""
        gate = SimpleNamespace(listen=self.heard.append)
        connection = SimpleNamespace(
            feed=SimpleNamespace(follower=SimpleNamespace(gate=gate)),
            commands=SimpleNamespace(client=self.service.client),
        )
        self.journal.open(cast("Connection", connection))

    @property
    def notes(self) -> Path:
        """The file of notes."""
        assert self.journal.live is not None
        return self.journal.live.files.notes

    @property
    def said(self) -> list[str]:
        """What was told, without its level."""
        return [text for _, text in self.told]

    @property
    def words(self) -> str:
        """What is on the screen."""
        strips = self.screen._compositor.render_strips()
        return "\n".join(strip.text.rstrip() for strip in strips)


async def settle(app: JournalApp, pilot: Pilot[int]) -> None:
    """Wait until no worker runs, those that others started included, and the screen is painted."""
    while True:
        await pilot.pause()
        if all(each.is_finished for each in app.workers):
            return
        await pilot.pause(0.005)  # they read files in threads
