"""The strip of client books beside a chart's price axis: which books it shows, and its rows beside those of the picture."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import tzinfo

from keydesk.chart.book_strip import BookColumn, StripScene, StripShape, shape_for, strip_rows
from keydesk.chart.canvas import Run
from keydesk.chart.picture import Picture
from keydesk.chart.price_axis import PriceLine
from keydesk.panes.book_figures import (
    POSITIONING,
    BookFigures,
    FiguresReader,
    cluster_text,
    trouble_of,
)
from keydesk.panes.chart_marks import own_lines
from keydesk.store.frame import Frame
from keydesk.store.state import REACH, BookKind
from keydesk.store.store import Store
from keydesk.text import format as show
from keydesk.widgets.price_cells import price_format_of

CHOICES: Sequence[tuple[BookKind, ...]] = ((), ("orders",), ("positions",), ("orders", "positions"))
SIDES: Mapping[BookKind, tuple[str, str]] = {
    "orders": ("sell", "buy"),
    "positions": ("short", "long"),
}
SIDE_ROLES = {True: "buy", False: "sell"}


class ChartBook:
    """The books beside one chart; none until a key asks for them."""

    def __init__(self) -> None:
        self.kinds: tuple[BookKind, ...] = ()
        self._shape: StripShape | None = None
        self._key: object = None
        self._strip: list[list[Run]] = []
        self._reader = FiguresReader()

    def next_choice(self) -> None:
        """Show the next of: no book, orders, positions, both."""
        self.kinds = CHOICES[(CHOICES.index(self.kinds) + 1) % len(CHOICES)]

    def columns(self, store: Store, width: int, height: int) -> int:
        """Return the columns of the strip in a pane of this size; none where there is no book or no room."""
        with_book = [
            kind
            for kind in self.kinds
            if (held := store.books.get((store.focus, kind))) is not None
            and held.snapshot is not None
        ]
        self._shape = shape_for(width, height, len(with_book))
        return self._shape.width if self._shape is not None else 0

    def text(self, store: Store, zoom_key: str) -> str:
        """Return what the chart's heading says where books are wanted and there is no strip, else ""."""
        if not self.kinds or self._shape is not None:
            return ""
        if any(
            (book := store.books.get((store.focus, kind))) and book.snapshot for kind in self.kinds
        ):
            return f"no room for the book: {zoom_key}"
        troubles = (trouble_of(store, kind) for kind in self.kinds)
        return next((text for text in troubles if text), "The book is being asked for.")

    def joined(self, picture: Picture, frame: Frame, zone: tzinfo) -> Sequence[Sequence[Run]]:
        """Return the picture's rows with the strip's behind them."""
        shape, scale, layout = self._shape, picture.scale, picture.layout
        if shape is None or scale is None or layout is None:
            return picture.rows
        store, height = frame.store, len(picture.rows)
        shown = self._reader.read(store, self.kinds)
        ages = tuple(each.age(store, frame.time_ns) for each in shown)
        own = own_lines(store, store.focus)
        key = (scale, shape, layout.top, height, own, ages, shown)
        if key != self._key:
            self._key = key
            scene = _scene_of(store, shown, ages, own, zone)
            self._strip = strip_rows(scene, shape, scale, layout.top, height)
        return [[*row, *self._strip[y]] for y, row in enumerate(picture.rows)]


def _scene_of(
    store: Store,
    shown: Sequence[BookFigures],
    ages: Sequence[str],
    own: tuple[PriceLine, ...],
    zone: tzinfo,
) -> StripScene:
    """Return what the strip shows."""
    shape = price_format_of(store, store.focus)
    labels = [
        (each.share, (float(each.price), cluster_text(each, shape), SIDE_ROLES[each.is_long]))
        for book in shown
        for each in book.clusters
    ]
    labels.sort(key=lambda each: -each[0])
    return StripScene(
        head=POSITIONING,
        books=tuple(_column(each, age, zone) for each, age in zip(shown, ages, strict=True)),
        labels=tuple(label for _, label in labels),
        own=own,
        notes=tuple(_notes(shown, zone)),
    )


def _column(book: BookFigures, age: str, zone: tzinfo) -> BookColumn:
    snapshot = book.snapshot
    width = float(snapshot.width)
    at = f"{show.at(snapshot.time_ns, zone):%H:%M}"
    middle, reach = float(snapshot.price), REACH * width
    return BookColumn(
        sides=SIDES[book.kind],
        feet=(f"{book.kind} {at}, {age}", f"{book.kind} {age}", age),
        buckets=[
            (float(each.price), float(each.short), float(each.long)) for each in snapshot.buckets
        ],
        width=width,
        is_past=not book.is_newest,
        reach=(middle - reach, middle + reach) if snapshot.buckets else (0.0, 0.0),
    )


def _notes(shown: Sequence[BookFigures], zone: tzinfo) -> Iterable[tuple[str, str]]:
    """Yield the figures of the books, for the columns beside the bars."""
    for book in shown:
        name = "long" if len(shown) == 1 else book.kind
        if book.long is None:
            yield f"no {book.kind}", "warn"
        else:
            yield f"{name} {book.shares[0]} % {book.change_text}".rstrip(), "plain"
    if shown and shown[0].change is not None:
        yield f"since {show.at(shown[0].since_ns, zone):%H:%M}", "muted"
    for book in shown:
        if book.kind == "positions" and book.long is not None:
            longs, shorts = book.losing_text
            yield f"long under water {longs} %", "muted"
            yield f"short under water {shorts} %", "muted"
    if shown and not shown[0].has_reach:
        yield "daily range not known", "muted"
    elif not any(book.clusters for book in shown):
        yield "no cluster", "muted"
