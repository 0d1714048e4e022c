"""The books beside the chart: by key, only where there is room and a book, exact at every width."""

from decimal import Decimal

import pytest
from textual.geometry import Size

from keydesk.calc.market.client_books import BookBucket
from keydesk.panes.book_figures import BookSnapshotWanted, figures
from keydesk.panes.books import Books
from keydesk.panes.chart import Chart
from keydesk.store.prices import step_book
from keydesk.store.state import BookKind, BookSnapshot, ClientBook, Topic
from keydesk.store.store import Store
from support.data.desk_data import WALL_NS, desk_store, frame_of
from support.fakes.pane_app import heard, shown, text_of
from support.walks import sampled

D = Decimal
MINUTE_NS = 60_000_000_000
KINDS: tuple[BookKind, BookKind] = ("orders", "positions")


def buckets(*strong: tuple[int, str, str]) -> tuple[BookBucket, ...]:
    """Forty buckets of 5 pips from 1.0800 with 0.1 % on each side, some with shares of their own."""
    own = {number: (D(long), D(short)) for number, long, short in strong}
    weak = (D("0.1"), D("0.1"))
    return tuple(
        BookBucket(D("1.0800") + number * D("0.0005"), *own.get(number, weak))
        for number in range(40)
    )


STRONG = buckets((12, "3", "0.1"), (5, "0.1", "3"))


def snapshot(
    minutes_old: int = 7, long: str = "53.2", held: tuple[BookBucket, ...] = STRONG
) -> BookSnapshot:
    time = WALL_NS - minutes_old * MINUTE_NS
    return BookSnapshot(time, D("1.08431"), D("0.00050"), D(long), held)


def store_with_books(*, held: tuple[BookBucket, ...] = STRONG) -> Store:
    store = desk_store()
    store.clock_ns = WALL_NS
    store.daily_ranges["EUR_USD"] = 0.0080
    for kind in KINDS:
        newest, before = snapshot(7, held=held), snapshot(27, "50.0", held=held)
        store.books["EUR_USD", kind] = ClientBook(kind, newest, earlier=(before,))
    return store


async def test_a_key_puts_the_books_beside_the_prices_and_takes_them_away() -> None:
    chart = Chart()
    async with shown(chart, store_with_books(), size=(140, 30)):
        seen = []
        for _ in range(5):
            text = "\n".join(text_of(chart))
            seen.append(("sell│buy" in text, "short│long" in text))
            assert ("client positioning, not depth" in text) == any(seen[-1])
            chart.action_book()
    assert seen == [(False, False), (True, False), (False, True), (True, True), (False, False)]


async def test_the_strip_names_clusters_the_long_share_and_its_change() -> None:
    chart = Chart()
    async with shown(chart, store_with_books(), size=(140, 30)):
        chart.action_book()
        text = "\n".join(text_of(chart))
        assert "long 53.2 % +3.2" in text
        assert "buy stops +" in text
        assert "sell stops −" in text
        assert "7m old" in text
        chart.action_book()
        text = "\n".join(text_of(chart))
        assert "trapped longs +" in text
        assert "long under water" in text


async def test_a_narrow_chart_says_that_the_book_has_no_room() -> None:
    chart = Chart()
    async with shown(chart, store_with_books(), size=(40, 30)):
        chart.action_book()
        assert "client" not in "\n".join(text_of(chart))
        assert chart.heading().right == "no room for the book: z"


async def test_an_instrument_without_a_book_says_so() -> None:
    chart, store = Chart(), desk_store()
    store.books["EUR_USD", "orders"] = ClientBook("orders", None, "There is no order book.")
    async with shown(chart, store, size=(140, 30)):
        chart.action_book()
        assert chart.heading().right == "There is no order book."


async def test_the_keys_ask_for_other_snapshots() -> None:
    for pane in (Chart(), Books()):
        keys = ("h", "l") if isinstance(pane, Books) else ()
        async with shown(pane, store_with_books(), size=(140, 30)) as pilot:
            await pilot.press(*keys)
            if isinstance(pane, Chart):
                pane.action_book_step(-1)
                pane.action_book_step(1)
            await pilot.pause()
            assert [each.steps for each in heard(pilot, BookSnapshotWanted)] == [-1, 1]


