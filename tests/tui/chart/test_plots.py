"""Plots as rows of text and roles: where values stand, not how they look."""

from collections.abc import Sequence

import pytest

from keydesk.chart.canvas import Run
from keydesk.chart.plots import (
    Label,
    Plot,
    Rows,
    Signed,
    Span,
    round_ticks,
    scale_row,
    signed_span,
)

SIZES = [(76, 15), (36, 7), (196, 40), (12, 5), (1, 1)]
WALK = [(float(x), float(x * 37 % 17 - 8)) for x in range(200)]
SIGNS = Signed("profit", "loss")


def plot(size: tuple[int, int], x: Span, y: Span, *, ascii_only: bool = False) -> Plot:
    return Plot(size, x, y, ascii_only=ascii_only)


def texts(rows: Rows) -> list[str]:
    return ["".join(text for text, _ in row) for row in rows]


def cells(rows: Sequence[Sequence[Run]], role: str) -> list[tuple[int, int]]:
    """The (column, row) of what is drawn in a role."""
    found = []
    for y, row in enumerate(rows):
        x = 0
        for text, own in row:
            found += [(x + at, y) for at, _ in enumerate(text) if own.lstrip("~") == role]
            x += len(text)
    return found


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("ascii_only", [False, True])
def test_every_row_of_a_plot_is_as_wide_as_it_was_asked_for(
    size: tuple[int, int], *, ascii_only: bool
) -> None:
    drawn = plot(
        size,
        Span(0, 199),
        signed_span((y for _, y in WALK), max(2, size[1])),
        ascii_only=ascii_only,
    )
    drawn.steps(WALK, SIGNS)
    drawn.area(WALK, "loss")
    drawn.line_across(0, "muted", "-")
    drawn.line_down(100, "muted")
    assert [len(text) for text in texts(drawn.drawn())] == [size[0]] * size[1]
    assert {len(t) for t in texts(drawn.with_values([Label(0, "12")], 6))} == {size[0] + 6}


def test_a_curve_keeps_its_value_until_the_next_one() -> None:
    drawn = plot((10, 5), Span(0, 9), Span(0, 4), ascii_only=True)
    drawn.steps([(0, 4), (5, 0), (9, 0)], Signed("profit", "loss", base=-1))
    assert texts(drawn.drawn()) == [
        "******    ",
        "     *    ",
        "     *    ",
        "     *    ",
        "     *****",
    ]


def test_braille_dots_are_two_a_column_and_four_a_row() -> None:
    drawn = plot((3, 2), Span(0, 5), Span(0, 7))
    drawn.steps([(0, 0), (3, 7), (5, 7)], Signed("profit", "loss", base=-1))
    assert texts(drawn.drawn()) == [" ⢸⠉", "⣀⣸ "]


def test_a_curve_is_in_one_role_above_its_base_and_in_another_below() -> None:
    drawn = plot((20, 9), Span(0, 2), Span(-4, 4))
    drawn.steps([(0, 3), (1, -3), (2, -3)], SIGNS)
    rows = drawn.drawn()
    assert {y for _, y in cells(rows, "profit")} <= set(range(5))
    assert {y for _, y in cells(rows, "loss")} <= set(range(4, 9))


@pytest.mark.parametrize("ascii_only", [False, True])
@pytest.mark.parametrize("rows", [2, 5, 9, 30])
@pytest.mark.parametrize("ends", [(-10, 10), (-1, 300), (-300, 1), (0, 5), (-5, 0)])
def test_a_loss_is_below_zero_and_a_gain_is_not(
    ends: tuple[float, float], rows: int, *, ascii_only: bool
) -> None:
    y = signed_span(ends, rows)
    assert y.low <= ends[0] < ends[1] < y.high
    drawn = plot((20, rows), Span(0, 19), y, ascii_only=ascii_only)
    drawn.steps([(0, 0), (5, ends[0] / 1000), (10, ends[1] / 1000), (19, ends[1])], SIGNS)
    assert {y for _, y in cells(drawn.drawn(), "profit")} <= set(range(drawn.row(0) + 1))
    lines = texts(drawn.drawn())
    below = {x for x, y in cells(drawn.drawn(), "loss") if lines[y][x] != " "}
    assert set(range(6, 10)) <= below <= set(range(5, 11)) if ends[0] else not below


