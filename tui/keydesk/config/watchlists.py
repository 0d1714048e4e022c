"""The trader's watchlists in `watchlists.toml`: read before each change, replaced atomically, comments kept.

tomlkit, which keeps the comments, is imported by what writes.
"""

import re
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from keydesk.calc.market.watchlists import (
    COLUMN_NAMES,
    DEFAULT_COLUMNS,
    DEFAULT_WATCHLIST,
    Change,
    Watchlist,
    Watchlists,
)
from keydesk.config.file_edit import editable, locked_file, write_file
from keydesk.settings.toml_text import first_line, text_in

if TYPE_CHECKING:
    import tomlkit

FILE = "watchlists.toml"
LOCK_PATIENCE = 0.5  # seconds, in which the screen is not drawn
MAX_INSTRUMENT_LENGTH = 24
ONE_LINE = 8  # instruments
BLANK_LINES = re.compile(r"\n{3,}")
HEAD = (
    "Watchlists of keydesk; the desk's own keys write this file, too. Columns:",
    " ".join(COLUMN_NAMES),
)


def load_watchlists(folder: Path) -> Watchlists:
    """Read `watchlists.toml` in the folder; a missing file means the list of all instruments alone.

    Raises:
        BadSettings: the file is not TOML, or a list has a wrong member; the text names it.
    """
    path = folder / FILE
    text = text_in(path)
    if not text:
        return Watchlists()
    from keydesk.settings.watchlists_file import read_watchlists  # noqa: PLC0415 - for a file only

    return read_watchlists(path, text)


class WatchlistFile(Struct, frozen=True):
    """The file in a folder of settings."""

    folder: Path

    def read(self) -> Watchlists:
        """Return the lists; raise BadSettings if the file cannot be used."""
        return load_watchlists(self.folder)

    def change(self, change: Change) -> Watchlists:
        """Apply a change to the lists as they are in the file now, write them, and return them.

        Raises:
            ListError: the change makes no sense; nothing was written.
            BadSettings: the file cannot be used; it stays as it is.
            OSError: the file cannot be written; it stays as it is.
        """
        with locked_file(self.folder, FILE, LOCK_PATIENCE) as path:
            before = self.read()
            after = change(before)
            if after != before:
                write_file(path, _written(path, after))
        return after


def _written(path: Path, lists: Watchlists) -> str:
    """Return the file's text with these lists; the tables of lists that stay keep their comments."""
    import tomlkit  # noqa: PLC0415 - needed for writing only

    document = editable(text_in(path), path) if path.exists() else _empty()
    shown = [each for each in lists.lists if each != DEFAULT_WATCHLIST]
    kept = _tables_by_name(document, [each.name for each in shown])
    tables = tomlkit.aot()
    for each in shown:
        table = kept.get(each.name, tomlkit.table())
        _fill(table, each)
        tables.append(table)
    if "lists" in document:
        document.remove("lists")
    if len(tables):
        document.append("lists", tables)
    return BLANK_LINES.sub("\n\n", tomlkit.dumps(document))


def _tables_by_name(
    document: "tomlkit.TOMLDocument", names: list[str]
) -> "dict[str, tomlkit.items.Table]":
    """Return the tables of the file by the list they are for now; a renamed list keeps its own."""
    tables = {str(each["name"]): each for each in document.get("lists", [])}
    gone = [name for name in tables if name not in names]
    come = [name for name in names if name not in tables]
    if len(gone) == len(come) == 1:
        tables[come[0]] = tables[gone[0]]
    return tables


def _empty() -> "tomlkit.TOMLDocument":
    import tomlkit  # noqa: PLC0415 - needed for writing only

    document = tomlkit.parse(f"{first_line(FILE)}\n")
    for line in HEAD:
        document.add(tomlkit.comment(line))
    document.add(tomlkit.nl())
    return document


def _fill(table: "tomlkit.items.Table", watched: Watchlist) -> None:
    now: dict[str, object] = {"name": watched.name}
    if not watched.is_all:
        now["instruments"] = list(watched.instruments)
    if watched.columns != DEFAULT_COLUMNS:
        now["columns"] = list(watched.columns)
    for member in [member for member in table if member not in now]:
        table.remove(member)
    for member, value in now.items():
        if member not in table or table[member] != value:
            table[member] = _array(value) if isinstance(value, list) else value


def _array(values: list[str]) -> "tomlkit.items.Array":
    import tomlkit  # noqa: PLC0415 - needed for writing only

    array = tomlkit.array()
    array.extend(values)
    return array.multiline(len(values) > ONE_LINE)
