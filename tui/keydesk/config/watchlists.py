"""The trader's watchlists in `watchlists.toml`: declared, read before each change, replaced atomically, comments kept.

tomlkit, which keeps the comments, is imported by what writes.
"""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from msgspec import Struct

from keydesk.calc.market.watchlists import (
    ALL,
    COLUMN_NAMES,
    DEFAULT_COLUMNS,
    DEFAULT_WATCHLIST,
    MAX_INSTRUMENTS,
    MAX_LISTS,
    Change,
    Watchlist,
    Watchlists,
    name_trouble,
)
from keydesk.config.file_edit import editable, locked_file, write_file
from keydesk.settings.about import About, Must, Wrong, unknown
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


def _list_name(name: object) -> str:
    if not isinstance(name, str):
        raise Wrong
    if trouble := name_trouble(name):
        raise ValueError(f"must be text in quotes: {trouble}")
    return name


def _names(values: object) -> tuple[str, ...]:
    if not isinstance(values, list) or not all(map(_is_name, values)):
        raise Wrong
    return tuple(dict.fromkeys(values))


def _is_name(value: object) -> bool:
    return (
        isinstance(value, str)
        and 0 < len(value) <= MAX_INSTRUMENT_LENGTH
        and value.isascii()
        and value.isprintable()
    )


def _instruments(values: object) -> tuple[str, ...]:
    names = _names(values)
    if len(names) > MAX_INSTRUMENTS:
        raise ValueError(f"has more than {MAX_INSTRUMENTS} instruments")
    return names


def _columns(values: object) -> tuple[str, ...]:
    names = _names(values)
    for name in names:
        if name not in COLUMN_NAMES:
            raise ValueError(f": {name!r} {unknown(name, COLUMN_NAMES)}")
    return tuple(each for each in COLUMN_NAMES if each in names)


class ListTable(Struct, frozen=True):
    """A list: a table under a line `[[lists]]`."""

    name: Annotated[
        str,
        About(
            "The name of the list; All is the list of every instrument.",
            Must("text in quotes", '{key} = "Majors"'),
            read=_list_name,
            schema={"type": "string"},
        ),
    ]

    instruments: Annotated[
        tuple[str, ...],
        About(
            "The instruments in their order.",
            Must("names in quotes", '["EUR_USD", "GBP_USD"]'),
            read=_instruments,
            schema={"type": "array", "items": {"type": "string"}},
        ),
    ] = ()

    columns: Annotated[
        tuple[str, ...],
        About(
            "The columns that are shown.",
            Must("names in quotes", '["bid", "ask", "spread"]'),
            read=_columns,
            schema={"type": "array", "items": {"enum": list(COLUMN_NAMES)}},
        ),
    ] = DEFAULT_COLUMNS

    def __post_init__(self) -> None:
        """Raise ValueError for instruments of the list of all."""
        if self.name == ALL and self.instruments:
            raise ValueError(f": list {ALL} holds every instrument; remove its instruments")


class WatchlistsFile(Struct, frozen=True):
    """All of `watchlists.toml`."""

    lists: Annotated[
        tuple[ListTable, ...], About(must=Must("tables, each under a line [[lists]]"))
    ] = ()

    def __post_init__(self) -> None:
        """Raise ValueError for too many lists, or two of one name."""
        if len(self.lists) > MAX_LISTS:
            raise ValueError(f"there are {len(self.lists)} lists; at most {MAX_LISTS} can be")
        names = [each.name.casefold() for each in self.lists]
        for each in self.lists:
            if names.count(each.name.casefold()) > 1:
                raise ValueError(f"two lists are named {each.name}; rename one")

    def watchlists(self) -> Watchlists:
        """Return the lists, that of all instruments first."""
        lists = [Watchlist(each.name, each.instruments, each.columns) for each in self.lists]
        whole = next((each for each in lists if each.is_all), DEFAULT_WATCHLIST)
        return Watchlists((whole, *(each for each in lists if not each.is_all)))


def load_watchlists(folder: Path) -> Watchlists:
    """Read `watchlists.toml` in the folder; a missing file means the list of all instruments alone.

    Raises:
        BadSettings: the file is not TOML, or a list has a wrong member; the text names it.
    """
    path = folder / FILE
    text = text_in(path)
    if not text:
        return Watchlists()
    from keydesk.settings.declared import read_record  # noqa: PLC0415 - for a file only

    return read_record(path, text, WatchlistsFile).watchlists()


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
