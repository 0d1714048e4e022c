"""The surface of a screen whose widgets cover it: blank lines, kept, because they are asked for in every frame."""

from __future__ import annotations

from collections.abc import Sequence

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Region
from textual.screen import Screen
from textual.strip import Strip

from keydesk.widgets.drawn_line import DrawnLine
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
