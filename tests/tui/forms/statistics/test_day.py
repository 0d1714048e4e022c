"""The page of a day or a week: the content of the printed report, turned by keys."""

import re
from collections.abc import Iterable
from datetime import date
from decimal import Decimal
from functools import cache

import pytest

from keydesk.calc.trade_journal.rebuild import rebuild
from keydesk.forms.info_form import LEAST_IN_SIGHT
from keydesk.forms.modal_form import BLANK, TextLine, wrap_text
from keydesk.forms.statistics.day import DayPage
from keydesk.forms.statistics.group_tables import WIDEST_BAR
from keydesk.forms.statistics.report_lines import (
    in_pages,
    is_of_figures,
    parts_of,
    section_lines,
)
from keydesk.forms.statistics.view import BAR_NAME
from keydesk.text.format import MINUS
from keydesk.text.sanitize import safe
from keydesk.trade_journal.csv_rows import RowContext
from keydesk.trade_journal.report import LimitHit, Section, day_of, page
from keydesk.trade_journal.snapshot import JournalSnapshot
from support.fakes.form_app import FormApp
from support.walks import sampled
from support.year_of_trades import LAST_DAY, SECOND, events_of_days, notes_of_days

NOON = int(LAST_DAY.timestamp()) * SECOND + 12 * 3600 * SECOND


@cache
def snapshot(trades_a_day: int = 6) -> JournalSnapshot:
    limits = (LimitHit(NOON, "Daily loss limit reached"),)
    journal, notes = rebuild(events_of_days(12, trades_a_day)), notes_of_days(12, trades_a_day)
    return JournalSnapshot(journal, RowContext(notes), limits, "PRACTICE", "USD")


async def after(
    *keys: str,
    size: tuple[int, int] = (80, 24),
    day: date | None = None,
    trades_a_day: int = 6,
) -> str:
    form = DayPage(snapshot(trades_a_day), day)
    app = FormApp(lambda: form)
    async with app.run_test(size=size) as pilot:
        for key in ("", *keys):
            if key:
                await pilot.press(key)
            await pilot.pause()
            while any(not each.is_finished for each in app.workers):
                await pilot.pause()
            await pilot.pause()
        return app.words


@pytest.mark.parametrize("size", sampled([(80, 24), (120, 35), (200, 50), (40, 12)], 2))
async def test_the_last_day_with_trades_begins_with_its_result_best_and_worst(
    size: tuple[int, int],
) -> None:
    text = await after(size=size)
    assert text.index("Result:") < text.index("Best:") < text.index("Worst:")
    assert "Friday 27 Feb 2026" in text
    assert len(text.splitlines()) <= size[1]


async def test_the_limits_that_were_hit_stand_on_their_day_alone() -> None:
    assert "Limits:   12:00 Daily loss limit reached" in await after(size=(120, 50))
    assert "Daily loss limit" not in await after("left", size=(120, 50))


async def test_arrows_turn_to_the_days_with_trades_over_the_weekend() -> None:
    assert "Thursday 26 Feb 2026" in await after("left")
    assert "Friday 20 Feb 2026" in await after("left", "h", "left", "left", "left")
    assert "Friday 27 Feb 2026" in await after("left", "right", "l")


async def test_the_curve_of_the_day_stands_above_what_it_is_made_of() -> None:
    text = await after(size=(120, 50))
    axis = next(line for line in text.splitlines() if ":00 " in line)
    assert text.index("Result:") < text.index(axis) < text.index("By instrument")
    narrow = await after()
    assert narrow.index("Result:") < narrow.index(":00") < narrow.index("Best:")


async def test_each_result_of_a_group_has_a_bar_of_its_sign() -> None:
    lines = [line for line in (await after(size=(80, 90))).splitlines() if "━" in line[2:-2]]
    assert len(lines) > 3
    for line in lines:
        result = next(word for word in line.split() if "." in word)
        assert bool(re.search("[━╺]│", line)) == result.startswith("−"), line


