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

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from keydesk.calc.market.granularity import SECONDS
from keydesk.calc.market.indicator_specs import IndicatorSyntaxError, parse_indicators
from keydesk.config.last_workspace import NAME, Workspace, charts_in
from keydesk.config.profiles import change_file
from keydesk.config.settings import BadSettings, table_in

FILE = "workspaces.toml"
LETTER = re.compile("[a-z]")
WORKSPACE_NAME = re.compile("[a-z0-9][a-z0-9-]{0,19}")
LETTERS = "abcdefghijklmnopqrstuvwxyz"
TEXTS = {"list": 40, "focused": 20, "zoomed": 20, "sorting": 40, "filter": 40}  # longest


@dataclass(frozen=True, slots=True)
class NamedWorkspace:
    """A workspace under a name: what is shown and how, without the instrument."""

    name: str
    key: str  # the letter behind '
    workspace: Workspace
    indicators: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SavedWorkspaces:
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
    return _saved(table_in(path), path)


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


def _saved(data: Mapping[str, Any], path: Path) -> SavedWorkspaces:
    for name in data:
        if name not in ("workspaces", "bookmarks"):
            raise BadSettings(f"{path}: {name} is not known; there are workspaces and bookmarks")
    tables, bookmarks = data.get("workspaces", {}), data.get("bookmarks", {})
    if not isinstance(tables, dict) or not isinstance(bookmarks, dict):
        raise BadSettings(f"{path}: workspaces and bookmarks must be tables, such as [bookmarks]")
    for letter, instrument in bookmarks.items():
        if not LETTER.fullmatch(letter) or not _is_instrument(instrument):
            raise BadSettings(
                f'{path}: bookmarks.{letter} must be a letter and an instrument, such as g = "GBP_USD"'
            )
    saved = SavedWorkspaces(
        {name: _workspace(name, table, path) for name, table in tables.items()}, dict(bookmarks)
    )
    letters = [*bookmarks, *(each.key for each in saved.workspaces.values())]
    for letter in letters:
        if letters.count(letter) > 1:
            raise BadSettings(
                f"{path}: the letter {letter} is used twice: give each layout and bookmark its own letter"
            )
    return saved


def _is_instrument(value: object) -> bool:
    return isinstance(value, str) and NAME.fullmatch(value) is not None


def _workspace(name: str, table: object, path: Path) -> NamedWorkspace:
    where = f"{path}: workspaces.{name}"
    if not WORKSPACE_NAME.fullmatch(name) or not isinstance(table, dict):
        raise BadSettings(f"{where} must be a table, its name small letters and digits")
    known = {"key", "timeframe", "panes", "charts", "indicators", *TEXTS}
    for member in table:
        if member not in known:
            raise BadSettings(
                f"{where}.{member} is not known; there are {', '.join(sorted(known))}"
            )
    key, timeframe, panes = table.get("key"), table.get("timeframe", "M5"), table.get("panes", {})
    if not isinstance(key, str) or not LETTER.fullmatch(key):
        raise BadSettings(f'{where}.key must be a small letter, such as key = "s"')
    if not isinstance(timeframe, str) or timeframe not in SECONDS:
        raise BadSettings(f"{where}.timeframe must be one of: {' '.join(SECONDS)}")
    if not isinstance(panes, dict) or not all(isinstance(each, str) for each in panes.values()):
        raise BadSettings(f'{where}.panes must be names, such as panes = {{ trades = "orders" }}')
    texts = {member: _text(table, member, where) for member in TEXTS}
    workspace = Workspace(
        granularity=timeframe,
        fronts=dict(panes),
        focused=texts["focused"],
        sorting=texts["sorting"],
        watchlist=texts["list"],
        filter=texts["filter"],
        zoomed=texts["zoomed"],
        charts=charts_in(table.get("charts", [])),
    )
    return NamedWorkspace(name, key, workspace, _indicators(table.get("indicators", []), where))


def _text(table: Mapping[str, Any], member: str, where: str) -> str:
    value = table.get(member, "")
    if not isinstance(value, str) or not value.isprintable() or len(value) > TEXTS[member]:
        raise BadSettings(
            f"{where}.{member} must be text in quotes, at most {TEXTS[member]} characters"
        )
    return value


def _indicators(texts: object, where: str) -> tuple[str, ...]:
    if not isinstance(texts, list) or not all(isinstance(each, str) for each in texts):
        raise BadSettings(f'{where}.indicators must be texts, such as indicators = ["ema 20"]')
    try:
        return tuple(each.text for each in parse_indicators(texts))
    except IndicatorSyntaxError as error:
        raise BadSettings(f"{where}.indicators: {error}") from error
