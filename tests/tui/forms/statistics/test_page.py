"""The page of statistics, by keys alone and at every size."""

import re
from collections.abc import Awaitable, Callable, Hashable, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from functools import cache
from itertools import product

import pytest
from rich.cells import cell_len

from keydesk.calc.trade_journal.excursions import known_excursion
from keydesk.calc.trade_journal.groups import GROUPINGS
from keydesk.calc.trade_journal.rebuild import Journal, rebuild
from keydesk.calc.trade_journal.statistics import statistics_of
from keydesk.calc.trade_journal.trades import JournalTrade
from keydesk.calc.trade_journal.what_if import WhatIfResult
from keydesk.forms.statistics.equity import EquityView
from keydesk.forms.statistics.groups import GroupsView
from keydesk.forms.statistics.page import StatisticsPage
from keydesk.forms.statistics.view import ViewInput, bars_of, fitting_names
from keydesk.forms.statistics.what_if import WhatIfData, WhatIfView
from keydesk.text.sanitize import SafeText, safe
from keydesk.trade_journal.csv_rows import RowContext
from keydesk.trade_journal.snapshot import JournalSnapshot
from support.data.journal_trades import HOUR, MONDAY, closed_trade
from support.fakes.form_app import FormApp
from support.walks import sampled
from support.year_of_trades import events_of_days, notes_of_days

D = Decimal
DAYS, A_DAY = 30, 3
SIZES = [(80, 24), (200, 50), (40, 12)]
VIEWS = range(1, 9)


@cache
def snapshot() -> JournalSnapshot:
    journal = rebuild(events_of_days(DAYS, A_DAY))
    return JournalSnapshot(journal, RowContext(notes_of_days(DAYS, A_DAY)), (), "PRACTICE", "USD")


def few(*results: str) -> JournalSnapshot:
    """A journal of some trades."""
    trades = tuple(closed_trade(each, number) for number, each in enumerate(results, 1))
    return JournalSnapshot(Journal(trades), RowContext(), (), "PRACTICE", "USD")


@dataclass
class Host:
    """Answers at once, from what it was given."""

    given: JournalSnapshot = field(default_factory=snapshot)
    opened: list[tuple[date, bool]] = field(default_factory=list)
    reads: list[str] = field(default_factory=list)
    stamp: object = None
    progress: SafeText = field(default_factory=lambda: safe(""))
    answers: bool = True

    def read(self, page: StatisticsPage) -> None:
        self.reads.append("journal")
        if self.answers:
            page.show_journal(self.given, self.stamp)

    def read_open_profits(self, page: StatisticsPage) -> None:
        self.reads.append("open profits")
        page.show_open_profits({})

    def read_excursions(self, page: StatisticsPage, trades: Sequence[JournalTrade]) -> None:
        self.reads.append("excursions")
        page.show_excursions({each.id: known_excursion(each, RISK, 2 * RISK) for each in trades})

    def read_paths(self, page: StatisticsPage, trades: Sequence[JournalTrade]) -> None:
        self.reads.append(f"paths of {len(trades)}")
        page.show_paths({})

    def open_day(self, _snapshot: JournalSnapshot, day: date, *, week: bool) -> None:
        self.opened.append((day, week))


RISK = closed_trade("1").entry_price / 500


async def after(*keys: str, host: Host | None = None, size: tuple[int, int] = (80, 24)) -> str:
    """The words of the page after these keys, once everything was computed."""
    page = StatisticsPage(host or Host())
    app = FormApp(lambda: page)
    async with app.run_test(size=size) as pilot:
        await settle(app, pilot.pause)
        for key in keys:
            await pilot.press(key)
            await settle(app, pilot.pause)
        return app.words


async def settle(app: FormApp, pause: Callable[[], Awaitable[None]]) -> None:
    """Wait until no view is being computed."""
    await pause()
    while any(not each.is_finished for each in app.workers):
        await pause()
    await pause()


@pytest.mark.parametrize("size", sampled(SIZES, 1))
async def test_every_view_fits_every_size(size: tuple[int, int]) -> None:
    page = StatisticsPage(Host())
    app = FormApp(lambda: page)
    async with app.run_test(size=size) as pilot:
        for number in VIEWS:
            page.action_show_view(number)
            await settle(app, pilot.pause)
            lines = page.lines()
            assert len(lines) <= size[1] - 2
            widths = [sum(cell_len(text) for text, _ in line) for line in lines]
            assert max(widths) <= size[0] - 4, page.view.NAME
            assert "Computing" not in app.words