def test_an_area_hangs_from_the_upper_edge_an_eighth_of_a_row_precise() -> None:
    drawn = plot((4, 2), Span(0, 3), Span(-2, 0))
    drawn.area([(0, 0), (1, -0.25), (2, -1.5), (3, -2)], "loss")
    assert texts(drawn.drawn()) == [" ▆  ", "  ▄ "]
    assert cells(drawn.drawn(), "loss") == [(1, 0), (2, 0), (3, 0), (2, 1), (3, 1)]


def test_an_area_in_ascii_is_loud_at_its_edge_alone() -> None:
    drawn = plot((4, 4), Span(0, 3), Span(-3, 0), ascii_only=True)
    drawn.area([(0, 0), (1, -1), (2, -3), (3, -1)], "loss")
    assert [text.rstrip() for text in texts(drawn.drawn())] == [" #:#", "  :", "  :", "  #"]


def test_an_area_ends_with_the_last_value_also_where_deeper_ones_share_its_column() -> None:
    drawn = plot((2, 2), Span(0, 9), Span(-2, 0))
    drawn.area([(0, -1), (8, -2), (8.5, 0), (9, -0.25)], "loss")
    assert texts(drawn.drawn()) == [" ▆", "  "]


def test_a_bar_stands_on_the_lower_edge_with_its_parts_upon_one_another() -> None:
    drawn = plot((6, 4), Span(0, 5), Span(0, 4))
    assert drawn.bar(0, 2, [(1, "loss"), (2, "profit")]) == 1
    rows = drawn.drawn()
    assert cells(rows, "loss") == [(0, 3), (1, 3)]
    assert cells(rows, "profit") == [(0, 1), (1, 1), (0, 2), (1, 2)]


def test_a_bar_of_little_is_still_seen() -> None:
    drawn = plot((2, 4), Span(0, 1), Span(0, 1000))
    drawn.bar(0, 1, [(1, "profit")])
    assert texts(drawn.drawn())[-1] == "▁ "


def test_the_glyph_of_a_place_says_how_many_points_it_has() -> None:
    drawn = plot((5, 1), Span(0, 4), Span(0, 1), ascii_only=True)
    drawn.density([(0, 0), (2, 0), (2, 0), *[(4, 0)] * 9], "profit")
    assert texts(drawn.drawn()) == ["x o @"]


def test_words_are_written_only_where_they_touch_nothing() -> None:
    drawn = plot((9, 1), Span(0, 8), Span(0, 1))
    assert drawn.write(0, 0, "12", "plain")
    assert not drawn.write(0, 2, "34", "plain")
    assert drawn.write(0, 3, "34", "plain")
    assert not drawn.write(0, 8, "56", "plain")
    assert texts(drawn.drawn()) == ["12 34    "]


def test_values_stand_beside_their_rows_and_the_first_of_a_row_stays() -> None:
    drawn = plot((2, 3), Span(0, 1), Span(0, 2))
    labels = [Label(0, "now"), Label(0, "2"), Label(2, "0")]
    assert texts(drawn.with_values(labels, 5)) == ["    now", "       ", "      0"]
    assert texts(drawn.with_values(labels, 5, at_left=True)) == [" now   ", "       ", "   0   "]


def test_labels_of_a_scale_that_would_touch_are_left_out() -> None:
    labels = [Label(0, "Sep"), Label(4, "Oct"), Label(10, "Nov"), Label(19, "Dec")]
    [row] = texts([scale_row(labels, 20, centred=False)])
    assert row == "Sep       Nov    Dec"


@pytest.mark.parametrize(
    ("low", "high", "most", "ticks"),
    [
        (0, 10, 6, [0, 2, 4, 6, 8, 10]),
        (-830, 2100, 4, [0, 1000, 2000]),
        (3, 3, 5, [3]),
        (0, 0.5, 2, [0, 0.5]),
        (-1e-7, 1e-7, 3, [-1e-7, 0, 1e-7]),
    ],
)
def test_ticks_are_round_and_not_too_many(
    low: float, high: float, most: int, ticks: list[float]
) -> None:
    assert round_ticks(low, high, most) == pytest.approx(ticks)


def test_the_span_of_nothing_is_not_empty() -> None:
    assert signed_span([], 5).low < 0 < signed_span([], 5).high
