"""The desk behind its screens: the store, and the parts that act on account, market and layout, composed."""

from __future__ import annotations

import os
import random
from collections.abc import Awaitable, Callable, Mapping
from time import monotonic, time
from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct
from textual.events import Event
from textual.screen import ModalScreen

from keydesk.app.account_connection import Connection
from keydesk.app.account_sources import AccountAddress, AccountSource
from keydesk.app.alerts.account_alerts import AccountAlerts, WeekEndReminder
from keydesk.app.alerts.away_card import AwayCard
from keydesk.app.alerts.price_levels import LevelActions
from keydesk.app.clipboard import Clipboard
from keydesk.app.desk_account import AccountRequests, DeskAccount
from keydesk.app.desk_accounts import DeskAccounts
from keydesk.app.journal.account_journal import AccountJournal
from keydesk.app.journal.statistics import JournalStatistics
from keydesk.app.lifecycle import ForcedExit
from keydesk.app.lists.watchlists import WatchlistActions
from keydesk.app.lists.workspaces import WorkspaceActions
from keydesk.app.loss_lock import DailyLossLock
from keydesk.app.pages.account_pages import AccountPages
from keydesk.app.pages.transaction_details import TransactionPages
from keydesk.app.replay_control import MarketReplay
from keydesk.app.settings_changes import SettingsChanges, SizePresets
from keydesk.app.tour import Tour
from keydesk.app.window import DeskWindow
from keydesk.config.command_history import CommandHistory
from keydesk.config.folders import DeskOptions, Folders
from keydesk.config.last_workspace import WorkspaceFile
from keydesk.config.tour_file import TourFile
from keydesk.config.user_files import UserSettings
from keydesk.config.watchlists import WatchlistFile
from keydesk.keys.confirm import Letters
from keydesk.keys.guard import AutoDisarm, Cause, arming_at_start
from keydesk.keys.guarded_app import GuardedKeys
from keydesk.keys.keymap import KeyMap
from keydesk.screens.desk import DeskScreen
from keydesk.settings.values import Settings
from keydesk.store.risk import exit_only_text
from keydesk.store.store import Store
from keydesk.terminal.check import TerminalFacts
from keydesk.trading.desk_session import DeskLock
from keydesk.widgets.terminal_app import TerminalApp

if TYPE_CHECKING:
    from keydesk.app.look import DeskLook
    from keydesk.forms.modal_form import FormContext
    from keydesk.settings.theme_data import ThemeData
    from keydesk.trading.commands import Instruction

Decided = TypeVar("Decided", bound="Instruction")


