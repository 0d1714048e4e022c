"""The desk's application: screens, frames, keys, workers and the end of the program."""

from __future__ import annotations

import asyncio
import dataclasses
import os
from contextlib import suppress
from functools import partial
from time import monotonic, time_ns
from typing import TYPE_CHECKING, ClassVar

from msgspec.structs import replace
from textual.binding import Binding, BindingType
from textual.events import Event, Key, Paste
from textual.message import Message
from textual.screen import ModalScreen, Screen
from textual.worker import Worker, WorkerState

from keydesk import forms
from keydesk.app import lifecycle
from keydesk.app.account_connection import Connection, load_all
from keydesk.app.account_sources import AccountAddress, AccountSource, CannotOpen
from keydesk.app.accounts.account_window import AccountWindow
from keydesk.app.accounts.sign_in import SignIn
from keydesk.app.accounts.switching import AccountSwitch, name_of_account
from keydesk.app.actions.desk import DeskActions
from keydesk.app.actions.shutdown_flow import ShutdownFlow
from keydesk.app.availability import is_available
from keydesk.app.desk import DeskSetup, TradingDesk
from keydesk.app.garbage_collection import return_unused_memory, settle
from keydesk.app.look import DeskLook
from keydesk.app.pane_requests import PaneRequests, on_pane_requests
from keydesk.app.settings.settings_page import SettingsPage
from keydesk.app.settings.settings_reload import SettingsFiles
from keydesk.config.last_workspace import WorkspaceFile
from keydesk.config.tour_file import TourFile
from keydesk.config.user_files import UserSettings, load_user_settings
from keydesk.keys.guard import Cause, arming_after
from keydesk.screens.desk import DeskScreen
from keydesk.settings.about import AUTO, OFF, ON
from keydesk.settings.toml_text import BadSettings
from keydesk.store.frame import FrameClock
from keydesk.terminal._textual_private import raise_in_app
from keydesk.terminal.check import ascii_locale
from keydesk.terminal.input import InputDropped, InputOverrun
from keydesk.terminal.query import theme_for
from keydesk.text.sanitize import Printable, safe
from keydesk.trading.desk_session import DeskLock
from keydesk.widgets import theme

if TYPE_CHECKING:
    from rich.console import RenderableType

FAULT = (
    "the desk ended because of an internal error (above). Positions, orders and stops stay at the broker as they are. "
    "Start keydesk again: orders without a known outcome are looked up first. "
    "Without the desk: keydesk flatten, keydesk cancel-all"
)
AFTER_A_FORM = 1.0  # seconds
BETWEEN_LOADS = 0.01  # seconds, in which keys and frames have their turn
PRICES_WITHIN = 1.0  # seconds; without prices, everything else goes on then
LONG_START = 5.0  # seconds after which a message names the reason for waiting


