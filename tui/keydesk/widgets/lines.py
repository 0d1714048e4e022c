"""The base of every live pane: it draws line by line, caches the lines and refreshes only those that changed.

It scrolls its rows itself: the header stays in place and no scroll bar takes a column.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

from msgspec import Struct
from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import ANSIToTruecolor, LineFilter
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from keydesk.keys.keymap import KEYMAP, KeyMap
from keydesk.store.frame import Frame
from keydesk.text.sanitize import Printable, safe
from keydesk.widgets.theme import ColourRole, Palette, palette_of

OPAQUE = Color(0, 0, 0)  # what filters blend with; the lines are opaque


class DrawnLine(Strip):
    """One line of a widget that draws whole lines; usually it is not divided, for a pane ends where its line ends."""

    __slots__ = ()

    def __init__(self, segments: Iterable[Segment], cell_length: int) -> None:
        super().__init__(segments, cell_length)

    def divide(self, cuts: Iterable[int]) -> Sequence[Strip]:
        """Return the parts of the line between the cuts, the line itself where the only cut is its end."""
        columns = list(cuts)
        return [self] if columns == [self.cell_length] else super().divide(columns)


class DrawnWidget(Widget):
    """A widget that draws whole lines, without border, padding or tint.

    Textual's styling of lines is skipped: it would change nothing and take a third of a frame.
    """

    def render_lines(self, crop: Region) -> list[Strip]:
        """Return the lines of the region, with the line filters applied."""
        strips = self.strips_at(crop.line_range)
        for line_filter in self.get_line_filters():
            strips = [strip.apply_filter(line_filter, OPAQUE) for strip in strips]
        if crop.column_span != (0, self.outer_size.width):
            strips = [strip.crop(*crop.column_span) for strip in strips]
        return strips

    def strips_at(self, numbers: Iterable[int]) -> list[Strip]:
        """Return these lines, drawn now."""
        return [self.render_line(y) for y in numbers]

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Return the filters without Textual's translation of named colours: palettes have none."""
        filters = super().get_line_filters()
        return [each for each in filters if not isinstance(each, ANSIToTruecolor)]


Run = tuple[Printable, Style]
MARGIN = 1  # one blank column inside
QUIET: tuple[ColourRole, ...] = ("muted", "faint", "line", "grid")  # as they are behind a page, too


class Tab(Struct, frozen=True):
    """One word of a heading; several make tabs, of which one is in front."""

    text: Printable
    front: bool = True


class Heading(Struct, frozen=True):
    """The text in a pane's upper rule: its name or tabs, and a short status at the right."""

    tabs: tuple[Tab, ...]
    right: Printable = ""
    short: Printable = ""  # at the right, where that has no room


def width_of(runs: Iterable[Run]) -> int:
    """Return the cells that the runs take."""
    texts = [text for text, _ in runs]
    whole = "".join(texts)
    if whole.isascii():
        return len(whole)
    return sum([len(text) if text.isascii() else cell_len(text) for text in texts])


def cut(runs: Iterable[Run], width: int) -> list[Run]:
    """Return the runs cut to the width, with an ellipsis in place of the rest."""
    parts: list[Run] = []
    left = width
    for text, style in runs:
        size = cell_len(text)
        if size > left:
            if left > 0:
                parts.append((safe(set_cell_size(text, left - 1) + "…"), style))
            return parts
        parts.append((text, style))
        left -= size
    return parts


def strip_of(runs: Iterable[Run], width: int, blank: Style) -> Strip:
    """Return a line of a pane: one blank column, the runs, blanks up to the width."""
    inside = max(0, width - 2 * MARGIN)
    kept = list(runs)
    taken = width_of(kept)
    if taken > inside:
        kept = cut(kept, inside)
        taken = width_of(kept)
    rest = width - MARGIN - taken
    segments = [Segment(" " * MARGIN, blank)]
    segments += [Segment(text, style) for text, style in kept if text]
    if rest > 0:
        segments.append(Segment(" " * rest, blank))
    return DrawnLine(segments, MARGIN + taken + max(0, rest))


def laid_over(strip: Strip, style: Style) -> Strip:
    """Return the line with a style added to each of its styles."""
    over = [Segment(text, own + style if own else style) for text, own, _ in strip]
    return DrawnLine(over, strip.cell_length)


def dimmed(strip: Strip, palette: Palette) -> Strip:
    """Return the line in one muted colour; candles are dimmer, their filled cells in the colour of rules.

    What is muted anyway stays as it is: sent again, it would be half of the bytes.
    """
    surface, filled = palette["plain"].bgcolor, palette.chart_style("~line")
    known = {palette[role]: palette[role] for role in QUIET}
    known |= {palette[role]: palette["faint"] for role in ("rise", "fall")}
    segments = []
    for text, style, _ in strip:
        is_filled = text.isspace() and style and style.bgcolor != surface
        dim = filled if is_filled else palette["muted"]
        segments.append(Segment(text, known.get(style, dim) if style else dim))
    return DrawnLine(segments, strip.cell_length)


