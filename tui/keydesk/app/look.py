"""How the desk looks and is drawn, changed while it runs: theme, ASCII, mouse, frames a second, time zone.

Theme, frames and zone are written to the settings; a theme is shown while it is being chosen.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import tzinfo
from pathlib import Path
from typing import TYPE_CHECKING
from zoneinfo import available_timezones

from keydesk.config.folders import FRAMES
from keydesk.config.profiles import save_value
from keydesk.settings.time_zone import SystemZone, time_zone
from keydesk.settings.toml_text import BadSettings
from keydesk.settings.values import PRACTICE_MARKET, Settings
from keydesk.store.state import Topic
from keydesk.widgets import theme
from keydesk_client.errors import UnsafeFile

if TYPE_CHECKING:
    from keydesk.forms.command_list import SetOption
    from keydesk.store.store import Store
    from keydesk.widgets.terminal_app import TerminalApp

AUTO, ON, OFF, SYSTEM = "auto", "on", "off", "system"
KEYS_OF_FILE = {"theme": "theme", "fps": "fps", "zone": "timezone"}
NO_COLOURS = "This terminal shows no colours: the theme counts where there are some"


class DeskLook:
    """Changes how the desk looks.

    Args:
        app: Is drawn.
        store: Has the time zone, and takes messages.
        folder: Of the settings.
        settings: As the file had them at the start.
        set_frames: Draws so many frames a second; None: as many as the line takes.
    """

    def __init__(
        self,
        app: TerminalApp[int],
        store: Store,
        folder: Path,
        settings: Settings,
        set_frames: Callable[[int | None], None],
    ) -> None:
        self._app, self._store, self._folder = app, store, folder
        self._settings, self._set_frames = settings, set_frames
        self._theme = ""  # the chosen one, while another is shown

    def choices(self, name: str) -> Sequence[str]:
        """Return what an option may be."""
        match name:
            case "theme":
                return theme.names()
            case "ascii" | "mouse":
                return (ON, OFF)
            case "fps":
                return (AUTO, *map(str, FRAMES))
            case "zone":
                return (SYSTEM, *sorted(available_timezones()))
            case "profile":
                return (PRACTICE_MARKET, *self._settings.profiles)
            case _:
                return ()

    def preview(self, name: str) -> None:
        """Show a theme while it is being chosen; "": the chosen one again."""
        if not self._app.has_colours:
            return
        self._theme = self._theme or self._app.theme
        self._app.theme = name or self._theme
        if not name:
            self._theme = ""

    def apply(self, option: SetOption) -> None:
        """Change an option at once, and write it to the settings in a thread."""
        name, value = option.name, option.value
        match name:
            case "theme":
                self._apply_theme(value)
                self._settings = replace(self._settings, theme=value)
            case "ascii":
                self._app.show_ascii(value == ON)
            case "mouse":
                self._app.take_mouse(on=value == ON)
            case "fps":
                self._apply_frames(None if value == AUTO else int(value))
            case "zone":
                self._apply_zone(time_zone("" if value == SYSTEM else value))
        self._store.record("settings", f"{name} {value}")
        if name in KEYS_OF_FILE:
            self._app.run_worker(self._save(name, value), "settings", group="settings")
        else:
            self._store.tell("info", f"{name} {value}, until you leave")

    def take(self, settings: Settings) -> list[str]:
        """Apply what the file says now and did not say before; return it in words."""
        before, self._settings = self._settings, settings
        words = []
        if settings.theme != before.theme:
            self._apply_theme(settings.theme)
            words.append(f"theme {settings.theme}")
        if settings.frames_per_second != before.frames_per_second:
            self._apply_frames(settings.frames_per_second)
            words.append(f"fps {settings.frames_per_second or AUTO}")
        if _name_of(settings.zone) != _name_of(before.zone):
            self._apply_zone(settings.zone)
            words.append(f"time zone {_name_of(settings.zone)}")
        if settings.profiles != before.profiles:
            words.append(f"{len(settings.profiles)} profiles")
        if settings.reconciliation != before.reconciliation:
            words.append("reconciliation, from the next start")
        return words

    def _apply_frames(self, frames: int | None) -> None:
        self._set_frames(frames)
        self._settings = replace(self._settings, frames_per_second=frames)

    def _apply_zone(self, zone: tzinfo) -> None:
        self._store.zone = zone
        self._settings = replace(self._settings, zone=zone)
        for topic in Topic:
            self._store.mark(topic)

    def _apply_theme(self, name: str) -> None:
        if self._app.has_colours:
            self._app.theme, self._theme = name, ""
        else:
            self._store.tell("info", NO_COLOURS)

    async def _save(self, name: str, value: str) -> None:
        usual = value in (AUTO, SYSTEM)
        kept = None if usual else int(value) if name == "fps" else value
        try:
            await asyncio.to_thread(save_value, self._folder, KEYS_OF_FILE[name], kept)
        except (BadSettings, UnsafeFile, OSError) as error:
            self._store.tell("warn", f"{name} {value} until you leave, not saved: {error}")
        else:
            self._store.tell("good", f"{name} {value}, also at the next start")


def _name_of(zone: tzinfo) -> str:
    return SYSTEM if isinstance(zone, SystemZone) else str(zone)