async def test_six_figures_stand_first_and_that_they_rest_on_few_trades_is_said_once() -> None:
    text = await after(host=Host(few("100", "-50", "30")))
    assert text.count("under 20") == 1
    assert "n 3, under 20" in text
    assert "may be chance." in text
    values = {"net": "+80.00", "won": "66.7 %", "profit factor": "2.60", "max drawdown": "−50.00"}
    for name, value in values.items():
        assert value in under(text, name), name
    assert "2 won, 1 lost" in text
    drawdown = re.sub(
        r"(.)\1+", r"\1", under(text, "max drawdown", 2)
    )  # its cells are wider than one
    assert "▁▇▃" in drawdown  # tall where the fall is deep
    assert re.search("Daily NAV, .*max drawdown +– ", text, re.DOTALL)  # no day's end


async def test_a_ratio_to_a_deviation_of_about_zero_says_why_it_is_missing() -> None:
    text = await after(host=Host(few(*["-100.00", "-100.01"] * 12)))
    assert "No SQN: the R of these trades hardly varies." in " ".join(
        text.replace("│", " ").split()
    )
    line = next(each for each in text.splitlines() if "│ SQN" in each)
    assert line.split()[:3] == ["│", "SQN", "–"]
    assert "No SQN" not in await after(host=Host(few("100", "-50")))


async def test_averages_have_their_sign() -> None:
    text = await after(host=Host(few("100", "-50", "30")))
    assert "+65.00" in text
    assert "−50.00" in text


def under(text: str, name: str, rows: int = 1) -> str:
    """The value in the tile of this name: so many lines below it, from its left edge to the next one."""
    lines = text.splitlines()
    at = next(number for number, line in enumerate(lines) if f"─ {name}" in line)
    column = lines[at].index(f"─ {name}")
    return lines[at + rows][column:].split("│")[0]


def cut(text: str) -> list[str]:
    """The lines of the page that miss their end."""
    body = text.splitlines()[1:-1]
    return [each for each in body if "…" in each and "lines more" not in each]


@pytest.mark.parametrize("number", sampled([1, 2, 3, 4, 5, 6, 8], 2))
async def test_a_narrow_window_cuts_no_sentence_without_enough_trades(number: int) -> None:
    assert not cut(await after(str(number), host=Host(few()), size=(40, 30)))
    assert not cut(await after(str(number), host=Host(few("5.00")), size=(40, 50)))
    assert not cut(await after(str(number), host=Host(few()), size=(80, 24)))


async def test_a_narrow_window_shows_each_figure_with_its_value() -> None:
    text = await after(host=Host(few("100", "-50", "30")), size=(40, 40))
    assert not cut(text)
    assert "2.60" in under(text, "profit factor")
    line = next(each for each in text.splitlines() if "payoff" in each)
    assert line.split()[1:3] == ["payoff", "1.30"]


def test_a_narrow_window_shows_what_if_without_the_difference() -> None:
    figures = statistics_of([closed_trade("-1.90")])
    data = WhatIfData(WhatIfResult(figures, figures, (), 0, 0, 0, 0, 0))

    def drawn(width: int) -> list[str]:
        lines = WhatIfView().lines(data, ViewInput(few("-1.90"), (), width=width))
        return ["".join(text for text, _ in line).rstrip() for line in lines]

    narrow = drawn(36)
    assert max(map(len, narrow)) <= 36
    result = next(each for each in narrow if each.startswith("result"))
    assert result.split() == ["result", "−1.90", "−1.90"]
    assert "n=1, under 20" in narrow
    assert any("difference" in each for each in drawn(76))


async def test_arrows_change_the_grouping_until_every_one_was_shown() -> None:
    text = await after("2")
    assert "By instrument   grouping 1 of 14" in text
    assert "EUR/USD" in text
    titles = set()
    page = StatisticsPage(Host(), 2)
    app = FormApp(lambda: page)
    async with app.run_test(size=(120, 35)) as pilot:
        for _ in GROUPINGS:
            await settle(app, pilot.pause)
            titles.add(next(line for line in app.words.splitlines() if " of 14" in line))
            await pilot.press("right")
    assert len(titles) == len(GROUPINGS)


