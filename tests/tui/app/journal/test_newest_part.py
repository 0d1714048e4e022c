"""A large account without a cache on the desk: its pages open with the newest part, say so, and are whole later."""

from decimal import Decimal
from pathlib import Path
from typing import cast

import pytest

from keydesk.forms.journal.trades import JournalForm
from keydesk.forms.statistics.day import DayPage
from keydesk.trade_journal.newest_part import Portions
from support.data.desk_data import frame_of
from support.fakes.journal_app import JournalApp, settle
from support.journal_history import TERMS, Step, journal_of, play

SMALL = Portions(page=10, first=20, few=40, step=25)
KINDS = ("market", "close", "stop", "close", "market", "close a part")
ACCOUNT = play(TERMS[0], [Step(kind, "EUR_USD", Decimal(5000), 9, 0) for kind in KINDS * 12])


@pytest.fixture
def app(tmp_path: Path) -> JournalApp:
    found = JournalApp(tmp_path, SMALL)
    found.service.account = ACCOUNT
    return found


def frame(app: JournalApp) -> None:
    app.screen.on_frame(frame_of(app.store))  # type: ignore[attr-defined]


async def test_the_list_says_what_part_it_is_and_the_end_key_reads_all(app: JournalApp) -> None:
    last = int(app.service.history[-1].id)
    async with app.run_test(size=(80, 24)) as pilot:
        app.open()
        live = app.journal.live
        assert live is not None
        await live.read()
        app.journal.show()
        await pilot.pause()
        page = cast("JournalForm", app.screen)
        frame(app)
        await pilot.pause()
        assert "Journal  newest" in app.words
        assert f"newest 20 of {last} transactions; 6 trades opened before are left out" in app.words
        await pilot.press("end")
        await settle(app, pilot)
        frame(app)
        await pilot.pause()
        assert len(page.keys) == len(journal_of(ACCOUNT).trades)
        assert "transactions" not in app.words


async def test_statistics_are_over_a_part_and_say_so_until_all_is_read(app: JournalApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        app.open()
        live = app.journal.live
        assert live is not None
        await live.read()
        part = live.part
        app.statistics.show()
        said = set()
        while live.part:
            said.add("Over a part: newest 20 of" in app.words)
            await pilot.pause(0.005)
        await settle(app, pilot)
        frame(app)
        await settle(app, pilot)
        assert part
        assert "Over a part" not in app.words
        assert f"{len(journal_of(ACCOUNT).closed)} closed trades" in app.words


async def test_a_day_that_is_opened_from_a_part_is_completed_where_it_stands(
    app: JournalApp,
) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        app.open()
        app.statistics.show_day()
        while not isinstance(app.screen, DayPage):
            await pilot.pause(0.005)
        page = app.screen
        assert page.snapshot.part.startswith("newest 20 of")
        await settle(app, pilot)
        assert app.screen is page
        assert not page.snapshot.part
        assert page.snapshot.journal == journal_of(ACCOUNT)
