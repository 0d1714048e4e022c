"""The trader's named workspaces and bookmarks in `workspaces.toml`: declared, read, and replaced atomically with comments kept.

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
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

from msgspec import Struct, field
from msgspec.structs import asdict

from keydesk.calc.market.granularity import SECONDS
from keydesk.calc.market.indicator_specs import IndicatorSyntaxError, parse_indicators
from keydesk.config.file_edit import change_file
from keydesk.config.last_workspace import Workspace, charts_in
from keydesk.settings.about import About, Must, Wrong, matching
from keydesk.settings.toml_text import text_in
from keydesk.settings.values import INSTRUMENT, WORKSPACE_NAME
from keydesk.text.sanitize import clean

FILE = "workspaces.toml"
LETTERS = "abcdefghijklmnopqrstuvwxyz"
LETTER = re.compile("[a-z]")
TEXT = {"type": "string"}
TEXTS = {"type": "array", "items": TEXT}


def _timeframe(value: object) -> str:
    if not isinstance(value, str) or value not in SECONDS:
        raise Wrong
    return value


def _indicators(texts: object) -> tuple[str, ...]:
    if not isinstance(texts, list) or not all(isinstance(each, str) for each in texts):
        raise Wrong
    try:
        return tuple(each.text for each in parse_indicators(texts))
    except IndicatorSyntaxError as error:
        raise ValueError(f": {error}") from error


def _bookmarks(table: object) -> dict[str, str]:
    if not isinstance(table, dict):
        raise Wrong
    for letter, instrument in table.items():
        is_name = isinstance(instrument, str) and INSTRUMENT.fullmatch(instrument)
        if not is_name or not LETTER.fullmatch(letter):
            raise ValueError(
                f'.{clean(letter)} must be a letter and an instrument, such as g = "GBP_USD"'
            )
    return table


def _short(text: str, most: int) -> About:
    """Return the declaration of a text of at most so many characters."""

    def read(value: object) -> str:
        if not isinstance(value, str) or not value.isprintable() or len(value) > most:
            raise Wrong
        return value

    must = Must(f"text in quotes, at most {most} characters")
    return About(text, must, read=read, schema=TEXT)


class WorkspaceTable(Struct, frozen=True):
    """A table `[workspaces.NAME]`: what is shown and how; `:layout save NAME` writes it."""

    key: Annotated[
        str,
        About(
            "The letter behind ' that shows it.",
            Must("a small letter", '{key} = "s"'),
            read=matching(LETTER),
            schema=TEXT,
        ),
    ]

    timeframe: Annotated[
        str,
        About(
            "The timeframe of the chart.",
            Must(f"one of: {' '.join(SECONDS)}"),
            read=_timeframe,
            schema={"enum": list(SECONDS)},
        ),
    ] = "M5"

    panes: Annotated[
        dict[str, str],
        About(
            "Which of the panes that share a place is in front.",
            Must("names", 'panes = { trades = "orders" }'),
        ),
    ] = field(default_factory=dict)

    charts: Annotated[
        tuple[tuple[str, str], ...],
        About(
            'Further charts: the instrument ("" for the one in focus) and the timeframe of each.',
            read=charts_in,
            schema={"type": "array", "items": TEXTS},
        ),
    ] = ()

    indicators: Annotated[
        tuple[str, ...],
        About(
            "The indicators of the chart.",
            Must("texts", '{key} = ["ema 20"]'),
            read=_indicators,
            schema=TEXTS,
        ),
    ] = ()

    list: Annotated[str, _short("The watchlist.", 40)] = ""
    focused: Annotated[str, _short("The pane that has the keys.", 20)] = ""
    zoomed: Annotated[str, _short("The pane that is shown alone.", 20)] = ""
    sorting: Annotated[str, _short("The sorting of the watchlist.", 40)] = ""
    filter: Annotated[str, _short("The filter of the watchlist.", 40)] = ""

    @classmethod
    def of(cls, key: str, shown: Workspace, indicators: tuple[str, ...]) -> "WorkspaceTable":
        """Return the table of what is shown, without its instrument."""
        return cls(
            key=key,
            timeframe=shown.granularity,
            panes=dict(shown.fronts),
            charts=shown.charts,
            indicators=indicators,
            list=shown.watchlist,
            focused=shown.focused,
            zoomed=shown.zoomed,
            sorting=shown.sorting,
            filter=shown.filter,
        )

    @property
    def workspace(self) -> Workspace:
        """What is shown, but for the indicators."""
        return Workspace(
            granularity=self.timeframe,
            fronts=self.panes,
            focused=self.focused,
            sorting=self.sorting,
            watchlist=self.list,
            filter=self.filter,
            zoomed=self.zoomed,
            charts=self.charts,
        )


class WorkspacesFile(Struct, frozen=True):
    """All of `workspaces.toml`."""

    workspaces: Annotated[dict[str, WorkspaceTable], About("Named layouts.")] = field(
        default_factory=dict
    )

    bookmarks: Annotated[
        dict[str, str],
        About(
            "Letters of instruments: m and a letter writes one, ' and the letter goes there.",
            Must("a table, [bookmarks]"),
            read=_bookmarks,
            schema={"type": "object", "additionalProperties": TEXT},
        ),
    ] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Raise ValueError for a wrong name, or a letter that stands for two things."""
        for name in self.workspaces:
            if not WORKSPACE_NAME.fullmatch(name):
                raise ValueError(
                    f".workspaces.{clean(name)} must be a table, its name small letters and digits"
                )
        letters = [*self.bookmarks, *(each.key for each in self.workspaces.values())]
        for letter in letters:
            if letters.count(letter) > 1:
                raise ValueError(
                    f"the letter {letter} is used twice: give each layout and bookmark its own letter"
                )

    def name_of(self, letter: str) -> str:
        """Return the name of the workspace of a letter, "" if it has none."""
        return next((name for name, each in self.workspaces.items() if each.key == letter), "")

    def free_key(self, name: str) -> str:
        """Return the first free letter of a name, else of the alphabet; "" when there is none."""
        taken = {each.key for each in self.workspaces.values()} | set(self.bookmarks)
        return next((each for each in name + LETTERS if each in LETTERS and each not in taken), "")


