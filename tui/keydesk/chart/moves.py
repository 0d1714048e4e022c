"""What a price moves on a chart, so that only the rows that it touches are painted again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from keydesk.chart.lines import stroke_levels
from keydesk.chart.scale import EIGHTHS, Scale
from keydesk.chart.scene import Scene, SubPane
from keydesk.store.state import Candle


class End(NamedTuple):
    """Something that a price moves: its value, its level, and the level of what it is joined with."""

    value: object  # what is seen of it: equal values look the same
    level: int  # eighths of rows above the lower edge
    beside: int


def ends_of_candles(scene: Scene, shown: Sequence[Candle], scale: Scale) -> list[End]:
    """Return what a price moves among the candles: the newest one, marks, and the newest end of each line."""
    at, end = scale.at, scene.end
    newest, before = shown[-1], shown[-2:-1]
    opened, close = at(newest.open), at(newest.close)
    found = [
        End(newest.close >= newest.open, at(newest.high), at(newest.low)),  # its colour
        *(End(level, level, opened) for level in (at(newest.high), at(newest.low), opened)),
        End(
            newest.close if scene.look.style == "line" else close,
            close,
            at(before[0].close) if before else close,
        ),
    ]
    found += [End(mark.price, at(mark.price), at(mark.price)) for mark in scene.marks]
    found += [_end_of_line(scale, line.values, end, scene) for line in scene.overlays]
    return found


def ends_of_sub_pane(scene: Scene, pane: SubPane, scale: Scale) -> list[End]:
    """Return what a price moves in a sub-pane."""
    end = scene.end
    found = [_end_of_line(scale, values, end, scene) for _, values in pane.lines]
    if pane.bars:
        newest = pane.bars[end - 1]
        found.append(End(newest, _level(scale.at, newest), scale.at(0.0)))
    return found


def _level(at: Callable[[float], int], value: float) -> int:
    return at(value) if value == value else 0  # noqa: PLR0124 - NaN


def _end_of_line(scale: Scale, values: Sequence[float], end: int, scene: Scene) -> End:
    """Return the end of a line between the two newest candles; its value is what is seen of it."""
    at, newest = scale.at, values[end - 1]
    before = values[end - 2] if end > 1 else newest
    if newest != newest or before != before:  # noqa: PLR0124 - NaN
        return End(None, _level(at, newest), _level(at, before))
    if scene.braille:
        return End(newest, at(newest), at(before))
    seen = stroke_levels(scale, before, newest, scene.look.pitch)
    return End(seen, at(newest), at(before))


def moved_rows(before: Sequence[End], now: Sequence[End], rows: int) -> set[int]:
    """Return the rows that what moved was in, is in, or is beside."""
    if len(before) != len(now):
        return set(range(rows))
    found: set[int] = set()
    for old, new in zip(before, now, strict=True):
        if old.value != new.value:
            low, high = min(old.level, *new[1:]), max(old.level, *new[1:])
            top, bottom = rows - 1 - high // EIGHTHS, rows - 1 - low // EIGHTHS
            found.update(range(max(0, top - 1), min(rows, bottom + 2)))
    return found
