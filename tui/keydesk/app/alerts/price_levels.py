"""The trader's own price levels: set, moved, renamed and removed at the crosshair, and the file that keeps them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec.structs import replace

from keydesk.app.window import DeskWindow
from keydesk.calc.market.price_levels import (
    MAX_LEVELS,
    MAX_NAME_LENGTH,
    PriceLevel,
    free_name,
    name_trouble,
    nearest_level,
)
from keydesk.config.price_levels import delete_level, load_levels, save_level
from keydesk.panes.chart import Chart
from keydesk.settings.toml_text import BadSettings
from keydesk.text.format import pair
from keydesk.text.sanitize import safe
from keydesk_client.errors import UnsafeFile

FAILURES = (BadSettings, UnsafeFile, OSError)


class LevelActions:
    """Carries out what the crosshair's keys ask for.

    Args:
        window: Shows the form of a name.
        folder: Of the settings.
    """

    def __init__(self, window: DeskWindow, folder: Path) -> None:
        self._window, self._store, self._folder = window, window.store, folder

    def load(self) -> bool:
        """Read the levels; return False and say why if the file cannot be used."""
        try:
            self._store.set_levels(load_levels(self._folder))
        except FAILURES as error:
            self._store.notify("warn", safe(f"Price levels cannot be used: {error}"))
            return False
        return True

    def execute(self, wanted: Chart.LevelWanted) -> None:
        """Set a level at the crosshair, or change the one nearest to it."""
        if not self.load():
            return
        if wanted.change in {"line", "ray"}:
            self._set(wanted)
            return
        nearest = nearest_level(self._levels(wanted.instrument), wanted.price)
        if nearest is None:
            name = self._window.keymap.name("level-line").replace(" ", "")
            text = f"{pair(wanted.instrument)} has no level: {name} sets one at the crosshair"
            self._store.notify("info", safe(text))
            return
        match wanted.change:
            case "move":
                since_ns = None if nearest.since_ns is None else wanted.time_ns
                moved = replace(nearest, price=wanted.price, since_ns=since_ns)
                self._save(wanted.instrument, moved, nearest)
            case "remove":
                self._remove(wanted.instrument, nearest)
            case "rename":
                self._ask_name(
                    f"Rename {nearest.name} at {nearest.price:f}",
                    nearest.name,
                    [each for each in self._levels(wanted.instrument) if each != nearest],
                    lambda name: self._save(
                        wanted.instrument, replace(nearest, name=name), nearest
                    ),
                )

    def _levels(self, instrument: str) -> Sequence[PriceLevel]:
        return self._store.levels.get(instrument, ())

    def _set(self, wanted: Chart.LevelWanted) -> None:
        levels = self._levels(wanted.instrument)
        if len(levels) >= MAX_LEVELS:
            text = f"{pair(wanted.instrument)} has {MAX_LEVELS} levels: remove one first"
            self._store.notify("warn", safe(text))
            return
        since_ns = wanted.time_ns if wanted.change == "ray" else None
        self._ask_name(
            f"A {wanted.change} at {wanted.price:f}",
            free_name(levels),
            levels,
            lambda name: self._save(wanted.instrument, PriceLevel(name, wanted.price, since_ns)),
        )

    def _ask_name(
        self, title: str, before: str, others: Sequence[PriceLevel], take: Callable[[str], None]
    ) -> None:
        from keydesk.forms.market.watchlists import NameForm  # noqa: PLC0415 - with the first form

        def take_name(name: str | None) -> None:
            if name:
                take(name.lower())

        form = NameForm(
            safe(title),
            before,
            trouble=lambda name: name_trouble(name.strip().lower(), others),
            hint="@ and the name is its price in an order: b 50k @weekly-high",
            longest=MAX_NAME_LENGTH,
        )
        self._window.app.push_screen(form, take_name)

    def _save(self, instrument: str, level: PriceLevel, replaced: PriceLevel | None = None) -> None:
        before = "" if replaced is None else replaced.name
        if not self._try(lambda: save_level(self._folder, instrument, level, before)):
            return
        text = f"{pair(instrument)} {level.kind} {level.name} at {level.price:f}"
        if replaced is not None and replaced.price != level.price:
            text = f"{text}, from {replaced.price:f}"
        self._store.notify("good", safe(text))

    def _remove(self, instrument: str, level: PriceLevel) -> None:
        if self._try(lambda: delete_level(self._folder, instrument, level.name)):
            text = f"{pair(instrument)} {level.kind} {level.name} at {level.price:f} is removed"
            self._store.notify("info", safe(text))

    def _try(self, change: Callable[[], None]) -> bool:
        try:
            change()
        except FAILURES as error:
            self._store.notify("warn", safe(f"Not saved: {error}"))
            return False
        return self.load()
