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

from keydesk.keys.keymap import BOOKS, KEYMAP
from keydesk.panes.price_cells import shape_of
from keydesk.store.frame import Frame
from keydesk.store.state import BookBucket, BookKind, BookSnapshot, ClientBook, Topic
from keydesk.store.store import Store
from keydesk.text import format as show
from keydesk.text.sanitize import safe
from keydesk.widgets.lines import Heading, LinePane, Run, Tab, width_of

KINDS: tuple[BookKind, ...] = get_args(BookKind)
WIDEST = 24  # cells of the longest bar
NUMBER, PRICE = 5, 9  # cells
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
    BINDINGS: ClassVar[list[BindingType]] = [*KEYMAP.bindings(BOOKS)]

    def __init__(self, *, id: str | None = "books") -> None:  # noqa: A002 - Textual's own word
        super().__init__(id=id)
        self.kind: BookKind = "orders"
        self._said = ""
        self._here = 0

    def heading(self) -> Heading:
        """Return the name of the book and the share of long."""
        snapshot = None if self.frame is None else self._snapshot(self.frame.store)
        net = "" if snapshot is None else f", {snapshot.long_percent:.1f} % long"
        return Heading((Tab("Books"),), safe(f"{self.kind}{net}"))

    def action_view(self) -> None:
        """Show the other book."""
        self.kind = KINDS[(KINDS.index(self.kind) + 1) % len(KINDS)]
        self.redraw()

    # What a frame changed.

    def changed(self, frame: Frame) -> None:
        """Redraw for another book or when the price left its bucket; the age is in the first line."""
        store, snapshot = frame.store, self._snapshot(frame.store)
        here = 0 if snapshot is None else nearest(snapshot, price_now(store, snapshot))
        if (
            frame.touched(Topic.FOCUS)
            or store.focus in frame.keys(Topic.BOOKS)
            or here != self._here
        ):
            self._here = here
            self.redraw()
        elif snapshot is not None and self._said != self._age(snapshot, frame):
            self.redraw_line(0)

    # Lines.

    def runs(self, y: int, frame: Frame) -> Iterable[Run]:
        """Return a line: headline, captions, buckets, captions beneath."""
        snapshot = self._snapshot(frame.store)
        if snapshot is None:
            return self._nothing(y, frame.store)
        if y == 0:
            return self._headline(snapshot, frame)
        rows = max(0, self.outer_size.height - HEAD - FOOT)
        if y == 1:
            return self._names(ABOVE[self.kind], ("short %", "price", "long %"))
        if y == HEAD + rows:
            return self._names(BELOW[self.kind], ("", "", ""))
        return self._bucket(snapshot, y - HEAD, rows, frame.store)

    def _nothing(self, y: int, store: Store) -> list[Run]:
        book, name = self._book(store), show.pair(store.focus) or "the instrument"
        asked = f"The {self.kind} of other clients in {name} are being asked for."
        lines = (
            book.trouble if book is not None and book.trouble else asked,
            "Client positioning, not depth: a snapshot now and then, where the broker has one.",
        )
        return [(safe(lines[y]), self.palette["muted"])] if y < len(lines) else []

    def _headline(self, snapshot: BookSnapshot, frame: Frame) -> list[Run]:
        palette, book = self.palette, self._book(frame.store)
        self._said = self._age(snapshot, frame)
        parts: list[Run] = [
            ("Client positioning, not depth, ", palette["muted"]),
            (safe(f"{self._said} old"), palette["plain"]),
            (safe(f"  {snapshot.long_percent:.1f} % long"), palette["buy"]),
            (safe(f"  {100 - snapshot.long_percent:.1f} % short"), palette["sell"]),
        ]
        if book is not None and book.trouble:
            parts.insert(2, (safe(f"  {book.trouble}"), palette["warn"]))
        least = 3 if book is not None and book.trouble else 2
        while len(parts) > least and width_of(parts) > self.inside:
            parts.pop()
        return parts

    def _age(self, snapshot: BookSnapshot, frame: Frame) -> str:
        return show.age(snapshot.time_ns, frame.store.clock_ns or frame.wall_ns)

    def _bar(self) -> int:
        return max(2, min(WIDEST, (self.inside - PRICE - 2 * NUMBER - 8) // 2))

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

    def _bucket(self, snapshot: BookSnapshot, row: int, rows: int, store: Store) -> list[Run]:
        buckets = snapshot.buckets
        index = self._here + rows // 2 - row
        if not 0 <= index < len(buckets):
            return []
        first = max(0, self._here + rows // 2 - rows + 1)
        shown = buckets[first : self._here + rows // 2 + 1]
        largest = max((max(each.short, each.long) for each in shown), default=Decimal(1))
        return self._bucket_runs(
            buckets[index], largest or Decimal(1), store, here=index == self._here
        )

    def _bucket_runs(
        self, bucket: BookBucket, largest: Decimal, store: Store, *, here: bool
    ) -> list[Run]:
        palette, bar = self.palette, self._bar()
        short, long = ("█" * int(side / largest * bar) for side in (bucket.short, bucket.long))
        price = shape_of(store, store.focus).write(bucket.price)
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

    def _book(self, store: Store) -> ClientBook | None:
        return store.books.get((store.focus, self.kind))

    def _snapshot(self, store: Store) -> BookSnapshot | None:
        book = self._book(store)
        return None if book is None else book.snapshot


def price_now(store: Store, snapshot: BookSnapshot) -> Decimal:
    """Return the instrument's mid price; that of the snapshot where there is no newer one."""
    quote = store.quotes.get(store.focus)
    return snapshot.price if quote is None else (quote.bid + quote.ask) / 2


def nearest(snapshot: BookSnapshot, price: Decimal) -> int:
    """Return the index of the bucket that holds a price, or of the last one under it."""
    prices = [bucket.price for bucket in snapshot.buckets]
    return max(0, bisect_right(prices, price) - 1)
