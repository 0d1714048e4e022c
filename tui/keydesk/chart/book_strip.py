"""Books of client orders and positions beside a chart, on the rows of its scale.

A book has an axis of its own: short left of it, long right of it. A row shows the share that lies between its prices;
a bucket that spans several rows is spread over them. Rows farther than the snapshot reaches have no axis. Clusters are
named beside the bars, and a mark stands at each own price.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from msgspec import Struct

from keydesk.chart.canvas import Run
from keydesk.chart.price_axis import PriceLine
from keydesk.chart.scale import Scale

OWN_MARK = "●"
AXIS = "│"
BAR, LEFT_HALF, RIGHT_HALF = "━", "╸", "╺"  # thin: a filled bar would distract from the candles
MARK = 2  # columns of the mark of an own price
LABEL = 22  # columns of words at most, and a quarter of the pane
LEAST_LABEL = 14
HALVES = (12, 8, 5)  # cells of the longest bar beside words
NARROW_HALVES = (9, 5)  # likewise where there is no room for words
LEAST_CHART = 42  # columns left to candles and price axis beside a strip with words
LEAST_NARROW = 32
LEAST_SHARE = 0.48  # of the pane that candles and price axis keep where shorter bars leave it
NEAR_ROWS = 7  # rows in which a cluster may be named
EDGE_LABELS = 3  # clusters beyond an edge that are named there
LEAST_HEIGHT = 12  # rows of a chart with a strip
ROWS_A_NOTE = 4  # rows for each note beside the bars


class BookColumn(Struct, frozen=True):
    """One book: its words, and the shares of short and long from a price up to the price and the width."""

    sides: tuple[str, str]  # above the bars: short, long
    feet: tuple[str, ...]  # below them: the longest that has room is shown
    buckets: Sequence[tuple[float, float, float]]  # price, short, long
    width: float  # of a bucket, in price
    reach: tuple[float, float]  # lowest and highest price that the snapshot tells of
    is_past: bool = False  # there is a newer snapshot


class StripScene(Struct, frozen=True):
    """Everything that a strip is drawn from."""

    head: str
    books: tuple[BookColumn, ...]
    labels: tuple[tuple[float, str, str], ...] = ()  # price, words, role; the strongest first
    own: tuple[PriceLine, ...] = ()
    notes: tuple[tuple[str, str], ...] = ()  # words and role, beside the uppermost bars


class StripShape(Struct, frozen=True):
    """Columns of a strip."""

    half: int  # cells of the longest bar
    books: int
    label: int  # columns of words at the right; 0: none

    @property
    def bars(self) -> int:
        """The columns of the own mark and of the bars, each book with a blank behind it."""
        return MARK + self.books * (2 * self.half + 2)

    @property
    def width(self) -> int:
        """The columns of the strip."""
        return self.bars + self.label


def shape_for(width: int, height: int, books: int) -> StripShape | None:
    """Return the columns of a strip in a pane of this size; None where candles would have too few.

    All books are shown where they have room; bars are as long as they can be while the candles keep their share.
    """
    if not books or height < LEAST_HEIGHT:
        return None
    wider, label = max(LEAST_CHART, round(LEAST_SHARE * width)), min(LABEL, width // 4)
    shapes = [
        (StripShape(half, count, label), least)
        for count in range(books, 0, -1)
        for least in (wider, LEAST_CHART)
        for half in HALVES
        if label >= LEAST_LABEL and (count == 1 or half != HALVES[-1])
    ]
    shapes += [(StripShape(half, 1, 0), LEAST_NARROW) for half in NARROW_HALVES]
    return next((shape for shape, least in shapes if shape.width + least <= width), None)


def strip_rows(
    scene: StripScene, shape: StripShape, scale: Scale, top: int, height: int
) -> list[list[Run]]:
    """Return the rows of a strip beside a picture of this height whose candles begin at row `top`."""
    books = scene.books[: shape.books]
    rows = _head(scene, books, shape)[:height]
    first = max(0, len(rows) - top)  # the first row of bars
    bars = [_bars(book, scale, shape.half) for book in books]
    own = {scale.row(each.price): each.role for each in scene.own if scale.holds(each.price)}
    labels = _labels(scene, scale, first, shape.label) if shape.label else {}
    for y in range(len(rows), height):
        row = y - top
        if y == height - 1:
            rows.append(_foot(books, shape))
        elif 0 <= row < scale.rows:
            rows.append(_row([each[row] for each in bars], own.get(row), labels.get(row), shape))
        else:
            rows.append([(" " * shape.width, "")])
    return rows


def _head(scene: StripScene, books: Sequence[BookColumn], shape: StripShape) -> list[list[Run]]:
    """Return the rows above the bars."""
    rows = [[_fitted(f" {line}", shape.width, "muted")] for line in _broken(scene.head, shape)]
    sides: list[Run] = [(" " * MARK, "")]
    for book in books:
        short, long = (each[: shape.half] for each in book.sides)
        sides += [
            (f"{short:>{shape.half}}", "sell"),
            (AXIS, "grid"),
            (f"{long:<{shape.half}} ", "buy"),
        ]
    if shape.label:
        text, role = scene.notes[0] if scene.notes else ("", "")
        sides.append(_fitted(text, shape.label, role))
    return [*rows, sides]


def _foot(books: Sequence[BookColumn], shape: StripShape) -> list[Run]:
    feet = ["  ".join(each) for each in zip(*(book.feet for book in books), strict=False)]
    text = next((each for each in feet if len(each) < shape.width), "")
    is_past = any(book.is_past for book in books)
    return [_fitted(f" {text}", shape.width, "warn" if is_past else "muted")]


def _broken(line: str, shape: StripShape) -> list[str]:
    """Return a line broken at blanks."""
    made = [""]
    for word in line.split():
        longer = f"{made[-1]} {word}".strip()
        if len(longer) < shape.width:
            made[-1] = longer
        else:
            made.append(word)
    return made


def _bars(book: BookColumn, scale: Scale, half: int) -> list[list[Run]]:
    """Return the bars of a book for each row of the scale."""
    shorts, longs = _shares_by_row(book, scale)
    step = (scale.high - scale.low) / scale.rows
    largest = max(*shorts, *longs, _share_of_largest(book, step)) or 1.0
    rows: list[list[Run]] = []
    for row, (short, long) in enumerate(zip(shorts, longs, strict=True)):
        low = scale.high - (row + 1) * step
        in_reach = book.reach[0] < low + step and low < book.reach[1]
        left, right = (min(2 * half, round(2 * half * each / largest)) for each in (short, long))
        rows.append(
            [
                (f"{RIGHT_HALF * (left % 2)}{BAR * (left // 2)}".rjust(half), "sell"),
                (AXIS if in_reach else " ", "grid"),
                (f"{BAR * (right // 2)}{LEFT_HALF * (right % 2)}".ljust(half), "buy"),
            ]
        )
    return rows


def _share_of_largest(book: BookColumn, step: float) -> float:
    """Return what a row of the largest bucket would show: the bars in sight are drawn against it."""
    largest = max((max(short, long) for _, short, long in book.buckets), default=0.0)
    return largest * min(1.0, step / book.width) if book.width > 0 else largest


def _shares_by_row(book: BookColumn, scale: Scale) -> tuple[list[float], list[float]]:
    """Return what lies in each row, short and long, the uppermost row first."""
    shorts, longs = [0.0] * scale.rows, [0.0] * scale.rows
    step = (scale.high - scale.low) / scale.rows
    if step <= 0:
        return shorts, longs
    for price, short, long in book.buckets:
        low, high = max(price, scale.low), min(price + book.width, scale.high)
        if high <= low:
            continue
        first, last = scale.row(high), scale.row(low)
        for row in range(first, last + 1):
            upper = scale.high - row * step
            overlap = min(high, upper) - max(low, upper - step)
            if overlap > 0:
                part = overlap / book.width
                shorts[row] += short * part
                longs[row] += long * part
    return shorts, longs


def _labels(scene: StripScene, scale: Scale, first: int, width: int) -> dict[int, Run]:
    """Return the words beside the bars by row: notes, then clusters.

    Where a row is taken, the weaker cluster stands in the next one that is free. Those beyond an edge stand there
    with an arrow, the nearest first.
    """
    notes = [note for note in scene.notes[1:] if len(note[0]) <= width]
    notes = notes[: max(0, scale.rows // ROWS_A_NOTE - 1)]
    made: dict[int, Run] = dict(enumerate(notes, first))
    rows = range(first, scale.rows)
    fitting = [label for label in scene.labels if len(label[1]) <= width - 2]
    for price, text, role in fitting:
        if scale.holds(price):
            row = scale.row(price)
            near = sorted(rows, key=partial(_apart, row))[:NEAR_ROWS]
            _place(made, (text, role), [y for y in near if abs(y - row) <= NEAR_ROWS // 2])
    above = sorted(label for label in fitting if label[0] > scale.high)
    below = sorted((label for label in fitting if label[0] < scale.low), reverse=True)
    upper, lower = rows[: len(rows) // 2], rows[len(rows) // 2 :]
    for _, text, role in above[:EDGE_LABELS]:
        _place(made, (f"↑ {text}", role), upper)
    for _, text, role in reversed(below[:EDGE_LABELS]):
        _place(made, (f"↓ {text}", role), lower[::-1])
    return made


def _apart(row: int, other: int) -> int:
    return abs(other - row)


def _place(labels: dict[int, Run], label: Run, rows: Sequence[int]) -> None:
    """Put a label into the first of some rows that is free, if one is."""
    row = next((y for y in rows if y not in labels), None)
    if row is not None:
        labels[row] = label


def _row(
    bars: Sequence[Sequence[Run]], own: str | None, label: Run | None, shape: StripShape
) -> list[Run]:
    row: list[Run] = [(" " * MARK, "") if own is None else (f" {OWN_MARK}", own)]
    for book in bars:
        row += [*book, (" ", "")]
    if shape.label:
        text, role = label or ("", "")
        row.append(_fitted(text, shape.label, role))
    return row


def _fitted(text: str, width: int, role: str) -> Run:
    return text[:width].ljust(width), role
