"""The curve, the histogram of R, and MAE beside MFE: what their rows say of known trades."""

import re
from collections.abc import Sequence
from datetime import UTC
from decimal import Decimal

import pytest

from keydesk.calc.trade_journal.charts import CurvePoint, equity_curve
from keydesk.calc.trade_journal.excursions import (
    Excursion,
    StopOutcome,
    best_stop,
    stop_outcomes,
)
from keydesk.calc.trade_journal.rebuild import Journal
from keydesk.calc.trade_journal.returns import median
from keydesk.chart.plots import Rows
from keydesk.forms.modal_form import TextLine
from keydesk.forms.statistics.equity import VALUES, EquityView, curve_rows
from keydesk.forms.statistics.excursions import ExcursionView
from keydesk.forms.statistics.r_histogram import HistogramView, histogram_rows
from keydesk.forms.statistics.view import ViewInput
from keydesk.text.format import MINUS, money
from keydesk.trade_journal.csv_rows import RowContext
from keydesk.trade_journal.snapshot import JournalSnapshot
from support.data.journal_trades import HOUR, MONDAY, closed_trade

D = Decimal
DAY = 24 * HOUR


def texts(rows: Rows) -> list[str]:
    return ["".join(text for text, _ in row) for row in rows]


def words(lines: Sequence[TextLine]) -> str:
    return "\n".join("".join(text for text, _ in line) for line in lines)


def curve(*results: tuple[int, str]) -> list[CurvePoint]:
    """The curve of trades that were closed so many hours after a Monday's morning."""
    trades = [
        closed_trade(result, number, opened_ns=MONDAY + hours * HOUR, hold_ns=0)
        for number, (hours, result) in enumerate(results)
    ]
    return equity_curve(trades)


# The curve.


@pytest.mark.parametrize("size", [(116, 24), (76, 12), (36, 6), (196, 40)])
@pytest.mark.parametrize("ascii_only", [False, True])
def test_the_curve_fits_its_size(size: tuple[int, int], *, ascii_only: bool) -> None:
    points = curve(*((hours, "5" if hours % 3 else "-9") for hours in range(0, 2000, 7)))
    rows = texts(curve_rows(points, size, UTC, ascii_only=ascii_only))
    assert len(rows) <= size[1]
    assert max(map(len, rows)) <= size[0]


def test_the_last_value_and_the_deepest_fall_stand_beside_their_curves() -> None:
    rows = texts(
        curve_rows(curve((0, "50"), (30, "-80"), (60, "20")), (80, 20), UTC, ascii_only=False)
    )
    assert sum(row.endswith("−10.00") for row in rows) == 1
    assert rows[-2].endswith("−80.00")
    assert any("drawdown from the highest value" in row for row in rows)


@pytest.mark.parametrize("last", ["43.74", "47", "50", "53"])
def test_the_last_value_stands_where_its_curve_ends_in_place_of_the_label_of_a_line_across(
    last: str,
) -> None:
    shown = curve((0, "79.60"), (30, str(D(last) - D("79.60"))), (60, "0"))
    rows = texts(curve_rows(shown, (76, 8), UTC, ascii_only=False))
    edge = 75 - VALUES
    [end] = [row for row in rows if "\u2800" < row[edge : edge + 1] <= "\u28ff"]
    assert end.endswith(str(money(D(last), 2, signed=True)))


@pytest.mark.parametrize(
    ("results", "name", "place"),
    [
        (("50", "-49.95"), "+0.05", -1),
        (("-50", "150.05", "-100"), "+0.05", -1),
        (("50", "-50.05"), f"{MINUS}0.05", 1),
    ],
)
def test_a_last_value_near_zero_stands_on_its_side_of_the_line_of_zero(
    results: tuple[str, ...], name: str, place: int
) -> None:
    shown = curve(*((30 * number, each) for number, each in enumerate(results)))
    rows = texts(curve_rows(shown, (80, 10), UTC, ascii_only=False))
    at = next(n for n, row in enumerate(rows) if "──" in row)
    assert rows[at].split()[-1] == "0"
    assert rows[at + place].split()[-1] == name


