"""Where the parts of a chart stand: price axis, candles, legend and sub-panes; what has no room is left out."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from keydesk.chart import sub_pane
from keydesk.chart.canvas import Run, width_of
from keydesk.chart.own_labels import widest_name
from keydesk.chart.price_axis import Axis, PriceLine, axis_for
from keydesk.chart.scene import Scene

MARGIN = 2  # free columns right of the newest candle
NARROW = 30  # columns: below that there is one
NAMED_FROM = 24  # columns of a plot from which on own prices have their names beside the axis
NAMES_SHARE = 2 / 5  # of the plot that they take at most: "11 stops from" in 80 columns
MOST_NAMES = 22  # columns likewise: "long 110k, 11 trades"
MOST_WITH_PRICE = 28  # columns likewise: "4 sell limits from 1.13605"
PRICES_FROM = 60  # columns of a plot from which on names have room for a price
FEWEST_ROWS = 4  # of candles; sub-panes and the legend leave first
LEGEND_FROM = 6  # rows of a chart
SECOND_LEGEND_FROM = 18  # rows from which on the legend has two
LEGEND_GAP = 2  # columns between the groups of a legend
CURSOR_LEGEND_FROM = 7  # rows from which on the crosshair has its legend, on two lines


def sub_panes_with_room(height: int, wanted: int) -> int:
    """Return how many sub-panes a chart this high has room for, at most as many as are wanted."""
    rows = height - 1 - (height >= LEGEND_FROM) - 2 * FEWEST_ROWS
    return max(0, min(wanted, rows // (sub_pane.ROWS + 1)))


class Layout(Struct, frozen=True):
    """Columns and rows of a picture."""

    axis: Axis
    plot: int  # columns of the candles
    first: int  # index of the oldest candle in sight
    columns: Sequence[int]  # of the centres of the candles in sight
    split: int  # first column of the tails
    rows: int  # of the candles
    legend: int  # rows of the legend
    sub_rows: int  # of a sub-pane, without its rule; 0: there is none
    names: int  # columns beside the axis for the names of own prices, the last of the plot

    @property
    def top(self) -> int:
        """The first row of the candles."""
        return self.legend


def layout_of(scene: Scene) -> Layout:
    """Return where everything stands; what has no room is left out."""
    highest = max((abs(each.price) for each in scene.lines), default=0.0)
    if scene.cursor is not None:
        highest = max(highest, abs(scene.cursor.price))
    axis = axis_for(
        scene.width,
        max(highest, abs(scene.last)),
        scene.lines,
        decimals=scene.decimals,
        pip=scene.pip,
    )
    plot = max(0, scene.width - axis.width)
    pitch, body = scene.look.pitch, scene.look.body
    names = names_width(scene.lines, plot, axis.width)
    margin = min(names + (MARGIN if plot >= NARROW else 1), max(0, plot - body))
    per_column = scene.look.per_column
    count = max(1, min(scene.end, (plot - margin + scene.look.gap) // pitch * per_column))
    right = plot - margin - body // 2 - 1
    columns = [right - number // per_column * pitch for number in range(count)][::-1]
    split = max(0, columns[-1] - pitch - body // 2) if count > 1 else 0
    legend = _legend_rows(scene)
    rows = max(1, scene.height - 1 - legend)
    sub_rows = sub_pane.ROWS if scene.sub_panes else 0
    second = max(0, legend - 1)  # row of the legend, which sub-panes do not leave for
    if rows + second - len(scene.sub_panes) * (sub_rows + 1) < 2 * FEWEST_ROWS:
        sub_rows = 0
    if sub_rows:
        rows -= len(scene.sub_panes) * (sub_rows + 1)
    return Layout(axis, plot, scene.end - count, columns, split, rows, legend, sub_rows, names)


def names_width(lines: Sequence[PriceLine], plot: int, price: int) -> int:
    """Return the columns for names of own prices, right of the newest candle so that they stand over none."""
    if not lines or plot < NAMED_FROM:
        return 0
    has_prices = plot >= PRICES_FROM
    most = min(int(plot * NAMES_SHARE), MOST_WITH_PRICE if has_prices else MOST_NAMES)
    widest = widest_name(lines, most - 1, price * has_prices)
    return min(most, 2 + widest)  # and a blank on either side


def _legend_rows(scene: Scene) -> int:
    if not scene.legend:
        return 0
    if scene.cursor is not None:
        return 2 if scene.height >= CURSOR_LEGEND_FROM else 0
    return (scene.height >= LEGEND_FROM) + (scene.height >= SECOND_LEGEND_FROM)


def legend_rows(groups: Sequence[Sequence[Run]], width: int, count: int) -> list[list[Run]]:
    """Return the rows of a legend: each group in the first row that has room for it, whole or not at all."""
    rows: list[list[Sequence[Run]]] = [[] for _ in range(count)]
    free = [width] * count
    for group in groups:
        size = width_of(group)
        row = next((y for y in range(count) if size <= free[y]), None)
        if row is not None:
            rows[row].append(group)
            free[row] -= size + LEGEND_GAP
    return [fitted(row, width) for row in rows]


def fitted(groups: Sequence[Sequence[Run]], width: int) -> list[Run]:
    """Return the groups of a legend that have room whole, two columns apart."""
    row: list[Run] = []
    taken = 0
    for group in groups:
        size = sum(len(text) for text, _ in group)
        if taken + size > width:
            continue
        row += group
        taken += size
        gap = min(2, width - taken)
        row.append((" " * gap, ""))
        taken += gap
    row.append((" " * (width - taken), ""))
    return row
