"""What the panes ask for in messages: another instrument, candles, books, lists, layouts, pages."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from textual.message import Message

from keydesk.app.views.watchlists import WatchlistActions
from keydesk.app.views.workspaces import WorkspaceActions
from keydesk.keys.guarded_app import NoticeLevel
from keydesk.panes.book_figures import BookStep
from keydesk.panes.chart import Chart
from keydesk.panes.log import Log
from keydesk.panes.price_cells import InstrumentRows
from keydesk.panes.trades import Trades
from keydesk.panes.watchlist import Watchlist
from keydesk.screens.desk import DeskScreen
from keydesk.store.store import Store
from keydesk.store.watchlists import want_day_lines
from keydesk.widgets.sorted_table import SortedTable

PaneRequest = (
    InstrumentRows.Chosen
    | Watchlist.ChangeWanted
    | Watchlist.DayLinesWanted
    | DeskScreen.TimeframesWanted
    | DeskScreen.GranularityChosen
    | DeskScreen.BookmarkWanted
    | DeskScreen.PaneWithoutRoom
    | Chart.IndicatorsWanted
    | Chart.HistoryWanted
    | Chart.DateWanted
    | Chart.PricesWanted
    | Chart.SeriesWanted
    | BookStep
    | Log.AuditWanted
    | Log.PastWanted
    | SortedTable.LettersWanted
    | Trades.NoteWanted
)
ACTIONS: Mapping[type[Message], str] = {
    DeskScreen.TimeframesWanted: "timeframes",
    Chart.IndicatorsWanted: "indicators",
    Trades.NoteWanted: "note",
}


class PaneRequests:
    """Answers the requests of panes and main screen.

    Args:
        store: The state of account and market.
        watchlists: Change the trader's lists.
        workspaces: Save and show bookmarks.
        perform: Performs the action of a key, by its name.
        show_audit: Shows the audit log.
        ask_letters: Asks for the letters that rows of a table must have.
        tell: Shows one line to the trader.
    """

    def __init__(
        self,
        store: Store,
        watchlists: WatchlistActions,
        workspaces: WorkspaceActions,
        *,
        perform: Callable[[str], None],
        show_audit: Callable[[], None],
        ask_letters: Callable[[SortedTable], None],
        tell: Callable[[NoticeLevel, str], None],
    ) -> None:
        self._store, self._watchlists, self._workspaces = store, watchlists, workspaces
        self._perform, self._show_audit = perform, show_audit
        self._ask_letters, self._tell = ask_letters, tell

    def handle(self, message: Message) -> None:
        """Do what a message asks for; messages of other kinds are not for the desk."""
        match message:
            case InstrumentRows.Chosen():
                self._store.set_focus(message.instrument)
                message.settle()
            case Watchlist.ChangeWanted():
                self._watchlists.carry_out(message)
            case Watchlist.DayLinesWanted():
                want_day_lines(self._store, message.lines, message.averages)
            case DeskScreen.GranularityChosen():
                self._store.set_granularity(message.granularity)
            case DeskScreen.BookmarkWanted():
                act = self._workspaces.bookmark if message.sets else self._workspaces.jump
                act(message.letter)
            case DeskScreen.TimeframesWanted() | Chart.IndicatorsWanted() | Trades.NoteWanted():
                self._perform(ACTIONS[type(message)])
            case DeskScreen.PaneWithoutRoom():
                self._tell("info", message.words)
            case Log.AuditWanted():
                self._show_audit()
            case SortedTable.LettersWanted():
                self._ask_letters(message.pane)
            case _:
                self._load(message)

    def _load(self, message: Message) -> None:
        """Ask the feeds for candles, client books and older transactions."""
        from keydesk.store.candles import want_date, want_history  # noqa: PLC0415
        from keydesk.store.prices import step_book  # noqa: PLC0415 - all loaded with the models
        from keydesk.store.transactions.past_log import want_past  # noqa: PLC0415

        store = self._store
        match message:
            case Chart.HistoryWanted():
                want_history(store, message.instrument, message.granularity, message.direction)
            case Chart.DateWanted():
                want_date(store, message.instrument, message.granularity, message.date_ns)
            case Chart.PricesWanted():
                store.set_candle_prices(message.prices)
            case Log.PastWanted():
                seen = message.from_followed
                want_past(store, message.direction, message.letters, from_followed=seen)
            case BookStep():
                step_book(store, message.steps)
            case Chart.SeriesWanted() if message.place > 1:
                store.set_side_chart(message.place, message.instrument, message.granularity)
            case _:
                pass
