"""Labels of the price axis are stacked in the order of price, never hide each other and never cross the last price."""

from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from keydesk.chart.own_labels import OwnLabel, labels_of_side
from keydesk.chart.price_axis import Axis, PriceLine, PriceMark, Rank
from keydesk.chart.price_labels import AxisLabels, PriceLabels, price_labels, spread
from keydesk.chart.scale import Scale, decimals_of, grid_step, multiples

AXIS = Axis(8, 1, 1.0)


def quoted(lowest: float, highest: float) -> st.SearchStrategy[float]:
    """Return prices of the axis' one decimal: no two that differ are written alike."""
    return st.floats(lowest, highest).map(lambda price: round(price, 1))


EXACT = Axis(18, 12, 1.0)
NAMES = 30


def words(labels: PriceLabels) -> dict[int, str]:
    """What stands beside the axis by row."""
    return {y: "".join(text for text, _ in runs) for y, runs in labels.names.items()}


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
            assert text[0] in {" ", *("╭" if y < row else "╰" for row in line if y != row)}


@given(cursor=st.floats(6, 94), price=st.floats(0, 100), last=st.floats(6, 94))
def test_a_label_stands_on_its_side_of_the_cursor(cursor: float, price: float, last: float) -> None:
    scale = Scale(0, 100, 20)
    assume(abs(scale.row(last) - scale.row(cursor)) > 1)
    rows = price_labels(AXIS, scale, last, [PriceLine(price, "stop", "stop")], cursor=cursor).rows
    [at] = [y for y, (_, role) in rows.items() if role == "stop"]
    [beside] = [y for y, (_, role) in rows.items() if role == "~cursor"]
    if price > cursor and scale.row(price) != scale.row(last):
        assert at < beside
    elif price < cursor and scale.row(price) != scale.row(last):
        assert at > beside


@pytest.mark.parametrize(("rows", "far"), [(2, 1), (6, 2), (9, 3)])
def test_far_prices_share_labels_where_rows_are_few_and_stops_have_their_own_where_two_are_free(
    rows: int, far: int
) -> None:
    lines = [PriceLine(200 + i, "target", "target", Rank.WORKING) for i in range(5)]
    lines += [PriceLine(180.0, "entry", "entry"), PriceLine(190.0, "limit", "pending")]
    lines.append(PriceLine(300.0, "stop", "stop", Rank.WORKING))
    made = price_labels(AXIS, Scale(0, 100, rows), 50.0, lines, names=NAMES)
    shown = [(words(made)[y], made.rows[y][0].strip()) for y in sorted(made.names)]
    stop, entry = ("stop", "↑ 250p"), ("entry", "↑ 130p")
    assert (
        shown
        == {
            1: [("target ×5 +3", "↑ 150p")],
            2: [stop, ("target ×5 +2", "↑ 150p")],
            3: [stop, ("target ×5 +1", "↑ 150p"), entry],
        }[far]
    )


def test_far_prices_take_free_rows_but_none_from_prices_inside_the_chart() -> None:
    far = [PriceLine(200.0 + i, "stop", "stop", Rank.WORKING) for i in range(6)]
    inside = PriceLine(84.0, "limit", "pending", Rank.WORKING)  # in the fourth row
    labels = labels_of_side(AXIS, Scale(0, 100, 20), 20.0, [*far, inside], 15)
    assert [label.first.price for label in labels] == [202.0, 201.0, 200.0, 84.0]


def named(lines: list[PriceLine], rows: int, room: int, last: float) -> list[str]:
    """What labels of a chart from 0 to 100 say, from the highest down."""
    labels = labels_of_side(AXIS, Scale(0, 100, rows), last, lines, room)
    return [
        "".join(text for text, _ in label.name(NAMES)) + f" {label.first.price:.1f}"
        for label in labels
    ]


ENTRY = PriceLine(45.0, "entry", "entry")
STOP, NEAR_STOP = (PriceLine(price, "stop", "stop", Rank.WORKING) for price in (-13.0, 10.0))
LIMIT = PriceLine(-20.0, "limit", "pending", Rank.WORKING)


