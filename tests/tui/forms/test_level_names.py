"""A price level by its name in the fields of an open form: @ and letters, Enter puts its price there, Esc what was there."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from msgspec.structs import replace

from keydesk.calc.market.price_levels import PriceLevel
from keydesk.calc.orders.instructions import SetProtection
from keydesk.forms.form import Form
from keydesk.forms.modal_form import FormContext
from keydesk.forms.ticket.ticket_form import TicketForm
from keydesk.forms.trades.protection import ProtectionForm
from keydesk.keys.keymap import KeyMap
from keydesk.store.store import Store
from keydesk.trading.entry_requests import OpenOrder
from support.data.desk_store import example_store
from support.data.entry_orders import stop_of, target_of
from support.fakes.form_app import FormApp, example_context
from support.walks import sampled

D = Decimal
LEVELS = (PriceLevel("weekly-high", D("1.0900")), PriceLevel("weekly-low", D("1.0800")))


def store_with_levels() -> Store:
    store = example_store()
    store.set_levels({"EUR_USD": LEVELS})
    return store


async def ticket_after(*keys: str, store: Store | None = None) -> tuple[str, list[object]]:
    """Return the words of the screen and what was sent, after these keys on a new ticket."""
    context = example_context(store or store_with_levels())
    app = FormApp(lambda: TicketForm(context, "BUY", "EUR_USD"))
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press(*keys)
        await pilot.pause()
        return app.said, app.results


async def test_price_stop_and_target_of_a_ticket_take_the_price_of_a_level() -> None:
    stop = ("s", "@", *"weekly-low", "enter")
    target = ("t", "@", *"weekly-high", "enter")
    _, [order] = await ticket_after(*stop, *target, "y")
    assert isinstance(order, OpenOrder)
    assert (stop_of(order), target_of(order)) == (D("1.0800"), D("1.0900"))
    text, _ = await ticket_after("o", "p", "@", *"weekly-low", "tab")
    assert "limit 1.08000" in text


async def test_a_name_that_is_being_typed_neither_sends_nor_picks_and_shows_what_it_may_mean() -> (
    None
):
    text, sent = await ticket_after("s", "@", "y")
    assert sent == []
    assert "@y" in text
    assert "no such level" in text
    text, sent = await ticket_after("s", "@", *"week")
    assert "weekly-high 1.0900" in text
    assert "Enter takes the level" in text


async def test_the_beginning_of_one_name_alone_is_enough() -> None:
    _, [order] = await ticket_after("s", "@", *"weekly-l", "enter", "y")
    assert isinstance(order, OpenOrder)
    assert stop_of(order) == D("1.0800")
    text, sent = await ticket_after("s", "@", *"week", "enter")
    assert sent == []
    assert "There is no level week; there are: @weekly-high, @weekly-low" in text


@pytest.mark.parametrize(
    "back", sampled([("escape",), ("backspace",), ("a", "backspace", "backspace")], 1)
)
async def test_esc_and_backspace_give_the_field_back_as_it_was(back: tuple[str, ...]) -> None:
    before, _ = await ticket_after("s")
    after, _ = await ticket_after("s", "@", *back)
    assert [line for line in before.splitlines() if "s stop" in line] == [
        line for line in after.splitlines() if "s stop" in line
    ]


async def test_a_size_and_an_instrument_without_levels_say_what_to_do() -> None:
    text, _ = await ticket_after("u", "@")
    assert "the size is none, p s t pick one" in text
    text, _ = await ticket_after("s", "@", store=example_store())
    assert "There are no price levels here: n n at the crosshair names one" in text


@pytest.mark.parametrize(
    "form", [lambda at: TicketForm(at, "BUY", "EUR_USD"), lambda at: ProtectionForm(at, "6411")]
)
async def test_the_key_that_names_a_level_is_the_traders_own(
    form: Callable[[FormContext], Form[Any]],
) -> None:
    context = replace(example_context(), keymap=KeyMap(overrides={"level-line": "n f"}))
    app = FormApp(lambda: form(context))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("s", "@")
        assert "n f at the crosshair names one" in app.said


async def test_a_stop_is_moved_to_a_level() -> None:
    store = store_with_levels()
    trade_id = next(iter(store.trades))
    nearer = PriceLevel("weekly-low", D("1.0835"))
    store.set_levels({store.trades[trade_id].instrument: (nearer,)})
    context = example_context(store)
    app = FormApp(lambda: ProtectionForm(context, trade_id))
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("s", "@", *"weekly-l")
        await pilot.pause()
        assert "weekly-low 1.0835" in app.said
        await pilot.press("enter", "y")
        await pilot.pause()
        [sent] = app.results
    assert isinstance(sent, SetProtection)
    assert sent.stop == D("1.0835")
