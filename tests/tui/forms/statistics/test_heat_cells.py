"""The heat maps: their tints, amounts, sums and bars, and the names of the months above them."""

from collections.abc import Iterable
from datetime import date, timedelta
from decimal import Decimal

import pytest
from msgspec.structs import replace

from keydesk.calc.trade_journal.charts import HeatCell
from keydesk.chart.plots import EIGHTHS
from keydesk.forms.modal_form import TextLine
from keydesk.forms.statistics.heat_cells import HeatMap, HeatRows, rows_of
from keydesk.forms.statistics.heat_page import least_amount, page_of, short_amount, together
from keydesk.forms.statistics.sum_tables import results_width, sum_lines
from keydesk.forms.statistics.trading_calendar import _heads
from keydesk.forms.statistics.view import ViewInput
from keydesk.trade_journal.snapshot import JournalSnapshot

D = Decimal
Cell = HeatCell | None


def row_of(*results: str) -> list[Cell]:
    """Cells with these results; - is an hour without a trade."""
    return [HeatCell(3, 1, D(each)) if each != "-" else None for each in results]


def map_of(
    *rows: str,
    width: int = 76,
    height: int = 16,
    chosen: tuple[int, int] = (0, 0),
    ascii_only: bool = False,
    has_tints: bool = True,
) -> HeatMap:
    """A map of these rows of results, the largest of which is 100; · is a cell without a trade."""
    cells = [row_of(*each.replace("·", "-").split()) for each in rows]
    own = ViewInput(
        JournalSnapshot(currency="USD"),
        (),
        width=width,
        rows=height,
        ascii_only=ascii_only,
        has_tints=has_tints,
    )
    return HeatMap(
        ["Mon", "Tue", "Wed"][: len(rows)],
        cells,
        [together([c for c in column if c]) for column in zip(*cells, strict=True)],
        [together([c for c in row if c]) for row in cells],
        chosen,
        6,
        D(100),
        own,
    )


def texts_of(lines: Iterable[TextLine]) -> list[str]:
    return ["".join(text for text, _ in line).rstrip() for line in lines]


def heads(shown: HeatMap) -> list[str]:
    return [f"{number + 7:02}" for number in range(len(shown.columns))]


def test_amounts_stand_below_their_column_and_beside_the_sums_of_their_row() -> None:
    shown = rows_of(map_of("100 -30 ·", "-4 2 0.4", height=12), 4, figures=2)
    assert texts_of(shown.lines(heads(shown))) == [
        "              07          08          09        sum     n  win %        R",
        "Mon   [  +100.00 ]    −30.00           ·     +70.00     6     33        –",
        "Tue        −4.00       +2.00       +0.40      −1.60     9     33        –",
        "sum       +96.00      −28.00       +0.40     +68.40    15     33        –",
        "n              6           6           3",
        "win %         33          33          33",
    ]