@pytest.mark.parametrize(
    ("lines", "room", "shown"),
    [
        ([ENTRY, STOP], 1, ["entry +1 45.0"]),
        ([ENTRY, STOP], 2, ["entry 45.0", "stop -13.0"]),
        ([ENTRY, NEAR_STOP], 1, ["entry +1 45.0"]),
        ([ENTRY, NEAR_STOP, STOP], 2, ["entry 45.0", "stop +1 10.0"]),
        ([ENTRY, replace(ENTRY, price=40.0), LIMIT], 2, ["entry 45.0", "entry +1 40.0"]),
        (
            [ENTRY, replace(ENTRY, price=40.0), STOP, LIMIT],
            3,
            ["entry 45.0", "entry 40.0", "stop +1 -13.0"],
        ),
        ([ENTRY, replace(NEAR_STOP, price=44.0)], 3, ["entry 45.0", "stop 44.0"]),
        (
            [ENTRY, *(replace(ENTRY, price=price) for price in (44.0, 43.0))],
            3,
            ["entry 45.0", "entry 44.0", "entry 43.0"],
        ),
    ],
)
def test_an_entry_inside_the_chart_is_the_last_to_be_counted_by_another_label(
    lines: list[PriceLine], room: int, shown: list[str]
) -> None:
    assert named(lines, 10, room, 50.0) == shown


@pytest.mark.parametrize(
    ("stop", "limit", "room", "shown"),
    [
        (-13.0, -20.0, 1, ["stop +1 -13.0"]),
        (-53.0, -20.0, 1, ["limit +1 -20.0"]),
        (-20.0, -20.0, 1, ["stop, limit -20.0"]),
        (-53.0, -20.0, 2, ["limit -20.0", "stop -53.0"]),
    ],
)
def test_a_label_at_the_edge_has_the_nearest_of_what_it_counts(
    stop: float, limit: float, room: int, shown: list[str]
) -> None:
    lines = [replace(LIMIT, price=limit), replace(STOP, price=stop)]
    assert named(lines, 20, room, 50.0) == shown


def test_at_the_edge_nothing_else_is_counted_by_the_label_of_stops_where_two_rows_are_free() -> (
    None
):
    lines = [STOP, LIMIT, PriceLine(-14.0, "target", "target"), PriceLine(-15.0, "alert", "alert")]
    assert named(lines, 20, 3, 50.0) == ["stop -13.0", "target +2 -14.0"]


def test_a_label_at_the_edge_has_the_nearest_of_the_most_numerous_kind() -> None:
    targets = [PriceLine(-20.0 - i, "target", "target", Rank.WORKING) for i in range(3)]
    lines = [*targets, PriceLine(-13.0, "buy stop", "pending", Rank.WORKING)]
    assert named(lines, 20, 1, 50.0) == ["target ×3 +1 -20.0"]


def test_at_the_edge_what_has_the_price_of_a_stop_is_named_with_it() -> None:
    lines = [STOP, replace(LIMIT, price=STOP.price), replace(ENTRY, price=-1.0)]
    assert named(lines, 20, 2, 50.0) == ["entry -1.0", "stop, limit -13.0"]


@pytest.mark.parametrize(
    ("kind", "shown"), [("target", "target ×6 +1 20.0"), ("stop", "stop +6 22.0")]
)
def test_prices_that_several_share_name_the_label_rather_than_a_nearer_one_unless_it_is_a_stop(
    kind: str, shown: str
) -> None:
    prices = (22.0, *[20.0] * 6)
    lines = [PriceLine(price, kind, kind, Rank.WORKING) for price in prices]
    assert named(lines, 10, 1, 50.0) == [shown]


def test_equal_prices_share_a_label_that_counts_them() -> None:
    lines = [PriceLine(50.0, "entry", "entry"), PriceLine(50.04, "entry", "entry")]
    lines.append(PriceLine(50.0, "stop", "stop", Rank.WORKING))
    made = price_labels(AXIS, Scale(0, 100, 20), 80.0, lines, names=NAMES)
    assert list(words(made).values()) == ["stop, entry +1"]
    assert [text.strip() for text, role in made.rows.values() if role == "stop"] == ["50.0"]


@pytest.mark.parametrize(
    ("room", "name"),
    [(14, "stop ×3, entry"), (13, "stop ×3 +1"), (9, "stop +3"), (6, "sto +3"), (3, ""), (0, "")],
)
def test_names_that_have_no_room_are_counted(room: int, name: str) -> None:
    lines = (*[PriceLine(50.0, "stop", "stop")] * 3, PriceLine(50.0, "entry", "entry"))
    assert "".join(text for text, _ in OwnLabel(lines).name(room)) == name


@given(
    kinds=st.lists(
        st.tuples(st.sampled_from(("stop", "stop entry", "entry", "level 8")), st.integers(1, 3)),
        min_size=1,
        max_size=12,
    ),
    room=st.integers(5, 40),
)
def test_a_label_names_only_what_is_at_its_price_and_counts_every_other(
    kinds: list[tuple[str, int]], room: int
) -> None:
    lines = tuple(PriceLine(float(price), text, text) for text, price in kinds)
    runs = OwnLabel(lines).name(room)
    assert sum(len(text) for text, _ in runs) <= room
    here = Counter(text for text, price in kinds if price == kinds[0][1])
    said: Counter[str] = Counter()
    others = [(int(text), role) for text, role in runs if text[0] == "+"]
    for text, role in runs:
        if role == "muted" or text[0] == "+":
            continue
        name, _, count = text.partition(" ×")
        said[role] += int(count or 1)
        assert role.startswith(name)
        assert not count or int(count) == here[role]
        assert here[role]
    has_stop = [text for text, _ in kinds].count("stop") > said["stop"]
    counted = len(lines) - said.total()
    assert others == ([(counted, "stop" if has_stop else "muted")] if counted else [])


