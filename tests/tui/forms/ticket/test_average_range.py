"""`1.5a` typed into ticket, Modify, Move and the trailing stop; the screen says what it comes to."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from msgspec.structs import replace
from textual.screen import Screen

from keydesk.calc.orders.instructions import MoveEntry, SetProtection
from keydesk.calc.orders.ticket_settings import Template
from keydesk.forms.modal_form import FormContext
from keydesk.forms.ticket.ticket_form import TicketForm
from keydesk.forms.trades.move_order import MoveForm
from keydesk.forms.trades.protection import ProtectionForm, TrailingForm
from keydesk.forms.trades.reverse_flatten import ReverseForm
from keydesk.store.state import AverageRange
from keydesk.store.store import Store
from keydesk.store.trading_context import OUTDATED_NS
from keydesk.trading.entry_requests import OpenOrder
from keydesk_client.unset import UNSET
from support.data.desk_store import WALL_NS, example_store
from support.data.entry_orders import stop_of, target_of, trail_of
from support.fakes.form_app import FormApp, example_context

D = Decimal
Build = Callable[[FormContext], Screen[Any]]
IN_RANGES = Template(stop_atr=D("1.5"), trail_atr=D(2))


def store_with(value: str | None = "0.00082", read_ns: int = WALL_NS) -> Store:
    store = example_store()
    store.clock_ns = WALL_NS
    known = None if value is None else D(value)
    for name in ("EUR_USD", "USD_JPY"):
        store.average_ranges[name] = AverageRange(known, read_ns, read_ns)
    return store


async def after(
    build: Build, *keys: str, store: Store | None = None, template: Template | None = None
) -> FormApp:
    context = example_context(store or store_with())
    if template is not None:
        context = replace(context, template=template)
    app = FormApp(lambda: build(context))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press(*keys)
        app.last_text = app.said
    return app


def ticket(context: FormContext) -> TicketForm:
    return TicketForm(context, "BUY", "EUR_USD")


def modify(context: FormContext) -> ProtectionForm:
    return ProtectionForm(context, "6411")


def trail(context: FormContext) -> TrailingForm:
    return TrailingForm(context, "6411")


def move(context: FormContext) -> MoveForm:
    return MoveForm(context, "6415")


def reverse(context: FormContext) -> ReverseForm:
    return ReverseForm(context, "EUR_USD")


async def test_a_ticket_is_sent_with_the_stop_that_it_shows() -> None:
    keys = ("s", *"1.5a")
    text = (await after(ticket, *keys)).last_text
    assert "= 1.08377 12.3 pips" in text
    assert "1 ATR = 8.2 pips, ATR 14 H1" in text
    [order] = (await after(ticket, *keys, "y")).results
    assert isinstance(order, OpenOrder)
    assert (stop_of(order), target_of(order)) == (D("1.08377"), D("1.08746"))


def complete_an_hourly_candle(store: Store) -> None:
    store.average_ranges["EUR_USD"] = AverageRange(D("0.00164"), WALL_NS, WALL_NS)


async def test_stop_and_units_on_the_screen_are_sent_although_the_average_range_changed() -> None:
    store = store_with()
    app = FormApp(lambda: ticket(example_context(store, preset=0)))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("s", *"1.5a")
        assert "BUY 81,300 EUR/USD" in app.said
        complete_an_hourly_candle(store)
        await pilot.press("y")
    [order] = app.results
    assert isinstance(order, OpenOrder)
    assert (order.request.units, stop_of(order)) == (D(81_300), D("1.08377"))


async def test_the_next_drawing_shows_and_sends_the_new_average_range() -> None:
    store = store_with()
    app = FormApp(lambda: ticket(example_context(store)))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("s", *"1.5a")
        complete_an_hourly_candle(store)
        form = app.screen
        assert isinstance(form, TicketForm)
        form.redraw()
        await pilot.pause()
        assert "= 1.08254 24.6 pips" in app.said
        await pilot.press("y")
    [order] = app.results
    assert isinstance(order, OpenOrder)
    assert stop_of(order) == D("1.08254")


async def test_modify_sends_the_stop_on_the_screen_although_the_average_range_changed() -> None:
    store = store_with()
    app = FormApp(lambda: modify(example_context(store)))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("s", *"1.5a")
        complete_an_hourly_candle(store)
        await pilot.press("y")
    assert app.results == [SetProtection("6411", "EUR_USD", D("1.08317"), UNSET, UNSET)]


async def test_digits_typed_behind_the_letter_go_on_with_the_number() -> None:
    [order] = (await after(ticket, "s", *"1.a5", "y")).results
    assert isinstance(order, OpenOrder)
    assert stop_of(order) == D("1.08377")


async def test_the_letter_alone_converts_the_distance_there_is() -> None:
    text = (await after(ticket, "s", "a")).last_text
    assert "2.44 ATR" in text
    assert "= 1.08300 20.0 pips" in text


@pytest.mark.parametrize("store", [store_with(None), example_store()])
async def test_a_ticket_without_a_known_range_is_refused_by_name(store: Store) -> None:
    app = await after(ticket, "s", *"1.5a", "y", store=store)
    assert app.results == []
    assert "✗ ATR is not known" in app.last_text
    assert "stop: 1.5a needs ATR 14 H1, which is not known" in " ".join(app.last_text.split())


async def test_a_range_that_could_not_be_read_for_hours_is_not_known() -> None:
    store = store_with(read_ns=WALL_NS - OUTDATED_NS - 1)
    assert (await after(ticket, "s", *"1.5a", "y", store=store)).results == []


async def test_the_size_is_no_distance() -> None:
    text = (await after(ticket, "u", "a")).last_text
    assert "The size is not a distance" in text


async def test_the_unit_key_comes_to_ranges_and_goes_on_from_them() -> None:
    text = (await after(ticket, "s", "m", "m")).last_text
    assert "2.44 ATR" in text
    text = (await after(ticket, "s", "m", "m", "m")).last_text
    assert "pips = 1.08300" in text


async def test_the_unit_key_stays_where_the_range_is_unknown() -> None:
    text = (await after(ticket, "s", "m", "m", store=store_with(None))).last_text
    assert "The stop stays in price: ATR 14 H1 is not known" in text


async def test_a_nudge_moves_a_tenth() -> None:
    text = (await after(ticket, "s", *"1.5a", "up")).last_text
    assert "1.6" in text


async def test_modify_takes_a_distance_from_the_entry() -> None:
    [sent] = (await after(modify, "s", *"1.5a", "y")).results
    assert sent == SetProtection("6411", "EUR_USD", D("1.08317"), UNSET, UNSET)
    text = (await after(modify, "s", *"1.5a")).last_text
    assert "1.08200 → 1.08317" in text
    assert "1 ATR = 8.2 pips, ATR 14 H1" in text


async def test_modify_is_refused_by_name_while_the_range_is_unknown() -> None:
    app = await after(modify, "s", *"1.5a", "y", store=store_with(None))
    assert app.results == []
    assert "✗ ATR is not known" in app.last_text


async def test_a_trailing_stop_is_set_at_ranges() -> None:
    [sent] = (await after(trail, *"2a", "y")).results
    assert isinstance(sent, SetProtection)
    assert sent.trail == D("0.00164")


async def test_a_trailing_stop_is_that_of_the_template() -> None:
    app = await after(trail, template=IN_RANGES)
    assert "16.4 pips" in app.last_text


async def test_a_resting_order_has_its_stop_measured_from_its_price() -> None:
    [sent] = (await after(move, "s", *"1.5a", "y")).results
    assert sent == MoveEntry("6415", "EUR_USD", D("1.08200"), D("1.08077"), D("1.08600"))


async def test_a_resting_order_is_refused_by_name_while_the_range_is_unknown() -> None:
    app = await after(move, "s", *"1.5a", "y", store=store_with(None))
    assert app.results == []
    assert "stop: 1.5a needs ATR 14 H1" in " ".join(app.last_text.split())


async def test_the_price_of_a_resting_order_is_no_distance() -> None:
    assert "The price is not a distance" in (await after(move, "p", "a")).last_text


async def test_a_reversal_by_a_template_in_ranges_is_refused_by_name_while_they_are_unknown() -> (
    None
):
    app = await after(reverse, "c", store=store_with(None), template=IN_RANGES)
    assert app.results == []
    assert "stop: 1.5a needs ATR 14 H1" in " ".join(app.last_text.split())


async def test_a_ticket_opens_with_the_template_in_ranges() -> None:
    [order] = (await after(ticket, "y", template=IN_RANGES)).results
    assert isinstance(order, OpenOrder)
    assert (stop_of(order), trail_of(order)) == (D("1.08377"), D("0.00164"))


async def test_a_ticket_of_that_template_is_refused_while_they_are_unknown() -> None:
    app = await after(ticket, "y", template=IN_RANGES, store=store_with(None))
    assert app.results == []
