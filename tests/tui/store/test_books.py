"""A book of the wire as the pane needs it."""

from decimal import Decimal

from keydesk.store.prices import MAX_BOOKS, apply_book, no_book
from keydesk.store.state import REACH, Topic
from keydesk.store.store import Store
from keydesk_client.models import PositionBook
from keydesk_client.models._core.scalars import DateTime
from keydesk_client.models.pricing import PositionBookBucket

D = Decimal
STEP = D("0.00050")


def book(*sides: tuple[str, str, str]) -> PositionBook:
    """A book of buckets: steps from the price, long and short percent."""
    return PositionBook(
        instrument="EUR_USD",
        time=DateTime("2026-03-02T10:00:00.000000000Z"),
        price=D("1.08431"),
        bucket_width=STEP,
        buckets=tuple(
            PositionBookBucket(
                price=D("1.08400") + int(steps) * STEP,
                long_count_percent=D(long),
                short_count_percent=D(short),
            )
            for steps, long, short in sides
        ),
    )


def test_the_long_share_counts_what_lies_far_away_too() -> None:
    store = Store()
    apply_book(
        store, "positions", book(("-200", "30", "10"), ("0", "20", "15"), ("300", "10", "15"))
    )
    snapshot = store.books["EUR_USD", "positions"].snapshot
    assert snapshot is not None
    assert snapshot.long_percent == D(60)
    assert [bucket.price for bucket in snapshot.buckets] == [D("1.08400")]
    assert abs(-200) > REACH


def test_a_new_snapshot_marks_its_instrument_and_the_same_one_does_not() -> None:
    store = Store()
    apply_book(store, "positions", book(("0", "60", "40")))
    assert store.pop_dirty() == {Topic.BOOKS: frozenset({"EUR_USD"})}
    apply_book(store, "positions", book(("0", "60", "40")))
    assert store.pop_dirty() == {}


def test_a_book_that_cannot_be_read_keeps_the_snapshot_before() -> None:
    store = Store()
    apply_book(store, "positions", book(("0", "60", "40")))
    no_book(store, "positions", "EUR_USD", "no answer")
    held = store.books["EUR_USD", "positions"]
    assert held.trouble == "no answer"
    assert held.snapshot is not None
    apply_book(store, "positions", book(("0", "60", "40")))
    assert store.books["EUR_USD", "positions"].trouble == ""


def test_an_empty_book_has_no_share() -> None:
    store = Store()
    apply_book(store, "positions", book())
    snapshot = store.books["EUR_USD", "positions"].snapshot
    assert snapshot is not None
    assert snapshot.long_percent == 0


def test_only_the_books_of_the_last_instruments_looked_at_are_kept() -> None:
    store = Store()
    names = [f"EUR_{number}" for number in range(MAX_BOOKS)]
    for name in names:
        store.set_focus(name)
        no_book(store, "orders", name, "no answer")
        no_book(store, "positions", name, "no answer")
    assert len(store.books) == MAX_BOOKS
    assert {name for name, _ in store.books} == set(names[-MAX_BOOKS // 2 :])
    no_book(store, "orders", names[-MAX_BOOKS // 2], "still no answer")  # looked at once more
    no_book(store, "orders", "USD_JPY", "no answer")
    assert (names[-MAX_BOOKS // 2], "orders") in store.books