@given(
    prices=st.lists(st.floats(0, 150), max_size=60),
    rows=st.integers(2, 50),
    room=st.integers(1, 20),
)
def test_every_own_price_is_in_one_label_and_an_entry_inside_the_chart_or_the_nearest_is_named(
    prices: list[float], rows: int, room: int
) -> None:
    lines = [PriceLine(price, "entry", "entry") for price in prices]
    stop = PriceLine(90.0, "stop", "stop", Rank.WORKING)
    labels = labels_of_side(AXIS, Scale(0, 100, rows), 0.0, [*lines, stop], room)
    assert len(labels) <= room
    assert sorted(line.price for label in labels for line in label.lines) == sorted([*prices, 90.0])
    named_first = [label.first.text for label in labels]
    assert "entry" in named_first or not any(price <= 100 for price in prices)
    assert "stop" in named_first or any(price <= 100 for price in prices)


def test_at_one_price_stops_are_named_before_entries_and_several_before_a_single_one() -> None:
    here = [
        PriceLine(45.0, "stop entry", "pending", Rank.WORKING),
        *[PriceLine(45.0, "target", "target", Rank.WORKING)] * 2,
        ENTRY,
        replace(NEAR_STOP, price=45.0),
    ]
    assert named(here[:3], 10, 5, 50.0) == ["target ×2, stop entry 45.0"]
    assert named(here[:4], 10, 5, 50.0) == ["entry, target ×2, stop entry 45.0"]
    assert named(here[3:], 10, 5, 50.0) == ["stop, entry 45.0"]


def test_each_mark_has_its_name_and_price_on_its_line() -> None:
    marks = [PriceMark(50.3, "day low"), PriceMark(50.4, "close"), PriceMark(150.0, "day high")]
    scale = Scale(0, 100, 20)
    lines = [PriceLine(30.1, "stop", "stop")]
    made = price_labels(AXIS, scale, 80.0, lines, marks=marks, names=NAMES)
    assert made.marked == {scale.row(50.3): (("day low 50.3", "muted"), ("close 50.4", "muted"))}
    assert words(made) == {scale.row(30.1): "stop"}


def test_a_mark_has_no_line_in_the_row_of_an_own_label_or_an_own_line() -> None:
    lines = [PriceLine(price, "stop", "stop") for price in (50.1, 50.2)]
    scale = Scale(0, 100, 20)
    beside = scale.row(56.0)
    marks = [PriceMark(50.3, "close"), PriceMark(56.0, "day high")]
    made = price_labels(AXIS, scale, 80.0, lines, marks=marks, names=NAMES)
    assert set(made.own) == {beside, beside + 1}
    assert made.marked == {}


@pytest.mark.parametrize(
    ("side", "rank", "text"),
    [
        ("bid", Rank.WORKING, "↓ 18p"),
        ("ask", Rank.WORKING, "↓ 21p"),
        ("", Rank.WORKING, "↓ 20p"),
        ("bid", Rank.PLANNED, "↓-20.0"),
    ],
)
def test_a_distance_is_counted_from_the_side_that_triggers_and_kept_up_to_date(
    side: str, rank: Rank, text: str
) -> None:
    line, kept = PriceLine(-20.0, "stop", "stop", rank, side=side), AxisLabels()
    scale, sides = Scale(-10, 100, 20), {"bid": -2.1, "ask": 1.4}
    for is_update, now in ((False, {"bid": 3.0, "ask": 5.0}), (True, sides)):
        made = kept.labels(
            AXIS, scale, 0.1, [line], marks=(), cursor=None, sides=now, names=NAMES,
            is_update=is_update,
        )  # fmt: skip
    assert [made.rows[y][0].strip() for y in made.own] == [text.replace("-", "−")]


