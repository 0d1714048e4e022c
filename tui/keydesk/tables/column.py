"""A column of a table: what it is called, how wide it is, and what it shows, measures and is searched by."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from itertools import pairwise
from typing import Generic, TypeVar

from msgspec import Struct
from msgspec.structs import replace
from rich.style import Style

from keydesk.store.unknown import UNKNOWN
from keydesk.text.sanitize import Printable, safe
from keydesk.widgets.lines import Run
from keydesk.widgets.theme import ColourRole, Palette

Row = TypeVar("Row")
Measured = Decimal | float | str | None


def number_of_id(id_: str) -> Decimal | None:
    """Return an id as a number, by which rows are sorted; None if it is not one."""
    return Decimal(id_) if id_.isascii() and id_.isdecimal() else None


class Column(Struct, frozen=True):
    """One column; it is shown whole or not at all, the highest rank is left out first."""

    key: str
    title: Printable
    width: int
    rank: int = 0
    right: bool = True
    group: str = ""  # columns of one group are left out together
    flexible: bool = False  # it takes the remaining width, and its cells are cut to it
    ascending: bool = False  # words, sorted from A to Z


class ValueColumn(Column, Generic[Row], frozen=True, kw_only=True):
    """A column that says all that its table does with it: drawing, sorting and searching read it.

    Without `value` rows are not sorted by it, without `search_text` not found by it.
    """

    text: Callable[[Row], str]
    role: ColourRole | Callable[[Row], ColourRole] = "muted"
    value: Callable[[Row], Measured] | None = None
    search_text: Callable[[Row], str] | None = None
    marks: Callable[[Row, Palette], Sequence[Run]] | None = None  # behind the text
    unknown: Callable[[Row], bool] = lambda _: False  # what it needs could not be read
    by_price: bool = False  # faint while prices are stale
    at_stake: bool = False  # drawn as money at stake

    def style(self, role: ColourRole, palette: Palette, *, old: bool) -> Style:
        """Return the style of a cell, with or without fresh prices."""
        if old and self.by_price:
            return palette["faint"]
        return palette[role] + palette.at_stake if self.at_stake else palette[role]

    def cell(self, row: Row, palette: Palette, *, old: bool) -> Sequence[Run]:
        """Return what the column shows of a row."""
        if self.unknown(row):
            run: Run = (UNKNOWN, palette["danger"])
        else:
            role = self.role(row) if callable(self.role) else self.role
            run = (safe(self.text(row)), self.style(role, palette, old=old))
        return [run, *self.marks(row, palette)] if self.marks is not None else [run]


def fit(columns: Sequence[Column], width: int, gap: int = 1) -> tuple[Column, ...]:
    """Return the columns that fit with a gap between two, in their order."""
    fitted = list(columns)
    while len(fitted) > 1 and needed(fitted, gap) > width:
        leaving = max(reversed(fitted), key=lambda column: column.rank)
        fitted = [
            each for each in fitted if each is not leaving and not _leave_together(each, leaving)
        ]
    return tuple(fitted)


def _leave_together(column: Column, leaving: Column) -> bool:
    return bool(leaving.group) and column.group == leaving.group


def needed(columns: Sequence[Column], gap: int) -> int:
    """Return the cells that the columns take."""
    return sum(column.width for column in columns) + gap * (len(columns) - 1)


def apart(columns: Sequence[Column], width: int) -> tuple[Column, ...]:
    """Return the columns, those a cell wider whose title would touch that before it, from the left while there is room."""
    spare, made = width - needed(columns, 1), list(columns[:1])
    for before, column in pairwise(columns):
        touches = before.right and column.right and len(column.title) == column.width
        made.append(replace(column, width=column.width + 1) if touches and spare > 0 else column)
        spare -= touches
    return tuple(made)


def widen(columns: Sequence[Column], widths: dict[str, int]) -> tuple[Column, ...]:
    """Return the columns, widened to these widths where they are narrower."""
    return tuple(replace(c, width=max(c.width, widths.get(c.key, 0))) for c in columns)
