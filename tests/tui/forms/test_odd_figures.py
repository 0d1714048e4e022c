"""Forms over figures that no broker should send: none of them ends the desk, and an exit is sent all the same."""

from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from itertools import product
from typing import Any

import pytest

from keydesk.calc.orders.instructions import CloseTrades
from keydesk.forms.form import Form
from keydesk.forms.modal_form import FormContext
from keydesk.forms.ticket.ticket_form import TicketForm
from keydesk.forms.trades.break_even import BreakEvenForm
from keydesk.forms.trades.cancel_orders import CancelForm
from keydesk.forms.trades.close_position import ClosePositionForm
from keydesk.forms.trades.close_trade import CloseForm, ScaleOutForm
from keydesk.forms.trades.move_order import MoveForm
from keydesk.forms.trades.position_part import PositionPartForm
from keydesk.forms.trades.protection import ProtectForm, ProtectionForm, TrailingForm
from keydesk.forms.trades.reverse_flatten import FlattenForm, ReverseForm
from keydesk.store.store import Store
from keydesk.values import DependentOrder
from support.data.desk_store import example_store
from support.fakes.form_app import FormApp, example_context
from support.walks import sampled

LARGE = Decimal("999999999999999.999999999999999999999")
SMALL = Decimal("0.000000000000000000000000000001")
ODD = (Decimal(0), LARGE, SMALL)

FORMS: Mapping[str, Callable[[FormContext], Form[Any]]] = {
    "break even": lambda s: BreakEvenForm(s, "6411"),
    "close": lambda s: CloseForm(s, "EUR_USD", ["6411"]),
    "part": lambda s: ScaleOutForm(s, "6411"),
    "position": lambda s: ClosePositionForm(s, "EUR_USD"),
    "position part": lambda s: PositionPartForm(s, "EUR_USD"),
    "protect": lambda s: ProtectForm(s, "6411"),
    "modify": lambda s: ProtectionForm(s, "6411"),
    "trail": lambda s: TrailingForm(s, "6411"),
    "buy": lambda s: TicketForm(s, "BUY", "EUR_USD"),
    "reverse": lambda s: ReverseForm(s, "EUR_USD"),
    "flatten": lambda s: FlattenForm(s, "EUR_USD"),
    "move": lambda s: MoveForm(s, "6415"),
    "cancel": lambda s: CancelForm(s, "6415"),
}
KEYS = ("5", "up", "t", "1", "up")


def odd_store(member: str, value: Decimal) -> Store:
    """A store in which one kind of figure is odd."""
    store = example_store()
    trade, order = store.trades["6411"], store.orders["6415"]
    quote, account, rules = store.quotes["EUR_USD"], store.account, store.instruments["EUR_USD"]
    assert account is not None
    match member:
        case "price":
            quote.bid = quote.ask = abs(value) or SMALL
        case "spread":
            quote.bid, quote.ask = SMALL, LARGE
        case "trade":
            trade.units, trade.financing, trade.price = value, LARGE, abs(value) or SMALL
        case "stop":
            trade.stop_loss = DependentOrder("6412", value)
            trade.take_profit = DependentOrder("6413", value)
            trade.risk = value
        case "order":
            order.units, order.price, order.stop_loss, order.take_profit = (
                value,
                LARGE,
                value,
                value,
            )
        case "account":
            account.nav = account.balance = account.margin_used = account.margin_available = value
            account.mid_nav = account.margin_rate = value
        case "factors":
            factor = abs(value) or SMALL
            members = {"account_gain": factor, "account_loss": factor, "position_value": factor}
            account.currency = "EUR"
            store.conversions["USD"] = store.conversions["JPY"].model_copy(update=members)
        case _:
            store.instruments["EUR_USD"] = rules.model_copy(
                update={
                    "pip_location": 12 if value > 1 else -12,
                    "display_precision": -12 if value > 1 else 12,
                    "trade_units_precision": 12 if value > 0 else -12,
                    "margin_rate": abs(value) or SMALL,
                    "minimum_trade_size": value,
                    "maximum_order_units": value,
                    "maximum_position_size": value,
                    "minimum_trailing_stop_distance": value,
                    "maximum_trailing_stop_distance": value,
                }
            )
    return store


MEMBERS = ("price", "spread", "trade", "stop", "order", "account", "factors", "rules")


async def open_over(form: str, odd: Iterable[tuple[str, Decimal]]) -> None:
    stores = [odd_store(member, value) for member, value in odd]
    app = FormApp(lambda: FORMS[form](example_context()))
    async with app.run_test(size=(80, 24)) as pilot:
        for store in stores:
            app.push_screen(FORMS[form](example_context(store)))
            await pilot.press(*KEYS, "escape")


@pytest.mark.parametrize("form", FORMS)
async def test_no_large_figure_and_no_zero_of_the_broker_ends_a_form(form: str) -> None:
    """Each form meets a quarter of the members, each of them 0 in one form and large in another."""
    first = [*FORMS].index(form)
    value = (Decimal(0), LARGE)[first // 4 % 2]
    await open_over(form, [(each, value) for each in MEMBERS[first % 4 :: 4]])


@pytest.mark.soak
@pytest.mark.parametrize("form", FORMS)
async def test_no_figure_of_the_broker_ends_a_form(form: str) -> None:
    await open_over(form, product(MEMBERS, ODD))


@pytest.mark.parametrize("member", sampled(MEMBERS, 3))
async def test_a_close_is_sent_whatever_the_figures(member: str) -> None:
    for value in (LARGE, SMALL):
        context = example_context(odd_store(member, value))
        app = FormApp(lambda: FORMS["close"](context))  # noqa: B023 - used before the next value
        async with app.run_test(size=(80, 24)) as pilot:
            await pilot.press("y")
        assert app.results == [CloseTrades("EUR_USD", ("6411",))], value


async def test_a_form_whose_figures_cannot_be_used_says_so_and_sends_nothing() -> None:
    app = FormApp(lambda: FORMS["break even"](example_context(odd_store("trade", Decimal(0)))))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("y")
        assert "are invalid" in app.words
    assert app.results == []
