"""What keys of the desk and other instruments leave of an open ticket, and what the next ticket keeps of the last one."""

from decimal import Decimal
from pathlib import Path

from msgspec.structs import replace

from keydesk.forms.ticket.ticket_form import TicketForm
from keydesk.store.store import Store
from keydesk.trading.desk_session import DeskLock
from keydesk.trading.entry_requests import OpenOrder
from support.fakes.form_app import FormApp, example_context
from support.fakes.working_desk import WorkingDesk

D = Decimal


async def test_no_key_turns_the_side_of_a_ticket() -> None:
    app = FormApp(lambda: TicketForm(example_context(), "BUY", "EUR_USD"))
    async with app.run_test(size=(80, 24)) as pilot:
        for key in "SBRoupstrewbmnjk-=,.+12345":
            await pilot.press(key)
            assert isinstance(app.screen, TicketForm)
            assert app.screen.draft.side == "BUY"
            assert "SELL" not in app.words
    assert app.results == []


async def test_the_size_of_a_ticket_is_the_preset_again_after_another_one_was_typed(
    tmp_path: Path,
) -> None:
    app = WorkingDesk(DeskLock.of(tmp_path, "practice"))
    app.store.trades, app.store.positions = {}, {}
    async with app.run_test(size=(120, 35)) as pilot:
        app.draw()
        await pilot.press("B", "u", *"2000")
        app.draw()
        await pilot.press("y")
        await pilot.press("B")
        app.draw()
        form = app.screen
        assert isinstance(form, TicketForm)
        typed, preset = app.decided[0], form.draft.size.text
    assert isinstance(typed, OpenOrder)
    assert typed.request.units == D(2000)
    assert preset == "10000"


async def test_a_ticket_stays_with_its_instrument_when_another_one_is_looked_at() -> None:
    context = example_context()
    store: Store = context.store
    app = FormApp(lambda: TicketForm(replace(context), "BUY", "EUR_USD"))
    async with app.run_test(size=(80, 24)) as pilot:
        store.set_focus("USD_JPY")
        await pilot.press("y")
    [order] = app.results
    assert isinstance(order, OpenOrder)
    assert order.request.instrument == "EUR_USD"
