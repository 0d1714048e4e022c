"""The glyphs of one candle: filled bodies, slim bodies, outlines, bars; and Heikin-Ashi candles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from msgspec import Struct

from keydesk.chart.canvas import FILLED, Canvas
from keydesk.chart.scale import EIGHTHS, Scale
from keydesk.store.state import Candle, Zoom

Style = Literal["candles", "bars", "line", "heikin-ashi"]
STYLES: tuple[Style, ...] = ("candles", "bars", "line", "heikin-ashi")
STYLE_NAMES = {"candles": "", "bars": "bars", "line": "line", "heikin-ashi": "Heikin-Ashi"}
WICKS = {(False, True): "╷", (True, False): "╵"}  # upper, lower half of the cell
TICKS = {(True, False): "┤", (False, True): "├", (True, True): "┼"}  # open, close in this row
HALF = EIGHTHS // 2
WIDE = 3  # columns of a body that has an outline
WARM_UP = (
    50  # candles before the first one in sight: what came earlier is below 2^-50 of an opening
)

ZOOMS: Mapping[Zoom, tuple[int, int, int]] = {
    "line": (1, 0, 4),
    "double": (1, 0, 2),
    "narrow": (1, 0, 1),
    "wide": (1, 1, 1),
    "widest": (3, 1, 1),
}
"""From the most candles to the fewest: columns of a body, of the gap behind it, and candles in a column."""

Cell = tuple[int, int, str, str]  # column from the body's left edge, row, glyph, role


class CandleStyle(Struct, frozen=True):
    """How candles are drawn."""

    style: Style = "candles"
    body: int = 1  # columns of a body: 1 or 3
    gap: int = 1  # columns between two; 0: slim bodies, half a column wide
    hollow: bool = (
        False  # no colours: rising bodies in outline, each indicator with a stroke of its own
    )
    ascii_only: bool = False
    per_column: int = 1  # candles in a column: more than one are drawn from low to high, as dots

    @property
    def pitch(self) -> int:
        """Columns from candle to candle."""
        return self.body + self.gap

    @property
    def slim(self) -> bool:
        """Whether candles stand without a gap."""
        return self.gap == 0


def candle_cells(candle: Candle, scale: Scale, look: CandleStyle) -> list[Cell]:
    """Return what a candle draws, from its top to its bottom: a body with wicks, or a bar."""
    role = "rise" if candle.close >= candle.open else "fall"
    if look.style == "bars":
        return _bar(candle, scale, look, role)
    return _body_and_wicks(candle, scale, look, role)


def paint_candle(canvas: Canvas, x: int, candle: Candle, scale: Scale, look: CandleStyle) -> None:
    """Paint a candle whose centre is column `x`."""
    left = x - look.body // 2
    for column, row, glyph, role in candle_cells(candle, scale, look):
        canvas.put(left + column, row, glyph, role)


def _wick(low: int, high: int, level: int) -> str:
    """Return the wick's glyph in a row; half-row precise at its ends."""
    halves = high >= level * EIGHTHS + HALF, low < level * EIGHTHS + HALF
    return WICKS.get(halves, "│")