def test_a_drawdown_of_little_has_no_band_of_its_own_scale() -> None:
    for fall, has_band in (("-15", False), ("-25", True)):
        shown = curve((0, "100"), (30, fall), (60, "20"))
        rows = texts(curve_rows(shown, (80, 20), UTC, ascii_only=False))
        assert any("drawdown" in row for row in rows) is has_band


def test_dates_are_as_short_as_they_differ() -> None:
    week = texts(
        curve_rows(curve(*((24 * day, "1") for day in range(5))), (80, 12), UTC, ascii_only=False)
    )
    assert week[-1].split() == ["4", "Mar", "5", "6", "7", "8"]
    months = curve(*((24 * 7 * number, "1") for number in range(50)))
    row = texts(curve_rows(months, (140, 12), UTC, ascii_only=False))[-1]
    assert row.split()[:3] == ["Mar", "2024", "Apr"]
    assert row.split()[-3:] == ["Jan", "2025", "Feb"]


def test_a_curve_of_some_days_is_drawn_in_the_narrowest_window() -> None:
    days = curve(*((24 * day, "1") for day in range(5)))
    for columns in range(1, 40):
        assert curve_rows(days, (columns, 6), UTC, ascii_only=False)


def test_one_day_has_times_and_weekends_have_no_room() -> None:
    day = texts(curve_rows(curve((0, "1"), (3, "1")), (80, 12), UTC, ascii_only=False))
    assert "13:00" in day[-1]
    friday, monday = 4 * 24, 7 * 24
    both = curve((friday, "1"), (monday, "1"))
    row = texts(curve_rows(both, (80, 12), UTC, ascii_only=False))[-1]
    assert row.split() == ["8", "Mar", "11"]


# The histogram.


def bars(*rs: str, width: int = 116) -> list[str]:
    return texts(histogram_rows([D(r) for r in rs], D("0.25"), (width, 20), ascii_only=True))


def test_bars_are_of_one_width_on_a_common_base_with_their_counts_above() -> None:
    rows = bars("-1", "-1", "-1", "0.5", "2", width=76)
    assert re.findall("#+", rows[-3]) == ["###"] * 3
    at = rows[-3].index("#")
    assert "3" in next(row for row in reversed(rows[:-2]) if "#" not in row[at : at + 3])
    assert rows[-1].split() == ["−1", "R", "0", "R", "+1", "R", "+2", "R"]


def test_no_line_crosses_a_bar() -> None:
    rows = bars("-1", "-1", "-1", "0.5", "2", width=76)  # the median is in the middle of a bar
    assert set(re.findall("#+", "\n".join(rows))) == {"###"}


def test_mean_and_median_are_lines_with_their_values() -> None:
    rows = "\n".join(bars("-1", "-1", "0", "2", "2"))
    assert "median 0.00 R" in rows
    assert "mean +0.40 R" in rows


def test_what_wins_and_losses_made_stands_above_the_bars_and_mean_and_median_at_their_lines() -> (
    None
):
    trades = [closed_trade(result, number) for number, result in enumerate(("-100", "50", "-20"))]
    snapshot = JournalSnapshot(Journal(tuple(trades)), RowContext(), (), "PRACTICE", "USD")
    given, view = ViewInput(snapshot, trades, width=116, rows=20), HistogramView()
    text = words(view.lines(view.compute(given), given))
    assert "Net −0.70 R: wins +0.50, losses −1.20   worst −1.00, best +0.50" in text
    assert text.count("median −0.20 R") == text.count("mean −0.23 R") == 1


