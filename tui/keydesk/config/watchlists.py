"""The trader's watchlists in `watchlists.toml`: read before each change, replaced atomically, comments kept.

tomlkit, which keeps the comments, is imported by what writes.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from pydantic import AfterValidator, Field, PlainValidator, WithJsonSchema, model_validator

from keydesk.calc.market.watchlists import (
    ALL,
    COLUMN_MEANINGS,
    MAX_INSTRUMENTS,
    MAX_LISTS,
    USUAL_COLUMNS,
    Change,
    Watchlist,
    Watchlists,
    name_trouble,
)
from keydesk.config.declared import WRONG, Must, Table, read_file, unknown
from keydesk.config.toml_text import BadSettings, first_line
from keydesk_client.auth.private_files import locked, replace_file

if TYPE_CHECKING:
    import tomlkit

FILE = "watchlists.toml"
LOCK_PATIENCE = 0.5  # seconds, in which the screen is not drawn
MAX_INSTRUMENT_LENGTH = 24
ONE_LINE = 8  # instruments
BLANK_LINES = re.compile(r"\n{3,}")
HEAD = (
    "Watchlists of keydesk; the desk's own keys write this file, too. Columns:",
    " ".join(COLUMN_MEANINGS),
)


def load_watchlists(folder: Path) -> Watchlists:
    """Read `watchlists.toml` in the folder; a missing file means the list of all instruments alone.

    Raises:
        BadSettings: the file is not TOML, or a list has a wrong member; the text names it.
    """
    return read_file(folder / FILE, WatchlistsFile).watchlists()


@dataclass(frozen=True, slots=True)
class WatchlistFile:
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
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = (self.folder / FILE).resolve()  # a link stays a link
        with locked(path, patience_s=LOCK_PATIENCE):
            before = self.read()
            after = change(before)
            if after != before:
                replace_file(path, _written(path, after).encode())
        return after


def _list_name(name: str) -> str:
    if trouble := name_trouble(name):
        raise ValueError(f"must be text in quotes: {trouble}")
    return name


def _names(values: object) -> tuple[str, ...]:
    if not isinstance(values, list) or not all(map(_is_name, values)):
        raise WRONG
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
        if name not in COLUMN_MEANINGS:
            raise ValueError(f": {name!r} {unknown(name, tuple(COLUMN_MEANINGS))}")
    return tuple(each for each in COLUMN_MEANINGS if each in names)


class ListTable(Table):
    """A list: a table under a line `[[lists]]`."""

    name: Annotated[str, AfterValidator(_list_name), Must("text in quotes", '{key} = "Majors"')]
    """The name of the list; All is the list of every instrument."""

    instruments: Annotated[
        tuple[str, ...],
        PlainValidator(_instruments),
        WithJsonSchema({"type": "array", "items": {"type": "string"}}),
        Must("names in quotes", '["EUR_USD", "GBP_USD"]'),
    ] = ()
    """The instruments in their order."""

    columns: Annotated[
        tuple[str, ...],
        PlainValidator(_columns),
        WithJsonSchema({"type": "array", "items": {"enum": list(COLUMN_MEANINGS)}}),
        Must("names in quotes", '["bid", "ask", "spread"]'),
    ] = USUAL_COLUMNS
    """The columns that are shown."""

    @model_validator(mode="after")
    def _all_is_whole(self) -> "ListTable":
        if self.name == ALL and self.instruments:
            raise ValueError(f": list {ALL} holds every instrument; remove its instruments")
        return self


class WatchlistsFile(Table):
    """All of `watchlists.toml`."""

    lists: Annotated[
        tuple[ListTable, ...], Field(strict=False), Must("tables, each under a line [[lists]]")
    ] = ()

    @model_validator(mode="after")
    def _few_and_distinct(self) -> "WatchlistsFile":
        if len(self.lists) > MAX_LISTS:
            raise ValueError(f"there are {len(self.lists)} lists; at most {MAX_LISTS} can be")
        names = [each.name.casefold() for each in self.lists]
        for each in self.lists:
            if names.count(each.name.casefold()) > 1:
                raise ValueError(f"two lists are named {each.name}; rename one")
        return self

    def watchlists(self) -> Watchlists:
        """Return the lists, that of all instruments first."""
        lists = [Watchlist(each.name, each.instruments, each.columns) for each in self.lists]
        whole = next((each for each in lists if each.is_all), Watchlist(ALL))
        return Watchlists((whole, *(each for each in lists if not each.is_all)))


def _written(path: Path, lists: Watchlists) -> str:
    """Return the file's text with these lists; the tables of lists that stay keep their comments."""
    import tomlkit  # noqa: PLC0415 - needed for writing only
    from tomlkit.exceptions import TOMLKitError  # noqa: PLC0415 - same

    try:
        document = tomlkit.parse(path.read_text(encoding="utf-8")) if path.exists() else _empty()
    except TOMLKitError as error:
        raise BadSettings(f"{path} is not valid TOML: {error}; fix it, then try again") from error
    shown = [each for each in lists.lists if each != Watchlist(ALL)]
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
    if watched.columns != USUAL_COLUMNS:
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
