"""A book of the wire becomes a snapshot for the pane: its sum, and what lies around the price."""

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

from keydesk.store.state import BookBucket, BookKind, BookSnapshot, ClientBook, Topic
from keydesk.store.store import Store
from keydesk.store.unreadable import amount, moment, price, readable
from keydesk_client.models import OrderBook, OrderBookBucket, PositionBook, PositionBookBucket

REACH = 60  # buckets kept above and below the price: more than the tallest pane shows
MOST_BOOKS = 16  # two of an instrument, 50 kB each: those of all would be 6 MB


def take_book(store: Store, kind: BookKind, book: OrderBook | PositionBook) -> None:
    """Write a snapshot in the place of the one before it."""
    middle, width = price(book.price), price(book.bucket_width)
    buckets = tuple(readable(store, _bucket, _buckets_of(book)))
    snapshot = BookSnapshot(
        time_ns=moment(book.time),
        price=middle,
        width=width,
        long_percent=_share(buckets),
        buckets=tuple(each for each in buckets if abs(each.price - middle) <= REACH * width),
    )
    _put(store, book.instrument, ClientBook(kind, snapshot))


def no_book(store: Store, kind: BookKind, instrument: str, why: str) -> None:
    """Say why there is no book, or no newer one; the older snapshot stays."""
    held = store.books.get((instrument, kind)) or ClientBook(kind)
    _put(store, instrument, replace(held, trouble=why))


def _put(store: Store, instrument: str, book: ClientBook) -> None:
    held = store.books.pop((instrument, book.kind), None)
    store.books[instrument, book.kind] = book  # the last one now
    if len(store.books) > MOST_BOOKS:
        del store.books[next(iter(store.books))]
    if held != book:
        store.mark(Topic.BOOKS, instrument)


def _share(buckets: Sequence[BookBucket]) -> Decimal:
    """The long ones, in percent of all."""
    long = sum((bucket.long for bucket in buckets), Decimal(0))
    short = sum((bucket.short for bucket in buckets), Decimal(0))
    return long * 100 / (long + short) if long + short else Decimal(0)


def _buckets_of(
    book: OrderBook | PositionBook,
) -> Sequence[OrderBookBucket | PositionBookBucket]:
    return book.buckets


def _bucket(bucket: OrderBookBucket | PositionBookBucket) -> BookBucket:
    long, short = amount(bucket.long_count_percent), amount(bucket.short_count_percent)
    if long < 0 or short < 0:
        raise ValueError("a bucket of a book has less than nothing")
    return BookBucket(price(bucket.price), long, short)
