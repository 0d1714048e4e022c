"""The journal's list by keys alone: order, filter, positions, every size."""

from decimal import Decimal
from pathlib import Path

import pytest
from msgspec.structs import replace
from textual.pilot import Pilot

from keydesk.calc.trade_journal.notes import TradeNote
from keydesk.calc.trade_journal.trades import Costs, JournalTrade
from keydesk.forms.journal.columns import COLUMNS, JournalColumn
from keydesk.forms.journal.trades import SORTED_AT_ONCE, JournalForm
from keydesk.keys.keymap import JOURNAL, KEYMAP
from keydesk.tables.row_order import TableOrder
from keydesk.text.format import EMPTY, at
from keydesk.text.sanitize import safe
from keydesk.trade_journal.live import NEWEST, LiveJournal
from keydesk.trade_journal.notes_file import Notes
from support.data.desk_data import frame_of
from support.data.desk_store import example_store
from support.data.journal_service import keep_excursion, put_trades, read_journal
from support.data.journal_trades import closed_trade
from support.fakes.form_app import FormApp
from support.fakes.journal_host import JournalHost
from support.walks import sampled

D = Decimal
SIZES = [(40, 12), (60, 16), (80, 24), (120, 35), (200, 50), (250, 70)]


def open_trade(number: int) -> JournalTrade:
    return replace(closed_trade("1", number), exits=())


def second_of(first: JournalTrade, number: int) -> JournalTrade:
    """Return a trade of the same position."""
    return replace(closed_trade("-40", number), position_id=first.id)


def some_trades() -> list[JournalTrade]:
    first = closed_trade("120", 1)
    return [
        first,
        replace(second_of(first, 2), costs=Costs(financing=D("-2.5"))),
        closed_trade("-75.5", 3, instrument="USD_JPY", units=-20_000),
        open_trade(4),
    ]


NOTES = {
    "3": TradeNote(("news", "late"), "fade", "Sold into the number.", 2, "no plan"),
    "1": TradeNote(("trend",), "pullback", rating=5),
}


class Page:
    """The list over given trades."""

    def __init__(
        self, folder: Path, trades: list[JournalTrade] | None = None, newest: int = NEWEST
    ) -> None:
        self.journal: LiveJournal = read_journal(
            some_trades() if trades is None else trades, folder, newest
        )
        self.journal.notes = Notes(NOTES)
        self.host, self.store = JournalHost(), example_store()
        self.form = JournalForm(self.store, self.journal, self.host)
        self.app = FormApp(lambda: self.form)

    def frame(self) -> None:
        self.form.on_frame(frame_of(self.store))

    async def after(self, *keys: str, size: tuple[int, int] = (120, 35)) -> str:
        async with self.app.run_test(size=size) as pilot:
            self.frame()
            for key in keys:  # "group" is a chord, which the desk completes
                await (self.group(pilot) if key == "group" else pilot.press(key))
            await pilot.pause()
            return self.app.words

    async def group(self, pilot: Pilot[None]) -> None:
        self.form.action_group()
        await pilot.pause()


def rows(text: str) -> list[str]:
    """Return the instruments and results of the rows, from the top."""
    marks = ("LONG", "SHORT")
    return [line for line in text.splitlines() if any(m in line for m in marks) and "#" not in line]


async def test_the_newest_trade_is_first_and_an_open_one_is_marked(tmp_path: Path) -> None:
    page = Page(tmp_path)
    text = await page.after()
    assert page.form.keys == ["4", "3", "2", "1"]
    assert "Journal  4 trades, newest first" in text
    assert "open" in rows(text)[0]
    assert "−75.50" in rows(text)[1]
    assert "2/5" in rows(text)[1]
    assert "!n" in rows(text)[1]
    assert "−2.50" in rows(text)[2]
    assert "+1.20" in rows(text)[3]
    assert "3 closed, 1 won, net +2.00 USD, swap in it −2.50, +0.02 R of 3" in text
    assert page.host.reads == 1


@pytest.mark.parametrize("width", [50, 60, 76])
async def test_sums_that_have_no_room_are_left_out_whole(tmp_path: Path, width: int) -> None:
    page = Page(tmp_path, [closed_trade("12345.50", at) for at in range(90)])
    async with page.app.run_test(size=(width, 12)) as pilot:
        page.frame()
        await pilot.pause()
        sums = next(line for line in page.app.words.splitlines() if "90 closed" in line)
    assert sums.strip("│ ").endswith(("net +1,111,095.00 USD", "R of 90"))