def test_shares_and_what_the_trades_made_stand_below_wide_bars() -> None:
    rows = bars("-1", "-0.9", "2", width=196)
    [shares, made] = [row.split() for row in rows[-2:]]
    assert shares == ["share", "%", "67", "33"]
    assert made == ["made", "R", "−1.90", "+2.00"]
    places = [(match.start(), match.end()) for match in re.finditer("#+", rows[-5])]
    assert [rows[-1][first:end].split() for first, end in places] == [["−1.90"], ["+2.00"]]
    assert "made R" not in "".join(bars("-1", "-0.9", "2"))


def test_the_tick_of_a_bar_of_odd_width_is_in_its_middle() -> None:
    rows = bars("-1", "2", width=116)
    places = [match.start() for match in re.finditer("#####", rows[-3])]
    assert [rows[-2][at : at + 5] for at in places] == ["──┬──"] * 2


def test_few_trades_may_be_chance_and_no_bar_holds_more_than_its_own() -> None:
    trades = [closed_trade("100", number) for number in range(4)]
    snapshot = JournalSnapshot(Journal(tuple(trades)), RowContext(), (), "PRACTICE", "USD")
    given = ViewInput(snapshot, trades, width=116, rows=20)
    histogram, equity = HistogramView(), EquityView()
    text = words(histogram.lines(histogram.compute(given), given))
    assert "beyond" not in text
    for shown in (text, words(equity.lines(equity.compute(given), given))):
        assert "n 4, under 20: may be chance." in shown


def test_losses_and_gains_of_the_bar_at_zero_have_their_own_colours() -> None:
    rows = histogram_rows([D("-0.1"), D("0.1")], D("0.25"), (116, 20), ascii_only=False)
    roles = {role.lstrip("~") for row in rows for text, role in row if role.startswith("~")}
    assert roles == {"loss", "profit"}


@pytest.mark.parametrize("width", [36, 76, 196])
def test_the_histogram_fits_its_width(width: int) -> None:
    rs = [D(number) / 4 for number in range(-20, 21)] * 12
    assert (
        max(map(len, texts(histogram_rows(rs, D("0.5"), (width, 12), ascii_only=False)))) <= width
    )


def test_the_median_of_an_even_number_is_between_the_two_in_the_middle() -> None:
    assert median([D(3), D(1), D(2)]) == 2
    assert median([D(4), D(1), D(2), D(3)]) == D("2.5")
    assert median([]) == 0


# MAE and MFE.


def test_the_best_stop_is_the_one_that_would_have_made_most() -> None:
    trades = [(D("0.2"), D(2)), (D("0.4"), D(1)), (D(1), D(-1)), (D(1), D(-1))]
    outcomes = stop_outcomes(trades)
    assert outcomes[0] == StopOutcome(D("0.05"), D("-0.20"), wins=2, losses=2)
    assert best_stop(outcomes, D(1)) == StopOutcome(D("0.45"), D("2.10"), wins=0, losses=2)


def test_no_stop_is_best_where_none_would_have_made_more() -> None:
    assert best_stop(stop_outcomes([(D("0.95"), D(2)), (D(1), D(-1))]), D(1)) is None


Move = tuple[str, str, str]


def excursion_lines(*moves: Move, width: int = 116, rows: int = 24) -> Sequence[TextLine]:
    """The view of trades with these results, MAE and MFE in R."""
    trades = [closed_trade(result, number) for number, (result, _, _) in enumerate(moves)]
    known = {
        trade.id: Excursion(D(mae), D(mfe), stop_distance=D(1))
        for trade, (_, mae, mfe) in zip(trades, moves, strict=True)
    }
    snapshot = JournalSnapshot(Journal(tuple(trades)), RowContext(), (), "PRACTICE", "USD")
    given = ViewInput(snapshot, trades, excursions=known, width=width, rows=rows)
    view = ExcursionView()
    lines = view.lines(view.compute(given), given)
    assert max(sum(len(text) for text, _ in line) for line in lines) <= width
    return lines


