"""The trade journal of the open account: workers that read it, its pages, and the form of a note."""

from __future__ import annotations

from collections.abc import Coroutine, Sequence
from typing import TYPE_CHECKING, Any

from textual.app import App

from keydesk import forms
from keydesk.app.account_connection import Connection, DeskAccount
from keydesk.keys.guarded_app import NoticeLevel
from keydesk.keys.keymap import KeyMap
from keydesk.store.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable

    from keydesk.forms.journal.trades import JournalForm
    from keydesk.trade_journal.lines import JournalLine
    from keydesk.trade_journal.live import LiveJournal
    from keydesk_client.models import Transaction

LONGEST_LETTERS = 60
NOT_OPEN = "The journal is read once the account is open"


class JournalDesk:
    """Reads and shows the journal.

    Args:
        app: Runs the workers and shows the pages.
        account: Has the files, once it is open.
        store: The state of account and market.
        tell: Shows one line to the trader.
        keymap: The keys, as the pages name them.
    """

    def __init__(
        self,
        app: App[int],
        account: DeskAccount,
        store: Store,
        *,
        tell: Callable[[NoticeLevel, str], None],
        keymap: KeyMap,
    ) -> None:
        self._app, self._account, self._store = app, account, store
        self._tell, self._keymap = tell, keymap
        self.live: LiveJournal | None = None

    def open(self, connection: Connection) -> None:
        """Follow the account; nothing is read before it is wanted."""
        from keydesk.trade_journal.live import JournalFiles, LiveJournal  # noqa: PLC0415 - see above

        audit = self._account.audit
        if audit is None:
            return
        files = JournalFiles.of(audit.parent.parent / "journal", audit.stem)
        client = connection.commands.client
        self.live = LiveJournal(client, files, self._pips)
        connection.link.gate.listen(self._heard)

    def _pips(self) -> dict[str, Any]:
        return {name: each.pip for name, each in self._store.instruments.items()}

    def _heard(self, transaction: Transaction) -> None:
        if self.live is not None:
            self.live.take(transaction)

    def show(self) -> None:
        """Show the list of trades."""
        from keydesk.forms.journal.trades import JournalForm  # noqa: PLC0415 - with the first form

        if self.live is None:
            self._tell("info", NOT_OPEN)
            return
        self._app.push_screen(JournalForm(self._store, self.live, self, self._keymap))

    # What the pages ask for.

    def read(self) -> None:
        """Read the journal up to the newest transaction."""
        if self.live is not None:
            self._run(self.live.read(), "journal")

    def look_at_notes(self) -> None:
        """Read the notes again if their file was changed."""
        if self.live is not None:
            self._run(self.live.look_at_notes(), "notes")

    def read_excursions(self, lines: Sequence[JournalLine]) -> None:
        """Read MAE and MFE of trades."""
        if self.live is not None:
            reading = self.live.read_excursions([each.trade for each in lines])
            self._run(reading, "excursions", exclusive=True)

    def with_screens(self) -> frozenset[str]:
        """Return the trades of which a screen is kept."""
        return frozenset()

    def ask_letters(self, form: JournalForm) -> None:
        """Ask for the letters that trades must have."""

        def take(letters: str | None) -> None:
            if letters is not None:
                form.show_only(letters)

        self._app.push_screen(
            forms.NameForm(
                "Journal: only trades with these words",
                form.letters,
                trouble=lambda _text: "",
                hint="pair, side, tag, setup, note, win, loss, open: eurusd loss; nothing shows all",
                longest=LONGEST_LETTERS,
            ),
            take,
        )

    def show_trade(self, trade_id: str) -> None:
        """Show all of a trade."""

    def write_note(self, trade_id: str) -> None:
        """Edit what is written about a trade."""

    def _run(self, work: Coroutine[Any, Any, None], name: str, *, exclusive: bool = False) -> None:
        self._app.run_worker(
            work, name, group=f"journal {name}", exclusive=exclusive, exit_on_error=False
        )
