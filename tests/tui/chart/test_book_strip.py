"""The strip of client books beside a chart: on the rows of its scale, as wide as its shape, whatever the book holds."""

from itertools import product

import pytest

from keydesk.chart.book_strip import (
    AXIS,
    BAR,
    LABEL,
    OWN_MARK,
    BookColumn,
    StripScene,
    StripShape,
    shape_for,
    strip_rows,
)
from keydesk.chart.canvas import Run
from keydesk.chart.price_axis import PriceLine
from keydesk.chart.scale import Scale
from support.data.chart_scenes import MARKETS
from support.walks import sampled

ORDERS = StripShape(8, 1, LABEL)
FEET = ("orders 09:00, 12m old", "orders 12m old", "12m old")


def column(
    *buckets: tuple[float, float, float], width: float = 1.0, reach: tuple[float, float] = (0, 1e12)
) -> BookColumn:
    return BookColumn(("sell", "buy"), FEET, buckets, width, reach)


def scene(
    *books: BookColumn,
    labels: tuple[tuple[float, str, str], ...] = (),
    own: tuple[PriceLine, ...] = (),
    notes: tuple[tuple[str, str], ...] = (),
) -> StripScene:
    return StripScene("client positioning, not depth", books, labels, own, notes)


def text_of(row: list[Run]) -> str:
    return "".join(text for text, _ in row)


def drawn(scene: StripScene, scale: Scale, shape: StripShape = ORDERS) -> list[str]:
    """The rows beside a picture with a legend above the candles and times below."""
    return [text_of(row) for row in strip_rows(scene, shape, scale, 1, scale.rows + 2)]


SCALE = Scale(100.0, 120.0, 20)  # a row is 1.0


def test_short_is_left_of_the_axis_and_long_right_of_it_in_the_row_of_the_price() -> None:
    rows = drawn(scene(column((110.0, 1.0, 4.0))), SCALE)
    row = rows[1 + SCALE.row(110.5)]
    short, _, long = row.partition(AXIS)
    assert short.strip() == BAR * 2
    assert long.strip() == BAR * 8
    assert sum(BAR in each for each in rows) == 1


def test_the_sides_are_named_and_have_their_colours() -> None:
    rows = strip_rows(scene(column((110.0, 1.0, 4.0))), ORDERS, SCALE, 1, 22)
    assert [(text.strip(), role) for text, role in rows[1]][1:4:2] == [
        ("sell", "sell"),
        ("buy", "buy"),
    ]
    bars = {role for row in rows for text, role in row if BAR in text}
    assert bars == {"sell", "buy"}


def test_a_bucket_over_several_rows_is_spread_over_them() -> None:
    rows = drawn(scene(column((106.0, 0.0, 4.0), width=5.0)), SCALE)
    assert [y for y, row in enumerate(rows) if BAR in row] == [10, 11, 12, 13, 14]


def test_buckets_that_share_a_row_are_added_up() -> None:
    buckets = [(110.0 + n / 10, 0.0, 0.1) for n in range(10)]
    rows = drawn(scene(column(*buckets, (104.0, 0.0, 1.0), width=0.1)), SCALE)
    assert [row.count(BAR) for row in rows if BAR in row] == [8, 8]


def test_the_largest_bucket_sets_the_length_of_the_bars_also_out_of_sight() -> None:
    near, far = (110.0, 0.0, 1.0), (500.0, 0.0, 4.0)
    assert drawn(scene(column(near, far)), SCALE)[1 + SCALE.row(110.5)].count(BAR) == 2
    assert drawn(scene(column(near)), SCALE)[1 + SCALE.row(110.5)].count(BAR) == 8


def test_rows_that_the_snapshot_does_not_tell_of_have_no_axis() -> None:
    rows = drawn(scene(column((110.0, 1.0, 1.0), reach=(108.0, 112.0))), SCALE)
    assert [y for y, row in enumerate(rows) if AXIS in row] == [1, *range(9, 13)]


