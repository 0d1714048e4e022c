"""Labels of the price axis: the last price, own prices stacked beside it, thin marks and round prices."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from enum import IntEnum

from msgspec import Struct
from msgspec.structs import replace

from keydesk.chart.canvas import FILLED, Run
from keydesk.chart.scale import Scale, decimals_of, grid_step, multiples

FAR_PIPS = 1.0  # a far price's distance is counted anew when the last price moved this much
EDGE_LABELS = 2  # rows that far prices of one side take at most
NARROWEST_PLOT = 8  # columns: below that there is no price axis
LOWER, HIGHER = "╭", "╰"  # before a label that stands beside its line: where the line is


class Rank(IntEnum):
    """Which own prices keep their label where rows are few: the lowest ranks first, of one rank the nearest."""

    PLANNED = 0  # of the open form; never hidden
    WORKING = 1  # orders at the broker
    OTHER = 2
    LEVEL = 3  # the trader's own price levels


class PriceLine(Struct, frozen=True):
    """An own or planned price across the chart: entry, stop, target, trail, resting order, alert, price level.

    `text` stands on the line, `role` is a colour of the theme. The scale includes a price that is `in_scale` unless that
    would squeeze the candles.
    """

    price: float
    text: str
    role: str
    rank: Rank = Rank.OTHER
    in_scale: bool = False
    since_ns: int | None = None  # a ray from this time on


class PriceMark(Struct, frozen=True):
    """A price of the market with a thin line: day high, day low, previous close, pivot."""

    price: float
    text: str


class Axis(Struct, frozen=True):
    """Columns and decimals of the price axis."""

    width: int  # with one blank column at its left; 0: there is none
    decimals: int
    pip: float

    def price(self, price: float) -> str:
        """Return a price with all its decimals."""
        return f"{price:.{self.decimals}f}".replace("-", "−")

    def far(self, line: PriceLine, last: float, *, above: bool) -> str:
        """Return the text of a price beyond the edge: an arrow and its distance in whole pips."""
        pips = f"{round(abs(line.price - last) / self.pip)}p"
        return self.padded(f"{'↑' if above else '↓'}{pips:>{self.width_of_price(last) - 1}}")

    def counted(self, hidden: int) -> str:
        """Return the text that counts prices without a row."""
        text = f"+{hidden} more"
        return text.rjust(self.width) if len(text) <= self.width else self.padded(f"+{hidden}")

    def width_of_price(self, price: float) -> int:
        """Return the characters of a price."""
        return len(self.price(price))

    def padded(self, text: str) -> str:
        """Return text as wide as the axis."""
        return f" {text}".ljust(self.width)[: self.width]


def axis_for(
    width: int,
    highest: float,
    lines: Sequence[PriceLine],
    *,
    decimals: int,
    pip: float,
) -> Axis:
    """Return the axis of a chart this wide; too narrow a chart has none."""
    size = 1 + max(
        len(f"{each:.{decimals}f}") for each in (highest, *(line.price for line in lines))
    )
    return Axis(size if width - size >= NARROWEST_PLOT else 0, decimals, pip)


class PriceLabels(Struct, frozen=True):
    """What the axis says in each row, the rows of the grid, the row of the last price, the step of the grid.

    `captions` are the words on the lines by row: planned ones first, then those of the highest price.
    """

    rows: Mapping[int, Run]
    grid: frozenset[int]
    last_row: int
    step: float
    captions: Mapping[int, Sequence[Run]]


def price_labels(
    axis: Axis,
    scale: Scale,
    last: float,
    lines: Sequence[PriceLine],
    *,
    row: int | None = None,
    marks: Sequence[PriceMark] = (),
    cursor: float | None = None,
    step: float | None = None,
    measured_from: float | None = None,
) -> PriceLabels:
    """Return the labels of all rows.

    Of an earlier picture, `row` is that of the last price, `step` keeps the grid, and `measured_from` is the price that
    distances are counted from.

    Last price and cursor keep their rows; own prices are stacked by price, never across the last price; marks and
    round prices take the rows that are left.
    """
    labels: dict[int, Run] = {}
    fixed = row_of_last(scale, last, lines, cursor) if row is None else row
    if cursor is not None:
        beside = _row_beside(fixed, scale.row(cursor), scale.rows, above=cursor >= last)
        labels[beside] = (axis.padded(axis.price(cursor)), FILLED + "cursor")
    labels[fixed] = last_label(axis, scale, last)
    beyond: dict[int, PriceLine] = {}  # rows of prices that have no line
    free = [row for row in range(scale.rows) if row not in labels]
    for above in (True, False):
        rows = [row for row in free if (row < fixed) == above]
        group = [line for line in lines if (line.price >= last) == above]
        origin = last if measured_from is None else measured_from
        stacked, far = _stacked(axis, scale, origin, group, rows, cursor=cursor)
        labels |= stacked
        beyond |= far
    captions = _captions(scale, lines, beyond)
    for mark in marks:
        y = scale.row(mark.price)
        if scale.holds(mark.price) and y not in beyond:
            at = axis.price(mark.price)
            text = f"{mark.text} {at}" if y in labels else mark.text  # never beside another price
            labels.setdefault(y, (axis.padded(at), "muted"))
            captions.setdefault(y, []).append((text, "muted"))
    step = step or grid_step(scale, axis.pip, labels)
    rounds, decimals = multiples(scale, step), decimals_of(step, axis.pip)
    for price in rounds:
        text = f"{price:.{decimals}f}".replace("-", "−")
        labels.setdefault(scale.row(price), (axis.padded(text), "muted"))
    grid = frozenset(scale.row(price) for price in rounds)
    return PriceLabels(labels, grid, fixed, step, captions)


def _captions(
    scale: Scale, lines: Sequence[PriceLine], beyond: Mapping[int, PriceLine]
) -> dict[int, list[Run]]:
    """Return the words of own prices by row, each once: planned ones, those beyond the edge, then the highest."""
    rows: dict[int, list[PriceLine]] = {y: [line] for y, line in beyond.items()}
    for line in sorted(lines, key=lambda each: -each.price):
        if scale.holds(line.price):
            rows.setdefault(scale.row(line.price), []).append(line)
    return {
        y: list(
            dict.fromkeys(
                (line.text, line.role)
                for line in sorted(held, key=lambda each: each.rank != Rank.PLANNED)
            )
        )
        for y, held in rows.items()
    }


def row_of_last(
    scale: Scale, last: float, lines: Sequence[PriceLine], cursor: float | None = None
) -> int:
    """Return the row of the last price; it leaves rows for planned prices, and beyond the edge for others farther out."""
    row = _row_with_edge(scale, last, lines)
    above, below = (_rows_of_plan(last, lines, cursor, above=side) for side in (True, False))
    if above + below >= scale.rows:
        return row
    return min(max(row, above), scale.rows - 1 - below)


def _rows_of_plan(
    last: float, lines: Sequence[PriceLine], cursor: float | None, *, above: bool
) -> int:
    """Return the rows that planned prices on one side need, with one for the cursor and one for the other lines.

    Without planned ones, the other lines need one where they are counted.
    """
    side = [line.rank for line in lines if (line.price >= last) == above]
    planned = side.count(Rank.PLANNED)
    has_cursor = cursor is not None and (cursor >= last) == above
    if not planned:
        return int(bool(side))
    return planned + (planned < len(side)) + has_cursor


def _row_with_edge(scale: Scale, last: float, lines: Sequence[PriceLine]) -> int:
    row = scale.row(last)
    if scale.holds(last) or scale.rows <= 2 * EDGE_LABELS:
        return row
    if last > scale.high:
        return min(EDGE_LABELS, sum(line.price >= last for line in lines))
    return scale.rows - 1 - min(EDGE_LABELS, sum(line.price < last for line in lines))


def _row_beside(taken: int, row: int, rows: int, *, above: bool) -> int:
    """Return the row; where it is taken or beyond the taken one, the next on its side, or on the other at the edge."""
    if row < taken if above else row > taken:
        return row
    beside = taken - 1 if above else taken + 1
    return beside if 0 <= beside < rows else 2 * taken - beside


def last_label(axis: Axis, scale: Scale, last: float) -> Run:
    """Return the label of the last price, with an arrow where it is beyond the edge."""
    text = axis.padded(axis.price(last))
    if not scale.holds(last) and text:
        text = ("↑" if last > scale.high else "↓") + text[1:]
    return text, FILLED + "last"


class AxisLabels:
    """The labels of an axis, kept from picture to picture: where prices move little, they stay where they are."""

    def __init__(self) -> None:
        self._made: PriceLabels | None = None
        self._key: object = None
        self._last_row = 0  # of the last price's label
        self._measured_from = (
            0.0  # the last price that the distances of far prices are counted from
        )

    @property
    def step(self) -> float:
        """The distance of the round prices; 0 before there are labels."""
        return self._made.step if self._made is not None else 0.0

    def forget(self) -> None:
        """Place the last price and measure far prices anew."""
        self._last_row, self._measured_from = 0, 0.0

    def labels(
        self,
        axis: Axis,
        scale: Scale,
        last: float,
        lines: Sequence[PriceLine],
        *,
        marks: Sequence[PriceMark],
        cursor: float | None,
        pip: float,
        is_update: bool,
    ) -> PriceLabels:
        """Return the labels; in an update, computed anew only if more than the last price's digits changed."""
        if abs(last - self._measured_from) >= FAR_PIPS * pip:
            self._measured_from = last
        row = self._row_of_last(scale, last, lines, cursor)
        sides = [line.price >= last for line in lines]
        key = (scale, row, lines, marks, cursor, sides, self._measured_from)
        made = self._made
        if made is not None and is_update and self._key == key:
            rows = dict(made.rows)
            rows[made.last_row] = last_label(axis, scale, last)
            return replace(made, rows=rows)
        self._key = key
        self._made = price_labels(
            axis,
            scale,
            last,
            lines,
            row=row,
            marks=marks,
            cursor=cursor,
            step=made.step if made is not None and is_update else None,
            measured_from=self._measured_from,
        )
        return self._made

    def _row_of_last(
        self, scale: Scale, last: float, lines: Sequence[PriceLine], cursor: float | None
    ) -> int:
        """Return the row of the last price; it changes when the price is well inside another one."""
        labels = len(lines) + (cursor is not None)
        has_room = labels <= self._last_row < scale.rows - labels
        if not (has_room and scale.is_about(last, self._last_row)):
            self._last_row = row_of_last(scale, last, lines, cursor)
        return self._last_row


