"""The desk's application: it owns the screen, the frame clock and the workers."""

from __future__ import annotations

import os
import random
from functools import partial
from time import monotonic, time, time_ns
from typing import TYPE_CHECKING, ClassVar, Literal

from textual import on
from textual.binding import Binding, BindingType
from textual.events import Event
from textual.message import Message
from textual.screen import Screen
from textual.worker import Worker, WorkerState

from keydesk.app import lifecycle
from keydesk.app.account_connection import Connection, DeskAccount
from keydesk.app.account_requests import AccountRequests
from keydesk.app.account_sources import AccountAddress, AccountSource
from keydesk.app.account_start import AccountStart
from keydesk.app.actions.context import DeskPages
from keydesk.app.actions.desk import DeskActions
from keydesk.app.alerts.away import AwayCard
from keydesk.app.alerts.desk import AlertDesk
from keydesk.app.alerts.week_end import WeekEndReminder
from keydesk.app.availability import is_available
from keydesk.app.desk_audit import DeskAudit
from keydesk.app.desk_session import DeskLock
from keydesk.app.journal.desk import JournalDesk
from keydesk.app.journal.statistics import JournalStatistics
from keydesk.app.loss_lock import DailyLossLock
from keydesk.app.order_outcomes import OrderOutcomes
from keydesk.app.page_readings import PageReadings
from keydesk.app.pane_requests import PaneRequests
from keydesk.app.replay import MarketReplay
from keydesk.app.settings_changes import SettingsChanges
from keydesk.app.transaction_details import TransactionPages
from keydesk.app.views.tables import ask_letters
from keydesk.app.views.watchlists import WatchlistActions
from keydesk.app.views.workspaces import WorkspaceActions
from keydesk.config.profiles import WorkspaceFile
from keydesk.config.settings import DeskOptions, Folders, Settings
from keydesk.config.user_files import UserSettings
from keydesk.config.watchlists import WatchlistFile
from keydesk.keys.confirm import Letters
from keydesk.keys.guard import AutoDisarm, Cause, arming_after, arming_at_start
from keydesk.keys.guarded_app import GuardedKeys
from keydesk.panes.book_figures import BookStep
from keydesk.panes.chart import Chart
from keydesk.panes.log import Log
from keydesk.panes.price_cells import InstrumentRows
from keydesk.panes.trades import Trades
from keydesk.panes.watchlist import Watchlist
from keydesk.screens.desk import DeskScreen
from keydesk.store.frame import Frame, FrameClock
from keydesk.store.risk import exit_only_words
from keydesk.store.state import Notice, Topic
from keydesk.store.store import Store
from keydesk.terminal._textual_private import raise_in_app
from keydesk.terminal.check import TerminalFacts, ascii_locale
from keydesk.terminal.input import InputDropped, InputOverrun
from keydesk.terminal.query import theme_for
from keydesk.text.sanitize import safe
from keydesk.widgets import theme
from keydesk.widgets.sorted_table import SortedTable
from keydesk.widgets.terminal_app import TerminalApp

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType

    from keydesk.alerts.away import AwayReport
    from keydesk.calc.command_parser import LayoutVerb
    from keydesk.calc.market.indicator_specs import IndicatorChoice
    from keydesk.calc.orders.instructions import Instruction
    from keydesk.config.limits import LimitChange
    from keydesk.forms.sheet import FormContext

FAULT = (
    "the desk ended because of an internal error (above). Positions, orders and stops stay at the broker as they are. "
    "Start keydesk again: orders without a known outcome are looked up first. "
    "Without the desk: keydesk flatten, keydesk cancel-all"
)
AFTER_A_FORM = 1.0  # seconds


