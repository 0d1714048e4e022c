"""The page of one trade of the journal."""

from collections.abc import Callable, Sequence
from decimal import Decimal
from pathlib import Path

import pytest
from msgspec.structs import replace

from keydesk.calc.market.granularity import SECONDS
from keydesk.calc.trade_journal.events import StopSet
from keydesk.calc.trade_journal.excursions import Excursion
from keydesk.calc.trade_journal.notes import TradeNote
from keydesk.calc.trade_journal.trades import Costs, JournalTrade
from keydesk.forms.journal.chart import WANTED, TradeChart, range_of
from keydesk.forms.journal.trade import JournalTradeForm, TradeCandles
from keydesk.forms.journal.trade_rows import excursion_rows, result_rows, stop_rows
from keydesk.store.state import Candle
from keydesk.text.sanitize import clean, safe
from keydesk.trade_journal.notes_file import Notes
from keydesk.trade_journal.screens import KeptScreen
from support.data.desk_data import frame_of
from support.data.desk_store import example_store
from support.data.journal_service import keep_excursion, put_trades, read_journal
from support.data.journal_trades import HOUR, MONDAY, closed_trade
from support.fakes.form_app import FormApp

D = Decimal
PIP = D("0.0001")
SECOND = 1_000_000_000
UTC = example_store().zone
HOSTILE = "\x1b]0;x\x07\u202e[red]"


def the_trade() -> JournalTrade:
    trade = closed_trade("120", 1)
    entry = replace(trade.entries[0], slippage=D("0.00003"), half_spread=D("0.8"))
    costs = Costs(financing=D("-2.5"), commission=D("1.2"))
    return replace(trade, entries=(entry,), costs=costs, initial_stop=D("1.08400"))


def candles_about(trade: JournalTrade, seconds: int = 300) -> list[Candle]:
    start = trade.opened_ns - 8 * seconds * SECOND
    return [
        Candle(start + at * seconds * SECOND, 1.085, 1.0862, 1.0845, 1.0855, complete=True)
        for at in range(30)
    ]


class Page:
    """The page over a trade; what it asks for is kept."""

    def __init__(self, folder: Path, trade: JournalTrade | None = None) -> None:
        self.trade = trade or the_trade()
        self.journal = read_journal([self.trade], folder)
        self.noted: list[str] = []
        self.excursions: list[str] = []
        self.apply_candles: list[Callable[[TradeCandles], None]] = []
        self.screens: Sequence[KeptScreen] = ()
        self.form = JournalTradeForm(example_store(), self.journal, self.trade.id, self)
        self.app = FormApp(lambda: self.form)

    def write_note(self, trade_id: str) -> None:
        self.noted.append(trade_id)

    def read_excursion(self, trade: JournalTrade) -> None:
        self.excursions.append(trade.id)

    def read_candles(self, trade: JournalTrade, take: Callable[[TradeCandles], None]) -> None:
        assert trade.id == self.trade.id
        self.apply_candles.append(take)

    def read_kept(self, _: JournalTrade, take: Callable[[Sequence[KeptScreen]], None]) -> None:
        take(self.screens)

    def answer(self) -> None:
        self.apply_candles[0](TradeCandles(candles_about(self.trade), 300, "M5"))


async def test_every_number_is_said_with_its_unit_and_the_chart_shows_the_way(
    tmp_path: Path,
) -> None:
    page = Page(tmp_path)
    page.journal.notes = Notes({"1": TradeNote(("news",), "fade", "Why.", 4, "late")})
    async with page.app.run_test(size=(120, 60)) as pilot:
        await pilot.pause()
        assert "candles are being read" in page.app.words
        page.answer()
        await pilot.pause()
        text = page.app.words
        for each in (
            "#1 LONG 10,000 EUR/USD, closed",
            "+116.30 USD, +1.16 R",
            "+120.00 USD, +10.0 pips",
            "−2.50 USD",
            "−1.20 USD",
            "of an initial risk of 100.00 USD",
            "bought 10,000 at 1.08500, market order, 0.3 pip worse",
            "sold 10,000 at 1.08600, market order trade close, +120.00 USD",
            "0.80 USD, part of the price P/L",
            "4 of 5",
            "─ entry 1.08500",
            "╌ exit 1.08600",
            "stop",
            "entry to exit",
        ):
            assert each in text
        await pilot.press("n")
    assert page.noted == ["1"]


