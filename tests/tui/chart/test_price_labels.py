"""Labels of the price axis are stacked in the order of price, never hide each other and never cross the last price."""

from decimal import Decimal
from itertools import pairwise

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from keydesk.chart.own_labels import OwnLabel, kind_of, own_labels
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
    places = spread(wanted, room, [1] * len(wanted))
    assert len(places) == len(wanted)
    assert all(0 <= place < room for place in places)
    assert all(one < other for one, other in pairwise(places))


@given(st.lists(st.integers(0, 30), max_size=12, unique=True).map(sorted))
def test_labels_with_room_stand_where_they_are_wanted(wanted: list[int]) -> None:
    assert spread(wanted, 31, [1] * len(wanted)) == wanted


@pytest.mark.parametrize("stop", [0, 1, 2])
def test_of_labels_that_want_one_row_a_stop_has_it(stop: int) -> None:
    targets = at(TARGET, 32.0, 31.5, 31.0)
    lines = [replace(line, rank=Rank.PLANNED) for line in targets]  # which have a label each
    lines[stop] = replace(STOP, price=lines[stop].price)
    made = price_labels(AXIS, Scale(0, 100, 20), 80.0, lines).own
    assert made[Scale(0, 100, 20).row(31.0)].line.role == "stop"
    assert len(made) == len(lines)


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
    scale = Scale(0, 100, rows)
    labels = price_labels(EXACT, scale, last, lines)
    own = {y: label.line.price for y, label in sorted(labels.own.items())}
    assert list(own.values()) == sorted(own.values(), reverse=True)
    assert all((price >= last) == (y < labels.last_row) for y, price in own.items())
    for y, price in own.items():
        text = labels.rows[y][0].strip()
        arrow = "↑" if y < labels.last_row else "↓"
        assert text.startswith(arrow) if scale.row(price) != y else float(text) == price
    assert all(len(text) == EXACT.width for text, _ in labels.rows.values())


def test_prices_that_share_a_row_are_stacked_and_the_one_in_another_row_says_its_distance() -> None:
    lines = [PriceLine(50.1, "stop", "stop"), PriceLine(50.2, "limit", "pending")]
    labels = price_labels(AXIS, Scale(0, 100, 20), 80.0, lines).rows
    texts = [
        text.strip() for y, (text, role) in sorted(labels.items()) if role in {"stop", "pending"}
    ]
    assert texts == ["↓ 30p", "50.1"]


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


def named(lines: list[PriceLine], *, rows: int = 20, above: int = 9, below: int = 9) -> list[str]:
    """What the labels of kinds say in a chart from 0 to 100, the last price at 50, from the highest down."""
    sides = own_labels(Scale(0, 100, rows), 50.0, lines, above, below)
    return [
        "".join(text for text, _ in label.name(NAMES)) + f" {label.line.price:.1f}"
        for labels in sides
        for label in labels
    ]


def written(lines: list[PriceLine], *, rows: int = 20) -> list[str]:
    """What all labels of that chart say."""
    made = price_labels(AXIS, Scale(0, 100, rows), 50.0, lines, names=NAMES)
    return [f"{words(made)[y]} {made.rows[y][0].strip()}" for y in sorted(made.own)]


ENTRY = PriceLine(45.0, "long", "entry", units=Decimal(10_000))
STOP = PriceLine(30.0, "stop", "stop", Rank.WORKING)
TARGET = PriceLine(70.0, "target", "target", Rank.WORKING)
LIMIT = PriceLine(20.0, "buy limit", "buy", Rank.WORKING)


def at(line: PriceLine, *prices: float) -> list[PriceLine]:
    """The same own price at other prices."""
    return [replace(line, price=price) for price in prices]


def test_prices_whose_rows_are_free_have_a_label_each() -> None:
    lines = [ENTRY, *at(STOP, 10.0, 20.0, 30.0)]
    assert written(lines) == ["long 10k 45.0", "stop 30.0", "stop 20.0", "stop 10.0"]