async def test_results_of_trades_and_groups_have_their_sign() -> None:
    lines = (await after(size=(200, 50))).splitlines()
    row = next(line for line in lines if re.search(" ..:.. .* (long|short) ", line))
    assert re.search(r" [+−]\d+\.\d\d  [+−]\d+\.\d\d", row)


@pytest.mark.parametrize("size", [(120, 35), (200, 50)])
async def test_the_trades_stand_beside_the_curve_in_a_wide_window(size: tuple[int, int]) -> None:
    lines = (await after(size=size)).splitlines()
    words, trades = (next(line for line in lines if name in line) for name in ("Result:", "side "))
    groups = next(line for line in lines if "By instrument" in line)
    assert groups.index("By instrument") < size[0] // 4
    assert min(words.index("Result:"), trades.index("side ")) > size[0] * 2 // 5


@pytest.mark.parametrize("room", range(6, 20))
def test_no_title_stands_alone_at_the_end_of_a_page(room: int) -> None:
    parts: list[list[TextLine]] = [
        [((safe(f"{number} title"), "bright"),), *wrap_text("row " * number, "plain", 3)]
        for number in range(8)
    ]
    lines = ["".join(text for text, _ in line) for line in in_pages(parts, room)]
    for at in range(room - 1, len(lines) - 1, room):
        assert "title" not in lines[at] or lines[at] == "0 title", lines[at]
    assert sum("title" in line for line in lines) == len(parts)


@pytest.mark.parametrize(("room", "blanks"), [(9, 0), (10, 1), (8, 3)])
def test_a_part_that_has_room_without_the_blank_row_above_it_stays_on_its_page(
    room: int, blanks: int
) -> None:
    row: TextLine = (("row", "plain"),)
    lines = in_pages([[row] * 5, [row] * 4], room)
    assert lines == [*[row] * 5, *[BLANK] * blanks, *[row] * 4]


def test_a_list_of_groups_is_broken_between_its_items() -> None:
    sentence = "Mistakes: entered late, 1 x, −8.10, −1.00 R; chased, 2 x, −3.00, −0.30 R"
    lines = section_lines(Section("", sentences=(sentence,)), 50)
    texts = ["".join(text for text, _ in line) for line in lines]
    assert texts == [
        "Mistakes: entered late, 1 x, −8.10, −1.00 R;",
        "          chased, 2 x, −3.00, −0.30 R",
    ]


def test_bars_of_all_tables_of_a_page_have_one_scale_and_one_axis() -> None:
    row = {"n": "1", "win %": "0", "result": "+2.00", "R": "0.50"}
    sections = [
        Section(title, ("x", *row), ({"x": "a", **row},) * len(own), results=own)
        for title, own in (("Days", (Decimal(2),)), ("By tag", (Decimal(4), Decimal(-2))))
    ]
    day, *tags = [
        line_text(line)
        for part in parts_of(sections, 80)
        for line in part
        if "│" in line_text(line)
    ]
    assert day.index("│") == tags[0].index("│") == tags[1].index("│")
    assert day.count("━") == tags[1].count("━") == tags[0].count("━") // 2


NO_ROOM = ("London and New York", "New York", "Tokyo")


def group_section(title: str, *names: str) -> Section:
    key = title.removeprefix("By ")
    rows = tuple(
        {key: name, "n": "1", "win %": "0", "result": f"{MINUS}{number + 1}2.50", "R": "−0.50"}
        for number, name in enumerate(names)
    )
    results = tuple(Decimal(number - 1) for number, _ in enumerate(names))
    return Section(title, tuple(rows[0]), rows, results=results)


@pytest.mark.parametrize(("width", "name"), [(54, "London+NY"), (76, "London and New York")])
def test_tables_of_groups_have_their_columns_and_bars_at_one_place(width: int, name: str) -> None:
    sections = [group_section("Days", *"abc"), group_section("By session", *NO_ROOM)]
    parts = [[line_text(line) for line in part] for part in parts_of(sections, width)]
    assert [part[0].split()[0] for part in parts] == ["Days", "By"]
    assert len({part[0].index("result") + len("result") for part in parts}) == 1
    rows = [line for part in parts for line in part[1:]]
    assert len({line.index("2.50") for line in rows}) == 1
    assert len({line.index("│") for line in rows}) == 1
    assert any(line.startswith(f"{name}  ") for line in rows)
    assert max(map(len, rows)) <= width