def excursions(*moves: Move, width: int = 116, rows: int = 24) -> str:
    return words(excursion_lines(*moves, width=width, rows=rows))


MOVES = (("200", "0.3", "2.0"), ("-100", "1.0", "0.2"), ("-100", "1.0", "1.4"))


def test_wins_and_losses_stand_apart_with_lines_at_the_stop_and_the_best_one() -> None:
    text = excursions(*MOVES)
    assert "1 win " in text
    assert "2 losses" in text
    assert text.count("stop") >= 2
    assert "1 of 2 losses had been 1 R in profit." in text


def test_what_the_best_stop_would_have_been_is_said_with_how_many_it_stops_out() -> None:
    text = " ".join(excursions(*MOVES * 7).split())
    assert (
        "Best stop in hindsight 0.35 R: makes +9.10 R, not 0.00 R, before costs;"
        " stops out 0 of 7 wins, 14 of 14 losses." in text
    )


def test_no_stop_is_named_best_of_fewer_than_20_trades() -> None:
    lines = excursion_lines(*MOVES, width=196, rows=43)
    text = words(lines)
    assert "Too few trades to name a best stop." in text
    assert "n 3, under 20: may be chance." in text
    assert "best 0" not in text
    assert [text for line in lines for text, role in line if role == "bright"] == [
        "What each stop would have made, before costs"
    ]


@pytest.mark.parametrize("mae", ["0.1", "0.5", "0.9"])
@pytest.mark.parametrize("width", [76, 116, 196])
def test_the_names_of_stop_and_best_stop_are_whole_above_their_lines(mae: str, width: int) -> None:
    moves = (("200", mae, "2"), ("-100", "1.0", "0.2"), ("-100", "1.0", "0.3")) * 7
    lines = excursions(*moves, width=width, rows=16).splitlines()
    names = next(line for line in lines if line.count(" stop") == 2 and "MFE" in line)
    best = re.findall(r"best [\d.]+", names)
    assert best == [f"best {D(mae) + D('0.05')}"] * 2
    line = lines[lines.index(names) + 1]
    ends = [each.end() - 1 for each in re.finditer(r"best [\d.]+", names)]
    posts = [each.start() for each in re.finditer("┊", line)]
    if int(min(ends)) > len("MFE  best 0.15"):
        assert [posts[0], posts[2]] == ends
    starts = [each.start() for each in re.finditer("stop", names)]
    assert all(0 <= start - post <= 1 for start, post in zip(starts, posts[1::2], strict=True))


def test_a_wide_window_says_what_each_stop_would_have_stopped_out_and_made() -> None:
    text = excursions(*MOVES, width=196, rows=43)
    assert "would have stopped out" in text
    assert re.search(r"0\.35 R +0 wins +2 losses +\+1\.30 R", text)
    assert re.search(r"0\.05 R +1 win +2 losses +−0\.15 R", text)
    assert re.search(r"as traded +– +– +0\.00 R", text)
    assert "would have stopped out" not in excursions(*MOVES, width=116, rows=30)


@pytest.mark.parametrize(("width", "rows"), [(36, 12), (76, 15), (196, 43)])
def test_the_axes_begin_at_zero_in_every_window(width: int, rows: int) -> None:
    lines = excursions(*MOVES, width=width, rows=rows).splitlines()
    scale = next(line for line in reversed(lines) if "MAE 0" in line)
    assert scale.split()[:2] == ["MAE", "0"]


def test_the_axes_have_one_style_of_numbers_and_their_unit_in_the_foot() -> None:
    lines = excursions(*MOVES, width=196, rows=43).splitlines()
    scale = next(line for line in lines if "MAE 0" in line)
    first = scale.split("MAE")[1]
    assert first.split()[1:6] == ["0.2", "0.4", "0.6", "0.8", "1.0"]
    beside = [line[:6].strip() for line in lines]
    assert {"0.5", "1.0 R", "1.5", "2.0"} <= set(beside)
    assert "MAE in R" in lines[-1]
    assert "MFE in R" in lines[-1]


