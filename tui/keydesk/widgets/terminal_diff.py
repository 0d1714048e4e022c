"""Output of only the cells that differ from what the terminal shows.

Textual sends a changed line from its left edge, and the whole screen when a dialog opens, about ten times as much as is
needed over SSH. Here each line is compared with the cells sent last; only the runs that differ are written, with the
shortest cursor move and colour change. Updates of an unknown shape are passed on unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from rich.cells import cell_len
from rich.color import ColorSystem
from rich.console import Console, ConsoleOptions, RenderResult
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from keydesk.terminal._textual_private import CompositorUpdate, Piece, pieces_of
from keydesk.text.sanitize import without_controls

BLANK_RUN = 4  # unchanged cells that are cheaper to send again than to jump over
# Plain letters and the lines and blocks that every monospaced font draws one cell wide.
SURE_BLOCKS = ((0x20, 0x7E), (0xA1, 0x17F), (0x2500, 0x259F))

LINES_ON_A_BLANK = ("reverse", "underline", "underline2", "strike", "overline", "frame", "encircle")
CODES_ON_A_BLANK = {"7", "4", "21", "9", "53", "51", "52"}  # the same as terminals take them
GROUPED_FROM = 60  # changed runs: from here on an update is sent colour by colour

# Blanks that take more bytes than what erases them (ECH), and moves the cursor on behind them (CUF).
BLANKS_INSIDE = re.compile(" {11,}")
TRAILING_BLANKS = 8  # of a run: where the next one begins elsewhere, it moves the cursor anyway

Placed = tuple[int, Segment]  # column, what stands there


class ChangedRun(NamedTuple):
    """A piece of one line, in one style, that the terminal does not show yet."""

    y: int
    x: int
    text: str
    style: Style | None
    sure: bool = True  # of how many cells it takes


class Row:
    """The cells of one line of the terminal, as two lists: pairs would take a megabyte."""

    __slots__ = ("styles", "texts")

    def __init__(self) -> None:
        self.texts: list[
            str | None
        ] = []  # None: not sent from here; "": taken by what stands before it
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

    def take(self, pieces: Iterable[Piece], depth: ColorSystem) -> str:
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
            if is_sure(text):
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


@lru_cache(maxsize=2048)
def blank_look(style: Style | None) -> tuple[object, ...]:
    """Return what of a style is visible on a blank cell: background and lines, not the foreground."""
    if style is None:
        return ()
    lines = tuple(name for name in LINES_ON_A_BLANK if getattr(style, name))
    return style.bgcolor, lines, style.color if lines else None


def in_cheapest_order(runs: Sequence[ChangedRun], depth: ColorSystem) -> Iterable[ChangedRun]:
    """Order the runs of a large update by colour: a colour costs 20 bytes, a move of the cursor 5 to 8.

    Runs of doubtful width come first, from left to right: what stands behind one is written later, over
    what it may have spilled.
    """
    if len(runs) < GROUPED_FROM:
        return runs
    doubtful = [run for run in runs if not run.sure]
    sure = [run for run in runs if run.sure]

    def colours(run: ChangedRun) -> tuple[str, str, str]:
        attributes, front, back = look_of(run.style, depth)
        return back, attributes, front

    return [*doubtful, *sorted(_with_blanks_joined(sure), key=colours)]


def _with_blanks_joined(runs: Iterable[ChangedRun]) -> list[ChangedRun]:
    """Join blanks with the text beside them, which saves a cursor move."""
    joined: list[ChangedRun] = []
    for run in runs:
        last = joined[-1] if joined else None
        if last is not None and (last.y, last.x + len(last.text)) == (run.y, run.x):
            alike = blank_look(last.style) == blank_look(run.style)
            if alike and run.text.isspace():
                joined[-1] = last._replace(text=last.text + run.text)
                continue
            if alike and last.text.isspace():
                joined[-1] = last._replace(text=last.text + run.text, style=run.style)
                continue
        joined.append(run)
    return joined


@lru_cache(maxsize=4096)
def is_sure(text: str) -> bool:
    """Return whether every terminal draws each character of the text one cell wide."""
    if text.isascii():
        return True
    return all(any(low <= ord(c) <= high for low, high in SURE_BLOCKS) for c in text)


class Pen:
    """Writes text at positions with the shortest cursor moves and colour changes."""

    def __init__(self, depth: ColorSystem, width: int, *, erases_in_colour: bool = False) -> None:
        self._depth = depth
        self._width = width
        self._erases = erases_in_colour
        self._out: list[str] = []
        self._at: tuple[int, int] | None = None  # line, column
        self._worn: Look = PLAIN

    def write(self, run: ChangedRun) -> None:
        """Write a run at its position."""
        if self._at != (run.y, run.x):
            self._out.append(self._move(run.y, run.x))
        look = self._look(run)
        if look is not self._worn:
            self._out.append(change(self._worn, look))
            self._worn = look
        if not run.text.isprintable():  # second line of defence: drawn text is sanitized already
            self._out.append(without_controls(run.text))
            self._at = None
            return
        if not run.sure:  # it may be wider or narrower than thought
            self._out.append(run.text)
            self._at = None
            return
        end = run.x + self._write_text(run.text)
        self._at = (run.y, end) if end < self._width else None  # the margin holds the cursor back

    def finish(self) -> str:
        """Return everything written, ending in the terminal's default colours."""
        if self._worn is not PLAIN:
            self._out.append("\x1b[0m")
        return "".join(self._out)

    def _write_text(self, text: str) -> int:
        """Write text, long blanks by erasing them if that is possible; return how many cells the cursor moved."""
        if not self._erases or shows_on_a_blank(self._worn):
            self._out.append(text)
            return len(text)
        blanks = len(text) - len(text.rstrip(" "))
        written = text[:-blanks] if blanks >= TRAILING_BLANKS else text
        self._out.append(BLANKS_INSIDE.sub(_erase_and_pass, written))
        if len(written) < len(text):
            self._out.append(f"\x1b[{len(text) - len(written)}X")
        return len(written)

    def _look(self, run: ChangedRun) -> Look:
        """Return the look to write in; blanks keep the current foreground and weight."""
        look, worn = look_of(run.style, self._depth), self._worn
        if not run.text.isspace() or shows_on_a_blank(worn) or shows_on_a_blank(look):
            return look
        return worn if worn[2] == look[2] else (worn[0], worn[1], look[2])

    def _move(self, y: int, x: int) -> str:
        there = f"\x1b[{y + 1};{x + 1}H" if x else f"\x1b[{y + 1}H"
        if self._at is None:
            return there
        down, ahead = y - self._at[0], x - self._at[1]
        if down not in (0, 1):
            return there
        near = ("\x1b[B" if down else "") + _sideways(ahead)
        return near if len(near) < len(there) else there


