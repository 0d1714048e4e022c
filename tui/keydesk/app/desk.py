"""The desk behind its screens: the store, and the parts that act on account, market and layout, composed."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from time import monotonic, time
from typing import TYPE_CHECKING

from textual.events import Event

from keydesk.app.account_connection import Connection
from keydesk.app.account_pages import AccountPages
from keydesk.app.account_sources import AccountAddress, AccountSource
from keydesk.app.actions.context import DeskServices
from keydesk.app.actions.desk import DeskActions
from keydesk.app.alerts.account_alerts import AccountAlerts, WeekEndReminder
from keydesk.app.alerts.away import AwayCard
from keydesk.app.desk_account import AccountRequests, DeskAccount
from keydesk.app.desk_session import DeskLock
from keydesk.app.journal.account_journal import AccountJournal
from keydesk.app.journal.statistics import JournalStatistics
from keydesk.app.lifecycle import ForcedExit, Leaving
from keydesk.app.loss_lock import DailyLossLock
from keydesk.app.pane_requests import PaneRequests
from keydesk.app.replay import MarketReplay
from keydesk.app.settings_changes import SettingsChanges
from keydesk.app.transaction_details import TransactionPages
from keydesk.app.watchlists import WatchlistActions
from keydesk.app.workspaces import WorkspaceActions
from keydesk.config.last_workspace import WorkspaceFile
from keydesk.config.settings import DeskOptions, Folders, Settings
from keydesk.config.user_files import UserSettings
from keydesk.config.watchlists import WatchlistFile
from keydesk.keys.confirm import Letters
from keydesk.keys.guard import AutoDisarm, Cause, Guard, arming_at_start
from keydesk.keys.guarded_app import GuardedKeys
from keydesk.screens.desk import DeskScreen
from keydesk.store.risk import exit_only_text
from keydesk.store.state import NoticeLevel
from keydesk.store.store import Store
from keydesk.terminal.check import TerminalFacts
from keydesk.widgets.terminal_app import TerminalApp

if TYPE_CHECKING:
    from keydesk.calc.orders.instructions import Instruction
    from keydesk.forms.sheet import FormContext


@dataclass(frozen=True, slots=True)
class DeskSetup:
    """What a desk is started with."""

    options: DeskOptions
    settings: Settings
    folders: Folders
    account: AccountSource
    own: UserSettings
    forced_exit: ForcedExit
    lock: DeskLock
    workspace: WorkspaceFile
    terminal: TerminalFacts


class TradingDesk:
    """The store, and the parts that act on it; the application paints it and gives it keys, frames and signals.

    Args:
        app: Shows the forms and runs the workers.
        setup: What the desk is started with.
        on_event: Takes the keys that the guard lets through.
    """

    def __init__(
        self,
        app: TerminalApp[int],
        setup: DeskSetup,
        on_event: Callable[[Event], Awaitable[None]],
    ) -> None:
        self._app, self._setup = app, setup
        own, folders, keymap = setup.own, setup.folders, setup.own.keymap
        self.keymap, self.lock = keymap, setup.lock
        self._letters = Letters(random.SystemRandom().choice)
        self._auto_disarm = AutoDisarm()
        self.store = store = Store()
        store.health.environment = setup.account.environment
        store.arming = arming_at_start(setup.account.environment, read_only=setup.options.read_only)
        self.guarded_keys = GuardedKeys(
            app,
            on_event,
            store,
            keymap,
            continued_at=app.continued_at,
            crowded=lambda: self.actions.take_preset_back(),  # noqa: PLW0108 - made below
        )
        self.watchlists = WatchlistActions(
            app,
            store,
            WatchlistFile(folders.config),
            pane=lambda: self.screen.watchlist,
            keymap=keymap,
        )
        self.watchlists.load(setup.workspace.saved.watchlist)
        self.workspaces = WorkspaceActions(folders.config, store, lambda: self.screen)
        self.settings = SettingsChanges(app, store, own.limits, folders.config)
        self.loss_lock = DailyLossLock(store, self.settings, self.guarded_keys)
        self.account = DeskAccount(
            store,
            keymap,
            folders.state / "orders",
            setup.settings.reconciliation,
            self.guarded_keys,
        )
        self.alerts = AccountAlerts(
            app,
            store,
            own.alerts,
            write=app.send_to_terminal,
            keymap=keymap,
        )
        self.away = AwayCard(app, store, self.guarded_keys)
        self.week_end = WeekEndReminder(store)
        self._requests = AccountRequests(app, self.account, store)
        self.replay = MarketReplay(app, self.account, store, keymap)
        services = self._services()
        self.actions = DeskActions(
            app,
            self,
            services,
            store=store,
            keymap=keymap,
            template=own.template,
            lock=setup.lock,
        )
        self.leaving = Leaving(app, setup.forced_exit, self._close, self.actions.ask_before_leaving)
        self.requests = PaneRequests(
            app,
            store,
            self.watchlists,
            perform=self.actions.perform,
            show_audit=services.show_audit,
        )
        store.zone = setup.settings.zone
        saved = setup.workspace.saved
        store.focus, store.granularity = saved.instrument, saved.granularity
        store.has_dots = saved.dots
        store.indicators.update(own.indicators)

    def _services(self) -> DeskServices:
        """Return what the actions use of account, alerts, journal and settings."""
        app, account, store = self._app, self.account, self.store
        pages = AccountPages(app, account, store)
        self.journal = journal = AccountJournal(
            app,
            account,
            store,
            keymap=self.keymap,
            form_context=self.form_context,
            execute=self.execute,
        )
        statistics = JournalStatistics(app, account, store, journal)
        return DeskServices(
            show_audit=pages.show_audit,
            show_outcomes=pages.show_outcomes,
            show_transaction=TransactionPages(app, account, store).show,
            show_journal=journal.show,
            write_note=journal.write_note,
            show_statistics=statistics.show,
            show_day=statistics.show_day,
            show_week=partial(statistics.show_day, week=True),
            new_alert=self.alerts.new,
            make_alert=self.alerts.make,
            alert_trouble=self.alerts.trouble,
            show_alerts=self.alerts.show_page,
            toggle_mute=self.alerts.toggle_mute,
            read_summary=pages.read_summary,
            read_bookings=pages.read_bookings,
            read_closes=pages.read_closes,
            apply_limits=self.settings.apply_limits,
            apply_indicators=self.settings.apply_indicators,
            use_layout=self.workspaces.use,
            jump=self.workspaces.jump,
            bookmark=self.workspaces.bookmark,
            ask_unlock=self.loss_lock.ask_unlock,
            replay=self.replay,
        )

    @property
    def guard(self) -> Guard:
        """Return what judges the keys."""
        return self.guarded_keys.guard

    @property
    def screen(self) -> DeskScreen:
        """The main screen, even when a form is open on it."""
        return self.actions.screen

    # The account.

    def on_address(self, target: AccountAddress) -> None:
        """Take the address of the account, before it is opened."""
        self.replay.start(self._setup.folders.practice, target.rest_url)

    def on_open(self, connection: Connection) -> None:
        """Take the open account."""
        self.record("start", f"{self.store.arming.level}: {self.store.arming.reason}")
        connection.commands.exit_only = self.exit_only
        self.loss_lock.open(self.account.file("daily-loss"))
        self.journal.open(connection)
        self.alerts.open(self.account.file("alerts"), connection, self._setup.account.name)
        self.away.open(self.account.file("seen"), monotonic())

    def check(self) -> None:
        """Run the rules that disarm the desk, and what else is looked at with every frame."""
        now, losses = monotonic(), self.store.health.event_losses
        for cause in self._auto_disarm.causes(now, time(), self.guarded_keys.last_key_at, losses):
            self.disarm(cause)
        if self.lock.check(now):
            self.disarm(Cause.LOCKED)
        self.loss_lock.check(now)
        self.alerts.check(now)
        self.away.check(now)
        self.week_end.check(now)
        self._setup.workspace.autosave(self.screen.workspace, now)
        self.account.check()

    # What the parts ask of the desk.

    def disarm(self, cause: Cause) -> None:
        """Disarm the desk if the cause asks for it in this environment."""
        self.guarded_keys.disarm(cause)

    def exit_only(self) -> str:
        """Return why no risk may be opened now, "" if it may."""
        return exit_only_text(self.store, self.settings.limits, self.store.now_ns)

    def record(self, what: str, text: str) -> None:
        """Write an entry to the audit log of the account."""
        self.store.record(what, text)

    def tell(self, level: NoticeLevel, text: str) -> None:
        """Show one line to the trader."""
        self.store.tell(level, text)

    def key_context(self) -> str:
        """Return the key map's name of the focused pane."""
        return self.guarded_keys.key_context()

    def form_context(self) -> FormContext:
        """Return the store, clocks, limits and keys that a form is given."""
        from keydesk.forms.sheet import FormContext  # noqa: PLC0415 - with the first form

        context = FormContext(
            store=self.store,
            letters=self._letters,
            clock=monotonic,
            wall_ns=lambda: self.store.now_ns,
            template=self.actions.template,
            templates=self._setup.own.templates,
            limits=self.settings.limits,
            preset=self.actions.preset,
            keymap=self.keymap,
            exit_only=self.exit_only,
            ask_price=self._requests.ask_price,
            show_plan=self.actions.show_plan,
            dock_columns=self.actions.dock_columns,
        )
        return self._requests.facts_for_form(context)

    def execute(self, instruction: Instruction | None) -> None:
        """Start the command of a form in its own worker."""
        self._requests.execute(instruction)

    # Leaving.

    def leave(self, code: int = 0) -> None:
        """Leave after commands in flight had time to finish."""
        self.leaving.leave(code)

    def stay(self) -> None:
        """Go on: the question before leaving was answered with no."""
        self.leaving.stay()

    def _close(self) -> None:
        self.alerts.close()
        self.away.close()
        self._setup.workspace.save(self.screen.workspace())
        self.record("leave", "the desk was left")
