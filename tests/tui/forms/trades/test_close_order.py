"""A part of a position by trades: newest, worst, best or picked ones; and one of several trades from anywhere."""

import dataclasses
import re

import pytest
from msgspec.structs import replace

from keydesk.calc.orders.instructions import CloseParts, ClosePosition, SetProtection
from keydesk.calc.orders.position_effect import CloseOrder, in_close_order, parts_of
from keydesk.calc.orders.ticket_settings import Template, TemplateSet
from keydesk.forms.modal_form import FormContext
from keydesk.forms.trades.position_part import PositionPartForm
from keydesk.forms.trades.protection import ProtectionForm
from keydesk.forms.trades.reverse_flatten import ReverseForm
from keydesk.keys.confirm import Step
from keydesk.store.store import Store
from keydesk.trading.entry_requests import Reverse
from keydesk.values import TradeRow
from keydesk_client.account.valuation import rebuild_position
from support.data.desk_store import D, example_store, long_euro
from support.data.entry_orders import trail_of
from support.fakes.form_app import FormApp, example_context


def trade(id_: str, units: int, entry: str) -> TradeRow:
    return dataclasses.replace(long_euro(), id=id_, units=D(units), price=D(entry))


LONGS = [trade("9", 100, "1.10"), trade("10", 200, "1.12"), trade("11", 50, "1.08")]
SHORTS = [dataclasses.replace(each, units=-each.units) for each in LONGS]


@pytest.mark.parametrize(
    ("trades", "order", "ids"),
    [
        (LONGS, "oldest", ["9", "10", "11"]),
        (LONGS, "newest", ["11", "10", "9"]),
        (LONGS, "worst", ["10", "9", "11"]),
        (LONGS, "best", ["11", "9", "10"]),
        (SHORTS, "worst", ["11", "9", "10"]),
        (SHORTS, "best", ["10", "9", "11"]),
    ],
)
def test_the_order_in_which_trades_close(
    trades: list[TradeRow], order: CloseOrder, ids: list[str]
) -> None:
    assert [each.id for each in in_close_order(trades, order)] == ids


def test_a_size_closes_whole_trades_and_a_part_of_the_last() -> None:
    parts = parts_of(in_close_order(LONGS, "worst"), D(230))
    assert [(each.id, units) for each, units in parts] == [("10", D(200)), ("9", D(30))]


def two_longs() -> Store:
    """20,000 at 1.08440 and, later, 10,000 at 1.08300."""
    store = example_store()
    newer = dataclasses.replace(
        long_euro(), id="6420", units=D(10_000), price=D("1.08300"), stop_loss=None
    )
    store.trades["6420"] = newer
    rebuild_position(store, "EUR_USD")
    return store


@pytest.mark.parametrize(
    ("keys", "decided"),
    [
        ("5 y", ClosePosition("EUR_USD", long_units=D(15_000))),
        ("5 o y", CloseParts("EUR_USD", (("6420", None), ("6411", D(5_000))))),
        ("5 o o y", CloseParts("EUR_USD", (("6411", D(15_000)),))),
        ("5 o o o y", CloseParts("EUR_USD", (("6420", None), ("6411", D(5_000))))),
        ("o o o o down space y", CloseParts("EUR_USD", (("6420", None),))),
    ],
)
async def test_a_part_closes_the_trades_of_the_order_that_is_chosen(
    keys: str, decided: object
) -> None:
    app = FormApp(lambda: PositionPartForm(example_context(two_longs()), "EUR_USD"))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press(*keys.split())
    assert app.results == [decided]


async def test_nothing_picked_closes_nothing() -> None:
    app = FormApp(lambda: PositionPartForm(example_context(two_longs()), "EUR_USD"))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press(*"oooo", "y")
        assert "Pick a trade" in app.words
        assert "[ ] #6420" in app.words
    assert app.results == []


async def test_one_of_several_trades_says_which_and_turns_to_the_next() -> None:
    context = example_context(two_longs())

    def opened() -> ProtectionForm:
        form = ProtectionForm(context, "6411")
        form.choose_among(("6411", "6420"))
        return form

    app = FormApp(opened)
    async with app.run_test(size=(80, 24)) as pilot:
        assert "trade 1 of 2: n turns to the next" in app.words
        await pilot.press("n")
        assert "trade 2 of 2" in app.words
        assert "#6420" in app.words
        await pilot.press("s", *"1.0820", "y")
    [change] = app.results
    assert isinstance(change, SetProtection)
    assert (change.trade_id, change.stop) == ("6420", D("1.08200"))


def reversing(store: Store, template: Template | None = None) -> ReverseForm:
    context: FormContext = example_context(store)
    if template is not None:
        book = TemplateSet({"trail": template}, {"EUR_USD": "trail"})
        context = replace(context, templates=book)
    return ReverseForm(context, "EUR_USD")


def test_a_reversal_carries_the_trailing_stop_of_the_template() -> None:
    decided = reversing(example_store(), Template(name="trail", trail_pips=D(25))).request()
    assert isinstance(decided, Reverse)
    assert (decided.request.units, trail_of(decided)) == (D(-40_000), D("0.00250"))


@pytest.mark.parametrize(
    ("terms", "why"),
    [
        ({"maximum_order_units": D(30_000)}, "size: one order of EUR/USD may have at most 30,000"),
        ({"maximum_position_size": D(15_000)}, "size: the position may grow to 15,000"),
    ],
)
def test_a_reversal_that_the_broker_would_refuse_is_refused_and_says_the_way(
    terms: dict[str, object], why: str
) -> None:
    store = example_store()
    known = store.instruments["EUR_USD"]
    store.instruments["EUR_USD"] = known.model_copy(update=terms)
    asked = reversing(store).confirmation()
    assert asked.step is Step.REFUSED
    assert asked.reason.startswith(why)
    assert "close the position, then open the other side" in asked.reason


def test_a_reversal_without_the_margin_for_it_is_refused() -> None:
    store = example_store()
    assert store.account is not None
    store.account = dataclasses.replace(store.account, margin_available=D("-1"))  # after a loss
    asked = reversing(store).confirmation()
    assert asked.step is Step.REFUSED
    assert re.match(r"size: margin [\d.,−]+ is over the −1.00 available: close", asked.reason)
