"""A list of names and values: the details of a row (Enter), and pages made of them."""

from collections.abc import Sequence
from itertools import zip_longest
from typing import ClassVar, Self

from rich.cells import cell_len, set_cell_size

from keydesk.forms.info_form import FRAME, ScrolledForm
from keydesk.forms.modal_form import TextLine
from keydesk.forms.page_lines import COLUMN_GAP, in_pages
from keydesk.text.format import lines_of
from keydesk.text.sanitize import Printable, SafeText, safe
from keydesk.widgets.theme import ColourRole

Rows = list[tuple[Printable, str]]


class StyledText(str):
    """A value that is drawn in another role than the plain one."""

    __slots__ = ("role",)
    role: ColourRole

    def __new__(cls, text: str, role: ColourRole) -> Self:
        """Return the words with their role."""
        toned = super().__new__(cls, text)
        toned.role = role
        return toned


NAME_WIDTH = 20
BLANK_TEXT = safe("")
LEAST_COLUMN = 54  # columns of a column of names and values
WIDEST_NAME = 24  # columns: a date, a time and its zone


def _value_lines(value: SafeText, width: int) -> list[SafeText]:
    """Return a value as it is where it fits: columns in it stay aligned; else wrapped."""
    return [value] if value and cell_len(value) <= width else lines_of(value, width)


class DetailsForm(ScrolledForm):
    """A list of names and values: in columns where one has no room for all of them, and scrolled where those have none."""

    WIDTH: ClassVar[int] = 100
    IN_COLUMNS: ClassVar[bool] = True

    def __init__(self, title: Printable, rows: Sequence[tuple[Printable, str]]) -> None:
        super().__init__()
        self.heading: Printable = title
        self.rows = tuple(rows)

    def title_text(self) -> Printable:
        """Name the row."""
        return self.heading

    def all_lines(self) -> Sequence[TextLine]:
        """Return all rows; a long value is wrapped within its column."""
        lines = self._lines_in(self.inside)
        most = (self.panel_width - FRAME + COLUMN_GAP) // (LEAST_COLUMN + COLUMN_GAP)
        if not self.IN_COLUMNS or len(lines) <= self.room or most < 2:  # noqa: PLR2004
            return lines
        for columns in range(2, most + 1):
            between = COLUMN_GAP * (columns - 1)
            width = min(self.inside, (self.panel_width - FRAME - between) // columns)
            lines = self._lines_in(width)
            if len(lines) <= self.room * columns:
                break
        rows = min(self.room, -(-len(lines) // columns))
        return in_pages(lines, rows, columns, width + COLUMN_GAP)

    def _lines_in(self, width: int) -> list[TextLine]:
        longest = max((cell_len(name) for name, _ in self.rows), default=0)
        names = max(1, min(max(longest, NAME_WIDTH), WIDEST_NAME, width // 2))
        room = max(1, width - names - 1)
        lines: list[TextLine] = []
        for name, value in self.rows:
            pairs = zip_longest(
                lines_of(name, names) or [BLANK_TEXT],
                _value_lines(safe(value), room) or [BLANK_TEXT],
                fillvalue=BLANK_TEXT,
            )
            for left, right in pairs:
                label = safe(set_cell_size(left, names) + " ")
                lines.append(((label, "muted"), (right, getattr(value, "role", "plain"))))
        return lines
