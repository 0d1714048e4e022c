"""Forms that show something and send nothing: their base, lines that scroll and are searched, the help (`?`)."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from time import monotonic
from typing import Any, ClassVar

from rich.cells import cell_len
from textual.events import Key, Resize
from textual.screen import Screen

from keydesk.forms.help_text import (
    RULE,
    beside_commands,
    found_count,
    group_columns,
    help_lines,
    is_of_form,
    is_of_overlay,
    unparted,
)
from keydesk.forms.modal_form import BLANK, ModalForm, TextLine, wrap_text
from keydesk.forms.page_lines import COLUMN_GAP, beside, marked
from keydesk.forms.panel import Panel
from keydesk.forms.requests import CopyWanted
from keydesk.forms.text_fields import edited_text
from keydesk.keys.chords import continuations
from keydesk.keys.guard import KeyPlace
from keydesk.keys.guarded_app import ChordChanged
from keydesk.keys.keymap import (
    DESK,
    FORM,
    HELP,
    KEY_LIST,
    KEYMAP,
    PAGE,
    ROWS,
    KeyMap,
)
from keydesk.keys.textual_bindings import bindings_of
from keydesk.store.frame import Frame
from keydesk.text.format import shorten
from keydesk.text.sanitize import Printable, clean, safe
from keydesk.widgets.overlay import Result

FRAME = 4  # columns of a panel beside its lines
MAX_SEARCH = 40  # characters
BESIDE_FROM = 190  # columns of the help with the commands beside the keys, and with
ACROSS = 4  # columns of the keys of a form or page
KEYS_WIDTH = 115  # columns of these keys
EDGES = 2  # rows of the frame above and below them
FIELD_ROWS = 3  # of a field of text with its frame
LEAST_IN_SIGHT = 8  # rows of the panes above a page: fewer show no table
LEAST_ABOVE_SNUG = (
    3  # rows of them above one that is no higher than its lines: a title, a header and a row
)
LEAST_BESIDE = 30  # columns of them beside one: fewer show no pane
TITLE_ENDS = 6  # columns of the frame beside its title or its keys


class InfoForm(ModalForm[Result]):
    """The base of forms that send nothing and close with Esc.

    A page takes the place of the lowest pane if it has no more lines than that; a longer one reaches higher, up to all of
    them. Those above it stay in sight, dimmed.
    """

    BINDINGS = bindings_of(PAGE)
    WIDTH: ClassVar[int] = 76
    IS_PAGE: ClassVar[bool] = True  # else as large as its lines, over the middle of the desk
    IS_SNUG: ClassVar[bool] = (
        False  # no larger than its lines, though few rows of a pane stay in sight
    )
    FOOTER: ClassVar[str] = ""  # its frame names its keys
    DEFAULT_CSS = """
    InfoForm { align: center middle; }
    InfoForm.-page { align: left top; }
    InfoForm > Panel {
        height: auto; padding: 0 1; background: $background; border: round $focus;
        border-title-color: $bright; border-subtitle-color: $muted;
    }
    """

    def __init__(self) -> None:
        super().__init__("-page" if self.IS_PAGE else "")
        self.painted: float | None = None
        self._chord = ""  # the first key of a chord, until the second one comes
        # Rows and columns until now, at this size of the terminal: it shrinks only where there is nothing.
        self._tallest = self._widest = 0

    # Its place.

    @property
    def panel_width(self) -> int:
        """Columns of the panel with its frame: of a page all that there are."""
        return self.page_region.width if self.IS_PAGE else super().panel_width

    @property
    def inside(self) -> int:
        """Columns of a line."""
        return max(1, min(self.WIDTH, self.panel_width) - FRAME)

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

    def redraw(self) -> None:
        """Draw everything as it is now; a page that says more than before becomes larger."""
        super().redraw()
        self._fit()

    def on_resize(self, event: Resize) -> None:  # noqa: ARG002
        """Stand where the panes stand in a terminal of this size."""
        if self._drawn_for != self.app.size:
            self._take_place()

    def _take_place(self) -> None:
        if not self.IS_PAGE or self.panel is None or not self.children:
            return
        place, others = self.page_region, len(self.children) - 1
        self._tallest = place.height - others * FIELD_ROWS if others else 0
        self._widest = 0
        self._fit()

    def _fit(self) -> None:
        """Make a page as large as what it says, above the lower edge of the panes; one over a field of text takes all of them."""
        if not self.IS_PAGE or self.panel is None or not self.children:
            return
        place, fields = self.page_region, (len(self.children) - 1) * FIELD_ROWS
        if self.is_empty:
            self._tallest = self._widest = 0
        self._tallest = max(self._tallest, self.panel.line_count + EDGES)
        height = self._height_in(place.height - fields)
        self.panel.styles.height = height
        self.panel.styles.width = self._width_in(place.width)
        self.children[0].styles.margin = (place.bottom - fields - height, 0, 0, 0)

    def _height_in(self, most: int) -> int:
        """Return the rows of the page: those that the panes above it leave, all where they would show no table."""
        if self._is_snug:
            return self._tallest if most - self._tallest >= LEAST_ABOVE_SNUG else max(1, most)
        height = self.rows_for_page(self._tallest)
        return max(1, most if most - height < LEAST_IN_SIGHT else height)

    def _width_in(self, most: int) -> int:
        """Return the columns of the page: of one that is no larger than its lines those that it needs, where a pane is seen beside it."""
        if self.panel is None or not self._is_snug:
            return most
        in_frame = max(cell_len(self.title_text()), cell_len(self.hints_text())) + TITLE_ENDS
        self._widest = max(self._widest, self.panel.longest_line + FRAME, in_frame)
        width = self.columns_for_page(self._widest)
        return width if most - width >= LEAST_BESIDE else most

    @property
    def _is_snug(self) -> bool:
        return self.IS_SNUG or self.is_empty

    @property
    def dims_panes(self) -> bool:
        """Whether the panes that it leaves in sight are dimmed."""
        return self.IS_PAGE

    @property
    def is_empty(self) -> bool:
        """Whether it is known that there is nothing to list."""
        return False

    @abstractmethod
    def title_text(self) -> Printable:
        """Return the title of the frame."""

    def foot_text(self) -> Printable:
        """Return the text in the lower edge of the frame."""
        return "Esc closes"

    def keys_that_fit(self, *keys: str, leave: str = "Esc closes") -> Printable:
        """Return the hints that fit in the lower edge, first ones first; how to leave is always among them."""
        width = self.inside - 2
        words = [self.key_words(safe(each)) for each in keys]
        while words and cell_len("  ".join((*words, leave))) > width:
            words.pop()
        return safe("  ".join((*words, leave)))

    async def on_mouse_scroll_down(self) -> None:
        """Do what the arrow does."""
        await self._run_key("down")

    async def on_mouse_scroll_up(self) -> None:
        """Do what the arrow does."""
        await self._run_key("up")

    async def _run_key(self, key: str) -> None:
        bound = self.active_bindings.get(key)
        if bound is not None and bound.node is self:
            await self.run_action(bound.binding.action)

    def on_frame(self, _frame: Frame) -> None:
        """Ignore the frame; a form that shows prices overrides this."""

    def title_panel(self, panel: Panel) -> None:
        """Set the title and the hints of the frame."""
        panel.entitle(self.title_text(), self.hints_text())

    def hints_text(self) -> Printable:
        """Return what stands in the lower edge: what may follow the first key of a chord, else the keys."""
        return self._chord_text() or self.key_words(self.foot_text())

    def on_chord_changed(self, message: ChordChanged) -> None:
        """Show in the lower edge what may follow the first key of a chord."""
        if message.first != self._chord:
            self._chord = message.first
            self.redraw()

    def _chord_text(self) -> Printable:
        if not self._chord:
            return ""
        keymap = getattr(self, "keymap", KEYMAP)
        follow = continuations(keymap, self.KEY_CONTEXT, self._chord)
        words = [f"{each.key} {each.word}" for each in follow]
        return self.keys_that_fit(f"{self._chord} …", *words)

    def action_drop(self) -> None:
        """Close without a result; do nothing when the form is closed."""
        if self.is_active:
            self.dismiss(None)

    def copied_lines(self) -> Sequence[TextLine]:
        """Return the lines that are copied: those in sight."""
        return self.lines()

    def action_copy_page(self) -> None:
        """Copy title and lines as text."""
        lines = ["".join(text for text, _ in line).rstrip() for line in self.copied_lines()]
        self.post_message(CopyWanted("the page", [self.title_text(), *lines]))

    def action_page_keys(self) -> None:
        """Show the keys of this page."""
        if self.KEY_CONTEXT:
            self.app.push_screen(HelpForm(getattr(self, "keymap", KEYMAP), self.KEY_CONTEXT))


class ScrolledForm(InfoForm[None]):
    """Lines that scroll where there are more than the window has room for."""

    KEY_CONTEXT: ClassVar[str] = HELP
    BINDINGS = bindings_of(HELP)

    def __init__(self) -> None:
        super().__init__()
        self.top = 0  # the first line shown

    @abstractmethod
    def all_lines(self) -> Sequence[TextLine]:
        """Return every line, none wider than the panel."""

    def copied_lines(self) -> Sequence[TextLine]:
        """Return every line, also those out of sight."""
        return self.all_lines()

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


class SearchForm(ScrolledForm):
    """Lines that scroll, of which typed words choose some. Letters are no keys here: Esc closes."""

    KEYS_GO_TO: ClassVar[KeyPlace] = "text"
    SEARCHES: ClassVar[Printable]  # what the words are searched in

    def __init__(self) -> None:
        super().__init__()
        self.search = ""

    @property
    def words(self) -> Sequence[str]:
        """The typed words in small letters; a line is shown that has all of them."""
        return self.search.lower().split()

    @abstractmethod
    def found_lines(self) -> Sequence[TextLine]:
        """Return the lines that have the typed words, all lines without any."""

    def all_lines(self) -> Sequence[TextLine]:
        """Return the lines found, or that there are none."""
        lines = self.found_lines()
        if lines or not self.words:
            return lines
        text = f"Nothing has {clean(self.search.strip())!r}. Backspace shortens it"
        return wrap_text(safe(text), "muted", self.inside)

    def lines(self) -> Sequence[TextLine]:
        """Return what is typed, then the lines in sight."""
        return [self.search_line(), *self.below_search, *super().lines()]

    def search_line(self) -> TextLine:
        """Return the line of what is typed."""
        if not self.search:
            hint = shorten(safe(f" type to search {self.SEARCHES}"), self.inside - 1)
            return (("_", "focus"), (hint, "muted"))
        text = clean(self.search)
        while cell_len(text) >= self.inside:  # its end is what is being typed
            text = safe(text[1:])
        return ((text, "bright"), ("_", "focus"))

    @property
    def room(self) -> int:
        """Return the number of lines that fit below what is typed."""
        return max(1, super().room - 1 - len(self.below_search))

    @property
    def below_search(self) -> Sequence[TextLine]:
        """What is between what is typed and what is found."""
        return ()

    def foot_text(self) -> Printable:
        """Return the keys: letters are no keys here."""
        pages = super().foot_text().removeprefix("Esc closes").replace("Space", "PgDn").strip()
        return self.keys_that_fit(*([pages] if pages else []))

    def on_key(self, event: Key) -> None:
        """Take letters and Backspace for the search; other keys keep what they do."""
        character = event.character if event.is_printable else None
        is_typed = event.key == "backspace" or bool(character)
        if not is_typed or self.keeps_key(event.key):
            return
        self._search_for(edited_text(self.search, event.key, character, MAX_SEARCH))
        event.stop()
        event.prevent_default()

    def keeps_key(self, key: str) -> bool:  # noqa: ARG002 - a page with such a key reads it
        """Return whether a key of a printable character is a key of the page, not a letter of the search."""
        return False

    def _search_for(self, text: str) -> None:
        self.search, self.top = text.lstrip(), 0
        self.redraw()


class HelpForm(SearchForm):
    """The keys of a pane and of the desk by task, or those of a page or form, after three lines on what has the keys.

    Args:
        keymap: The keys in force.
        key_context: The key map's name of what has the keys.
        left_out: By id: keys of what this desk does not have.
        field: The active field of the form.
    """

    BINDINGS = [*bindings_of(HELP), *bindings_of(KEY_LIST)]  # noqa: RUF012 - as Textual has it
    WIDTH: ClassVar[int] = 200
    SEARCHES: ClassVar[Printable] = "the keys and commands, by key or word"
    KEY_CONTEXT: ClassVar[str] = ""  # it shows keys itself

    def __init__(
        self,
        keymap: KeyMap,
        key_context: str = DESK,
        left_out: Callable[[str], bool] = lambda _: False,
        field: str = "",
    ) -> None:
        super().__init__()
        self.keymap = keymap
        self.left_out = left_out
        self.key_context = key_context
        self.field = field
        self._lines: tuple[tuple[int, int, str], Sequence[TextLine]] = (
            (0, 0, ""),
            (),
        )  # for which width, rows and search

    @property
    def shown_beneath(self) -> Screen[Any] | None:
        """The main screen instead of a form, of which only edges would be seen around its keys."""
        return self.main_screen if is_of_form(self.key_context) else super().shown_beneath

    def on_mount(self) -> None:
        """Take its place; hide the form that the terminal shows."""
        super().on_mount()
        if is_of_form(self.key_context):
            self.refresh(self.app.size.region)

    def title_text(self) -> Printable:
        """Name the pane, or the form and its field; count what a search finds."""
        if not self.words:
            return self._named_keys()
        whose = self.keymap, self.key_context
        found = found_count(*whose, self.left_out, self.search.split())
        return safe(f"{self._named_keys()}: {found} found")

    def _named_keys(self) -> Printable:
        if is_of_overlay(self.key_context):
            kind = "form" if is_of_form(self.key_context) else "page"
            names = [each for each in (self.key_context, self.field) if each != FORM and each]
            named = f": {', '.join(names).replace('-', ' ')}" if names else ""
            return safe(f"Keys of this {kind}{named}")
        name = "" if self.key_context in {DESK, ROWS} else f" of the {self.key_context}"
        return safe(f"Keys{name} and the desk") if name else "Keys of the desk"

    def foot_text(self) -> Printable:
        """Say how to go on, and the rule of the keys where there is room."""
        foot = super().foot_text()
        whole = safe(f"{foot}   {RULE}")
        has_room = not is_of_overlay(self.key_context) and len(whole) <= self.inside - 2
        return whole if has_room else foot

    def found_lines(self) -> Sequence[TextLine]:
        """Return prose, keys and commands; they are the same until the window or the search changes."""
        made_for = self.inside, self.room, self.search
        if self._lines[0] != made_for:
            words = self.search.split()
            sought = [each for each in words if len(each) > 1]  # a letter alone is a key
            lines = [marked(self._named(line), sought) for line in self._made(words)]
            self._lines = made_for, lines
        return self._lines[1]

    @property
    def below_search(self) -> Sequence[TextLine]:
        """A blank line."""
        return (BLANK,)

    def _made(self, words: Sequence[str]) -> Sequence[TextLine]:
        """Return the lines; where there is room, commands stand beside the keys, groups of a form or page in columns."""
        whose, is_overlay = (self.keymap, self.key_context), is_of_overlay(self.key_context)
        if self.inside >= BESIDE_FROM and is_overlay and not words:
            width = (self.inside + COLUMN_GAP) // ACROSS - COLUMN_GAP
            lines: list[TextLine] = []
            columns = group_columns(*whose, self.field, self.left_out, width=width, across=ACROSS)
            for place, column in enumerate(columns):
                named = [self._named(line) for line in column]
                lines = beside(lines, place * (width + COLUMN_GAP), named)
            if len(lines) <= self.room:
                return lines
        if self.inside < BESIDE_FROM or is_overlay or words:
            found = help_lines(*whose, self.inside, self.left_out, self.field, words=words)
            return unparted(found, self.room)
        width = KEYS_WIDTH + COLUMN_GAP
        widths = KEYS_WIDTH, self.inside - width
        keys, commands = beside_commands(*whose, widths, self.room, self.left_out)
        return beside(keys, width, commands)

    def _named(self, line: TextLine) -> TextLine:
        """Return a line with its keys as this terminal shows them, in columns as wide as they were."""
        return [
            (safe(f"{self.key_words(text).rstrip():<{len(text)}}"), role) for text, role in line
        ]

    def keeps_key(self, key: str) -> bool:
        """Keep ?, which closes the list that it opened."""
        return key == "question_mark"
