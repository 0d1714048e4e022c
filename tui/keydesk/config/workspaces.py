"""The trader's named workspaces and bookmarks in `workspaces.toml`, replaced atomically, comments kept.

[bookmarks]
g = "GBP_USD"

[workspaces.scalping]
key = "s"
timeframe = "M1"
list = "Majors"
panes = { trades = "orders" }
focused = "chart"
charts = [["", "M5"], ["XAU_USD", "H1"], ["", "D"]]
indicators = ["ema 20"]
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from keydesk.config.file_edit import change_file
from keydesk.config.last_workspace import Workspace, charts_in
from keydesk.settings.toml_text import text_in

if TYPE_CHECKING:
    from keydesk.settings.workspaces_file import WorkspaceTable

FILE = "workspaces.toml"
LETTERS = "abcdefghijklmnopqrstuvwxyz"


class NamedWorkspace(Struct, frozen=True):
    """A workspace under a name: what is shown and how, without the instrument."""

    name: str
    key: str  # the letter behind '
    workspace: Workspace
    indicators: tuple[str, ...] = ()


class SavedWorkspaces(Struct, frozen=True):
    """The content of the file; a letter stands for a workspace or for an instrument, never for both."""

    workspaces: Mapping[str, NamedWorkspace] = field(default_factory=dict)  # by name
    bookmarks: Mapping[str, str] = field(default_factory=dict)  # letter -> instrument

    def with_key(self, letter: str) -> NamedWorkspace | None:
        """Return the workspace of a letter."""
        return next((each for each in self.workspaces.values() if each.key == letter), None)

    def free_key(self, name: str) -> str:
        """Return the first free letter of a name, else of the alphabet; "" when there is none."""
        taken = {each.key for each in self.workspaces.values()} | set(self.bookmarks)
        return next((each for each in name + LETTERS if each in LETTERS and each not in taken), "")


def load_workspaces(folder: Path) -> SavedWorkspaces:
    """Read `workspaces.toml` in the folder; a missing file has none.

    Raises:
        BadSettings: the file is not TOML, or a member is wrong; the text names it.
    """
    path = folder / FILE
    text = text_in(path)
    if not text:
        return SavedWorkspaces()
    from keydesk.settings.workspaces_file import read_workspaces  # noqa: PLC0415 - for a file only

    file = read_workspaces(path, text)
    named = {name: _named(name, table) for name, table in file.workspaces.items()}
    return SavedWorkspaces(named, file.bookmarks)


def _named(name: str, table: "WorkspaceTable") -> NamedWorkspace:
    workspace = Workspace(
        granularity=table.timeframe,
        fronts=table.panes,
        focused=table.focused,
        sorting=table.sorting,
        watchlist=table.list,
        filter=table.filter,
        zoomed=table.zoomed,
        charts=charts_in(table.charts),
    )
    return NamedWorkspace(name, table.key, workspace, table.indicators)


def save_workspace(folder: Path, named: NamedWorkspace) -> None:
    """Write a workspace; replace one of the same name.

    Raises:
        BadSettings: the file cannot be used; it stays as it is.
        OSError: the file cannot be written; it stays as it is.
    """
    load_workspaces(folder)
    change_file(
        folder, FILE, lambda document: _put(document, "workspaces", named.name, _table(named))
    )


def delete_workspace(folder: Path, name: str) -> None:
    """Remove a workspace from the file; raises as `save_workspace` does."""
    load_workspaces(folder)
    change_file(folder, FILE, lambda document: document.get("workspaces", {}).pop(name, None))


def save_bookmark(folder: Path, letter: str, instrument: str) -> None:
    """Write a bookmark; raises as `save_workspace` does."""
    load_workspaces(folder)
    change_file(folder, FILE, lambda document: _put(document, "bookmarks", letter, instrument))


def _put(document: Any, table: str, name: str, value: object) -> None:  # noqa: ANN401 - tomlkit's document
    document.setdefault(table, {})[name] = value


def _table(named: NamedWorkspace) -> dict[str, object]:
    left = named.workspace
    table: dict[str, object] = {
        "key": named.key,
        "timeframe": left.granularity,
        "panes": dict(left.fronts),
        "charts": [list(each) for each in left.charts],
        "indicators": list(named.indicators),
    }
    texts = {
        "list": left.watchlist,
        "focused": left.focused,
        "zoomed": left.zoomed,
        "sorting": left.sorting,
        "filter": left.filter,
    }
    return table | {name: text for name, text in texts.items() if text}