async def test_it_fills_every_window_and_cuts_no_number(tmp_path: Path) -> None:
    page = Page(tmp_path, [*some_trades(), *(closed_trade("1", at) for at in range(5, 90))])
    async with page.app.run_test(size=(100, 30)) as pilot:
        page.frame()
        await pilot.press("end", "up", "up")
        for size in SIZES:
            await pilot.resize_terminal(*size)
            await pilot.pause()
            text = page.app.words
            assert len(text.splitlines()) == size[1]
            assert all(len(line) <= size[0] for line in text.splitlines())
            assert "−75.50" in next(line for line in text.splitlines() if "▶" in line)
            assert "Esc closes" in text
            header = next(line for line in text.splitlines() if "pair" in line)
            for title in ("closed", "pair", "P/L"):
                assert title in header
            for title in ("MFE R", "session", "setup", "net") if size[0] >= 200 else ():
                assert title in header


async def test_v_sorts_by_the_net_result_both_ways_and_back(tmp_path: Path) -> None:
    page = Page(tmp_path)
    orders = []
    async with page.app.run_test(size=(80, 24)) as pilot:
        page.frame()
        for _ in range(3):
            await pilot.press("v")
            orders.append(page.form.keys)
    assert orders == [["1", "2", "3", "4"], ["3", "2", "1", "4"], ["4", "3", "2", "1"]]


def unlike_trades() -> list[JournalTrade]:
    """Return trades that each number puts in another order."""
    return [
        replace(closed_trade("120", 1, risk=None), costs=Costs(financing=D(-3))),
        replace(closed_trade("-40", 2, risk="50", units=30_000), costs=Costs(financing=D(-1))),
        replace(closed_trade("50", 3, units=-20_000), costs=Costs(financing=D(-95))),
        open_trade(4),
    ]


def number_in(cell: str) -> float | None:
    said = cell.strip("~").replace("−", "-").replace(",", "").removesuffix("/5")
    return None if said in {"", "–", "open"} else float(said)


@pytest.mark.parametrize("column", sampled(COLUMNS, 7), ids=lambda column: column.key)
async def test_a_column_sorts_by_what_it_shows(column: JournalColumn, tmp_path: Path) -> None:
    page = Page(tmp_path, unlike_trades())
    async with page.app.run_test(size=(250, 20)):
        page.frame()
        page.form.sort_rows(order=TableOrder(column.key, descending=not column.ascending))
        keys = page.form.keys
        cells = [each[column.key][0] for each in page.form.table.cells(keys)]
    assert sorted(keys) == ["1", "2", "3", "4"]
    if column.ascending:
        said = [cell.lower() for cell in cells if cell]
        assert said == sorted(said)
    elif column.key not in {"time", "held", "marks"}:
        numbers = [number for cell in cells if (number := number_in(cell)) is not None]
        assert numbers == sorted(numbers, reverse=True)
        are_known = [cell != EMPTY for cell in cells]
        assert are_known == sorted(are_known, reverse=True), "the unknown is last"


async def test_keys_go_through_every_shown_column(tmp_path: Path) -> None:
    page = Page(tmp_path)
    seen = set()
    async with page.app.run_test(size=(250, 20)) as pilot:
        page.frame()
        while page.form.table.order.column not in seen:
            seen.add(page.form.table.order.column)
            await pilot.press("l")
    assert seen == {"", *(column.key for column in COLUMNS)}


async def test_many_rows_are_sorted_in_a_thread_in_the_order_asked_for_last(tmp_path: Path) -> None:
    trades = [closed_trade(str(n * 7919 % 1000), n) for n in range(1, SORTED_AT_ONCE + 100)]
    page = Page(tmp_path, trades)
    newest = [each.id for each in reversed(trades)]
    by_result = [each.id for each in sorted(trades, key=lambda each: each.result)]
    async with page.app.run_test(size=(120, 35)) as pilot:

        async def sorted_rows() -> list[str]:
            while any(not each.is_finished for each in page.app.workers):
                await pilot.pause(0.005)
            return page.form.keys

        assert await sorted_rows() == newest
        for _ in range(2):
            page.form.action_view()
        assert await sorted_rows() == by_result
        page.form.action_view()
        page.form.action_letters()  # none: all are listed
        page.form.action_group()
        assert await sorted_rows() == newest
        assert page.form.table.by_position
        assert f"{len(trades)} positions, newest first" in page.app.words


