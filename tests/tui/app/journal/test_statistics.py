"""Statistics of the open account on the desk: read from its journal, followed, and without an account refused."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

from textual.app import App

from keydesk.app.journal.desk import NOT_OPEN, JournalDesk
from keydesk.app.journal.statistics import JournalStatistics
from keydesk.forms.statistics.day import DayPage
from keydesk.forms.statistics.page import StatisticsPage
from keydesk.keys.keymap import KEYMAP
from keydesk.widgets import theme
from keydesk_client.errors import Unreachable
from keydesk_client.models import Transaction
from keydesk_practice.engine.commands import CloseTrade
from support.data.desk_data import frame_of
from support.data.desk_store import example_store
from support.data.journal_service import JournalService
from support.fakes.form_app import example_context
from support.journal_history import TERMS, Step, play

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from keydesk.app.account_connection import Connection, DeskAccount


class Desk(App[int]):
    """An app with the statistics of a practised account, which has one closed trade."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.register_theme(theme.load("dark", "truecolor").textual())
        self.theme = "dark"
        steps = [Step(kind, "EUR_USD", Decimal(5000), 9, 0) for kind in ("market", "close")]
        self.service = JournalService(play(TERMS[0], steps))
        self.store = example_store()
        self.told: list[str] = []
        self.heard: list[Callable[[Transaction], None]] = []
        account = cast("DeskAccount", SimpleNamespace(audit=folder / "orders" / "main.audit"))
        self.journal = JournalDesk(
            self,
            account,
            self.store,
            tell=lambda _level, words: self.told.append(words),
            keymap=KEYMAP,
            form_context=lambda: example_context(self.store),
            carry_out=lambda _: None,
        )
        self.statistics = JournalStatistics(
            self, account, self.store, self.journal, lambda _level, words: self.told.append(words)
        )

    def open(self) -> None:
        gate = SimpleNamespace(listen=self.heard.append)
        connection = SimpleNamespace(
            link=SimpleNamespace(gate=gate), commands=SimpleNamespace(client=self.service.client)
        )
        self.journal.open(cast("Connection", connection))

    @property
    def words(self) -> str:
        strips = self.screen._compositor.render_strips()
        return "\n".join(strip.text.rstrip() for strip in strips)


async def settle(app: Desk, pilot: Pilot[int]) -> None:
    await pilot.pause()
    while any(not each.is_finished for each in app.workers):
        await pilot.pause()
    await pilot.pause()


async def test_without_an_account_both_pages_say_so(tmp_path: Path) -> None:
    app = Desk(tmp_path)
    async with app.run_test():
        app.statistics.show()
        app.statistics.show_day()
    assert app.told == [NOT_OPEN] * 2


async def test_the_page_reads_the_journal_and_what_each_view_needs(tmp_path: Path) -> None:
    app = Desk(tmp_path)
    async with app.run_test(size=(120, 35)) as pilot:
        app.open()
        app.statistics.show()
        await settle(app, pilot)
        assert "1 closed trade" in app.words
        assert "Sharpe, daily NAV" in app.words
        for key, words in (("5", "Not enough trades for MAE"), ("8", "1 trade without a first")):
            await pilot.press(key)
            await settle(app, pilot)
            assert words in app.words


async def test_the_page_follows_a_trade_that_is_closed_meanwhile(tmp_path: Path) -> None:
    app = Desk(tmp_path)
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
    app = Desk(tmp_path)
    async with app.run_test(size=(120, 35)) as pilot:
        app.open()
        app.statistics.show_day()
        await settle(app, pilot)
        assert isinstance(app.screen, DayPage)
        assert "Result:" in app.words
        app.service.error = Unreachable("no route to the host")
        app.statistics.show(1)
        await settle(app, pilot)
        assert "no route to the host" in app.words
