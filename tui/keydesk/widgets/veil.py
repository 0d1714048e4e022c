"""What is seen behind a dialog: the screen beneath it, dimmed, each line of it dimmed when it changed.

Textual would draw all of it for every change behind the dialog and three times when one opens, 10 to 20 ms each:
longer than the time in which a key is to be answered.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Self

from rich.segment import Segment
from rich.style import Style
from textual._context import visible_screen_stack
from textual.color import Color
from textual.geometry import Region, Size
from textual.renderables.background_screen import BackgroundScreen
from textual.screen import Screen
from textual.strip import Strip

from keydesk.widgets.drawn_line import DrawnLine, DrawnWidget


class Veil(DrawnWidget):
    """A screen whose background lets the one beneath shine through."""

    _veil: Sequence[Strip] = ()
    _beneath: Sequence[Strip] = ()  # what the lines were made of
    _veil_made_for: tuple[Size, Color] | None = None
    _veil_is_old = True

    def refresh(
        self,
        *regions: Region,
        repaint: bool = True,
        layout: bool = False,
        recompose: bool = False,
    ) -> Self:
        """Ask for another look, also at what is beneath: this is how a screen tells of its changes."""
        self._veil_is_old = True
        return super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)

    def on_unmount(self) -> None:
        """Let go of what is beneath at once, whenever the dialog itself is cleared away."""
        self._veil = self._beneath = ()
        self._veil_made_for = None

    def strips_at(self, numbers: Iterable[int]) -> list[Strip]:
        """The lines as they are kept, or dimmed now."""
        made_for = self.outer_size, self.styles.background
        if self._veil_made_for != made_for:
            self._veil_made_for, self._beneath = made_for, ()
        if self._veil_is_old or not self._beneath:
            self._veil_is_old = False
            self._dim(_beneath(), *made_for)
        return [self._veil[y] for y in numbers]

    def _dim(self, screen: Screen[object] | None, size: Size, colour: Color) -> None:
        if screen is None or colour.a == 1:
            plain = Segment(" " * size.width, Style.from_color(None, colour.rich_color))
            found: list[Strip] = [Strip([plain], size.width)] * size.height
        else:
            found = screen._compositor.render_strips(size)  # noqa: SLF001 - as Textual does
        found = [strip.adjust_cell_length(size.width) for strip in found]
        shade = Shade(colour)
        self._veil = [
            self._veil[y]
            if y < len(self._beneath) and self._beneath[y] == strip
            else shade.over(strip)
            for y, strip in enumerate(found)
        ]
        self._beneath = found


class Shade:
    """A colour laid over lines; a line has few styles, so each is worked out once."""

    def __init__(self, colour: Color) -> None:
        self._colour = colour
        self._dimmed: dict[Style | None, Style | None] = {}

    def over(self, strip: Strip) -> Strip:
        """The line with the colour over it."""
        return DrawnLine(
            [Segment(text, self._style(style)) for text, style, _ in strip], strip.cell_length
        )

    def _style(self, style: Style | None) -> Style | None:
        if self._colour.a == 1:
            return style
        if style not in self._dimmed:
            dimmed = BackgroundScreen.process_segments([Segment("", style)], self._colour)
            self._dimmed[style] = next(iter(dimmed)).style
        return self._dimmed[style]


def _beneath() -> Screen[object] | None:
    try:
        return visible_screen_stack.get().pop()
    except LookupError:
        return None
