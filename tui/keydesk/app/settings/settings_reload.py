"""The files of settings, read again when they change while the desk runs.

A file that can be used is applied at once, and what is different is said. One that cannot be used, or is gone, leaves the values of
before in force, and that is said once. Files are looked at and read in a thread: no key waits for a disk.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from time import time_ns
from typing import TYPE_CHECKING

from keydesk.config import price_levels, watchlists, workspaces
from keydesk.config.file_watch import FileWatch
from keydesk.config.folders import FILE, TEMPLATES_FILE
from keydesk.config.limits import changes_between
from keydesk.config.own_themes import FOLDER as THEMES
from keydesk.config.own_themes import OwnThemes, load_own_themes
from keydesk.config.settings import load_alert_settings, load_settings
from keydesk.config.templates import load_templates
from keydesk.config.user_files import KEYS_FILE, UserSettings, load_keymap
from keydesk.settings.toml_text import BadSettings
from keydesk.store.state import Notice, Topic
from keydesk.store.watchlists import set_lists
from keydesk.text.sanitize import SafeText, safe

if TYPE_CHECKING:
    from keydesk.app.desk import TradingDesk
    from keydesk.settings.values import OwnTemplates

LOOK_EVERY = 2.0  # seconds
LOOK_AGAIN = 0.5  # seconds after a change was seen
MAX_NAMED = 4  # keys that a message names
Apply = Callable[[], Sequence[str]]
"""Puts what was read in force; returns in words what is different."""


class SettingsFiles:
    """Follows the files in the folder of settings.

    Args:
        desk: Has all that they set.
        own: As the files had it at the start.
        folder: Of the settings.
    """

    def __init__(self, desk: TradingDesk, own: UserSettings, folder: Path) -> None:
        self._desk, self._store, self._folder = desk, desk.store, folder
        self._indicators = own.indicators
        self._readers: Mapping[str, Callable[[], Apply]] = {
            FILE: self._read_config,
            TEMPLATES_FILE: self._read_templates,
            KEYS_FILE: self._read_keys,
            watchlists.FILE: self._read_watchlists,
            workspaces.FILE: self._read_workspaces,
            price_levels.FILE: self._read_levels,
            THEMES: self._read_themes,
        }
        self._themes = own.themes
        self._watch = FileWatch([folder / name for name in self._readers])
        self._troubles: dict[str, SafeText] = {}  # of files that cannot be used now

    async def run(self) -> None:
        """Say which themes cannot be used, then look at the files every two seconds until cancelled."""
        self._say_troubles_of_themes({})
        while True:
            await asyncio.sleep(LOOK_AGAIN if self._watch.is_unsettled else LOOK_EVERY)
            await self.look()

    async def look(self) -> None:
        """Read the files that have changed; not while a change of the desk's own is being written."""
        if self._desk.settings.writing:
            return
        for path in await asyncio.to_thread(self._watch.changed):
            await self._read(path)

    async def _read(self, path: Path) -> None:
        name = path.name
        try:
            apply = await asyncio.to_thread(self._load, path)
        except BadSettings as error:
            self._say_trouble(name, f"{error}. The values of before are in force")
            return
        words = apply()
        trouble = self._troubles.pop(name, None)
        if trouble is not None:
            self._store.take_back(trouble)
        if words:
            self._store.notify("good", f"{name} read again: {', '.join(words)}")
        elif trouble is not None:
            self._store.notify("good", f"{name} can be used again")

    def _load(self, path: Path) -> Apply:
        if path.name != THEMES and not path.exists() and not path.is_symlink():
            raise BadSettings(f"{path} is gone: put it back, or leave and start again without it")
        return self._readers[path.name]()

    def _say_trouble(self, name: str, text: str) -> None:
        """Say once why a file cannot be used; it stands until Esc."""
        words = safe(text)
        before = self._troubles.get(name)
        if before == words:
            return
        if before is not None:
            self._store.take_back(before)
        self._troubles[name] = words
        self._store.add_notice(Notice("warn", words, time_ns(), asks=True))

    # The files: each is read in the thread, and applied between two frames.

    def _read_config(self) -> Apply:
        settings, alerts = load_settings(self._folder), load_alert_settings(self._folder)
        own = load_own_themes(self._folder)
        if why := own.trouble_with(settings.theme, self._folder):
            raise BadSettings(why)

        def apply() -> Sequence[str]:
            self._apply_themes(own)  # the file may name one that has just been made
            words = self._desk.look.take(settings)
            return [*words, "alerts"] if self._desk.alerts.take(alerts) else words

        return apply

    def _read_templates(self) -> Apply:
        own = load_templates(self._folder)
        return lambda: self._apply_templates(own)

    def _apply_templates(self, own: OwnTemplates) -> Sequence[str]:
        desk, words = self._desk, []
        if changes := changes_between(desk.settings.limits, own.limits):
            desk.settings.take_limits(own.limits, changes)
        if own.standard != desk.presets.template or own.named != desk.templates:
            desk.templates = own.named
            desk.presets.take(own.standard)
            words.append("templates of new trades")
        before, self._indicators = self._indicators, own.indicators
        changed = [
            each
            for each in {*before, *own.indicators}
            if before.get(each) != own.indicators.get(each)
        ]
        shown = self._store.indicators
        if any(shown.get(each) != own.indicators.get(each) for each in changed):
            for each in changed:
                shown.pop(each, None)
            shown.update({each: own.indicators[each] for each in changed if each in own.indicators})
            self._store.mark(Topic.INDICATORS)
            words.append("indicators")
        return words

    def _read_keys(self) -> Apply:
        keymap = load_keymap(self._folder)

        def apply() -> Sequence[str]:
            before = {key.id: key.keys for key in self._desk.keymap.keys}
            moved = [key for key in keymap.keys if key.keys != before[key.id]]
            if moved:
                self._desk.take_keys(keymap)
            named = [f"{key.id} {key.shown}" for key in moved[:MAX_NAMED]]
            return [*named, f"and {len(moved) - MAX_NAMED} more"] if moved[MAX_NAMED:] else named

        return apply

    def _read_watchlists(self) -> Apply:
        lists = watchlists.load_watchlists(self._folder)

        def apply() -> Sequence[str]:
            if lists == self._store.lists:
                return ()
            set_lists(self._store, lists)
            return [", ".join(each.name for each in lists.lists)]

        return apply

    def _read_levels(self) -> Apply:
        levels = price_levels.load_levels(self._folder)

        def apply() -> Sequence[str]:
            if levels == self._store.levels:
                return ()
            self._store.set_levels(levels)
            count = sum(map(len, levels.values()))
            return ["1 price level" if count == 1 else f"{count} price levels"]

        return apply

    def _read_workspaces(self) -> Apply:
        """Check the file: each use of a layout or a bookmark reads it."""
        workspaces.load_workspaces(self._folder)
        return tuple

    def _read_themes(self) -> Apply:
        own = load_own_themes(self._folder)
        return lambda: self._apply_themes(own)

    def _apply_themes(self, own: OwnThemes) -> Sequence[str]:
        """Take the themes of the folder; one that cannot be used now, or is in use and gone, stays as it was."""
        before, app = self._themes, self._desk.look
        used = app.value("theme")
        kept = {
            name: data
            for name, data in before.themes.items()
            if name in own.troubles or (name == used and name not in own.themes)
        }
        self._themes = OwnThemes({**own.themes, **kept}, own.troubles)
        self._say_troubles_of_themes(before.troubles)
        themes = self._themes.themes
        if themes == before.themes:
            return ()
        self._desk.take_themes(themes)
        changed = [
            each
            for each in {*themes, *before.themes}
            if themes.get(each) != before.themes.get(each)
        ]
        return sorted(changed)

    def _say_troubles_of_themes(self, before: Mapping[str, str]) -> None:
        for name in {*before} - {*self._themes.troubles}:
            if (said := self._troubles.pop(f"{THEMES}/{name}", None)) is not None:
                self._store.take_back(said)
        for name, why in self._themes.troubles.items():
            self._say_trouble(f"{THEMES}/{name}", why)