async def test_every_window_shows_it_and_a_small_one_leaves_the_chart_out(tmp_path: Path) -> None:
    page = Page(tmp_path)
    async with page.app.run_test(size=(100, 30)) as pilot:
        await pilot.pause()
        page.answer()
        for size in ((40, 12), (80, 24), (60, 16), (250, 70), (120, 35)):
            await pilot.resize_terminal(*size)
            await pilot.press("end", "home")
            await pilot.pause()
            text = page.app.words
            assert "#1 LONG 10,000" in text
            assert "Esc closes" in text
            assert all(len(line) <= size[0] for line in text.splitlines())
            assert ("╌╌" in text) == (size[1] >= 16)


async def test_screens_are_shown_in_turn_and_hostile_text_only_cleaned(tmp_path: Path) -> None:
    trade = replace(the_trade(), tag=HOSTILE, comment=HOSTILE)
    page = Page(tmp_path, trade)
    page.screens = [
        KeptScreen("1", "entry", MONDAY, (clean("prices ok"), clean(HOSTILE + "W" * 300))),
        KeptScreen("1", "exit", MONDAY, (safe("the end"),)),
    ]
    page.journal.notes = Notes({"1": TradeNote((HOSTILE,), HOSTILE, HOSTILE, None, HOSTILE)})
    async with page.app.run_test(size=(80, 24)) as pilot:
        seen = []
        for _ in range(4):
            await pilot.pause()
            seen.append(page.app.words)
            await pilot.press("v")
    assert "v screen at entry" in seen[0]
    assert "prices ok" in seen[1]
    assert "the screen at the exit" in seen[2]
    assert "the end" in seen[2]
    assert seen[3] == seen[0]
    assert not set("\x1b\x07\u202e") & set("".join(seen))


async def test_a_screen_of_a_wider_window_is_shifted_to_its_right_and_back(tmp_path: Path) -> None:
    page = Page(tmp_path)
    page.screens = [KeptScreen("1", "entry", MONDAY, (safe("left" + " " * 90 + "ARMED"),))]
    async with page.app.run_test(size=(80, 24)) as pilot:
        await pilot.press("v")
        assert "ARMED" not in page.app.words
        await pilot.press("l", "right", "l")
        await pilot.pause()
        assert "ARMED" in page.app.words
        assert "left" not in page.app.words
        await pilot.press("h", "left")
        await pilot.pause()
        assert "left" in page.app.words


async def test_without_candles_it_says_why(tmp_path: Path) -> None:
    page = Page(tmp_path)
    async with page.app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        page.apply_candles[0](TradeCandles(trouble=safe("no candles: no route")))
        await pilot.pause()
        assert "no candles: no route" in page.app.words
        page.apply_candles[0](TradeCandles())
        await pilot.pause()
        assert "the broker has no candles of this time" in page.app.words


def rows_of(rows: Sequence[tuple[str, str]]) -> dict[str, str]:
    return dict(rows)


def test_a_trade_without_a_stop_has_no_r_and_an_open_one_is_booked_so_far() -> None:
    without = replace(the_trade(), initial_risk=None, exits=())
    rows = rows_of(result_rows(without, "USD", PIP))
    assert rows["R"] == "none: no stop within 60 s of the fill"
    assert "booked so far" in rows
    assert rows_of(excursion_rows(without, None, PIP)) == {
        "MAE, MFE": "known once the trade is closed"
    }


def test_excursions_are_said_in_pips_and_r() -> None:
    found = Excursion(D("0.0005"), D("0.0012"), D("0.0010"))
    rows = rows_of(excursion_rows(the_trade(), found, PIP))
    assert rows["MAE"] == "5.0 pips against you, 0.50 R"
    assert rows["MFE"] == "12.0 pips for you, 1.20 R"