def test_bars_take_the_columns_that_are_free() -> None:
    section = group_section("By setup", "breakout", "pullback", "range")
    [part] = parts_of([section], 80)
    assert [line_text(line).count("━") for line in part] == [0, WIDEST_BAR, 0, WIDEST_BAR]


def test_where_bars_have_no_room_no_table_has_one_and_names_are_cut_before_figures() -> None:
    sections = [group_section("Days", "Mon 2 Mar"), group_section("By session", *NO_ROOM)]
    rows = [line_text(line) for part in parts_of(sections, 36) for line in part]
    assert not any("│" in row for row in rows)
    assert any(row.startswith("London+NY ") and row.endswith("−0.50") for row in rows)
    cut = [line_text(line) for line in parts_of([group_section("By setup", "a" * 40)], 36)[0]]
    assert "…" in cut[-1]
    assert cut[-1].endswith("−12.50  −0.50")


def line_text(line: TextLine) -> str:
    return "".join(text for text, _ in line).rstrip()


@pytest.mark.parametrize(
    ("amount", "role"),
    [("−1,012.50 USD", "tick-down"), ("+12.50 USD", "tick-up"), ("0.00 USD", "bright")],
)
def test_amounts_of_the_headline_have_the_colour_of_their_sign(amount: str, role: str) -> None:
    sentences = (f"Result: {amount}, −0.50 R, 4 trades, 50 % won",)
    [line] = section_lines(Section("", sentences=sentences), 76)
    shown = {str(text): own for text, own in line}
    assert shown[amount] == role
    assert shown["−0.50 R"] == "loss"
    assert shown["4 trades"] == shown["50 % won"] == "plain"


