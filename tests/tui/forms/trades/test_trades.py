"""The forms on an open trade, driven by keys alone."""

from collections.abc import Callable
from decimal import Decimal

import pytest

from keydesk.calc.orders.instructions import CloseTrades, SetProtection
from keydesk.forms.form import Form
from keydesk.forms.modal_form import FormContext
from keydesk.forms.trades.break_even import BreakEvenForm
from keydesk.forms.trades.close_trade import CloseForm, ScaleOutForm
from keydesk.forms.trades.protection import ProtectForm, ProtectionForm, TrailingForm
from keydesk.store.state import Arming
from keydesk.store.store import Store
from keydesk.values import DependentOrder, OpeningCosts
from keydesk_client.unset import UNSET
from support.data.desk_store import example_store
from support.fakes.form_app import FormApp, example_context

D = Decimal
Build = Callable[[FormContext], Form[SetProtection] | Form[CloseTrades]]


async def after(build: Build, *keys: str, store: Store | None = None) -> FormApp:
    context = example_context(store)
    app = FormApp(lambda: build(context))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press(*keys)
        app.last_text = app.said
    return app


def close(context: FormContext) -> CloseForm:
    return CloseForm(context, "EUR_USD", ["6411"])


def modify(context: FormContext) -> ProtectionForm:
    return ProtectionForm(context, "6411")


def protect(context: FormContext) -> ProtectForm:
    return ProtectForm(context, "6398")


def even(context: FormContext) -> BreakEvenForm:
    return BreakEvenForm(context, "6411")


async def test_c_y_closes_the_trade() -> None:
    assert (await after(close, "y")).results == [CloseTrades("EUR_USD", ("6411",))]


async def test_closing_says_what_is_realized_and_what_goes_with_it() -> None:
    text = (await after(close)).last_text
    assert "realizes +10.00 USD" in text
    assert "2 protective orders are cancelled too" in text


@pytest.mark.parametrize("level", ["ARMED", "DISARMED"])
async def test_an_exit_works_at_every_level_with_no_price_at_all(level: str) -> None:
    store = example_store()
    store.arming = Arming("ARMED" if level == "ARMED" else "DISARMED")
    store.quotes.clear()
    assert (await after(close, "y", store=store)).results == [CloseTrades("EUR_USD", ("6411",))]


async def test_a_part_closes_with_no_price_at_all() -> None:
    store = example_store()
    store.quotes.clear()
    app = await after(lambda s: ScaleOutForm(s, "6411"), "5", "y", store=store)
    assert app.results == [CloseTrades("EUR_USD", ("6411",), D(10_000))]


async def test_a_digit_typed_after_a_chosen_part_drops_the_part() -> None:
    app = await after(lambda s: ScaleOutForm(s, "6411"), "7", "0", "y")
    assert app.results == []
    assert "% takes the 70 typed" in app.last_text


async def test_half_is_closed_by_five_and_y() -> None:
    app = await after(lambda s: ScaleOutForm(s, "6411"), "5", "y")
    assert app.results == [CloseTrades("EUR_USD", ("6411",), D(10_000))]


async def test_an_own_percentage_is_digits_and_percent() -> None:
    app = await after(lambda s: ScaleOutForm(s, "6411"), "3", "3", "%", "y")
    assert app.results == [CloseTrades("EUR_USD", ("6411",), D(6_600))]


async def test_no_part_chosen_sends_nothing() -> None:
    app = await after(lambda s: ScaleOutForm(s, "6411"), "y")
    assert app.results == []
    assert "Choose" in app.last_text


async def test_a_part_below_one_unit_offers_the_whole() -> None:
    store = example_store()
    store.trades["6411"].units = D(3)
    app = await after(lambda s: ScaleOutForm(s, "6411"), "2", "y", store=store)
    assert app.results == []
    assert "less than one unit: C closes the whole trade" in app.last_text


async def test_break_even_moves_only_the_stop_and_covers_the_financing() -> None:
    app = await after(even, "y")
    assert app.results == [SetProtection("6411", "EUR_USD", stop=D("1.08443"))]


async def test_break_even_covers_commission_and_fees() -> None:
    store = example_store()
    store.opening_costs["6411"] = OpeningCosts(D("0.20"), D("0.40"))
    app = await after(even, "y", store=store)
    assert app.results == [SetProtection("6411", "EUR_USD", stop=D("1.08447"))]
    text = (await after(even, store=store)).last_text
    assert "fees −0.80 USD with commission" in text


async def test_break_even_refuses_what_would_fire_now() -> None:
    store = example_store()
    store.quotes["EUR_USD"].bid = D("1.08430")
    app = await after(even, "y", store=store)
    assert app.results == []
    assert "would fire now" in app.last_text
    assert "wait, or close it" in app.last_text


async def test_break_even_never_loosens() -> None:
    store = example_store()
    store.trades["6411"].stop_loss = DependentOrder("6412", D("1.08460"))
    app = await after(even, "y", store=store)
    assert app.results == []
    assert "protects more" in app.last_text


async def test_the_stop_is_tightened_by_three_nudges() -> None:
    app = await after(modify, "s", "up", "up", "up", "y")
    assert app.results == [SetProtection("6411", "EUR_USD", stop=D("1.08230"))]


async def test_what_is_not_touched_is_left_alone() -> None:
    app = await after(modify, "t", "up", "y")
    [change] = app.results
    assert isinstance(change, SetProtection)
    assert (change.stop, change.target, change.trail) == (UNSET, D("1.08910"), UNSET)


async def test_loosening_asks_for_a_letter_and_is_refused_disarmed() -> None:
    app = await after(modify, "s", "down")
    assert "type c to send" in app.last_text
    store = example_store()
    store.arming = Arming("DISARMED")
    assert "A arms" in (await after(modify, "s", "down", "y", store=store)).last_text


async def test_tightening_works_disarmed() -> None:
    store = example_store()
    store.arming = Arming("DISARMED")
    app = await after(modify, "s", "up", "y", store=store)
    assert app.results == [SetProtection("6411", "EUR_USD", stop=D("1.08210"))]


async def test_an_emptied_field_takes_the_order_away() -> None:
    app = await after(modify, "t", "backspace", "y")
    assert app.results == [SetProtection("6411", "EUR_USD", target=None)]


async def test_nothing_changed_sends_nothing() -> None:
    app = await after(modify, "y")
    assert app.results == []
    assert "No change yet" in app.last_text


async def test_a_stop_that_would_fire_is_refused() -> None:
    app = await after(modify, "s", *"1.08495", "y")
    assert app.results == []
    assert "would fire now" in app.last_text


async def test_protect_adds_the_template_measured_from_the_entry() -> None:
    app = await after(protect, "y")
    assert app.results == [SetProtection("6398", "USD_JPY", stop=D("155.300"), target=D("154.700"))]


async def test_a_trailing_stop_comes_beside_the_stop() -> None:
    app = await after(lambda s: TrailingForm(s, "6411"), "y")
    assert app.results == [SetProtection("6411", "EUR_USD", trail=D("0.00200"))]


@pytest.mark.parametrize("build", [close, modify, even])
async def test_a_trade_that_is_gone_is_said_so(build: Build) -> None:
    store = example_store()
    store.trades.clear()
    app = await after(build, "y", store=store)
    assert app.results == []
    assert "closed already" in app.last_text
    assert "all 0 trades" not in app.last_text