class LinePane(DrawnWidget, can_focus=True):
    """A pane made of lines; subclasses implement the text of a line and which lines a frame changed."""

    KEY_CONTEXT: ClassVar[str] = "desk"
    keymap: KeyMap = KEYMAP  # with the trader's own keys on the desk
    covered = 0  # columns at the right end that an open form stands on
    is_dimmed = False  # behind a page
    DEFAULT_CSS = "LinePane { width: 1fr; height: 1fr; }"

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own word
        super().__init__(id=id)
        self.frame: Frame | None = None
        self._lines: dict[int, Strip] = {}
        self._in_frame = False
        self._stale: list[int] = []  # lines to be shown again
        self._palette: Palette | None = None

    @property
    def palette(self) -> Palette:
        """Return the styles of the current theme."""
        if self._palette is None:
            self._palette = palette_of(self.app)
        return self._palette

    # A pane has neither border nor padding, so its outer size, which costs no search, is its size.

    @property
    def inside(self) -> int:
        """Return the columns that a line may fill: those that no open form covers."""
        return max(0, self.outer_size.width - self.covered - 2 * MARGIN)

    @property
    def key_context(self) -> str:
        """Return the key map's name of the keys in force here."""
        return self.KEY_CONTEXT

    def heading(self) -> Heading:
        """Return the text of the upper rule."""
        return Heading((Tab(safe(self.name or "")),))

    def on_frame(self, frame: Frame) -> None:
        """Store the frame and redraw what it changed."""
        first = self.frame is None
        self.frame = frame
        if first:
            self.redraw()
        self._in_frame = True
        self.changed(frame)
        self._in_frame = False
        self._show_stale()

    def changed(self, frame: Frame) -> None:
        """Redraw the lines that the frame changed."""

    def post(self, message: Message) -> None:
        """Post a message of this pane, so that it reaches the app whoever caused it.

        Textual stops a message at its sender: of one made within an event of the screen, such as a resize, that is the screen.
        """
        self.post_message(message.set_sender(self))

    def runs(self, y: int, frame: Frame) -> Iterable[Run]:
        """Return the text of line y."""
        raise NotImplementedError  # `query` finds panes by this class, and takes no abstract one

    def waiting(self) -> Iterable[Run]:
        """Return the text of the first line before the first frame."""
        return ()

    def text_rows(self) -> list[list[str]]:
        """Return what the pane shows as rows of cells: here each line is one cell."""
        if self.frame is None:
            return []
        lines = (self.runs(y, self.frame) for y in range(self.outer_size.height))
        return [["".join(text for text, _ in line).rstrip()] for line in lines]

    def redraw(self) -> None:
        """Draw every line again."""
        self._lines.clear()
        self.refresh()

    def dim(self, *, on: bool) -> None:
        """Draw everything in one colour behind a page, or as it is."""
        if on != self.is_dimmed:
            self.is_dimmed = on
            self.redraw()

    def redraw_line(self, y: int) -> None:
        """Draw one line again, if it is on the screen."""
        if 0 <= y < self.outer_size.height:
            self._lines.pop(y, None)
            self.refresh_line(y)

    def refresh_line(self, y: int) -> None:
        """Request a repaint of one cached line; within a frame, at its end."""
        self._stale.append(y)
        if not self._in_frame:
            self._show_stale()

    def _show_stale(self) -> None:
        """Request the repaints; adjacent lines form one region, for each region costs as much as a line."""
        stale, self._stale = sorted(set(self._stale)), []
        regions: list[Region] = []
        for y in stale:
            above = regions[-1] if regions else None
            if above is not None and above.bottom == y:
                regions[-1] = Region(0, above.y, above.width, above.height + 1)
            else:
                regions.append(Region(0, y, self.outer_size.width, 1))
        if regions:
            self.refresh(*regions)

    def render_line(self, y: int) -> Strip:
        """Return the cached line, or draw it."""
        strip = self._lines.get(y)
        if strip is None or strip.cell_length != self.outer_size.width:
            strip = self._draw(y)
            if self.is_dimmed:
                strip = dimmed(strip, self.palette)
            self._lines[y] = strip
        return strip

    def strips_at(self, numbers: Iterable[int]) -> list[Strip]:
        """Return the cached lines, and draw those that are missing."""
        lines, width = self._lines, self.outer_size.width
        strips = []
        for y in numbers:
            strip = lines.get(y)
            if strip is None or strip.cell_length != width:
                strip = self.render_line(y)
            strips.append(strip)
        return strips

    def _draw(self, y: int) -> Strip:
        blank = self.palette["plain"]
        if self.frame is None:
            return strip_of(self.waiting() if y == 0 else (), self.outer_size.width, blank)
        strip = strip_of(self.runs(y, self.frame), self.outer_size.width, blank)
        is_selected = self.is_selected(y) and not self.is_dimmed
        return laid_over(strip, self.palette.selected) if is_selected else strip

    def is_selected(self, y: int) -> bool:  # noqa: ARG002 - a pane with rows answers by y
        """Return whether the line is the selected row."""
        return False

    def on_mount(self) -> None:
        """Follow the theme."""
        self.app.theme_changed_signal.subscribe(self, lambda _: self._new_theme())

    def on_resize(self) -> None:
        self.redraw()

    def on_focus(self) -> None:
        """Redraw: the selected row is shown in the focused pane only."""
        self.redraw()

    def on_blur(self) -> None:
        """Redraw: the selected row is shown in the focused pane only."""
        self.redraw()

    def _new_theme(self) -> None:
        self._palette = None
        self.redraw()