LETTERS = {
    "loss": ["3", "2"],
    "eurusd win": ["1"],
    "open": ["4"],
    "pullback": ["1"],
    "mistake": ["3"],
    "5/5": ["1"],
    "number": ["3"],
    "#2": ["2"],
    "no such words": [],
}


async def test_letters_leave_the_trades_that_have_them(tmp_path: Path) -> None:
    page = Page(tmp_path)
    async with page.app.run_test(size=(120, 35)) as pilot:
        page.frame()
        for filter_text, left in LETTERS.items():
            page.host.filter_text = filter_text
            page.form.action_letters()
            assert page.form.keys == left
            await pilot.pause()
            assert f"{len(left)} of 4 trades" in page.app.words
            assert "w e all" in page.app.words
        assert "No trade matches no such words. w e shows all" in page.app.words
        page.form.action_every_row()
        assert len(page.form.keys) == 4


async def test_g_rolls_trades_up_by_position_and_back_on_the_same_trade(tmp_path: Path) -> None:
    page = Page(tmp_path)
    text = await page.after("down", "down", "group")
    assert page.form.keys == ["4", "3", "1"]
    assert "3 positions" in text
    chosen = page.form.chosen
    assert chosen is not None
    assert chosen.trade.trade_ids == ("1", "2")
    assert chosen.result == D("77.5")
    again = Page(tmp_path)
    await again.after("down", "group", "group")
    assert again.form.chosen is not None
    assert again.form.chosen.trade.id == "3"


async def test_enter_and_n_are_for_the_trade_under_the_cursor(tmp_path: Path) -> None:
    page = Page(tmp_path)
    await page.after("down", "enter", "end", "n", "up", "n")
    assert page.host.shown == ["3"]
    assert page.host.noted == ["1", "2"]


async def test_a_fill_while_the_page_is_open_appears_and_the_cursor_stays_on_its_trade(
    tmp_path: Path,
) -> None:
    page = Page(tmp_path)
    async with page.app.run_test(size=(120, 35)) as pilot:
        page.frame()
        await pilot.press("down")
        put_trades(page.journal, [closed_trade("9.99", 7)])
        page.frame()
        await pilot.pause()
        assert page.form.keys == ["4", "7", "3", "2", "1"]
        assert page.form.chosen is not None
        assert page.form.chosen.trade.id == "3"
        assert "9.99" in page.app.words


async def test_what_is_in_sight_is_asked_its_excursions_once(tmp_path: Path) -> None:
    page = Page(tmp_path, [closed_trade("1", number) for number in range(1, 90)])
    async with page.app.run_test(size=(200, 50)) as pilot:
        page.frame()
        page.frame()
        [first] = page.host.excursions
        assert first == page.form.keys[: page.form.rows]
        await pilot.press("end")
        page.frame()
        assert page.host.excursions[-1] == page.form.keys[-page.form.rows :]
        page.form.table.order = page.form.table.order.by("mae", frozenset())
        page.form.sort_rows()
        page.frame()
        assert len(page.host.excursions[-1]) == 89
        await pilot.pause()
        assert "89 without candles yet" in page.app.words


async def test_it_says_that_it_reads_what_failed_and_that_there_is_nothing(tmp_path: Path) -> None:
    page = Page(tmp_path, [])
    page.journal.is_read = False
    page.journal.progress = safe("5,000 of 20,000 transactions")
    assert "Reading the journal: 5,000 of 20,000" in await page.after()
    page = Page(tmp_path, [])
    page.journal.trouble = safe("The journal is incomplete: no route")
    assert "no route. r reads again" in await page.after()
    page = Page(tmp_path, [closed_trade("1", 1)])
    page.journal.trouble = safe("The journal is incomplete: no route")
    assert "no route. r reads again" in await page.after()
    assert "No trade was opened on this account yet" in await Page(tmp_path, []).after(
        "down", "enter"
    )


async def test_a_journal_without_a_trade_is_as_high_as_what_it_says(tmp_path: Path) -> None:
    texts = [await Page(tmp_path, trades).after() for trades in ([], [closed_trade("1", 1)])]
    few, all_rows = (len(text.strip().splitlines()) for text in texts)
    assert few < all_rows // 3


def hostile(text: str) -> list[JournalTrade]:
    return [replace(closed_trade("1", 1, instrument=text), tag=text, comment=text)]


