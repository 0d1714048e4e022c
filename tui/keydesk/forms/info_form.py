"""Forms that show something and send nothing: their base, the help (`?`) and the details of a row (Enter)."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from itertools import zip_longest
from time import monotonic
from typing import ClassVar

from rich.cells import cell_len, set_cell_size
from textual.events import Resize

from keydesk.forms.framed_sheet import Sheet
from keydesk.forms.sheet import BLANK, ModalForm, TextLine
from keydesk.keys.bindings import bindings_of
from keydesk.keys.keymap import (
    BENEATH,
    DESK,
    FORM,
    HELP,
    KEY_LIST,
    KEYMAP,
    PAGE,
    PAGES,
    ROWS,
    Key,
    KeyMap,
)
from keydesk.store.frame import Frame
from keydesk.text.format import (
    lines_of,
)
from keydesk.text.sanitize import Printable, SafeText, safe
from keydesk.widgets.overlay import Result

FRAME = 4  # columns of a sheet beside its lines
FIELD_ROWS = 3  # of a field of text with its frame


class InfoForm(ModalForm[Result]):
    """The base of forms that send nothing and close with Esc. A page takes the place of the panes, all of it."""

    BINDINGS = bindings_of(PAGE)
    WIDTH: ClassVar[int] = 76
    KEY_CONTEXT: ClassVar[str] = ""  # whose keys `?` shows; a field of text has none
    IS_PAGE: ClassVar[bool] = True  # else as large as its lines, over the middle of the desk
    FOOTER: ClassVar[str] = "Esc closes what is open and gives the keys back to the panes."
    DEFAULT_CSS = """
    InfoForm { align: center middle; }
    InfoForm.-page { align: left top; }
    InfoForm > Sheet {
        height: auto; padding: 0 1; background: $background; border: round $focus;
        border-title-color: $bright; border-subtitle-color: $muted;
    }
    """

    def __init__(self) -> None:
        super().__init__("-page" if self.IS_PAGE else "")
        self.painted: float | None = None

    # Its place.

    @property
    def sheet_width(self) -> int:
        """Columns of the sheet with its frame: of a page all that there are."""
        return self.page_region.width if self.IS_PAGE else super().sheet_width

    @property
    def inside(self) -> int:
        """Columns of a line."""
        return max(1, min(self.WIDTH, self.sheet_width) - FRAME)

    @property
    def room(self) -> int:
        """Return the number of lines that fit."""
        return max(1, self.page_region.height - 2 if self.IS_PAGE else self.app.size.height - 2)

    def on_mount(self) -> None:
        """Take the place of the panes; note when the form was first painted."""
        self._take_place()
        self.painted = monotonic()

    def page_region_moved(self) -> None:
        """Stand where the panes stand now, and draw for that size."""
        self._take_place()
        self.redraw()

    def on_resize(self, event: Resize) -> None:  # noqa: ARG002
        """Stand where the panes stand in a terminal of this size."""
        if self._drawn_for != self.app.size:
            self._take_place()

    def _take_place(self) -> None:
        if not self.IS_PAGE or self.sheet is None or not self.children:
            return
        place, others = self.page_region, len(self.children) - 1
        self.children[0].styles.margin = (place.y, 0, 0, 0)
        self.sheet.styles.width = place.width
        self.sheet.styles.height = max(1, place.height - others * FIELD_ROWS)

    @abstractmethod
    def title_text(self) -> Printable:
        """Return the title of the frame."""

    def foot_text(self) -> Printable:
        """Return the text in the lower edge of the frame."""
        return "Esc closes"

    def keys_that_fit(self, *keys: str, leave: str = "Esc closes") -> Printable:
        """Return the hints that fit in the lower edge, first ones first; how to leave is always among them."""
        width = self.inside - 2
        words = list(keys)
        while words and cell_len("  ".join((*words, leave))) > width:
            words.pop()
        return safe("  ".join((*words, leave)))

    def on_frame(self, _frame: Frame) -> None:
        """Ignore the frame; a form that shows prices overrides this."""

    def title_sheet(self, sheet: Sheet) -> None:
        """Set the title and the hints of the frame."""
        sheet.entitle(self.title_text(), self.foot_text())

    def action_drop(self) -> None:
        """Close without a result; do nothing when the form is closed."""
        if self.is_active:
            self.dismiss(None)

    def action_page_keys(self) -> None:
        """Show the keys of this page."""
        if self.KEY_CONTEXT:
            self.app.push_screen(HelpForm(getattr(self, "keymap", KEYMAP), self.KEY_CONTEXT))


GAP = "  "
KEY_WIDTH = 9


class HelpForm(InfoForm[None]):
    """The keys of a pane and of the desk, or of a page, in two columns and as many pages as needed; in a narrow window one column."""

    BINDINGS = [*bindings_of(HELP), *bindings_of(KEY_LIST)]  # noqa: RUF012 - as Textual has it
    WIDTH: ClassVar[int] = 80

    def __init__(
        self,
        keymap: KeyMap,
        key_context: str = DESK,
        left_out: Callable[[str], bool] = lambda _: False,
    ) -> None:
        super().__init__()
        self.keymap = keymap
        self.left_out = left_out  # by id: keys of what this desk does not have
        self.key_context = key_context
        self.page = 0

    def title_text(self) -> Printable:
        """Name the pane."""
        if self._is_of_overlay:
            kind = "form" if self._is_of_form else "page"
            named = "" if self.key_context == FORM else f": {self.key_context.replace('-', ' ')}"
            return safe(f"Keys of this {kind}{named}")
        name = "" if self.key_context in {DESK, ROWS} else f" of the {self.key_context}"
        return safe(f"Keys{name} and the desk") if name else "Keys of the desk"

    def foot_text(self) -> Printable:
        """Say how to go on."""
        pages = len(self.pages())
        more = f"Space page {self.page % pages + 1}/{pages}   " if pages > 1 else ""
        if self._is_of_overlay:
            return safe(f"Esc closes   {more}".rstrip())
        text = safe(f"Esc closes   {more}UPPER CASE opens a form, y sends it")
        return text if len(text) <= self.inside else safe(f"Esc closes   {more}".rstrip())

    @property
    def columns(self) -> int:
        """Return the number of columns in which the words of a key are whole."""
        return 2 if self.inside >= self.WIDTH - FRAME else 1

    @property
    def _is_of_overlay(self) -> bool:
        return self.key_context in PAGES or self._is_of_form

    @property
    def _is_of_form(self) -> bool:
        return FORM in (self.key_context, *BENEATH.get(self.key_context, ()))

    def pages(self) -> Sequence[Sequence[Key]]:
        """Return the keys, so many a page as fit."""
        keys = [key for key in self.keymap.in_force(self.key_context) if not self.left_out(key.id)]
        size = self.columns * self.room
        return [keys[start : start + size] for start in range(0, len(keys), size)] or [()]

    def lines(self) -> Sequence[TextLine]:
        """Return the page."""
        pages = self.pages()
        keys = pages[self.page % len(pages)]
        if self.columns == 1:
            return [_entry(key, self.inside) for key in keys]
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
        self._turn_to(0 if end == "top" else len(self.pages()) - 1)

    def _turn_to(self, page: int) -> None:
        self.page = max(0, page)
        self.redraw()


def _entry(key: Key, width: int) -> TextLine:
    shown = key.shown if len(key.shown) <= KEY_WIDTH else key.shown.split(" ")[0]
    room = max(1, width - KEY_WIDTH - 1)
    text = key.text if len(key.text) <= room else key.text[: room - 1] + "…"
    role = "bright" if key.touches_money else "plain"
    return ((safe(f"{shown:<{KEY_WIDTH}} "), role), (safe(f"{text:<{room}}"), "muted"))


Rows = list[tuple[Printable, str]]

NAME_WIDTH = 20
BLANK_TEXT = safe("")
WIDEST_NAME = 24  # columns: a date, a time and its zone


def _value_lines(value: SafeText, width: int) -> list[SafeText]:
    """Return a value as it is where it fits: columns in it stay aligned; else wrapped."""
    return [value] if value and cell_len(value) <= width else lines_of(value, width)


class ScrolledForm(InfoForm[None]):
    """Lines that scroll where there are more than the window has room for."""

    KEY_CONTEXT: ClassVar[str] = HELP
    BINDINGS = bindings_of(HELP)

    def __init__(self) -> None:
        super().__init__()
        self.top = 0  # the first line shown

    @abstractmethod
    def all_lines(self) -> Sequence[TextLine]:
        """Return every line, none wider than the sheet."""

    def foot_text(self) -> Printable:
        """Say how to go on."""
        last = self._last_top()
        if not last:
            return "Esc closes"
        pages = -(-last // self.room) + 1
        page = -(-min(self.top, last) // self.room) + 1
        return safe(f"Esc closes   Space page {page}/{pages}   ↑ ↓ scroll")

    def lines(self) -> Sequence[TextLine]:
        """Return the visible lines."""
        lines = self.all_lines()
        top = min(self.top, max(0, len(lines) - self.room))
        return lines[top : top + self.room]

    def action_next_page(self) -> None:
        """Turn the page; after the last one comes the first."""
        self._show_from(0 if self.top >= self._last_top() else self.top + self.room)

    def action_scroll_lines(self, step: int) -> None:
        self._show_from(self.top + step)

    def action_scroll_pages(self, step: int) -> None:
        """Scroll by pages."""
        self._show_from(self.top + step * self.room)

    def action_scroll_to(self, end: str) -> None:
        self._show_from(0 if end == "top" else self._last_top())

    def _show_from(self, top: int) -> None:
        self.top = max(0, min(top, self._last_top()))
        self.redraw()

    def _last_top(self) -> int:
        """Return the first line of the last page."""
        return max(0, len(self.all_lines()) - self.room)


class DetailsForm(ScrolledForm):
    """A list of names and values that scrolls where it is long."""

    WIDTH: ClassVar[int] = 76

    def __init__(self, title: Printable, rows: Sequence[tuple[Printable, str]]) -> None:
        super().__init__()
        self.heading: Printable = title
        self.rows = tuple(rows)

    def title_text(self) -> Printable:
        """Name the row."""
        return self.heading

    def all_lines(self) -> Sequence[TextLine]:
        """Return all rows; a long value is wrapped within its column."""
        longest = max((cell_len(name) for name, _ in self.rows), default=0)
        names = max(1, min(max(longest, NAME_WIDTH), WIDEST_NAME, self.inside // 2))
        width = max(1, self.inside - names - 1)
        lines: list[TextLine] = []
        for name, value in self.rows:
            pairs = zip_longest(
                lines_of(name, names) or [BLANK_TEXT],
                _value_lines(safe(value), width) or [BLANK_TEXT],
                fillvalue=BLANK_TEXT,
            )
            for left, right in pairs:
                label = safe(set_cell_size(left, names) + " ")
                lines.append(((label, "muted"), (right, getattr(value, "role", "plain"))))
        return lines
