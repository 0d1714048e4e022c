"""The base of every form: a modal screen that shows the screen beneath unchanged around its panel.

Behind a form the main screen is not dimmed: prices and chart are what a form goes by. Behind a page its panes are: what is
not muted anyway becomes so. At 120x35 a short page sends 4 kB to open and 5 kB to close, one over all of the panes 8 and 7.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, Self, TypeVar

from rich.segment import Segment
from rich.style import Style
from textual.events import ScreenResume
from textual.geometry import Region, Size
from textual.screen import Screen
from textual.strip import Strip

from keydesk.keys.guarded_app import GuardedForm
from keydesk.terminal._textual_private import ScreenHooks, lay_out, lines_of_screen
from keydesk.widgets.lines import DrawnLine
from keydesk.widgets.theme import palette_of


def surface_of(screen: Screen[Any]) -> set[Region]:
    """Return the region of a screen's own surface; none where a widget covers all of it, and so has the same region."""
    return {screen.size.region} - {child.region for child in screen.children}


class Backdrop(ScreenHooks[None]):
    """A screen with a blank surface of its own; see `Overlay` for why no widget is among its bases."""

    _blank: Sequence[Strip] = ()
    _blank_for: tuple[Region, Style] | None = None
    _shows_closed_form = False

    def on_screen_resume(self) -> None:
        """Note that a form was closed: the terminal shows it until all of this screen is drawn."""
        self._shows_closed_form = True

    def regions_to_draw(self, changed: set[Region]) -> set[Region]:
        """Leave out the blank surface beneath a form: Textual refreshes it when a form opens, and it is as it was.

        It is not where that form opens before this screen was drawn over the form before.
        """
        surface = surface_of(self)
        if not (self.is_active or self._shows_closed_form):
            return changed - surface
        if surface <= changed:
            self._shows_closed_form = False
        return changed

    def render_lines(self, crop: Region) -> list[Strip]:
        """Return blank lines, made anew only for another size or theme."""
        style = palette_of(self.app)["plain"]
        if self._blank_for != (crop, style):
            blank = DrawnLine([Segment(" " * crop.width, style)], crop.width)
            self._blank_for = crop, style
            self._blank = [blank] * crop.height
        return list(self._blank)

    def covered(self) -> None:
        """Show that a form has the keys; called after its first picture, which nothing here may delay."""

    def page_region(self, size: Size) -> Region:
        """Return the part that a page takes in a terminal of this size: the whole of it."""
        return size.region

    def rows_of_lists(self) -> int:
        """Return the rows from the lists down to the lower edge, which a form may cover; 0: there are none."""
        return 0

    def rows_for_page(self, needed: int) -> int:
        """Return the rows of a page that needs so many: more where it would leave a part of a pane that says nothing."""
        return needed

    def columns_for_page(self, needed: int) -> int:
        """Return the columns of a page that needs so many: more where it would leave few of a pane."""
        return needed


Result = TypeVar("Result")


