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
from typing import Annotated, Any

from pydantic import AfterValidator, Field, PlainValidator, WithJsonSchema, model_validator

from keydesk.calc.market.granularity import SECONDS
from keydesk.calc.market.indicator_specs import IndicatorSyntaxError, parse_indicators
from keydesk.config.declared import WRONG, Must, Table, read_file
from keydesk.config.last_workspace import NAME, Workspace, charts_in
from keydesk.config.profiles import change_file

FILE = "workspaces.toml"
LETTER = re.compile("[a-z]")
WORKSPACE_NAME = re.compile("[a-z0-9][a-z0-9-]{0,19}")
LETTERS = "abcdefghijklmnopqrstuvwxyz"


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
    return read_file(folder / FILE, WorkspacesFile).saved()


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


def _letter(text: str) -> str:
    if not LETTER.fullmatch(text):
        raise WRONG
    return text


def _workspace_name(name: str) -> str:
    if not WORKSPACE_NAME.fullmatch(name):
        raise ValueError("must be a table, its name small letters and digits")
    return name


def _instrument(value: object) -> str:
    if not isinstance(value, str) or NAME.fullmatch(value) is None:
        raise ValueError('must be a letter and an instrument, such as g = "GBP_USD"')
    return value


def _bookmark_letter(text: str) -> str:
    if not LETTER.fullmatch(text):
        raise ValueError('must be a letter and an instrument, such as g = "GBP_USD"')
    return text


def _timeframe(value: object) -> str:
    if not isinstance(value, str) or value not in SECONDS:
        raise WRONG
    return value


def _indicators(texts: object) -> tuple[str, ...]:
    if not isinstance(texts, list) or not all(isinstance(each, str) for each in texts):
        raise WRONG
    try:
        return tuple(each.text for each in parse_indicators(texts))
    except IndicatorSyntaxError as error:
        raise ValueError(f": {error}") from error


def _short(most: int) -> tuple[Any, Any]:
    """Return what a text of a workspace is checked by."""

    def check(value: object) -> str:
        if not isinstance(value, str) or not value.isprintable() or len(value) > most:
            raise WRONG
        return value

    return PlainValidator(check), Must(f"text in quotes, at most {most} characters")


class WorkspaceTable(Table):
    """A table `[workspaces.NAME]`: what is shown and how; `:layout save NAME` writes it."""

    key: Annotated[str, AfterValidator(_letter), Must("a small letter", '{key} = "s"')]
    """The letter behind ' that shows it."""

    timeframe: Annotated[
        str,
        PlainValidator(_timeframe),
        WithJsonSchema({"enum": list(SECONDS)}),
        Must(f"one of: {' '.join(SECONDS)}"),
    ] = "M5"
    """The timeframe of the chart."""

    panes: Annotated[dict[str, str], Must("names", 'panes = { trades = "orders" }')] = Field(
        default_factory=dict[str, str]
    )
    """Which of the panes that share a place is in front."""

    charts: Annotated[
        tuple[tuple[str, str], ...],
        PlainValidator(charts_in),
        WithJsonSchema({"type": "array", "items": {"type": "array", "items": {"type": "string"}}}),
    ] = ()
    """Further charts: the instrument ("" for the one in focus) and the timeframe of each."""

    indicators: Annotated[
        tuple[str, ...],
        PlainValidator(_indicators),
        WithJsonSchema({"type": "array", "items": {"type": "string"}}),
        Must("texts", '{key} = ["ema 20"]'),
    ] = ()
    """The indicators of the chart."""

    list: Annotated[str, *_short(40), WithJsonSchema({"type": "string"})] = ""
    """The watchlist."""

    focused: Annotated[str, *_short(20), WithJsonSchema({"type": "string"})] = ""
    """The pane that has the keys."""

    zoomed: Annotated[str, *_short(20), WithJsonSchema({"type": "string"})] = ""
    """The pane that is shown alone."""

    sorting: Annotated[str, *_short(40), WithJsonSchema({"type": "string"})] = ""
    """The sorting of the watchlist."""

    filter: Annotated[str, *_short(40), WithJsonSchema({"type": "string"})] = ""
    """The filter of the watchlist."""

    def named(self, name: str) -> NamedWorkspace:
        """Return it under its name."""
        workspace = Workspace(
            granularity=self.timeframe,
            fronts=self.panes,
            focused=self.focused,
            sorting=self.sorting,
            watchlist=self.list,
            filter=self.filter,
            zoomed=self.zoomed,
            charts=self.charts,
        )
        return NamedWorkspace(name, self.key, workspace, self.indicators)


class WorkspacesFile(Table):
    """All of `workspaces.toml`."""

    workspaces: dict[Annotated[str, AfterValidator(_workspace_name)], WorkspaceTable] = Field(
        default_factory=dict[str, WorkspaceTable]
    )
    """Named layouts."""

    bookmarks: dict[
        Annotated[str, AfterValidator(_bookmark_letter)],
        Annotated[str, PlainValidator(_instrument), WithJsonSchema({"type": "string"})],
    ] = Field(default_factory=dict[str, str])
    """Letters of instruments: m and a letter writes one, ' and the letter goes there."""

    @model_validator(mode="after")
    def _letters_are_distinct(self) -> "WorkspacesFile":
        letters = [*self.bookmarks, *(each.key for each in self.workspaces.values())]
        for letter in letters:
            if letters.count(letter) > 1:
                raise ValueError(
                    f"the letter {letter} is used twice: give each layout and bookmark its own letter"
                )
        return self

    def saved(self) -> SavedWorkspaces:
        """Return the content as the desk uses it."""
        named = {name: table.named(name) for name, table in self.workspaces.items()}
        return SavedWorkspaces(named, self.bookmarks)
