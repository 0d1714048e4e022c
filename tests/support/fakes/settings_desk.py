"""A desk without an account over a folder of settings: what the files set is in force, and read again when it is asked to look."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

from textual.message import Message

from keydesk.app.account_sources import AccountAddress
from keydesk.app.accounts.sign_in import SignIn
from keydesk.app.actions.desk import DeskActions
from keydesk.app.actions.shutdown_flow import ShutdownFlow
from keydesk.app.desk import DeskSetup, TradingDesk
from keydesk.app.desk_accounts import DeskAccounts
from keydesk.app.lifecycle import ForcedExit
from keydesk.app.look import DeskLook
from keydesk.app.pane_requests import PaneRequests, on_pane_requests
from keydesk.app.settings.settings_page import SettingsPage
from keydesk.app.settings.settings_reload import SettingsFiles
from keydesk.config.folders import DeskOptions, Folders
from keydesk.config.last_workspace import WorkspaceFile
from keydesk.config.settings import load_settings
from keydesk.config.tour_file import TourFile
from keydesk.config.user_files import load_user_settings
from keydesk.screens.desk import DeskScreen
from keydesk.terminal.check import TerminalFacts
from keydesk.trading.desk_session import DeskLock
from keydesk.widgets.terminal_app import TerminalApp
from support.data.desk_data import frame_of
from support.fakes.quick_pilot import QuickTests


@dataclass(frozen=True, slots=True)
class NoAccount:
    """An account whose broker never answers."""

    name: str = "main"
    environment: Literal["PRACTICE", "LIVE"] = "PRACTICE"

    async def target(self) -> AccountAddress:
        """Wait for ever."""
        return await asyncio.Future()

    async def supervise(self, notify: Callable[[str], None]) -> None:
        """Do nothing."""

    def stop(self) -> None:
        """Do nothing."""

    def abandon(self) -> None:
        """Do nothing."""


class SettingsDesk(TerminalApp[int], QuickTests[int]):
    """The main screen of a desk with the settings of a folder."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        settings = load_settings(folder)
        folders, account = Folders(folder, folder / "state"), NoAccount()
        setup = DeskSetup(
            DeskOptions(),
            settings,
            folders,
            account,
            load_user_settings(folder),
            forced_exit=ForcedExit(lambda: None),
            lock=DeskLock.of(folder / "state", "main"),
            workspace=WorkspaceFile.of(folder / "state", "main"),
            tour=TourFile(folder / "state" / "tour"),
            terminal=TerminalFacts(),
            accounts=DeskAccounts(folders, settings, account),
        )
        self.frames: list[int | None] = []
        self.apply_theme(settings.theme, own_themes=setup.own.themes.themes)
        self.set_keymap(dict(setup.own.keymap.moved))
        self.desk = TradingDesk(self, setup, super().on_event)
        shutdown = ShutdownFlow(self.desk, setup.forced_exit)
        self.settings_files = SettingsFiles(self.desk, setup.own, folder)
        self.settings_page = SettingsPage(self.desk, folder)
        actions = DeskActions(self.desk, shutdown, cast("SignIn", None), self.settings_page)
        self.requests = PaneRequests(self.desk, actions, self.settings_page)
        self.desk.look = DeskLook(self, self.desk.store, folder, settings, self.frames.append)

    def on_mount(self) -> None:
        self.push_screen(DeskScreen(keymap=self.desk.keymap))
        self.call_after_refresh(self.draw)

    @on_pane_requests
    def handle_request(self, message: Message) -> None:
        """Do what a pane or a page asks for."""
        self.requests.handle(message)

    def draw(self) -> None:
        """One beat."""
        screen = self.screen
        assert isinstance(screen, DeskScreen)
        screen.on_frame(frame_of(self.desk.store, everything=True))

    async def looks(self) -> list[str]:
        """Look at the files until a change counts; return what was said of it, with its level."""
        before = len(self.desk.store.notices)
        for _ in range(2):
            await self.settings_files.look()
        return [f"{each.level} {each.text}" for each in self.desk.store.notices[before:]]