class Overlay(GuardedForm[Result | None], ScreenHooks[Result | None], Generic[Result]):
    """A modal screen around which the screen beneath stays visible.

    Its first picture is its own widgets only: the terminal shows what is beneath. What changed there before the form
    is shown is drawn with the next update.

    It derives from Textual's screen alone. With a widget as first base, Textual would take styles and component
    styles from that one (`DOMNode._css_bases`): the rules for `ModalScreen` would not hold, and a text selection
    would fail for want of `screen--selection`.
    """

    DEFAULT_CSS = """
    Overlay { background: transparent; overflow: hidden; }
    """

    def __init__(self, *, classes: str = "") -> None:
        self._is_shown = False
        self._changed_beneath: set[Region] = set()  # before the form is shown
        super().__init__(classes=classes)  # sets the title, which requests a repaint

    def on_screen_resume(self, event: ScreenResume) -> None:
        """Lay the form out and draw it when it opens; Textual would match its styles and draw everything once more."""
        if not self.is_attached:
            return
        if self._is_shown:  # a form over this one has closed
            self._note_cover()
            return
        event.prevent_default()
        self.stack_updates += 1
        lay_out(self, self.app.size)
        self._is_shown = True
        if self._changed_beneath:
            self.refresh(*self._changed_beneath)
            self._changed_beneath.clear()
        self._note_cover()

    def _note_cover(self) -> None:
        if self.main_screen is not None:
            self.main_screen.covered()

    def regions_to_draw(self, changed: set[Region]) -> set[Region]:
        """Return what changed; when the form opens, its widgets, not all of the screen."""
        return changed if self._is_shown else changed - surface_of(self)

    def refresh(
        self,
        *regions: Region,
        repaint: bool = True,
        layout: bool = False,
        recompose: bool = False,
    ) -> Self:
        """Request a repaint, of a layout only where it moves something; the screen beneath reports its changes here, too."""
        if not self._is_shown:
            self._changed_beneath.update(regions)
            return self
        draws = repaint and not layout
        return super().refresh(*regions, repaint=draws, layout=layout, recompose=recompose)

    def render_lines(self, crop: Region) -> list[Strip]:
        """Return the lines of the screen beneath; in an update those alone that it shows."""
        size = Size(
            max(self.outer_size.width, crop.right), max(self.outer_size.height, crop.bottom)
        )
        strips = self._strips_beneath(size)[crop.y : crop.bottom]
        if crop.column_span != (0, size.width):
            strips = [strip.crop(*crop.column_span) for strip in strips]
        return strips

    def _strips_beneath(self, size: Size) -> list[Strip]:
        """Draw the screen beneath; blank where it does not have this size yet after a resize."""
        plain = palette_of(self.app)["plain"]
        beneath, rows = self.shown_beneath, self._visible_rows(size)
        lines = lines_of_screen(beneath, size, rows) if beneath is not None and rows else []
        lines += [Strip([])] * (size.height - len(lines))
        return [strip.adjust_cell_length(size.width, plain) for strip in lines]

    @property
    def page_region(self) -> Region:
        """The part of the screen that a page takes: where the main screen has its panes."""
        main, size = self.main_screen, self.app.size
        return size.region if main is None else main.page_region(size)

    @property
    def rows_of_lists(self) -> int:
        """Rows from the lists of the main screen down to the lower edge; 0: there are none."""
        return 0 if self.main_screen is None else self.main_screen.rows_of_lists()

    def rows_for_page(self, needed: int) -> int:
        """Return the rows of a page that needs so many, as the main screen has panes above it."""
        return needed if self.main_screen is None else self.main_screen.rows_for_page(needed)

    def columns_for_page(self, needed: int) -> int:
        """Return the columns of a page that needs so many, as the main screen has panes beside it."""
        return needed if self.main_screen is None else self.main_screen.columns_for_page(needed)

    @property
    def main_screen(self) -> Backdrop | None:
        """The screen of the panes."""
        return next((each for each in self.app.screen_stack if isinstance(each, Backdrop)), None)

    def page_region_moved(self) -> None:
        """Take the part of the screen that a page takes now; called when it has another place or size."""

    @property
    def shown_beneath(self) -> Screen[Any] | None:
        """The screen that is seen around this one."""
        return self._screen_beneath

    @property
    def _screen_beneath(self) -> Screen[Any] | None:
        """Return the screen that this one lies on; None when it is closed."""
        stack = self.app.screen_stack
        place = stack.index(self) if self in stack else 0
        return stack[place - 1] if place else None

    def _visible_rows(self, size: Size) -> set[int]:
        """Return the rows of the update in which the screen beneath may be seen; without an update all rows."""
        if self.drawn is None:
            return set(range(size.height))
        covered = [child.region for child in self.children]
        return {
            y
            for region in self.drawn
            if not any(each.contains_region(region) for each in covered)
            for y in region.line_range
        }
