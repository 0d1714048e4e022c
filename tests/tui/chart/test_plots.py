"""Pictures by plotext as rows of text and roles."""

import pytest

from keydesk.chart.plots import Axes, Series, histogram, plot, round_ticks, thinned

SIZES = [(76, 15), (36, 7), (196, 40), (12, 5)]
LINE = [(float(x), float(x % 7 - 3)) for x in range(200)]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("ascii_only", [False, True])
def test_a_picture_fits_its_size_and_has_the_roles_of_its_series(
    size: tuple[int, int], *, ascii_only: bool
) -> None:
    series = [Series(LINE, "profit", "curve"), Series(LINE[:50], "loss", "x")]
    axes = Axes([(0.0, "0"), (199.0, "199")], [(-3.0, "-3"), (3.0, "3")], zero=True)
    rows = plot(series, axes, size, ascii_only=ascii_only)
    assert len(rows) <= size[1]
    assert all(sum(len(text) for text, _ in row) <= size[0] for row in rows)
    roles = {role for row in rows for text, role in row if text.strip()}
    assert roles <= {"profit", "loss", "grid", "muted"}
    assert roles & {"profit", "loss"}
    if ascii_only:
        marks = {each for row in rows for text, role in row if role == "profit" for each in text}
        assert marks <= {"*", " "}


def test_bars_stand_at_their_places_in_their_roles() -> None:
    rows = histogram([(-1.0, 4, "loss"), (1.0, 2, "profit")], Axes([(1.0, "1")]), (40, 10))
    loss, profit = (
        sum(len(text) for row in rows for text, role in row if role == wanted)
        for wanted in ("loss", "profit")
    )
    assert loss > profit > 0


@pytest.mark.parametrize("columns", [1, 10, 80])
def test_thinning_keeps_the_lowest_the_highest_and_the_last_point(columns: int) -> None:
    points = [*LINE, (200.0, 99.0), (201.0, -99.0), (202.0, 1.0)]
    kept = thinned(points, columns)
    assert len(kept) <= max(4, columns * 4 + 2)
    assert {min(y for _, y in kept), max(y for _, y in kept)} == {-99.0, 99.0}
    assert kept[-1] == points[-1]
    assert kept == sorted(kept)


@pytest.mark.parametrize(
    ("low", "high", "most", "ticks"),
    [(0, 10, 6, [0, 2, 4, 6, 8, 10]), (-830, 2100, 4, [0, 1000, 2000]), (3, 3, 5, [3])],
)
def test_ticks_are_round_and_not_too_many(
    low: float, high: float, most: int, ticks: list[float]
) -> None:
    assert round_ticks(low, high, most) == ticks
