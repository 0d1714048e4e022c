"""Labels of the price axis are stacked in the order of price, never hide each other and never cross the last price."""

from itertools import pairwise

from hypothesis import assume, example, given
from hypothesis import strategies as st

from keydesk.chart.price_axis import Axis, PriceLine, PriceMark, Rank, price_labels, spread
from keydesk.chart.scale import Scale, decimals_of, grid_step, multiples

AXIS = Axis(8, 1, 1.0)
EXACT = Axis(18, 12, 1.0)


@given(st.lists(st.integers(-5, 60), max_size=40).map(sorted), st.integers(0, 40))
def test_labels_get_places_of_their_own_in_order(wanted: list[int], more: int) -> None:
    room = len(wanted) + more
    places = spread(wanted, room)
    assert len(places) == len(wanted)
    assert all(0 <= place < room for place in places)
    assert all(one < other for one, other in pairwise(places))


@given(st.lists(st.integers(0, 30), max_size=12, unique=True).map(sorted))
def test_labels_with_room_stand_where_they_are_wanted(wanted: list[int]) -> None:
    assert spread(wanted, 31) == wanted


@given(
    prices=st.lists(st.floats(0, 100), max_size=30),
    last=st.floats(10, 90),
    rows=st.integers(4, 50),
)
def test_own_labels_are_in_the_order_of_price_beside_the_last_price(
    prices: list[float], last: float, rows: int
) -> None:
    prices, last = [round(price, 9) for price in prices], round(last, 9)
    lines = [PriceLine(price, "stop", "stop") for price in prices]
    labels = price_labels(EXACT, Scale(0, 100, rows), last, lines)
    own = [(y, text) for y, (text, role) in sorted(labels.rows.items()) if role == "stop"]
    shown = [float(text.strip(" ╭╰")) for _, text in own]
    assert shown == sorted(shown, reverse=True)
    assert all(
        (price >= last) == (y < labels.last_row) for (y, _), price in zip(own, shown, strict=True)
    )
    assert all(len(text) == EXACT.width for text, _ in labels.rows.values())


def test_prices_that_share_a_row_are_stacked() -> None:
    lines = [PriceLine(50.1, "stop", "stop"), PriceLine(50.2, "limit", "pending")]
    labels = price_labels(AXIS, Scale(0, 100, 20), 80.0, lines).rows
    texts = [
        text.strip() for y, (text, role) in sorted(labels.items()) if role in {"stop", "pending"}
    ]
    assert texts == ["╭50.2", "50.1"]


@given(
    prices=st.lists(st.floats(0, 100), max_size=20),
    last=st.floats(10, 90),
    rows=st.integers(4, 50),
)
def test_a_label_beside_its_line_says_on_which_side_the_line_is(
    prices: list[float], last: float, rows: int
) -> None:
    lines, scale = [PriceLine(price, "stop", "stop") for price in prices], Scale(0, 100, rows)
    for y, (text, role) in price_labels(AXIS, scale, last, lines).rows.items():
        if role == "stop":
            line = [scale.row(each) for each in prices if f"{each:.1f}" == text.strip(" ╭╰")]
            assert text[0] in {" " if y == row else "╭" if y < row else "╰" for row in line}


@given(cursor=st.floats(0, 100), price=st.floats(0, 100), last=st.floats(0, 100))
def test_a_label_stands_on_its_side_of_the_cursor(cursor: float, price: float, last: float) -> None:
    scale = Scale(0, 100, 20)
    assume(abs(scale.row(last) - scale.row(cursor)) > 1)
    assume(0 < scale.row(cursor) < 19)
    assume(0 < scale.row(last) < 19)
    rows = price_labels(AXIS, scale, last, [PriceLine(price, "stop", "stop")], cursor=cursor).rows
    [at] = [y for y, (_, role) in rows.items() if role == "stop"]
    [beside] = [y for y, (_, role) in rows.items() if role == "~cursor"]
    if price > cursor and scale.row(price) != scale.row(last):
        assert at < beside
    elif price < cursor and scale.row(price) != scale.row(last):
        assert at > beside


def test_far_prices_take_two_rows_a_side_and_count_the_others() -> None:
    lines = [PriceLine(200 + i, "target", "target") for i in range(5)]
    made = price_labels(AXIS, Scale(0, 100, 20), 50.0, lines)
    labels = made.rows
    assert [labels[0][0].strip(), labels[1][0].strip()] == ["+4 more", "↑150p"]
    assert made.captions == {1: [("target", "target")]}


def test_words_stand_in_the_row_of_their_price_the_highest_first_a_mark_with_its_price_where_another_has_the_axis() -> (
    None
):
    lines = [PriceLine(50.1, "stop", "stop"), PriceLine(50.2, "limit", "pending")]
    marks = [PriceMark(50.3, "day low"), PriceMark(150.0, "day high")]
    scale = Scale(0, 100, 20)
    captions = price_labels(AXIS, scale, 80.0, lines, marks=marks).captions
    words = [("limit", "pending"), ("stop", "stop"), ("day low 50.3", "muted")]
    assert captions == {scale.row(50.1): words}


@given(
    others=st.lists(st.floats(-100, 200), max_size=30),
    planned=st.lists(st.floats(-100, 200), min_size=1, max_size=5),
    last=st.floats(-20, 120),
    cursor=st.none() | st.floats(0, 100),
    rows=st.integers(9, 50),
)
@example(others=[], planned=[-1.0], last=0.0, cursor=0.0, rows=9)
def test_planned_prices_always_have_a_label(
    others: list[float], planned: list[float], last: float, cursor: float | None, rows: int
) -> None:
    plan = [PriceLine(price, "new", "plan", Rank.PLANNED) for price in planned]
    lines = [*(PriceLine(price, "stop", "stop", Rank.WORKING) for price in others), *plan]
    labels = price_labels(AXIS, Scale(0, 100, rows), last, lines, cursor=cursor)
    assert [role for _, role in labels.rows.values()].count("plan") == len(plan)


def test_working_orders_keep_their_label_before_nearer_entries() -> None:
    lines = [PriceLine(51.0 + i, "entry", "entry") for i in range(9)]
    lines.append(PriceLine(90.0, "stop", "stop", Rank.WORKING))
    labels = price_labels(AXIS, Scale(0, 100, 10), 50.0, lines).rows
    assert "stop" in [role for _, role in labels.values()]
    assert any(text.strip().endswith("more") for text, _ in labels.values())


def test_the_last_price_beyond_the_edge_has_an_arrow_and_leaves_room_for_farther_ones() -> None:
    labels = price_labels(AXIS, Scale(0, 100, 20), 150.0, [PriceLine(170.0, "target", "target")])
    assert labels.last_row == 1
    assert labels.rows[1][0].startswith("↑150.0")
    assert labels.captions == {0: [("target", "target")]}


def test_round_prices_are_multiples_of_one_two_or_five() -> None:
    for low, high in ((1.0801, 1.0849), (150.0, 152.7), (2300, 2420), (0.0001, 0.00013)):
        step = grid_step(Scale(low, high, 24), (high - low) / 50, ())
        digits = f"{step:.9e}".rstrip("0").split("e")[0].replace(".", "").rstrip("0")
        scaled = multiples(Scale(low, high, 24), step)
        assert len(scaled) >= 4
        assert digits
        assert decimals_of(step, step) >= 0
