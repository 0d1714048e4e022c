"""The page of settings: what it shows, and what becomes of a change that is made on it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from keydesk.app.look import OPTIONS
from keydesk.config.folders import FILE
from keydesk.config.settings import save_channels
from keydesk.settings.toml_text import BadSettings
from keydesk.settings.values import CHANNELS
from keydesk.store.watchlists import active_list
from keydesk.text.file_errors import file_trouble
from keydesk_client.errors import UnsafeFile

if TYPE_CHECKING:
    from keydesk.app.desk import TradingDesk
    from keydesk.forms.account.settings import Choice
    from keydesk.forms.requests import ChannelSwitched, SettingChosen
    from keydesk.settings.values import Channel, EventKind

COLUMNS, AFTER = "columns", "zone"  # of the watchlist: no setting, but here it is looked for


class SettingsPage:
    """Shows the settings, and carries out their changes.

    Args:
        desk: Has what they set.
        folder: Of the settings.
    """

    def __init__(self, desk: TradingDesk, folder: Path) -> None:
        self._desk, self._folder = desk, folder

    def show(self) -> None:
        """Show the page."""
        from keydesk.forms.account.settings import SettingsForm  # noqa: PLC0415 - with the first form

        form = SettingsForm(self._choices, self._kinds, self._desk.keymap)
        self._desk.window.app.push_screen(form)

    def _choices(self) -> Sequence[Choice]:
        from keydesk.forms.account.settings import Choice  # noqa: PLC0415 - same

        look, store = self._desk.look, self._desk.store
        names = ", ".join(active_list(store).columns) or "none"
        choices: list[Choice] = []
        for name in OPTIONS:
            choices.append(Choice(name, look.value(name), look.choices(name)))
            if name == AFTER:
                choices.append(Choice(COLUMNS, names))
        return choices

    def _kinds(self) -> Mapping[EventKind, Sequence[Channel]]:
        return self._desk.alerts.settings.kinds

    def change(self, message: SettingChosen | ChannelSwitched) -> None:
        """Put a change in force, write it, and show it on the page."""
        from keydesk.forms.command_list import SetOption  # noqa: PLC0415 - with the first form
        from keydesk.forms.requests import SettingChosen  # noqa: PLC0415 - same

        if isinstance(message, SettingChosen):
            self._desk.look.apply(SetOption(message.name, message.value))
        else:
            self._switch(message)
        for screen in self._desk.window.app.screen_stack:
            if redraw := getattr(screen, "redraw", None):
                redraw()

    def _switch(self, message: ChannelSwitched) -> None:
        settings = self._desk.alerts.settings
        wanted = {*settings.kinds.get(message.kind, ())} ^ {message.channel}
        channels: tuple[Channel, ...] = tuple(each for each in CHANNELS if each in wanted)
        kinds = {**settings.kinds, message.kind: channels}
        self._desk.alerts.take(replace(settings, kinds=kinds))
        self._desk.settings.writing += 1
        work = self._save(message.kind, channels)
        self._desk.window.app.run_worker(work, "notifications", group="settings")

    async def _save(self, kind: EventKind, channels: Sequence[Channel]) -> None:
        try:
            await asyncio.to_thread(save_channels, self._folder, kind, channels)
        except (BadSettings, UnsafeFile, OSError) as error:
            why = file_trouble(error, self._folder / FILE)
            self._desk.store.notify("warn", f"{kind}: in force until you leave, not saved: {why}")
        finally:
            self._desk.settings.writing -= 1
