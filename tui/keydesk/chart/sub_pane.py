"""Sub-panes: an indicator below the candles on a scale of its own, under a rule with its name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from keydesk.chart.canvas import FREE, Canvas, Run
from keydesk.chart.glyphs import filled_cell
from keydesk.chart.lines import paint_line, stroke_of
from keydesk.chart.price_axis import Axis
from keydesk.chart.scale import EIGHTHS, Scale
from keydesk.chart.scene import SubPane

ROWS = 5  # of a sub-pane; a chart that has no room for them leaves it out
HEADROOM = 0.05


def rule(pane: SubPane, width: int) -> list[Run]:
    """Return the line above a sub-pane, with its name."""
    title = f"─ {pane.title} "
    if len(title) > width:
        return [("─" * width, "line")]
    return [(title[:1], "line"), (title[1:], "muted"), ("─" * (width - len(title)), "line")]


def _visible(pane: SubPane, first: int, end: int) -> list[float]:
    parts = [*(values for _, values in pane.lines), pane.bars]
    return [value for values in parts for value in values[first:end] if value == value]  # noqa: PLR0124 - NaN


def scale_for(pane: SubPane, first: int, end: int, rows: int) -> Scale:
    """Return a scale that holds the values in sight and the guides."""
    values = [*_visible(pane, first, end), *pane.guides, *((0.0,) if pane.bars else ())]
    low, high = min(values, default=0.0), max(values, default=1.0)
    margin = (high - low or abs(high) or 1.0) * HEADROOM
    low, high = low - margin, high + margin
    if pane.bounds is not None:
        low, high = max(low, pane.bounds[0]), min(high, pane.bounds[1])
    return Scale(low, high, rows)


def still_fits(pane: SubPane, end: int, scale: Scale) -> bool:
    """Return whether the newest values are within the scale."""
    parts = [*(values for _, values in pane.lines), pane.bars]
    newest = [values[end - 1] for values in parts if len(values) >= end]
    return all(scale.holds(value) or value != value for value in newest)  # noqa: PLR0124 - NaN


def labels(pane: SubPane, scale: Scale, axis: Axis) -> Mapping[int, Run]:
    """Return the labels of a sub-pane: its guides, else its range."""
    if not axis.width:
        return {}
    values = [value for value in pane.guides if scale.holds(value)]
    labels: dict[int, Run] = {}
    for value in values or [scale.high, scale.low]:
        text = f"{value:g}" if pane.guides else f"{value:.{axis.decimals}f}"
        text = text.replace("-", "−")
        if len(text) < axis.width:
            labels.setdefault(scale.row(value), (axis.padded(text), "muted"))
    return labels


def paint(
    canvas: Canvas,
    pane: SubPane,
    visible: slice,
    columns: Sequence[int],
    scale: Scale,
    *,
    held: Sequence[float],
    braille: bool,
    colours: bool,
) -> None:
    """Paint lines, their newest ends at `held`, and bars behind them."""
    before = slice(visible.start, visible.stop - 1)
    for (role, values), newest in zip(pane.lines, held, strict=True):
        drawn = [*values[before], newest]
        stroke = stroke_of(role, colours=colours)
        paint_line(canvas, columns, drawn, scale, role, braille=braille, stroke=stroke)
    for x, value in zip(columns, pane.bars[visible], strict=False):
        if value == value and canvas.left <= x < canvas.right:  # noqa: PLR0124 - NaN
            _paint_bar(canvas, x, value, scale)


def _paint_bar(canvas: Canvas, x: int, value: float, scale: Scale) -> None:
    low, high = sorted((scale.at(0.0), scale.at(value)))
    for level in range(low // EIGHTHS, high // EIGHTHS + 1):
        y = scale.rows - 1 - level
        share = max(0, low - level * EIGHTHS), min(EIGHTHS, high + 1 - level * EIGHTHS)
        glyph, role = filled_cell(*share, "rise" if value >= 0 else "fall")
        if canvas.roles[y] and canvas.roles[y][x - canvas.left] in FREE:
            canvas.put(x, y, glyph, role)
