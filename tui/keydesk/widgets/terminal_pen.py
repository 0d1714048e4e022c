"""Write runs of text at positions of the terminal: their order, the shortest cursor moves and the shortest colour changes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from rich.color import ColorSystem
from rich.style import Style

from keydesk.text.sanitize import without_controls

LINES_ON_A_BLANK = ("reverse", "underline", "underline2", "strike", "overline", "frame", "encircle")
CODES_ON_A_BLANK = {"7", "4", "21", "9", "53", "51", "52"}  # the same as terminals take them
GROUPED_FROM = 60  # changed runs: from here on an update is sent colour by colour

# Blanks that take more bytes than what erases them (ECH), and moves the cursor on behind them (CUF).
BLANKS_INSIDE = re.compile(" {11,}")
TRAILING_BLANKS = 8  # of a run: where the next one begins elsewhere, it moves the cursor anyway

Look = tuple[str, str, str]  # codes of attributes, foreground, background
PLAIN: Look = ("", "", "")
RESETS = {1: "39", 2: "49"}  # what undoes a foreground, a background


class ChangedRun(NamedTuple):
    """A piece of one line, in one style, that the terminal does not show yet."""

    y: int
    x: int
    text: str
    style: Style | None
    sure: bool = True  # of how many cells it takes


@lru_cache(maxsize=2048)
def blank_look(style: Style | None) -> tuple[object, ...]:
    """Return what of a style is visible on a blank cell: background and lines, not the foreground."""
    if style is None:
        return ()
    lines = tuple(name for name in LINES_ON_A_BLANK if getattr(style, name))
    return style.bgcolor, lines, style.color if lines else None


def in_cheapest_order(runs: Sequence[ChangedRun], depth: ColorSystem) -> Iterable[ChangedRun]:
    """Order the runs of a large update by colour: a colour costs 20 bytes, a move of the cursor 5 to 8.

    Runs of doubtful width come first, from left to right: text to the right of one is written later, over cells
    that it may have covered.
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


CACHES: Final = (blank_look, look_of, shows_on_a_blank, change)
