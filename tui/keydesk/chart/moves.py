"""The parts of a chart that a new price moves, so that only the rows that they touch are painted again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from keydesk.chart.glyphs import body_look, dense_levels, wick_end
from keydesk.chart.lines import DOT
from keydesk.chart.scale import EIGHTHS, Scale
from keydesk.chart.scene import Scene, SubPane
from keydesk.store.state import Candle


class MovedPart(NamedTuple):
    """A part of a chart that a price moves, such as the upper end of a wick: what is drawn, and between which levels."""

    value: object  # parts with equal values look the same
    level: int  # eighths of rows above the lower edge
    other_level: int  # the level of the other end, such as the body that a wick ends at


def moved_parts_of_candles(
    scene: Scene, shown: Sequence[Candle], scale: Scale, held: Sequence[float]
) -> list[MovedPart]:
    """Return the parts that a price moves among the candles: the newest one, marks, and the newest end of each line.

    `held` are the newest values of the lines as they are drawn.
    """
    at = scale.at
    newest, before = shown[-1], shown[-2:-1]
    opened, close = at(newest.open), at(newest.close)
    low, high = at(newest.low), at(newest.high)
    parts = [MovedPart(newest.close >= newest.open, high, low)]  # its colour
    if scene.look.per_column > 1:
        levels = dense_levels(shown, len(shown) - 1, scale, scene.look)
        column = shown[-scene.look.per_column :]  # its colour may change with the newest close
        low, high = at(min(each.low for each in column)), at(max(each.high for each in column))
        parts = [MovedPart(newest.close >= column[0].open, high, low)]
        parts.append(MovedPart([level // DOT for level in levels], *levels))
    elif scene.look.style == "line":
        parts.append(MovedPart(newest.close, close, at(before[0].close) if before else close))
    else:
        parts += (
            MovedPart(wick_end(high), high, opened),
            MovedPart(wick_end(low), low, opened),
            MovedPart(opened, opened, opened),
            MovedPart(body_look(newest, scale, scene.look), close, opened),
        )
    parts += [
        _end_of_line(at, line.values, value, scene.end)
        for line, value in zip(scene.overlays, held, strict=True)
    ]
    return parts


def moved_parts_of_sub_pane(
    scene: Scene, pane: SubPane, scale: Scale, held: Sequence[float]
) -> list[MovedPart]:
    """Return the parts that a price moves in a sub-pane."""
    end = scene.end
    parts = [
        _end_of_line(scale.at, values, value, end)
        for (_, values), value in zip(pane.lines, held, strict=True)
    ]
    if pane.bars:
        newest = pane.bars[end - 1]
        level = _level(scale.at, newest)
        parts.append(MovedPart((newest >= 0, wick_end(level)), level, scale.at(0.0)))
    return parts


def held_values(
    lines: Iterable[Sequence[float]], end: int, scale: Scale, before: Sequence[float] = ()
) -> list[float]:
    """Return the newest values of lines as they are drawn.

    A value is kept until it is a third of a row away, the height of a stroke, so that small changes of the price redraw nothing.
    """
    newest = [values[end - 1] for values in lines]
    if len(before) != len(newest):
        return newest
    least = EIGHTHS / 3 / scale.factor if scale.factor else 0.0
    return [
        old if abs(value - old) < least else value  # a NaN is never near
        for value, old in zip(newest, before, strict=True)
    ]


def _level(at: Callable[[float], int], value: float) -> int:
    return at(value) if value == value else 0  # noqa: PLR0124 - NaN


def _end_of_line(
    at: Callable[[float], int], values: Sequence[float], held: float, end: int
) -> MovedPart:
    """Return the end of a line, drawn at `held`, between the two newest candles."""
    before = values[end - 2] if end > 1 else held
    value = None if held != held else held  # noqa: PLR0124 - NaN
    return MovedPart(value, _level(at, held), _level(at, before))


def moved_rows(before: Sequence[MovedPart], now: Sequence[MovedPart], rows: int) -> set[int]:
    """Return the rows in which the moved parts were or are, and the rows next to them."""
    if len(before) != len(now):
        return set(range(rows))
    found: set[int] = set()
    for old, new in zip(before, now, strict=True):
        if old.value != new.value:
            low, high = min(old.level, *new[1:]), max(old.level, *new[1:])
            top, bottom = rows - 1 - high // EIGHTHS, rows - 1 - low // EIGHTHS
            found.update(range(max(0, top - 1), min(rows, bottom + 2)))
    return found
