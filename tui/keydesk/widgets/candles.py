"""A candle chart as rows of text and roles: candles in, rows out, without state.

Every cell has an upper and a lower half, each empty, wick or body; box-drawing characters exist for every combination.
Drawing a whole chart takes well under a millisecond.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import tzinfo

from keydesk.store.state import Candle
from keydesk.text import format as show

EMPTY, WICK, BODY = 0, 1, 2
GLYPHS = {  # (upper half, lower half)
    (EMPTY, EMPTY): " ",
    (WICK, WICK): "│",
    (BODY, BODY): "┃",
    (WICK, BODY): "╽",
    (BODY, WICK): "╿",
    (EMPTY, WICK): "╷",
    (WICK, EMPTY): "╵",
    (EMPTY, BODY): "╻",
    (BODY, EMPTY): "╹",
}
HOLLOW = "║"  # a rising body where there is no colour to tell it from a falling one
DASH = "╌"
TICK_ROWS = 4  # one price on the axis for every so many rows
STEPS = (1, 2, 5)
HEADROOM = 0.04
REACH = 1.0  # own lines this share of the candles' range beyond it still widen it
LOOSE = 1.6  # a scale this much too wide is drawn anew

Run = tuple[str, str]  # text and role


@dataclass(frozen=True, slots=True)
class PriceLine:
    """A labelled price across the chart: an entry, a stop, a target, an order, the last price."""

    price: float
    label: str
    tag: str
    role: str
    rank: int  # the lowest is written when several meet in one row


@dataclass(frozen=True, slots=True)
class Scale:
    """The prices at the lower and upper edge of the plot."""

    low: float
    high: float

    def half_row(self, price: float, halves: int) -> int:
        """Half rows above the lower edge."""
        share = (price - self.low) / (self.high - self.low)
        return max(0, min(halves - 1, int(share * halves)))

    def holds(self, price: float) -> bool:
        """Return whether the price is between the edges."""
        return self.low <= price <= self.high


@dataclass(frozen=True, slots=True)
class View:
    """What is to be drawn, and how large."""

    candles: Sequence[Candle]  # those in sight, oldest first
    lines: Sequence[PriceLine]
    width: int  # of plot and axis
    height: int  # of plot and time axis
    step: int  # columns a candle
    axis: int  # columns of the price axis
    pip_location: int
    precision: int
    granularity: str
    zone: tzinfo
    hollow: bool

    @property
    def plot(self) -> int:
        """Columns of the plot."""
        return max(1, self.width - self.axis)

    @property
    def rows(self) -> int:
        """Rows of the plot."""
        return max(1, self.height - 1)


def room(width: int, axis: int, step: int) -> int:
    """Return how many candles a chart has room for."""
    return max(1, (width - axis) // step)


def scale_of(view: View, before: Scale | None) -> Scale:
    """Return a scale that holds all candles; the one before is kept while it still fits well."""
    low = min(candle.low for candle in view.candles)
    high = max(candle.high for candle in view.candles)
    reach = (high - low or abs(high) * 1e-4 or 1.0) * REACH
    near = [line.price for line in view.lines if low - reach <= line.price <= high + reach]
    low, high = min([low, *near]), max([high, *near])
    margin = (high - low or abs(high) * 1e-4 or 1.0) * HEADROOM
    fresh = Scale(low - margin, high + margin)
    if before is None or not (before.holds(low) and before.holds(high)):
        return fresh
    too_loose = before.high - before.low > LOOSE * (fresh.high - fresh.low)
    return fresh if too_loose else before


def draw(view: View, scale: Scale) -> list[list[Run]]:
    """Return the rows of the chart, the time axis last."""
    columns = [_column(candle, scale, view.rows * 2) for candle in view.candles]
    labels = _axis_labels(view, scale)
    dashes = _dashes(view, scale)
    rows = [_row(view, columns, row, dashes.get(row), labels.get(row)) for row in range(view.rows)]
    return [*rows, time_axis(view)]


def _column(candle: Candle, scale: Scale, halves: int) -> list[int]:
    """Return a candle as half rows from the lower edge up."""
    low, high = scale.half_row(candle.low, halves), scale.half_row(candle.high, halves)
    ends = scale.half_row(candle.open, halves), scale.half_row(candle.close, halves)
    column = [EMPTY] * halves
    column[low : high + 1] = [WICK] * (high + 1 - low)
    column[min(ends) : max(ends) + 1] = [BODY] * (max(ends) + 1 - min(ends))
    return column


def _row(
    view: View, columns: Sequence[list[int]], row: int, dash: str | None, label: Run | None
) -> list[Run]:
    lower = (view.rows - 1 - row) * 2
    between = (DASH if dash else " ", dash or "plain")
    cells: list[Run] = []
    for candle, column in zip(view.candles, columns, strict=True):
        upper_half, lower_half = column[lower + 1], column[lower]
        if upper_half or lower_half:
            cells.append(_cell(candle, upper_half, lower_half, hollow=view.hollow))
        else:
            cells.append(between)
        cells += [between] * (view.step - 1)
    cells += [between] * (view.plot - len(cells))
    text, role = label or ("", "plain")
    return [*_merged(cells[: view.plot]), (f" {text:<{view.axis - 1}}"[: view.axis], role)]


def _cell(candle: Candle, upper: int, lower: int, *, hollow: bool) -> Run:
    rising = candle.close >= candle.open
    glyph = GLYPHS[upper, lower]
    if hollow and rising and glyph == GLYPHS[BODY, BODY]:
        glyph = HOLLOW
    return glyph, "rise" if rising else "fall"


def _merged(cells: Sequence[Run]) -> list[Run]:
    runs: list[Run] = []
    for text, role in cells:
        if runs and runs[-1][1] == role:
            runs[-1] = (runs[-1][0] + text, role)
        else:
            runs.append((text, role))
    return runs


def row_of(price: float, view: View, scale: Scale) -> int:
    """Return the row of a price; beyond the edges, the first or last one."""
    return view.rows - 1 - scale.half_row(price, view.rows * 2) // 2


def _dashes(view: View, scale: Scale) -> dict[int, str]:
    """Rows with a line across them, and its role."""
    found: dict[int, str] = {}
    for line in sorted(view.lines, key=lambda line: -line.rank):
        if scale.holds(line.price) and line.rank > 0:
            found[row_of(line.price, view, scale)] = line.role
    return found


def _axis_labels(view: View, scale: Scale) -> dict[int, Run]:
    """What the price axis says in each row: own lines before round prices, meeting tags side by side."""
    labels: dict[int, Run] = {}
    for price in ticks(view, scale):
        decimals = max(0, -view.pip_location)
        labels[row_of(price, view, scale)] = (f"{price:.{decimals}f}", "muted")
    meeting: dict[int, list[PriceLine]] = {}
    for line in sorted(view.lines, key=lambda line: line.rank):
        meeting.setdefault(row_of(line.price, view, scale), []).append(line)
    for row, lines in meeting.items():
        labels[row] = _label(lines, scale, view.axis - 1)
    return labels


def _label(lines: Sequence[PriceLine], scale: Scale, width: int) -> Run:
    """Return the first line's price and the tags that have room whole; a plus says that there are more."""
    text = lines[0].label
    tags = list(dict.fromkeys(_arrow(line, scale) + line.tag for line in lines if line.tag))
    for tag in tags:
        left = 0 if tag == tags[-1] else 1  # room for the plus
        if len(text) + 1 + len(tag) > width - left:
            return f"{text}+"[:width], lines[0].role
        text += f" {tag}"
    return text, lines[0].role


