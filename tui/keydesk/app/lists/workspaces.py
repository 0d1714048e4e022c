"""Named workspaces and bookmarks: saved, shown again, and the file that keeps them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from keydesk.app.window import DeskWindow
from keydesk.calc.market.indicator_specs import parse_indicators
from keydesk.config.workspaces import (
    WorkspacesFile,
    WorkspaceTable,
    delete_workspace,
    load_workspaces,
    save_bookmark,
    save_workspace,
)
from keydesk.settings.toml_text import BadSettings
from keydesk.settings.values import WORKSPACE_NAME
from keydesk.store.watchlists import show_list
from keydesk.text.format import pair
from keydesk_client.errors import UnsafeFile

if TYPE_CHECKING:
    from keydesk.parse.parsed_commands import LayoutVerb

FAILURES = (BadSettings, UnsafeFile, OSError)


class WorkspaceActions:
    """Saves what the desk shows under a name, and shows it again.

    Recalling a workspace changes panes, timeframes, indicators and list, never the instrument that tickets are for.

    Args:
        window: Has the main screen.
        folder: Of the settings.
    """

    def __init__(self, window: DeskWindow, folder: Path) -> None:
        self._window, self._store, self._folder = window, window.store, folder

    def use(self, verb: LayoutVerb, name: str) -> None:
        """Save, show or delete a workspace."""
        match verb:
            case "save":
                self.save(name)
            case "show":
                self.show(name)
            case "delete":
                self.delete(name)

    def save(self, name: str) -> None:
        """Save what is shown under a name."""
        if not WORKSPACE_NAME.fullmatch(name):
            self._store.notify(
                "warn", "A layout's name has letters, digits and -, at most 20: scalping"
            )
            return
        saved = self._read()
        if saved is None:
            return
        before = saved.workspaces.get(name)
        key = before.key if before is not None else saved.free_key(name)
        if not key:
            self._store.notify("warn", "No letter is free: delete a layout, then save again")
            return
        specs = self._store.indicators_of(self._store.focus)
        texts = tuple(each.text for each in specs)
        table = WorkspaceTable.of(key, self._window.screen.workspace(), texts)
        if self._try(lambda: save_workspace(self._folder, name, table)):
            self._store.notify("good", f"Layout {name} is saved: '{key} shows it again")

    def show(self, name: str) -> None:
        """Show a workspace again; without a name, say which there are."""
        saved = self._read()
        if saved is None:
            return
        if name in saved.workspaces:
            self._show(name, saved.workspaces[name])
            return
        names = ", ".join(f"{each} ('{table.key})" for each, table in saved.workspaces.items())
        none = "No layout is saved yet: :layout save scalping"
        unknown = f"There is no layout {name}. " if name else ""
        self._store.notify("info", f"{unknown}Layouts: {names}" if names else f"{unknown}{none}")

    def delete(self, name: str) -> None:
        """Delete a workspace."""
        saved = self._read()
        if saved is not None and name not in saved.workspaces:
            self._store.notify("info", f"There is no layout {name}")
        elif saved is not None and self._try(lambda: delete_workspace(self._folder, name)):
            self._store.notify("info", f"Layout {name} is deleted")

    def jump(self, letter: str) -> None:
        """Show the workspace of a letter, or turn to the instrument that it bookmarks."""
        saved = self._read()
        if saved is None:
            return
        name = saved.name_of(letter)
        instrument = saved.bookmarks.get(letter, "")
        if name:
            self._show(name, saved.workspaces[name])
        elif instrument in self._store.instruments:
            self._store.set_focus(instrument)
        elif instrument:
            self._store.notify(
                "info", f"'{letter} is {pair(instrument)}, which this account does not have"
            )
        else:
            text = f"'{letter} is free: m{letter} bookmarks {pair(self._store.focus)} there"
            self._store.notify("info", text)

    def bookmark(self, letter: str) -> None:
        """Bookmark the instrument on the desk under a letter."""
        saved, instrument = self._read(), self._store.focus
        if saved is None or not instrument:
            return
        if name := saved.name_of(letter):
            self._store.notify("warn", f"'{letter} is the layout {name}: choose another letter")
        elif self._try(lambda: save_bookmark(self._folder, letter, instrument)):
            self._store.notify("good", f"'{letter} turns to {pair(instrument)} from now on")

    def _show(self, name: str, table: WorkspaceTable) -> None:
        left, store = table.workspace, self._store
        store.set_granularity(left.granularity)
        store.set_indicators(store.focus, parse_indicators(table.indicators))
        if left.watchlist:
            show_list(store, left.watchlist)
        self._window.screen.show_workspace(left)
        gone = left.watchlist and store.list_name != left.watchlist
        more = f", without its list {left.watchlist}, which is gone" if gone else ""
        self._store.notify("info", f"Layout {name}{more}")

    def _read(self) -> WorkspacesFile | None:
        try:
            return load_workspaces(self._folder)
        except FAILURES as error:
            self._store.notify("warn", f"Layouts and bookmarks cannot be used: {error}")
            return None

    def _try(self, change: Callable[[], None]) -> bool:
        try:
            change()
        except FAILURES as error:
            self._store.notify("warn", f"Not saved: {error}")
            return False
        return True