def test_figures_stand_in_two_columns() -> None:
    shown = page(snapshot().journal, day_of(LAST_DAY.date()), snapshot().context, "PRACTICE")
    figures = shown.sections[-1]
    title, *rows = section_lines(figures, 76)
    assert line_text(title) == "Figures"
    assert len(rows) == -(-len(figures.rows) // 2)
    assert line_text(rows[0]).split()[:2] == ["average", "win"]


@pytest.mark.parametrize("size", [(120, 31), (200, 44)])  # as a desk of 35 and 50 rows leaves
async def test_a_day_is_on_one_page_in_a_wide_window(size: tuple[int, int]) -> None:
    text = await after(size=size)
    assert "← → day   d week   Esc closes ─╯" in text
    assert "spread paid" in text


async def test_a_wide_window_stacks_the_tables_and_fills_both_columns_with_long_bars() -> None:
    lines = (await after(size=(200, 44))).splitlines()
    lines = lines[next(n for n, line in enumerate(lines) if line.startswith("╭")) : -1]
    assert max(line.count("━") for line in lines) > WIDEST_BAR * 2 // 3
    for columns in (slice(2, 110), slice(140, -2)):
        assert any(line[columns].strip(" │") for line in lines[-3:])


async def test_the_week_has_its_tables_in_pairs_and_its_drawdown_in_the_largest_window() -> None:
    text = await after("d", size=(200, 44), trades_a_day=5)
    assert re.search(r"Days .* By instrument ", text)
    assert "drawdown from the highest value" in text
    assert text.count(BAR_NAME) == 1
    assert "page 1/" not in text


async def test_a_week_of_two_pages_leaves_no_rows_free_on_the_first() -> None:
    lines = (await after("d", "left", size=(120, 31))).splitlines()
    assert "page 1/2" in lines[-1]
    assert lines[-2][2:54].strip()
    assert lines[-2][60:-2].strip()


async def test_the_foot_has_its_keys_three_blanks_apart() -> None:
    text = await after("d")
    assert re.search(r"← → week   d day   Space page 1/\d   ↑ ↓ scroll   Esc closes", text)


@pytest.mark.parametrize("size", [(120, 31), (200, 44)])  # as a desk of 35 and 50 rows leaves
async def test_the_page_of_a_day_with_few_trades_is_no_higher_than_what_it_says(
    size: tuple[int, int],
) -> None:
    lines = (await after(size=size, trades_a_day=2)).splitlines()
    first = next(n for n, line in enumerate(lines) if line.startswith("╭"))
    assert first >= LEAST_IN_SIGHT
    blank = [line for line in lines[first + 1 :] if not line.strip("│ ")]
    assert len(blank) <= 1  # a row of the drawdown is all filled


@pytest.mark.parametrize("size", [(80, 19), (120, 31)])
async def test_a_page_that_would_leave_no_pane_in_sight_takes_all_rows(
    size: tuple[int, int],
) -> None:
    lines = (await after(size=size)).splitlines()
    assert lines[0].startswith("╭")
    assert lines[-2].strip("│ ")


async def test_the_curve_takes_the_rows_that_no_part_has_room_in() -> None:
    for keys in ((), ("left",), ("left", "left"), ("left", "left", "left")):
        lines = (await after(*keys, size=(80, 19))).splitlines()
        assert lines[-2].strip("│ "), keys


async def test_every_day_of_the_week_is_in_sight_in_80_columns() -> None:
    text = await after("left", "d", size=(80, 19), trades_a_day=4)  # as a desk of 24 rows leaves
    assert "Week 9 of 2026, from Mon 23 Feb" in text
    assert "Fri 27 Feb" in text


async def test_the_last_trade_of_a_week_is_in_sight_in_120_columns() -> None:
    text = await after("left", "left", "left", "left", "left", "d", size=(120, 31))
    assert "Fri " in text.split("closed")[-1]


async def test_the_curve_says_what_it_shows() -> None:
    assert re.search(r"Realized USD, times UTC *Result:", await after(size=(120, 35)))
    assert re.search(r"Result: .* Realized USD, times UTC +│", await after())


async def test_d_shows_the_week_and_goes_back_to_its_last_day() -> None:
    week = await after("left", "d")
    assert "Week 9 of 2026" in week
    assert "Days" in week
    assert "Friday 27 Feb 2026" in await after("left", "d", "d")
    assert "Week 8 of 2026" in await after("d", "left")


async def test_a_day_without_trades_says_so() -> None:
    assert "No trade was closed." in await after(day=date(2026, 2, 15))


BAR_SIGNS = str.maketrans(dict.fromkeys("━╸╺", " "))


def words_of(lines: Iterable[TextLine]) -> list[str]:
    texts = ["".join(text for text, _ in line) for line in lines]
    return "\n".join(texts).replace("│", " ").translate(BAR_SIGNS).split()


def test_the_page_has_every_sentence_and_cell_of_the_report() -> None:
    shown = page(snapshot().journal, day_of(LAST_DAY.date()), snapshot().context, "PRACTICE")
    expected = [*BAR_NAME.split()]  # named once, whatever the number of tables
    for each in shown.sections:
        heads = each.columns[1:] if each.results else () if is_of_figures(each) else each.columns
        heads = tuple(head for head in heads if any(row[head] for row in each.rows))
        title = f"{each.title}:" if each.title and not each.rows else each.title
        cells = (cell for row in each.rows for cell in row.values())
        expected += " ".join((title, *heads, *each.sentences, *cells)).split()
    drawn = words_of(line for part in parts_of(shown.sections, 400) for line in part)
    assert sorted(drawn) == sorted(expected)


def test_columns_that_do_not_fit_are_left_out_whole() -> None:
    row = {"id": "6411", "result": "−12.50", "R": "−0.50", "setup": "a breakout of the range"}
    lines = section_lines(Section("Trades", tuple(row), (row,)), 24)
    assert "breakout" not in "".join(text for line in lines for text, _ in line)
    assert any(role == "loss" for line in lines for _, role in line)
