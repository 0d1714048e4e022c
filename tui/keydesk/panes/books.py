"""The crowd's pending orders and open positions around the price, from the broker's last snapshot."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import ClassVar

from keydesk import format as show
from keydesk.frame import Frame
from keydesk.keys.keymap import BOOKS
from keydesk.panes.prices import shape_of
from keydesk.store.state import Topic
from keydesk.widgets.lines import Heading, LinePane, Run, Tab

WIDEST = 24  # cells of the longest bar


@dataclass(frozen=True, slots=True)
class Bucket:
    """One price step: the share of all accounts that are short and long there, in percent."""

    price: Decimal
    short: Decimal
    long: Decimal


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One order book or position book."""

    kind: str  # "orders" or "positions"
    instrument: str
    time_ns: int
    price: Decimal
    buckets: Sequence[Bucket]  # lowest price first


class Books(LinePane):
    """Short share at the left, price in the middle, long share at the right; never called depth."""

    KEY_CONTEXT: ClassVar[str] = BOOKS

    def __init__(self, *, id: str | None = "books") -> None:  # noqa: A002 - Textual's own word
        super().__init__(id=id)
        self.snapshot: Snapshot | None = None
        self.refusal = ""  # why there is none, in words

    def heading(self) -> Heading:
        """What it is, and how old."""
        if self.snapshot is None or self.frame is None:
            return Heading((Tab("Books"),))
        age = show.age(self.snapshot.time_ns, self.frame.wall_ns)
        return Heading((Tab("Books"),), f"client {self.snapshot.kind}, not depth, {age} old")

    def take(self, snapshot: Snapshot | None, refusal: str = "") -> None:
        """Show another snapshot, or say why there is none."""
        self.snapshot, self.refusal = snapshot, refusal
        self.redraw()

    def changed(self, frame: Frame) -> None:
        """Another instrument has another book; the price marks its row."""
        if frame.touched(Topic.FOCUS, Topic.BOOKS):
            self.redraw()

    def runs(self, y: int, frame: Frame) -> Iterable[Run]:
        """A bucket a row, the price's own in the middle."""
        book = self.snapshot
        if book is None or book.instrument != frame.store.focus:
            return self._nothing(y, frame)
        if y == 0:
            return self._header()
        nearest = min(
            range(len(book.buckets)), key=lambda i: abs(book.buckets[i].price - book.price)
        )
        index = nearest + (self.outer_size.height - 1) // 2 - (y - 1)
        if not 0 <= index < len(book.buckets):
            return []
        return self._bucket(book.buckets[index], here=index == nearest, frame=frame)

    def _nothing(self, y: int, frame: Frame) -> list[Run]:
        name = show.pair(frame.store.focus) or "this instrument"
        lines = (
            self.refusal or f"No order or position book of {name}.",
            "The broker has served no snapshot yet.",
        )
        return [(lines[y], self.palette["muted"])] if y < len(lines) else []

    def _bar(self) -> int:
        return max(4, min(WIDEST, (self.inside - 12) // 2))

    def _header(self) -> list[Run]:
        bar, muted = self._bar(), self.palette["muted"]
        return [(f"{'short %':>{bar}}  ", muted), (f"{'price':^9}", muted), ("  long %", muted)]

    def _bucket(self, bucket: Bucket, *, here: bool, frame: Frame) -> list[Run]:
        assert self.snapshot is not None  # noqa: S101 - only drawn from one
        largest = max((max(b.short, b.long) for b in self.snapshot.buckets), default=Decimal(1))
        bar = self._bar()
        short, long = (
            "█" * int(share / (largest or 1) * bar) for share in (bucket.short, bucket.long)
        )
        price = shape_of(frame.store, self.snapshot.instrument).write(bucket.price)
        style = self.palette["bright" if here else "muted"]
        return [
            (f"{short:>{bar}}  ", self.palette["sell"]),
            (f"{price:^9}", style),
            (f"  {long}", self.palette["buy"]),
        ]