@given(
    others=st.lists(quoted(-100, 200), max_size=30),
    planned=st.lists(quoted(-100, 200), min_size=1, max_size=5),
    last=quoted(-20, 120),
    cursor=st.none() | st.floats(0, 100),
    rows=st.integers(9, 50),
)
@example(others=[], planned=[-1.0], last=0.0, cursor=0.0, rows=9)
@example(others=[1.0, 2.0, 3.0, 4.0], planned=[0.0, 0.1], last=0.0, cursor=None, rows=9)
@example(others=[], planned=[0.0, 101.0, -1.0], last=-1.0, cursor=None, rows=9)
def test_planned_prices_always_have_a_label(
    others: list[float], planned: list[float], last: float, cursor: float | None, rows: int
) -> None:
    plan = [PriceLine(price, "new", "plan", Rank.PLANNED) for price in planned]
    lines = [*(PriceLine(price, "stop", "stop", Rank.WORKING) for price in others), *plan]
    labels = price_labels(AXIS, Scale(0, 100, rows), last, lines, cursor=cursor)
    shown = [label.first.price for label in labels.own.values() if label.first.role == "plan"]
    assert {price for price in planned if 0 <= price <= 100} <= set(shown)
    assert any(price > 100 for price in planned) == any(price > 100 for price in shown)
    assert any(price < 0 for price in planned) == any(price < 0 for price in shown)


def test_a_blank_stands_between_the_name_of_a_planned_price_beyond_the_edge_and_its_arrow() -> None:
    plan = PriceLine(-20.0, "new stop", "stop", Rank.PLANNED)
    made = price_labels(AXIS, Scale(0, 100, 20), 50.0, [plan], names=NAMES)
    assert [words(made)[y] + made.rows[y][0] for y in made.own] == ["new stop ↓−20.0  "]


def test_the_label_of_a_crowded_row_is_that_of_the_stop_though_entries_are_nearer() -> None:
    lines = [PriceLine(51.0 + i, "entry", "entry") for i in range(40)]
    lines.append(PriceLine(88.0, "stop", "stop", Rank.WORKING))
    labels = price_labels(AXIS, Scale(0, 100, 10), 50.0, lines, names=NAMES)
    by_row = [text.strip(" ╭╰") for _, text in sorted(words(labels).items())]
    assert by_row == ["stop, entry", "entry +9", "entry +19", "entry +8"]


@pytest.mark.parametrize(
    ("room", "shown"),
    [
        (7, [f"stop {49.0 - i}" for i in range(7)]),
        (3, ["stop 49.0", "stop 48.0", "stop +4 47.0"]),
        (1, ["stop +6 49.0"]),
    ],
)
def test_prices_of_a_row_have_labels_of_their_own_while_there_are_rows_the_nearest_first(
    room: int, shown: list[str]
) -> None:
    lines = [replace(NEAR_STOP, price=49.0 - i) for i in range(7)]
    assert named(lines, 10, room, 50.0) == shown


def test_every_label_beside_its_line_says_so() -> None:
    lines = [PriceLine(price, "stop", "stop") for price in (50.1, 50.2, 50.3)]
    named = price_labels(AXIS, Scale(0, 100, 20), 80.0, lines, names=NAMES).names
    assert [named[y][0][0] for y in sorted(named)] == ["╭", "", "╰"]


@pytest.mark.parametrize(("count", "has_numbers"), [(9, True), (10, False)])
def test_labels_in_more_than_half_of_the_rows_leave_no_round_prices(
    count: int, has_numbers: bool
) -> None:
    lines = [PriceLine(5.0 * i + 2, "new", "plan", Rank.PLANNED) for i in range(count)]
    made = price_labels(AXIS, Scale(0, 100, 20), 98.0, lines, names=NAMES)
    assert ("muted" in [role for _, role in made.rows.values()]) == has_numbers


@given(st.floats(0.5, 2000), st.integers(3, 60))
@example(span=1.5, rows=6)  # the upper end is a round price
def test_a_row_is_blank_between_round_prices(span: float, rows: int) -> None:
    scale = Scale(100.0, 100.0 + span, rows)
    seen = sorted(scale.row(price) for price in multiples(scale, grid_step(scale, 1.0, ())))
    assert all(below - above > 1 for above, below in pairwise(seen))


def test_the_last_price_beyond_the_edge_has_an_arrow_and_leaves_room_for_farther_ones() -> None:
    labels = price_labels(
        AXIS, Scale(0, 100, 20), 150.0, [PriceLine(170.0, "target", "target")], names=NAMES
    )
    assert labels.last_row == 1
    assert labels.rows[1][0].startswith("↑150.0")
    assert words(labels) == {0: "target"}


def test_round_prices_are_multiples_of_one_two_or_five() -> None:
    for low, high in ((1.0801, 1.0849), (150.0, 152.7), (2300, 2420), (0.0001, 0.00013)):
        step = grid_step(Scale(low, high, 24), (high - low) / 50, ())
        digits = f"{step:.9e}".rstrip("0").split("e")[0].replace(".", "").rstrip("0")
        scaled = multiples(Scale(low, high, 24), step)
        assert len(scaled) >= 4
        assert digits
        assert decimals_of(step, step) >= 0
