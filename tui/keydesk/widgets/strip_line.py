"""One-line strips of items; when the width is too small, the items of highest rank are left out first."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence

from msgspec import Struct
from rich.style import Style
from textual.strip import Strip

from keydesk.store.frame import Frame
from keydesk.text.sanitize import Printable, safe
from keydesk.widgets.lines import LinePane, Run, strip_of, width_of

CLOSE = 1  # columns between items where more of them have room


class Item(Struct, frozen=True):
    """A word or number of a strip; rank 0 stays longest."""

    runs: tuple[Run, ...]
    rank: int = 0


def fit_items(items: Sequence[Item], width: int, gap: int) -> list[Item]:
    """Return the items that have room whole, in their order."""
    shown = [item for item in items if item.runs]
    while shown and sum(width_of(i.runs) for i in shown) + gap * (len(shown) - 1) > width:
        if len(shown) == 1:
            break
        shown.remove(max(reversed(shown), key=lambda item: item.rank))
    return shown


class StripLine(LinePane, can_focus=False):
    """A line of items at the left and, beyond a gap, at the right; they move closer before one leaves."""

    DEFAULT_CSS = "StripLine { height: 1; width: 1fr; }"

    @property
    def gaps(self) -> Sequence[int]:
        """The columns between items, the widest where everything has room."""
        return 3, 2

    @abstractmethod
    def left(self, frame: Frame) -> Iterable[Item]:
        """Return the items from the left edge."""

    def right(self, frame: Frame) -> Iterable[Item]:  # noqa: ARG002
        """Return the items at the right edge."""
        return ()

    def backdrop(self, frame: Frame) -> Style:  # noqa: ARG002
        """Return the style of the cells between."""
        return self.palette["plain"]

    def runs(self, y: int, frame: Frame) -> Iterable[Run]:  # noqa: ARG002 - there is one line
        """Left items, a gap, right items."""
        blank = self.backdrop(frame)
        left, right = list(self.left(frame)), list(self.right(frame))
        for gap in self.gaps:
            taken = sum(width_of(item.runs) + gap for item in right)
            shown = fit_items(left, self.inside - taken, gap)
            if len(shown) == sum(bool(item.runs) for item in left):
                break
        line, tail = (joined(items, safe(" " * gap), blank) for items in (shown, right))
        spare = self.inside - width_of(line) - width_of(tail) - gap
        if (
            gap == CLOSE and spare > 0
        ):  # the last items stand apart, those before them as far as that has room
            line = joined(shown, safe(" " * gap), blank, wider=spare)
        space = self.inside - width_of(line) - width_of(tail)
        return [*line, (safe(" " * max(0, space)), blank), *tail]

    def _draw(self, y: int) -> Strip:
        if self.frame is None:
            return super()._draw(y)
        return strip_of(self.runs(y, self.frame), self.outer_size.width, self.backdrop(self.frame))


def joined(items: Sequence[Item], gap: Printable, blank: Style, *, wider: int = 0) -> list[Run]:
    """Return the items as one line; the last gaps are `wider`, by a column each."""
    line: list[Run] = []
    for number, item in enumerate(items):
        if line:
            line.append((safe(f"{gap} ") if len(items) - number <= wider else gap, blank))
        line += item.runs
    return line
