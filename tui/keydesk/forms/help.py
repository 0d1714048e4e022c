"""`?`: the keys of the focused pane, then those of the whole desk, written from the key map."""

from collections.abc import Sequence
from itertools import zip_longest
from typing import ClassVar

from keydesk.forms.looking import Looking
from keydesk.forms.sheet import BLANK, Line
from keydesk.keys.keymap import DESK, HELP, KEYMAP, ROWS, Key, KeyMap
from keydesk.text.sanitize import Printable, safe

GAP = "  "
KEY_WIDTH = 9


class HelpForm(Looking[None]):
    """One key a line, two columns, as many pages as it takes."""

    BINDINGS = KEYMAP.bindings(HELP)
    WIDTH: ClassVar[int] = 80

    def __init__(self, keymap: KeyMap, context: str = DESK) -> None:
        super().__init__()
        self.keymap = keymap
        self.context = context
        self.page = 0

    def title_words(self) -> Printable:
        """Name the pane."""
        name = "" if self.context in {DESK, ROWS} else f" of the {self.context}"
        return safe(f"Keys{name} and the desk") if name else "Keys of the desk"

    def foot_words(self) -> Printable:
        """Say how to go on."""
        pages = len(self.pages())
        more = f"Space page {self.page % pages + 1}/{pages}   " if pages > 1 else ""
        return safe(f"{more}UPPER CASE opens a form, y or a shown letter sends, Esc closes")

    def pages(self) -> Sequence[Sequence[Key]]:
        """Return the keys, so many a page as fit in two columns."""
        keys = self.keymap.in_force(self.context)
        size = 2 * self.room
        return [keys[start : start + size] for start in range(0, len(keys), size)] or [()]

    def lines(self) -> Sequence[Line]:
        """Return the page in two columns."""
        pages = self.pages()
        keys = pages[self.page % len(pages)]
        half = (len(keys) + 1) // 2
        width = (self.inside - len(GAP)) // 2
        pairs = zip_longest(keys[:half], keys[half:])
        return [
            (*_entry(left, width), (GAP, "plain"), *(_entry(right, width) if right else BLANK))
            for left, right in pairs
            if left is not None
        ]

    def action_next_page(self) -> None:
        """Turn the page; after the last one comes the first."""
        self._turn_to((self.page + 1) % len(self.pages()))

    def action_scroll_pages(self, step: int) -> None:
        """Turn the page, not beyond the last."""
        self._turn_to(min(self.page % len(self.pages()) + step, len(self.pages()) - 1))

    def action_scroll_lines(self, step: int) -> None:
        """Turn the page: a page is what moves here."""
        self.action_scroll_pages(step)

    def action_scroll_to(self, end: str) -> None:
        """Turn to the first page or the last."""
        self._turn_to(0 if end == "top" else len(self.pages()) - 1)

    def _turn_to(self, page: int) -> None:
        self.page = max(0, page)
        self.redraw()


def _entry(key: Key, width: int) -> Line:
    shown = key.shown if len(key.shown) <= KEY_WIDTH else key.shown.split(" ")[0]
    room = max(1, width - KEY_WIDTH - 1)
    words = key.words if len(key.words) <= room else key.words[: room - 1] + "…"
    role = "bright" if key.touches_money else "plain"
    return ((safe(f"{shown:<{KEY_WIDTH}} "), role), (safe(f"{words:<{room}}"), "muted"))