async def test_an_earlier_snapshot_is_read_at_the_price_of_its_time() -> None:
    chart, pane, store = Chart(), Books(), store_with_books()
    step_book(store, -1)
    book = figures(store, "orders")
    assert book is not None
    assert (book.market, book.is_newest, book.change) == (D("1.08431"), False, None)
    for each in (chart, pane):
        async with shown(each, store, size=(140, 30)):
            if isinstance(each, Chart):
                each.action_book()
            assert "27m ago" in "\n".join(text_of(each))
    step_book(store, 1)
    assert store.book_time_ns == 0
    step_book(store, 1)
    assert store.book_time_ns == 0


async def test_a_new_snapshot_is_drawn_with_the_next_frame() -> None:
    chart, store = Chart(), store_with_books()
    async with shown(chart, store, size=(140, 30)):
        chart.action_book()
        store.books["EUR_USD", "orders"] = ClientBook("orders", snapshot(0, "61.0"))
        store.mark(Topic.BOOKS, "EUR_USD")
        chart.on_frame(frame_of(store))
        assert "long 61.0 %" in "\n".join(text_of(chart))


BOOKS: dict[str, tuple[BookBucket, ...]] = {
    "empty": (),
    "one": (BookBucket(D("1.0860"), D(100), D(0)),),
    "no long": buckets((12, "0", "100")),
    "huge": (
        BookBucket(D("1.0860"), D(10) ** 14, D(10) ** 14),
        BookBucket(D(10) ** 14, D(1), D(1)),
    ),
}


WIDTHS = (*range(20, 140, 17), 250, 61)


@pytest.mark.parametrize("name", sampled(BOOKS, 2))
async def test_every_row_fits_whatever_the_book_and_the_width(name: str) -> None:
    """Each view meets one or two of the widths."""
    await fits_every_width(name, part=7)


@pytest.mark.soak
@pytest.mark.parametrize("name", BOOKS)
async def test_every_row_of_every_book_fits_every_width(name: str) -> None:
    await fits_every_width(name, part=1)


async def fits_every_width(name: str, part: int) -> None:
    """Show a book in all its views, each at one of `part` widths."""
    first = [*BOOKS].index(name)
    chart, pane, store = Chart(), Books(), store_with_books(held=BOOKS[name])
    for each, views in ((chart, 4), (pane, 2)):
        async with shown(each, store, size=(80, 30)) as pilot:
            for step in range(views):
                if isinstance(each, Chart):
                    each.action_book()
                elif step == 1:
                    each.action_view()
                for width in WIDTHS[(first + step) % part :: part]:
                    height = (9, 14, 30)[width % 3]
                    await pilot.resize_terminal(width, height)
                    while each.outer_size != Size(width, height):  # the time limit ends it
                        await pilot.pause()
                    each.on_frame(frame_of(store, everything=True))
                    lines = [each.render_line(y) for y in range(height)]
                    assert {line.cell_length for line in lines} == {width}


async def test_the_pane_says_what_is_under_water_and_names_the_clusters() -> None:
    pane = Books()
    async with shown(pane, store_with_books(), size=(140, 20)):
        lines = text_of(pane)
    assert lines[1].startswith(" Under water: ")
    assert "buy stops +" in lines[1]
    assert any("1.08600" in line and "buy stops +" in line for line in lines[3:])
    assert "long +3.2 since" in lines[0]


async def test_the_pane_marks_own_prices_in_their_bucket() -> None:
    pane = Books()
    async with shown(pane, store_with_books(), size=(140, 20)):
        lines = text_of(pane)
    assert any("1.08650" in line and "own target" in line for line in lines)


async def test_an_empty_book_is_said_in_words() -> None:
    pane = Books()
    async with shown(pane, store_with_books(held=()), size=(140, 20)):
        assert "no orders" in text_of(pane)[0]
