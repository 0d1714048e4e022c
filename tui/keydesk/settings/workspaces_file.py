"""All of `workspaces.toml`."""

import re
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, Field, PlainValidator, WithJsonSchema, model_validator

from keydesk.calc.market.granularity import SECONDS
from keydesk.calc.market.indicator_specs import IndicatorSyntaxError, parse_indicators
from keydesk.settings.about import Must, Wrong
from keydesk.settings.declared import Table, checked
from keydesk.settings.toml_text import parsed
from keydesk.settings.values import INSTRUMENT, WORKSPACE_NAME

LETTER = re.compile("[a-z]")


def _letter(text: str) -> str:
    if not LETTER.fullmatch(text):
        raise Wrong
    return text


def _workspace_name(name: str) -> str:
    if not WORKSPACE_NAME.fullmatch(name):
        raise ValueError("must be a table, its name small letters and digits")
    return name


def _instrument(value: object) -> str:
    if not isinstance(value, str) or INSTRUMENT.fullmatch(value) is None:
        raise ValueError('must be a letter and an instrument, such as g = "GBP_USD"')
    return value


def _bookmark_letter(text: str) -> str:
    if not LETTER.fullmatch(text):
        raise ValueError('must be a letter and an instrument, such as g = "GBP_USD"')
    return text


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


def _short(most: int) -> tuple[Any, Any]:
    """Return what a text of a workspace is checked by."""

    def check(value: object) -> str:
        if not isinstance(value, str) or not value.isprintable() or len(value) > most:
            raise Wrong
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
        Any,
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


def read_workspaces(path: Path, text: str) -> WorkspacesFile:
    """Return the tables of a file; raise BadSettings if it cannot be used."""
    return checked(parsed(text, path), WorkspacesFile, path, text)
