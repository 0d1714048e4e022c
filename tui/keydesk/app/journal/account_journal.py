"""The trade journal of the open account: workers that read it, its pages, and the form of a note."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from functools import partial
from typing import TYPE_CHECKING

from textual.app import App
from textual.worker import Worker

from keydesk.app.account_connection import Connection
from keydesk.app.desk_account import DeskAccount
from keydesk.app.journal.screen_keeper import ScreenKeeper
from keydesk.calc.trade_journal.notes import NO_NOTE
from keydesk.keys.keymap import KeyMap
from keydesk.store.store import Store
from keydesk.text.format import side_and_size
from keydesk.text.sanitize import Printable, clean, clean_name, safe

if TYPE_CHECKING:
    from collections.abc import Callable

    from keydesk.calc.trade_journal.trades import JournalTrade
    from keydesk.forms.journal.note import NoteEdit, NoteForm
    from keydesk.forms.journal.trade import TradeCandles
    from keydesk.forms.journal.trades import JournalForm
    from keydesk.trade_journal.files import JournalFiles
    from keydesk.trade_journal.live import LiveJournal
    from keydesk.trade_journal.newest_part import Portions
    from keydesk.trade_journal.screens import KeptScreen
    from keydesk_client.client import Client
    from keydesk_client.models import Transaction

MAX_FILTER_LENGTH = 60
OLDER = "older transactions"
NOT_OPEN = "The journal is read once the account is open"


class AccountJournal:
    """Reads and shows the journal.

    Args:
        app: Runs the workers and shows the pages.
        account: Has the files, once it is open.
        store: The state of account and market.
        keymap: The keys, as the pages name them.
        portions: How many transactions of an account without a cache are read at a time.
    """

    def __init__(
        self,
        app: App[int],
        account: DeskAccount,
        store: Store,
        *,
        keymap: KeyMap,
        portions: Portions | None = None,
    ) -> None:
        self._app, self._account, self._store = app, account, store
        self._tell, self._keymap = store.notify, keymap
        self._portions = portions
        self._make_live: Callable[[], LiveJournal] | None = None  # once the account is open
        self._use_files: Callable[[], None] = lambda: None  # those of the account that is open
        self._created_ns = 0  # when that was created
        self._live: LiveJournal | None = None
        self._newest: Transaction | None = None  # that the open account had
        self.screens = ScreenKeeper(app, store)
        self._unkept: dict[str, NoteEdit] = {}  # by trade

    def open(self, connection: Connection) -> None:
        """Follow the account; nothing is read before it is wanted."""
        from keydesk.trade_journal.files import JournalFiles  # noqa: PLC0415 - see above

        audit = self._account.audit
        self._app.workers.cancel_group(self._app, f"journal {OLDER}")  # of the account before
        if audit is None:
            return
        folder, client = audit.parent.parent / "journal", connection.commands.client
        self._created_ns = 0

        def use_files() -> None:
            files = JournalFiles.of_account(folder, audit.stem, self._created_ns)
            self._live = self._newest = None
            self._make_live = partial(self._made, client, files)
            self.screens.open(files.screens)

        self._use_files = use_files
        use_files()
        self._follow_account()
        connection.feed.follower.gate.listen(self._on_transaction)

    def _follow_account(self) -> None:
        """Use the files of the present account: that of a replay has the id of the one which was left for it."""
        account = self._store.account
        if account is not None and account.created_time_ns != self._created_ns:
            self._created_ns = account.created_time_ns
            self._use_files()

    @property
    def live(self) -> LiveJournal | None:
        """The journal, None before the account is open; made when it is first asked for, since its modules take 0.6 MB."""
        self._follow_account()
        if self._live is None and self._make_live is not None:
            self._live = self._make_live()
            if self._newest is not None:
                self._live.apply(self._newest)
            self.reread_notes()
        return self._live

    def _made(self, client: Client, files: JournalFiles) -> LiveJournal:
        from keydesk.trade_journal.live import LiveJournal  # noqa: PLC0415 - with the first page
        from keydesk.trade_journal.newest_part import STANDARD  # noqa: PLC0415 - same

        return LiveJournal(client, files, self._store, portions=self._portions or STANDARD)

    def _on_transaction(self, transaction: Transaction) -> None:
        self._follow_account()
        self._newest = transaction
        if self._live is not None:
            self._live.apply(transaction)
        self.screens.on_transaction(transaction)

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
            self._run(self.read_now, "journal")

    def read_whole(self) -> None:
        """Read every trade of the account."""
        if self.live is not None:
            self._run(partial(self.read_now, whole=True), "journal")

    async def read_now(self, *, whole: bool = False) -> None:
        """Read the journal up to the newest transaction."""
        live = self.live
        if live is not None:
            await live.read(whole=whole)
            if live.part:  # the older transactions of a large account, while the desk is used
                self._run(live.fill, OLDER)

    def reread_notes(self) -> None:
        """Read the notes again if their file was changed."""
        if self.live is not None:
            self._run(self.live.reread_notes, "notes")

    def read_excursions(self, ids: Sequence[str]) -> None:
        """Read MAE and MFE of trades."""
        if self.live is not None:
            self._run(partial(self.live.read_excursions_of, ids), "excursions", exclusive=True)

    def with_screens(self) -> frozenset[str]:
        """Return the trades of which a screen is kept."""
        return self.screens.trades_with_screen

    def ask_filter_text(self, form: JournalForm) -> None:
        """Ask for the words that trades must have."""
        from keydesk.forms.market.watchlists import NameForm  # noqa: PLC0415 - with the first form

        def take(filter_text: str | None) -> None:
            if filter_text is not None:
                form.show_only(filter_text)

        self._app.push_screen(
            NameForm(
                "Journal: only trades with these words",
                form.filter_text,
                trouble=lambda _text: "",
                hint="pair, side, tag, setup, note, win, loss, open: eurusd loss; leave empty for all",
                longest=MAX_FILTER_LENGTH,
            ),
            take,
        )

    def show_trade(self, trade_id: str) -> None:
        """Show all of a trade."""
        from keydesk.forms.journal.trade import JournalTradeForm  # noqa: PLC0415 - same

        if self.live is not None:
            live = self.live
            form = JournalTradeForm(self._store, live, trade_id, self, self._keymap)
            self._app.push_screen(form)

    def read_excursion(self, trade: JournalTrade) -> None:
        """Read MAE and MFE of one trade."""
        if self.live is not None:
            self._run(partial(self.live.read_excursions, [trade]), "excursion of one")

    def read_candles(self, trade: JournalTrade, take: Callable[[TradeCandles], None]) -> None:
        """Read the candles around a trade."""
        if self.live is not None:
            self._run(partial(_read_candles, self.live, trade, self._store.now_ns, take), "candles")

    def read_kept(self, trade: JournalTrade, take: Callable[[Sequence[KeptScreen]], None]) -> None:
        """Read the screens that were kept of a trade."""
        if self.live is not None:
            self._run(partial(_read_kept, self.live, trade, take), "reading screens")

    def write_note(self, trade_id: str) -> None:
        """Edit what is written about a trade."""
        self._open_note(trade_id)

    def _open_note(self, trade_id: str, kept: NoteEdit | None = None, trouble: str = "") -> None:
        """Open the form of a note; with changes that could not be kept, it begins with those."""
        from keydesk.forms.journal.note import NoteForm  # noqa: PLC0415 - with the first form

        live = self.live
        if live is None:
            self._tell("info", NOT_OPEN)
            return
        form = NoteForm(
            trade_id,
            self._about(trade_id),
            live.notes.by_trade.get(trade_id, NO_NOTE),
            is_open=lambda: trade_id in self._store.trades,
            keymap=self._keymap,
            trouble=safe(trouble or live.notes.trouble),
        )
        if (unkept := kept or self._unkept.pop(trade_id, None)) is not None:
            form.begin_with(unkept)
        self._app.push_screen(form, partial(self._save_note, form))
        self._run(partial(self._show_newest_note, live, form), "notes")

    async def _show_newest_note(self, live: LiveJournal, form: NoteForm) -> None:
        """Show the note as another desk may have changed it."""
        await live.reread_notes()
        form.show_note(live.notes.by_trade.get(form.trade_id, NO_NOTE))

    def _about(self, trade_id: str) -> Printable:
        """Return a trade in words, as far as it is known."""
        from keydesk.forms.journal.columns import result_text  # noqa: PLC0415 - with the first form

        line = None if self.live is None else self.live.line(trade_id)
        if line is not None:
            home = self._store.home_currency
            return safe(result_text(line, home, self._store.zone))
        trade = self._store.trades.get(trade_id)
        if trade is None:
            return safe(f"#{clean_name(trade_id)}")
        size = side_and_size(trade.units, trade.instrument)
        return safe(f"#{clean_name(trade_id)} {size}, open")

    def _save_note(self, form: NoteForm, edit: NoteEdit | None) -> None:
        """Keep the note; what was typed in a form that the key guard closed waits for the next one."""
        if edit is None and form.changes and not form.is_dropped:
            self._unkept[form.trade_id] = form.edit
            self._tell(
                "warn",
                f"Note on #{clean_name(form.trade_id)} NOT SAVED: open it again; the text is still there",
            )
        elif edit is not None and self.live is not None:
            self._run(partial(self._keep, self.live, edit), "keeping a note")

    async def _keep(self, live: LiveJournal, edit: NoteEdit) -> None:
        """Write the note; one that cannot be written is shown again as typed."""
        from keydesk.calc.trade_journal.notes import BadNote  # noqa: PLC0415
        from keydesk.forms.requests import LabelsWanted  # noqa: PLC0415 - with the first form
        from keydesk.trade_journal.notes_file import NotesNotWritten, change_note  # noqa: PLC0415

        path, id_ = live.files.notes, edit.trade_id
        try:
            note = await asyncio.to_thread(change_note, path, id_, edit.applied)
        except (BadNote, NotesNotWritten) as error:
            self._tell("bad", f"NOTE NOT SAVED on #{id_}: {error}")
            self._open_note(id_, edit, f"NOT SAVED: {error}")
            return
        await live.reread_notes()
        self._tell("good", f"Note on #{clean_name(id_)} {'removed' if note.is_empty else 'kept'}")
        if edit.to_broker and id_ in self._store.trades:
            self._app.post_message(LabelsWanted(id_, " ".join(note.tags), note.note))

    def _run(
        self, work: Callable[[], Coroutine[None, None, None]], name: str, *, exclusive: bool = False
    ) -> None:
        _: Worker[None] = self._app.run_worker(
            work,
            name,
            group=f"journal {name}",
            description=name,  # else the repr of all its arguments
            exclusive=exclusive,
            exit_on_error=False,
        )


async def _read_candles(
    live: LiveJournal, trade: JournalTrade, now_ns: int, take: Callable[[TradeCandles], None]
) -> None:
    from keydesk.calc.market.granularity import SECONDS  # noqa: PLC0415 - all with the first page
    from keydesk.forms.journal.chart import range_of  # noqa: PLC0415
    from keydesk.forms.journal.trade import TradeCandles  # noqa: PLC0415
    from keydesk.store.candles import candle_of  # noqa: PLC0415
    from keydesk_client.account.values import READ_ERRORS  # noqa: PLC0415
    from keydesk_client.errors import KeydeskClientError  # noqa: PLC0415
    from keydesk_client.models import DateTime  # noqa: PLC0415
    from keydesk_client.models.enumerations import granularity_of  # noqa: PLC0415

    name, start, end = range_of(trade, now_ns)
    try:
        answer = await live.client.candles.get(
            trade.instrument,
            granularity=granularity_of(name),
            from_=DateTime.from_ns(start),
            to=DateTime.from_ns(end),
            price="M",
        )
        candles = [each for loaded in answer.candles if (each := candle_of(loaded)) is not None]
    except (KeydeskClientError, *READ_ERRORS) as error:
        take(TradeCandles(trouble=clean(f"no candles: {error}")))
    else:
        take(TradeCandles(candles, SECONDS[name], safe(name)))


async def _read_kept(
    live: LiveJournal, trade: JournalTrade, take: Callable[[Sequence[KeptScreen]], None]
) -> None:
    from keydesk.trade_journal.screens import read_screens  # noqa: PLC0415 - with the first page

    take(await asyncio.to_thread(read_screens, live.files.screens, trade))