def test_an_own_price_has_a_mark_in_its_row() -> None:
    own = (PriceLine(105.5, "limit", "pending"), PriceLine(900.0, "stop", "stop"))
    rows = drawn(scene(column((110.0, 1.0, 1.0)), own=own), SCALE)
    assert [y for y, row in enumerate(rows) if OWN_MARK in row] == [1 + SCALE.row(105.5)]


def test_clusters_are_named_in_their_row_and_beyond_an_edge_with_an_arrow() -> None:
    labels = (
        (105.5, "sell stops −42p", "sell"),
        (130.0, "buy stops +99p", "buy"),
        (90.0, "buy limits −99p", "buy"),
    )
    rows = drawn(scene(column((110.0, 1.0, 1.0)), labels=labels), SCALE)
    assert rows[1 + SCALE.row(105.5)].rstrip().endswith("sell stops −42p")
    assert rows[2].rstrip().endswith("↑ buy stops +99p")
    assert rows[20].rstrip().endswith("↓ buy limits −99p")


def test_two_clusters_of_one_row_are_both_named() -> None:
    labels = ((110.2, "buy stops +1.0p", "buy"), (110.6, "trapped longs +1.4p", "buy"))
    text = "\n".join(drawn(scene(column((110.0, 1.0, 1.0)), labels=labels), SCALE))
    assert all(words in text for _, words, _ in labels)


def test_words_without_room_are_left_out_whole() -> None:
    labels = ((110.0, "buy stops +123,456,789,012p", "buy"),)
    text = "\n".join(drawn(scene(column((110.0, 1.0, 1.0)), labels=labels), SCALE))
    assert "123" not in text


@pytest.mark.parametrize("market", sampled(MARKETS, 2))
def test_rows_are_exactly_as_wide_as_the_strip(market: str) -> None:
    price, _, pip = MARKETS[market]
    books = {
        "none": column(width=pip * 5),
        "one": column((price, 100.0, 0.0), width=pip * 5),
        "full": column(
            *((price + n * pip * 5, n % 7, n % 5) for n in range(-60, 60)), width=pip * 5
        ),
        "no width": column((price, 1.0, 1.0), width=0.0),
        "huge": column((price, 1e15, 1e15), (price * 9, 1.0, 1.0), width=price * 10),
    }
    labels = tuple((price + n * pip * 40, f"trapped longs {n:+}p", "buy") for n in range(-5, 6))
    notes = (("positions 100.0 % −100.0", "plain"), ("short under water 100 %", "muted")) * 3
    for width, height, count in product(range(20, 251, 10), (12, 24, 70), (1, 2)):
        shape = shape_for(width, height, count)
        if shape is None:
            assert width < 46
            continue
        assert width - shape.width >= 32
        for name, book in books.items():
            case = f"{width} x {height}, {count} books, {name}"
            scale = Scale(price - 50 * pip, price + 50 * pip, height - 2)
            own = (PriceLine(price, "entry", "entry"),)
            whole = scene(book, book, labels=labels, own=own, notes=notes)
            rows = strip_rows(whole, shape, scale, 1, height)
            assert len(rows) == height, case
            assert {len(text_of(row)) for row in rows} == {shape.width}, case
            head = " ".join(text_of(row).strip() for row in rows[:4])
            assert head.startswith("client positioning, not depth"), case


def test_a_chart_too_small_has_no_strip() -> None:
    assert shape_for(45, 30, 1) is None
    assert shape_for(200, 11, 1) is None
    assert shape_for(200, 30, 0) is None


def test_bars_are_shorter_before_the_candles_lose_half_of_the_pane() -> None:
    both = shape_for(118, 30, 2)
    assert both is not None
    assert both.books == 2
    assert 118 - both.width >= 0.48 * 118
    for width in range(100, 260):
        shape = shape_for(width, 30, 1)
        assert shape is not None
        assert width - shape.width >= 0.48 * width
