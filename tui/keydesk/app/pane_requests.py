"""What panes and forms ask for in messages: another instrument, candles, books, lists, pages, a price."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, get_args

from textual import on
from textual.app import App
from textual.message import Message

from keydesk.forms.requests import (
    AlertAction,
    ChannelSwitched,
    ConfigureWanted,
    CopyWanted,
    LabelsWanted,
    PlanChanged,
    PriceWanted,
    SettingChosen,
    SettingOpened,
    ThemePreview,
)
from keydesk.panes.book_figures import BookSnapshotWanted
from keydesk.panes.chart import Chart
from keydesk.screens.desk import DeskScreen
from keydesk.store.watchlists import want_day_lines
from keydesk.tables.instrument_rows import InstrumentRows
from keydesk.tables.log import Log
from keydesk.tables.sorted_table import SortedTable
from keydesk.tables.trades import Trades
from keydesk.tables.watchlist import Watchlist
from keydesk.text.sanitize import safe

if TYPE_CHECKING:
    from keydesk.app.actions.desk import DeskActions
    from keydesk.app.desk import TradingDesk
    from keydesk.app.settings.settings_page import SettingsPage

FormRequest = (
    PriceWanted
    | PlanChanged
    | ConfigureWanted
    | CopyWanted
    | SettingChosen
    | SettingOpened
    | ChannelSwitched
    | ThemePreview
    | AlertAction
    | LabelsWanted
)
PaneRequest = (
    InstrumentRows.Chosen
    | Watchlist.ChangeWanted
    | Watchlist.DayLinesWanted
    | DeskScreen.GranularityChosen
    | DeskScreen.PaneWithoutRoom
    | Chart.IndicatorsWanted
    | Chart.HistoryWanted
    | Chart.DateWanted
    | Chart.DotsTurned
    | Chart.ZoomWanted
    | Chart.PricesWanted
    | Chart.LevelWanted
    | Chart.SeriesWanted
    | BookSnapshotWanted
    | Log.AuditWanted
    | Log.PastWanted
    | SortedTable.FilterWanted
    | Trades.NoteWanted
    | FormRequest
)
ACTIONS: Mapping[type[Message], str] = {
    Chart.IndicatorsWanted: "indicators",
    Trades.NoteWanted: "note",
}
MAX_FILTER_LENGTH = 60
Handler = Callable[[Any, Message], None]


def on_pane_requests(handler: Handler) -> Handler:
    """Register a method of the application for every message of `PaneRequest`."""
    for kind in get_args(PaneRequest):
        handler = on(kind)(handler)
    return handler


class PaneRequests:
    """Answers the requests of panes, main screen and forms.

    Args:
        desk: Has what they ask for.
        actions: Performs what a key does, too.
        settings: The page of settings.
    """

    def __init__(self, desk: TradingDesk, actions: DeskActions, settings: SettingsPage) -> None:
        self._desk, self._store, self._actions = desk, desk.store, actions
        self._settings = settings

    def handle(self, message: Message) -> None:  # noqa: C901 - one branch a message
        """Do what a message asks for; messages of other kinds are not for the desk."""
        match message:
            case InstrumentRows.Chosen():
                self._store.set_focus(message.instrument)
                message.settle()
            case Watchlist.ChangeWanted():
                self._desk.watchlists.execute(message)
            case Watchlist.DayLinesWanted():
                want_day_lines(self._store, message.lines, message.averages)
            case Chart.LevelWanted():
                self._desk.levels.execute(message)
            case DeskScreen.GranularityChosen():
                self._store.set_granularity(message.granularity)
            case Chart.IndicatorsWanted() | Trades.NoteWanted():
                self._actions.perform(ACTIONS[type(message)])
            case DeskScreen.PaneWithoutRoom():
                self._store.notify("info", message.text)
            case Log.AuditWanted():
                self._desk.pages.show_audit()
            case SortedTable.FilterWanted():
                ask_filter_text(self._desk.window.app, message.pane)
            case _ if isinstance(message, FormRequest):
                self._serve_form(message)
            case _:
                self._load(message)

    def _serve_form(self, message: FormRequest) -> None:  # noqa: C901 - one branch a message
        from keydesk.forms.account.configure import ConfigureForm  # noqa: PLC0415 - with the first form
        from keydesk.forms.trades.labels import LabelsForm  # noqa: PLC0415 - same

        match message:
            case PriceWanted():
                self._desk.account_requests.ask_price(message.instrument)
            case PlanChanged():
                self._actions.show_plan(message.instrument, message.lines)
            case ThemePreview():
                self._desk.look.preview(message.name)
            case LabelsWanted():
                form = LabelsForm(self._desk.form_context(), message.trade_id)
                form.begin_with(message.tag, message.comment)
                self._desk.ask(form)
            case SettingChosen() | ChannelSwitched():
                self._settings.change(message)
            case SettingOpened("zone"):
                self._actions.perform("command_line", "zone ")
            case SettingOpened():
                self._desk.watchlists.choose_columns()
            case CopyWanted():
                self._desk.clipboard.copy(message.name, [[each] for each in message.lines])
            case AlertAction():
                self._desk.alerts.carry_out(message)
            case ConfigureWanted():
                self._desk.ask(ConfigureForm(self._desk.form_context()))

    def _load(self, message: Message) -> None:
        """Ask the feeds for candles, client books and older transactions."""
        from keydesk.store.candles import want_date, want_history  # noqa: PLC0415
        from keydesk.store.prices import step_book  # noqa: PLC0415 - all loaded with the models
        from keydesk.store.transactions.past_pages import want_past  # noqa: PLC0415

        store = self._store
        match message:
            case Chart.HistoryWanted():
                shown = message.instrument, message.granularity
                want_history(store, *shown, message.direction, of_series=message.of_series)
            case Chart.DateWanted():
                want_date(store, message.instrument, message.granularity, message.date_ns)
            case Chart.DotsTurned():
                store.set_dots(not store.has_dots)
            case Chart.ZoomWanted():
                store.set_chart_zoom(message.zoom)
            case Chart.PricesWanted():
                given = self._desk.form_context()
                size = given.template_of(store.focus).sizes.get(given.preset)
                store.set_candle_prices(message.prices, size)
            case Log.PastWanted():
                seen = message.from_followed
                want_past(store, message.direction, message.filter_text, from_followed=seen)
            case BookSnapshotWanted():
                step_book(store, message.steps)
            case Chart.SeriesWanted() if message.place > 1:
                store.set_side_chart(message.place, message.instrument, message.granularity)
            case _:
                pass


def ask_filter_text(app: App[Any], pane: SortedTable) -> None:
    """Ask for the words that rows of the pane must have, and show those rows."""
    from keydesk.forms.market.watchlists import NameForm  # noqa: PLC0415 - with the first form

    def take(filter_text: str | None) -> None:
        if filter_text is not None:
            pane.show_only(filter_text)

    form = NameForm(
        safe(f"{pane.NAME}: only rows with these words"),
        pane.filter_text,
        trouble=lambda _text: "",
        hint=pane.FILTER_HINT,
        longest=MAX_FILTER_LENGTH,
    )
    app.push_screen(form, take)
