"""Leaving with a trade that has no stop asks once."""

import pytest

from keydesk.forms.account.leaving import LeaveForm
from keydesk.store.risk import unprotected_trades
from support.data.desk_store import example_store
from support.fakes.form_app import FormApp


async def after(*keys: str, size: tuple[int, int] = (80, 24)) -> FormApp:
    app = FormApp(lambda: LeaveForm(example_store()))
    async with app.run_test(size=size) as pilot:
        form = app.screen
        assert isinstance(form, LeaveForm)
        await pilot.press("enter")  # still held down from `:q`
        assert app.results == []
        form.painted = float("-inf")
        await pilot.press(*keys)
        app.last_text = app.words
    return app


@pytest.mark.parametrize("size", [(80, 24), (120, 35), (200, 50)])
async def test_the_trades_without_a_stop_are_named(size: tuple[int, int]) -> None:
    text = (await after(size=size)).last_text
    assert "SHORT 5,000 USD/JPY #6398" in text
    assert "6411" not in text  # it has a stop
    assert "their loss has no limit" in text


async def test_enter_leaves_once_it_could_be_read_and_esc_stays() -> None:
    assert (await after("enter")).results == [True]
    assert (await after("escape")).results == [None]


def test_a_trade_with_any_stop_is_not_unprotected() -> None:
    store = example_store()
    [unprotected] = unprotected_trades(store)
    unprotected.trailing_stop = store.trades["6411"].stop_loss
    assert unprotected_trades(store) == []
