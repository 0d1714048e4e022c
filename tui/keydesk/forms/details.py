"""Enter: everything known of the selected row, name and value; it never sends."""

from collections.abc import Sequence
from itertools import zip_longest
from typing import ClassVar

from rich.cells import cell_len, set_cell_size

from keydesk.forms.looking import Looking
from keydesk.forms.sheet import Line
from keydesk.keys.keymap import HELP, KEYMAP
from keydesk.text.sanitize import Printable, safe
from keydesk.text.wrapping import lines_of

NAME_WIDTH = 20
BLANK_TEXT = safe("")
WIDEST_NAME = 24  # columns: a date, a time and its zone


class DetailsForm(Looking[None]):
    """A list of names and values that scrolls where it is long."""

    BINDINGS = KEYMAP.bindings(HELP)
    WIDTH: ClassVar[int] = 76

    def __init__(self, title: Printable, rows: Sequence[tuple[Printable, str]]) -> None:
        super().__init__()
        self.heading: Printable = title
        self.rows = tuple(rows)
        self.top = 0  # the first line shown

    def title_words(self) -> Printable:
        """Name the row."""
        return self.heading

    def foot_words(self) -> Printable:
        """Say how to go on."""
        last = self._last_top()
        if not last:
            return "Esc closes"
        pages = -(-last // self.room) + 1
        page = -(-min(self.top, last) // self.room) + 1
        return safe(f"Esc closes   Space page {page}/{pages}   ↑ ↓ scroll")

    def lines(self) -> Sequence[Line]:
        """Return what is in sight."""
        lines = self._wrapped()
        top = min(self.top, self._last_top())
        return lines[top : top + self.room]

    def _wrapped(self) -> list[Line]:
        """A value that is too long goes on beneath itself, clear of the names."""
        longest = max((cell_len(name) for name, _ in self.rows), default=0)
        names = max(1, min(max(longest, NAME_WIDTH), WIDEST_NAME, self.inside // 2))
        width = max(1, self.inside - names - 1)
        lines: list[Line] = []
        for name, value in self.rows:
            pairs = zip_longest(
                lines_of(name, names) or [BLANK_TEXT],
                lines_of(safe(value), width) or [BLANK_TEXT],
                fillvalue=BLANK_TEXT,
            )
            for left, right in pairs:
                label = safe(set_cell_size(left, names) + " ")
                lines.append(((label, "muted"), (right, "plain")))
        return lines

    def action_next_page(self) -> None:
        """Turn the page; after the last one comes the first."""
        self._show_from(0 if self.top >= self._last_top() else self.top + self.room)

    def action_scroll_lines(self, step: int) -> None:
        """Scroll by lines."""
        self._show_from(self.top + step)

    def action_scroll_pages(self, step: int) -> None:
        """Scroll by pages."""
        self._show_from(self.top + step * self.room)

    def action_scroll_to(self, end: str) -> None:
        """Scroll to the top or the bottom."""
        self._show_from(0 if end == "top" else self._last_top())

    def _show_from(self, top: int) -> None:
        self.top = max(0, min(top, self._last_top()))
        self.redraw()

    def _last_top(self) -> int:
        """The first line of the last page."""
        return max(0, len(self._wrapped()) - self.room)
