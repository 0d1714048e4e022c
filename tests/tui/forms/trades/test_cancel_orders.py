"""Cancel, cancel entries, reverse, flatten, arm: driven by keys alone."""

import dataclasses
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from msgspec.structs import replace
from textual.screen import Screen

from keydesk.calc.orders.instructions import CancelOrders, Flatten, MoveEntry
from keydesk.calc.orders.ticket_settings import Limits
from keydesk.forms.account.arming import ArmForm
from keydesk.forms.modal_form import FormContext
from keydesk.forms.trades.cancel_orders import CancelEntriesForm, CancelForm
from keydesk.forms.trades.move_order import MoveForm
from keydesk.forms.trades.reverse_flatten import FlattenForm, ReverseForm
from keydesk.store.state import Arming
from keydesk.store.store import Store
from keydesk.trading.entry_requests import Reverse
from keydesk.values import OrderRow
from keydesk_client.models import MarketOrderRequest, StopLossDetails, TakeProfitDetails
from support.data.desk_store import example_store, limit_order
from support.fakes.form_app import FormApp, example_context

D = Decimal


async def after(
    build: Callable[[FormContext], Screen[Any]], *keys: str, store: Store | None = None
) -> FormApp:
    context = example_context(store)
    app = FormApp(lambda: build(context))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press(*keys)
        app.last_text = app.said
    return app


def stop_loss() -> OrderRow:
    return dataclasses.replace(
        limit_order(), id="6412", type="STOP_LOSS", units=None, price=D("1.08200"), trade_id="6411"
    )


async def test_d_y_cancels_the_order_and_says_which() -> None:
    app = await after(lambda s: CancelForm(s, "6415"))
    assert "CANCEL BUY 20,000 EUR/USD limit 1.08200 #6415" in app.last_text
    [cancel] = (await after(lambda s: CancelForm(s, "6415"), "y")).results
    assert isinstance(cancel, CancelOrders)
    assert cancel.order_ids == ("6415",)


async def test_m_moves_a_resting_order_by_nudges() -> None:
    app = await after(lambda s: MoveForm(s, "6415"), "up", "up", "y")
    assert app.results == [MoveEntry("6415", "EUR_USD", D("1.08220"), D("1.08000"), D("1.08600"))]


async def test_an_entry_is_not_moved_farther_from_the_market_than_the_own_limit() -> None:
    limits = Limits(hard_deviation_percent=D("0.2"))

    def form(context: FormContext) -> MoveForm:
        return MoveForm(replace(context, limits=limits), "6415")

    app = await after(form, "up", "y")  # 1.08210, 0.26 % from the market
    assert app.results == []
    assert "your own limit of 0.2 %" in app.last_text
    near = await after(form, *"1.08400", "y")
    assert len(near.results) == 1


async def test_an_order_that_brings_a_trailing_stop_is_not_called_unlimited() -> None:
    store = example_store()
    store.orders["6415"] = dataclasses.replace(
        store.orders["6415"], stop_loss=None, trail=D("0.00150")
    )
    app = await after(lambda s: MoveForm(s, "6415"), "up", store=store)
    assert "UNLIMITED" not in app.last_text
    assert "no limit" not in app.last_text
    assert "at stop −32.00 USD" in app.last_text, "it begins a spread further away"


async def test_of_a_stop_and_a_trailing_stop_the_nearer_one_is_what_is_lost() -> None:
    store = example_store()
    store.orders["6415"] = dataclasses.replace(store.orders["6415"], trail=D("0.00150"))
    app = await after(lambda s: MoveForm(s, "6415"), "up", store=store)
    assert "at stop −32.00 USD" in app.last_text, "it begins a spread further away"


async def test_a_reduce_only_order_moves_without_a_bracket_disarmed_too() -> None:
    store = example_store()
    store.arming = Arming("DISARMED")
    only = dataclasses.replace(store.orders["6415"], stop_loss=None, take_profit=None, reduces=True)
    store.orders["6415"] = only
    app = FormApp(lambda: MoveForm(example_context(store), "6415"))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("s", "up")
        assert "stop" not in app.words
        assert "reduce-only" in app.words
        await pilot.press("y")
    assert app.results == [MoveEntry("6415", "EUR_USD", D("1.08210"), None, None)]


async def test_a_move_that_makes_no_sense_is_refused() -> None:
    app = await after(lambda s: MoveForm(s, "6415"), "y")
    assert "No change yet" in app.last_text
    app = await after(lambda s: MoveForm(s, "6415"), *"1.07900", "y")
    assert app.results == []
    assert "must be below the price" in app.last_text


async def test_cancelling_a_stop_asks_for_a_letter() -> None:
    store = example_store()
    store.orders["6412"] = stop_loss()
    text = (await after(lambda s: CancelForm(s, "6412"), store=store)).last_text
    assert "Trade #6411 loses this stop" in text
    assert "type c to send" in text


async def test_z_leaves_protection_alone_and_says_so() -> None:
    store = example_store()
    store.orders["6412"] = stop_loss()
    app = await after(lambda s: CancelEntriesForm(s, "EUR_USD"), store=store)
    assert "CANCEL 1 entry order of EUR/USD" in app.last_text
    assert "1 protective order stays" in app.last_text


