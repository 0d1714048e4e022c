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
from keydesk.forms.statistics.trading_calendar import _month_line
from keydesk.forms.statistics.view import ViewInput
from keydesk.trade_journal.snapshot import JournalSnapshot
from keydesk.widgets.theme import _palette_of_file

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
        "              07          08          09        all     n  win %        R",
        "Mon  ▐      +100 ▌       −30           ·     +70.00     6     33        –",
        "Tue           −4          +2        +0.4      −1.60     9     33        –",
        "all          +96         −28        +0.4     +68.40    15     33        –",
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
    assert [name in lines[0] for name in ("all", "win %")] == [
        bool(shown.side),
        "win %" in shown.side,
    ]


def tints(shown: HeatMap) -> list[str]:
    line = shown.lines(heads(shown))[1]
    return [role for _, role in line if "%" in role and "@" not in role]


def test_the_larger_a_result_the_stronger_its_tint() -> None:
    row = "100 60 30 -3 -30 -80"
    assert tints(map_of(row, chosen=(0, 5))) == [
        *("profit%4", "profit%3", "profit%2", "loss%1", "loss%2", "loss%4"),
    ]


def test_neighbours_of_one_tint_are_one_run_and_small_tiles_have_a_gap() -> None:
    assert tints(map_of("3 3 3 -3", chosen=(0, 3))) == ["profit%1", "loss%1"]
    small = map_of(" ".join(["-33"] * 20), width=66, chosen=(0, 19))
    assert tints(small) == ["loss%2"] * 20
    without = map_of("3 3 -3", chosen=(0, 2), has_tints=False)
    assert tints(without) == ["profit%1", "profit%1", "loss%1"]  # no line under the gap


def test_the_edge_of_the_chosen_cell_stands_on_the_tint_of_the_cell_before_it() -> None:
    line = map_of("100 -30", chosen=(0, 1)).lines(None)[1]
    assert ("▐", "focus@profit%4") in line
    palette = _palette_of_file("dark", "truecolor")
    edge, before = (palette.chart_style(each) for each in ("focus@profit%4", "profit%4"))
    assert (edge.bgcolor, edge.color) == (before.bgcolor, palette["focus"].color)


@pytest.mark.parametrize(("ascii_only", "edges"), [(False, "▐▌"), (True, "[]")])
def test_the_chosen_cell_stands_between_edges_in_each_of_its_rows(
    edges: str, *, ascii_only: bool
) -> None:
    shown = map_of("100 -30", chosen=(0, 1), ascii_only=ascii_only)
    shown = replace(shown, size=HeatRows(cell=2))
    lines = texts_of(shown.lines(heads(shown)))
    for line, own in zip(lines[1:3], ("−30", "n 3"), strict=True):
        assert line[line.index(edges[0]) + 1 : line.index(edges[1])].strip() == own


def test_without_tints_and_room_for_amounts_the_strength_is_written() -> None:
    shown = map_of(" ".join(["100", "-30", "·"] * 7), width=69, chosen=(0, 20), has_tints=False)
    assert texts_of(shown.lines(heads(shown)))[1].startswith("Mon   +4 -2  · +4 -2")


def test_a_sum_has_no_plus_where_that_does_not_fit_and_its_minus_in_the_gap() -> None:
    shown = map_of(" ".join(["120", "-133"] * 9), width=78)
    [line] = [line for line in shown.lines(heads(shown)) if "all" in line[0][0]]
    assert texts_of([line])[0].startswith("all   120−133 120−133")
    assert [role for _, role in line[1:3]] == ["profit", "loss"]


def test_bars_of_columns_stand_above_and_below_their_sums_on_one_scale() -> None:
    shown = replace(map_of("100 -50 50 3 -10"), size=HeatRows(bars=6))
    lines = shown.lines(heads(shown))[3:]
    assert len(lines) == 7  # the sums are the axis

    def height(column: int) -> float:
        at = 6 + column * shown.cell + shown.filled - 1
        return sum(filled(line, at) for line in lines if line[0][0].strip() != "all")

    assert [height(column) for column in range(5)] == [4, 2, 2, 0.125, 0.375]
    assert [texts_of([line])[0].split()[:1] for line in lines].index(["all"]) == 4


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


# The names of months.


def test_a_week_of_the_calendar_is_of_the_month_of_its_last_day_that_is_shown() -> None:
    def months(*mondays: date, last: int = 4) -> str:
        return "".join(text for text, _ in _month_line(mondays, [5] * len(mondays), last)).strip()

    assert months(date(2026, 2, 23)) == "Feb"
    assert months(date(2026, 2, 23), last=6) == "Mar"  # its Sunday is the first
    assert months(date(2026, 7, 27), date(2026, 8, 3)) == "Jul  Aug"  # the first is a Saturday


def test_a_month_of_one_week_gives_way_to_the_name_of_the_next_one() -> None:
    mondays = [date(2025, 9, 22) + timedelta(weeks=number) for number in range(4)]
    line = "".join(text for text, _ in _month_line(mondays, [3] * len(mondays), 4))
    assert line == "       Oct"


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
