"""Pictures of statistics by plotext, as rows of text and roles: curves, histogram, scatter.

plotext has one figure for the whole program, so pictures are drawn one at a time, in threads: one takes 10 to 40 ms. Its colours
only mark what belongs together; roles of the theme replace them. Without colours series differ by their marks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from threading import Lock
from typing import Any

from keydesk.chart.canvas import Run

SGR = re.compile(r"\x1b\[([0-9;]*)m")
MARKS = {"curve": "hd", "fill": "hd", "bar": "sd"}  # quarters of cells; whole cells
ASCII_MARKS = {"curve": "*", "fill": "#", "bar": "#"}
AXES = "muted"
POINTS_A_COLUMN = 4
LEAST_TICKS = 2
_one_at_a_time = Lock()

Point = tuple[float, float]
Tick = tuple[float, str]
Rows = list[list[Run]]


@dataclass(frozen=True, slots=True)
class Series:
    """Points of one role."""

    points: Sequence[Point]
    role: str
    mark: str  # of MARKS, or a character
    filled: bool = False  # down or up to zero


@dataclass(frozen=True, slots=True)
class Axes:
    """What stands beside the points; without ticks, the axis has none."""

    x_ticks: Sequence[Tick] = ()
    y_ticks: Sequence[Tick] = ()
    x_name: str = ""
    y_name: str = ""
    zero: bool = False  # a line at y 0
    x_range: tuple[float, float] | None = None
    y_range: tuple[float, float] | None = None


def plot(
    series: Sequence[Series], axes: Axes, size: tuple[int, int], *, ascii_only: bool = False
) -> Rows:
    """Return a picture of lines or scattered points; a series with a mark of one character is scattered."""
    import plotext  # noqa: PLC0415 - it takes 150 ms, and few look at pictures

    marks = ASCII_MARKS if ascii_only else MARKS

    def paint(figure: Any) -> None:  # noqa: ANN401 - plotext has no types
        for number, each in enumerate(series, 1):
            xs, ys = (list(values) for values in zip(*each.points, strict=True))
            mark = marks.get(each.mark, each.mark)
            if each.mark in MARKS:
                figure.plot(xs, ys, marker=mark, color=number, fillx=each.filled)
            else:
                figure.scatter(xs, ys, marker=mark, color=number)
        if axes.zero:
            figure.hline(0, len(series) + 1)
        _dress(figure, axes)

    roles = {number: each.role for number, each in enumerate(series, 1)}
    return _drawn(plotext, size, {**roles, len(series) + 1: "grid"}, paint)


def histogram(
    bars: Sequence[tuple[float, int, str]],
    axes: Axes,
    size: tuple[int, int],
    *,
    ascii_only: bool = False,
) -> Rows:
    """Return vertical bars at their places (place, height, role)."""
    import plotext  # noqa: PLC0415 - see above

    roles = list(dict.fromkeys(role for _, _, role in bars))
    places = [place for place, _, _ in bars]
    step = min((b - a for a, b in pairwise(places)), default=1.0)
    mark = (ASCII_MARKS if ascii_only else MARKS)["bar"]

    def paint(figure: Any) -> None:  # noqa: ANN401 - see above
        for number, role in enumerate(roles, 1):
            own = [(place, height) for place, height, its in bars if its == role]
            xs, heights = (list(values) for values in zip(*own, strict=True))
            figure.bar(xs, heights, marker=mark, color=number, width=0.8 * step)
        _dress(figure, axes)

    return _drawn(plotext, size, dict(enumerate(roles, 1)), paint)


def _dress(figure: Any, axes: Axes) -> None:  # noqa: ANN401 - see above
    figure.xaxes(bool(axes.x_ticks), False)
    figure.yaxes(True, False)
    for name, ticks in (("xticks", axes.x_ticks), ("yticks", axes.y_ticks)):
        getattr(figure, name)([at for at, _ in ticks], [text for _, text in ticks])
    if axes.x_range is not None:
        figure.xlim(*axes.x_range)
    if axes.y_range is not None:
        figure.ylim(*axes.y_range)
    if axes.x_name:
        figure.xlabel(axes.x_name)
    if axes.y_name:
        figure.ylabel(axes.y_name)


def _drawn(
    figure: Any,  # noqa: ANN401 - see above
    size: tuple[int, int],
    roles: dict[int, str],
    paint: Callable[[Any], None],
) -> Rows:
    with _one_at_a_time:
        figure.clear_figure()
        figure.theme("clear")
        figure.limit_size(False, False)
        figure.plot_size(*size)
        paint(figure)
        text = str(figure.build())
        figure.clear_figure()  # it would keep the points
    return [_runs(line, roles, size[0]) for line in text.split("\n")[: size[1]]]


def _runs(line: str, roles: dict[int, str], width: int) -> list[Run]:
    """Return a line of plotext by roles: what it coloured by the number of its series, the rest as axes."""
    cells: list[tuple[str, str]] = []
    role = AXES
    for place, part in enumerate(SGR.split(line)):
        if place % 2:
            number = part.rpartition(";")[2]
            role = roles.get(int(number), AXES) if part.startswith("38;5;") else AXES
        else:
            cells += [(letter, role) for letter in part]
    return [
        ("".join(letter for letter, _ in run), own)
        for own, run in groupby(cells[:width], key=lambda cell: cell[1])
    ]


def thinned(points: Sequence[Point], columns: int) -> list[Point]:
    """Return as many points as the columns can show: of each stretch the lowest and the highest, and the last of all."""
    size = -(-len(points) // max(1, columns * POINTS_A_COLUMN // 2))
    if size <= 1:
        return list(points)
    kept = []
    for start in range(0, len(points), size):
        part = points[start : start + size]
        ends = {min(part, key=lambda p: p[1]), max(part, key=lambda p: p[1])}
        kept += sorted(ends)
    return kept if kept[-1] == points[-1] else [*kept, points[-1]]


def round_ticks(low: float, high: float, most: int) -> list[float]:
    """Return round values of a range, at most so many: steps of 1, 2 or 5."""
    if high <= low:
        return [low]
    power = 1e-6
    while True:
        for factor in (1, 2, 5):
            step = power * factor
            first, last = -(-low // step), high // step
            if last - first + 1 <= max(LEAST_TICKS, most):
                return [number * step for number in range(int(first), int(last) + 1)] or [low]
        power *= 10