@pytest.mark.parametrize("size", sampled(SIZES, 1))
async def test_the_columns_of_the_groups_stand_two_apart(size: tuple[int, int]) -> None:
    lines = (await after("2", size=size)).splitlines()
    head = next(line for line in lines if "result" in line)
    names = re.split(r"\s{2,}", head.strip("│ "))
    known = {
        "n",
        "win %",
        "result",
        "avg R",
        "PF",
        "max DD",
        "R",
        "avg win",
        "avg loss",
        "bar: result",
    }
    assert set(names) <= known | {"payoff", "SQN", "recovery", "losing run", "spread"}


async def test_other_groupings_fill_a_small_window_with_their_title_beside_their_columns() -> None:
    lines = [line.strip("│ ") for line in (await after("2")).splitlines()[3:-1]]
    titles = [title for line in lines[5:] for title in re.findall(r"By \w+(?=  .* n )", line)]
    assert len(titles) >= 4
    assert any(lines[-4:])


def test_names_of_groups_are_in_short_together_where_one_has_no_room() -> None:
    names = ["London and New York", "Tokyo and London", "none"]
    assert fitting_names(names, 19) == names
    assert fitting_names(names, 16) == ["London+NY", "Tokyo+London", "none"]
    assert fitting_names(names, 10)[1] == "Tokyo+Lon…"


async def test_that_groups_rest_on_few_trades_has_the_colour_of_a_warning() -> None:
    page = StatisticsPage(Host(few("100", "-50", "30")), 2)
    app = FormApp(lambda: page)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(app, pilot.pause)
        roles = {role for line in page.lines() for text, role in line if "under 20" in text}
    assert roles == {"warn"}


async def test_enter_looks_at_one_group_alone_and_escape_goes_back_to_all() -> None:
    one = await after("2", "right", "enter", "1")
    assert "Statistics  side: long" in one
    assert "Sharpe" not in one  # of the account, not of a group
    both = await after("2", "right", "enter", "escape")
    assert f"Statistics  {DAYS * A_DAY} closed trades" in both


async def test_enter_on_a_row_that_the_new_groups_do_not_have_opens_the_last_one() -> None:
    page = StatisticsPage(Host(), 2)
    app = FormApp(lambda: page)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(app, pilot.pause)
        page._anew()  # as after a new trade, until it is computed
        for _ in range(20):
            page.action_move(0, 1)
        page.action_take()
        await settle(app, pilot.pause)
        assert "instrument: USD_JPY" in app.words


async def test_the_calendar_of_a_group_without_the_chosen_weekday_chooses_a_day_of_its_own() -> (
    None
):
    saturday = closed_trade("5", 1, opened_ns=MONDAY + 5 * 24 * HOUR, instrument="BTC_USD")
    others = (
        closed_trade("7", number, opened_ns=MONDAY + days * 24 * HOUR)
        for number, days in ((2, 0), (3, 7))
    )
    host = Host(JournalSnapshot(Journal((saturday, *others)), RowContext(), (), "PRACTICE", "USD"))
    text = await after(
        "7", "left", "down", "down", "down", "down", "down", "2", "down", "enter", "7", host=host
    )
    assert "instrument: EUR_USD" in text
    assert re.search(r"Mon \d+ Mar 2024   \+7.00", text)


@pytest.mark.parametrize("width", [16, 20, 36])
def test_a_narrow_window_cuts_no_amount_above_the_curve(width: int) -> None:
    view, shown = EquityView(), few("100", "-50", "30")
    given = ViewInput(shown, shown.journal.closed, width=width, rows=20)
    lines = ["".join(text for text, _ in line) for line in view.lines(view.compute(given), given)]
    assert max(cell_len(each) for each in lines[:6]) <= width
    assert "max drawdown −50.00" in " ".join(each.strip() for each in lines)


def test_amounts_of_a_yen_account_do_not_run_into_r_or_the_number_of_trades() -> None:
    results = ["-123456.50", "-1234567.25", "98765.75"] * 8
    trades = tuple(closed_trade(each, n, risk="250000") for n, each in enumerate(results))
    shown = JournalSnapshot(Journal(trades), RowContext(), (), "PRACTICE", "JPY")
    views = StatisticsPage(Host()).views
    for view, size in product((views[1], views[6]), ((76, 40), (116, 40), (36, 40))):
        given = ViewInput(shown, shown.journal.closed, width=size[0], rows=size[1])
        for line in view.lines(view.compute(given), given):
            assert not re.search(r"\d[−+]", "".join(text for text, _ in line))


