"""The watchlist's cursor, the chart's title, the deal pane and the ticket show one instrument, whatever keys are pressed."""

import random
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.screen import ModalScreen

from keydesk.calc.market import watchlists
from keydesk.forms.ticket.ticket_form import TicketForm
from keydesk.tables.instrument_rows import InstrumentRows
from keydesk.text.format import pair
from keydesk.trading.desk_session import DeskLock
from support.fakes.working_desk import WorkingDesk
from support.walks import sampled

CHOOSING = ("j", "k", "down", "up", "space", "backspace", "g g", "g e", "enter")
GLANCING = (
    *("tab", "shift+tab", "z", "f", "v", "l", "h", "1"),
    *("g w", "g c", "g t", "g o", "g p", "g b", "g l"),
    *("w w", "w 1", "w 2", "w o", "w t", "w e", "w s", "w v", "w j", "w k", "w x"),
)


def assert_agrees(app: WorkingDesk) -> None:
    screen, focus = app.window.screen, app.store.focus
    pane = screen.watchlist
    if focus in pane.keys:
        assert pane.selected == focus
    else:
        assert not any(pane.is_selected(y) for y in range(pane.outer_size.height))
    assert str(screen.pane("chart").heading().tabs[0].text).startswith(f"{pair(focus)} ")
    assert str(screen.deal.heading().tabs[0].text) == f"Deal {pair(focus)}"


async def assert_ticket_agrees(pilot: Pilot[int], app: WorkingDesk) -> None:
    app.actions.perform("buy")
    await pilot.pause()
    ticket = app.screen
    assert isinstance(ticket, TicketForm)
    assert ticket.draft.instrument == app.store.focus
    await pilot.press("escape")
    await pilot.pause()


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.soak)])
@pytest.mark.parametrize("size", sampled([(80, 24), (120, 35)], 1))
async def test_every_pane_and_the_ticket_agree_after_any_keys(
    tmp_path: Path, size: tuple[int, int], seed: int
) -> None:
    rng = random.Random(seed)
    app = WorkingDesk(DeskLock.of(tmp_path, "practice"))
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        app.watchlists._file.change(watchlists.new("Two", "GBP_JPY", "EUR_CHF", "USD_CHF"))
        app.watchlists.load("Two")
        app.draw()
        for _ in range(14):
            keys = rng.choice((rng.choice(CHOOSING), rng.choice(GLANCING)))
            before, was_rows = app.store.focus, isinstance(app.focused, InstrumentRows)
            await pilot.press(*keys.split())
            if rng.random() < 0.5:  # a frame may come before the desk has heard of the key
                app.draw()
            await pilot.pause()
            while isinstance(app.screen, ModalScreen):
                await pilot.press("escape")
            app.draw()
            await pilot.pause()
            assert_agrees(app)
            if keys not in CHOOSING or not was_rows:
                assert app.store.focus == before, keys
            if rng.random() < 0.2:
                await assert_ticket_agrees(pilot, app)
                assert_agrees(app)


async def test_a_ticket_right_behind_a_key_is_for_the_row_that_the_key_chose(
    tmp_path: Path,
) -> None:
    app = WorkingDesk(DeskLock.of(tmp_path, "practice"))
    async with app.run_test(size=(120, 35)) as pilot:
        await pilot.pause()
        app.window.screen.watchlist.action_row_down()
        app.actions.perform("buy")  # before any message of the pane was handled
        await pilot.pause()
        ticket = app.screen
        assert isinstance(ticket, TicketForm)
        assert ticket.draft.instrument == "GBP_USD"