def _erase_and_pass(blanks: re.Match[str]) -> str:
    """Return what erases these blanks and moves the cursor behind them."""
    count = len(blanks[0])
    return f"\x1b[{count}X\x1b[{count}C"


def _sideways(columns: int) -> str:
    """Return the shortest move along a line."""
    if -3 <= columns <= 0:  # noqa: PLR2004 - three bytes are as short as a sequence can be
        return "\b" * -columns
    letter, distance = ("C", columns) if columns > 0 else ("D", -columns)
    return f"\x1b[{distance}{letter}" if distance > 1 else f"\x1b[{letter}"


Look = tuple[str, str, str]  # codes of attributes, foreground, background
PLAIN: Look = ("", "", "")
RESETS = {1: "39", 2: "49"}  # what undoes a foreground, a background


@lru_cache(maxsize=2048)
def look_of(style: Style | None, depth: ColorSystem) -> Look:
    """Return the SGR codes of a style."""
    if style is None:
        return PLAIN
    parts = (
        style.without_color.clear_meta_and_links(),
        Style.from_color(style.color),
        Style.from_color(None, style.bgcolor),
    )
    only, front, back = (_codes(part, depth) for part in parts)
    look = (only, front, back)
    return look if any(look) else PLAIN


def _codes(style: Style, depth: ColorSystem) -> str:
    """Return the SGR codes of a style, such as `1;38;2;10;20;30`, as Rich and Textual send them."""
    return style.render("x", color_system=depth).partition("x")[0][2:-1]


@lru_cache(maxsize=2048)
def shows_on_a_blank(look: Look) -> bool:
    """Return whether a look's attributes are visible on a blank cell."""
    return not CODES_ON_A_BLANK.isdisjoint(look[0].split(";"))


@lru_cache(maxsize=8192)
def change(worn: Look, wanted: Look) -> str:
    """Return the shortest codes from one look to another."""
    if worn[0] and worn[0] != wanted[0]:
        codes = ["0", *filter(None, wanted)]  # attributes are only taken off together
    else:
        codes = [wanted[0]] if wanted[0] != worn[0] else []
        codes += [wanted[i] or RESETS[i] for i in RESETS if wanted[i] != worn[i]]
    return f"\x1b[{';'.join(codes)}m" if codes else ""


# What is kept of texts and styles that were drawn once; looked up again it costs microseconds.
CACHES: Final = (blank_look, is_sure, look_of, shows_on_a_blank, change)


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
        return self._front.take(pieces, self._colours)


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