class DeskSetup(Struct, frozen=True):
    """What a desk is started with."""

    options: DeskOptions
    settings: Settings
    folders: Folders
    account: AccountSource
    own: UserSettings
    forced_exit: ForcedExit
    lock: DeskLock
    workspace: WorkspaceFile
    tour: TourFile
    terminal: TerminalFacts
    accounts: DeskAccounts


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
        self._setup, self._app = setup, app
        own, folders, keymap = setup.own, setup.folders, KeyMap(setup.own.keymap.keys)
        self.keymap, self.lock = keymap, setup.lock
        self._letters = Letters(random.SystemRandom().choice)
        self._auto_disarm = AutoDisarm()
        self.store = store = Store()
        store.health.environment = setup.account.environment
        store.arming = arming_at_start(setup.account.environment, read_only=setup.options.read_only)
        self.window = DeskWindow(app, store, keymap)
        self.presets = SizePresets(self.window, own.template)
        self.guarded_keys = GuardedKeys(
            app,
            on_event,
            store,
            keymap,
            continued_at=app.continued_at,
            crowded=lambda: self.presets.take_back(self.guarded_keys.guard),
        )
        self.watchlists = WatchlistActions(self.window, WatchlistFile(folders.config))
        self.watchlists.load(setup.workspace.saved.watchlist)
        self.workspaces = WorkspaceActions(self.window, folders.config)
        self.levels = LevelActions(self.window, folders.config)
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
        self.templates = own.templates
        self.tour = Tour(self.window, self.presets, setup.tour)
        self.clipboard = Clipboard(self.window, app.send_to_terminal, os.environ)
        self.away = AwayCard(app, store, self.guarded_keys)
        self.week_end = WeekEndReminder(store)
        self.account_requests = AccountRequests(app, self.account, store)
        self.replay = MarketReplay(app, self.account, store, keymap)
        self.pages = AccountPages(app, self.account, store)
        self.transactions = TransactionPages(app, self.account, store)
        self.journal = AccountJournal(
            app,
            self.account,
            store,
            keymap=keymap,
        )
        self.look: DeskLook  # set by the application, which draws
        self.command_history = CommandHistory.of(folders.state / "desk")
        self.statistics = JournalStatistics(app, self.account, store, self.journal)
        store.zone = setup.settings.zone
        saved = setup.workspace.saved
        store.focus, store.granularity = saved.instrument, saved.granularity
        store.has_dots, store.chart_zoom = saved.dots, saved.zoom
        store.indicators.update(own.indicators)

    @property
    def screen(self) -> DeskScreen:
        """The main screen, even when a form is open on it."""
        return self.window.screen

    # The account.

    def on_shown(self, target: AccountAddress) -> None:
        """Follow the market of the account, whose first prices are on the screen."""
        self.replay.start(self._setup.folders.practice, target.rest_url)

    def on_open(self, connection: Connection) -> None:
        self.store.audit.record("start", f"{self.store.arming.level}: {self.store.arming.reason}")
        connection.commands.exit_only = self.exit_only
        self.levels.load()
        self.loss_lock.open(self.account.records, connection.feed.follower.snapshot_wanted.set)
        self.journal.open(connection)
        self.alerts.open(self.account.records, connection, self._setup.account.name)
        self.away.open(self.account.records, monotonic())

    def check(self) -> None:
        """Run the rules that disarm the desk, and what else is looked at with every frame."""
        now, losses = monotonic(), self.store.health.event_losses
        for cause in self._auto_disarm.causes(now, time(), self.guarded_keys.last_key_at, losses):
            self.guarded_keys.disarm(cause)
        if self.lock.check(now):
            self.guarded_keys.disarm(Cause.LOCKED)
        self.loss_lock.check(now)
        self.alerts.check(now)
        self.away.check(now)
        self.week_end.check(now)
        self.tour.check(now)
        self._setup.workspace.autosave(self.screen.workspace, now)
        self.account.check()

    # What the parts ask of the desk.

    def exit_only(self) -> str:
        """Return why no risk may be opened now, "" if it may."""
        return exit_only_text(self.store, self.settings.limits, self.store.now_ns)

    def form_context(self) -> FormContext:
        """Return the store, clocks, limits and keys that a form is given."""
        from keydesk.forms.modal_form import FormContext  # noqa: PLC0415 - with the first form

        return FormContext(
            store=self.store,
            letters=self._letters,
            clock=monotonic,
            guard=self.guarded_keys,
            template=self.presets.template,
            templates=self.templates,
            limits=self.settings.limits,
            preset=self.presets.number,
            keymap=self.keymap,
        )

    def take_keys(self, keymap: KeyMap) -> None:
        """Go by other keys of the main screen from now on."""
        self.keymap.take(keymap)
        self.guarded_keys.keymap_changed()
        self.window.app.set_keymap(dict(keymap.moved))
        self.screen.keys_changed()

    def take_themes(self, own: Mapping[str, ThemeData]) -> None:
        """Offer other themes of the trader from now on."""
        self._app.take_themes(own)

    def ask(self, form: ModalScreen[Decided | None]) -> None:
        """Open a form and carry out the instruction that it returns."""
        self.window.app.push_screen(form, self.account_requests.execute)

    # Leaving.

    def close(self, reason: str = "the desk was left") -> None:
        """Write what is kept of the desk."""
        self.alerts.close()
        self.away.close()
        self._setup.workspace.save(self.screen.workspace())
        self.store.audit.record("leave", reason)