def test_wins_and_losses_have_one_scale() -> None:
    lines = excursions(("200", "0.3", "3.0"), ("-100", "1.0", "0.2"), width=116, rows=30)
    named = [line.split() for line in lines.splitlines() if re.search(r"^ +\d (?!win)", line)]
    assert [(each[0], sum(part == each[0] for part in each)) for each in named] == [
        (value, 2) for value in "3210"
    ]


@pytest.mark.parametrize(
    ("rows", "named"), [(15, ["3", "2", "1 R", "0"]), (11, ["4", "2", "1 R", "0"])]
)
def test_a_small_panel_names_the_line_of_1_r_and_has_values_above_it(
    rows: int, named: list[str]
) -> None:
    lines = excursions(("200", "0.3", "3.6"), *MOVES[1:], width=76, rows=rows).splitlines()
    values = {line[:6].strip(): line[6:] for line in lines if re.match(r" +\d( R)? ", line[:6])}
    assert list(values) == named
    assert values["1 R"].count("-") > 5


@pytest.mark.parametrize("mfe", ["0.4", "1.3", "2.1", "3.6", "4.05", "5", "9"])
@pytest.mark.parametrize("rows", [8, 12, 15, 25, 43])
def test_the_values_of_a_panel_are_as_far_apart_as_they_differ(mfe: str, rows: int) -> None:
    lines = excursions(("200", "0.3", mfe), *MOVES[1:], width=76, rows=rows).splitlines()
    named = [(at, line[:6].strip(" ≥R")) for at, line in enumerate(lines)]
    places = [(at, float(text)) for at, text in named if re.fullmatch(r"[\d.]+", text)]
    zero, _ = places.pop()
    assert zero == next(n for n, line in enumerate(lines) if "MAE 0" in line) - 1
    apart = {
        round((zero - at) / value, 6) for at, value in places if value != 1 or len(places) == 1
    }
    assert len(apart) == 1 or (rows == 8 and not apart), "a panel of two rows may have 0 alone"


@pytest.mark.parametrize("width", [76, 116, 196])
def test_few_wins_among_many_trades_are_said_to_be_few_in_a_line_that_is_whole(width: int) -> None:
    wins, losses = [("200", "0.3", "2.0")] * 7, [("-100", "1.0", "0.2")] * 13
    assert "7 wins, under 20: may be chance." in excursions(*wins, *losses, width=width)
    assert "n 3, under 20: may be chance." in excursions(*MOVES, width=width)
    few = "7 losses, under 20: may be chance."
    assert few in excursions(*losses[:7], *wins, *wins, width=width)
    assert "chance" not in excursions(*wins * 3, *losses * 2, width=width)


def test_the_lines_of_the_stop_and_the_best_one_are_in_every_row() -> None:
    lines = excursions(*MOVES * 7, width=76, rows=15).splitlines()
    first = next(number for number, line in enumerate(lines) if "best" in line and "MFE" in line)
    last = next(number for number, line in enumerate(lines) if "MAE 0" in line)
    assert last - first - 1 >= 6
    for line in lines[first + 1 : last]:
        assert sum(line.count(each) for each in "┊•░▒") >= 4, line


def test_the_row_of_the_best_stop_is_bold_from_end_to_end() -> None:
    lines = excursion_lines(*MOVES * 7, width=196, rows=43)
    runs = [(text, role) for line in lines for text, role in line if role == "bright"]
    assert any("0.35 R" in text for text, _ in runs)
    assert any(text.strip() == "+9.10 R" for text, _ in runs)


def test_a_blank_row_is_above_the_panels_of_a_small_window() -> None:
    lines = excursions(*MOVES, width=76, rows=15).splitlines()
    assert lines[next(n for n, line in enumerate(lines) if "1 win  " in line) - 1] == ""
    assert len(lines) == 15
