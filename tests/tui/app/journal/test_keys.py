"""The keys and commands of the journal on the desk."""

from pathlib import Path

import pytest

from keydesk.trading.desk_session import DeskLock
from support.fakes.working_desk import WorkingDesk


@pytest.fixture
def app(tmp_path: Path) -> WorkingDesk:
    return WorkingDesk(DeskLock.of(tmp_path, "practice"))


async def test_n_and_its_command_write_about_the_selected_trade(app: WorkingDesk) -> None:
    async with app.run_test(size=(120, 35)) as pilot:
        await pilot.pause()
        app.draw()
        await pilot.press("g", "t")
        app.actions.perform("note")
        await pilot.press(":", *"note", "enter")
        await pilot.press(":", *"journal", "enter")
    assert app.noted == ["6411", "6411"]
    assert app.journal_shown


async def test_without_an_open_trade_it_says_where_the_closed_ones_are(app: WorkingDesk) -> None:
    async with app.run_test(size=(120, 35)) as pilot:
        await pilot.pause()
        app.store.trades.clear()
        app.draw()
        app.actions.perform("note")
    assert app.noted == []
    assert "the journal has the closed ones" in app.store.notices[-1].text
