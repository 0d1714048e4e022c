"""How the desk looks and is drawn, changed while it runs: theme, ASCII, mouse, frames a second, time zone, key hints, charts.

A change is in force at once, and written to the settings; a theme is shown while it is being chosen.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from datetime import tzinfo
from pathlib import Path
from typing import TYPE_CHECKING
from zoneinfo import available_timezones

from msgspec.structs import replace

from keydesk.config.folders import FILE
from keydesk.config.settings import save_value
from keydesk.screens.desk import DeskScreen
from keydesk.settings.about import AUTO, ON, options_of, text_of
from keydesk.settings.time_zone import SystemZone, time_zone
from keydesk.settings.toml_text import BadSettings
from keydesk.settings.values import PRACTICE_MARKET, Settings
from keydesk.store.state import Topic
from keydesk.text.file_errors import file_trouble
from keydesk.text.format import counted
from keydesk.widgets import theme
from keydesk_client.errors import UnsafeFile

if TYPE_CHECKING:
    from keydesk.forms.command_list import SetOption
    from keydesk.store.store import Store
    from keydesk.widgets.terminal_app import TerminalApp

SYSTEM = "system"
OPTIONS = options_of(Settings)
NO_COLOURS = "This terminal shows no colours: the theme counts where there are some"


def texts_of(settings: Settings) -> dict[str, str]:
    """Return the options that a file sets, as they are typed."""
    return {name: _text_of(getattr(settings, each.name)) for name, each in OPTIONS.items()}


def _text_of(value: object) -> str:
    return SYSTEM if isinstance(value, SystemZone) else text_of(value)


USUAL = texts_of(Settings())


class DeskLook:
    """Changes how the desk looks.

    Args:
        app: Is drawn.
        store: Has the time zone, and takes messages.
        folder: Of the settings.
        settings: As the file had them at the start.
        set_frames: Draws so many frames a second; None: as many as the line takes.
        forced: Options that the command line or the terminal decided.
    """

    def __init__(
        self,
        app: TerminalApp[int],
        store: Store,
        folder: Path,
        settings: Settings,
        set_frames: Callable[[int | None], None],
        *,
        forced: Mapping[str, str] | None = None,
    ) -> None:
        self._app, self._store, self._folder = app, store, folder
        self._settings, self._set_frames = settings, set_frames
        self._written = texts_of(settings)
        self._now = {**self._written, **(forced or {})}
        self._theme = ""  # the chosen one, while another is shown

    def value(self, name: str) -> str:
        """Return what an option is now."""
        return self._now[name]

    @property
    def values(self) -> dict[str, str]:
        """What every option is now."""
        return dict(self._now)

    def choices(self, name: str) -> Sequence[str]:
        """Return what an option may be."""
        match name:
            case "theme":
                return theme.names(self._app.own_themes)
            case "zone":
                return (SYSTEM, *sorted(available_timezones()))
            case "profile":
                return (PRACTICE_MARKET, *self._settings.profiles)
            case _:
                return OPTIONS[name].choices if name in OPTIONS else ()

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
        self._put(name, value)
        self._store.audit.record("settings", f"{name} {value}")
        self._app.run_worker(self._save(name, value), "settings", group="settings")

    def take(self, settings: Settings) -> list[str]:
        """Apply what the file says now and did not say before; return it in words."""
        before, self._settings = self._settings, settings
        texts, words = texts_of(settings), []
        changed = [name for name in texts if texts[name] != self._written[name]]
        self._written = texts
        for name in changed:
            if texts[name] != self._now[name]:
                self._put(name, texts[name])
                words.append(f"{name} {texts[name]}")
        if settings.profiles != before.profiles:
            words.append(counted(len(settings.profiles), "profile"))
        if settings.reconciliation != before.reconciliation:
            words.append("reconciliation, from the next start")
        return words

    def know_profiles(self, settings: Settings) -> None:
        """Know the profiles that the desk itself has just written: nothing is said of them when the file is read again."""
        self._settings = replace(self._settings, profiles=settings.profiles)

    def _put(self, name: str, value: str) -> None:
        """Put an option in force."""
        self._now[name] = value
        match name:
            case "theme":
                self._apply_theme(value)
            case "ascii":
                self._app.show_ascii(value == ON)
            case "mouse":
                self._app.take_mouse(on=value == ON)
            case "fps":
                self._set_frames(None if value == AUTO else int(value))
            case "zone":
                self._apply_zone(time_zone("" if value == SYSTEM else value))
            case _:
                self.dress_screen()

    def dress_screen(self) -> None:
        """Show key hints and charts on the main screen as they are set."""
        for screen in self._app.screen_stack:
            if isinstance(screen, DeskScreen):
                screen.show_hints(self._now["hints"] == ON)
                screen.draw_candles(self._now["candles"])

    def _apply_zone(self, zone: tzinfo) -> None:
        self._store.zone = zone
        for topic in Topic:
            self._store.mark(topic)

    def _apply_theme(self, name: str) -> None:
        if self._app.has_colours:
            self._app.theme, self._theme = name, ""
        else:
            self._store.notify("info", NO_COLOURS)

    async def _save(self, name: str, value: str) -> None:
        """Write a value; a usual one is left out."""
        kept: str | int | bool | None = value
        if OPTIONS[name].type is bool:
            kept = value == ON
        elif value.isdigit():
            kept = int(value)
        if value == USUAL[name] and name != "theme":
            kept = None
        try:
            await asyncio.to_thread(save_value, self._folder, OPTIONS[name].key, kept)
        except (BadSettings, UnsafeFile, OSError) as error:
            why = file_trouble(error, self._folder / FILE)
            self._store.notify("warn", f"{name} {value} until you leave, not saved: {why}")
        else:
            self._written[name] = value
            self._store.notify("good", f"{name} {value}, also at the next start")
