"""Lines that a widget draws whole and keeps itself, on their short way to the screen.

A new line is drawn when something in it changed, so the seven caches that Textual gives every strip stay empty, but
for one that would hold the line itself: 20 objects and 2 kB a line, in a cycle that waits for the collector.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from rich.segment import Segment
from textual.cache import FIFOCache
from textual.color import Color
from textual.filter import ANSIToTruecolor, LineFilter
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

OPAQUE = Color(0, 0, 0)  # what filters blend with; no such line lets anything through

Key = TypeVar("Key")
Value = TypeVar("Value")


class Forgetful(FIFOCache[Key, Value]):
    """A cache that keeps nothing, so that all lines can share it."""

    __slots__ = ()

    def set(self, key: Key, value: Value) -> None:
        """Forget it at once."""

    def __setitem__(self, key: Key, value: Value) -> None:
        """Forget it at once."""


def _shared() -> Iterable[tuple[str, object]]:
    nothing, empty = Forgetful[object, object](0), Strip(())
    for name in Strip.__slots__:
        value = getattr(empty, name)
        yield name, nothing if isinstance(value, FIFOCache) else value


SHARED = tuple(_shared())


class DrawnLine(Strip):
    """One line of a widget that draws itself."""

    __slots__ = ("_parts",)

    def __init__(self, segments: Iterable[Segment], cell_length: int) -> None:
        for name, value in SHARED:
            setattr(self, name, value)
        self._segments = list(segments)
        self._cell_length = cell_length
        self._parts: tuple[list[int], list[Strip]] | None = None

    def divide(self, cuts: Iterable[int]) -> Sequence[Strip]:
        """The line in parts; most often it is one, for a pane ends where its line ends."""
        at = list(cuts)
        if at == [self._cell_length]:
            return [self]
        if self._parts is None or self._parts[0] != at:
            self._parts = at, list(self._divided(at))
        return self._parts[1]

    def _divided(self, cuts: Sequence[int]) -> Iterable[Strip]:
        within = [cut for cut in cuts if cut <= self.cell_length]
        starts = [0, *within]
        parts = Segment.divide(self._segments, within)
        for segments, start, end in zip(parts, starts, within, strict=False):
            yield DrawnLine(segments, end - start)


class DrawnWidget(Widget):
    """A widget that draws whole lines: with no border, padding or tint, Textual's styling has nothing to add.

    It would take a third of a frame for saying so.
    """

    def render_lines(self, crop: Region) -> list[Strip]:
        """The lines as they are."""
        strips = self.strips_at(crop.line_range)
        for line_filter in self.get_line_filters():
            strips = [strip.apply_filter(line_filter, OPAQUE) for strip in strips]
        if crop.column_span != (0, self.outer_size.width):
            strips = [strip.crop(*crop.column_span) for strip in strips]
        return strips

    def strips_at(self, numbers: Iterable[int]) -> list[Strip]:
        """These lines as they are kept, or drawn now."""
        return [self.render_line(y) for y in numbers]

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Not Textual's translation of named colours: a palette has none to translate."""
        filters = super().get_line_filters()
        return [each for each in filters if not isinstance(each, ANSIToTruecolor)]
