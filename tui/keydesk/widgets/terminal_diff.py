"""Output of only the cells that differ from what the terminal shows.

Textual sends a changed line from its left edge, and the whole screen when a dialog opens, about ten times as much as is
needed over SSH. Here each line is compared with the cells sent last; only the runs that differ are written, with the
shortest cursor move and colour change. Updates of an unknown shape are passed on unchanged.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from rich.cells import cell_len
from rich.color import ColorSystem
from rich.console import Console, ConsoleOptions, RenderResult
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from keydesk.terminal._textual_private import CompositorUpdate, Piece, pieces_of
from keydesk.widgets import terminal_pen
from keydesk.widgets.terminal_pen import ChangedRun, Pen, blank_look, in_cheapest_order

BLANK_RUN = 4  # unchanged cells that are cheaper to send again than to jump over
# Plain letters and the lines and blocks that every monospaced font draws one cell wide.
SURE_BLOCKS = ((0x20, 0x7E), (0xA1, 0x17F), (0x2500, 0x259F))

Placed = tuple[int, Segment]  # column, what stands there


class Row:
    """The cells of one line of the terminal, as two lists: pairs would take a megabyte."""

    __slots__ = ("styles", "texts")

    def __init__(self) -> None:
        self.texts: list[
            str | None
        ] = []  # None: not sent by this process; "": covered by the segment that begins before it
        self.styles: list[Style | None] = []

    def reach(self, width: int) -> None:
        """Extend the row to this width."""
        missing = width - len(self.texts)
        if missing > 0:
            self.texts += [None] * missing
            self.styles += [None] * missing


class TerminalContents:
    """What the terminal shows, as far as this process sent it."""

    def __init__(self, *, erases_in_colour: bool = False) -> None:
        self.erases_in_colour = erases_in_colour
        """Whether the terminal gives erased cells the current background; see `terminal.check`."""
        self._rows: dict[int, Row] = {}
        self._sent: dict[int, dict[int, tuple[int, Iterable[Segment]]]] = {}
        self._width = 0  # the longest line sent: at its end the cursor may be held by the margin

    def forget(self) -> None:
        """Forget everything: the next update is sent whole."""
        self._rows.clear()
        self._sent.clear()
        self._width = 0  # the terminal may be narrower now

    def update(self, pieces: Iterable[Piece], depth: ColorSystem) -> str:
        """Return the bytes that make the terminal show these pieces, and record them as sent."""
        runs: list[ChangedRun] = []
        for y, x, segments in pieces:
            before = self._sent.setdefault(y, {}).get(x, (0, ()))[1]
            if before is not segments and before != segments:
                self._replace(y, x, segments)
                self._draw(runs, y, changed_segments(x, before, segments))
        pen = Pen(depth, self._width, erases_in_colour=self.erases_in_colour)
        for run in in_cheapest_order(runs, depth):
            pen.write(run)
        return pen.finish()

    def _replace(self, y: int, x: int, segments: Iterable[Segment]) -> None:
        """Record a piece as sent, and remove the pieces that it covers."""
        sent = self._sent[y]
        width = width_of(segments)
        self._width = max(self._width, x + width)
        if x not in sent or sent[x][0] != width:
            for other, (other_width, _) in list(sent.items()):
                if other < x + width and x < other + other_width:
                    del sent[other]
        sent[x] = (width, segments)

    def _draw(self, runs: list[ChangedRun], y: int, segments: Iterable[Placed]) -> None:
        row = self._rows.get(y)
        if row is None:
            row = self._rows[y] = Row()
        for x, (text, style, _) in segments:
            if not text:  # an empty segment covers no cell
                continue
            if has_certain_width(text):
                _draw_plain(runs, row, (y, x), text, style)
            else:
                _draw_wide(runs, row, (y, x), text, style)


def cells(text: str) -> int:
    """Return the cells that a text takes; plain ASCII needs no look-up."""
    return len(text) if text.isascii() else cell_len(text)


def width_of(segments: Iterable[Segment]) -> int:
    """Return the cells that a piece takes; a line of Textual counts them once."""
    if isinstance(segments, Strip):
        return segments.cell_length
    return sum([cells(segment.text) for segment in segments])


def changed_segments(
    x: int, before: Iterable[Segment], after: Iterable[Segment]
) -> Iterable[Placed]:
    """Return the segments, with their columns, that are not the same in the same place as before."""
    old, old_x = iter(before), x
    there = next(old, None)
    for segment in after:
        while there is not None and old_x < x:
            old_x += cells(there.text)
            there = next(old, None)
        width = cells(segment.text)
        if old_x != x or (there is not segment and there != segment):
            yield x, segment
        else:
            old_x += width
            there = next(old, None)
        x += width


def _draw_plain(
    runs: list[ChangedRun], row: Row, at: tuple[int, int], text: str, style: Style | None
) -> None:
    """Add the runs of the text that differ, joining runs with little between them."""
    y, x = at
    row.reach(x + len(text))
    texts, styles = row.texts, row.styles
    start = end = -1
    worn, alike, alike_blank = style, True, True  # compared once for cells that share their style
    for i, character in enumerate(text):
        column = x + i
        if styles[column] is not worn:
            worn = styles[column]
            alike = worn == style
            alike_blank = alike or blank_look(worn) == blank_look(style)
        if texts[column] == character and (alike or (alike_blank and character == " ")):
            continue
        texts[column], styles[column] = character, style
        if start >= 0 and i - end > BLANK_RUN:
            runs.append(ChangedRun(y, x + start, text[start:end], style))
            start = i
        elif start < 0:
            start = i
        end = i + 1
    if start >= 0:
        runs.append(ChangedRun(y, x + start, text[start:end], style))


def _draw_wide(
    runs: list[ChangedRun], row: Row, at: tuple[int, int], text: str, style: Style | None
) -> None:
    """Add text whose width differs between terminals: whole, with an absolute cursor move after it."""
    y, x = at
    width = cell_len(text)
    row.reach(x + width)
    cells = slice(x, x + width)
    texts, styles = [text, *[""] * (width - 1)][:width], [style] * width
    if row.texts[cells] != texts or row.styles[cells] != styles:
        row.texts[cells], row.styles[cells] = texts, styles
        runs.append(ChangedRun(y, x, text, style, sure=False))


@lru_cache(maxsize=4096)
def has_certain_width(text: str) -> bool:
    """Return whether every terminal draws each character of the text one cell wide."""
    if text.isascii():
        return True
    return all(any(low <= ord(c) <= high for low, high in SURE_BLOCKS) for c in text)


# What is kept of texts and styles that were drawn once; looked up again it costs microseconds.
CACHES: Final = (has_certain_width, *terminal_pen.CACHES)


class Difference(CompositorUpdate):
    """An update reduced to what differs from the contents of the terminal."""

    def __init__(
        self, update: CompositorUpdate, front: TerminalContents, colours: ColorSystem
    ) -> None:
        self._update = update
        self._front = front
        self._colours = colours

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield nothing: the bytes are for a terminal only."""
        yield from ()

    def render_segments(self, console: Console) -> str:
        """Return the bytes for the terminal."""
        pieces = pieces_of(self._update)
        if pieces is None:  # another release of Textual
            self._front.forget()
            return self._update.render_segments(console)
        return self._front.update(pieces, self._colours)


class RenderedUpdate(CompositorUpdate):
    """An update whose bytes are rendered already."""

    def __init__(self, sequence: str) -> None:
        self.sequence = sequence

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Nothing: the bytes are for a terminal only."""
        yield from ()

    def render_segments(self, console: Console) -> str:  # noqa: ARG002 - Textual's signature
        """Return the bytes for the terminal."""
        return self.sequence