async def test_z_a_takes_the_whole_account() -> None:
    store = example_store()
    store.orders["7000"] = dataclasses.replace(limit_order(), id="7000", instrument="USD_JPY")
    [cancel] = (
        await after(lambda s: CancelEntriesForm(s, "EUR_USD"), "a", "y", store=store)
    ).results
    assert isinstance(cancel, CancelOrders)
    assert cancel.order_ids == ("6415", "7000")


async def test_an_order_that_came_since_the_form_was_painted_is_not_cancelled() -> None:
    store = example_store()
    app = FormApp(lambda: CancelEntriesForm(example_context(store), "EUR_USD"))
    async with app.run_test(size=(80, 24)) as pilot:
        assert "CANCEL 1 entry order of EUR/USD" in app.said
        store.orders["7000"] = dataclasses.replace(limit_order(), id="7000")
        await pilot.press("y")
    assert app.results == [CancelOrders(("6415",), "1 entry orders")]


async def test_an_order_that_went_since_the_form_was_painted_is_not_cancelled() -> None:
    store = example_store()
    store.orders["7000"] = dataclasses.replace(limit_order(), id="7000")
    app = FormApp(lambda: CancelEntriesForm(example_context(store), "EUR_USD"))
    async with app.run_test(size=(80, 24)) as pilot:
        del store.orders["7000"]
        await pilot.press("y")
    assert app.results == [CancelOrders(("6415",), "1 entry orders")]


async def test_reverse_is_one_order_of_twice_the_net_position() -> None:
    app = await after(lambda s: ReverseForm(s, "EUR_USD"), "c")
    assert app.results == [
        Reverse(
            MarketOrderRequest(
                instrument="EUR_USD",
                units=D(-40_000),
                time_in_force="FOK",
                price_bound=D("1.08470"),
                position_fill="REDUCE_FIRST",
                stop_loss_on_fill=StopLossDetails(price=D("1.08690")),
                take_profit_on_fill=TakeProfitDetails(price=D("1.08090")),
            ),
            D("1.08490"),
        )
    ]


async def test_reverse_needs_a_position() -> None:
    app = await after(lambda s: ReverseForm(s, "EUR_GBP"), "c", "y")
    assert "no net position" in app.last_text


@pytest.mark.parametrize("level", ["ARMED", "DISARMED"])
async def test_flatten_works_at_both_levels_by_its_letter(level: str) -> None:
    store = example_store()
    store.arming = Arming("ARMED" if level == "ARMED" else "DISARMED")
    app = await after(lambda s: FlattenForm(s, "EUR_USD"), "c", store=store)
    assert app.results == [Flatten(None)]


async def test_flatten_lists_positions_and_entry_orders() -> None:
    text = (await after(lambda s: FlattenForm(s, "EUR_USD"))).last_text
    assert "close LONG 20,000 EUR/USD +10.00" in text
    assert "cancel BUY 20,000 EUR/USD limit" in text


async def test_flatten_of_one_instrument() -> None:
    app = await after(lambda s: FlattenForm(s, "EUR_USD"), "i", "c")
    assert app.results == [Flatten("EUR_USD")]


async def test_a_second_capital_x_does_not_flatten() -> None:
    assert (await after(lambda s: FlattenForm(s, "EUR_USD"), "X")).results == []


async def test_live_is_armed_by_three_digits_of_the_account() -> None:
    store = example_store()
    store.health.environment = "LIVE"
    store.arming = Arming("DISARMED")
    assert (await after(ArmForm, "0", "0", "1", store=store)).results == [True]
    assert (await after(ArmForm, "y", store=store)).results == []


async def test_live_is_not_armed_by_any_key_before_the_account_is_read() -> None:
    store = example_store()
    store.health.environment = "LIVE"
    store.arming, store.account = Arming("DISARMED"), None
    for keys in ("y", "001", "000", "yyy"):
        app = await after(ArmForm, *keys, store=store)
        assert app.results == []
        assert "The account is still being read" in app.last_text


async def test_wrong_digits_arm_nothing_and_are_asked_for_again_in_words() -> None:
    store = example_store()
    store.health.environment = "LIVE"
    store.arming = Arming("DISARMED")
    app = await after(ArmForm, "0", "0", "2", store=store)
    assert app.results == []
    assert "NOT ARMED: 002 is not the end of this account's id" in app.last_text
    assert (await after(ArmForm, *"002001", store=store)).results == [True]
    assert (await after(ArmForm, *"00", "backspace", *"01", store=store)).results == [True]


async def test_the_third_wrong_digits_close_the_arming_form_and_say_so() -> None:
    store = example_store()
    store.health.environment = "LIVE"
    store.arming = Arming("DISARMED")
    assert (await after(ArmForm, *"002003004", store=store)).results == [False]
    assert store.notices[-1].text == "NOT ARMED: 3 times wrong digits, the form is closed"


async def test_practice_is_armed_by_the_send_key() -> None:
    store = example_store()
    store.arming = Arming("DISARMED")
    assert (await after(ArmForm, "y", store=store)).results == [True]


async def test_read_only_cannot_be_armed() -> None:
    store = example_store()
    store.arming = Arming("READ-ONLY")
    app = await after(ArmForm, "y", store=store)
    assert app.results == []
    assert "READ-ONLY" in app.last_text
