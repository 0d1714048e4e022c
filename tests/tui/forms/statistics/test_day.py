"""The page of a day or a week: the content of the printed report, turned by keys."""

import re
from datetime import date
from functools import cache

import pytest

from keydesk.calc.trade_journal.rebuild import rebuild
from keydesk.forms.modal_form import TextLine, wrap_text
from keydesk.forms.statistics.day import DayPage
from keydesk.forms.statistics.report_lines import in_pages, section_lines, side_by_side
from keydesk.text.sanitize import safe
from keydesk.trade_journal.csv_rows import RowContext
from keydesk.trade_journal.report import LimitHit, Section, as_text, day_of, page
from keydesk.trade_journal.snapshot import JournalSnapshot
from support.fakes.form_app import FormApp
from support.year_of_trades import LAST_DAY, SECOND, events_of_days, notes_of_days

NOON = int(LAST_DAY.timestamp()) * SECOND + 12 * 3600 * SECOND


@cache
def snapshot() -> JournalSnapshot:
    limits = (LimitHit(NOON, "Daily loss limit reached"),)
    journal = rebuild(events_of_days(12, 4))
    return JournalSnapshot(journal, RowContext(notes_of_days(12, 4)), limits, "PRACTICE", "USD")


async def after(*keys: str, size: tuple[int, int] = (80, 24), day: date | None = None) -> str:
    form = DayPage(snapshot(), day)
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


@pytest.mark.parametrize("size", [(80, 24), (120, 35), (200, 50), (40, 12)])
async def test_the_last_day_with_trades_begins_with_its_result_best_and_worst(
    size: tuple[int, int],
) -> None:
    text = await after(size=size)
    assert text.index("Result:") < text.index("Best:") < text.index("Worst:")
    assert "Friday 27 Feb 2026" in text
    assert len(text.splitlines()) <= size[1]


async def test_the_limits_that_were_hit_stand_on_their_day_alone() -> None:
    assert "Fri 12:00 Daily loss limit reached" in await after(size=(120, 50))
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
        assert ("━│" in line) == result.startswith("−"), line


@pytest.mark.parametrize("size", [(80, 24), (120, 35), (200, 50)])
async def test_that_a_day_has_few_trades_is_said_once(size: tuple[int, int]) -> None:
    pages = [await after(*["space"] * number, size=size) for number in range(4)]
    assert max(text.count("under 20") for text in pages) == 1


async def test_results_of_trades_and_groups_have_their_sign() -> None:
    lines = (await after(size=(200, 50))).splitlines()
    row = next(line for line in lines if re.search("Fri ..:.. .* (long|short) ", line))
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


def test_a_list_of_groups_is_broken_between_its_items() -> None:
    sentence = "Traded: AUD/USD 1 (−3.80, −0.17 R), EUR/USD 2 (+50.55, +1.00 R)"
    lines = section_lines(Section("", sentences=(sentence,)), 50)
    texts = ["".join(text for text, _ in line) for line in lines]
    assert texts == [
        "Traded:   AUD/USD 1 (−3.80, −0.17 R),",
        "          EUR/USD 2 (+50.55, +1.00 R)",
    ]


def test_a_name_that_has_no_room_is_cut_not_the_figures_behind_it() -> None:
    row = {"session": "London and New York", "result": "−12.50", "R": "−0.50"}
    lines = section_lines(Section("By session", tuple(row), (row,)), 24)
    assert "".join(text for text, _ in lines[-1]) == "London a…  −12.50  −0.50"


async def test_d_shows_the_week_and_goes_back_to_its_last_day() -> None:
    week = await after("left", "d")
    assert "Week 9 of 2026" in week
    assert "Days" in week
    assert "Friday 27 Feb 2026" in await after("left", "d", "d")
    assert "Week 8 of 2026" in await after("d", "left")


async def test_a_day_without_trades_says_so() -> None:
    assert "No trade was closed." in await after(day=date(2026, 2, 15))


def test_the_page_has_every_sentence_and_cell_of_the_report() -> None:
    shown = page(snapshot().journal, day_of(LAST_DAY.date()), snapshot().context, "PRACTICE")
    drawn = "\n".join(
        "".join(text for text, _ in line)
        for row in side_by_side(shown.sections, 400)
        for line in row
    )
    drawn = drawn.replace("│", " ").replace("━", " ")
    printed = "\n".join(as_text(shown)[1:]).split()
    assert sorted(word.lower() for word in drawn.split()) == sorted(
        word.lower() for word in printed
    )


def test_columns_that_do_not_fit_are_left_out_whole() -> None:
    row = {"id": "6411", "result": "−12.50", "R": "−0.50", "setup": "a breakout of the range"}
    lines = section_lines(Section("Trades", tuple(row), (row,)), 24)
    assert "breakout" not in "".join(text for line in lines for text, _ in line)
    assert any(role == "loss" for line in lines for _, role in line)