async def test_the_hours_begin_at_the_one_with_the_largest_result() -> None:
    first = await after("6", host=Host(few("1", "-500", "30")))
    line = next(each for each in first.splitlines() if "USD" in each and "1 trade" in each)
    assert "−500.00" in line


class Sized(EquityView):
    """A curve that is computed anew for each size."""

    size = 1

    def key(self, given: ViewInput) -> Hashable:
        return self.size, super().key(given)


async def test_while_another_size_is_computed_the_view_stays_as_it_was() -> None:
    page, view = StatisticsPage(Host()), Sized()
    page.views = (view,)
    app = FormApp(lambda: page)
    async with app.run_test(size=(120, 35)) as pilot:
        await settle(app, pilot.pause)
        view.size = 2
        assert not any("Computing" in text for line in page.lines() for text, _ in line)
        assert any("max drawdown" in text for line in page.lines() for text, _ in line)


def test_bars_have_one_axis_which_is_at_an_edge_where_one_sign_is_missing() -> None:
    def drawn(*values: int) -> list[str]:
        bars = bars_of([D(each) for each in values], 4)
        return ["".join(text for text, _ in bar) for bar in bars]

    assert drawn(4, -2, 0) == ["    │━━━━", "  ━━│    ", "    │    "]
    assert drawn(4, 2) == ["│━━━━━━━━", "│━━━━    "]
    assert drawn(-4, -1) == ["━━━━━━━━│", "      ━━│"]
    split = bars_of([D(6), D(-2)], 4, split=True)
    assert ["".join(text for text, _ in bar) for bar in split] == ["  │━━━━━━", "━━│      "]


def test_all_tables_of_the_groups_have_bars_of_one_scale() -> None:
    view, shown = GroupsView(), snapshot()
    given = ViewInput(shown, shown.journal.closed, width=76, rows=30)
    lines = view.lines(view.compute(given), given)
    text = "\n".join("".join(words for words, _ in line) for line in lines)
    text = re.sub(r"(?m) \S+ +\S+ +\S+ +(\S*│)", r" \1", text, count=4)  # behind the results
    bars = re.findall(r"([+−][\d,.]+) +(╺?━*)│(━*╸?)", text)
    sizes = {
        abs(D(result.replace("−", "-").replace(",", ""))): len(left + right)
        for result, left, right in bars
    }
    assert len(bars) > 2 * len(view.compute(given).rows)
    assert [sizes[each] for each in sorted(sizes)] == sorted(sizes.values())


def test_bars_are_half_a_cell_precise_and_none_but_of_zero_is_empty() -> None:
    def drawn(*values: int) -> list[str]:
        bars = bars_of([D(each) for each in values], 4)
        return ["".join(text for text, _ in bar) for bar in bars]

    assert drawn(8, -3, 1000) == ["    │╸   ", "   ╺│    ", "    │━━━━"]
    assert drawn(80, -30, 70, -50) == ["    │━━━━", "  ╺━│    ", "    │━━━╸", " ╺━━│    "]


@pytest.mark.parametrize("ascii_only", [False, True])
async def test_hints_are_left_out_whole_and_how_to_leave_never(*, ascii_only: bool) -> None:
    page = StatisticsPage(Host())
    app = FormApp(lambda: page)
    async with app.run_test(size=(80, 24)) as pilot:
        app.set_class(ascii_only, "-ascii")
        page.action_show_view(2)
        await settle(app, pilot.pause)
        foot = app.words.splitlines()[-1]
        assert "Enter only these   " in foot
        assert ("row" in foot) != ascii_only
        assert "   1-8 view   Esc closes " in foot


async def test_enter_in_the_calendar_opens_the_chosen_day_and_d_its_week() -> None:
    host = Host()
    await after("7", "up", "enter", "left", "d", host=host)
    assert host.opened == [(date(2026, 2, 26), False), (date(2026, 2, 19), True)]