@pytest.mark.parametrize("width", [36, 50, 76, 116, 196])
@pytest.mark.parametrize("count", [1, 8, 13, 24])
def test_a_map_fits_its_width_and_names_all_that_is_beside_it(width: int, count: int) -> None:
    count = min(count, (width - 6) // 3)
    shown = rows_of(map_of(" ".join(["-42"] * count), width=width, height=30), 4, figures=2)
    lines = texts_of(shown.lines(heads(shown)))
    assert max(map(len, lines)) <= width
    assert lines[0].split()[:count] == [f"{number + 7:02}" for number in range(count)]
    assert ("win %" in lines[0]) is ("win %" in shown.side)
    assert ("sum" in lines[0]) is bool({"result", "short"} & {*shown.side})


def tints(shown: HeatMap) -> list[str]:
    line = shown.lines(heads(shown))[1]
    return [role for _, role in line if "%" in role and "@" not in role]


def test_the_larger_a_result_the_stronger_its_tint() -> None:
    row = "100 60 30 -3 -30 -80"
    assert tints(map_of(f"{row} ·", chosen=(0, 6))) == [
        *("profit%4", "profit%3", "profit%2", "loss%1", "loss%2", "loss%4"),
    ]


def test_neighbours_of_one_tint_are_one_run_and_small_tiles_have_a_gap() -> None:
    assert tints(map_of("3 3 3 -3 ·", chosen=(0, 4))) == ["profit%1", "loss%1"]
    small = map_of(" ".join(["-33"] * 20), width=66, chosen=(0, 19))
    assert tints(small) == ["loss%2"] * 20
    without = map_of("3 3 -3", chosen=(0, 2), has_tints=False)
    assert tints(without) == ["profit%1", "profit%1", "loss%1"]  # no line under the gap


def test_the_chosen_cell_is_marked_in_its_own_columns_alone() -> None:
    shown = replace(map_of("100 -30 5", chosen=(0, 1)), size=HeatRows(cell=2))
    for line, own in zip(shown.lines(heads(shown))[1:3], ("−30.00", "n 3"), strict=True):
        before, [marked] = 0, [text for text, role in line if role == "~focus"]
        assert (marked[0], marked[1:-1].strip(), marked[-1]) == ("[", own, "]")
        for text, role in line:
            if role == "~focus":
                break
            before += len(text)
        assert (before, len(marked)) == (shown.label + shown.cell, shown.cell)


def test_the_chosen_cell_stands_between_edges_where_gaps_are_of_no_cell() -> None:
    shown = map_of("100 -30 5", chosen=(0, 1), has_tints=False)
    line = shown.lines(heads(shown))[1]
    assert [text for text, role in line if role == "focus"] == ["[", "]"]
    text = texts_of([line])[0]
    assert text[text.index("[") + 1 : text.index("]")].strip() == "−30.00"


def test_one_column_has_no_sums_of_rows_beside_it_that_repeat_its_cells() -> None:
    assert map_of("100").side == ("n", "win %", "R")


def test_without_tints_and_room_for_amounts_the_strength_is_written() -> None:
    shown = map_of(" ".join(["100", "-30", "·"] * 7), width=69, chosen=(0, 20), has_tints=False)
    assert texts_of(shown.lines(heads(shown)))[1].startswith("Mon   +4 -2  · +4 -2")


def test_a_sum_has_no_plus_where_that_does_not_fit_and_its_minus_in_the_gap() -> None:
    shown = map_of(" ".join(["120", "-133"] * 9), width=78)
    [line] = [line for line in shown.lines(heads(shown)) if "sum" in line[0][0]]
    assert texts_of([line])[0].startswith("sum   120−133 120−133")
    assert [role for _, role in line[1:3]] == ["profit", "loss"]


def test_bars_of_columns_stand_above_and_below_their_sums_on_one_scale() -> None:
    shown = replace(map_of("100 -50 50 3 -10"), size=HeatRows(bars=6))
    lines = shown.lines(heads(shown))[3:]
    assert len(lines) == 7  # the sums are the axis

    def height(column: int) -> float:
        at = 6 + column * shown.cell + shown.filled - 1
        return sum(filled(line, at) for line in lines if line[0][0].strip() != "sum")

    assert [height(column) for column in range(5)] == [4, 2, 2, 0.125, 0.375]
    assert [texts_of([line])[0].split()[:1] for line in lines].index(["sum"]) == 4


def filled(line: TextLine, at: int) -> float:
    """How much of a cell is filled."""
    for text, role in line:
        if at < len(text):
            part = EIGHTHS.index(text[at]) / 8
            return 1 - part if role.startswith("~") else part
        at -= len(text)
    return 0


@pytest.mark.parametrize(
    ("height", "size"),
    [(8, (1, 0, 0)), (12, (1, 0, 2)), (16, (1, 5, 2)), (21, (1, 9, 2)), (31, (2, 9, 2))],
)
def test_figures_come_before_bars_and_numbers_of_trades(
    height: int, size: tuple[int, int, int]
) -> None:
    row = " ".join(["-30"] * 9)
    assert rows_of(map_of(row, row, width=116, height=height), 4, figures=2).size == size


def test_the_legend_has_a_tile_for_each_tint_or_says_what_is_reversed() -> None:
    line = map_of("100").legend()[0]
    assert len({role for _, role in line if "%" in role}) == 8
    assert texts_of([line])[0].endswith("gain  in steps of 25.00 USD")
    assert texts_of(map_of("100", has_tints=False).legend()) == [
        "+ gain, − loss, reversed from 50.00 USD"
    ]


def test_where_no_more_than_four_characters_fit_an_amount_has_no_tenths_of_a_thousand() -> None:
    assert [short_amount(D(each), 4) for each in ("1234", "-9949")] == ["+1k", "−10k"]
    assert least_amount(row_of_cells("1234", "-0.4")) == 4
    assert least_amount(row_of_cells("100000")) == 5  # +100k


def row_of_cells(*results: str) -> list[HeatCell]:
    return [each for each in row_of(*results) if each is not None]


@pytest.mark.parametrize("left", range(8))
def test_at_most_one_blank_row_stands_above_the_lines_that_are_out_of_sight(left: int) -> None:
    words: list[TextLine] = [(("x", "plain"),)]
    lines = page_of(words * 8, words * 3, words * 9, 12 + left)
    shown = ["".join(text for text, _ in line) for line in lines][: 12 + left - 1]
    assert shown[-2:] != ["", ""]
    assert shown.count("") <= 2


@pytest.mark.parametrize(
    ("result", "shown"),
    [
        ("-0.4", "−0.4"),
        ("0", "0"),
        ("999.4", "+999"),
        ("999.5", "+1.0k"),
        ("-9949", "−9.9k"),
        ("9950", "+10k"),
        ("1234567", "+1.2M"),
    ],
)
def test_an_amount_in_a_cell_has_at_most_five_characters(result: str, shown: str) -> None:
    assert short_amount(D(result)) == shown
    assert len(shown) <= 5


# The names of weeks.


def test_mondays_have_their_day_and_the_first_of_a_month_its_name() -> None:
    mondays = [date(2025, 11, 17) + timedelta(weeks=number) for number in range(4)]
    assert _heads(mondays, 7) == ["Nov 17", "24", "Dec 1", "8"]
    assert _heads(mondays, 6) == ["Nov 17", "24", "Dec", "8"], "else 24 Dec 1 is one date"
    assert _heads(mondays, 5) == ["Nov", "24", "Dec", "8"]
    assert _heads(mondays, 3) == ["Nov", "24", "Dec", "8"]


def test_bars_of_sums_take_the_columns_that_short_results_leave() -> None:
    own = {"a": HeatCell(1, 1, Decimal(574)), "b": HeatCell(1, 0, Decimal("-43.23"))}
    assert results_width(own.values()) == len("+574.00") + 3
    assert results_width([HeatCell(1, 1, Decimal(1))]) == len("result") + 3
    assert results_width([HeatCell(1, 1, Decimal(10**9))]) == len("+1,000,000,000.00") + 2
    for result_width, gain in ((12, "━━ "), (results_width(own.values()), "━━━ ")):
        lines = sum_lines("By tag", own, 37, 15, result_width=result_width)
        texts = ["".join(text for text, _ in line) for line in lines]
        assert f"+574.00 {' ' * (len(gain) - 1)}│{gain}" in f"{texts[1]} "
        assert len(texts[2]) <= 37


def test_an_amount_that_takes_all_of_its_cell_keeps_the_opening_edge_in_the_gap_before_it() -> None:
    shown = map_of(" ".join(["142", "-133"] * 7), width=76, chosen=(0, 2))
    assert shown.filled == len("+142")
    assert "[+142]" in texts_of(shown.lines(heads(shown)))[1]
    assert "[+142]" in texts_of(replace(shown, chosen=(0, 0)).lines(heads(shown)))[1]


def test_bars_beside_rows_are_named() -> None:
    shown = map_of("100 -30", "5 7", width=120)
    lines = texts_of(shown.lines(heads(shown)))
    assert lines[0].endswith(" R  bar: result")
