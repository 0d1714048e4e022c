"""Statistics of the open account on the desk: read from its journal, followed, and without an account refused."""

from pathlib import Path
from typing import cast

from keydesk.app.journal.account_journal import NOT_OPEN
from keydesk.forms.statistics.day import DayPage
from keydesk.forms.statistics.page import StatisticsPage
from keydesk_client.errors import Unreachable
from keydesk_practice.engine.commands import CloseTrade
from support.data.desk_data import frame_of
from support.fakes.journal_app import JournalApp, settle


async def test_without_an_account_both_pages_say_so(tmp_path: Path) -> None:
    app = JournalApp(tmp_path)
    async with app.run_test():
        app.statistics.show()
        app.statistics.show_day()
    assert app.said == [NOT_OPEN] * 2


async def test_the_page_reads_the_journal_and_what_each_view_needs(tmp_path: Path) -> None:
    app = JournalApp(tmp_path)
    async with app.run_test(size=(120, 35)) as pilot:
        app.open()
        app.statistics.show()
        await settle(app, pilot)
        assert "1 closed trade" in app.words
        assert "Daily NAV, " in app.words
        for key, text in (("5", "Not enough trades for MAE"), ("8", "1 trade without a first")):
            await pilot.press(key)
            await settle(app, pilot)
            assert text in app.words
    assert max(map(len, app.described)) < 200  # a repr of every trade held the desk for 100 ms


async def test_the_page_follows_a_trade_that_is_closed_meanwhile(tmp_path: Path) -> None:
    app = JournalApp(tmp_path)
    async with app.run_test(size=(120, 35)) as pilot:
        app.open()
        app.statistics.show()
        await settle(app, pilot)
        page = cast("StatisticsPage", app.screen)
        seen = len(app.service.history)
        trade = app.service.account.trade("EUR_USD", 3000)
        app.service.account.do(CloseTrade(specifier=str(trade.id)))
        for each in app.service.history[seen:]:
            app.heard[0](each)
        page.on_frame(frame_of(app.store))
        await settle(app, pilot)
        assert "2 closed trades" in app.words


async def test_the_last_day_is_shown_and_a_lost_connection_is_told(tmp_path: Path) -> None:
    app = JournalApp(tmp_path)
    async with app.run_test(size=(120, 35)) as pilot:
        app.open()
        app.statistics.show_day()
        await settle(app, pilot)
        assert isinstance(app.screen, DayPage)
        assert "Result:" in app.words
        reads = [each for each in app.store.notices if "being read" in each.text]
        assert [each.seen for each in reads] == [True], "the page is shown: it is taken back"
        app.service.error = Unreachable("no route to the host")
        app.statistics.show(1)
        await settle(app, pilot)
        assert "no route to the host" in app.words


async def test_a_journal_that_could_not_be_read_is_no_day_without_trades(tmp_path: Path) -> None:
    app = JournalApp(tmp_path)
    app.service.error = Unreachable("the read timeout has passed")
    async with app.run_test(size=(120, 35)) as pilot:
        app.open()
        app.statistics.show_day()
        await settle(app, pilot)
        assert not isinstance(app.screen, DayPage)
        assert "The journal is being read" in app.said[0]
        assert "the read timeout has passed" in app.said[1]


async def test_while_the_broker_is_silent_the_key_of_the_day_says_what_it_waits_for(
    tmp_path: Path,
) -> None:
    app = JournalApp(tmp_path)
    async with app.run_test(size=(120, 35)) as pilot:
        app.open()
        app.journal.read()
        await settle(app, pilot)
        app.statistics.show_day()
        await settle(app, pilot)
        assert app.said == []
        app.store.health.unanswered_since = 1.0
        app.statistics.show_day()
        assert "The journal is being read" in app.said[0]
        await settle(app, pilot)


async def test_a_day_whose_journal_is_not_read_to_its_end_says_so(tmp_path: Path) -> None:
    app = JournalApp(tmp_path)
    async with app.run_test(size=(120, 35)) as pilot:
        app.open()
        app.journal.read()
        await settle(app, pilot)
        app.service.error = Unreachable("the read timeout has passed")
        app.statistics.show_day()
        await settle(app, pilot)
        assert isinstance(app.screen, DayPage)
        assert "the read timeout has passed" in app.words
        assert "Result:" in app.words


async def test_a_day_that_comes_late_is_not_shown_over_another_page_nor_twice(
    tmp_path: Path,
) -> None:
    app = JournalApp(tmp_path)
    async with app.run_test(size=(120, 35)) as pilot:
        app.open()
        app.statistics.show_day()
        app.journal.show()
        opened = app.screen
        await settle(app, pilot)
        assert app.screen is opened
        assert app.said[-1] == "The journal is read: :day shows the day"
        await app.pop_screen()
        app.statistics.show_day()
        app.statistics.show_day()
        await settle(app, pilot)
        assert [type(each) for each in app.screen_stack].count(DayPage) == 1