@pytest.mark.parametrize(
    ("prices", "shown"),
    [
        ((40.0, 31.0, 30.5, 10.0), ["stop 40.0", "3 stops from 31.0"]),
        ((41.0, 40.5, 30.0, 20.0), ["4 stops from 41.0"]),
        ((40.0, 40.0, 30.0), ["2 stops at 40.0", "stop 30.0"]),
        ((40.0, 30.0, -10.0), ["stop 40.0", "2 stops from 30.0"]),
        ((-10.0, -10.0), ["2 stops at −10.0 ↓ 60p"]),
    ],
)
def test_only_the_farthest_label_of_a_kind_counts_what_is_there_and_beyond(
    prices: tuple[float, ...], shown: list[str]
) -> None:
    assert written(at(STOP, *prices)) == shown


def test_a_kind_whose_nearest_price_has_lost_its_row_has_no_label_of_a_farther_one() -> None:
    lines = [*at(STOP, 40.0, 20.0), *at(LIMIT, 40.5, 20.5)]
    assert written(lines) == ["2 buy limits from 40.5 ↓ 9.5p", "stop 40.0", "stop 20.0"]


def test_of_farther_prices_in_one_row_the_stop_has_the_label() -> None:
    lines = [*at(LIMIT, 45.0, 20.5), *at(STOP, 40.0, 20.0)]
    assert written(lines) == ["2 buy limits from 45.0", "stop 40.0", "stop 20.0"]


@pytest.mark.parametrize(
    ("rows", "shown"),
    [
        (12, ["target 90.0", "target 70.0", "stop 30.0", "stop 10.0"]),
        (7, ["target 90.0", "target 70.0", "stop 30.0", "stop 10.0"]),
        (6, ["target 90.0", "target 70.0", "2 stops from 30.0"]),
    ],
)
def test_labels_of_farther_prices_take_half_of_the_rows_the_nearest_first(
    rows: int, shown: list[str]
) -> None:
    assert written([*at(STOP, 10.0, 30.0), *at(TARGET, 70.0, 90.0)], rows=rows) == shown


def test_entries_that_share_a_label_have_their_average_with_units_and_number_of_trades() -> None:
    large = replace(ENTRY, price=53.0, units=Decimal(30_000))
    shorts = at(replace(ENTRY, text="short"), 40.0, 41.0)
    assert named([*at(ENTRY, 49.0), large, *shorts]) == [
        "long 40k, 2 trades 52.0", "short 20k, 2 trades 40.5",
    ]  # fmt: skip


def test_entries_beyond_the_edge_share_the_label_of_the_others() -> None:
    assert named(at(ENTRY, -10.0, 20.0)) == ["long 20k, 2 trades 5.0"]


def test_equal_prices_share_a_label() -> None:
    assert named([STOP, STOP, ENTRY, ENTRY]) == ["long 20k, 2 trades 45.0", "2 stops at 30.0"]


def test_buy_and_sell_orders_have_labels_of_their_own() -> None:
    sells = at(PriceLine(0.0, "sell stop", "sell", Rank.WORKING), 19.0, 18.0)
    assert named([LIMIT, *sells]) == ["buy limit 20.0", "2 sell stops from 19.0"]


def test_a_planned_price_shares_no_label_with_the_one_that_it_would_replace() -> None:
    plan = replace(STOP, text="new stop", rank=Rank.PLANNED)
    assert named([STOP, plan, replace(plan, price=31.0)]) == [
        "new stop 31.0", "new stop 30.0", "stop 30.0",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("below", "shown"),
    [
        (3, ["long 10k 45.0", "alert, 1 other 31.0", "2 stops from 30.0"]),
        (2, ["long 10k, 2 others 45.0", "2 stops from 30.0"]),
        (1, ["2 stops, 3 others from 30.0"]),
    ],
)
def test_where_rows_are_fewer_than_kinds_stop_and_entry_stay_and_the_last_label_counts_the_rest(
    below: int, shown: list[str]
) -> None:
    lines = [ENTRY, *at(STOP, 28.0, 30.0), PriceLine(31.0, "alert", "alert"), LIMIT]
    assert named(lines, below=below) == shown