def _bar(candle: Candle, scale: Scale, look: CandleStyle, role: str) -> list[Cell]:
    """Return an OHLC bar: a tick to the left at the open, to the right at the close."""
    low, high, first, last = (
        scale.at(each) for each in (candle.low, candle.high, candle.open, candle.close)
    )
    cells: list[Cell] = []
    centre = look.body // 2
    for level in range(low // EIGHTHS, high // EIGHTHS + 1):
        row = scale.rows - 1 - level
        ticks = level == first // EIGHTHS, level == last // EIGHTHS
        cells.append((centre, row, TICKS.get(ticks) or _wick(low, high, level), role))
        if ticks[0]:
            cells += [(column, row, "─", role) for column in range(centre)]
        if ticks[1]:
            cells += [(column, row, "─", role) for column in range(centre + 1, look.body)]
    return cells


def _body_ends(candle: Candle, scale: Scale, look: CandleStyle) -> tuple[int, int]:
    """Return lower and upper end of the body in eighths, snapped to half or whole rows.

    An end that a wick leaves from is a whole row: otherwise there would be a gap between the two.
    """
    first, last = scale.at(candle.open), scale.at(candle.close)
    unit = EIGHTHS if look.body == WIDE or look.ascii_only or look.hollow else HALF
    bottom, top = ((end + unit // 2) // unit * unit for end in (min(first, last), max(first, last)))
    low, high = scale.at(candle.low), scale.at(candle.high)
    if top // EIGHTHS * EIGHTHS + EIGHTHS <= high:
        top = (top + HALF) // EIGHTHS * EIGHTHS
    if bottom // EIGHTHS * EIGHTHS > low:
        bottom = (bottom + HALF) // EIGHTHS * EIGHTHS
    return bottom, top


def dense_levels(
    candles: Sequence[Candle], at: int, scale: Scale, look: CandleStyle
) -> tuple[int, int]:
    """Return the lowest and the highest level of a candle that shares its column: of a line, from the close before it."""
    candle = candles[at]
    if look.style != "line":
        return scale.at(candle.low), scale.at(candle.high)
    low, high = sorted((candles[max(0, at - 1)].close, candle.close))
    return scale.at(low), scale.at(high)


def wick_end(level: int) -> int:
    """Return what is seen of the level of a wick's end: half rows."""
    return level // HALF


def body_look(candle: Candle, scale: Scale, look: CandleStyle) -> object:
    """Return what is seen of the levels of a candle's body; equal ones are drawn alike."""
    first, last = scale.at(candle.open), scale.at(candle.close)
    if look.style == "bars":
        return first // EIGHTHS, last // EIGHTHS
    bottom, top = _body_ends(candle, scale, look)
    if top - bottom >= HALF:
        return bottom, top
    is_dash = scale.at(candle.high) - scale.at(candle.low) <= HALF
    return bottom, top, (first + last) // (2 * EIGHTHS), is_dash


def _body_and_wicks(candle: Candle, scale: Scale, look: CandleStyle, role: str) -> list[Cell]:
    bottom, top = _body_ends(candle, scale, look)
    low, high = scale.at(candle.low), scale.at(candle.high)
    centre = look.body // 2
    first, last = scale.at(candle.open), scale.at(candle.close)
    is_flat = top - bottom < HALF
    flat_level = (first + last) // (2 * EIGHTHS) if is_flat else -1
    levels = range(min(low, bottom) // EIGHTHS, max(high, top - 1) // EIGHTHS + 1)
    cells: list[Cell] = []
    for level in levels:
        row = scale.rows - 1 - level
        share = max(bottom - level * EIGHTHS, 0), min(top - level * EIGHTHS, EIGHTHS)
        if level == flat_level:
            cells += _cross(row, low, high, look, role)
        elif is_flat or share[0] >= share[1]:
            glyph = "▏" if look.slim else _wick(low, high, level)
            cells.append((centre, row, glyph, role))
        elif look.ascii_only:
            glyph = "O" if role == "rise" else "#"
            cells += [(column, row, glyph, role) for column in range(look.body)]
        elif look.slim:
            cells.append((0, row, _slim(share), role))
        elif look.hollow and role == "rise":
            cells += _outline(row, level, bottom, top, look)
        else:
            glyph, filled = filled_cell(*share, role)
            cells += [(column, row, glyph, filled) for column in range(look.body)]
    return cells


def _cross(row: int, low: int, high: int, look: CandleStyle, role: str) -> list[Cell]:
    """Return the row of a candle that has hardly a body."""
    if look.slim:
        return [(0, row, "╴", role)]
    middle = "┼" if high - low > HALF else "─"
    centre = look.body // 2
    return [(column, row, middle if column == centre else "─", role) for column in range(look.body)]


def _slim(share: tuple[int, int]) -> str:
    if share == (0, EIGHTHS):
        return "▌"
    return "▖" if share[0] == 0 else "▘"


def _outline(row: int, level: int, bottom: int, top: int, look: CandleStyle) -> list[Cell]:
    """Return a row of a rising body where there is no colour: its outline."""
    if look.body < WIDE:
        return [(0, row, "║", "rise")]
    head, foot = top <= (level + 1) * EIGHTHS, bottom >= level * EIGHTHS
    box = "├─┤" if head and foot else "┌┴┐" if head else "└┬┘" if foot else "│ │"
    return [(column, row, glyph, "rise") for column, glyph in enumerate(box)]


def filled_cell(first: int, last: int, role: str) -> tuple[str, str]:
    """Return glyph and role of a cell filled between two of its eighths, half a row precise."""
    lower, upper = first < HALF, last > HALF
    if lower and upper:
        return " ", FILLED + role
    return ("▄" if lower else "▀"), role


def heikin_ashi(candles: Sequence[Candle], before: Candle | None = None) -> list[Candle]:
    """Return Heikin-Ashi candles: the mean of the four prices closes, the middle of the last body opens.

    `before` is the Heikin-Ashi candle ahead of the first one.
    """
    made: list[Candle] = []
    last = before
    for each in candles:
        close = (each.open + each.high + each.low + each.close) / 4
        opened = (each.open + each.close) / 2 if last is None else (last.open + last.close) / 2
        high, low = max(each.high, opened, close), min(each.low, opened, close)
        last = Candle(each.time_ns, opened, high, low, close, each.complete, each.volume)
        made.append(last)
    return made
