"""What goes to the terminal: only the cells that differ from what it already shows.

Textual sends a changed line from its left edge and a whole screen under a dialog; over SSH that is
ten times too much. Here each line is compared with the cells sent last and only the runs that differ
go out, with the shortest cursor move and colour change. It takes Textual's updates through
`App._display`, a private method of the pinned version: where its updates are not of the shape known
here, they pass through untouched and nothing is remembered.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from rich.cells import cell_len
from rich.color import ColorSystem
from rich.console import COLOR_SYSTEMS, Console, ConsoleOptions, RenderResult
from rich.segment import Segment
from rich.style import Style
from textual._compositor import ChopsUpdate, CompositorUpdate, LayoutUpdate
from textual.strip import Strip

from keydesk.text.sanitize import disarmed

BLANK_RUN = 4  # unchanged cells that are cheaper to send again than to jump over
# Plain letters and the lines and blocks that every monospaced font draws one cell wide.
SURE_BLOCKS = ((0x20, 0x7E), (0xA1, 0x17F), (0x2500, 0x259F))

Placed = tuple[int, Segment]  # column, what stands there
Piece = tuple[int, int, Sequence[Segment]]  # line, column, what stands from there


class Row:
    """What a line of the terminal shows, cell by cell: two lists, for ten thousand pairs would be a megabyte."""

    __slots__ = ("styles", "texts")

    def __init__(self) -> None:
        self.texts: list[
            str | None
        ] = []  # None: not sent from here; "": taken by what stands before it
        self.styles: list[Style | None] = []

    def reach(self, width: int) -> None:
        """Have cells up to this column."""
        missing = width - len(self.texts)
        if missing > 0:
            self.texts += [None] * missing
            self.styles += [None] * missing


class Front:
    """What the terminal shows, line by line, as far as it was sent from here."""

    def __init__(self) -> None:
        self._rows: dict[int, Row] = {}
        self._sent: dict[int, dict[int, tuple[int, Sequence[Segment]]]] = {}

    def forget(self) -> None:
        """Trust nothing on the screen: the next update is sent whole."""
        self._rows.clear()
        self._sent.clear()

    def take(self, pieces: Iterable[Piece], depth: ColorSystem) -> str:
        """The bytes that make the terminal show these pieces; remembers that it now does."""
        pen = Pen(depth)
        for y, x, segments in pieces:
            before = self._sent.setdefault(y, {}).get(x, (0, ()))[1]
            if before is not segments and before != segments:
                self._replace(y, x, segments)
                self._draw(pen, y, news(x, before, segments))
        return pen.finish()

    def _replace(self, y: int, x: int, segments: Sequence[Segment]) -> None:
        """Remember a piece as sent; what it covers is not there any more."""
        sent = self._sent[y]
        width = sum([cells(segment.text) for segment in segments])
        if x not in sent or sent[x][0] != width:
            for other, (other_width, _) in list(sent.items()):
                if other < x + width and x < other + other_width:
                    del sent[other]
        sent[x] = (width, segments)

    def _draw(self, pen: Pen, y: int, segments: Iterable[Placed]) -> None:
        row = self._rows.get(y)
        if row is None:
            row = self._rows[y] = Row()
        for x, (text, style, _) in segments:
            if not text:  # whoever drew it: an empty piece covers no cell
                continue
            if is_sure(text):
                _draw_plain(pen, row, (y, x), text, style)
            else:
                _draw_wide(pen, row, (y, x), text, style)


def cells(text: str) -> int:
    """How many cells a text takes; most is plain, and then it costs nothing to know."""
    return len(text) if text.isascii() else cell_len(text)


def news(x: int, before: Sequence[Segment], after: Sequence[Segment]) -> Iterable[Placed]:
    """The segments, with their columns, that are not the same in the same place as before."""
    old, old_x = iter(before), x
    there = next(old, None)
    for segment in after:
        while there is not None and old_x < x:
            old_x += cells(there.text)
            there = next(old, None)
        if old_x != x or (there is not segment and there != segment):
            yield x, segment
        x += cells(segment.text)


def _draw_plain(pen: Pen, row: Row, at: tuple[int, int], text: str, style: Style | None) -> None:
    """Send the runs of the text that differ, joining runs with little between them."""
    y, x = at
    row.reach(x + len(text))
    texts, styles = row.texts, row.styles
    here = slice(x, x + len(text))
    worn_here = styles[here]
    if worn_here.count(worn_here[0]) == len(text) and worn_here[0] != style:
        texts[here], styles[here] = text, [style] * len(text)
        pen.write(y, x, text, style)
        return
    start = end = -1
    for i, character in enumerate(text):
        column = x + i
        worn = styles[column]
        if texts[column] == character and (worn is style or worn == style):
            continue
        texts[column], styles[column] = character, style
        if start >= 0 and i - end > BLANK_RUN:
            pen.write(y, x + start, text[start:end], style)
            start = i
        elif start < 0:
            start = i
        end = i + 1
    if start >= 0:
        pen.write(y, x + start, text[start:end], style)


def _draw_wide(pen: Pen, row: Row, at: tuple[int, int], text: str, style: Style | None) -> None:
    """Send text whose width terminals may disagree on: whole, and never trusting where it ended."""
    y, x = at
    width = cell_len(text)
    row.reach(x + width)
    cells = slice(x, x + width)
    texts, styles = [text, *[""] * (width - 1)][:width], [style] * width
    if row.texts[cells] != texts or row.styles[cells] != styles:
        row.texts[cells], row.styles[cells] = texts, styles
        pen.write(y, x, text, style)
        pen.lost()


@lru_cache(maxsize=4096)
def is_sure(text: str) -> bool:
    """Say whether every terminal draws each character of the text one cell wide."""
    if text.isascii():
        return True
    return all(any(low <= ord(c) <= high for low, high in SURE_BLOCKS) for c in text)


class Pen:
    """Writes text at places, with the shortest moves and colour changes from where it stands."""

    def __init__(self, depth: ColorSystem) -> None:
        self._depth = depth
        self._out: list[str] = []
        self._at: tuple[int, int] | None = None  # line, column
        self._worn: Look = PLAIN

    def write(self, y: int, x: int, text: str, style: Style | None) -> None:
        """Put text in a style at a place."""
        if self._at != (y, x):
            self._out.append(self._move(y, x))
        look = look_of(style, self._depth)
        if look is not self._worn:
            self._out.append(change(self._worn, look))
            self._worn = look
        if text.isprintable():
            self._out.append(text)
            self._at = (y, x + len(text))
        else:  # the second line of defence: what is drawn was sanitized
            self._out.append(disarmed(text))
            self._at = None

    def lost(self) -> None:
        """Forget the column: the last text may be wider or narrower than thought."""
        self._at = None

    def finish(self) -> str:
        """All that was written; the terminal's colours are back to its own at the end."""
        if self._worn is not PLAIN:
            self._out.append("\x1b[0m")
        return "".join(self._out)

    def _move(self, y: int, x: int) -> str:
        if self._at is not None and self._at[0] == y and x > self._at[1]:
            ahead = x - self._at[1]
            return f"\x1b[{ahead}C" if ahead > 1 else "\x1b[C"
        return f"\x1b[{y + 1};{x + 1}H"


