"""What shows where nothing else stands: blank lines, kept, for under the panes they are asked for in every frame."""

from __future__ import annotations

from collections.abc import Sequence

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Region, Size
from textual.strip import Strip

from keydesk.theme import palette_of
from keydesk.widgets.drawn_line import DrawnLine, DrawnWidget


class Backdrop(DrawnWidget):
    """A screen's own surface."""

    _blank: Sequence[Strip] = ()
    _blank_for: tuple[Size, Style] | None = None

    def render_lines(self, crop: Region) -> list[Strip]:
        """The lines, made anew for another size or theme only."""
        size, style = self.outer_size, palette_of(self.app)["plain"]
        if self._blank_for != (size, style):
            blank = Segment(" " * size.width, style)
            self._blank_for = size, style
            self._blank = [DrawnLine([blank], size.width) for _ in range(size.height)]
        return super().render_lines(crop)

    def render_line(self, y: int) -> Strip:
        """A blank line."""
        return self._blank[y]
