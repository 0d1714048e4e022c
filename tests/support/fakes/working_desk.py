"""The desk with all its keys and forms over a made-up store: what a form decides is kept, nothing is sent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Literal, cast

from textual import actions, events, on
from textual.screen import ModalScreen

from keydesk.app.account_connection import USUAL_CHECKS
from keydesk.app.actions.desk import DeskActions
from keydesk.app.alerts.price_levels import LevelActions
from keydesk.app.clipboard import Clipboard
from keydesk.app.desk_account import DeskAccount
from keydesk.app.lists.watchlists import WatchlistActions
from keydesk.app.lists.workspaces import WorkspaceActions
from keydesk.app.replay_control import MarketReplay
from keydesk.app.settings_changes import SizePresets
from keydesk.app.tour import Tour
from keydesk.app.window import DeskWindow
from keydesk.calc.alerts.alert import AlertLine
from keydesk.calc.alerts.fact_conditions import TradeResult
from keydesk.calc.alerts.price_conditions import PriceCross
from keydesk.calc.market.indicator_specs import IndicatorChoice
from keydesk.calc.orders.ticket_settings import Template
from keydesk.config.command_history import CommandHistory
from keydesk.config.limits import LimitChange
from keydesk.config.tour_file import TourFile
from keydesk.config.watchlists import WatchlistFile
from keydesk.forms.account.order_history import OrderHistoryForm
from keydesk.forms.account.transaction import TransactionForm
from keydesk.forms.market.alert_chart import ReadFor
from keydesk.forms.market.alerts import AlertsForm
from keydesk.forms.market.new_alert import AlertChoice, NewAlertForm, TakeAlert
from keydesk.forms.modal_form import FormContext
from keydesk.forms.requests import AlertAction, PlanChanged
from keydesk.keys.chords import Chords
from keydesk.keys.guard import Cause, Guard
from keydesk.keys.guarded_app import GuardedKeys
from keydesk.keys.keymap import DESK, KEYMAP
from keydesk.panes.chart import Chart
from keydesk.screens.desk import DeskScreen
from keydesk.store.store import Store
from keydesk.tables.instrument_rows import InstrumentRows
from keydesk.tables.watchlist import Watchlist
from keydesk.trading.commands import Instruction
from keydesk.trading.desk_session import DeskLock
from keydesk.widgets.terminal_app import TerminalApp
from keydesk.widgets.theme import Depth
from keydesk.words.log_line import LogLine
from support.data.desk_data import NOW, WALL_NS, desk_store, frame_of
from support.fakes.form_app import example_context
from support.fakes.quick_pilot import QuickTests

if TYPE_CHECKING:
    from keydesk.app.accounts.sign_in import SignIn
    from keydesk.app.actions.shutdown_flow import ShutdownFlow
    from keydesk.app.desk import TradingDesk
    from keydesk.app.settings.settings_page import SettingsPage


class WorkingDesk(TerminalApp[int], QuickTests[int], inherit_bindings=False):
    """The main screen, its actions and its forms; keys pass without the guard, whose clock is a person's."""

    CSS_PATH = DeskScreen.CSS_PATH

    def __init__(
        self, lock: DeskLock, depth: Depth = "truecolor", *, ascii_only: bool = False
    ) -> None:
        super().__init__()
        self.store: Store = desk_store(20)
        self.store.wall_ns = lambda: WALL_NS
        self.window = DeskWindow(self, self.store, KEYMAP)
        self.chords = Chords(KEYMAP)
        self.guard = Guard(frozenset())
        self.statistics_shown: list[int] = []  # the views
        self.days_shown: list[str] = []
        self.noted: list[str] = []
        self.workspaces = WorkspaceActions(self.window, lock.path.parent)
        self.levels = LevelActions(self.window, lock.path.parent)
        account = DeskAccount(
            self.store,
            KEYMAP,
            lock.path.parent,
            USUAL_CHECKS,
            GuardedKeys(self, super().on_event, self.store),
        )
        self.copied: list[str] = []  # to the terminal's clipboard
        self.replay = MarketReplay(self, account, self.store)
        self.desk = self._desk_beneath()
        self.desk.presets = SizePresets(self.window, Template())
        self.desk.tour = Tour(self.window, self.desk.presets, TourFile(lock.path.parent / "tour"))
        self.desk.clipboard = Clipboard(self.window, self.copied.append, {})
        self.desk.lock = lock
        shutdown = SimpleNamespace(ask_or_leave=self.leave)
        self.asked_of_accounts: list[tuple[str, str]] = []
        self.sign_in = self._recording_sign_in()
        self.actions = DeskActions(
            cast("TradingDesk", self.desk),
            cast("ShutdownFlow", shutdown),
            cast("SignIn", self.sign_in),
            cast("SettingsPage", None),
        )
        self.watchlists = WatchlistActions(self.window, WatchlistFile(lock.path.parent))
        self.decided: list[Instruction] = []
        self.series_wanted: list[tuple[int, str]] = []  # place and candle length
        self.recorded: list[tuple[str, str]] = []
        self.store.audit.listen(lambda what, text: self.recorded.append((what, text)))
        self.alert_choices: list[AlertChoice | None] = []
        self.alert_actions: list[AlertAction] = []
        self.mutes = 0
        self.journal_shown = False
        self.apply_theme("dark", depth, ascii_only=ascii_only)

    def get_default_screen(self) -> DeskScreen:
        """Start on the desk."""
        return DeskScreen()

    def _recording_sign_in(self) -> SimpleNamespace:
        """Return what notes what is asked of the accounts, in `asked_of_accounts`."""

        def note(what: str) -> Callable[..., None]:
            return lambda name="": self.asked_of_accounts.append((what, name))

        return SimpleNamespace(
            begin=note("login"),
            end=note("logout"),
            choose=note("profile"),
            open=note("open"),
            show_accounts=note("accounts"),
        )

    def _desk_beneath(self) -> SimpleNamespace:
        """Return what the actions use of the desk."""
        return SimpleNamespace(
            window=self.window,
            store=self.store,
            form_context=self.form_context,
            account_requests=SimpleNamespace(execute=self.execute),
            ask=lambda form: self.push_screen(form, self.execute),
            guarded_keys=SimpleNamespace(
                guard=self.guard,
                key_context=self.key_context,
                disarm=self.disarm,
                run_key_action=self._run_chord,
            ),
            command_history=CommandHistory(),
            look=SimpleNamespace(choices=lambda _: ()),
            loss_lock=SimpleNamespace(ask_unlock=self.ask_unlock),
            settings=SimpleNamespace(
                apply_limits=self.apply_limits, apply_indicators=self.apply_indicators
            ),
            alerts=SimpleNamespace(
                new=self.new_alert,
                make=self.make_alert,
                show_page=self.show_alerts,
                toggle_mute=self.toggle_mute,
            ),
            journal=SimpleNamespace(show=self.show_journal, write_note=self.noted.append),
            statistics=SimpleNamespace(show=self.statistics_shown.append, show_day=self.show_day),
            transactions=SimpleNamespace(show=self.show_transaction),
            pages=SimpleNamespace(
                audit=None,
                show_audit=self.show_audit,
                show_outcomes=self.show_outcomes,
                read_summary=lambda _: None,  # nothing is read here
                read_bookings=lambda _: None,
                read_closes=lambda _names, _take: None,
                read_candles=lambda _instrument, _granularity, _take: None,
            ),
            workspaces=self.workspaces,
            replay=self.replay,
        )

    def new_alert(self, condition: PriceCross | TradeResult) -> None:
        self.push_screen(NewAlertForm(self.store, condition), self.alert_choices.append)

    def make_alert(self, line: AlertLine) -> None:
        self.alert_choices.append(TakeAlert(line))

    def show_alerts(self, _read: ReadFor) -> None:
        self.push_screen(AlertsForm(self.store))

    def show_day(self, *, week: bool = False) -> None:
        self.days_shown.append("week" if week else "day")

    def show_journal(self) -> None:
        self.journal_shown = True

    def toggle_mute(self) -> None:
        self.mutes += 1

    def on_mount(self) -> None:
        self.animation_level = "none"
        self.call_after_refresh(self.draw)

    def draw(self) -> None:
        """One beat for the desk and for the forms over it."""
        frame = frame_of(self.store, everything=True)
        for screen in self.screen_stack:
            on_frame = getattr(screen, "on_frame", None)
            if on_frame is not None:
                on_frame(frame)

    def form_context(self) -> FormContext:
        return FormContext(
            store=self.store,
            letters=example_context().letters,
            clock=lambda: NOW,
            guard=None,
        )

    def execute(self, instruction: Instruction | None) -> None:
        if instruction is not None:
            self.decided.append(instruction)

    def on_chart_series_wanted(self, message: Chart.SeriesWanted) -> None:
        """Note the chart and the candle length."""
        self.series_wanted.append((message.place, message.granularity))

    @on(PlanChanged)
    def show_plan(self, message: PlanChanged) -> None:
        """Draw the prices of a form on the charts."""
        self.actions.show_plan(message.instrument, message.lines)

    @on(AlertAction)
    def note_alert_action(self, message: AlertAction) -> None:
        """Keep what the page of alerts asks for."""
        self.alert_actions.append(message)

    def on_chart_indicators_wanted(self) -> None:
        self.actions.perform("indicators")

    def apply_indicators(self, choice: IndicatorChoice | None) -> None:
        if choice is not None:
            self.store.set_indicators(choice.instrument, choice.specs)

    def apply_limits(self, changes: Sequence[LimitChange] | None) -> None:
        self.limit_changes = list(changes or ())

    def record(self, what: str, text: str) -> None:
        self.store.audit.record(what, text)

    def show_transaction(self, line: LogLine) -> None:
        """No broker is asked here."""
        self.push_screen(TransactionForm(self.store, line))

    def show_outcomes(self) -> None:
        """Nothing was sent here."""
        self.push_screen(OrderHistoryForm(self.store, lambda take: take((), ())))

    def show_audit(self) -> None:
        self.audit_shown = True

    def ask_unlock(self) -> None:
        self.unlock_asked = True

    def disarm(self, cause: Cause) -> None:
        """Stay armed: the forms are to be reached."""

    def tell(self, level: Literal["info", "good", "warn", "bad"], text: str) -> None:
        self.store.notify(level, text)

    def leave(self, code: int = 0) -> None:
        """Stay: leaving is not what is tried."""

    def stay(self) -> None:
        """Stay: as decided."""

    def key_context(self) -> str:
        return str(getattr(self.focused, "key_context", DESK))

    def action_perform(self, name: str, *arguments: object) -> None:
        self.actions.perform(name, *arguments)

    async def on_event(self, event: events.Event) -> None:
        """Complete chords; every other key goes to Textual."""
        if isinstance(event, events.Key) and not isinstance(self.screen, ModalScreen):
            key = event.character or event.key
            action = self.chords.key(key, self.key_context())
            self.window.screen.show_chord(self.chords.first)
            if action is not None:
                await self._run_chord(action)
                return
        await super().on_event(event)

    async def _run_chord(self, action: str) -> None:
        if not action:
            return
        _, name, arguments = actions.parse(action)
        for place in (self.focused, self.screen):
            if place is not None and hasattr(place, f"action_{name}"):
                await self.run_action(action, default_namespace=place)
                return
        self.actions.perform(name, *arguments)

    def on_watchlist_change_wanted(self, message: Watchlist.ChangeWanted) -> None:
        self.watchlists.execute(message)

    @on(Chart.LevelWanted)
    def change_level(self, message: Chart.LevelWanted) -> None:
        self.levels.execute(message)

    @on(InstrumentRows.Chosen)
    def show_instrument(self, message: InstrumentRows.Chosen) -> None:
        self.store.set_focus(message.instrument)
        message.settle()
