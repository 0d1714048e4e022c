"""The order of the rows of a sorted table: by which column, in which direction, and once or again and again."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Sequence
from decimal import Decimal

from msgspec import Struct
from msgspec.structs import replace

from keydesk.tables.column import Measured
from keydesk.text.sanitize import Printable, safe

LIVE_EVERY = 2.0  # seconds between two live sortings, and of rest after a key
Measure = Callable[[str, str], Measured]  # of a row, by its key and the column's


class TableOrder(Struct, frozen=True):
    """The column that rows are sorted by; without one they are in the pane's own order."""

    column: str = ""
    descending: bool = True
    live: bool = False  # sorted again and again, the cursor's row held; else once

    @classmethod
    def read(cls, text: str, columns: Container[str]) -> TableOrder:
        """Return the order that `saved` wrote; anything else is the pane's own order."""
        column, *more = text.split() or [""]
        if column not in columns or not set(more) <= {"up", "live"}:
            return cls()
        return cls(column, "up" not in more, "live" in more)

    @property
    def saved(self) -> str:
        """Return the text form for a file."""
        if not self.column:
            return ""
        up, live = "" if self.descending else " up", " live" if self.live else ""
        return f"{self.column}{up}{live}"

    def text(self, title: str) -> Printable:
        """Return the order in words for a heading: "P/L ▼ held"; `title` is the column's header."""
        if not self.column:
            return ""
        arrow, pace = "▼" if self.descending else "▲", "live" if self.live else "held"
        return safe(f"{title} {arrow} {pace}")

    def by(self, column: str, ascending: Collection[str]) -> TableOrder:
        """Return the order by another column: largest first, words (`ascending`) from A to Z."""
        return replace(self, column=column, descending=column not in ascending)

    def with_next_direction(self, first: str, ascending: Collection[str]) -> TableOrder:
        """Return the order after this one of: the usual direction (of the column `first`), the other one, the pane's own."""
        if not self.column:
            return self.by(first, ascending)
        usual = self.column not in ascending
        if self.descending == usual:
            return replace(self, descending=not usual)
        return TableOrder(live=self.live)

    def with_adjacent_column(
        self, columns: Sequence[str], step: int, ascending: Collection[str]
    ) -> TableOrder:
        """Return the order by the column beside the present one; the pane's own order is before the first."""
        places = ["", *columns]
        at = places.index(self.column) if self.column in places else 0
        column = places[(at + step) % len(places)]
        return self.by(column, ascending) if column else TableOrder(live=self.live)

    def sort(self, rows: Sequence[str], measure: Measure) -> list[str]:
        """Return the rows sorted; those whose measure is unknown stay last, in their order."""
        if not self.column:
            return list(rows)
        measured = [(measure(row, self.column), row) for row in rows]
        known = [(value, row) for value, row in measured if value is not None]
        known.sort(key=_value, reverse=self.descending)
        return [row for _, row in known] + [row for value, row in measured if value is None]


def _value(measured: tuple[Decimal | float | str, str]) -> Decimal | float | str:
    return measured[0]


def held_order(before: Sequence[str], now: Sequence[str]) -> list[str]:
    """Return the present rows in their earlier order; new ones are at the top."""
    left = set(now)
    rows = [row for row in before if row in left]
    known = set(rows)
    return [*(row for row in now if row not in known), *rows]
