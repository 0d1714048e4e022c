"""All of `watchlists.toml`."""

from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, Field, PlainValidator, WithJsonSchema, model_validator

from keydesk.calc.market.watchlists import (
    ALL,
    COLUMN_NAMES,
    DEFAULT_COLUMNS,
    DEFAULT_WATCHLIST,
    MAX_INSTRUMENTS,
    MAX_LISTS,
    Watchlist,
    Watchlists,
    name_trouble,
)
from keydesk.settings.about import Must, Wrong, unknown
from keydesk.settings.declared import Table, checked
from keydesk.settings.toml_text import parsed

MAX_INSTRUMENT_LENGTH = 24


def _list_name(name: str) -> str:
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
        WithJsonSchema({"type": "array", "items": {"enum": list(COLUMN_NAMES)}}),
        Must("names in quotes", '["bid", "ask", "spread"]'),
    ] = DEFAULT_COLUMNS
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
        whole = next((each for each in lists if each.is_all), DEFAULT_WATCHLIST)
        return Watchlists((whole, *(each for each in lists if not each.is_all)))


def read_watchlists(path: Path, text: str) -> Watchlists:
    """Return the lists of a file; raise BadSettings if it cannot be used."""
    return checked(parsed(text, path), WatchlistsFile, path, text).watchlists()