def _arrow(line: PriceLine, scale: Scale) -> str:
    return "" if scale.holds(line.price) else "↑" if line.price > scale.high else "↓"


def ticks(view: View, scale: Scale) -> list[float]:
    """Round prices for the axis: whole pips in steps of 1, 2 or 5."""
    pip = 10.0**view.pip_location
    wanted = (scale.high - scale.low) / max(1, view.rows // TICK_ROWS) / pip
    magnitude = 10.0 ** max(0, math.floor(math.log10(max(wanted, 1))))
    step = next((s * magnitude for s in STEPS if s * magnitude >= wanted), 10 * magnitude) * pip
    first = math.ceil(scale.low / step)
    return [n * step for n in range(first, math.floor(scale.high / step) + 1)]


# The time axis.

CLOCK_FORMATS: Mapping[str, str] = {"S": "%H:%M:%S", "M": "%H:%M", "H": "%d %b %H:%M"}
LONG = {"D": "%d %b", "W": "%d %b", "M": "%b %Y"}
STRIDES = (5, 10, 12, 15, 20, 24, 30, 48, 60, 96, 120, 240)


def time_axis(view: View) -> list[Run]:
    """Times under the candles they belong to, the zone named at the right."""
    text = [" "] * view.plot
    pattern = LONG.get(view.granularity) or CLOCK_FORMATS.get(view.granularity[:1], "%H:%M")
    size = len(show.at(0, view.zone).strftime(pattern))
    stride = next((s for s in STRIDES if s * view.step >= size + 3), STRIDES[-1])
    total = len(view.candles)
    for i in range((total - 1) % stride, total, stride):
        words = show.at(view.candles[i].time_ns, view.zone).strftime(pattern)
        start = i * view.step
        if start + len(words) <= view.plot:
            text[start : start + len(words)] = words
    zone = show.at(view.candles[-1].time_ns, view.zone).tzname() or ""
    return [("".join(text), "faint"), (f" {zone:<{view.axis - 1}}"[: view.axis], "faint")]