class KeydeskApp(AccountWindow, inherit_bindings=False):
    """The desk's window: gives `TradingDesk` keys, frames and signals, and paints what it has."""

    ENABLE_COMMAND_PALETTE = False
    # The first screen is shown before a screen's own file would be read.
    CSS_PATH = DeskScreen.CSS_PATH
    DEFAULT_MODE = "account 1"  # Textual's name for a stack of screens: each account that is opened has its own
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+c", "interrupt", show=False, priority=True),
    ]

    def __init__(self, setup: DeskSetup) -> None:
        super().__init__()
        self.last_text = ""
        self.set_keymap(dict(setup.own.keymap.moved))
        facts, options = setup.terminal, setup.options
        is_ascii = options.ascii or setup.settings.ascii or bool(facts.ascii_because)
        self._forced = {"ascii": ON if is_ascii else OFF}
        for name, value in (("theme", options.theme), ("fps", options.fps)):
            if value is not None:
                self._forced[name] = str(value)
        if options.mouse:
            self._forced["mouse"] = ON
        self.accounts, self.switch = setup.accounts, AccountSwitch(self)
        self.sign_in = SignIn(self, self.switch)
        self._pass_on = super().on_event
        self._supervised: set[str] = set()  # accounts whose broker is watched
        self._opened = 1  # accounts
        self.is_changing = False  # another account is being put in place
        self._build_desk(setup)
        self._slow_line_reported = False
        depth = theme.colour_depth(os.environ, facts.replies)
        self.apply_theme(
            options.theme or theme_for(setup.settings.theme, depth, facts.replies),
            depth,
            ascii_only=self._forced["ascii"] == ON,
            erases_in_colour=facts.erases_in_colour,
            own_themes=setup.own.themes.themes,
        )

    def _build_desk(self, setup: DeskSetup) -> None:
        """Make the desk of an account, and what acts on it."""
        self._setup = setup
        self.target: AccountAddress | None = None  # once it is known
        environment, options = setup.account.environment, setup.options
        self.title = f"Keydesk {environment}"
        level = "READ-ONLY " if options.read_only else ""
        self.window_title = f"Keydesk {level}{environment} {setup.account.name}"
        self.desk = TradingDesk(self, setup, self._pass_on)
        self.guarded_keys = self.desk.guarded_keys
        self.desk.look = DeskLook(
            self,
            self.desk.store,
            setup.folders.config,
            setup.settings,
            self.set_frames,
            forced=self._forced,
        )
        self.shutdown = ShutdownFlow(self.desk, setup.forced_exit)
        self.settings_files = SettingsFiles(self.desk, setup.own, setup.folders.config)
        settings_page = SettingsPage(self.desk, setup.folders.config)
        self.actions = DeskActions(self.desk, self.shutdown, self.sign_in, settings_page)
        self.requests = PaneRequests(self.desk, self.actions, settings_page)
        fps = self.desk.look.value("fps")
        self.clock = FrameClock(self.desk.store, None if fps == AUTO else int(fps))

    @property
    def account_name(self) -> Printable:
        """The open account in words."""
        if self.target is None:
            return safe(self._setup.account.name)
        return name_of_account(self._setup.account, self.target)

    @property
    def source_name(self) -> str:
        """The profile that is open, or the practice market."""
        return self._setup.account.name

    async def change_desk(self, source: AccountSource, target: AccountAddress) -> None:
        """Build the desk anew on another account, disarmed, and open that; the one before has been left."""
        own = await asyncio.to_thread(self._own_settings)
        while isinstance(self.screen, ModalScreen):
            self.pop_screen()
        state, before = self._setup.folders.state, self.desk
        self._forced = before.look.values
        self._build_desk(
            replace(
                self._setup,
                account=source,
                settings=self.accounts.settings,
                own=own,
                lock=DeskLock.of(state / "orders", source.name),
                workspace=WorkspaceFile.of(state / "desk", source.name),
                tour=TourFile(self._setup.tour.path, begins=False),
            )
        )
        self.target, store = target, self.desk.store
        store.zone = before.store.zone
        store.arming = arming_after(Cause.ACCOUNT_SWITCH, store.arming, source.environment)
        self.screen_change_signal.unsubscribe(self)
        self._watch_screens()
        await self._change_screens()
        self.desk.presets.show()
        self.desk.look.dress_screen()
        self.run_worker(self._run_account(target), "account", group="feeds", exit_on_error=False)
        self._follow_settings()

    async def _change_screens(self) -> None:
        """Show the main screen of the new desk, and remove that of the one before; no frame is drawn meanwhile."""
        self._beats.pause()
        before = self.current_mode
        self._opened += 1
        try:
            self.add_mode(f"account {self._opened}", self.get_default_screen)
            await self.switch_mode(f"account {self._opened}")
        finally:
            self._beats.resume()
        await self.remove_mode(before)

    # Starting.

    def get_default_screen(self) -> Screen[None]:
        """Return the desk screen; its empty frame is the loading state."""
        desk = self.desk
        return DeskScreen(
            keymap=desk.keymap,
            unavailable=lambda id_: not is_available(id_, desk.store, desk.window.selection()),
            left_as=self._setup.workspace.saved,
        )

    def on_mount(self) -> None:
        """Start the frame clock, the signal handlers and the workers."""
        # Not before: of a mode that it knows, Textual reads the style sheet once more at the start.
        self.add_mode(self.DEFAULT_MODE, self.get_default_screen)
        self.animation_level = "none"
        self._beats = self.set_interval(self.clock.period, self.beat)
        self._watch_screens()
        leave, forced_exit = self.shutdown.leave, self._setup.forced_exit
        lifecycle.leave_on_signals(leave, forced_exit)
        lifecycle.leave_without_terminal(leave, forced_exit)
        lifecycle.end_with_threads(self.end_on_fault, forced_exit, FAULT)
        self.call_after_refresh(self._open)

    def _watch_screens(self) -> None:
        self.guarded_keys.watch_screens()
        self.screen_change_signal.subscribe(self, self._after_a_form)

    def _after_a_form(self, screen: Screen[object]) -> None:
        """Free the objects of closed forms a moment later, about 0.5 MB each."""
        if isinstance(screen, DeskScreen):
            self.set_timer(AFTER_A_FORM, self._free_memory)

    def _free_memory(self) -> None:
        self.free_closed_forms()
        return_unused_memory()

    def _open(self) -> None:
        self.desk.presets.show()
        self.desk.look.dress_screen()
        self._say_terminal()
        self.run_worker(self._run_account(), "account", group="feeds", exit_on_error=False)
        self._follow_settings()

    def _follow_settings(self) -> None:
        watching = self.settings_files.run()
        self.run_worker(watching, "settings files", group="feeds", exit_on_error=False)

    def _own_settings(self) -> UserSettings:
        """Return the trader's files as they are now, or where one cannot be used, as they were."""
        self.accounts.read_again()
        try:
            own = load_user_settings(self._setup.folders.config)
            return replace(own, keymap=self._setup.own.keymap)  # keys count from the next start
        except (BadSettings, OSError):
            return self._setup.own

    def _say_terminal(self) -> None:
        """Report limits of the terminal; ASCII by locale or `--ascii` was chosen and is not reported."""
        facts = self._setup.terminal
        if facts.ascii_because and not ascii_locale(os.environ):
            self.desk.store.notify("warn", f"Drawn in ASCII: {facts.ascii_because}")
        for warning in facts.warnings:
            self.desk.store.notify("warn", warning)

    async def _run_account(self, target: AccountAddress | None = None) -> None:
        """Find the account unless it is known; open it, and run its feeds until cancelled."""
        load_all()  # the practice broker is starting meanwhile
        try:
            target = target or await self._account_address()
        except CannotOpen as error:
            self.last_text = str(error)
            self.exit(1, return_code=1)
            return
        if not target.own_broker:  # from here on it is read in the desk
            target = dataclasses.replace(target, login=f":login {target.profile}")
        self.target = target
        self.show_window_title(f"{self.window_title} …{target.account_id[-3:]}")
        self._supervise(self._setup.account)
        await self.desk.account.run(target, self._on_account_open)

    def _supervise(self, source: AccountSource) -> None:
        """Watch the broker of an account, once, for as long as this program runs."""
        if source.name not in self._supervised:
            self._supervised.add(source.name)

            def notify(text: str) -> None:
                self.desk.store.notify("bad", text)

            self.run_worker(source.supervise(notify), "broker", group="brokers")

    async def _account_address(self) -> AccountAddress:
        text = "The broker is still starting: a large ledger takes a while to read"
        waiting = self.set_timer(LONG_START, partial(self.desk.store.notify, "info", text))
        try:
            return await self._setup.account.target()
        finally:
            waiting.stop()

    def _on_account_open(self, connection: Connection) -> None:
        self.desk.on_open(connection)
        connection.shown = asyncio.Event()
        first = self._draw_first_prices(connection.feed.priced, connection.shown)
        self.run_worker(first, "first prices", group="feeds")

    async def _draw_first_prices(self, priced: asyncio.Event, shown: asyncio.Event) -> None:
        """Draw the first prices when they come, not with the next beat; then load the forms that trade, between keys and frames."""
        with suppress(TimeoutError):
            async with asyncio.timeout(PRICES_WITHIN):
                await priced.wait()
            self.draw()
        self.call_after_refresh(shown.set)
        await shown.wait()
        if self.target is not None:
            self.desk.on_shown(self.target)
        for _ in forms.load_each():
            await asyncio.sleep(BETWEEN_LOADS)
        settle()

    # Frames.

    def set_frames(self, fps: int | None) -> None:
        """Draw so many frames a second; None: ten, fewer on a slow line."""
        self.clock.fix_fps(fps)
        self._beats.stop()
        self._beats = self.set_interval(self.clock.period, self.beat)

    def beat(self) -> None:
        """Run the frame clock, then the rules of the desk."""
        self.catch_up()
        desk = self.desk
        if self.is_painted:  # all of the last frame, before the next one is drawn
            painted = desk.store.note_painted(desk.screen.notices_on_screen, monotonic())
            desk.account.note_painted(painted)
        if self.clock.is_due(monotonic(), self.writes_waiting()):
            self.draw()
        if self.clock.slow and not self._slow_line_reported and self.slow_line_text:
            self._slow_line_reported = True
            desk.store.notify("info", self.slow_line_text)
        desk.check()

    def draw(self) -> None:
        """Compute what follows from the prices, and pass the frame to every screen with live content."""
        now = monotonic()
        self.desk.account.revalue(now)
        frame = self.clock.next_frame(now, time_ns())
        for screen in self.screen_stack:
            on_frame = getattr(screen, "on_frame", None)
            if on_frame is not None:
                on_frame(frame)

    # Keys, and the messages of panes.

    async def on_event(self, event: Event) -> None:
        """Let the guard check keys, pastes and a lost focus before Textual acts on them.

        What is typed in the moment in which the account changes was meant for the one before, and is dropped.
        """
        if self.is_changing and isinstance(event, Key | Paste):
            self.are_keys_dropped = True
            return
        await self.guarded_keys.on_event(event)

    def on_input_dropped(self, message: InputDropped) -> None:
        self.guarded_keys.on_input_dropped(message)

    def on_input_overrun(self, message: InputOverrun) -> None:
        """Close the open forms: keys that were meant for them are missing."""
        self.guarded_keys.on_input_overrun(message)

    def action_perform(self, name: str, *arguments: object) -> None:
        """Perform the action of one of the desk's keys."""
        self.actions.perform(name, *arguments)

    def action_interrupt(self) -> None:
        """Leave on the second Ctrl-C within two seconds, or answer what it asks; the first shows how to leave."""
        if not self.shutdown.interrupt():
            line = self.desk.keymap.name("command")
            self.desk.store.notify("info", f"Press {line}q and Enter to leave, or Ctrl-C again now")

    @on_pane_requests
    def handle_request(self, message: Message) -> None:
        """Do what a pane asks for."""
        self.requests.handle(message)

    # Faults.

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        if event.state is not WorkerState.ERROR:
            return
        error = event.worker.error
        text = f"{event.worker.name} failed ({type(error).__name__}: {error})"
        if event.worker.group == "commands":
            self.desk.store.notify("bad", f"OUTCOME NOT SHOWN: {text}. Look at trades and orders.")
        else:
            self.desk.store.notify(
                "bad", f"{text}. Leave and start again; exits work at the broker."
            )

    def fault_report(self) -> RenderableType | None:
        """Return the report of the first fault, and end the desk."""
        if self.last_text:
            return None
        self.last_text = FAULT
        self._setup.forced_exit.arm(1, lifecycle.LEAVE_TIMEOUT)
        return super().fault_report()

    def panic(self, *renderables: RenderableType) -> None:
        """End on an error outside the event loop, such as in the input thread."""
        self.last_text = self.last_text or FAULT
        self._setup.forced_exit.arm(1, lifecycle.LEAVE_TIMEOUT)
        super().panic(*renderables)

    def end_on_fault(self, error: BaseException) -> None:
        """End because a thread died: without its writer or reader thread the desk would show stale data or ignore keys."""
        if not self.last_text:
            raise_in_app(self, RuntimeError(f"a thread of the desk ended: {error!r}"))