@pytest.mark.parametrize(
    ("room", "name"),
    [(18, "13 buy limits from"), (17, "13 buys from"), (11, "13 buys"), (6, "13 buy"), (3, "")],
)
def test_a_name_is_shortened_before_its_number_which_is_never_cut(room: int, name: str) -> None:
    lines = (*at(LIMIT, 19.0), *(LIMIT,) * 12)
    assert "".join(text for text, _ in OwnLabel(LIMIT, lines).name(room)) == name


@pytest.mark.parametrize(
    ("lines", "name"),
    [
        ([LIMIT, replace(LIMIT, text="buy stop")], "2 buys at"),
        ([STOP, replace(STOP, text="trail", price=29.0)], "2 stops from"),
        (at(PriceLine(30.0, "weekly-high", "plain", Rank.LEVEL), 30.0, 31.0), "2 levels from"),
        ([STOP, STOP, LIMIT, ENTRY], "2 stops, 2 others at"),
    ],
)
def test_prices_that_differ_are_counted_by_their_kind(lines: list[PriceLine], name: str) -> None:
    assert "".join(text for text, _ in OwnLabel(lines[0], tuple(lines)).name(NAMES)) == name


@pytest.mark.parametrize(
    ("room", "name"),
    [(20, "long 110k, 11 trades"), (19, "long 110k ×11"), (11, "long ×11"), (6, "lo ×11")],
)
def test_several_trades_are_counted_in_any_room(room: int, name: str) -> None:
    trades = (ENTRY,) * 11
    average = replace(ENTRY, units=Decimal(110_000))
    assert "".join(text for text, _ in OwnLabel(average, trades).name(room)) == name


def test_the_number_has_the_colour_of_stops_where_a_label_of_others_counts_one() -> None:
    assert OwnLabel(ENTRY, (ENTRY, STOP)).name(NAMES)[-1] == (", 1 other", "stop")
    assert OwnLabel(STOP, (STOP, ENTRY)).name(NAMES)[-1] == (", 1 other", "muted")


@given(
    others=st.lists(
        st.tuples(quoted(-50, 150), st.sampled_from((ENTRY, STOP, TARGET, LIMIT))), max_size=60
    ),
    rows=st.integers(2, 50),
    above=st.integers(1, 20),
    below=st.integers(1, 20),
)
def test_every_own_price_is_in_one_label_and_the_nearest_stop_of_each_side_has_one(
    others: list[tuple[float, PriceLine]], rows: int, above: int, below: int
) -> None:
    lines = [replace(line, price=price) for price, line in others]
    sides = own_labels(Scale(0, 100, rows), 50.0, lines, above, below)
    for labels, room in zip(sides, (above, below), strict=True):
        assert len(labels) <= room
        prices = [label.line.price for label in labels]
        assert prices == sorted(prices, reverse=True)
    counted = [line for labels in sides for label in labels for line in label.lines]
    assert sorted(map(repr, counted)) == sorted(map(repr, lines))
    for labels, is_above in zip(sides, (True, False), strict=True):
        stops = [line.price for line in lines if line.role == "stop"]
        here = [price for price in stops if (price >= 50.0) == is_above]
        nearest = min(here, key=lambda price: abs(price - 50.0), default=None)
        shown = [label.line.price for label in labels if label.line.role == "stop"]
        assert nearest is None or nearest in shown


@given(prices=st.lists(quoted(-50, 150), min_size=1, max_size=30), rows=st.integers(3, 50))
def test_a_label_of_several_entries_has_their_average_and_all_of_their_kind(
    prices: list[float], rows: int
) -> None:
    lines = at(ENTRY, *prices)
    [*above], [*below] = own_labels(Scale(0, 100, rows), 50.0, lines, rows, rows)
    for label in (*above, *below):
        of_kind = [line.price for line in label.lines if kind_of(line) == kind_of(ENTRY)]
        assert label.line.price == pytest.approx(sum(of_kind) / len(of_kind))
        assert label.line.units == 10_000 * len(of_kind)


def test_an_average_that_the_last_price_crosses_changes_its_side() -> None:
    lines, kept = at(ENTRY, 48.0, 53.0, 54.0), AxisLabels()  # 51.7 on average
    for last, is_update in ((51.0, False), (52.0, True)):
        made = kept.labels(
            AXIS, Scale(0, 100, 20), last, lines, marks=(), cursor=None, sides={}, names=NAMES,
            is_update=is_update,
        )  # fmt: skip
        [y] = made.own
        assert (y < made.last_row) == (not is_update)