def _stacked(
    axis: Axis,
    scale: Scale,
    last: float,
    lines: Sequence[PriceLine],
    rows: Sequence[int],
    *,
    cursor: float | None,
) -> tuple[dict[int, Run], dict[int, PriceLine]]:
    """Return the labels of own prices on one side of the last price, each near its row, in the order of price.

    The label of a price that shares the cursor's row stands on its side of the cursor. Then the prices beyond the edge,
    by the row of their label.
    """
    if not lines or not rows:
        return {}, {}
    by_distance = sorted(lines, key=lambda line: abs(line.price - last))
    near = [line for line in by_distance if scale.holds(line.price)]
    far = [line for line in by_distance if not scale.holds(line.price)]
    shown, hidden = _limited(near, far, len(rows))
    texts = [(line.price, _own_text(axis, scale, line, last), line.role, line) for line in shown]
    if hidden and len(shown) < len(rows):
        edge = max(hidden, key=lambda line: abs(line.price - last))
        texts.append((edge.price, axis.counted(len(hidden)), "muted", edge))
    texts.sort(key=lambda each: -each[0])
    places = spread([_place_of(price, scale, rows, cursor) for price, *_ in texts], len(rows))
    placed = [(rows[place], *each) for place, each in zip(places, texts, strict=True)]
    return (
        {row: (_led(text, row, price, scale), role) for row, price, text, role, _ in placed},
        {
            row: line
            for row, price, _, _, line in placed
            if line in shown and not scale.holds(price)
        },
    )