Look = tuple[str, str, str]  # codes of attributes, foreground, background
PLAIN: Look = ("", "", "")
RESETS = {1: "39", 2: "49"}  # what undoes a foreground, a background


@lru_cache(maxsize=2048)
def look_of(style: Style | None, depth: ColorSystem) -> Look:
    """A style as the codes that a terminal takes."""
    if style is None:
        return PLAIN
    # Rich's own codes, the same that Textual sends.
    only, front, back = (
        part._make_ansi_codes(depth)  # noqa: SLF001
        for part in (
            style.without_color,
            Style.from_color(style.color),
            Style.from_color(None, style.bgcolor),
        )
    )
    look = (only, front, back)
    return look if any(look) else PLAIN


@lru_cache(maxsize=8192)
def change(worn: Look, wanted: Look) -> str:
    """The shortest codes from one look to another."""
    if worn[0] and worn[0] != wanted[0]:
        codes = ["0", *filter(None, wanted)]  # attributes are only taken off together
    else:
        codes = [wanted[0]] if wanted[0] != worn[0] else []
        codes += [wanted[i] or RESETS[i] for i in RESETS if wanted[i] != worn[i]]
    return f"\x1b[{';'.join(codes)}m" if codes else ""


def pieces_of(update: ChopsUpdate | LayoutUpdate) -> list[Piece]:
    """What an update of Textual draws, piece by piece."""
    if isinstance(update, LayoutUpdate):
        return list(_whole(update))
    return list(_parts(update))


def _parts(update: ChopsUpdate) -> Iterable[Piece]:
    for y, first, last in update.spans:
        for end, (x, strip) in zip(update.chop_ends[y], update.chops[y].items(), strict=False):
            if strip is not None and x <= last and end > first:
                yield y, x, strip._segments  # noqa: SLF001 - a copy per strip would cost the frame


def _whole(update: LayoutUpdate) -> Iterable[Piece]:
    for y, strips in enumerate(update.strips, update.region.y):
        x = update.region.x
        for strip in strips:
            if isinstance(strip, Strip):
                yield y, x, strip._segments  # noqa: SLF001
                x += strip.cell_length


class Difference(CompositorUpdate):
    """An update reduced to what differs from the front."""

    def __init__(self, update: ChopsUpdate | LayoutUpdate, front: Front) -> None:
        self._update = update
        self._front = front

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """The update as it is, for whoever draws it otherwise."""
        yield from self._update.__rich_console__(console, options)

    def render_segments(self, console: Console) -> str:
        """The bytes for the terminal."""
        try:
            pieces = pieces_of(self._update)
        except (AttributeError, TypeError, ValueError):  # another Textual than the one pinned
            self._front.forget()
            return self._update.render_segments(console)
        return self._front.take(pieces, COLOR_SYSTEMS[console.color_system or "truecolor"])