@pytest.mark.parametrize(
    ("price", "text"),
    [
        (55.5, "↑ 5.5p"),
        (55.45, "↑ 5.5p"),
        (59.94, "↑ 9.9p"),
        (68.5, "↑ 19p"),
        (69.5, "↑ 20p"),
        (1050.0, "↑ 1000p"),
    ],
)
def test_a_distance_is_rounded_half_up_to_a_tenth_below_10_pips_and_to_a_pip_above(
    price: float, text: str
) -> None:
    assert AXIS.far(replace(STOP, price=price), 50.0, above=True).strip() == text


@pytest.mark.parametrize(
    ("names", "name"),
    [(30, "4 buy limits from −10.0"), (22, "4 buys from −10.0"), (17, "4 buy limits from")],
)
def test_a_name_has_the_price_beside_its_distance_where_there_is_room(
    names: int, name: str
) -> None:
    lines = at(LIMIT, -10.0, -11.0, -12.0, -13.0)
    made = price_labels(AXIS, Scale(0, 100, 20), 50.0, lines, names=names)
    assert [(words(made)[y], made.rows[y][0].strip()) for y in made.own] == [(name, "↓ 60p")]


def test_the_last_price_gives_way_to_an_own_price_in_its_row_and_leaves_each_kind_a_row() -> None:
    scale = Scale(0, 100, 10)
    made = price_labels(AXIS, scale, 81.0, [replace(ENTRY, price=82.0)], names=NAMES)
    assert (set(made.own), made.last_row) == ({1}, 2)
    lines = [replace(TARGET, price=120.0), replace(STOP, price=110.0), replace(LIMIT, price=99.0)]
    made = price_labels(AXIS, scale, 95.0, lines, names=NAMES)
    assert (set(made.own), made.last_row) == ({0, 1, 2}, 3)


def test_each_mark_has_its_name_and_price_on_its_line() -> None:
    marks = [PriceMark(50.3, "day low"), PriceMark(50.4, "close"), PriceMark(150.0, "day high")]
    scale = Scale(0, 100, 20)
    lines = [PriceLine(30.1, "stop", "stop")]
    made = price_labels(AXIS, scale, 80.0, lines, marks=marks, names=NAMES)
    assert made.marked == {scale.row(50.3): (("day low 50.3", "muted"), ("close 50.4", "muted"))}
    assert words(made) == {scale.row(30.1): "stop"}


def test_a_mark_has_no_line_in_the_row_of_an_own_label_or_an_own_line() -> None:
    lines = [PriceLine(50.1, "stop", "stop"), PriceLine(50.2, "target", "target")]
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
    shown = [label.line.price for label in labels.own.values() if label.line.role == "plan"]
    assert {price for price in planned if 0 <= price <= 100} <= set(shown)
    assert any(price > 100 for price in planned) == any(price > 100 for price in shown)
    assert any(price < 0 for price in planned) == any(price < 0 for price in shown)


def test_a_blank_stands_between_the_name_of_a_planned_price_beyond_the_edge_and_its_arrow() -> None:
    plan = PriceLine(-20.0, "new stop", "stop", Rank.PLANNED)
    made = price_labels(AXIS, Scale(0, 100, 20), 50.0, [plan], names=NAMES)
    assert [words(made)[y] + made.rows[y][0] for y in made.own] == ["new stop ↓−20.0  "]


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
    assert words(labels) == {0: "target 170.0"}


def test_round_prices_are_multiples_of_one_two_or_five() -> None:
    for low, high in ((1.0801, 1.0849), (150.0, 152.7), (2300, 2420), (0.0001, 0.00013)):
        step = grid_step(Scale(low, high, 24), (high - low) / 50, ())
        digits = f"{step:.9e}".rstrip("0").split("e")[0].replace(".", "").rstrip("0")
        scaled = multiples(Scale(low, high, 24), step)
        assert len(scaled) >= 4
        assert digits
        assert decimals_of(step, step) >= 0
