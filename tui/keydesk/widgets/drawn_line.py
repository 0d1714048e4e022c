"""A pane's line as Textual takes it, without the caches that Textual gives every strip.

A pane keeps its lines and draws a new one when something in it changed, so seven caches a line stay empty, but for
one that would hold the line itself: 20 objects and 2 kB a line, in a cycle that waits for the collector.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from rich.segment import Segment
from textual.cache import FIFOCache
from textual.strip import Strip

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
    """One line of a pane."""

    __slots__ = ()

    def __init__(self, segments: Iterable[Segment], cell_length: int) -> None:
        for name, value in SHARED:
            setattr(self, name, value)
        self._segments = list(segments)
        self._cell_length = cell_length

    def divide(self, cuts: Iterable[int]) -> Sequence[Strip]:
        """The line in parts; most often it is one, for a pane ends where its line ends."""
        at = list(cuts)
        return [self] if at == [self._cell_length] else super().divide(at)