def test_each_move_of_the_stop_is_said() -> None:
    stops = [
        StopSet("5", MONDAY, "1", D("1.084")),
        StopSet("6", MONDAY + HOUR, "1", D("1.0851")),
        StopSet("7", MONDAY + HOUR, "1", distance=D("0.002")),
    ]
    rows = stop_rows(stops, the_trade(), PIP, UTC)
    assert [name for name, _ in rows] == ["stop", "stop moved", "stop moved"]
    assert rows[0][1].endswith("at 1.08400, 10.0 pips from the entry")
    assert rows[1][1].endswith("to 1.08510, 1.0 pips from the entry")
    assert rows[2][1].endswith("trailing 20.0 pips behind the price")
    assert stop_rows([], the_trade(), PIP, UTC) == [("stop", "none was set")]


@pytest.mark.parametrize("held", [1, 60, 3600, 24 * 3600, 60 * 24 * 3600, 1000 * 24 * 3600])
def test_a_chart_covers_the_trade_with_few_candles_and_none_of_the_future(held: int) -> None:
    trade = closed_trade("1", opened_ns=MONDAY, hold_ns=held * SECOND)
    now = MONDAY + held * SECOND + SECOND
    name, start, end = range_of(trade, now)
    assert start < trade.opened_ns
    assert MONDAY + held * SECOND <= end <= now
    assert (end - start) // (SECONDS[name] * SECOND) <= WANTED + 2


@pytest.mark.parametrize("ascii_only", [False, True])
def test_an_open_trade_and_one_candle_are_drawn(ascii_only: bool) -> None:
    trade = replace(the_trade(), exits=())
    chart = TradeChart(trade, candles_about(trade)[8:9], 300, 5, 0.0001, UTC, ascii_only=ascii_only)
    for width, height in ((40, 6), (120, 16)):
        rows = chart.lines(width, height)
        assert len(rows) == height


def test_an_excursion_that_may_still_grow_says_so() -> None:
    found = Excursion(D("0.00100"), D("0.00200"), D("0.00100"), is_provisional=True)
    rows = dict(excursion_rows(the_trade(), found, PIP))
    assert rows["MAE"] == "10.0 pips against you, 1.00 R"
    assert rows[""] == "so far: the candle of the exit is not complete"
    assert "" not in dict(excursion_rows(the_trade(), replace(found, is_provisional=False), PIP))


async def test_the_chart_of_an_open_trade_follows_it_to_its_exit(tmp_path: Path) -> None:
    page = Page(tmp_path, replace(the_trade(), exits=()))
    frame = frame_of(example_store())
    async with page.app.run_test(size=(100, 40)) as pilot:
        await pilot.pause()

        def at(seconds: float) -> int:
            page.form.on_frame(replace(frame, now=frame.now + seconds))
            return len(page.apply_candles)

        page.answer()
        assert at(0) == 1
        assert at(30) == 1  # a candle of it is five minutes long
        assert at(90) == 2
        assert at(300) == 2  # the answer is awaited
        page.apply_candles[1](TradeCandles(trouble=clean("no route")))
        await pilot.pause()
        assert "no route" not in page.app.words  # what is drawn stays
        put_trades(page.journal, [the_trade()])
        assert at(303) == 3  # up to the exit, at once
        page.apply_candles[2](TradeCandles(candles_about(page.trade), 300, "M5"))
        assert at(3000) == 3


async def test_an_excursion_is_read_again_when_its_last_candle_is_complete(tmp_path: Path) -> None:
    page = Page(tmp_path)
    frame = frame_of(example_store())
    async with page.app.run_test(size=(100, 40)):
        page.form.on_frame(frame)
        assert page.excursions == ["1"]
        keep_excursion(page.journal, page.trade, is_final=False)
        page.form.on_frame(replace(frame, now=frame.now + 3))
        assert page.excursions == ["1", "1"]