def _own_text(axis: Axis, scale: Scale, line: PriceLine, last: float) -> str:
    if scale.holds(line.price):
        return axis.padded(axis.price(line.price))
    return axis.far(line, last, above=line.price > scale.high)


def _place_of(price: float, scale: Scale, rows: Sequence[int], cursor: float | None) -> int:
    """Return the index of the free row that a label is to have."""
    row = scale.row(price)
    place = bisect_left(rows, row)
    is_beside = cursor is not None and price > cursor and row == scale.row(cursor)
    return max(0, place - 1) if is_beside and (place == len(rows) or rows[place] != row) else place


def _led(text: str, row: int, price: float, scale: Scale) -> str:
    """Return a label with a mark at its start if its line is in another row: several may share one line."""
    line = scale.row(price)
    if row == line or not text or not scale.holds(price):
        return text
    return (LOWER if row < line else HIGHER) + text[1:]


def _limited(
    near: list[PriceLine], far: list[PriceLine], rows: int
) -> tuple[list[PriceLine], list[PriceLine]]:
    """Return the lines that have a row of their own, and those that one row counts together.

    Of the far ones, two rows hold those that are not planned.
    """
    near, far = sorted(near, key=_rank), sorted(far, key=_rank)
    planned = [sum(line.rank == Rank.PLANNED for line in lines) for lines in (near, far)]
    kept = len(far) if len(far) <= EDGE_LABELS else max(planned[1], EDGE_LABELS - 1)
    shown, hidden = sorted([*near, *far[:kept]], key=_rank), far[kept:]
    room = rows - bool(hidden)
    if len(shown) > room:
        room = min(rows, max(rows - 1, sum(planned)))
        shown, hidden = shown[:room], [*shown[room:], *hidden]
    return shown, hidden


def _rank(line: PriceLine) -> Rank:
    return line.rank


def spread(places: Sequence[int], room: int) -> list[int]:
    """Return places for labels in order, one each, as near as possible to those wanted.

    Least squares under the condition that places rise (pool adjacent violators). There are at least as many places
    as labels.
    """
    blocks: list[tuple[int, int]] = []  # sum of (wanted - index), how many
    for index, place in enumerate(places):
        total, count = place - index, 1
        while blocks and blocks[-1][0] * count >= total * blocks[-1][1]:
            total, count = total + blocks[-1][0], count + blocks[-1][1]
            blocks.pop()
        blocks.append((total, count))
    bases = [round(total / count) for total, count in blocks for _ in range(count)]
    return [max(0, min(room - len(bases), base)) + i for i, base in enumerate(bases)]
