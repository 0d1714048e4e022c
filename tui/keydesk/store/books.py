"""A book of the wire becomes a snapshot for the pane: its sum, and what lies around the price."""

from dataclasses import replace
from decimal import Decimal

from keydesk.store.state import BookBucket, BookKind, BookSnapshot, ClientBook, Topic
from keydesk.store.store import Store
from keydesk_client.models import OrderBook, PositionBook

REACH = 60  # buckets kept above and below the price: more than the tallest pane shows


def take_book(store: Store, kind: BookKind, book: OrderBook | PositionBook) -> None:
    """Write a snapshot in the place of the one before it."""
    snapshot = BookSnapshot(
        time_ns=book.time.ns,
        price=book.price,
        width=book.bucket_width,
        long_percent=_share(book),
        buckets=_around_the_price(book),
    )
    _put(store, book.instrument, ClientBook(kind, snapshot))


def no_book(store: Store, kind: BookKind, instrument: str, why: str) -> None:
    """Say why there is no book, or no newer one; the older snapshot stays."""
    held = store.books.get((instrument, kind)) or ClientBook(kind)
    _put(store, instrument, replace(held, trouble=why))


def _put(store: Store, instrument: str, book: ClientBook) -> None:
    if store.books.get((instrument, book.kind)) != book:
        store.books[instrument, book.kind] = book
        store.mark(Topic.BOOKS, instrument)


def _share(book: OrderBook | PositionBook) -> Decimal:
    """The long ones, in percent of all."""
    long = sum((bucket.long_count_percent for bucket in book.buckets), Decimal(0))
    short = sum((bucket.short_count_percent for bucket in book.buckets), Decimal(0))
    return long * 100 / (long + short) if long + short else Decimal(0)


def _around_the_price(book: OrderBook | PositionBook) -> tuple[BookBucket, ...]:
    reach = REACH * book.bucket_width
    return tuple(
        BookBucket(bucket.price, bucket.long_count_percent, bucket.short_count_percent)
        for bucket in book.buckets
        if abs(bucket.price - book.price) <= reach
    )