class KeydeskApp(TerminalApp[int], inherit_bindings=False):
    """The desk: composed of `GuardedKeys` (key checks) and `DeskActions` (actions of the keys)."""

    ENABLE_COMMAND_PALETTE = False
    CSS_PATH = (
        DeskScreen.CSS_PATH
    )  # the first screen is shown before a screen's own file would be read
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+c", "interrupt", show=False, priority=True),
    ]
    actions: DeskActions

    def __init__(
        self,
        options: DeskOptions,
        settings: Settings,
        folders: Folders,
        *,
        account: AccountSource,
        own: UserSettings,
        last_resort: lifecycle.LastResort,
        lock: DeskLock,
        workspace: WorkspaceFile,
        terminal: TerminalFacts | None = None,
    ) -> None:
        super().__init__()
        self.facts_of_terminal = terminal or TerminalFacts()
        environment = account.environment
        self.title = f"Keydesk {environment}"
        self.window_title = _window_title(options, account.name, environment)
        self._profile = account.name
        self.store = Store()
        self.store.health.environment = environment
        self.store.arming = arming_at_start(environment, read_only=options.read_only)
        self.letters = Letters(random.SystemRandom().choice)
        self.keymap = own.keymap
        self._templates = own.templates
        self.set_keymap(dict(own.keymap.moved))
        self.guarded_keys = GuardedKeys(
            self,
            super().on_event,
            disarm=self.disarm,
            notify=self.tell,
            keymap=own.keymap,
            record=self.record,
            continued_at=self.continued_at,
        )
        self.watchlists = WatchlistActions(
            self,
            self.store,
            WatchlistFile(folders.config),
            tell=self.tell,
            pane=lambda: self.actions.screen.watchlist,
            keymap=own.keymap,
        )
        self.watchlists.load(workspace.saved.watchlist)
        self.workspaces = WorkspaceActions(
            folders.config,
            self.store,
            screen=lambda: self.actions.screen,
            tell=self.tell,
        )
        self.settings_changes = SettingsChanges(
            self,
            self.store,
            own.limits,
            folders.config,
            tell=self.tell,
            record=self.record,
        )
        self.loss_lock = DailyLossLock(
            self.store,
            lambda: self.settings_changes.limits,
            tell=self.tell,
            disarm=self.disarm,
            record=self.record,
        )
        self.open_account = DeskAccount(
            self.store,
            own.keymap,
            folders.state / "orders",
            settings.reconciliation,
            tell=self.tell,
            last_key_at=lambda: self.guarded_keys.last_key_at,
        )
        self.alerts = AlertDesk(
            self,
            self.store,
            own.alerts,
            write=self.send_to_terminal,
            tell=self.tell,
            keymap=own.keymap,
        )
        self.away = AwayCard(
            self.store,
            last_key_at=lambda: self.guarded_keys.last_key_at,
            is_free=lambda: isinstance(self.screen, DeskScreen),
            show=self._show_away,
        )
        self._audit = DeskAudit(self, self.open_account, self.store, self.tell)
        self._readings = PageReadings(self, self.open_account, self.store)
        self.journal = JournalDesk(
            self,
            self.open_account,
            self.store,
            tell=self.tell,
            keymap=own.keymap,
            form_context=self.form_context,
            carry_out=self.carry_out,
        )
        self._outcomes = OrderOutcomes(self, self.open_account, self.store)
        self._transactions = TransactionPages(self, self.open_account, self.store)
        self.statistics = JournalStatistics(
            self, self.open_account, self.store, self.journal, self.tell
        )
        self._requests = AccountRequests(self, self.open_account, self.tell)
        self.actions = DeskActions(
            self,
            self,
            self._pages(),
            store=self.store,
            keymap=own.keymap,
            template=own.template,
            lock=lock,
        )
        self.week_end = WeekEndReminder(self.store, self.tell)
        self.replay = MarketReplay(
            self, self.open_account, self.store, tell=self.tell, record=self.record
        )
        self.last_words = ""
        self.lock = lock
        self.auto_disarm = AutoDisarm()
        self.store.zone = settings.zone
        self.store.focus, self.store.granularity = (
            workspace.saved.instrument,
            workspace.saved.granularity,
        )
        self.store.indicators.update(own.indicators)
        self._workspace = workspace
        self._practice_folder = folders.practice
        self._leaving = lifecycle.Leaving(
            self, last_resort, self._save_workspace, self.actions.ask_before_leaving
        )
        self._slow_line_reported = False
        self._last_resort = last_resort
        self.clock = FrameClock(
            self.store,
            self.draw,
            now=monotonic,
            wall_ns=time_ns,
            backlog=self.writes_waiting,
            before=(self.open_account.revalue,),
            fps=options.fps or settings.frames_per_second,
        )
        self._pane_requests = PaneRequests(
            self.store,
            self.watchlists,
            self.workspaces,
            perform=self.actions.perform,
            show_audit=self._audit.show,
            ask_letters=partial(ask_letters, self),
            tell=self.tell,
        )
        self._start = AccountStart(
            self,
            account,
            self.open_account,
            tell=self.tell,
            opened=self._account_opened,
            failed=self._account_failed,
            draw_now=self.clock.draw_now,
        )
        depth = theme.colour_depth(os.environ, self.facts_of_terminal.replies)
        self.dress(
            options.theme or theme_for(settings.theme, depth, self.facts_of_terminal.replies),
            depth,
            ascii_only=options.ascii or bool(self.facts_of_terminal.ascii_because),
            erases_in_colour=self.facts_of_terminal.erases_in_colour,
        )

    def _pages(self) -> DeskPages:
        """Return what the actions show and read of account, alerts and journal."""
        return DeskPages(
            show_audit=self._audit.show,
            show_outcomes=self._outcomes.show,
            show_transaction=self._transactions.show,
            show_journal=self.journal.show,
            write_note=self.journal.write_note,
            show_statistics=self.statistics.show,
            show_day=self.statistics.show_day,
            show_week=partial(self.statistics.show_day, week=True),
            new_alert=self.alerts.new,
            make_alert=self.alerts.make,
            show_alerts=self.alerts.show_page,
            turn_mute=self.alerts.turn_mute,
            read_summary=self._requests.read_summary,
            read_bookings=self._readings.bookings,
            read_closes=self._readings.closes,
        )

    # Starting.

    def get_default_screen(self) -> Screen[None]:
        """Return the desk screen; its empty frame is the loading state."""
        return DeskScreen(
            keymap=self.keymap,
            unavailable=lambda id_: not is_available(id_, self.store, self.actions.selection()),
            left_as=self._workspace.saved,
        )

    def on_mount(self) -> None:
        """Start the frame clock, the signal handlers and the workers."""
        self.animation_level = "none"
        self.set_interval(self.clock.period, self.beat)
        self.guarded_keys.watch_screens()
        self.screen_change_signal.subscribe(self, self._after_a_form)
        lifecycle.leave_on_signals(self.leave, self._last_resort)
        lifecycle.leave_without_terminal(self.leave, self._last_resort)
        lifecycle.end_with_threads(self.end_on_fault, self._last_resort, FAULT)
        self.call_after_refresh(self._open)

    def _after_a_form(self, screen: Screen[object]) -> None:
        """Free the objects of closed forms a moment later, about 0.5 MB each."""
        if isinstance(screen, DeskScreen):
            self.set_timer(AFTER_A_FORM, self.free_closed_forms)

    def _open(self) -> None:
        self.actions.show_preset()
        self._say_terminal()
        opening = self._start.run(self._account_found)
        self.run_worker(opening, "account", group="feeds", exit_on_error=False)

    def _say_terminal(self) -> None:
        """Report limits of the terminal; ASCII by locale or `--ascii` was chosen and is not reported."""
        facts = self.facts_of_terminal
        if facts.ascii_because and not ascii_locale(os.environ):
            self.tell("warn", f"Drawn in ASCII: {facts.ascii_because}")
        for warning in facts.warnings:
            self.tell("warn", warning)

    def _account_found(self, target: AccountAddress) -> None:
        self.show_window_title(f"{self.window_title} …{target.account_id[-3:]}")
        self.replay.start(self._practice_folder, target.rest_url)

    def _account_opened(self, connection: Connection) -> None:
        self.record("start", f"{self.store.arming.level}: {self.store.arming.reason}")
        connection.commands.exit_only = self.exit_only
        self.loss_lock.open(self.open_account.file("daily-loss"))
        self.journal.open(connection)
        self.alerts.open(self.open_account.file("alerts"), connection, self._profile)
        self.away.open(self.open_account.file("seen"), monotonic())

    def _account_failed(self, words: str) -> None:
        self.last_words = words
        self.exit(1, return_code=1)

    # The beat.

    def beat(self) -> None:
        """Run the frame clock and the rules that disarm the desk."""
        self.catch_up()
        if self.is_painted:  # all of the last frame, before the next one is drawn
            painted = self.store.note_painted(self.actions.screen.notices_on_screen, monotonic())
            self.open_account.painted(painted)
        self.clock.beat()
        if self.clock.slow and not self._slow_line_reported and self.slow_line_words:
            self._slow_line_reported = True
            self.tell("info", self.slow_line_words)
        now, losses = monotonic(), self.store.health.event_losses
        for cause in self.auto_disarm.causes(now, time(), self.guarded_keys.last_key_at, losses):
            self.disarm(cause)
        if self.lock.look(now):
            self.disarm(Cause.LOCKED)
        self.loss_lock.look(now)
        self.alerts.look(now)
        self.away.look(now)
        self.week_end.look(now)
        self._workspace.keep(self.actions.screen.workspace, now)
        self.open_account.look()

    def draw(self, frame: Frame) -> None:
        """Pass the frame to every screen with live content."""
        for screen in self.screen_stack:
            on_frame = getattr(screen, "on_frame", None)
            if on_frame is not None:
                on_frame(frame)

    # What the guard asks for.

    def disarm(self, cause: Cause) -> None:
        """Disarm the desk if the cause asks for it in this environment."""
        now = arming_after(cause, self.store.arming, self.store.health.environment)
        if now != self.store.arming:
            self.record("disarm", cause.value.words)
            self.store.arming = now
            self.store.mark(Topic.ARMING)

    def exit_only(self) -> str:
        """Return why no risk may be opened now, "" if it may."""
        return exit_only_words(
            self.store, self.settings_changes.limits, self.store.clock_ns or time_ns()
        )

    def keep_limits(self, changes: Sequence[LimitChange] | None) -> None:
        """Put changed limits in force and keep them."""
        self.settings_changes.keep_limits(changes)

    def unlock_early(self, yes: bool | None) -> None:
        """Begin the early unlock of the daily loss lock."""
        if yes:
            self.loss_lock.ask_unlock()

    def record(self, what: str, words: str) -> None:
        """Write an entry to the audit log of the account."""
        self._audit.record(what, words)
        self.alerts.recorded(what, words)

    def _show_away(self, report: AwayReport) -> None:
        from keydesk.forms.info_form import DetailsForm  # noqa: PLC0415 - with the first form

        self.push_screen(DetailsForm(report.title, report.rows(self.store.zone)))

    def tell(self, level: Literal["info", "good", "warn", "bad"], words: str) -> None:
        """Show one line to the trader."""
        self.store.notify(Notice(level, safe(words), time_ns()))

    # Keys, and the messages of panes.

    async def on_event(self, event: Event) -> None:
        """Let the guard check keys, pastes and a lost focus before Textual acts on them."""
        await self.guarded_keys.on_event(event)

    def on_input_dropped(self, message: InputDropped) -> None:
        """Report dropped input."""
        self.guarded_keys.on_input_dropped(message)

    def on_input_overrun(self, message: InputOverrun) -> None:
        """Close the open forms: keys that were meant for them are missing."""
        self.guarded_keys.on_input_overrun(message)

    def key_context(self) -> str:
        """Return the key map's name of the focused pane."""
        return self.guarded_keys.key_context()

    def action_perform(self, name: str, *arguments: object) -> None:
        """Perform the action of one of the desk's keys."""
        self.actions.perform(name, *arguments)

    @on(BookStep)
    @on(Chart.DateWanted)
    @on(Chart.HistoryWanted)
    @on(Chart.IndicatorsWanted)
    @on(Chart.PricesWanted)
    @on(Chart.SeriesWanted)
    @on(DeskScreen.BookmarkWanted)
    @on(DeskScreen.GranularityChosen)
    @on(DeskScreen.PaneWithoutRoom)
    @on(DeskScreen.TimeframesWanted)
    @on(InstrumentRows.Chosen)
    @on(Log.AuditWanted)
    @on(Log.PastWanted)
    @on(SortedTable.LettersWanted)
    @on(Trades.NoteWanted)
    @on(Watchlist.ChangeWanted)
    @on(Watchlist.DayLinesWanted)
    def handle_request(self, message: Message) -> None:
        """Do what a pane asks for."""
        self._pane_requests.handle(message)

    def use_layout(self, verb: LayoutVerb, name: str) -> None:
        """Save, show or delete a named workspace."""
        getattr(self.workspaces, verb)(name)

    def keep_indicators(self, choice: IndicatorChoice | None) -> None:
        """Show the chosen indicators and keep them."""
        self.settings_changes.keep_indicators(choice)

    # Forms.

    def form_context(self) -> FormContext:
        """Return the store, clocks, limits and keys that a form is given."""
        from keydesk.forms.sheet import FormContext  # noqa: PLC0415 - with the first form

        context = FormContext(
            store=self.store,
            letters=self.letters,
            clock=monotonic,
            wall_ns=lambda: self.store.clock_ns or time_ns(),
            template=self.actions.template,
            templates=self._templates,
            limits=self.settings_changes.limits,
            preset=self.actions.preset,
            keymap=self.keymap,
            exit_only=self.exit_only,
            record=self.record,
            ask_price=self._requests.ask_price,
            show_plan=self.actions.show_plan,
            dock_columns=self.actions.dock_columns,
        )
        return self._requests.facts_for_form(context)

    def carry_out(self, instruction: Instruction | None) -> None:
        """Start a command in its own worker."""
        self._requests.carry_out(instruction)

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """Report an error of a worker on the screen."""
        if event.state is not WorkerState.ERROR:
            return
        error = event.worker.error
        words = f"{event.worker.name} failed ({type(error).__name__}: {error})"
        if event.worker.group == "commands":
            self.tell("bad", f"OUTCOME NOT SHOWN: {words}. Look at trades and orders.")
        else:
            self.tell("bad", f"{words}. Leave and start again; exits work at the broker.")

    def fault_report(self) -> RenderableType | None:
        """Return the report of the first fault, and end the desk."""
        if self.last_words:
            return None
        self.last_words = FAULT
        self._last_resort.arm(1, lifecycle.PATIENCE)
        return super().fault_report()

    def panic(self, *renderables: RenderableType) -> None:
        """End on an error outside the event loop, such as in the input thread."""
        self.last_words = self.last_words or FAULT
        self._last_resort.arm(1, lifecycle.PATIENCE)
        super().panic(*renderables)

    def end_on_fault(self, error: BaseException) -> None:
        """End because a thread died: without its writer or reader the desk would only look alive."""
        if not self.last_words:
            raise_in_app(self, RuntimeError(f"a thread of the desk ended: {error!r}"))

    # Leaving.

    def action_interrupt(self) -> None:
        """Leave on the second Ctrl-C within two seconds, or answer what it asks; the first shows how to leave."""
        if not self._leaving.interrupt():
            line = self.keymap.name("command")
            self.tell("info", f"Press {line}q and Enter to leave, or Ctrl-C again now")

    def leave(self, code: int = 0) -> None:
        """Leave after commands in flight had time to finish."""
        self._leaving.leave(code)

    def stay(self) -> None:
        """Go on: the question before leaving was answered with no."""
        self._leaving.stay()

    def _save_workspace(self) -> None:
        self.alerts.close()
        self.away.close()
        self._workspace.save(self.actions.screen.workspace())
        self.record("leave", "the desk was left")


def _window_title(options: DeskOptions, profile: str, environment: str) -> str:
    level = "READ-ONLY " if options.read_only else ""
    return f"Keydesk {level}{environment} {profile}"