def load_workspaces(folder: Path) -> WorkspacesFile:
    """Read `workspaces.toml` in the folder; a missing file has none.

    Raises:
        BadSettings: the file is not TOML, or a member is wrong; the text names it.
    """
    path = folder / FILE
    text = text_in(path)
    if not text:
        return WorkspacesFile()
    from keydesk.settings.declared import read_record  # noqa: PLC0415 - for a file only

    return read_record(path, text, WorkspacesFile)


def save_workspace(folder: Path, name: str, table: WorkspaceTable) -> None:
    """Write a workspace; replace one of the same name.

    Raises:
        BadSettings: the file cannot be used; it stays as it is.
        OSError: the file cannot be written; it stays as it is.
    """
    members = {key: value for key, value in asdict(table).items() if value != ""}
    members |= {"charts": list(map(list, table.charts)), "indicators": list(table.indicators)}
    _change(folder, lambda document: _put(document, "workspaces", name, members))


def delete_workspace(folder: Path, name: str) -> None:
    """Remove a workspace from the file; raises as `save_workspace` does."""
    _change(folder, lambda document: document.get("workspaces", {}).pop(name, None))


def save_bookmark(folder: Path, letter: str, instrument: str) -> None:
    """Write a bookmark; raises as `save_workspace` does."""
    _change(folder, lambda document: _put(document, "bookmarks", letter, instrument))


def _change(folder: Path, change: Callable[[Any], None]) -> None:
    load_workspaces(folder)
    change_file(folder, FILE, change)


def _put(document: Any, table: str, name: str, value: object) -> None:  # noqa: ANN401 - tomlkit's document
    document.setdefault(table, {})[name] = value
