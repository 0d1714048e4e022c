"""The cells of the heat maps: their shades, amounts and sums, and the names of the months above them."""

from datetime import date, timedelta
from decimal import Decimal

import pytest
from msgspec.structs import replace

from keydesk.calc.trade_journal.charts import HeatCell
from keydesk.forms.modal_form import TextLine
from keydesk.forms.statistics.heat_cells import (
    CellSize,
    CellStyle,
    head_line,
    least_amount,
    page_of,
    results_width,
    sum_lines,
)
from keydesk.forms.statistics.trading_calendar import _month_line
from keydesk.forms.statistics.view import ViewInput
from keydesk.trade_journal.snapshot import JournalSnapshot

D = Decimal
Cell = HeatCell | None


def row_of(*results: str) -> list[Cell]:
    """Cells with these results; "" is an hour without a trade."""
    return [HeatCell(3, 1, D(each)) if each else None for each in results]


def style_of(size: CellSize, *, ascii_only: bool = False, least: int = 4) -> CellStyle:
    """Cells of this size, the largest of which is 100."""
    return CellStyle(size, D(100), ViewInput(JournalSnapshot(), (), ascii_only=ascii_only), least)


def cells(
    *results: str, size: CellSize, chosen: int | None = None, ascii_only: bool = False
) -> list[str]:
    """The rows of cells with these results, the largest of which is 100; "" is an hour without a trade."""
    style = style_of(size, ascii_only=ascii_only)
    lines = style.lines(("Mon", "muted"), row_of(*results), chosen)
    return ["".join(text for text, _ in line).rstrip() for line in lines]


def test_the_chosen_shade_stands_between_edges_half_a_column_from_its_neighbour() -> None:
    assert cells("100", "-30", "", size=CellSize(4), chosen=1) == ["Mon ███▐▒▒▒▌ ·"]


@pytest.mark.parametrize(("ascii_only", "cell"), [(False, " −30  "), (True, " −30 o")])
def test_the_whole_chosen_cell_is_reversed_without_a_block_that_would_be_a_hole(
    cell: str, *, ascii_only: bool
) -> None:
    style = style_of(CellSize(7), ascii_only=ascii_only)
    line = style.lines(("Mon", "muted"), row_of("100", "-30"), 1)[0]
    assert line[-2:] == [(cell, "~loss"), (" ", "loss")]


def test_amounts_alone_are_spread_over_the_page_with_names_and_sums_above_and_below_them() -> None:
    style = style_of(CellSize(5))
    style = style._replace(given=replace(style.given, width=26))  # two columns more than four cells
    row = row_of("100", "-30", "2", "")
    lines = [head_line(["07", "08", "09", "10"], style), *style.lines(("Mon", "muted"), row)]
    lines.append(style.sums(row_of("155", "-60", "1", "")))
    assert ["".join(text for text, _ in line).rstrip() for line in lines] == [
        "      07   08    09   10",
        "Mon +100  −30    +2    ·",
        "all +155  −60    +1    ·",
    ]


def test_a_chosen_cell_of_several_rows_is_framed_and_in_ascii_its_amount_is_reversed() -> None:
    assert cells("100", "-30", size=CellSize(7, 3), chosen=1) == [
        "Mon ██████▐▒▒▒▒▒▒▌",
        "      +100▐   −30▌",
        "       n 3▐   n 3▌",
    ]
    style = style_of(CellSize(7, 3), ascii_only=True)
    lines = style.lines(("Mon", "muted"), row_of("100", "-30"), 1)
    reversed_ = [text for line in lines for text, role in line if role.startswith("~")]
    assert reversed_ == ["   −30"]


def test_a_cell_has_its_amount_beside_its_shade_and_below_it_where_there_is_room() -> None:
    assert cells("100", "-30", "2", size=CellSize(7)) == ["Mon +100 █  −30 ▒   +2"]
    assert cells("100", "-30", "2", size=CellSize(5)) == ["Mon +100   −30    +2"]
    assert cells("100", "-30", size=CellSize(7, 3)) == [
        "Mon ██████ ▒▒▒▒▒▒",
        "      +100    −30",
        "       n 3    n 3",
    ]


def test_ascii_writes_the_strength_as_a_number_where_there_is_no_amount_alone() -> None:
    assert cells("100", "-30", "", size=CellSize(4), ascii_only=True) == ["Mon  +4  -2  ·"]
    assert cells("100", "-30", size=CellSize(7, 2), ascii_only=True) == [
        "Mon @@@@@@ oooooo",
        "      +100    −30",
    ]
    assert cells("100", "-30", size=CellSize(7), ascii_only=True) == ["Mon +100 @  −30 o"]


def test_the_dot_of_an_hour_without_a_trade_is_on_the_row_of_its_weekday() -> None:
    assert cells("", "100", size=CellSize(7, 3))[0] == "Mon      · ██████"


def sums(*results: str, size: CellSize, ascii_only: bool = False) -> str:
    style = style_of(size, ascii_only=ascii_only)
    return "".join(text for text, _ in style.sums(row_of(*results))).rstrip()


def test_a_sum_has_its_amount_without_a_sign_where_only_that_fits_and_its_colour_says_it() -> None:
    assert sums("226", "-103", "", size=CellSize(4)) == "all 226 103  ·"
    assert style_of(CellSize(4)).sums(row_of("226", "-103"))[1:] == (
        [("226 ", "profit"), ("103 ", "loss")]
    )
    assert sums("226", "-103", size=CellSize(4), ascii_only=True) == "all  +4  -4"


def test_a_sum_has_the_shade_of_the_stated_step_where_no_amount_fits() -> None:
    # the step is 25: beside each other 500 would be █ and -60 the weakest
    assert sums("500", "-60", "20", size=CellSize(3)) == "all ██ ▓▓ ::"


@pytest.mark.parametrize("size", [CellSize(7), CellSize(7, 2), CellSize(9), CellSize(5)])
def test_a_sum_has_no_shade_beside_its_amount_which_ends_below_those_of_its_column(
    size: CellSize,
) -> None:
    total, shown = sums("500", "-60", size=size), cells("50", "-30", size=size)[-1]
    assert not set(total) & set("▒▓█")
    assert total.index("500") + 3 == shown.index("50") + 2
    assert total.index("60") == shown.index("30")


def test_where_no_more_than_four_characters_fit_an_amount_has_no_tenths_of_a_thousand() -> None:
    assert cells("1234", "-9949", size=CellSize(5)) == ["Mon  +1k  −10k"]
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
    assert cells(result, size=CellSize(6, 2))[1].strip() == shown
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
    assert results_width([HeatCell(1, 1, Decimal(10**9))]) == 12
    for result_width, gain in ((12, "━━ "), (results_width(own.values()), "━━━ ")):
        lines = sum_lines("By tag", own, 37, 15, result_width=result_width)
        texts = ["".join(text for text, _ in line) for line in lines]
        assert f"+574.00 {' ' * (len(gain) - 1)}│{gain}" in f"{texts[1]} "
        assert len(texts[2]) <= 37