async def test_without_trades_every_view_says_so_and_names_no_key_of_its_own() -> None:
    page = StatisticsPage(Host(few()))
    app = FormApp(lambda: page)
    async with app.run_test(size=(80, 24)) as pilot:
        for number in VIEWS:
            page.action_show_view(number)
            await settle(app, pilot.pause)
            text = app.words
            assert "No trade was closed yet. Each one appears here" in text, number
            assert text.splitlines()[-1].strip("╰─╯ ") == "1-8 view   Esc closes", number
        page.show_journal(few("5"))
        page.action_show_view(3)
        await settle(app, pilot.pause)
        assert "Not enough trades for a curve: 1, at least 2 are needed" in app.words


async def test_a_view_is_as_high_as_what_it_says_and_a_picture_takes_the_page() -> None:
    page = StatisticsPage(Host(few("5", "-3")), 2)
    app = FormApp(lambda: page)
    async with app.run_test(size=(200, 50)) as pilot:
        heights = {}
        for number in VIEWS:
            page.action_show_view(number)
            await settle(app, pilot.pause)
            heights[page.view.NAME] = len(page.lines())
    assert {heights[name] for name in ("figures", "equity", "R histogram")} == {48}
    assert max(heights[name] for name in ("groups", "what-if")) < 40


async def test_the_panes_in_sight_are_dimmed_once_it_is_known_how_many_there_are() -> None:
    host = Host(answers=False)
    page = StatisticsPage(host)
    app = FormApp(lambda: page)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(app, pilot.pause)
        assert not page.dims_panes
        page.show_journal(few("5"))
        await settle(app, pilot.pause)
        assert page.dims_panes


async def test_the_arrows_step_the_rule_of_what_if_and_zero_is_as_it_was() -> None:
    assert "What if: stop at 0.5 R, target at 0.25 R" in await after(
        "8", "right", "right", "down", "right"
    )
    assert "What if: everything as it was" in await after("8", "right", "left", "left")


async def test_what_candles_tell_is_read_once_the_view_is_shown_and_only_once() -> None:
    host = Host()
    await after("5", "8", "5", "8", host=host)
    assert host.reads == ["journal", "open profits", "excursions", f"paths of {DAYS * A_DAY}"]


async def test_while_the_journal_is_read_the_page_says_how_far() -> None:
    host = Host(answers=False, progress=safe("5,000 of 90,000 transactions"))
    assert "The journal is being read" in await after(host=host)


async def test_a_refusal_is_shown_and_r_reads_again() -> None:
    host = Host()
    page = StatisticsPage(host)
    app = FormApp(lambda: page)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(app, pilot.pause)
        page.show_error("Not everything could be read")
        await settle(app, pilot.pause)
        assert "Not everything could be read" in app.words
        await pilot.press("r")
        await settle(app, pilot.pause)
        assert "Not everything could be read" not in app.words
    assert host.reads.count("journal") == 2


def test_hostile_names_are_drawn_as_text() -> None:
    page = StatisticsPage(Host(), 2)
    hostile = closed_trade("5", instrument="EUR\x1b[31m_USD" * 20)
    shown = JournalSnapshot(Journal((hostile,)), RowContext(), (), "PRACTICE", "USD")
    given = ViewInput(shown, shown.journal.closed, width=40)
    view = page.views[1]
    drawn = "".join(text for line in view.lines(view.compute(given), given) for text, _ in line)
    assert "EUR" in drawn
    assert drawn.isprintable() or "\x1b" not in drawn


@pytest.mark.parametrize("view", sampled(["1", "2", "6", "8"], 2))
async def test_results_that_rest_on_few_trades_are_not_in_the_colour_of_hints(view: str) -> None:
    page = StatisticsPage(Host(few("100", "-50", "30")))
    app = FormApp(lambda: page)
    async with app.run_test(size=(120, 35)) as pilot:
        await settle(app, pilot.pause)
        await pilot.press(view)
        await settle(app, pilot.pause)
        hints = [text for line in page.lines() for text, role in line if role == "faint"]
    assert not any(".00" in text or "80" in text for text in hints)


# The heat maps.


async def test_a_calendar_of_one_week_shows_a_month_and_the_trades_of_its_day_oldest_first() -> (
    None
):
    one = JournalSnapshot(rebuild(events_of_days(1, 4)), RowContext(), (), "PRACTICE", "USD")
    text = await after("7", host=Host(one), size=(120, 35))
    assert next(line for line in text.splitlines() if "Mon " in line).count("·") >= 5
    day = text[text.index("Trades of the day") :]
    assert "Fri 27 Feb 2026  " in text
    times = re.findall(r" (\d\d:\d\d) +\S+/\S+ +(?:long|short) ", day)
    assert len(times) == 4
    assert times == sorted(times)
    assert not re.search(r"month +n", text), "it would repeat the week"
    lines = (await after("7", host=Host(one), size=(200, 50))).splitlines()
    beside_it = next(line for line in lines if "win %" in line)
    assert "Trades of the day" in beside_it