@pytest.mark.parametrize("size", [(40, 12), (200, 50)])
async def test_text_from_outside_is_shown_cleaned(size: tuple[int, int], tmp_path: Path) -> None:
    text = "\x1b]0;owned\x07[red]\u202e" + "W" * 300
    page = Page(tmp_path, hostile(text))
    page.journal.notes = Notes({"1": TradeNote((text,), text, text, 5, text)})
    words = await page.after(size=size)
    assert not set("\x1b\x07\u202e") & set(words)
    assert len(words.splitlines()) == size[1]


async def test_a_position_of_which_one_trade_changes_is_rolled_up_anew(tmp_path: Path) -> None:
    first = closed_trade("10", 1)
    journal = read_journal([first], tmp_path)

    def result() -> Decimal:
        line = journal.line("1", by_position=True)
        assert line is not None
        return line.result

    put_trades(journal, [second_of(first, 2)])
    assert result() == D("-30")
    put_trades(journal, [replace(second_of(first, 2), exits=closed_trade("5", 2).exits)])
    assert result() == D("15")
    assert {id_ for (id_,) in journal.rows(())} == {"1", "2"}


async def test_an_excursion_that_may_still_grow_is_marked_and_read_again(tmp_path: Path) -> None:
    page = Page(tmp_path)
    trade = some_trades()[2]
    frame = frame_of(page.store)
    async with page.app.run_test(size=(200, 50)) as pilot:
        page.form.on_frame(frame)
        keep_excursion(page.journal, trade, is_final=False)
        page.form.on_frame(replace(frame, now=frame.now + 0.1))
        await pilot.pause()
        assert "~1.0" in rows(page.app.words)[1]
        assert "~ may still grow" in page.app.words
        assert len(page.host.excursions) == 1
        page.form.on_frame(replace(frame, now=frame.now + 3))
        assert len(page.host.excursions) == 2
        keep_excursion(page.journal, trade, is_final=True)
        page.form.on_frame(replace(frame, now=frame.now + 6))
        await pilot.pause()
        assert "~" not in page.app.words
        assert len(page.host.excursions) == 2


async def test_a_rating_alone_is_something_that_is_noted(tmp_path: Path) -> None:
    page = Page(tmp_path)
    page.journal.notes = Notes({"3": TradeNote(rating=4)})
    text = await page.after("down")
    assert "rated 4/5" in text
    assert "no note text" in text
    assert "no note yet" in await Page(tmp_path).after("down", "down")


async def test_a_line_of_the_notes_that_cannot_be_read_is_said_whole(tmp_path: Path) -> None:
    page = Page(tmp_path)
    trouble = f"practice-101-001-1000001-001.notes.jsonl: lines 1, 2, 3 {'cannot ' * 6}: mend it"
    page.journal.notes = Notes({}, trouble)
    text = await page.after(size=(80, 24))
    assert "mend it" in text
    assert len(text.splitlines()) == 24


async def test_an_open_trade_says_since_when_it_is_open(tmp_path: Path) -> None:
    page = Page(tmp_path)
    assert "open 03/2024" in rows(await page.after())[0]
    again = Page(tmp_path)
    trade = open_trade(4)
    again.store.clock_ns = trade.opened_ns + 1
    assert f"open {at(trade.opened_ns, again.store.zone):%H:%M}" in rows(await again.after())[0]


async def test_what_the_newest_trades_cannot_answer_reads_all_of_them(tmp_path: Path) -> None:
    page = Page(tmp_path, newest=3)
    asked = []
    async with page.app.run_test(size=(120, 35)) as pilot:
        page.frame()
        await pilot.pause()
        assert "Journal  newest 3 trades, newest first, End reads all" in page.app.words
        page.host.filter_text = "eurusd"
        for key in ("down", "v"):
            await pilot.press(key)
            asked.append(page.host.whole_reads)
        for act in (page.form.action_letters, page.form.action_group):
            act()
            await pilot.pause()
            asked.append(page.host.whole_reads)
        await pilot.press("end")
        asked.append(page.host.whole_reads)
        await page.journal.read(whole=True)
        await pilot.press("end", "v")
    assert asked == [0, 1, 2, 3, 4]
    assert page.host.whole_reads == 4


async def test_every_key_does_no_harm_where_there_is_no_trade(tmp_path: Path) -> None:
    page = Page(tmp_path, [])
    keys = [
        key for entry in KEYMAP.own(JOURNAL) for key in entry.keys if key not in {"escape", "q"}
    ]
    text = await page.after(*keys)
    assert "No trade was opened on this account yet" in text
    assert page.host.shown == page.host.noted == []
