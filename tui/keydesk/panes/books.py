"""The order book and position book of the broker's clients: the share of short and long at each price.

They are client positioning, not market depth. Short bars are left of the prices, long bars right; the captions say what
a bar above or below the current price means.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import ClassVar, get_args

from textual.binding import BindingType

from keydesk.calc.market.client_books import BookBucket
from keydesk.keys.keymap import BOOKS
from keydesk.keys.textual_bindings import bindings_of
from keydesk.panes.book_figures import (
    POSITIONING,
    BookFigures,
    BookSnapshotWanted,
    FiguresReader,
    cluster_text,
    own_text,
    price_now,
    trouble_of,
)
from keydesk.store.frame import Frame
from keydesk.store.state import BookKind, BookSnapshot, Topic
from keydesk.store.store import Store
from keydesk.text import format as show
from keydesk.text.format import lines_of
from keydesk.text.sanitize import safe
from keydesk.widgets.lines import Heading, LinePane, Run, Tab, width_of
from keydesk.widgets.price_cells import price_format_of

KINDS: tuple[BookKind, ...] = get_args(BookKind)
WIDEST = 24  # cells of the longest bar
NUMBER, PRICE = 6, 9  # cells
LABEL, LABEL_FROM = 24, 74  # columns of words behind the bars, and of a pane that has them
FIGURES_FROM = 8  # lines of a pane that has one for figures
HEAD, FOOT = 2, 1  # lines above and below the buckets
# The meaning of a bar, short side and long side: above the price, and below it.
ABOVE: Mapping[BookKind, tuple[str, str]] = {
    "orders": ("sell limits", "buy stops"),
    "positions": ("short in profit", "long under water"),
}
BELOW: Mapping[BookKind, tuple[str, str]] = {
    "orders": ("sell stops", "buy limits"),
    "positions": ("short under water", "long in profit"),
}


class Books(LinePane):
    """The book of the instrument in focus; `v` turns from orders to positions and back."""

    KEY_CONTEXT: ClassVar[str] = BOOKS
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of(BOOKS)]

    def __init__(self, *, id: str | None = "books") -> None:  # noqa: A002 - Textual's own word
        super().__init__(id=id)
        self.kind: BookKind = "orders"
        self._reader = FiguresReader()
        self._age_text = ""
        self._here = 0
        self._inputs: object = None

    def heading(self) -> Heading:
        """Return the name of the book and the share of long."""
        book = None if self.frame is None else self._figures(self.frame.store)
        net = "" if book is None else f", {book.shares[0]} % long"
        return Heading((Tab("Books"),), safe(f"{self.kind}{net}"))

    def action_view(self) -> None:
        """Show the other book."""
        self.kind = KINDS[(KINDS.index(self.kind) + 1) % len(KINDS)]
        self.redraw()

    def action_step(self, steps: int) -> None:
        """Ask for the snapshots before those in sight, after them, or the newest."""
        self.post(BookSnapshotWanted(steps))

    # What a frame changed.

    def changed(self, frame: Frame) -> None:
        """Redraw for another book or figure, or when the price left its bucket; the age is in the first line."""
        store = frame.store
        inputs = self._figures(store), self._losing(store), trouble_of(store, self.kind)
        here = self._index(store)
        if frame.touched(Topic.FOCUS, Topic.ORDERS, Topic.TRADES) or (inputs, here) != (
            self._inputs,
            self._here,
        ):
            self._inputs, self._here = inputs, here
            self.redraw()
        elif (book := inputs[0]) is not None and self._age_text != book.age(store, frame.time_ns):
            self.redraw_line(0)

    def _index(self, store: Store) -> int:
        """Return the bucket of the price now; of an earlier snapshot, that of its time."""
        book = self._figures(store)
        if book is None:
            return 0
        market = price_now(store, book.snapshot) if book.is_newest else book.market
        return nearest(book.snapshot, market)

    # Lines.

    @property
    def _head(self) -> int:
        """Return the lines above the buckets; the figures have one where there are enough."""
        return HEAD + (self.outer_size.height >= FIGURES_FROM)

    def runs(self, y: int, frame: Frame) -> Iterable[Run]:
        """Return a line: headline, figures, captions, buckets, captions beneath."""
        book, head = self._figures(frame.store), self._head
        if book is None:
            return self._nothing(y, frame.store)
        if y == 0:
            return self._headline(book, frame)
        rows = max(0, self.outer_size.height - head - FOOT)
        if y == head - 1:
            return self._names(ABOVE[self.kind], ("short %", "price", "long %"))
        if y < head:
            return self._figures_line(book, frame.store)
        if y == head + rows:
            return self._names(BELOW[self.kind], ("", "", ""))
        return self._bucket(book, y - head, rows, frame.store)

    def _nothing(self, y: int, store: Store) -> list[Run]:
        name = show.pair(store.focus) or "the instrument"
        notice = f"The {self.kind} of other clients in {name} are being asked for."
        lines = (
            trouble_of(store, self.kind) or notice,
            "Client positioning, not depth: a snapshot now and then, where the broker has one.",
        )
        wrapped = [line for text in lines for line in lines_of(safe(text), self.inside)]
        return [(wrapped[y], self.palette["muted"])] if y < len(wrapped) else []

    def _headline(self, book: BookFigures, frame: Frame) -> list[Run]:
        palette, trouble = self.palette, trouble_of(frame.store, self.kind)
        self._age_text = book.age(frame.store, frame.time_ns)
        time = "" if book.is_newest else f", {book.time(frame.store.zone)}"
        long, short = book.shares
        parts: list[Run] = [
            (safe(f"{POSITIONING.capitalize()}, "), palette["muted"]),
            (safe(f"{self._age_text}{time}"), palette["plain" if book.is_newest else "warn"]),
        ]
        if trouble:
            parts.append((safe(f"  {trouble}"), palette["warn"]))
        least = len(parts)
        if book.long is None:
            parts.append((safe(f"  no {self.kind}"), palette["warn"]))
        else:
            parts.append((safe(f"  {long} % long"), palette["buy"]))
            parts.append((safe(f"  {short} % short"), palette["sell"]))
        if book.change is not None:
            change = f"  long {book.since_text(frame.store.zone)}"
            parts.append((safe(change), palette["plain"]))
        if book.is_newest:
            parts.append((safe(f"  at {book.time(frame.store.zone)}"), palette["muted"]))
        while len(parts) > least and width_of(parts) > self.inside:
            parts.pop()
        return parts

    def _figures_line(self, book: BookFigures, store: Store) -> list[Run]:
        """Return the share under water and the strongest clusters, as many as have room whole."""
        palette, shape = self.palette, price_format_of(store, store.focus)
        losing = self._losing(store)
        groups: list[Run] = []
        if losing is not None:
            text = f"Under water: {losing[0]} % of longs, {losing[1]} % of shorts"
            groups.append((safe(text), palette["plain"]))
        if not book.has_reach:
            groups.append((safe("average daily range not known yet"), palette["muted"]))
        elif not book.clusters:
            groups.append((safe("no cluster within 1 daily range"), palette["muted"]))
        groups += [
            (
                safe(f"{cluster_text(each, shape)} {each.share:.1f} %"),
                palette["buy" if each.is_long else "sell"],
            )
            for each in book.clusters
        ]
        parts: list[Run] = []
        for text, style in groups:
            gap = "  " if parts else ""
            if width_of(parts) + len(gap) + len(text) <= self.inside:
                parts.append((safe(f"{gap}{text}"), style))
        return parts

    def _losing(self, store: Store) -> tuple[str, str] | None:
        """Return the shares of positions under water, whichever book is shown."""
        books = {book.kind: book for book in self._reader.read(store, KINDS)}
        positions = books.get("positions")
        return None if positions is None or positions.long is None else positions.losing_text

    @property
    def _label(self) -> int:
        """Return the columns of words behind the bars; none in a narrow pane."""
        return LABEL if self.inside >= LABEL_FROM else 0

    def _bar(self) -> int:
        return max(2, min(WIDEST, (self.inside - PRICE - 2 * NUMBER - 8 - self._label) // 2))

    def _names(self, sides: tuple[str, str], columns: tuple[str, str, str]) -> list[Run]:
        """Return the words of both sides over the bars, the units beside the price."""
        short, price, long = columns
        side = self._bar() + 1 + NUMBER
        if side <= len(short) + max(map(len, sides)):
            short = long = ""
        left = f"{sides[0]}{short:>{max(0, side - len(sides[0]))}}"
        right = f"{long:<{max(0, side - len(sides[1]))}}{sides[1]}"
        return [
            (safe(f"{left:<{side}}  "), self.palette["sell"]),
            (safe(f"{price:^{PRICE}}"), self.palette["muted"]),
            (safe(f"  {right:>{side}}"), self.palette["buy"]),
        ]

    def _bucket(self, book: BookFigures, row: int, rows: int, store: Store) -> list[Run]:
        buckets, middle = book.snapshot.buckets, self._here + rows // 2
        index = middle - row
        if not 0 <= index < len(buckets):
            return []
        shown = buckets[max(0, middle - rows + 1) : middle + 1]
        largest = max((max(each.short, each.long) for each in shown), default=Decimal(1))
        drawn = self._bucket_runs(
            buckets[index], largest or Decimal(1), store, here=index == self._here
        )
        words = self._words(book, buckets[index], store)
        if not words:
            return drawn
        blank = safe(" " * max(1, self._bar() * 2 + PRICE + 2 * NUMBER + 7 - width_of(drawn)))
        room = self.inside - width_of(drawn) - len(blank)
        return [*drawn, (blank, self.palette["plain"]), *self._fitting(words, room)]

    def _words(self, book: BookFigures, bucket: BookBucket, store: Store) -> list[Run]:
        """Return the names of a bucket's clusters and of own prices in it."""
        palette, shape, width = (
            self.palette,
            price_format_of(store, store.focus),
            book.snapshot.width,
        )
        words: list[Run] = [
            (cluster_text(each, shape), palette["buy" if each.is_long else "sell"])
            for each in book.clusters
            if each.price in (bucket.price, bucket.price + width)
            and (each.price == bucket.price) == (each.distance >= 0)
        ]
        if own := own_text(store, bucket.price, bucket.price + width):
            words.insert(0, (safe(own), palette["entry"]))
        return words if self._label else []

    def _fitting(self, words: Iterable[Run], room: int) -> list[Run]:
        """Return the words that have room whole, a blank before each."""
        runs: list[Run] = []
        for text, style in words:
            if width_of(runs) + 1 + len(text) <= room:
                runs.append((safe(f" {text}"), style))
        return runs

    def _bucket_runs(
        self, bucket: BookBucket, largest: Decimal, store: Store, *, here: bool
    ) -> list[Run]:
        palette, bar = self.palette, self._bar()
        short, long = ("█" * int(side / largest * bar) for side in (bucket.short, bucket.long))
        price = price_format_of(store, store.focus).write(bucket.price)
        marks = ("▸", "◂") if here else (" ", " ")
        return [
            (safe(f"{short:>{bar}} "), palette["sell"]),
            (
                safe(f"{bucket.short:>{NUMBER}.2f} {marks[0]}"),
                palette["plain" if here else "muted"],
            ),
            (safe(f"{price:^{PRICE}}"), palette["bright" if here else "muted"]),
            (safe(f"{marks[1]} {bucket.long:<{NUMBER}.2f}"), palette["plain" if here else "muted"]),
            (safe(f" {long}"), palette["buy"]),
        ]

    # The book.

    def _figures(self, store: Store) -> BookFigures | None:
        books = self._reader.read(store, KINDS)
        return next((book for book in books if book.kind == self.kind), None)


def nearest(snapshot: BookSnapshot, price: Decimal) -> int:
    """Return the index of the bucket that holds a price, or of the last one under it."""
    prices = [bucket.price for bucket in snapshot.buckets]
    return max(0, bisect_right(prices, price) - 1)
