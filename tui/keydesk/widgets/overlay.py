"""The base of every form: a modal screen that shows the screen beneath unchanged around its sheet.

The main screen is not dimmed: every cell would be sent twice, 11 kB at 120x35 to open a form and again to close it, and
with 16 colours or none there is no dimmed variant to send.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, Self, TypeVar

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Region, Size
from textual.screen import ModalScreen, Screen
from textual.strip import Strip

from keydesk.terminal._textual_private import lines_of_screen
from keydesk.widgets.lines import DrawnLine
from keydesk.widgets.theme import palette_of


class Backdrop(Screen[None]):
    """A screen with a blank surface of its own; see `Overlay` for why no widget is among its bases."""

    _blank: Sequence[Strip] = ()
    _blank_for: tuple[Region, Style] | None = None

    def render_lines(self, crop: Region) -> list[Strip]:
        """Return blank lines, made anew only for another size or theme."""
        style = palette_of(self.app)["plain"]
        if self._blank_for != (crop, style):
            blank = DrawnLine([Segment(" " * crop.width, style)], crop.width)
            self._blank_for = crop, style
            self._blank = [blank] * crop.height
        return list(self._blank)


Result = TypeVar("Result")


class Overlay(ModalScreen[Result | None], Generic[Result]):
    """A modal screen around which the screen beneath stays visible.

    It derives from Textual's screen alone. With a widget as first base, Textual would take styles and component
    styles from that one (`DOMNode._css_bases`): the rules for `ModalScreen` would not hold, and a text selection
    would fail for want of `screen--selection`.
    """

    DEFAULT_CSS = """
    Overlay { background: transparent; overflow: hidden; }
    """

    _beneath: Sequence[Strip] = ()  # cached lines of the screen beneath
    _beneath_size: Size | None = None

    def refresh(
        self,
        *regions: Region,
        repaint: bool = True,
        layout: bool = False,
        recompose: bool = False,
    ) -> Self:
        """Request a repaint; the screen beneath reports its own changes through this method, too."""
        self._beneath_size = None
        return super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)

    def on_unmount(self) -> None:
        """Release the lines of the screen beneath."""
        self._beneath, self._beneath_size = (), None

    def render_lines(self, crop: Region) -> list[Strip]:
        """Return the lines of the screen beneath."""
        size = Size(
            max(self.outer_size.width, crop.right), max(self.outer_size.height, crop.bottom)
        )
        if self._beneath_size != size:
            self._beneath, self._beneath_size = self._strips_beneath(size), size
        strips = [self._beneath[y] for y in crop.line_range]
        if crop.column_span != (0, size.width):
            strips = [strip.crop(*crop.column_span) for strip in strips]
        return strips

    def _strips_beneath(self, size: Size) -> list[Strip]:
        """Draw the screen beneath; blank where it does not have this size yet after a resize."""
        plain = palette_of(self.app)["plain"]
        stack = self.app.screen_stack
        place = stack.index(self) if self in stack else 0
        lines = lines_of_screen(stack[place - 1], size) if place else []
        lines += [Strip([])] * (size.height - len(lines))
        return [strip.adjust_cell_length(size.width, plain) for strip in lines]
