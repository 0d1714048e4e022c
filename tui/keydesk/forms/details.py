"""Enter: everything known of the selected row, name and value; it never sends."""

from collections.abc import Sequence
from textwrap import wrap
from typing import ClassVar

from keydesk.forms.looking import Looking
from keydesk.forms.sheet import Line
from keydesk.keys.keymap import HELP, KEYMAP

NAME_WIDTH = 20


class DetailsForm(Looking[None]):
    """A list of names and values, paged where it is long."""

    BINDINGS = KEYMAP.bindings(HELP)
    WIDTH: ClassVar[int] = 76

    def __init__(self, title: str, rows: Sequence[tuple[str, str]]) -> None:
        super().__init__()
        self.heading = title
        self.rows = tuple(rows)
        self.page = 0

    def title_words(self) -> str:
        """Name the row."""
        return self.heading

    def foot_words(self) -> str:
        """Say how to go on."""
        pages = self._pages()
        return (
            "Esc closes"
            if pages == 1
            else f"Space page {self.page % pages + 1}/{pages}   Esc closes"
        )

    def lines(self) -> Sequence[Line]:
        """Return the page."""
        start = self.page % self._pages() * self.room
        return self._wrapped()[start : start + self.room]

    def _wrapped(self) -> list[Line]:
        """A value that is too long goes on beneath itself, clear of the names."""
        return [
            ((f"{'' if further else name:<{NAME_WIDTH}} ", "muted"), (part, "plain"))
            for name, value in self.rows
            for further, part in enumerate(
                wrap(value, max(1, self.inside - NAME_WIDTH - 1)) or [value]
            )
        ]

    def action_next_page(self) -> None:
        """Turn the page."""
        self.page += 1
        self.redraw()

    def _pages(self) -> int:
        return max(1, -(-len(self._wrapped()) // self.room))