async def test_the_trades_of_the_chosen_hour_stand_below_the_map_as_far_as_there_is_room() -> None:
    text = await after("6", size=(200, 50))
    name = re.search(r"Trades opened (\w{3} \d\d:00)", text)
    chosen = re.search(r"(\w{3} \d\d:00)   .* USD .* R   (\d) trade", text)
    assert name is not None
    assert chosen is not None
    assert name[1] == chosen[1]
    assert len(re.findall(r"\d\d (?:Jan|Feb) \d\d:\d\d ", text)) == int(chosen[2])
    assert "Trades opened" not in await after("6")


def test_in_one_colour_no_row_is_said_to_be_dim() -> None:
    view, months = StatisticsPage(Host()).views[6], (MONDAY, MONDAY + 40 * 24 * HOUR)
    trades = tuple(closed_trade("5", number, opened_ns=at) for number, at in enumerate(months))
    shown = JournalSnapshot(Journal(trades), RowContext(), (), "PRACTICE", "USD")
    for is_mono in (False, True):
        given = ViewInput(shown, shown.journal.closed, is_mono=is_mono, rows=30)
        lines = view.lines(view.compute(given), given)
        text = "".join(text for line in lines for text, _ in line)
        assert ("dim: n under 20, may be chance" in text) is not is_mono


def test_three_spaces_are_between_the_keys_of_each_view() -> None:
    for view in StatisticsPage(Host()).views:
        assert not re.search(r"\S {2}\S", view.HINT), view.NAME


async def test_no_month_is_out_of_reach_in_a_small_window() -> None:
    months = "│ Jan 2026 ", "│ Feb 2026 "
    first = await after("7", size=(80, 16))
    assert "lines more: Space" in first
    assert not any(month in first for month in months)
    rest = await after("7", "space", size=(80, 16))
    assert all(month in rest for month in months)
    assert "Result of each trading day" not in rest
    assert "Result of each trading day" in await after("7", "space", "left", size=(80, 16))


async def test_weeks_out_of_sight_are_said() -> None:
    snapshot = JournalSnapshot(rebuild(events_of_days(200, 1)), RowContext(), (), "PRACTICE", "USD")
    shown = await after("7", host=Host(snapshot))
    assert "13 of 40 weeks: ← → shows the others" in shown, shown
    assert re.findall(r"\b(all|sum)\b", shown) == ["sum", "sum"]
    whole = await after("7")
    assert "weeks:" not in whole
    assert re.findall(r"\b(all|sum)\b", whole) == ["sum", "sum"]


async def test_that_cells_rest_on_few_trades_is_said_once_in_words() -> None:
    for size in ((80, 24), (120, 35)):
        text = await after("6", size=size)
        assert (
            len(re.findall(r"n under 20: may be chance \(\d+ of \d+ cells\)|each cell", text)) == 1
        )


async def test_hours_without_a_trade_before_the_first_and_behind_the_last_take_no_room() -> None:
    head = next(line for line in (await after("6")).splitlines() if " 08 " in line)
    assert head.split()[1:-2] == [f"{hour:02}" for hour in range(6, 19)]


@pytest.mark.parametrize("view", [1, 7])
def test_no_number_of_figures_or_weeks_is_cut_in_a_narrow_window(view: int) -> None:
    trades = tuple(
        closed_trade(result, n, opened_ns=MONDAY + n * 7 * 24 * HOUR)
        for n, result in enumerate(["1234567890.12", "-12345678.50", "7"] * 10)
    )
    shown = JournalSnapshot(Journal(trades), RowContext(), (), "PRACTICE", "JPY")
    given = ViewInput(shown, trades, width=36, rows=60)
    own = StatisticsPage(Host()).views[view - 1]
    for line in own.lines(own.compute(given), given):
        text = "".join(words for words, _ in line).rstrip()
        assert cell_len(text) <= 36 or not any(map(str.isdigit, text[35:])), text
