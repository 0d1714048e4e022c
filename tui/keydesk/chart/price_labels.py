"""Labels of the price axis: the last price, own prices stacked beside it with their names, thin marks and round prices."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from keydesk.chart.canvas import FILLED, Run, width_of
from keydesk.chart.own_labels import OwnLabel, fewest_labels, kind_of, own_labels
from keydesk.chart.price_axis import Axis, PriceLine, PriceMark, Rank
from keydesk.chart.scale import EDGE_ROWS, Scale, decimals_of, grid_step, multiples

LEAST_NAME = 12  # columns that a name keeps beside a price: "3 stops from"
FULL = 2  # labels in more than one row of so many leave no room for round prices
STOP_WEIGHT = 100  # of labels that want one row, that of a stop has it
NO_SIDES: Mapping[str, float] = {}


class PriceLabels(Struct, frozen=True):
    """What the axis says in each row, the rows of the grid, the row of the last price, the step of the grid.

    `own` are the labels of own prices by row and `names` their words beside the axis, `marked` the words on the lines of
    marks, which may have room for the first of them only.
    """

    rows: Mapping[int, Run]
    grid: frozenset[int]
    last_row: int
    step: float
    own: Mapping[int, OwnLabel]
    names: Mapping[int, Sequence[Run]]
    marked: Mapping[int, Sequence[Run]]


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
    sides: Mapping[str, float] = NO_SIDES,
    names: int = 0,
) -> PriceLabels:
    """Return the labels of all rows, with names of at most so many columns beside them.

    Of an earlier picture, `row` is that of the last price and `step` keeps the grid. Distances are counted from the price
    of `sides` that triggers the line, else from the last.

    Last price and cursor keep their rows; own labels are stacked by price, never across the last price; round prices
    take the rows that are left while those are many. A mark has its price beside its name.
    """
    labels: dict[int, Run] = {}
    fixed = row_of_last(scale, last, lines, cursor) if row is None else row
    if cursor is not None:
        beside = _row_beside(fixed, scale.row(cursor), scale.rows, above=cursor >= last)
        labels[beside] = (axis.padded(axis.price(cursor)), FILLED + "cursor")
    labels[fixed] = last_label(axis, scale, last)
    placed: dict[int, OwnLabel] = {}
    free = [row for row in range(scale.rows) if row not in labels]
    halves = [[row for row in free if (row < fixed) == above] for above in (True, False)]
    for rows, own_of_side in zip(
        halves, own_labels(scale, last, lines, *map(len, halves)), strict=True
    ):
        placed |= _stacked(scale, own_of_side, rows, cursor)
    placed = _with_farther(scale, placed, halves, fixed, last)
    digits, named = _written(axis, scale, placed, last, sides, names=names)
    labels |= digits
    marked: dict[int, Sequence[Run]] = {}
    for mark in marks:
        if scale.holds(mark.price) and (y := scale.row(mark.price)) not in placed:
            text = f"{mark.text} {axis.price(mark.price)}"
            marked[y] = (*marked.get(y, ()), (text, "muted"))
    step = step or grid_step(scale, axis.pip, labels)
    rounds, decimals = multiples(scale, step), decimals_of(step, axis.pip)
    for price in rounds if FULL * len(labels) <= scale.rows else ():
        text = f"{price:.{decimals}f}".replace("-", "−")
        labels.setdefault(scale.row(price), (axis.padded(text), "muted"))
    grid = frozenset(scale.row(price) for price in rounds)
    return PriceLabels(labels, grid, fixed, step, placed, named, marked)


def row_of_last(
    scale: Scale, last: float, lines: Sequence[PriceLine], cursor: float | None = None
) -> int:
    """Return the row of the last price; it leaves rows for the labels on either side, and the nearest own price its own."""
    row = _row_with_edge(scale, last, lines)
    highest, lowest = _rows_for_last(scale, last, lines, cursor)
    if highest > lowest:
        return row
    for label in fewest_labels(lines, last):
        if label.line.rank != Rank.PLANNED and is_in_row(scale, label.line, row):
            row += 1 if label.line.price >= last else -1
            break
    return min(max(row, highest), lowest)


def _rows_for_last(
    scale: Scale, last: float, lines: Sequence[PriceLine], cursor: float | None
) -> tuple[int, int]:
    """Return the highest and the lowest row that leave rows for planned prices and each kind, else for one of a side."""
    labels = fewest_labels(lines, last)
    above = below = 0
    for kinds in (scale.rows, 1):
        above, below = (
            _rows_of_side(last, labels, cursor, kinds, above=side) for side in (True, False)
        )
        if above + below < scale.rows:
            break
    return above, scale.rows - 1 - below


def _rows_of_side(
    last: float, labels: Sequence[OwnLabel], cursor: float | None, kinds: int, *, above: bool
) -> int:
    """Return the rows that planned prices on one side need, with one for the cursor and some for the other kinds."""
    ranks = [label.line.rank for label in labels if (label.line.price >= last) == above]
    planned = ranks.count(Rank.PLANNED)
    has_cursor = bool(ranks) and cursor is not None and (cursor >= last) == above
    return planned + min(kinds, len(ranks) - planned) + has_cursor


def _row_with_edge(scale: Scale, last: float, lines: Sequence[PriceLine]) -> int:
    row = scale.row(last)
    if scale.holds(last) or scale.rows <= 2 * EDGE_ROWS:
        return row
    if last > scale.high:
        return min(EDGE_ROWS, sum(line.price >= last for line in lines))
    return scale.rows - 1 - min(EDGE_ROWS, sum(line.price < last for line in lines))


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

    @property
    def step(self) -> float:
        """The distance of the round prices; 0 before there are labels."""
        return self._made.step if self._made is not None else 0.0

    def forget(self) -> None:
        """Place the last price anew."""
        self._last_row = 0

    def labels(
        self,
        axis: Axis,
        scale: Scale,
        last: float,
        lines: Sequence[PriceLine],
        *,
        marks: Sequence[PriceMark],
        cursor: float | None,
        sides: Mapping[str, float],
        names: int,
        is_update: bool,
    ) -> PriceLabels:
        """Return the labels; in an update, computed anew only if more than digits and distances changed."""
        row = self._row_of_last(scale, last, lines, cursor)
        above = [line.price >= last for line in lines]
        key = (scale, row, lines, marks, cursor, above)
        made = self._made
        if made is not None and is_update and self._key == key and _are_beside(made, last):
            rows = dict(made.rows)
            rows[made.last_row] = last_label(axis, scale, last)
            for y, label in made.own.items():
                if not is_in_row(scale, label.line, y):
                    rows[y] = _own_run(axis, scale, label.line, last, sides, y=y)
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
            sides=sides,
            names=names,
        )
        return self._made

    def _row_of_last(
        self, scale: Scale, last: float, lines: Sequence[PriceLine], cursor: float | None
    ) -> int:
        """Return the row of the last price; it changes when the price is well inside another one."""
        highest, lowest = _rows_for_last(scale, last, lines, cursor)
        has_room = highest <= self._last_row <= lowest
        if not (has_room and scale.is_about(last, self._last_row)):
            self._last_row = row_of_last(scale, last, lines, cursor)
        return self._last_row


def _are_beside(labels: PriceLabels, last: float) -> bool:
    """Return whether each own label is on its side of the last price, which may have crossed an average."""
    return all(
        (label.line.price >= last) == (y < labels.last_row) for y, label in labels.own.items()
    )


def _stacked(
    scale: Scale, labels: Sequence[OwnLabel], rows: Sequence[int], cursor: float | None
) -> dict[int, OwnLabel]:
    """Return the labels of own prices on one side of the last price, by the row nearest to each.

    The label of a price that shares the cursor's row stands on its side of the cursor.
    """
    wanted = [_place_of(label.line.price, scale, rows, cursor) for label in labels]
    weights = [STOP_WEIGHT if label.line.role == "stop" else 1 for label in labels]
    places = spread(wanted, len(rows), weights)
    return {rows[place]: label for place, label in zip(places, labels, strict=True)}


def _with_farther(
    scale: Scale,
    placed: Mapping[int, OwnLabel],
    halves: Sequence[Sequence[int]],
    fixed: int,
    last: float,
) -> dict[int, OwnLabel]:
    """Return labels with those of farther prices whose row is free; the last label of a kind counts the rest.

    Nearer rows come first, in a row the stops. A kind goes on while each label of it is in the row of its price.
    """
    shown = {y: label.line for y, label in placed.items()}
    counted: dict[int, list[PriceLine]] = {y: [] for y in placed}
    ends: dict[object, int] = {}  # the row of the farthest label of a kind

    def order(item: tuple[int, PriceLine]) -> tuple[float, ...]:
        _, line = item
        rows = abs(scale.row(line.price) - fixed)
        return rows, line.role != "stop", line.price < last, abs(line.price - last)

    lines = [(y, line) for y, label in placed.items() for line in label.lines]
    for y, line in sorted(lines, key=order):
        kind, row, rows = (y, kind_of(line)), scale.row(line.price), halves[line.price < last]
        end = ends.get(kind, y)
        is_free = scale.holds(line.price) and row in rows and row not in shown
        is_alone = {each.price for each in counted[end]} == {shown[end].price}
        if (
            is_free
            and is_alone
            and 2 * len(shown) < scale.rows
            and is_in_row(scale, shown[end], end)
        ):
            ends[kind] = end = row
            shown[row], counted[row] = line, []
        counted[end].append(line)
    return {y: OwnLabel(line, tuple(counted[y])) for y, line in shown.items()}


def is_in_row(scale: Scale, line: PriceLine, y: int) -> bool:
    """Return whether a price is in sight in a row; a label in another row says its distance."""
    return scale.holds(line.price) and scale.row(line.price) == y


def _written(
    axis: Axis,
    scale: Scale,
    placed: Mapping[int, OwnLabel],
    last: float,
    sides: Mapping[str, float],
    *,
    names: int,
) -> tuple[dict[int, Run], dict[int, Sequence[Run]]]:
    """Return the digits and the names of labels by row."""
    digits: dict[int, Run] = {}
    words: dict[int, Sequence[Run]] = {}
    for y, label in placed.items():
        line = label.line
        digits[y] = _own_run(axis, scale, line, last, sides, y=y)
        more = ""
        if line.rank == Rank.PLANNED:
            more = "" if scale.holds(line.price) else " "  # before its arrow
        elif not is_in_row(scale, line, y):
            more = f" {axis.price(line.price)}"
            if names - len(more) < min(LEAST_NAME, width_of(label.name(names))):
                more = ""
        if names:
            words[y] = (*label.name(names - len(more)), (more, line.role))
    return digits, words


def _own_run(
    axis: Axis, scale: Scale, line: PriceLine, last: float, sides: Mapping[str, float], *, y: int
) -> Run:
    """Return the price, or the distance where the label is not in its row."""
    is_inside = scale.holds(line.price)
    if is_in_row(scale, line, y) or (line.rank == Rank.PLANNED and is_inside):
        return axis.padded(axis.price(line.price)), line.role
    now = sides.get(line.side, last)
    return axis.far(line, now, above=line.price >= (now if is_inside else scale.high)), line.role


def _place_of(price: float, scale: Scale, rows: Sequence[int], cursor: float | None) -> int:
    """Return the index of the free row that a label is to have."""
    row = scale.row(price)
    place = bisect_left(rows, row)
    is_beside = cursor is not None and price > cursor and row == scale.row(cursor)
    return max(0, place - 1) if is_beside and (place == len(rows) or rows[place] != row) else place


def spread(places: Sequence[int], room: int, weights: Sequence[int]) -> list[int]:
    """Return places for labels in order, one each, as near as possible to those wanted.

    Weighted least squares under the condition that places rise (pool adjacent violators). There are at least as many
    places as labels.
    """
    blocks: list[tuple[int, int, int]] = []  # weighted sum of (wanted - index), weight, how many
    for index, (place, weight) in enumerate(zip(places, weights, strict=True)):
        total, heavy, count = weight * (place - index), weight, 1
        while blocks and blocks[-1][0] * heavy >= total * blocks[-1][1]:
            before = blocks.pop()
            total, heavy, count = total + before[0], heavy + before[1], count + before[2]
        blocks.append((total, heavy, count))
    bases = [round(total / heavy) for total, heavy, count in blocks for _ in range(count)]
    return [max(0, min(room - len(bases), base)) + i for i, base in enumerate(bases)]
