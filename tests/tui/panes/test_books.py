"""The books pane: what it says it is, where the price stands, which book it shows."""

from decimal import Decimal

import pytest

from keydesk.calc.market.client_books import BookBucket
from keydesk.panes.books import Books, nearest
from keydesk.store.state import BookKind, BookSnapshot, ClientBook, Topic
from keydesk.store.store import Store
from support.data.desk_data import WALL_NS, desk_store, frame_of
from support.fakes.pane_app import shown, text_of

D = Decimal
MINUTE_NS = 60_000_000_000


def snapshot(minutes_old: int = 7) -> BookSnapshot:
    """Thirty buckets around 1.0843, the largest far from the middle."""
    buckets = tuple(
        BookBucket(D("1.08000") + D(i) / 2000, D(i % 3 + 1) / 10, D(i % 5) / 10) for i in range(30)
    )
    return BookSnapshot(
        WALL_NS - minutes_old * MINUTE_NS, D("1.08431"), D("0.00050"), D("53.21"), buckets
    )


def store_with(kind: BookKind = "orders", trouble: str = "") -> Store:
    store = desk_store()
    store.books["EUR_USD", kind] = ClientBook(kind, snapshot(), trouble)
    return store


async def test_a_pane_without_a_book_says_what_would_stand_there() -> None:
    pane = Books()
    async with shown(pane, desk_store()):
        first, second = text_of(pane)[:2]
    assert "being asked for" in first
    assert "Client positioning, not depth" in second


async def test_what_is_said_without_a_book_is_wrapped_and_not_cut() -> None:
    pane = Books()
    async with shown(pane, desk_store(), size=(50, 12)):
        said = " ".join(line.strip() for line in text_of(pane) if line.strip())
    assert "in EUR/USD are being asked for. Client positioning" in said
    assert said.endswith("where the broker has one.")


async def test_an_instrument_without_a_book_is_said_plainly() -> None:
    pane, store = Books(), desk_store()
    store.books["EUR_USD", "orders"] = ClientBook(
        "orders", None, "There is no order book for EUR/USD."
    )
    async with shown(pane, store):
        assert "There is no order book for EUR/USD." in text_of(pane)[0]


@pytest.mark.parametrize("width", [80, 60, 120])
async def test_the_first_line_never_calls_it_depth_and_tells_its_age(width: int) -> None:
    pane = Books()
    async with shown(pane, store_with(), size=(width, 12)):
        first = text_of(pane)[0]
    assert "Client positioning, not depth, 7m old" in first
    assert ("53.2 % long  46.8 % short" in first) == (width >= 80)


async def test_the_bucket_of_the_price_stands_in_the_middle_and_is_marked() -> None:
    pane = Books()
    async with shown(pane, store_with(), size=(80, 12)):
        lines = text_of(pane)
    assert "▸ 1.08400 ◂" in lines[7]
    assert lines[2].split("price")[0].split() == ["sell", "limits", "short", "%"]
    assert lines[11].split() == ["sell", "stops", "buy", "limits"]
    assert "1.08450" in lines[6]
    assert "█" in lines[7]


@pytest.mark.parametrize("kind", ["orders", "positions"])
async def test_a_narrow_pane_keeps_its_words_apart(kind: BookKind) -> None:
    pane = Books()
    pane.kind = kind
    async with shown(pane, store_with(kind), size=(53, 12)):
        lines = text_of(pane)
    words = {
        "orders": ("sell limits", "buy stops"),
        "positions": ("short in profit", "long under water"),
    }
    assert lines[2].replace("price", "").split("  ")[0].strip() == words[kind][0]
    assert lines[2].rstrip().endswith(words[kind][1])
    assert all("…" not in line for line in lines)


async def test_the_price_moves_the_middle() -> None:
    pane, store = Books(), store_with()
    async with shown(pane, store, size=(80, 12)):
        store.quotes["EUR_USD"].bid = store.quotes["EUR_USD"].ask = D("1.08512")
        store.mark(Topic.PRICES, "EUR_USD")
        pane.on_frame(frame_of(store))
        assert "▸ 1.08500 ◂" in text_of(pane)[7]


async def test_v_turns_to_the_positions_and_back() -> None:
    pane, store = Books(), store_with()
    store.books["EUR_USD", "positions"] = ClientBook("positions", snapshot(2))
    async with shown(pane, store, size=(80, 12)) as pilot:
        await pilot.press("v")
        assert "2m old" in text_of(pane)[0]
        assert text_of(pane)[2].split()[:3] == ["short", "in", "profit"]
        assert pane.heading().right == "positions, 53.2 % long"
        await pilot.press("v")
        assert pane.heading().right == "orders, 53.2 % long"


async def test_trouble_stands_beside_the_age_of_what_is_shown() -> None:
    pane = Books()
    async with shown(pane, store_with(trouble="No answer."), size=(80, 12)):
        first = text_of(pane)[0]
    assert "7m old  No answer." in first


async def test_the_age_grows_without_anything_else_happening() -> None:
    pane, store = Books(), store_with()
    async with shown(pane, store, size=(80, 12)):
        store.clock_ns = WALL_NS + 3 * MINUTE_NS
        pane.on_frame(frame_of(store))
        assert "depth, 10m old" in text_of(pane)[0]


def test_the_nearest_bucket_is_the_one_that_holds_the_price() -> None:
    book = snapshot()
    assert book.buckets[nearest(book, D("1.08449"))].price == D("1.08400")
    assert book.buckets[nearest(book, D("1.08450"))].price == D("1.08450")
    assert nearest(book, D("0.5")) == 0
