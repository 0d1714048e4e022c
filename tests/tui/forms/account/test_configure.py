"""Name and margin rate of the account, with the effect on its margin before anything is sent."""

from decimal import Decimal

import pytest

from keydesk.calc.risk.margin import HeldMargin, MarginFigures, with_margin_rate
from keydesk.forms.account.account_page import AccountPage
from keydesk.forms.account.configure import ConfigureForm
from keydesk.store.state import Arming
from keydesk.store.store import Store
from keydesk.trading.account_changes import ConfigureAccount
from support.data.desk_store import NOW, example_store
from support.fakes.form_app import FormApp, example_context
from support.walks import sampled_rows

D = Decimal


def configure_app(store: Store) -> FormApp:
    return FormApp(lambda: ConfigureForm(example_context(store)))


def test_each_position_has_the_greater_of_both_rates() -> None:
    now = MarginFigures(D(300), D(700), D("0.15"))
    held = (HeldMargin(D(100), D("0.02")), HeldMargin(D(200), D("0.10")))
    after = with_margin_rate(now, D(1000), held, old_rate=None, new_rate=D("0.05"))
    assert after == MarginFigures(D(450), D(550), D("0.225"))


def test_margin_that_is_not_there_is_none() -> None:
    now = MarginFigures(D(300), D(700), D("0.15"))
    held = (HeldMargin(D(300), D("0.02")),)
    after = with_margin_rate(now, D(1000), held, old_rate=D("0.02"), new_rate=D("0.10"))
    assert (after.used, after.available) == (D(1500), D(0))


async def test_the_effect_of_a_rate_stands_there_before_the_letter_sends_it() -> None:
    store = example_store()
    app = configure_app(store)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("m", *"10%", "enter")
        text = app.words
        assert app.results == []
        await pilot.press("c")
    assert "margin used 722.58 → " in text
    assert "10.00 %, 10 to 1" in text
    assert "type   c   to send" in text
    assert app.results == [ConfigureAccount(margin_rate=D("0.1"))]


async def test_the_name_alone_leaves_the_rate_as_it_is() -> None:
    app = configure_app(example_store())
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("k", *(["backspace"] * 20), *"Swing", "enter", "c")
    assert app.results == [ConfigureAccount(alias="Swing")]


@pytest.mark.parametrize(
    ("typed", "why"),
    sampled_rows(
        [
            ("0", "is not above 0"),
            ("101", "is above 100 percent"),
            ("2,5", "has a comma"),
            ("many", "is not a number"),
            ("", "margin: is missing"),
        ],
        2,
    ),
)
async def test_a_rate_that_cannot_be_is_refused_by_its_field(typed: str, why: str) -> None:
    app = configure_app(example_store())
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("m", *typed, "enter", "c", "y")
        assert why in app.words
    assert app.results == []


async def test_a_disarmed_desk_changes_nothing() -> None:
    store = example_store()
    store.arming = Arming("DISARMED", "just started")
    app = configure_app(store)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("m", "5", "enter", "c", "y")
        assert "exit-only" in app.words
    assert app.results == []


async def test_the_account_page_opens_it_by_its_key() -> None:
    page = AccountPage(example_store(), lambda: NOW)
    app = FormApp(lambda: page)
    async with app.run_test(size=(80, 24)) as pilot:
        assert "e name, margin rate" in app.words
        await pilot.press("e")
    assert app.configuring == 1
